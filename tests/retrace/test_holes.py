"""The holes: what the cache does not see, one test for each, and what strict mode adds.

The page docs/explanation/what-the-cache-cannot-see.md tells users of each. A test that
fails here is good news: a hole is closed, and the page has a line too many.
"""

import math
import os
import sys

import pytest

import imprint
from tests.units.modules import make_module

OBJECT = "class K:\n    w = 1\nO = K()\n"
NUMBERS = "f = lambda x: x * V[0]\n"

pytestmark = pytest.mark.unaudited  # an audit finds each of them

# Text of a module with `f`, then an edit; what only strict mode sees, what nothing sees.
STRICT_SEES = {
    "array": ("import numpy as np\nV = np.ones(1)\n" + NUMBERS, "V[0] = 2"),
    "attribute": (OBJECT + "f = lambda x: x * O.w\n", "O.w = 2"),
    "slot": (
        "class K:\n    __slots__ = 'w'\nO = K(); O.w = 1\nf = lambda x: x * O.w\n",
        "O.w = 2",
    ),
    "class of an object": (
        OBJECT + "class L:\n    w = 2\nf = lambda x: x * O.w\n",
        "O.__class__ = L",
    ),
    "big list": ("V = [1] * 257\n" + NUMBERS, "V[0] = 2"),
    "subclass of list": ("class M(list): pass\nV = M([1])\n" + NUMBERS, "V[0] = 2"),
    "namespace": (
        "import types\nO = types.SimpleNamespace(w=1)\nf = lambda x: x * O.w\n",
        "O.w = 2",
    ),
    "library": ("import math\nf = lambda x: x * math.tau\n", "math.tau = 2"),
    "hidden builtin": ("f = lambda x: x * len('a')\n", "len = lambda _: 2"),
}
NOTHING_SEES = {
    "globals()": ("W = 1\nf = lambda x: x * globals()['W']\n", "W = 2"),
    "eval": ("W = 1\nf = lambda x: x * eval('W')\n", "W = 2"),
    "getattr": (OBJECT + "f = lambda x: x * getattr(O, 'w')\n", "K.w = 2"),
    "class of a result": (
        OBJECT + "def get(): return O\nf = lambda x: x * get().w\n",
        "K.w = 2",
    ),
    "attribute that comes to be": (
        "class K: pass\nO = K()\ndef f(x):\n    try:\n        return x * O.w\n"
        "    except AttributeError:\n        return x\n",
        "K.w = 2",
    ),
    "special method that comes to be": (
        OBJECT + "f = lambda x: x * (1 if O else 2)\n",
        "K.__len__ = lambda _: 0",
    ),
    "property that comes to hide": (
        "class K: pass\nO = K(); O.w = 1\nf = lambda x: x * O.w\n",
        "K.w = property(lambda _: 2)",
    ),
    "frozen": (
        "import dataclasses\n@dataclasses.dataclass(frozen=True)\nclass P:\n    w: int\n"
        "O = P(1)\nf = lambda x: x * O.w\n",
        "object.__setattr__(O, 'w', 2)",
    ),
    "keywords of a partial": (
        "import functools\nh = functools.partial(lambda *, a: a, a=1)\n"
        "f = lambda x: x * h()\n",
        "h.keywords['a'] = 2",
    ),
    "memo": (
        "import functools\nW = 1\n@functools.cache\ndef h(): return W\nh()\n"
        "f = lambda x: x * h()\n",
        "W = 2; h.cache_clear()",
    ),
    "singledispatch": (
        "import functools\n@functools.singledispatch\ndef h(x): return 1\n"
        "f = lambda x: x * h('a')\n",
        "h.register(str, lambda x: 2)",
    ),
    "context variable": (
        "import contextvars\nV = contextvars.ContextVar('V', default=1)\n"
        "f = lambda x: x * V.get()\n",
        "V.set(2)",
    ),
    "environment": (
        "import os\nf = lambda x: x * int(os.environ.get('HOLE', 1))\n",
        "os.environ['HOLE'] = '2'",
    ),
    "what the trace writes": (
        "n = [0]\ndef f(x):\n    n[0] += 1\n    return x * n[0]\n",
        "n[0] = 7",
    ),
}


@pytest.fixture
def _as_before():
    tau = math.tau
    yield
    math.tau = tau
    os.environ.pop("HOLE", None)
    sys.modules.pop("holes", None)


def is_seen(text, edit, *, strict):
    """Tell whether a compiled function does what the plain one does after an edit."""
    module = make_module("holes", text)
    compiled = imprint.jit(module.f, strict=strict)
    assert compiled(1.0) == 1.0 or "tau" in text
    exec(edit, vars(module))
    return float(compiled(1.0)) == float(module.f(1.0))


@pytest.mark.usefixtures("_as_before")
@pytest.mark.parametrize("name", STRICT_SEES)
def test_what_only_strict_mode_sees(name):
    assert not is_seen(*STRICT_SEES[name], strict=False)


@pytest.mark.usefixtures("_as_before")
@pytest.mark.parametrize("name", STRICT_SEES)
def test_strict_mode_sees_it(name):
    assert is_seen(*STRICT_SEES[name], strict=True)


@pytest.mark.usefixtures("_as_before")
@pytest.mark.parametrize("strict", [False, True], ids=["default", "strict"])
@pytest.mark.parametrize("name", NOTHING_SEES)
def test_what_nothing_sees(name, strict):
    assert not is_seen(*NOTHING_SEES[name], strict=strict)

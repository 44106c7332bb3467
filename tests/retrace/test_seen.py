"""Edits that a jitted function sees, and the further ones that `strict=True` sees.

A case is the text of a module with `f`, and an edit. The page
docs/explanation/what-is-not-tracked.md lists what is not tracked.
"""

import decimal
import math
import os
import subprocess
import sys

import pytest

import imprint
from tests.units.modules import fill, make_module

OBJECT = "class K:\n    w = 1\nO = K()\n"
NUMBERS = "f = lambda x: x * V[0]\n"
READS = "f = lambda x: x * O.w\n"
KEEPS = """
import types
made = types.ModuleType("a_library")
made.__file__ = "/env/lib/python3/site-packages/a_library.py"
exec(compile('class T:\\n    w = 1\\n    def get(self): return self.w\\n'
    '    def put(self, w): self.w = w\\n', made.__file__, "exec"), vars(made))
import sys
sys.modules["a_library"] = made
O = made.T(); O.w = 1
"""

pytestmark = pytest.mark.unaudited  # they compare with the plain function themselves

SEEN = {
    "attribute": (OBJECT + READS, "O.w = 2"),
    "slot": ("class K:\n    __slots__ = 'w'\nO = K(); O.w = 1\n" + READS, "O.w = 2"),
    "class of an object": (OBJECT + "class L:\n    w = 2\n" + READS, "O.__class__ = L"),
    "namespace": ("import types\nO = types.SimpleNamespace(w=1)\n" + READS, "O.w = 2"),
    "attribute of a subclass of list": (
        "class M(list): pass\nO = M(); O.w = 1\n" + READS,
        "O.w = 2",
    ),
    "class of a result": (
        OBJECT + "def get(): return O\nf = lambda x: x * get().w\n",
        "K.w = 2",
    ),
    "attribute that comes to be": (
        "class K: pass\nO = K()\ndef f(x):\n    try:\n        return x * O.w\n"
        "    except AttributeError:\n        return x\n",
        "K.w = 2",
    ),
    "new attribute of an object in a tuple": (
        "class K: pass\nO = K()\nV = ((1, O),)\n"
        "f = lambda x: x * getattr(V[0][1], 'w', 1)\n",
        "O.w = 2",
    ),
    "attribute that comes to be of a class in a list": (
        "class K: pass\nV = [K]\nf = lambda x: x * getattr(V[0], 'w', 1)\n",
        "K.w = 2",
    ),
    "property that comes to hide": (
        "class K: pass\nO = K(); O.w = 1\n" + READS,
        "K.w = property(lambda _: 2)",
    ),
    "hidden builtin": ("f = lambda x: x * len('a')\n", "len = lambda _: 2"),
    "module that comes to be loaded": (
        "import sys\nf = lambda x: x * (2 if 'holes.sub' in sys.modules else 1)\n",
        "sys.modules['holes.sub'] = sys",
    ),
    "rebound library": (
        "import math\nf = lambda x: x * math.gcd(1)\n",
        "class math:\n    gcd = lambda _: 2",
    ),
    "getattr": (OBJECT + "f = lambda x: x * getattr(O, 'w')\n", "K.w = 2"),
    "key of a big dict": (
        "D = {str(i): 1 for i in range(300)}\nf = lambda x: x * D['7']\n",
        "D['7'] = 2",
    ),
    "view of a dict": (
        "import types\nd = {0: 1}\nV = types.MappingProxyType(d)\n" + NUMBERS,
        "d[0] = 2",
    ),
    "arguments of an exception": (
        "O = ValueError(1)\nf = lambda x: x * O.args[0]\n",
        "O.args = (2,)",
    ),
    "attrgetter": (
        "import operator\n"
        + OBJECT
        + "f = lambda x: x * operator.attrgetter('w')(O)\n",
        "K.w = 2",
    ),
    "name of a class": (
        OBJECT + "f = lambda x: x * len(K.__name__)\n",
        "K.__name__ = 'KK'",
    ),
    "name of a function": (
        "def g(): pass\nf = lambda x: x * len(g.__name__)\n",
        "g.__name__ = 'gg'",
    ),
    "item of a subclass of list": (
        "class M(list): pass\nV = M([1])\n" + NUMBERS,
        "V[0] = 2",
    ),
    "item of a subclass of dict": (
        "class M(dict): pass\nV = M({0: 1})\n" + NUMBERS,
        "V[0] = 2",
    ),
    "counter": (
        "import collections\nV = collections.Counter([0])\n" + NUMBERS,
        "V[0] = 2",
    ),
    "what a property keeps in the object": (
        "class P:\n    @property\n    def w(self):\n"
        "        if 'w' not in self.__dict__: self.__dict__['w'] = 1\n"
        "        return self.__dict__['w']\nO = P()\n" + READS,
        "O.__dict__['w'] = 2",
    ),
    "value of an alias": (
        OBJECT + "V = list[K]\nf = lambda x: x * V.__args__[0].w\n",
        "K.w = 2",
    ),
    "key that comes to be in a subclass of dict": (
        "class M(dict): pass\nV = M(a=1)\nf = lambda x: x * sum(V.values())\n",
        "V['b'] = 2",
    ),
    "attribute of a library's object that code names": (
        KEEPS + "f = lambda x: x * O.w\n",
        "O.put(2)",
    ),
}
SEEN_BY_STRICT = {
    "object behind a thousand others": (
        "class K: pass\nV = [K() for _ in range(1100)]\nO = V[1050]; O.w = 1\n"
        "f = lambda x: x * V[1050].w\n",
        "O.w = 2",
    ),
    "array": ("import numpy as np\nV = np.ones(1)\n" + NUMBERS, "V[0] = 2"),
    "array of an object": (
        "import numpy as np\n"
        + OBJECT
        + "O.w = np.ones(1)\nf = lambda x: x * O.w[0]\n",
        "O.w[0] = 2",
    ),
    "big list": ("V = [1] * 257\n" + NUMBERS, "V[0] = 2"),
    "keywords of a partial": (
        "import functools\nh = functools.partial(lambda *, a: a, a=1)\n"
        "f = lambda x: x * h()\n",
        "h.keywords['a'] = 2",
    ),
    "library": ("import math\nf = lambda x: x * math.tau\n", "math.tau = 2"),
    "library, by its name": (
        "import sys, math\nf = lambda x: x * sys.modules['math'].tau\n",
        "math.tau = 2",
    ),
    "imprint": (
        "import imprint.numpy as np\nnp.tau = 1\nf = lambda x: x * np.tau\n",
        "np.tau = 2",
    ),
}


@pytest.fixture
def _as_before():
    tau, context = math.tau, decimal.getcontext()
    yield
    decimal.setcontext(context)
    math.tau = tau
    vars(imprint.numpy).pop("tau", None)
    os.environ.pop("HOLE", None)
    sys.modules.pop("holes", None)
    sys.modules.pop("a_library", None)
    sys.modules.pop("holes.sub", None)


def is_seen(text, edit, *, strict):
    """Return whether the compiled function agrees with the plain one after an edit."""
    module = make_module("holes", text)
    compiled = imprint.jit(module.f, strict=strict)
    assert compiled(1.0) == 1.0 or "tau" in text
    fill(module, edit)
    return float(compiled(1.0)) == float(module.f(1.0))


@pytest.mark.usefixtures("_as_before")
@pytest.mark.parametrize("strict", [False, True], ids=["default", "strict"])
@pytest.mark.parametrize("name", SEEN)
def test_an_edit_is_seen(name, strict):
    assert is_seen(*SEEN[name], strict=strict)


@pytest.mark.usefixtures("_as_before")
@pytest.mark.parametrize("name", SEEN_BY_STRICT)
def test_a_strict_function_sees_an_edit(name):
    assert is_seen(*SEEN_BY_STRICT[name], strict=True)


INSPECTS = """
import inspect
import imprint
n = 0
class K:
    w: int = 1
def h(a=1): pass
@imprint.jit(strict=True)
def f(x):
    n = len(inspect.signature(h).parameters) * len(K.__annotations__)
    return x * n * len(inspect.getmodule(K).__name__)
for _ in range(4):
    f(1.0)
(version,) = f.versions
print([name for name in version.watched if name.startswith("global")])
"""


def test_a_strict_function_does_not_track_the_state_of_imprint():
    command = [sys.executable, "-W", "error", "-c", INSPECTS]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "global inspect in __main__" in done.stdout
    assert " in imprint" not in done.stdout

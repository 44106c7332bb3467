"""The holes: what the cache does not see, one test for each, and what strict mode adds.

The page docs/explanation/what-is-not-tracked.md tells users of each. A test that
fails here is good news: a hole is closed, and the page has a line too many.
"""

import decimal
import math
import os
import subprocess
import sys

import pytest

import imprint
from tests.units.modules import fill, make_library, make_module

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
SEED = "import random\nR = random.Random(0)\nS = R.getstate()\n"

pytestmark = pytest.mark.unaudited  # an audit finds each of them

# Text of a module with `f`, then an edit, by who sees it.
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
    "attribute that comes to be of what a tuple holds": (
        "class K: pass\nO = K()\nV = ((1, O),)\n"
        "f = lambda x: x * getattr(V[0][1], 'w', 1)\n",
        "O.w = 2",
    ),
    "attribute that comes to be of a class in a list": (
        "class K: pass\nV = [K]\nf = lambda x: x * getattr(V[0], 'w', 1)\n",
        "K.w = 2",
    ),
    "name of the module of a frame": (
        "import sys\nW = 1\nf = lambda x: x * sys._getframe().f_globals['W']\n",
        "W = 2",
    ),
    "attribute by a text that formats": (
        OBJECT + "T = '<{o.w}>'\nf = lambda x: x * int(T.format(o=O)[1:-1])\n",
        "O.w = 2",
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
    "globals()": ("W = 1\nf = lambda x: x * globals()['W']\n", "W = 2"),
    "eval": ("W = 1\nf = lambda x: x * eval('W')\n", "W = 2"),
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
    "field of a format": (
        OBJECT + "f = lambda x: x * int('{0.w}'.format(O))\n",
        "O.w = 2",
    ),
    "imported by a relative name": (
        "import importlib, sys, types\nm = types.ModuleType('holes.sub'); m.W = 1\n"
        "m.__file__ = '/a_project/sub.py'; sys.modules['holes.sub'] = m\n"
        "f = lambda x: x * importlib.import_module('.sub', 'holes').W\n",
        "m.W = 2",
    ),
    "attrgetter": (
        "import operator\n"
        + OBJECT
        + "f = lambda x: x * operator.attrgetter('w')(O)\n",
        "K.w = 2",
    ),
    "name that is worked out, of an object": (
        OBJECT + "O.w = 1\nf = lambda x: x * getattr(O, chr(119))\n",
        "O.w = 2",
    ),
    "name that is worked out, by `getattr` under another name": (
        OBJECT + "O.w = 1\ng = getattr\nf = lambda x: x * g(O, chr(119))\n",
        "O.w = 2",
    ),
    "name that is worked out, of what the trace put where it is found": (
        OBJECT + "O.w = 1\nD = {}\ndef h(): D[0] = O\n"
        "f = lambda x: (h(), x * getattr(D[0], chr(119)))[1]\n",
        "O.w = 2",
    ),
    "name that is worked out, of a function": (
        "def g(): pass\ng.w = 1\nf = lambda x: x * getattr(g, chr(119)) * len(vars(g))\n",
        "g.w = 2",
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
    "cell that is a value": (
        "import types\nV = types.CellType(1)\nf = lambda x: x * V.cell_contents\n",
        "V.cell_contents = 2",
    ),
    "what a property keeps in the object": (
        "class P:\n    @property\n    def w(self):\n"
        "        if 'w' not in self.__dict__: self.__dict__['w'] = 1\n"
        "        return self.__dict__['w']\nO = P()\n" + READS,
        "O.__dict__['w'] = 2",
    ),
    "what an alias stands for": (
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
STRICT_SEES = {
    "object behind a thousand others": (
        "class K: pass\nV = [K() for _ in range(1100)]\nO = V[1050]; O.w = 1\n"
        "f = lambda x: x * V[1050].w\n",
        "O.w = 2",
    ),
    "slot that another hides": (
        "class B:\n    __slots__ = 'w'\nclass C(B):\n    __slots__ = 'w'\n"
        "O = C(); O.w = 1; B.w.__set__(O, 1)\nf = lambda x: x * B.w.__get__(O)\n",
        "B.w.__set__(O, 2)",
    ),
    "what C shows of a namespace": (
        "import types\nO = types.SimpleNamespace(w=1)\n"
        "f = lambda x: x * (1 if repr(O) == 'namespace(w=1)' else 2)\n",
        "O.w = 20",
    ),
    "what C compares of a namespace": (
        "import types\nO = types.SimpleNamespace(w=1)\n"
        "P = types.SimpleNamespace(w=1)\nf = lambda x: x * (1 if O == P else 2)\n",
        "O.w = 2",
    ),
    "what C shows of an exception": (
        "O = ValueError(1)\nf = lambda x: x * (1 if str(O) == '1' else 2)\n",
        "O.args = (20,)",
    ),
    "array": ("import numpy as np\nV = np.ones(1)\n" + NUMBERS, "V[0] = 2"),
    "array of an object": (
        "import numpy as np\n"
        + OBJECT
        + "O.w = np.ones(1)\nf = lambda x: x * O.w[0]\n",
        "O.w[0] = 2",
    ),
    "big list": ("V = [1] * 257\n" + NUMBERS, "V[0] = 2"),
    "what a library's object keeps behind its methods": (
        KEEPS + "f = lambda x: x * O.get()\n",
        "O.put(2)",
    ),
    "array that C made": (
        "import array\nV = array.array('i', [1])\n" + NUMBERS,
        "V[0] = 2",
    ),
    "weak set": (
        "import weakref\n" + OBJECT + "P, V = K(), weakref.WeakSet([O])\n"
        "f = lambda x: x * len(V)\n",
        "V.add(P)",
    ),
    "weak values": (
        "import weakref\n" + OBJECT + "P, V = K(), weakref.WeakValueDictionary(a=O)\n"
        "P.w = 2\nf = lambda x: x * V['a'].w\n",
        "V['a'] = P",
    ),
    "view of memory": (
        "B = bytearray([1]); V = memoryview(B)\n" + NUMBERS,
        "B[0] = 2",
    ),
    "queue": (
        "import queue\nQ = queue.Queue(); Q.put(1)\nf = lambda x: x * Q.qsize()\n",
        "Q.put(1)",
    ),
    "keywords of a partial": (
        "import functools\nh = functools.partial(lambda *, a: a, a=1)\n"
        "f = lambda x: x * h()\n",
        "h.keywords['a'] = 2",
    ),
    "attribute by a text that is put together and formats": (
        OBJECT + "T = ['{o.', 'w}']\nf = lambda x: x * int(''.join(T).format(o=O))\n",
        "O.w = 2",
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
    "environment": (
        "import os\nf = lambda x: x * int(os.environ.get('HOLE', 1))\n",
        "os.environ['HOLE'] = '2'",
    ),
    "side table": (
        "import weakref\n" + OBJECT + "T = weakref.WeakKeyDictionary({O: 1})\n"
        "f = lambda x: x * T[O]\n",
        "T[O] = 2",
    ),
}
STRICT_TELLS_OF = {
    "attribute, worked out, of what only a queue of C's holds": (
        "import queue\n" + OBJECT + "Q = queue.SimpleQueue(); Q.put(O)\n"
        "def f(x):\n    o = Q.get(); Q.put(o)\n    return x * getattr(o, ''.join('w'))\n",
        "O.w = 2",
    ),
    "class of what is behind a proxy": (
        "import wrapt\n" + OBJECT + "P = wrapt.ObjectProxy(O)\nf = lambda x: x * P.w\n",
        "K.w = 2",
    ),
    "what is sixty containers deep": (
        "V = W = [1]\nfor _ in range(70):\n    V = [V]\ndef f(x):\n    v = V\n"
        "    while isinstance(v, list):\n        v = v[0]\n    return x * v\n",
        "W[0] = 2",
    ),
    "weak proxy": (
        "import weakref\n" + OBJECT + "P = weakref.proxy(O)\nf = lambda x: x * P.w\n",
        "O.w = 2",
    ),
    "context variable": (
        "import contextvars\nV = contextvars.ContextVar('V', default=1)\n"
        "f = lambda x: x * V.get()\n",
        "V.set(2)",
    ),
    "thread's own": (
        "import threading\nO = threading.local()\nO.w = 1\n" + READS,
        "O.w = 2",
    ),
    "text in a buffer": (
        "import io\nB = io.StringIO('1')\nf = lambda x: x * int(B.getvalue())\n",
        "B.write('2')",
    ),
    "element of XML": (
        "from xml.etree.ElementTree import fromstring\n"
        "E = fromstring('<a w=\"1\"/>')\nf = lambda x: x * int(E.get('w'))\n",
        "E.set('w', '2')",
    ),
    "state of a generator of numbers": (
        SEED + "f = lambda x: x * (1 if R.getstate() == S else 2)\n",
        "R.random()",
    ),
}
NOTHING_SEES = {
    "builtins that a function has of its own": (
        "B = {'len': lambda _: 1}\n"
        "g = type(lambda: 0)((lambda: len('a')).__code__, {'__builtins__': B})\n"
        "f = lambda x: x * g()\n",
        "B['len'] = lambda _: 2",
    ),
    "fields of a dataclass": (
        "import dataclasses\n@dataclasses.dataclass\nclass D:\n    a: int = 1\n"
        "f = lambda x: x * len(dataclasses.fields(D))\n",
        "D.__dataclass_fields__.clear()",
    ),
    "how many modules are loaded": (
        "import sys\nn = len(sys.modules) - 1\nf = lambda x: x * (len(sys.modules) - n)\n",
        "sys.modules['holes.sub'] = sys",
    ),
    "attribute that a library's object comes to have": (
        "import logging\nL = logging.Logger('hole')\n"
        "f = lambda x: x * getattr(L, 'w', 1)\n",
        "L.w = 2",
    ),
    "context of decimal": (
        "import decimal\nfrom decimal import Decimal\n"
        "f = lambda x: x * (1 if len(str(Decimal(1) / 3)) > 9 else 2)\n",
        "decimal.setcontext(decimal.Context(prec=3))",
    ),
    "name that is worked out, of a module": (
        "W = 1\nf = lambda x: x * globals()[chr(87)]\n",
        "W = 2",
    ),
    "all that a module has": (
        "W = 1\nf = lambda x: x * max(v for v in globals().values() if type(v) is int)\n",
        "V = 2",
    ),
    "text that is run elsewhere": (
        "W = 1\nT = 'def g(): return W'\ndef f(x):\n    names = dict(globals())\n"
        "    exec(T, names)\n    return x * names['g']()\n",
        "W = 2",
    ),
    "frozen": (
        "import dataclasses\n@dataclasses.dataclass(frozen=True)\nclass P:\n    w: int\n"
        "O = P(1)\n" + READS,
        "object.__setattr__(O, 'w', 2)",
    ),
    "lock": (
        "import threading\nL = threading.Lock()\n"
        "f = lambda x: x * (2 if L.locked() else 1)\n",
        "L.acquire()",
    ),
    "metadata of a dtype": (
        OBJECT + "import numpy\nD = numpy.dtype('f4', metadata={'unit': O})\n"
        "f = lambda x: x * D.metadata['unit'].w\n",
        "O.w = 2",
    ),
    "metaclass": (
        "class M(type):\n    w = 1\nclass N(type):\n    w = 2\n"
        "class O(metaclass=M): pass\n" + READS,
        "O.__class__ = N",
    ),
    "state of a partial": (
        "import functools, operator\nP = functools.partial(operator.mul, 1)\n"
        "f = lambda x: x * P(1)\n",
        "P.__setstate__((operator.sub, (5,), {}, None))",
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
    "order of a set": (
        "S = set([0, 8])\nf = lambda x: x * (1 + list(S)[0])\n",
        "S = set([8, 0])",
    ),
    "sign of a NaN": (
        "import math\nN = math.nan\nf = lambda x: x * math.copysign(1, N)\n",
        "N = -math.nan",
    ),
    "which of two equal values": (
        "A = [1]; B = A\nf = lambda x: x * (1 + (A is not B))\n",
        "B = [1]",
    ),
    "document of an equal function in a closure": (
        "def wrap(g): return lambda: float(g.__doc__)\n"
        "def h(): '1'\nw = wrap(h)\nf = lambda x: x * w()\n",
        "def h(): '2'\nw = wrap(h)",
    ),
    "line": (
        "import sys\ndef h(): return sys._getframe().f_lineno - 1\n"
        "f = lambda x: x * h()\n",
        "import sys\n\ndef h(): return sys._getframe().f_lineno - 1",
    ),
    "registered class": (
        "import abc\nclass A(abc.ABC): pass\n"
        + OBJECT
        + "f = lambda x: x * (2 if isinstance(O, A) else 1)\n",
        "A.register(K)",
    ),
    "subclasses of a library's class": (
        "import gc, json\ngc.collect()\nC = json.JSONEncoder\n"
        "n = len(C.__subclasses__()) - 1\nf = lambda x: x * (len(C.__subclasses__()) - n)\n",
        "class M(json.JSONEncoder): pass",
    ),
    "table whose slots the trace fills": (
        "T = [None] * 3\ndef f(x):\n    T[1] = T[1] or 1\n    return x * T[1]\n",
        "T[1] = 2",
    ),
    "closure variable that the trace fills": (
        "def made():\n    w = None\n    def f(x):\n        nonlocal w\n"
        "        w = w or 1\n        return x * w\n"
        "    def put(value):\n        nonlocal w\n        w = value\n"
        "    return f, put\nf, put = made()\n",
        "put(2)",
    ),
    "what the trace writes": (
        "n = [0]\ndef f(x):\n    n[0] += 1\n    return x * n[0]\n",
        "n[0] = 7",
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
    """Tell whether a compiled function does what the plain one does after an edit."""
    module = make_module("holes", text)
    compiled = imprint.jit(module.f, strict=strict)
    assert compiled(1.0) == 1.0 or "tau" in text
    fill(module, edit)
    return float(compiled(1.0)) == float(module.f(1.0))


@pytest.mark.usefixtures("_as_before")
@pytest.mark.parametrize("name", STRICT_SEES)
def test_what_only_strict_mode_sees(name):
    assert not is_seen(*STRICT_SEES[name], strict=False)


@pytest.mark.usefixtures("_as_before")
@pytest.mark.parametrize("strict", [False, True], ids=["default", "strict"])
@pytest.mark.parametrize("name", SEEN)
def test_what_is_seen(name, strict):
    assert is_seen(*SEEN[name], strict=strict)


@pytest.mark.usefixtures("_as_before")
@pytest.mark.parametrize("name", STRICT_SEES)
def test_strict_mode_sees_it(name):
    assert is_seen(*STRICT_SEES[name], strict=True)


@pytest.mark.usefixtures("_as_before")
@pytest.mark.parametrize("name", STRICT_TELLS_OF)
def test_what_strict_mode_does_not_see_but_tells_of(name):
    assert not is_seen(*STRICT_TELLS_OF[name], strict=False)
    with pytest.warns(imprint.errors.CaptureWarning, match="in global"):
        assert not is_seen(*STRICT_TELLS_OF[name], strict=True)


@pytest.mark.usefixtures("_as_before")
@pytest.mark.parametrize("strict", [False, True], ids=["default", "strict"])
@pytest.mark.parametrize("name", NOTHING_SEES)
def test_what_nothing_sees(name, strict):
    assert not is_seen(*NOTHING_SEES[name], strict=strict)


@pytest.mark.usefixtures("_as_before")
def test_what_equal_arrays_share_is_not_seen_where_they_count_by_content():
    text = (
        "import numpy as np\nA = np.ones(2); B = A[:]\n"
        "f = lambda x: x * (2 - np.shares_memory(A, B))\n"
    )
    assert is_seen(text, "B = A.copy()", strict=False)
    assert not is_seen(text, "B = A.copy()", strict=True)


@pytest.mark.usefixtures("_as_before")
def test_what_is_inspected_is_not_seen():
    text = (
        "import inspect\ndef h(a=1): pass\n"
        "f = lambda x: x * inspect.signature(h).parameters['a'].default\n"
    )
    assert not is_seen(text, "h.__defaults__ = (2,)", strict=False)


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


def test_a_strict_function_that_walks_over_all_modules_leaves_out_what_imprint_keeps():
    command = [sys.executable, "-W", "error", "-c", INSPECTS]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "global inspect in __main__" in done.stdout
    assert " in imprint" not in done.stdout


REGISTRY = "by_name = {}\ndef get(n): return by_name[n]\n"
A_RESULT = "f = lambda x: x * a_registry.get('a').w\n"


@pytest.fixture
def _registry():
    make_library("a_registry", REGISTRY)
    yield
    del sys.modules["a_registry"]


@pytest.mark.usefixtures("_registry")
def test_that_a_library_returns_another_object_is_not_seen():
    text = f"import a_registry\n{OBJECT}a_registry.by_name['a'] = O\n{A_RESULT}"
    other = "P = K(); P.w = 2; a_registry.by_name['a'] = P"
    assert not is_seen(text, other, strict=False)
    assert is_seen(text, "O.w = 2", strict=False)


def test_that_the_code_of_a_function_that_only_a_library_keeps_is_replaced_is_not_seen():
    text = (
        "import copy, copyreg\nclass K: pass\nO = K()\n"
        "def made(): return K\ndef reduced(o): return made, ()\nK.w = 1\n"
        "copyreg.pickle(K, reduced)\nf = lambda x: x * copy.copy(O).w\n"
        "KEPT = [reduced]; del reduced\n"
    )
    edit = "class L: w = 2\nKEPT[0].__code__ = (lambda o: (lambda: L, ())).__code__"
    assert not is_seen(text, edit, strict=False)


THREAD = """
import queue, threading
W = 1
asked, answers = queue.Queue(), queue.Queue()
def work():
    while asked.get():
        answers.put(W)
threading.Thread(target=work, daemon=True).start()
def f(x):
    asked.put(True)
    return x * answers.get()
"""


@pytest.mark.usefixtures("_as_before")
def test_what_a_thread_reads_that_is_handed_no_function_is_not_seen():
    assert not is_seen(THREAD, "W = 2", strict=False)
    sys.modules["holes"].asked.put(False)


NODE = "import imprint\nf = lambda x: x * len(imprint.tree.leaves(V))\n"


def test_that_a_class_of_the_interpreter_becomes_a_node_is_not_seen():
    edit = "imprint.tree.register_static(memoryview)"
    assert not is_seen(f"V = memoryview(b'a')\n{NODE}", edit, strict=False)


@pytest.mark.usefixtures("_registry")
def test_that_a_librarys_class_becomes_a_node_is_seen():
    library = sys.modules["a_registry"]
    fill(library, "class C: pass\nby_name['a'] = C()\n")
    text = f"import a_registry\n{NODE}".replace("V", "a_registry.get('a')")
    edit = "imprint.tree.register_static(a_registry.C)"
    assert is_seen(text, edit, strict=False)


LATER = {
    "class": "C",
    "object": "O",
    "object in a list": "[O]",
    "class in a new tuple of a dict": "({0: C},)",
}


@pytest.mark.parametrize("given", LATER.values(), ids=LATER)
def test_what_a_library_is_given_later_counts_whole(given):
    """Another object was given before it, and the name is put together."""
    library = make_library(
        "a_library",
        "def get(o, name):\n    while type(o) in (list, tuple, dict): o = o[0]\n"
        "    return getattr(o, name)",
    )
    module = make_module(
        "a_program",
        "import a_library\nclass P: pass\nclass C: pass\nO = C()\n"
        "setattr(P, chr(119), 1); setattr(C, chr(119), 1)\n"
        f"f = lambda x: a_library.get(P, chr(119)) * a_library.get({given}, chr(119))\n",
    )
    try:
        compiled = imprint.jit(module.f)
        assert compiled(1) == 1
        setattr(module.C, chr(119), 2)
        assert compiled(1) == 2
    finally:
        for each in (library, module):
            del sys.modules[each.__name__]

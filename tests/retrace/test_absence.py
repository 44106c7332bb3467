"""A new attribute on an owner that had none is seen.

Each owner of attributes is read for `w` in each way that tolerates its absence. Then the
owner, its class or a base gains it, changes it, and loses it.
"""

import pytest

from tests.retrace.scenario import play

CLASSES = "class B: pass\nclass C(B): pass\n"
META = "class T(type): pass\nclass C(metaclass=T): pass\n"
OWNERS = {
    "object": (CLASSES + "o = C()", "o", "o C B"),
    "class": (CLASSES, "C", "C B"),
    "class of an object": (CLASSES + "o = C()", "type(o)", "C B"),
    "class with a metaclass": (META, "C", "C T"),
    "object of a metaclass's class": (META + "o = C()", "o", "o C"),
    "abstract class": ("class C(abc.ABC): pass", "C", "C"),
    "module": ("", "cfg", "cfg"),
    "module of a class": (
        "class M(types.ModuleType): pass\no = M('m'); o.__file__ = cfg.__file__",
        *("o", "o M"),
    ),
    "function": ("def o(): pass", "o", "o"),
    "method": ("class C:\n    def m(self): pass\no = C()", "o.m", "C.m"),
    "partial": ("o = functools.partial(int)", "o", "o"),
    "namespace": ("o = types.SimpleNamespace()", "o", "o"),
    "named tuple": (
        "class N(collections.namedtuple('N', 'a')): pass\no = N(1)",
        *("o", "o N"),
    ),
    "member of an enum": ("class E(enum.Enum): A = 1\no = E.A", "o", "o"),
    "exception": ("class E(Exception): pass\no = E()", "o", "o E"),
    "object with slots": ("class C: __slots__ = 'w'\no = C()", "o", "o"),
    "object with slots and more": (
        "class B: __slots__ = 'w'\nclass C(B): pass\no = C()",
        *("o", "o"),
    ),
    "dict": ("class C(dict): pass\no = C()", "o", "o C"),
    "list": ("class C(list): pass\no = C()", "o", "o C"),
    "number": ("class C(int): pass\no = C(1)", "o", "o C"),
    "frozen dataclass": (
        "@dataclasses.dataclass(frozen=True)\nclass C: a: int = 1\no = C()",
        *("o", "C"),
    ),
    "dataclass": ("@dataclasses.dataclass\nclass C: a: int = 1\no = C()", "o", "o C"),
    "imprint's module": ("class M(Module): a: float = 1.0\no = M()", "o", "M"),
    "object of an object": (CLASSES + "o = C(); o.o = C()", "o.o", "o.o C"),
    "object in a list": (CLASSES + "o = [C()]", "o[0]", "o[0] C"),
    "object in a dictionary": (CLASSES + "o = {'k': C()}", "o['k']", "o['k'] C"),
    "object of a class": (CLASSES + "class D: o = C()", "D.o", "D.o C"),
    "what a property gives": (
        CLASSES + "class P: p = property(lambda self: self.o)\no = P(); o.o = C()",
        *("o.p", "o.o C"),
    ),
    "what a call gives": (CLASSES + "o = C()\ndef get(): return o", "get()", "o C"),
    "what is captured": (
        CLASSES + "o = C()\ndef keep(k): return lambda: k\nget = keep(o)",
        *("get()", "o C"),
    ),
}
WAYS = {
    "getattr": "def way(v): return getattr(v, 'w', 1.0)",
    "hasattr": "def way(v): return v.w if hasattr(v, 'w') else 1.0",
    "by a handler": (
        "def way(v):\n    try: return v.w\n    except AttributeError: return 1.0"
    ),
    "by a caller's handler": (
        "def asks(v): return v.w\n"
        "def way(v):\n    try: return asks(v)\n    except AttributeError: return 1.0"
    ),
    "suppress": (
        "def way(v):\n"
        "    with contextlib.suppress(AttributeError): return v.w\n    return 1.0"
    ),
    "pattern": (
        "def way(v):\n    match v:\n        case object(w=found): return found\n"
        "    return 1.0"
    ),
}
CASES = [
    pytest.param(owner, way, target, id=f"{owner}, {way}, {target}")
    for owner, (*_, targets) in OWNERS.items()
    for way in WAYS
    for target in targets.split()
]
pytestmark = [
    pytest.mark.unaudited,
]


def scenario_of(owner, way, target):
    define, read, _ = OWNERS[owner]
    program = f"{define}\n{WAYS[way]}\nf = lambda x: x * way({read})"
    return f"{program}\n--- {target}.w = 2.0\n--- {target}.w = 3.0\n--- del {target}.w"


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("owner", "way", "target"), CASES)
def test_a_new_attribute_is_seen(owner, way, target):
    play(scenario_of(owner, way, target))

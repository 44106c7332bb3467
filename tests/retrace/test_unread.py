"""An attribute that changes repeatedly is guarded only if a trace reads it.

Each program has an attribute `n` that its code mentions, on an owner that it may or may
not read. If a trace reads it, each edit is seen; otherwise the edits cost at most one
trace, and further edits none.
"""

import textwrap

import pytest

import imprint
import imprint.numpy as inp
from imprint._src.jit.compilation.counters import COUNTERS
from tests.retrace.marks import executed_code_is_known
from tests.units.modules import make_module

X = inp.float32(2)
HEAD = "import copy, dataclasses, functools, operator, types\nimport imprint\n"

# The owners of `n`: a class `K`, an object `o` of it, and `edit(v)`.
OWNERS = {
    "class": "class K: n = 1.0\no = K()\ndef edit(v): K.n = v",
    "inherited": "class B: n = 1.0\nclass K(B): pass\no = K()\ndef edit(v): B.n = v",
    "metaclass": "class M(type): pass\nclass K(metaclass=M): n = 1.0\no = K()\ndef edit(v): K.n = v",
    "object": "class K: pass\no = K(); o.n = 1.0\ndef edit(v): o.n = v",
    "over a default": "class K: n = 0.0\no = K(); o.n = 1.0\ndef edit(v): o.n = v",
    "over an inherited default": "class B: n = 0.0\nclass K(B): pass\no = K(); o.n = 1.0\ndef edit(v): o.n = v",
    "slot": "class K: __slots__ = ('n', '__weakref__')\no = K(); o.n = 1.0\ndef edit(v): o.n = v",
    "inherited slot": "class B: __slots__ = ('n', '__weakref__')\nclass K(B): pass\no = K(); o.n = 1.0\ndef edit(v): o.n = v",
    "frozen": "@dataclasses.dataclass(frozen=True, eq=False)\nclass K: n: float = 1.0\no = K()\ndef edit(v): object.__setattr__(o, 'n', v)",
    "__getattr__": "class K:\n    def __getattr__(self, name): raise AttributeError(name)\no = K(); o.n = 1.0\ndef edit(v): o.n = v",
    "__setattr__": "class K:\n    def __setattr__(self, name, v): object.__setattr__(self, name, v)\no = K(); o.n = 1.0\ndef edit(v): o.n = v",
    "both": "class K: n = 1.0\no = K(); o.n = 1.0\ndef edit(v): o.n = K.n = v",
}

# How `n` of `o` is read.
READS = {
    "attribute": "o.n",
    "getattr": "getattr(o, 'n')",
    "getattr with a default": "getattr(o, 'n', 7.0)",
    "getattr of a computed name": "getattr(o, chr(110), o.n)",
    "hasattr": "(o.n if hasattr(o, 'n') else 0.0)",
    "attrgetter": "operator.attrgetter('n')(o)",
    "match": "matched(o)",
    "vars": "{**vars(type(o)), **getattr(o, '__dict__', {'n': o.n})}.get('n', o.n)",
    "copy": "copy.copy(o).n",
    "in a nested function": "(lambda: o.n)()",
    "in a nested jit": "imprint.jit(lambda y: y * o.n)(1.0)",
    "in grad": "imprint.grad(lambda y: y * o.n)(1.0)",
    "method": "method(o)",
    "written first and put back": "put_back(o)",
}
HELPERS = """
def matched(o):
    match o:
        case K(n=n): return n
def method(o): return o.n
def put_back(o):
    before = o.n
    object.__setattr__(o, "n", 0.0)
    object.__setattr__(o, "n", before)
    return before
"""


def module_of(text):
    return make_module("probed", HEAD + textwrap.dedent(text))


def traces_of(action):
    before = COUNTERS.traces
    action()
    return COUNTERS.traces - before


@pytest.mark.sampled(4)
@pytest.mark.parametrize("owner", OWNERS.values(), ids=OWNERS)
@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_each_way_to_read_is_seen(owner, read):
    module = module_of(f"{owner}\n{HELPERS}\nf = lambda x: x * {read}")
    held = dict(vars(module.K))
    f = imprint.jit(module.f)
    assert f(X) == 2.0
    for value in (3.0, 5.0, 3.5, 7.0):
        module.edit(value)
        expected = module.f(2.0)
        assert f(X) == expected
        assert f(X) == expected
    assert vars(module.K).keys() - {"__slotnames__"} == held.keys()  # `copy` adds it


OF_CLASS = {
    "class": "K.n",
    "type": "type(o).n",
    "getattr": "getattr(K, 'n')",
    "super": "Sub().up()",
    "super with a default": "getattr(Sub().own(), 'n', 0.0)",
    "classmethod": "Sub.of()",
    "subclass": "Sub.n",
    "object of a subclass": "Sub().n",
}
SUB = """
class Sub(K):
    def up(self): return super().n
    def own(self): return super()
    @classmethod
    def of(cls): return cls.n
"""


@pytest.mark.parametrize("read", OF_CLASS.values(), ids=OF_CLASS)
def test_each_way_to_read_a_class_is_seen(read):
    module = module_of(f"class K: n = 1.0\no = K()\n{SUB}\nf = lambda x: x * {read}")
    f = imprint.jit(module.f)
    for value in (1.0, 3.0, 5.0, 3.0, 7.0):
        module.K.n = value
        assert f(X) == 2.0 * value
        assert module.K.__dict__["n"] == value


# Programs that mention `n` and do not read `o.n`.
UNREAD = {
    "branch that is not taken": "D = False\nf = lambda x: x * o.n if D else x",
    "written alone": """
        class P: n = 0.0
        p = P()
        def f(x, of=(o, p)):
            of[1].n = 1.0
            return x
        """,
    "in a nested jit": "D = False\nf = lambda x: imprint.jit(lambda y: y * o.n if D else y)(x)",
    "in grad": "D = False\nf = lambda x: imprint.grad(lambda y: y * (o.n if D else 1.0))(x) * x",
}


def unread(name, owner):
    only_writes = name == "written alone" and owner != "frozen"
    return pytest.param(
        OWNERS[owner],
        UNREAD[name],
        id=f"{name}-{owner}",
        marks=[] if only_writes else [executed_code_is_known],
    )


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("owner", "text"), [unread(name, owner) for name in UNREAD for owner in OWNERS]
)
def test_an_unread_attribute_causes_one_more_trace_at_most(owner, text):
    module = module_of(f"{owner}\n{textwrap.dedent(text)}")
    f = imprint.jit(module.f)
    assert f(X) == 2.0
    versions = list(f.versions)

    def edit_and_call(values):
        for value in values:
            module.edit(value)
            assert f(X) == 2.0

    nested = 2 if "imprint.jit" in text else 1
    # Two locations are two traces: the attributes of `K`, and those of `o`.
    assert traces_of(lambda: edit_and_call((3.0, 5.0, 7.0))) <= 2 * nested
    assert traces_of(lambda: edit_and_call(range(20))) == 0
    assert list(f.versions) == versions  # the same answers


WRITES = {
    "of the class": ("class", "K.n = 9.0", 18.0),
    "deleted and set": ("class", "del K.n; K.n = 9.0", 18.0),
    "of the object": ("object", "o.n = 9.0", 18.0),
    "of the slot": ("slot", "o.n = 9.0", 18.0),
    "both": ("both", "K.n = 8.0; o.n = 9.0", 18.0),
    "over a default": ("over a default", "o.n = 9.0", 18.0),
    "deleted": ("over a default", "del o.n; K.n = 9.0", 18.0),
}


@pytest.mark.parametrize(("owner", "write", "result"), WRITES.values(), ids=WRITES)
def test_a_write_by_the_trace_stays(owner, write, result):
    module = module_of(
        f"{OWNERS[owner]}\nD = False\ndef f(x):\n    if D:\n        {write}\n    return x * o.n"
    )
    f = imprint.jit(module.f)
    f(X)
    module.edit(3.0)
    module.D = True
    assert f(X) == result
    assert module.o.n == 9.0
    module.D = False
    module.edit(4.0)
    assert f(X) == 8.0


@pytest.mark.parametrize("name", "abcdkmnstvx")
def test_no_name_of_imprint_or_a_library_is_watched_in_an_object(name):
    module = module_of("class K: pass\no = K(); o.w = 1.0\nf = lambda v: v * o.w")
    setattr(module.o, name, 1.0)
    f = imprint.jit(module.f)
    assert f(X) == 2.0
    assert not [each for each in f.versions[0].watched if each.startswith(f"o.{name} ")]


# Owners whose attribute stays guarded.
REFUSED = {
    "property": "class K:\n    @property\n    def n(self): return self.v\no = K(); o.v = 1.0\ndef edit(v): o.v = v",
    "namespace": "o = types.SimpleNamespace(n=1.0)\ndef edit(v): o.n = v",
    "subclass of a namespace": "class K(types.SimpleNamespace): pass\no = K(n=1.0)\ndef edit(v): o.n = v",
    "function": "def o(): pass\no.n = 1.0\ndef edit(v): o.n = v",
    "method": "class K:\n    def n(self): return 1.0\nclass W:\n    def __init__(self, v): self.v = v\n    def __get__(self, o, c): return self.v\nK.n = W(1.0)\no = K()\ndef edit(v): K.n = W(v)",
    "metaclass that refuses": "class M(type):\n    def __setattr__(self, name, v): raise TypeError\nclass K(metaclass=M): n = 1.0\no = K()\ndef edit(v): type.__setattr__(K, 'n', v)",
    "with subclasses": "class K: pass\nclass L(K): pass\no = K(); o.n = 1.0\ndef edit(v): o.n = v",
}


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED)
def test_edits_of_other_owners_are_seen(text):
    module = module_of(f"{text}\nf = lambda x: x * o.n")
    f = imprint.jit(module.f)
    for value in (1.0, 3.0, 5.0):
        module.edit(value)
        assert f(X) == 2.0 * value

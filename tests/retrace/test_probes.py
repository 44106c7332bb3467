"""A watched attribute that changes is probed: who reads it keeps it watched, nobody ends it.

Each program has an attribute `n` that its code mentions, on an owner that it may or may
not read. It is edited again and again: where a trace reads it, each edit is seen; where
none does, it costs one trace, and further edits none. After each trace, whatever came of
it, the classes are as they were.
"""

import itertools
import textwrap
import threading

import pytest

import imprint
import imprint.numpy as inp
from imprint._src.jit.compilation.counters import COUNTERS
from tests.units.modules import make_module

pytestmark = pytest.mark.usefixtures("kept_executables")
X = inp.float32(2)
HEAD = "import copy, dataclasses, functools, operator, types\nimport imprint\n"

# What owns `n`: a class `K`, an object `o` of it, and `edit(v)`.
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
    "object.__getattribute__": "object.__getattribute__(o, 'n')",
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
def test_a_probe_hears_each_way_to_read(owner, read):
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
    "attrgetter": "operator.attrgetter('K.n')(types.SimpleNamespace(K=K))",
    "vars": "vars(K)['n']",
    "__dict__": "K.__dict__['n']",
}
SUB = """
class Sub(K):
    def up(self): return super().n
    def own(self): return super()
    @classmethod
    def of(cls): return cls.n
"""


@pytest.mark.parametrize("read", OF_CLASS.values(), ids=OF_CLASS)
def test_a_probe_hears_each_way_to_read_of_a_class(read):
    module = module_of(f"class K: n = 1.0\no = K()\n{SUB}\nf = lambda x: x * {read}")
    f = imprint.jit(module.f)
    for value in (1.0, 3.0, 5.0, 3.0, 7.0):
        module.K.n = value
        assert f(X) == 2.0 * value
        assert module.K.__dict__["n"] == value


# What `f` does beside: it mentions `n` and does not read `o.n`.
UNREAD = {
    "branch that is not taken": "D = False\nf = lambda x: x * o.n if D else x",
    "of another": "class P: n = 1.0\ndef get(): return P\nf = lambda x: x * get().n + 0 * len([o])",
    "of another object in a list": "q = K(); object.__setattr__(q, 'n', 1.0)\nl = [q, o]\nf = lambda x: x * l[0].n",
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


@pytest.mark.sampled(4)
@pytest.mark.parametrize("owner", OWNERS.values(), ids=OWNERS)
@pytest.mark.parametrize("text", UNREAD.values(), ids=UNREAD)
def test_what_nobody_reads_is_traced_once_more_at_most(owner, text):
    module = module_of(f"{owner}\n{textwrap.dedent(text)}")
    f = imprint.jit(module.f)
    assert f(X) == 2.0
    versions = list(f.versions)

    def edit_and_call(values):
        for value in values:
            module.edit(value)
            assert f(X) == 2.0

    nested = 2 if "imprint.jit" in text else 1
    # Two places are two traces: what `K` has, and what `o` has.
    assert traces_of(lambda: edit_and_call((3.0, 5.0, 7.0))) <= 2 * nested
    assert traces_of(lambda: edit_and_call(range(20))) == 0
    assert list(f.versions) == versions  # the same answers


def test_what_nobody_reads_is_known_in_other_states_too():
    module = module_of("""
        class K: n, w = 0, 1.0
        o, D = K(), False
        f = lambda x: x * o.n if D else x * o.w
        """)
    f = imprint.jit(module.f)

    def count_and_call():
        for _ in range(10):
            module.o.n += 1
            f(X)

    assert traces_of(count_and_call) == 2
    for w in (2.0, 3.0, 4.0):
        module.o.w = w
        assert traces_of(count_and_call) == 1
        assert f(X) == 2.0 * w
    module.D = True
    module.o.n = 5
    assert f(X) == 10.0
    module.o.n = 6
    assert f(X) == 12.0
    module.D = False
    assert traces_of(count_and_call) == 0


def test_one_miss_more_is_needless_and_no_version():
    module = module_of(
        "class K: n = 0\no, D = K(), False\nf = lambda x: o.n if D else x"
    )
    f = imprint.jit(module.f, max_versions=1, on_limit="error")
    f(X)
    misses, needless = COUNTERS.misses, COUNTERS.needless
    compiles = COUNTERS.compiles
    module.K.n = 1
    f(X)
    assert (COUNTERS.misses, COUNTERS.needless) == (misses + 1, needless + 1)
    assert COUNTERS.compiles == compiles
    assert len(f.versions) == 1


ERRORS = {
    "error": ValueError,
    "interrupt": KeyboardInterrupt,
    "exit": SystemExit,
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("error", ERRORS.values(), ids=ERRORS)
@pytest.mark.parametrize("owner", OWNERS.values(), ids=OWNERS)
def test_classes_are_put_back_after_an_error(owner, error):
    module = module_of(
        f"{owner}\nfail = None\ndef f(x):\n    if fail: fail()\n    return x * o.n"
    )
    f = imprint.jit(module.f)
    f(X)

    def fail():
        raise error

    module.edit(3.0)
    held = dict(vars(module.K))
    module.fail = fail
    with pytest.raises(error):
        f(X)
    assert dict(vars(module.K)) == held
    module.fail = None
    assert f(X) == 6.0


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
def test_what_the_trace_writes_stays(owner, write, result):
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


@pytest.mark.parametrize("owner", OWNERS.values(), ids=OWNERS)
def test_what_another_thread_writes_meanwhile_stays(owner):
    module = module_of(
        f"{owner}\nD, act = False, None\ndef f(x):\n    act()\n    return x * o.n if D else x"
    )
    module.act = lambda: None
    f = imprint.jit(module.f)
    f(X)
    module.edit(3.0)
    seen = []

    def act():
        thread = threading.Thread(
            target=lambda: (seen.append(module.o.n), module.edit(5.0))
        )
        thread.start()
        thread.join()

    module.act = act
    f(X)
    assert seen[0] == 3.0
    assert module.o.n == 5.0
    module.act, module.D = (lambda: None), True
    assert f(X) == 10.0


def test_threads_that_trace_at_once_see_what_is_there():
    module = module_of("""
        class K: n = 1.0
        o, D = K(), False
        def f(x, s=0.0): return x * o.n if D else x
        def g(x): return x * o.n
        """)
    errors = []

    def work(function, expected):
        f = imprint.jit(lambda x: function(x))
        try:
            for _ in range(20):
                found = float(f(X))
                assert expected(found), found
        except BaseException as err:
            errors.append(err)

    def edit():
        for value in itertools.islice(itertools.cycle((1.0, 2.0, 3.0)), 60):
            module.K.n = value

    threads = [
        threading.Thread(target=work, args=(module.f, lambda y: y == 2.0)),
        threading.Thread(target=work, args=(module.g, lambda y: y in (2.0, 4.0, 6.0))),
        threading.Thread(target=edit),
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("imprint._src.jit.compile_version.warn", lambda *_: None)
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not errors
    assert module.K.__dict__["n"] == 3.0


def test_a_copy_of_an_object_of_which_all_counts_is_no_edit():
    module = module_of(
        "import copy\nclass K:\n    def __init__(self): self.n = 2.0\n"
        "o = K()\nf = lambda x: x * sum(vars(o).values())"
    )
    f = imprint.jit(module.f)
    assert f(X) == 4.0
    module.copy.deepcopy(module.o)
    assert "__slotnames__" in vars(module.K)
    assert f(X) == 4.0
    assert len(f.versions) == 1


@pytest.mark.parametrize("name", "abcdkmnstvx")
def test_no_name_of_imprints_own_and_of_libraries_is_watched_in_an_object(name):
    module = module_of("class K: pass\no = K(); o.w = 1.0\nf = lambda v: v * o.w")
    setattr(module.o, name, 1.0)
    f = imprint.jit(module.f)
    assert f(X) == 2.0
    assert not [each for each in f.versions[0].watched if each.startswith(f"o.{name} ")]


# What refuses: the place stays watched.
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
def test_where_no_probe_can_stand_edits_are_seen(text):
    module = module_of(f"{text}\nf = lambda x: x * o.n")
    f = imprint.jit(module.f)
    for value in (1.0, 3.0, 5.0):
        module.edit(value)
        assert f(X) == 2.0 * value

"""What is watched, what breaks a watch, and what does not."""

import collections
import dataclasses
import enum
import functools
import gc
import importlib
import sys
import threading
import types
import weakref

import numpy as np
import pytest

from imprint.record.recorder import Recording
from imprint.watch.classes import MISSING
from imprint.watch.guard import Watch, watch_definition
from imprint.watch.places import NamePlace
from tests.units.modules import fill, names, run

PROGRAM = """
import math
import numpy as np
from math import sqrt
import cfg

SCALE = 2
ACTIVATION = np.tanh

def leaf(x): return x * SCALE
def helper(x): return leaf(x) + cfg.SHIFT + sqrt(4) + len("ab") + math.pi
def root(x): return helper(x) * cfg.Sizes.width + ACTIVATION(0.0)
"""

CFG = """
SHIFT = 1
class Base:
    depth = 2
class Sizes(Base):
    width = 3
def read(x): return x * SHIFT
"""


@pytest.fixture
def cfg(user):
    return user("cfg", CFG)


@pytest.fixture
def program(user, cfg):
    return user("program", PROGRAM)


def changes(watch):
    return [(str(c), repr(c.old), repr(c.new)) for c in watch.changed()]


# ---- what is watched ----


def test_names_of_executed_functions_are_watched(program):
    assert names(run(program.root, 2)) == {
        "helper",
        "leaf",
        "SCALE",
        "ACTIVATION",
        "cfg",
        "SHIFT",
        "Sizes",
        *("class attribute Sizes.width", "class attribute Sizes.__mro__"),
        *("special methods of Sizes", "special methods of Base"),
        *("math", "sqrt", "builtin len", "registered pytree nodes"),
    }


def test_what_a_library_holds_is_not_watched(program):
    watch = run(program.root, 2)
    assert not names(watch) & {"np", "pi", "tanh"}
    assert not any(place.endswith(("in math", "in numpy")) for place in watch.names)


def test_strict_watches_libraries_too(user):
    library = user("library", "def f(x): return x\n")
    library.__file__ = "/env/lib/python3.12/site-packages/library.py"
    module = user("module", "import library\ndef root(x): return library.f(x)")
    library.f = lambda x: x
    assert names(run(module.root, 2)) == {"library"}
    watch = run(module.root, 2, strict=True)
    assert names(watch) == {"library", "f"}
    library.f = lambda x: x + 1
    assert not watch.guard()


def test_the_root_itself_is_left_to_its_token(program):
    watch = run(program.root, 2)
    assert "global helper in program" in watch.names
    assert "code of helper in program" in watch.names
    assert "code of root in program" not in watch.names
    assert run(lambda: 0).guard is None


def test_a_library_function_as_root_watches_nothing():
    watch = run(np.linalg.norm, np.ones(3))
    assert watch.guard is None
    assert watch.holds()
    assert watch.changed() == []
    assert watch.names == ()


def test_names_say_the_module(program):
    watch = run(program.root, 2)
    assert "global SHIFT in cfg" in watch.names
    assert "class attribute Sizes.width in cfg" in watch.names


# ---- what breaks it ----


def rebind(module, **names):
    vars(module).update(names)


BREAKS = {
    "a global": lambda p: rebind(p, SCALE=5),
    "its type": lambda p: rebind(p, SCALE=2.0),
    "its class": lambda p: rebind(p, SCALE=np.float32(2)),
    "a helper": lambda p: rebind(p, helper=lambda x: x),
    "a helper of a helper": lambda p: rebind(p, leaf=lambda x: x),
    "a choice": lambda p: rebind(p, ACTIVATION=np.sin),
    "a library": lambda p: rebind(p, math=types.SimpleNamespace(pi=3)),
    "a function of a library": lambda p: rebind(p, sqrt=lambda x: x),
    "a builtin": lambda p: rebind(p, len=lambda _: 0),
    "a user's module": lambda p: rebind(p, cfg=types.ModuleType("cfg")),
    "an attribute of a module": lambda p: rebind(p.cfg, SHIFT=7),
    "a class": lambda p: rebind(p.cfg, Sizes=p.cfg.Base),
    "a class attribute": lambda p: setattr(p.cfg.Sizes, "width", 4),
    "the code of a function": lambda p: setattr(
        p.leaf, "__code__", (lambda x: x).__code__
    ),
    "a deleted global": lambda p: vars(p).pop("SCALE"),
    "a deleted attribute": lambda p: vars(p.cfg).pop("SHIFT"),
    "a deleted class attribute": lambda p: delattr(p.cfg.Sizes, "width"),
}


@pytest.mark.parametrize("what", BREAKS)
def test_a_change_breaks_the_watch(program, what):
    watch = run(program.root, 2)
    assert watch.guard()
    BREAKS[what](program)
    assert watch.guard() is False
    assert not watch.holds()
    assert len(watch.changed()) >= 1


def test_back_and_forth(program):
    two = run(program.root, 2)
    program.SCALE = 5
    five = run(program.root, 2)
    for value in (2, 5, 2, 5):
        program.SCALE = value
        assert (two.guard(), five.guard()) == (value == 2, value == 5)


def test_a_reloaded_module(user):
    module = user("module", "A = 1.5\ndef f(x): return x * A")
    watch = run(module.f, 2)
    fill(module, "A = 1.5\ndef f(x): return x * A")
    assert watch.guard()
    fill(module, "A = 1.5\ndef f(x): return x * A + 1")
    assert watch.guard()  # `f` is the root: whoever calls has another function
    fill(module, "A = 2.5")
    assert not watch.guard()


def test_explanations(program):
    watch = run(program.root, 2)
    assert watch.changed() == []
    leaf = program.leaf
    program.SCALE = 5
    del program.leaf
    program.cfg.Sizes.width = 4
    program.helper.__code__ = (lambda x: x).__code__
    found = watch.changed()
    assert {str(change) for change in found} == {
        "global leaf deleted in program",
        "global SCALE rebound in program",
        "code of helper rebound in program",
        "class attribute Sizes.width rebound in cfg",
    }
    assert {change.kind for change in found} == {"global", "function", "class"}
    by_name = {change.name: change for change in found}
    assert by_name["global SCALE"].old == 2
    assert by_name["global SCALE"].new == 5
    assert by_name["global leaf"].old is leaf
    assert by_name["global leaf"].new is MISSING
    assert repr(MISSING) == "<not defined>"


# ---- equal values ----


@dataclasses.dataclass(frozen=True)
class Config:
    width: int
    rates: tuple = ()


EQUAL = [
    lambda: int("12345"),
    lambda: float("2.5"),
    lambda: float("nan"),
    lambda: complex(1, -0.0),
    lambda: "".join(["a", "b"]),
    lambda: bytes([1, 2]),
    lambda: (int("1234"), 2.0, "a", (True, None)),
    lambda: frozenset(["a", 1]),
    lambda: np.float32(2.5),
    lambda: np.dtype([("a", np.int32)]),
    lambda: Config(3, (0.1, 0.2)),
    lambda: collections.namedtuple("P", "x y")(1, 2),
    lambda: [1, 2.5, [3]],
    lambda: {"a": 1, "b": [2, 3]},
    lambda: {1, 2, "a"},
    lambda: (1, [2]),
    lambda: collections.deque([1, 2]),
    lambda: collections.OrderedDict(a=1),
]


@pytest.mark.parametrize("make", EQUAL)
def test_an_equal_value_is_as_good(user, make):
    module = user("module", "def root(): return VALUE")
    module.VALUE = make()
    if type(module.VALUE).__name__ == "P":
        kind = type(module.VALUE)
        make = lambda: kind(1, 2)
    watch = run(module.root)
    again = module.VALUE = make()
    assert watch.guard()
    module.VALUE = make()
    del again
    assert watch.guard()
    assert watch.changed() == []
    module.VALUE = object()
    assert not watch.guard()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (1, True),
        (1, 1.0),
        (0.0, -0.0),
        (complex(0, 0.0), complex(0, -0.0)),
        ((1, 2), (1, 2.0)),
        ((1, 2), (1, 2, 3)),
        (frozenset([1]), frozenset([1.0])),
        (frozenset([1]), frozenset([True])),
        (np.float32(1), np.float64(1)),
        (np.int32(1), np.int32(2)),
        (Config(3), Config(3.0)),
        (Config(3, (1,)), Config(3, (True,))),
        ([1, 2], [1, 2.0]),
        ([1, 2], [2, 1]),
        ([1, 2], (1, 2)),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({1: 2}, {True: 2}),
        ({1: 2}, {1: True}),
        ({1}, {True}),
        ([[1], 2], [[1.0], 2]),
        (None, False),
        ("a", b"a"),
    ],
)
def test_a_value_that_is_only_almost_equal_is_not(user, old, new):
    module = user("module", "def root(): return VALUE")
    module.VALUE = old
    watch = run(module.root)
    module.VALUE = new
    assert not watch.guard()
    module.VALUE = old
    assert watch.guard()


def test_an_equal_value_costs_a_comparison_only_once(user):
    module = user("module", "A = 2.5\nL = [0.5, 1.5]\ndef root(): return A, L")
    watch = run(module.root)
    compared = []
    slow = watch._holds_by_content
    module.A, module.L = float("2.5"), [float("0.5"), float("1.5")]
    watch.guard()
    watch.guard.__defaults__ = tuple(
        (lambda: compared.append(1) or slow()) if x == slow else x
        for x in watch.guard.__defaults__
    )
    assert watch.guard()
    assert not compared


def test_what_did_not_hold_is_asked_first_when_it_is_asked_again(user, monkeypatch):
    module = user("module", "A, B, C = 1, 2, 3\ndef root(): return A + B + C")
    watch = run(module.root)
    module.C = 4
    assert not watch.guard()
    asked, get = [], NamePlace.get
    monkeypatch.setattr(NamePlace, "get", lambda x: asked.append(x.name) or get(x))
    assert not watch.guard()
    assert asked == ["C"]
    module.A, module.C = 5, 3
    assert not watch.guard()
    module.A = 1
    assert watch.guard()
    module.C = 4
    assert not watch.guard()


BY_KEYS = """
D = {"a": 1.0, "n": {"b": [1.0]}, "left": 0}
def root(x): return x * D["a"] * D["n"]["b"][0] + D.get("c", 0)
"""


def test_a_dict_that_is_read_by_its_keys_may_be_replaced(user):
    module = user("module", BY_KEYS)
    watch = run(module.root, 1)
    for i in range(9):  # past each count at which a guard is written
        module.D = {"left": i, "a": float("1"), "n": {"b": [float("1")], "more": i}}
        assert watch.guard()
        module.D["n"] = dict(module.D["n"])
        assert watch.guard()
        assert watch.changed() == []


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        ("D['a'] = 2.0", "D['a'] rebound in builtins"),
        ("D['c'] = 2.0", "D['c'] defined in builtins"),
        ("del D['a']", "D['a'] deleted in builtins"),
        ("D['n']['b'][0] = 2.0", "D['n']['b'] written into in builtins"),
        ("D['n'] = {'b': [2.0]}", "D['n']['b'] rebound in builtins"),
        ("D = {'a': 2.0, 'n': D['n']}", "D['a'] rebound in builtins"),
        ("D[1] = 0; D = dict(D)", "global D rebound in module"),
        ("class K(dict): pass\nD = K(D)", "global D rebound in module"),
    ],
)
def test_what_changes_in_the_dict_that_came_is_seen(user, edit, told):
    module = user("module", BY_KEYS)
    watch = run(module.root, 1)
    for _ in range(3):
        module.D = {"a": 1.0, "n": {"b": [1.0]}}
        assert watch.guard()
    fill(module, edit)
    assert not watch.guard()
    assert [str(change) for change in watch.changed()] == [told]
    module.D = {"a": 1.0, "n": {"b": [1.0]}}
    assert watch.guard()


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        (
            "A = B = {'a': 1}\ndef root(x): return x * A['a'] + B['a']",
            [
                ("A = {'a': 1}", False),
                ("B['a'] = 2", False),
                ("A = B = {'a': 1}", True),
                ("B = {'a': 1}", False),
            ],
        ),
        (
            "A = {'n': {'b': 1}}\nB = A['n']\ndef root(x): return A['n']['b'] + B['b']",
            [
                ("B = {'b': 1}", False),
                ("A = {'n': B}", True),
                ("B['b'] = 2", False),
                ("B = {'b': 1}", False),
            ],
        ),
    ],
    ids=["two names", "inside another"],
)
def test_a_dict_that_one_of_two_ways_still_leads_to_is_not_taken_for_another(
    user, text, steps
):
    module = user("module", text)
    watch = run(module.root, 1)
    for step, holds in steps:
        fill(module, step)
        assert watch.guard() is holds


def test_a_function_defined_again_is_as_good(user):
    text = "A = 3\ndef helper(x, k=1): return x * A + k\n"
    module = user("module", text + "def root(x): return helper(x)\n")
    watch = run(module.root, 2)
    fill(module, text)
    assert watch.guard()
    assert watch.guard()
    fill(module, text.replace("k=1", "k=2"))
    assert not watch.guard()
    fill(module, text.replace("+ k", "- k"))
    assert not watch.guard()
    fill(module, text)
    assert watch.guard()
    module.helper.__code__ = (lambda x, k=1: x).__code__
    assert not watch.guard()


def test_a_closure_made_again_is_as_good_while_its_variables_are(user):
    module = user(
        "module",
        """
        def make(k):
            def scaled(x): return x * k
            def put(v):
                nonlocal k
                k = v
            return scaled, put
        helper, _ = make(2)
        def root(x): return helper(x)
        """,
    )
    watch = run(module.root, 2)
    module.helper, put = module.make(2)
    assert watch.guard()
    put(3)
    assert not watch.guard()
    put(2)
    assert watch.guard()
    module.helper, _ = module.make(3)
    assert not watch.guard()


# ---- other objects: identity ----


def test_an_object_counts_by_identity_and_may_die(user):
    class Model:
        pass

    module = user("module", "def root(): return VALUE")
    module.VALUE = Model()
    gone = weakref.ref(module.VALUE)
    watch = run(module.root)
    assert watch.guard()
    old = module.VALUE
    module.VALUE = Model()
    assert not watch.guard()
    module.VALUE = old
    assert watch.guard()
    del old
    module.VALUE = None
    gc.collect()
    assert gone() is None
    assert not watch.guard()
    (change,) = watch.changed()
    assert repr(change.old) == "Model object"


def test_an_array_is_not_kept_alive(user):
    module = user("module", "def root(): return VALUE")
    module.VALUE = np.ones(1000)
    gone = weakref.ref(module.VALUE)
    watch = run(module.root)
    assert watch.guard()
    module.VALUE[0] = 7  # seen only when strict
    assert watch.guard()
    module.VALUE = np.ones(1000)
    gc.collect()
    assert gone() is None
    assert not watch.guard()


def test_arrays_in_a_container_are_not_kept_alive(user):
    module = user("module", "def root(): return VALUE")
    module.VALUE = {"w": np.ones(3), "b": np.zeros(3)}
    gone = weakref.ref(module.VALUE["w"])
    watch = run(module.root)
    assert watch.guard()
    module.VALUE["w"] = np.ones(3)
    gc.collect()
    assert gone() is None
    assert not watch.guard()


def test_members_of_an_enum_are_told_apart(user):
    class Kind(enum.Enum):
        A = 1
        B = 2

    module = user("module", "def root(): return VALUE, Kind.A")
    rebind(module, VALUE=Kind.A, Kind=Kind)
    watch = run(module.root)
    assert watch.guard()
    module.VALUE = Kind.B
    assert not watch.guard()


class Hostile:
    """Raises at whatever is asked of it, and says that it equals anything."""

    def __eq__(self, other):
        raise AssertionError("compared")

    def __hash__(self):
        raise AssertionError("hashed")

    def __bool__(self):
        raise AssertionError("asked")

    def __getattr__(self, name):
        raise AssertionError(name)

    @property
    def __class__(self):
        raise AssertionError("class")


def test_hostile_objects_are_left_alone(user):
    module = user("module", "def root(): return VALUE, LIST, DICT, K.a")
    module.K = type("K", (), {"a": Hostile(), "__module__": "module"})
    rebind(module, VALUE=Hostile(), LIST=[Hostile()], DICT={"a": Hostile()})
    assert run(module.root, strict=True).guard()
    watch = run(module.root)
    assert watch.guard()
    before, module.VALUE = module.VALUE, Hostile()
    assert not watch.guard()
    module.VALUE = before
    before, module.LIST[0] = module.LIST[0], Hostile()
    assert not watch.guard()
    module.LIST[0] = before
    assert watch.guard()


def test_values_without_weak_references_and_other_odd_ones(user):
    module = user("module", "def root(): return VALUES, LOCK, GENERATOR, LOOP")
    loop = []
    loop.append(loop)
    values = [object(), iter([]), (x for x in ()), threading.Lock(), sys, int]
    rebind(module, VALUES=values, LOCK=threading.Lock(), GENERATOR=values[2], LOOP=loop)
    for strict in (False, True):
        watch = run(module.root, strict=strict)
        assert watch.guard()
        values[0], before = object(), values[0]
        assert not watch.guard()
        values[0] = before
        loop.append(1)
        assert not watch.guard()
        loop.pop()
        assert watch.guard()


# ---- closures ----


def test_closure_variables(user):
    module = user(
        "module",
        """
        def make(k):
            def inner(x): return x * k
            def outer(x): return inner(x) + 1
            def put(v):
                nonlocal k
                k = v
            def drop():
                nonlocal k
                del k
            return outer, put, drop
        outer, put, drop = make(2)
        def root(x): return outer(x)
        """,
    )
    watches = run(module.root, 3), watch_definition(module.outer)
    for watch in watches:
        assert "closure variable k of make.<locals>.inner" in names(watch)
        module.put(5)
        assert not watch.guard()
        assert [c.name for c in watch.changed()] == [
            "closure variable k of make.<locals>.inner"
        ]
        module.put(2)
        assert watch.guard()
    module.drop()
    assert not any(watch.guard() for watch in watches)


def test_closures_in_objects_that_names_do_not_lead_to(user):
    module = user(
        "module",
        """
        import collections
        Optimizer = collections.namedtuple("Optimizer", "init update")
        class Layer:
            def __init__(self, f): self.f = f
        def make(rate):
            def init(x): return x
            def update(x): return x * rate
            def put(v):
                nonlocal rate
                rate = v
            return init, update, put
        init, update, put = make(2)
        OPTIMIZER = Optimizer(init, update)
        LAYERS = {"a": [Layer(update)]}
        del init, update
        def with_tuple(x): return OPTIMIZER.update(x)
        def with_layer(x): return LAYERS["a"][0].f(x)
        """,
    )
    for fun in (module.with_tuple, module.with_layer):
        watch = run(fun, 3)
        assert watch.guard()
        module.put(5)
        assert not watch.guard()
        module.put(2)
        assert watch.guard()


# ---- functions ----

DEFAULTS = """
def helper(x, k=2, *, sizes=[1, 2]): return x * k + len(sizes) + helper.shift
helper.shift = 1
def root(x): return helper(x)
"""


@pytest.mark.parametrize(
    "edit",
    [
        lambda f: setattr(f, "__defaults__", (3,)),
        lambda f: setattr(f, "__defaults__", None),
        lambda f: setattr(f, "__kwdefaults__", {"sizes": []}),
        lambda f: f.__kwdefaults__["sizes"].append(3),
        lambda f: setattr(f, "shift", 2),
        lambda f: delattr(f, "shift"),
        lambda f: setattr(f, "__code__", (lambda x, k=2, *, sizes=0: x).__code__),
    ],
)
def test_defaults_and_attributes_of_a_function(user, edit):
    module = user("module", DEFAULTS)
    watch = run(module.root, 2)
    assert watch.guard()
    fill(module, DEFAULTS)
    assert watch.guard()
    edit(module.helper)
    assert not watch.guard()


def test_a_counter_on_a_function_is_not_watched(user):
    module = user("module", "def root(x): root.calls += 1; return x\nroot.calls = 0")
    first, second = run(module.root, 2), run(module.root, 3)
    assert first.guard()
    assert second.guard()


# ---- methods and class attributes ----

MODEL = """
class Base:
    width = 2
    def more(self, x): return x * self.width
    @staticmethod
    def fixed(x): return x
    @classmethod
    def made(cls, x): return x * cls.width
    @property
    def size(self): return self.width
class Model(Base):
    depth = 3
    def __init__(self): self.own = 1
    def __call__(self, x):
        return self.more(x) + self.fixed(x) + self.made(x) + self.size + self.own
class Other(Base):
    pass
model = Model()
def root(x): return model(x)
def both(x): return Model().more(x) + Other().more(x)
"""


@pytest.mark.parametrize("name", ["__call__", "more", "fixed", "made", "size", "width"])
@pytest.mark.parametrize("owner", ["Base", "Model"])
def test_a_patched_method_or_class_attribute(user, owner, name):
    module = user("module", MODEL)
    watch = run(module.root, 2)
    assert watch.guard()
    old = vars(module.Base).get(name) or module.Model.__call__
    if owner == "Base" and name == "__call__":
        return
    setattr(getattr(module, owner), name, lambda *_: 0)
    assert not watch.guard()
    if owner == "Base" or name == "__call__":
        setattr(getattr(module, owner), name, old)
    else:
        delattr(module.Model, name)
    assert watch.guard()


@pytest.mark.parametrize("strict", [False, True], ids=["default", "strict"])
def test_an_attribute_of_an_instance(user, strict):
    module = user("module", MODEL)
    module.model.other = 1
    watch = run(module.root, 2, strict=strict)
    assert watch.guard()
    module.model.own = 5
    assert not watch.guard()
    module.model.own = 1
    assert watch.guard()
    module.model.other = 2  # nobody reads it
    assert watch.guard() is not strict


def test_a_class_attribute_read_from_an_object(user):
    module = user("module", MODEL + "def reads(x): return model.depth * model.own\n")
    watch = run(module.reads, 2)
    assert {"class attribute Model.depth", "model.own"} <= names(watch)
    assert "class attribute Model.own" not in names(watch)
    module.Model.depth = 9
    assert not watch.guard()


def test_a_method_is_watched_in_each_class_that_runs_it(user):
    module = user("module", MODEL)
    watch = run(module.both, 2)
    module.Other.more = lambda self, x: 0
    assert not watch.guard()
    del module.Other.more
    assert watch.guard()
    module.Model.width = 5
    assert not watch.guard()


def test_a_function_set_into_a_class(user):
    module = user("module", MODEL)
    module.Model.more = lambda self, x: self.width
    watch = run(module.root, 2)
    module.Model.more = lambda self, x: 2 * self.width
    assert not watch.guard()


def test_a_method_under_another_name(user):
    module = user("module", MODEL)
    module.Model.__call__ = lambda model, x: x * model.depth
    watch = run(module.root, 2)
    module.Model.depth = 9
    assert not watch.guard()
    module.Model.depth = 3
    assert watch.guard()
    module.Model.__call__ = lambda model, x: x
    assert not watch.guard()


def test_methods_and_attributes_reached_by_super(user):
    module = user(
        "module",
        """
        class Base:
            def call(self, x): return x * 2
        class Model(Base):
            def call(self, x): return super().call(x) + 1
        model = Model()
        def root(x): return model.call(x)
        """,
    )
    watch = run(module.root, 2)
    assert watch.guard()
    module.Base.call = lambda self, x: x
    assert not watch.guard()


def test_modules_classes_and_objects_as_arguments(user, cfg):
    module = user(
        "module",
        """
        import cfg
        class Options:
            scale = 2
        class Model:
            def __init__(self): self.options = Options()
        def helper(x, config, sizes, model):
            return x * config.SHIFT * sizes.width * model.options.scale
        def root(x): return helper(x, cfg, cfg.Sizes, Model())
        """,
    )
    watch = run(module.root, 2)
    assert watch.guard()
    for owner, name in (
        (cfg, "SHIFT"),
        (cfg.Sizes, "width"),
        (module.Options, "scale"),
    ):
        old = getattr(owner, name)
        setattr(owner, name, 9)
        assert not watch.guard()
        setattr(owner, name, old)
        assert watch.guard()


def test_a_metaclass_is_not_asked(user):
    class Meta(type):
        def __getattribute__(cls, name):
            raise AssertionError(name)

    module = user("module", "def root():\n  try: K.a\n  except AssertionError: pass\n")
    module.K = Meta("K", (), {"a": 1, "__module__": "module"})
    watch = run(module.root)
    assert watch.guard()
    type.__setattr__(module.K, "a", 2)
    assert not watch.guard()


# ---- names that are not there ----


def test_a_name_that_comes_to_be(user):
    module = user(
        "module",
        """
        def root(x):
            try: return x * FLAG
            except NameError: return x + len("ab")
        """,
    )
    watch = run(module.root, 2)
    assert names(watch) == {"FLAG", "builtin len", "builtin NameError"}
    module.FLAG = 2
    assert not watch.guard()
    assert str(watch.changed()[0]) == "global FLAG defined in module"
    del module.FLAG
    assert watch.guard()


def test_an_attribute_of_a_module_that_comes_to_be(user, cfg):
    module = user("module", "import cfg\ndef root(): return hasattr(cfg.LATE, 'x')")
    cfg.__getattr__ = lambda name: name
    watch = run(module.root)
    cfg.LATE = 1
    assert not watch.guard()


def test_names_that_are_no_identifiers(user):
    module = user("module", "def root(): return SCALE")
    code = module.root.__code__
    module.root.__code__ = code.replace(co_names=("@scale",))
    vars(module)["@scale"] = 2
    watch = run(module.root)
    assert watch.guard()
    vars(module)["@scale"] = 3
    assert not watch.guard()


def test_names_of_the_guard_do_not_meet_those_of_the_user(user):
    module = user(
        "module",
        "_v0 = 1; __v1 = 2; c0 = 3; guard = 4; make = 5\n"
        "def root(): return _v0, __v1, c0, guard, make",
    )
    watch = run(module.root)
    assert watch.guard()
    values = {"_v0": 1, "__v1": 2, "c0": 3, "guard": 4, "make": 5}
    for name, value in values.items():
        rebind(module, **{name: 7})
        assert not watch.guard()
        rebind(module, **{name: value})
    module.Exception = module.len = None
    assert watch.guard()
    del module.c0
    assert not watch.guard()


# ---- imports inside functions ----


@pytest.mark.parametrize(
    "body",
    [
        "from cfg import SHIFT; return SHIFT",
        "import cfg; return cfg.SHIFT",
        "import cfg as c; return c.SHIFT",
        "import cfg; c = cfg; return c.SHIFT",
        "from cfg import read; return read(1)",
    ],
)
def test_imports_inside_a_function(user, cfg, body):
    module = user("module", f"def root():\n  {body}")
    watch = run(module.root)
    assert watch.guard()
    cfg.SHIFT = 9
    assert not watch.guard()


def test_a_module_that_the_trace_imports(user, tmp_path, monkeypatch):
    (tmp_path / "imported_late.py").write_text("SHIFT = 3\nOTHER = SHIFT\n")
    monkeypatch.syspath_prepend(tmp_path)
    module = user("module", "def root():\n  import imported_late as m; return m.SHIFT")
    try:
        watch = run(module.root)
        assert names(watch) == {"SHIFT", "module imported_late"}
        importlib.import_module("imported_late").SHIFT = 4
        assert not watch.guard()
    finally:
        sys.modules.pop("imported_late")


# ---- rule E: what the trace itself changes ----

COUNTERS = """
import cfg
COUNT = 0
CALLS = []
SEEN = {}
NUMBERS = {0}
SCALE = 2
LAZY = None
class Model:
    calls = 0
def make():
    n = 0
    def count(x):
        nonlocal n
        n += 1
        return x
    return count
closure = make()
def with_global(x):
    global COUNT
    COUNT += 1
    return x * SCALE
def with_list(x): CALLS.append(1); return x * SCALE
def with_item(x): CALLS[:] = [len(CALLS)]; return x * SCALE
def with_dict(x): SEEN[len(SEEN)] = x; return x * SCALE
def with_set(x): NUMBERS.add(len(NUMBERS)); return x * SCALE
def with_closure(x): return closure(x) * SCALE
def with_module(x): cfg.calls += 1; return x * SCALE
def with_class(x): Model.calls += 1; return x * SCALE
def with_lazy(x):
    global LAZY
    if LAZY is None: LAZY = object()
    return x * SCALE
def with_new(x):
    global NEW
    NEW = x
    return x * SCALE
"""


@pytest.mark.parametrize(
    "kind", ["global", "list", "item", "dict", "set", "closure", "module", "class"]
)
def test_counters_are_not_watched(user, cfg, kind):
    cfg.calls = 0
    module = user("module", COUNTERS)
    fun = getattr(module, f"with_{kind}")
    first = run(fun, 2)
    assert first.guard()
    second = run(fun, 3)
    assert first.guard()
    assert second.guard()
    module.SCALE = 5
    assert not first.guard()
    assert not second.guard()


def test_what_is_written_before_it_is_read_is_an_effect(user, cfg):
    module = user("module", COUNTERS)
    first = run(module.with_new, 2)
    assert first.guard()
    module.NEW = 7
    assert not first.guard()  # it may be what is worked out once, and kept
    second = run(module.with_new, 3)
    module.NEW = 7
    assert first.guard()  # it is not: the second trace wrote it again
    assert second.guard()


def test_what_is_made_lazily_is_watched_once_it_is_there(user, cfg):
    module = user("module", COUNTERS)
    first, second = run(module.with_lazy, 2), run(module.with_lazy, 3)
    module.LAZY = 7
    assert first.guard()
    assert not second.guard()


def test_a_helper_reads_what_its_caller_wrote(user):
    module = user(
        "module",
        """
        STEP = 0
        def helper(x): return x * STEP
        def root(x):
            global STEP
            STEP += 1
            return helper(x)
        """,
    )
    first, second = run(module.root, 2), run(module.root, 3)
    assert names(first) == names(second) == {"helper"}
    assert first.guard()


def test_an_effect_stays_one_when_another_name_is_bound_to_an_equal_value(user, cfg):
    module = user(
        "module", COUNTERS + "RATE = 2.5\ndef root(x): return with_list(x) * RATE"
    )
    watch = run(module.root, 2)
    module.RATE = float("2.5")
    assert watch.guard()
    module.CALLS.append(7)
    assert watch.guard()


def test_an_effect_on_a_function_stays_one(user):
    module = user(
        "module",
        """
        RATE = 2.5
        def helper(x): helper.calls.append(x); return x * RATE
        helper.calls = []
        def root(x): return helper(x)
        """,
    )
    watch = run(module.root, 2)
    module.RATE = float("2.5")
    assert watch.guard()
    module.helper.calls.append(7)
    assert watch.guard()


def test_a_rebound_container_still_breaks_the_watch(user, cfg):
    module = user("module", COUNTERS)
    watch = run(module.with_list, 2)
    module.CALLS.append(3)
    assert watch.guard()
    module.CALLS = []
    assert not watch.guard()


# ---- contents ----


def test_contents_of_small_containers(user):
    module = user("module", "def root(): return LAYERS, SIZES, NAMES, PAIR")
    rebind(
        module,
        LAYERS=[64, 64, [1]],
        SIZES={"a": 1, "b": (2, [3])},
        NAMES={"x"},
        PAIR=([1], 2),
    )
    watch = run(module.root)
    assert watch.guard()
    edits = [
        (lambda: module.LAYERS.append(1), lambda: module.LAYERS.pop()),
        (lambda: module.LAYERS[2].append(1), lambda: module.LAYERS[2].pop()),
        (lambda: module.SIZES.update(c=1), lambda: module.SIZES.pop("c")),
        (lambda: module.SIZES.update(a=2), lambda: module.SIZES.update(a=1)),
        (lambda: module.SIZES["b"][1].append(1), lambda: module.SIZES["b"][1].pop()),
        (lambda: module.NAMES.add("y"), lambda: module.NAMES.remove("y")),
        (lambda: module.PAIR[0].append(1), lambda: module.PAIR[0].pop()),
    ]
    for edit, undo in edits:
        edit()
        assert not watch.guard()
        assert [change.action for change in watch.changed()] == ["written into"]
        undo()
        assert watch.guard()


def test_explanation_of_contents(user):
    module = user("module", "L = [1, 2]\nD = {'a': (1, {2})}\ndef root(): return L, D")
    watch = run(module.root)
    module.L.append(3)
    module.D["a"][1].add(5)
    assert changes(watch) == [
        ("global L written into in module", "[1, 2]", "[1, 2, 3]"),
        ("global D written into in module", "{'a': (1, {2})}", "{'a': (1, {2, 5})}"),
    ]


@pytest.mark.parametrize("count", [3, 30, 120])
def test_a_container_of_any_length_below_the_limit(user, count):
    module = user("module", "def root(): return L, D")
    rebind(module, L=[*map(float, range(count))], D={f"k{i}": i for i in range(count)})
    watch = run(module.root)
    assert watch.guard()
    module.L[-1] = -1.0
    assert not watch.guard()
    module.L[-1] = float(count - 1)
    assert watch.guard()
    module.D["k0"] = module.D.pop("k0")  # the order of a dict can be seen
    assert not watch.guard()


def test_a_list_of_functions_and_arrays(user):
    module = user(
        "module",
        """
        import numpy as np
        def make(k):
            def layer(x): return x * k
            def put(v):
                nonlocal k
                k = v
            return layer, put
        (a, put), (b, _) = make(2), make(3)
        LAYERS = [a, b, np.ones(3)]
        def root(x): return LAYERS[0](x)
        """,
    )
    watch = run(module.root, 2)
    assert watch.guard()
    module.put(5)
    assert not watch.guard()
    module.put(2)
    assert watch.guard()
    module.LAYERS[2] = np.ones(3)
    assert not watch.guard()


def test_a_large_container_counts_by_identity(user):
    module = user("module", "def root(): return len(L)")
    module.L = list(range(300))
    watch, strict = run(module.root), run(module.root, strict=True)
    module.L.append(1)
    assert watch.guard()
    assert not strict.guard()


# ---- strict ----


def test_strict_reads_arrays_and_objects(user):
    class Model:
        __slots__ = ("__dict__", "w")

    module = user("module", "def root(): return W, MODEL, BIG")
    module.W = np.ones((3, 2))
    module.MODEL = Model()
    module.MODEL.w, module.MODEL.sizes = np.zeros(2), [1]
    module.BIG = np.ones(10_000)
    watch, strict = run(module.root), run(module.root, strict=True)
    edits = [
        lambda v: module.W.__setitem__((0, 0), v),
        lambda v: module.MODEL.w.__setitem__(0, v - 1),
        lambda v: setattr(module.MODEL, "sizes", [v]),
        lambda v: module.BIG.__setitem__(9_000, v),
    ]
    for edit in edits:
        assert strict.guard()
        edit(2)
        assert not strict.guard()
        assert watch.guard()
        edit(1)
    assert strict.guard()
    module.W = module.W.copy()
    assert strict.guard()
    module.W = module.W.astype(np.float32)
    assert not strict.guard()


def test_strict_drops_effects_too(user):
    module = user(
        "module",
        """
        class Model: pass
        model = Model()
        model.calls = 0
        def root(x):
            model.calls += 1
            W[0] += 1
            return x
        """,
    )
    module.W = np.zeros(3)
    first, second = run(module.root, 1, strict=True), run(module.root, 2, strict=True)
    assert first.guard()
    assert second.guard()


# ---- memory ----


def test_a_watch_dies_with_what_it_watches(user):
    module = user(
        "module", "A = 1\ndef helper(x): return x * A\ndef root(x): return helper(x)"
    )
    module.watch = run(module.root, 2)
    gone = weakref.ref(module)
    function = weakref.ref(module.helper)
    sys.modules.pop("module")
    del module
    gc.collect()
    assert gone() is None
    assert function() is None


def test_the_recording_keeps_nothing_of_the_call(user):
    class Value:
        def __mul__(self, other):
            return self

    module = user("module", "A = 1\ndef root(x): return x * A")
    value = Value()
    gone = weakref.ref(value)
    with Recording(module.root) as recording:
        module.root(value)
    watch = Watch(recording.findings.reads)
    del value, recording
    gc.collect()
    assert gone() is None
    assert watch.guard()


def test_guards_of_equal_text_share_their_code(user):
    one = user("one", "A = 1\ndef f(): return A")
    two = user("two", "A = 2\ndef f(): return A")
    first, second = run(one.f), run(two.f)
    assert first.guard.__code__ is second.guard.__code__
    two.A = 3
    assert first.guard()
    assert not second.guard()


def test_many_names_of_many_modules(user):
    modules = []
    for k in range(3):
        text = "\n".join(f"a{i} = {i}.5" for i in range(100))
        reads = ", ".join(f"a{i}" for i in range(100))
        modules.append(user(f"m{k}", f"{text}\ndef f(): return {reads}"))
    root = user(
        "top", "import m0, m1, m2\ndef f(): return m0.f(), m1.f(), m2.f(), m2.a7"
    )
    watch = run(root.f)
    assert len(watch.reads) == 300 + 6 + 3
    assert watch.guard()
    for module in modules:
        module.a50 = 7
        assert not watch.guard()
        module.a50 = 50.5
        assert watch.guard()


def test_functools_partial_and_cached_helpers(user):
    module = user(
        "module",
        """
        import functools
        A = 2
        def scaled(k, x): return x * k * A
        double = functools.partial(scaled, 2)
        @functools.lru_cache
        def table(n): return n * A
        def root(x): return double(x) + table(3)
        """,
    )
    watch = run(module.root, 2)
    assert {"double", "table", "A"} <= names(watch)
    module.double = functools.partial(module.scaled, 3)
    assert not watch.guard()


def test_strict_classes_of_c_and_the_attributes_of_a_memo_are_no_places(user):
    """Texts that are met are names: of all that has these, too much would be read."""
    module = user(
        "module",
        """
        import functools
        import numpy
        @functools.lru_cache
        def table(n): return {"a": n}
        TEXTS = ["__doc__", "__class__", "__annotations__"]
        def root(x):
            assert isinstance(TEXTS, list)
            return x * table(3)["a"] * numpy.float64(2)
        """,
    )
    watch = run(module.root, 2, strict=True)
    places = [str(read.place) for read in watch.reads]
    assert not [p for p in places if p.startswith("class attribute")]
    assert not [p for p in places if "cache_parameters" in p or "__class__" in p]
    module.table(3)["a"] = 4
    assert not watch.guard()


def test_what_a_memo_comes_to_give_in_the_trace_is_told_by_its_name(user):
    module = user(
        "module",
        """
        import functools
        @functools.lru_cache
        def table(n): return {"a": n}
        def root(x): return x * table(3)["a"]
        """,
    )
    watch = run(module.root, 2)
    module.table(3)["a"] = 4
    assert [change.name for change in watch.changed()] == ["table()"]

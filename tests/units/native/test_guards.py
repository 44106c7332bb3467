"""Guards in C and in Python: they see each kind of change, and run no code of yours.

`changed` makes a change and undoes it. What decides where a step fails is replaced by a
function that gives False, so a failed comparison of identities shows.
"""

import dataclasses
import gc
import math
import types
import weakref
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
import pytest

from imprint._src import native
from imprint._src.jit.guards.guard_steps import guard_steps
from imprint._src.jit.guards.python_guard import python_guard
from imprint._src.jit.guards.recording import Recording

needs_core = pytest.mark.skipif(native.core is None, reason=native.status)
MAKERS = {"C": native.core and native.core.Guard, "Python": python_guard}
LANGUAGES = [pytest.param("C", marks=needs_core), "Python"]
X = np.float32(2.0)


class Base:
    inherited = 1.5


class Model(Base):
    shared = 2.5

    def __init__(self):
        self.rate = 0.5
        self.child = types.SimpleNamespace(depth=1000)


class Slotted:
    __slots__ = ("rate",)

    def __init__(self):
        self.rate = 1234.5


class Fields(NamedTuple):
    rate: float


class Point(Fields):
    def __init__(self, _):
        self.depth = 1000


class Part:
    pass


@dataclasses.dataclass(frozen=True)
class Config:
    rate: float = 0.25


MODEL, SLOTTED, CONFIG = Model(), Slotted(), Config()
SCALE, TABLE, NUMBERS = 1000, {"rate": 0.5}, [0.5 + i for i in range(20)]
POINT = Point(0.5)
PARTS = [Part(), Part(), None]
NAMED = {"a": Part(), "b": 2.5}
NOTHING = []


def helper(x, by=2000):
    return x * by


def enclosing():
    factor = 3000

    def inner(x):
        return x * factor

    def assign(value):
        nonlocal factor
        factor = value

    return inner, assign


in_cell, assign_cell = enclosing()
READERS = {
    "global": lambda x: x * SCALE,
    "builtin": lambda x: x * len(NOTHING),
    "attribute": lambda x: x * MODEL.rate,
    "child": lambda x: x * MODEL.child.depth,
    "class attribute": lambda x: x * MODEL.shared,
    "inherited": lambda x: x * MODEL.inherited,
    "slot": lambda x: x * SLOTTED.rate,
    "frozen": lambda x: x * CONFIG.rate,
    "absent": lambda x: x * getattr(MODEL, "extra", 1),
    "attribute of a tuple": lambda x: x * POINT.depth,
    "absent of a tuple": lambda x: x * getattr(POINT, "extra", 1),
    "item": lambda x: x * TABLE["rate"],
    "index": lambda x: x * NUMBERS[3],
    "list": lambda x: x * sum(NUMBERS),
    "objects": lambda x: x * sum([p is not None for p in PARTS]),
    "dict": lambda x: x * len([*NAMED.values()]),
    "empty": lambda x: x * (1 + sum(NOTHING)),
    "default": helper,
    "code": lambda x: helper(x),
    "cell": in_cell,
}


@contextmanager
def attribute(owner, name, value):
    """Set an attribute, or an item, for a while."""
    is_item = isinstance(owner, dict | list)
    missing = object()
    if isinstance(owner, list):
        before = owner[name]
    elif is_item:
        before = owner.get(name, missing)
    else:
        shown = {} if isinstance(owner, types.FunctionType | Slotted) else vars(owner)
        before = getattr(owner, name) if not shown else shown.get(name, missing)
    assign = owner.__setitem__ if is_item else lambda n, v: setattr(owner, n, v)
    assign(name, value)
    try:
        yield
    finally:
        if before is not missing:
            assign(name, before)
        elif is_item:
            del owner[name]
        else:
            delattr(owner, name)


@contextmanager
def assigned_cell():
    assign_cell(7)
    try:
        yield
    finally:
        assign_cell(3000)


@contextmanager
def appended():
    NOTHING.append(1)
    try:
        yield
    finally:
        NOTHING.clear()


@contextmanager
def another_class():
    class Other(Model):
        pass

    MODEL.__class__ = Other
    try:
        yield
    finally:
        MODEL.__class__ = Model


CHANGES = [
    ("global", lambda: attribute(globals(), "SCALE", 7)),
    ("builtin", lambda: attribute(globals(), "len", sum)),
    ("attribute", lambda: attribute(MODEL, "rate", 7.5)),
    ("attribute", lambda: attribute(globals(), "MODEL", Model())),
    ("attribute", another_class),
    ("child", lambda: attribute(MODEL.child, "depth", 7)),
    ("child", lambda: attribute(MODEL, "child", types.SimpleNamespace(depth=7))),
    ("class attribute", lambda: attribute(Model, "shared", 7.5)),
    ("class attribute", lambda: attribute(MODEL, "shared", 7.5)),
    ("inherited", lambda: attribute(Base, "inherited", 7.5)),
    ("inherited", lambda: attribute(Model, "inherited", 7.5)),
    ("slot", lambda: attribute(SLOTTED, "rate", 7.5)),
    ("frozen", lambda: attribute(globals(), "CONFIG", Config(7.5))),
    ("absent", lambda: attribute(MODEL, "extra", 7)),
    ("absent", lambda: attribute(Base, "extra", 7)),
    ("attribute of a tuple", lambda: attribute(POINT, "depth", 7)),
    ("absent of a tuple", lambda: attribute(POINT, "extra", 7)),
    ("absent of a tuple", lambda: attribute(Point, "extra", 7)),
    ("item", lambda: attribute(TABLE, "rate", 7.5)),
    ("index", lambda: attribute(NUMBERS, 3, 7.5)),
    ("list", lambda: attribute(NUMBERS, 19, 7.5)),
    ("objects", lambda: attribute(PARTS, 1, None)),
    ("objects", lambda: attribute(PARTS, 2, Part())),
    ("dict", lambda: attribute(NAMED, "c", 7.5)),
    ("dict", lambda: attribute(NAMED, "a", None)),
    ("empty", appended),
    ("default", lambda: attribute(helper, "__defaults__", (7,))),
    ("code", lambda: attribute(helper, "__code__", (lambda x, by=1: x).__code__)),
    ("cell", assigned_cell),
]


def reads_of(function):
    with Recording(function, strict=False) as recording:
        function(X)
    return recording.dependencies.reads


def never():
    return False


def guard_of(function, language):
    return MAKERS[language](guard_steps(reads_of(function)), never)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("name", "changed"), CHANGES, ids=[f"{i} {n}" for i, (n, _) in enumerate(CHANGES)]
)
def test_each_kind_of_change_is_seen(language, name, changed):
    guard = guard_of(READERS[name], language)
    for _ in range(3):  # the version tags of classes change
        assert guard() is True
        assert guard() is True
        with changed():
            assert guard() is False
            assert guard() is False


@pytest.mark.parametrize(
    "name",
    ["attribute", "absent", "child", "attribute of a tuple", "absent of a tuple"],
)
def test_plain_attributes_are_compared_without_python(name):
    assert "call" not in {step[0] for step in guard_steps(reads_of(READERS[name]))}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", READERS)
def test_what_is_unread_may_change(name, language):
    guard = guard_of(READERS[name], language)
    assert guard()
    MODEL.unread, Model.counter = 1, 1
    try:
        # A name that a class gets may be a property: values are compared once.
        is_of_model = any(
            getattr(read.location.owner, "__mro__", ()) and read.location.owner is Model
            for read in reads_of(READERS[name])
        )
        assert guard() is not is_of_model
    finally:
        del MODEL.unread, Model.counter
    assert guard()


# ---- equal values ----


@needs_core
@pytest.mark.parametrize(
    ("value", "now", "is_equal"),
    [
        (0.5, float("0.5"), True),
        (0.0, -0.0, False),
        (1.0, 1, False),
        (math.nan, float("nan"), True),
        (10**20, 10**20 + 0, True),
        (1, True, False),
        ("text", "".join(["te", "xt"]), True),
        (b"text", b"".join([b"te", b"xt"]), True),
        ((1, 2), (1, int("2")), False),  # compared by value, in Python
    ],
)
def test_plain_data_is_compared_by_value(value, now, is_equal):
    names = {"a": value}
    guard = native.core.Guard((("item", names, "a", value, False),), never)
    assert guard()
    names["a"] = now
    assert guard() is is_equal


# ---- user code ----


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_property_runs_that_a_class_got(language):
    ran = []

    class Late:
        def __getattr__(self, name):
            ran.append(name)
            raise AttributeError(name)

    late = Late()
    late.rate = 0.5
    guard = guard_of(lambda x: x * late.rate, language)
    assert guard()
    Late.rate = property(ran.append)
    assert not guard()
    del Late.rate
    assert guard()
    del late.rate
    assert not guard()
    assert ran == []


# ---- bad input, errors and collections ----


@needs_core
@pytest.mark.parametrize(
    "steps",
    [
        ("item",),
        [("item", {}, "a", 1, False)],
        (("another", {}, "a", 1, False),),
        (("item", [], "a", 1, False),),
        (("item", {}, "a", 1, True),),
        (("index", [1], "a", 1, False),),
        (("attribute", None, "a", 1, False),),
        (("part", None, "__code__", 1, False),),
        (("class", 1, 0, None, False),),
        (("class", int, 2, None, False), ("empty", [], None, None, False)),
        (("owner", 1, -1, None, False),),
        (("owner", 1, 0, None, True),),
        (
            ("class", int, 1, None, False),
            ("owner", 1, 0, None, False),
        ),
        (("list", [1], b"", (1,), False),),
        (("dict", {}, b"\0", (1,), False),),
        (("absent", {}, "a", None, False),),
        (("names", {}, ["a"], None, False),),
        (("cell", 1, None, 1, False),),
        (("bases", 1, None, (), False),),
    ],
)
def test_malformed_steps_are_refused(steps):
    with pytest.raises((TypeError, ValueError)):
        native.core.Guard(steps, never)


def raising(kind):
    def call():
        raise kind

    return call


@needs_core
def test_an_error_of_a_step_leaves_the_decision_to_python():
    step = "call", raising(ValueError), None, None, False
    assert native.core.Guard((step,), lambda: True)()
    assert not native.core.Guard((step,), never)()
    with pytest.raises(LookupError):
        native.core.Guard((step,), raising(LookupError))()


@needs_core
def test_an_interrupt_passes():
    step = "call", raising(KeyboardInterrupt), None, None, False
    with pytest.raises(KeyboardInterrupt):
        native.core.Guard((step,), lambda: True)()
    with pytest.raises(KeyboardInterrupt):
        native.core.Guard((("call", never, None, None, False),), step[1])()


@needs_core
def test_a_guard_of_a_dead_cycle_may_be_called():
    answers = []

    class Owner:
        def __del__(self):
            answers.append(self.guard())

    owner = Owner()
    held = [owner]
    owner.guard = native.core.Guard((("list", held, b"\0", (owner,), False),), never)
    assert owner.guard()
    del owner, held
    gc.collect()
    assert answers in ([True], [False])


@needs_core
def test_an_object_that_is_gone_is_skipped():
    parts = [Part()]
    owner = "owner", weakref.ref(parts[0]), 1, None, True
    guard = native.core.Guard((owner, ("type", None, None, int, False)), never)
    assert not guard()
    parts.clear()
    assert guard()

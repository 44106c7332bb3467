"""Static arguments of every kind: found again when equal, never answered for another."""

import dataclasses
import enum
import functools
import gc
import math
import re
import weakref
from typing import NamedTuple

import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint.errors import ArgumentError
from tests.spec.work import Work, work_of


def shift(x, s):
    return x + s.a


class ByValue:
    """The class of the documents: hash and equality on one attribute."""

    def __init__(self, a):
        self.a = a

    def __hash__(self):
        return hash(self.a)

    def __eq__(self, other):
        return self.a == other.a  # AttributeError on foreign types


class ByIdentity:
    def __init__(self, a):
        self.a = a


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: object
    b: tuple = ()


class Named(NamedTuple):
    a: object


class Mode(enum.Enum):
    TRAIN = 1.0
    TEST = 2.0


def scale_by_two(x):
    return x * 2


def scale_by_three(x):
    return x * 3


# ---- equal values hit, different values do not ----


EQUAL = {
    "number": (lambda: 10**20, lambda: 10**20 + 1),
    "text": (lambda: "".join(["re", "lu"]), lambda: "tanh"),
    "bytes": (lambda: bytes([1, 2]), lambda: bytes([1, 3])),
    "none": (lambda: None, lambda: ...),
    "tuple": (lambda: (1, ("a", 2.5)), lambda: (1, ("a", 3.5))),
    "frozenset": (lambda: frozenset({1, 2, 3}), lambda: frozenset({1, 2})),
    "slice": (lambda: (slice(0, 3, None),), lambda: (slice(0, 4, None),)),
    "range": (lambda: range(3), lambda: range(4)),
    "dtype": (lambda: np.dtype("float32"), lambda: np.dtype("int32")),
    "numpy scalar": (lambda: np.float32(2), lambda: np.float32(3)),
    "enum": (lambda: Mode.TRAIN, lambda: Mode.TEST),
    "class": (lambda: ByValue, lambda: ByIdentity),
    "function": (lambda: scale_by_two, lambda: scale_by_three),
    "partial": (lambda: functools.partial(pow, 2), lambda: functools.partial(pow, 3)),
    "frozen dataclass": (lambda: Frozen(1, (2,)), lambda: Frozen(1, (3,))),
    "named tuple": (lambda: Named(1), lambda: Named(2)),
    "object with hash and eq": (lambda: ByValue(1), lambda: ByValue(2)),
    "deep": (lambda: (Frozen(Named((Mode.TEST,))), "a"), lambda: (Frozen(1), "a")),
}


@pytest.mark.parametrize("name", EQUAL)
def test_equal_values_hit_and_different_values_miss(name):
    make, make_other = EQUAL[name]
    f = imprint.jit(lambda x, s: x, static_argnums=1)
    assert work_of(lambda: f(1.0, make())).traces == 1
    assert work_of(lambda: f(1.0, make())).traces == 0
    assert work_of(lambda: f(1.0, make_other())).traces == 1
    assert work_of(lambda: (f(1.0, make()), f(1.0, make_other()))).traces == 0
    assert f._cache_size() == 2


def test_the_class_of_the_documents():
    f = imprint.jit(shift, static_argnums=1)
    sizes = []
    for a in (1.0, 1.0, 2.0, 2.0):
        assert f(10.0, ByValue(a)) == 10 + a
        sizes.append(f._cache_size())
    assert sizes == [1, 1, 2, 2]


def test_equal_values_of_several_classes_have_their_own_versions():
    f = imprint.jit(shift, static_argnums=1)
    values = [ByValue(1), Frozen(1), Named(1), ByIdentity(1), ByValue(2), Frozen(1)]
    assert [f(1, v) for v in values] == [2, 2, 2, 2, 3, 2]
    assert f._cache_size() == 5
    assert f(1, Frozen(1.0)).dtype == f(1, Named(1.0)).dtype == "float32"


def test_a_fresh_object_in_each_call_is_one_version():
    f = imprint.jit(shift, static_argnums=1)
    work = work_of(lambda: [f(1.0, ByValue(4.5)) for _ in range(20)])
    assert work == Work(traces=1, compiles=1)


# ---- objects that change ----


def test_a_changed_object_is_another_version_and_changing_back_hits():
    f = imprint.jit(shift, static_argnums=1)
    for make in (ByValue, ByIdentity):
        f.clear_cache()
        thing = make(1.0)
        assert f(1.0, thing) == 2.0
        thing.a = 100.0
        assert f(1.0, thing) == 101.0
        thing.a = 1.0
        assert f(1.0, thing) == 2.0
        assert f._cache_size() == 2


def test_the_contents_of_a_static_object_are_tracked():
    class Net:
        def __init__(self):
            self.layers = {"first": [1.0, 2.0]}

        def total(self, x):
            return x * sum(self.layers["first"])

    net = Net()
    f = imprint.jit(lambda x, n: n.total(x), static_argnums=1)
    assert f(1.0, net) == 3.0
    net.layers["first"].append(3.0)
    assert f(1.0, net) == 6.0


def test_two_objects_by_identity_are_two_versions():
    f = imprint.jit(shift, static_argnums=1)
    first, second = ByIdentity(1.0), ByIdentity(1.0)
    for _ in range(2):
        assert f(1.0, first) == f(1.0, second) == 2.0
    assert f._cache_size() == 2


def test_a_new_object_at_an_old_address_is_not_mistaken():
    f = imprint.jit(shift, static_argnums=1)
    for a in range(20):
        assert f(1, ByIdentity(a)) == 1 + a


# ---- arrays and tracers ----


@pytest.mark.parametrize(
    "value",
    [np.ones(2), inp.ones(2), (1, np.ones(2)), Frozen(inp.ones(2)), Named(np.ones(()))],
    ids=["numpy", "array", "in a tuple", "in a dataclass", "in a named tuple"],
)
def test_arrays_are_refused_with_the_remedy(value):
    f = imprint.jit(lambda x, s: x, static_argnums=1)
    with pytest.raises(ArgumentError, match="Pass it as an ordinary \\(traced\\)"):
        f(1.0, value)
    assert f._cache_size() == 0


def test_a_shape_is_no_array():
    f = imprint.jit(lambda x, shape: inp.zeros(shape) + x, static_argnums=1)
    assert f(1.0, np.ones((2, 3)).shape).shape == (2, 3)


# ---- classes that break the contract ----


class HashOnly:
    def __init__(self, a):
        self.a = a

    def __hash__(self):
        return hash(self.a)


class EqualOnly:
    def __eq__(self, other):
        return True


class EqualRaises(HashOnly):
    def __eq__(self, other):
        raise RuntimeError("not today")

    __hash__ = HashOnly.__hash__


class HashRaises:
    def __eq__(self, other):
        return self is other

    def __hash__(self):
        raise RuntimeError("not today")


@dataclasses.dataclass
class Mutable:
    a: int = 1


REFUSED = {
    "list": ([1], "static argument s: expected a hashable value, got list. Pass a tup"),
    "dict": ({"a": 1}, "got dict. Pass a frozen dataclass, or a tuple of pairs."),
    "set": ({1}, "got set. Pass a frozenset."),
    "bytearray": (bytearray(b"a"), "got bytearray. Pass bytes."),
    "inside a tuple": ((1, [2]), r"static argument s\[1\]: expected a hashable value"),
    "inside a dataclass": (Frozen([2]), "static argument s.a: expected a hashable val"),
    "dataclass": (Mutable(), r"got Mutable. Declare it @dataclass\(frozen=True\)"),
    "hash without eq": (HashOnly(1), "__eq__ beside __hash__, got HashOnly"),
    "eq without hash": (EqualOnly(), "got EqualOnly. It defines __eq__ without __hash"),
    "eq that raises": (EqualRaises(1), "got RuntimeError: not today"),
    "hash that raises": (HashRaises(), "HashRaises.__hash__ to answer"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_value_that_cannot_be_compared_is_refused_with_the_remedy(name):
    value, message = REFUSED[name]
    f = imprint.jit(lambda x, s: x, static_argnums=1)
    for _ in range(2):
        with pytest.raises(ValueError, match=message):
            f(1.0, value)
    assert f._cache_size() == 0
    assert f(1.0, "a value") == 1.0


def test_equal_objects_with_unequal_hashes_give_a_warning():
    class Careless(ByIdentity):
        def __eq__(self, other):
            return type(other) is Careless

        def __hash__(self):
            return hash(self.a)

    f = imprint.jit(shift, static_argnums=1)
    first, second = Careless(1.0), Careless(2.0)
    assert f(1.0, first) == 2.0
    with pytest.warns(UserWarning, match="two that are equal and hash differently"):
        assert f(1.0, second) == 3.0


# ---- lifetimes ----


@pytest.mark.parametrize("make", [ByValue, ByIdentity, Frozen])
def test_a_static_object_is_not_kept_alive_after_its_versions(make):
    f = imprint.jit(shift, static_argnums=1)
    thing = make(2.0)
    f(1.0, thing)
    dead = weakref.ref(thing)
    del thing
    f.clear_cache()
    gc.collect()
    assert dead() is None


# ---- the results of static arithmetic ----


def test_computations_on_static_values_run_in_python():
    @functools.partial(imprint.jit, static_argnames=("depth", "name"))
    def net(x, depth, name="sin"):
        assert re.fullmatch("[a-z]+", name)
        for i in range(depth):
            x = getattr(inp, name)(x) * math.factorial(i)
        return x

    text = str(net.trace(1.0, depth=3).jaxpr)
    assert text.count("sin") == 3
    assert "2.0:f32[]" in text
    assert net(0.0, depth=2, name="cos") == pytest.approx(math.cos(1.0))

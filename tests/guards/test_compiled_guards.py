"""Compiled guards: after the first calls no value is compared, only identities.

A location that a compiled guard cannot look up would be compared by value at each call,
which costs some hundred times as much. The tests count these comparisons.
"""

import collections
import dataclasses

import numpy as np
import pytest

import imprint
from imprint._src.jit.guards.guard import Guard
from imprint._src.jit.guards.values import Dependency

X = np.float32(2.0)


@dataclasses.dataclass(frozen=True)
class Item:
    a: int = 1


@dataclasses.dataclass(frozen=True)
class Config:
    items: tuple = (Item(1), Item(2))


class Scale:
    rate = 3.0

    def __call__(self, x):
        return x * self.rate


def helper(x):
    """Return x, by a function that has each attribute of functions."""
    return x


def names_of_a_function(x):
    named = helper.__name__, helper.__qualname__, helper.__module__, helper.__doc__
    return helper(x) * len(named)


def parts_of_a_function(x):
    return helper(x) + (helper.__closure__ is None) + len(helper.__annotations__)


def names_of_classes(x):
    return x * len(Scale.__name__ + dict.__name__ + object.__qualname__)


def names_of_odd_classes(x):
    return x * len(Odd.__name__ + Odd.__qualname__ + Meta.__qualname__)


def empty_containers(x):
    return x * (1 + sum(map(len, EMPTY)))


class Meta(type):
    pass


class Odd(metaclass=Meta):
    __name__ = "another"


EMPTY = [], {}, set(), collections.deque()


def read_of_an_object(x):
    return scale(x) * config.items[1].a


scale, config = Scale(), Config()
FUNCTIONS = (
    names_of_a_function,
    parts_of_a_function,
    names_of_classes,
    names_of_odd_classes,
    empty_containers,
    read_of_an_object,
)


@pytest.fixture
def compared(monkeypatch):
    """Return a list with an item for each comparison by value."""
    found, compare = [], Guard.compare

    def counted(self):
        found.append(self)
        return compare(self)

    monkeypatch.setattr(Guard, "compare", counted)
    return found


def count_of_late_comparisons(compared, call):
    for _ in range(4):
        call()
    compared.clear()
    for _ in range(20):
        call()
    return len(compared)


@pytest.mark.unaudited  # audits compare
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_a_guard_compares_no_values_after_the_first_calls(compared, function):
    f = imprint.jit(function)
    assert count_of_late_comparisons(compared, lambda: f(X)) == 0


@pytest.mark.unaudited
@pytest.mark.parametrize(
    "value", [config, scale, helper], ids=["data", "object", "code"]
)
def test_nor_does_the_guard_of_a_static_value(compared, value):
    f = imprint.jit(lambda x, c: x + 1, static_argnums=1)
    assert count_of_late_comparisons(compared, lambda: f(X, value)) == 0


@pytest.mark.unaudited
@pytest.mark.parametrize("function", [names_of_classes, empty_containers])
def test_names_and_empty_containers_are_read_in_c(monkeypatch, function):
    read = []
    holds = Dependency.holds
    monkeypatch.setattr(Dependency, "holds", lambda at: read.append(at) or holds(at))
    f = imprint.jit(function)
    for _ in range(4):
        before = f(X)
    read.clear()
    assert (f(X), read) == (before, [])
    Scale.__name__ = "Scales"
    EMPTY[2].add(1)
    try:
        assert f(X) == function(X) != before
    finally:
        Scale.__name__ = "Scale"
        EMPTY[2].clear()
    assert f(X) == before


class Layer:
    pass


def test_an_object_of_a_list_is_replaced_by_none():
    """The reference to the dead object gives None, as the new item is."""
    layers = [Layer() for _ in range(4)]

    def count(x):
        return x * sum([layer is not None for layer in layers])

    f = imprint.jit(count)
    for _ in range(4):
        assert f(X) == 8.0
    layers[2] = None
    assert f(X) == 6.0
    named = {"a": Layer(), "b": Layer()}
    g = imprint.jit(lambda x: x * sum([v is not None for v in named.values()]))
    for _ in range(4):
        assert g(X) == 4.0
    named["a"] = None
    assert g(X) == 2.0

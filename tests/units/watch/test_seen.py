"""What a trace saw in a container: numbers by their bytes, objects by identity."""

import gc
import struct
import weakref
from collections import deque
from fractions import Fraction

import numpy as np
import pytest

from imprint.watch import seen
from imprint.watch.seen import Items, Seen
from tests.units.modules import run

LONG = 100


class Equal:
    """Equal to all, and tells if somebody asks; then it is the test that fails."""

    def __eq__(self, other):
        raise AssertionError("a call compared objects of the user")

    __hash__ = None


class Thing:
    pass


def numbers():
    return [0.5, 0.0, 1, True, None, 2j, 1 << 80, *[float(i) for i in range(LONG)]]


REPLACED = {
    "an equal int": (0.5 + 0.5, 1),
    "an equal bool": (1, True),
    "an equal fraction": (0.5, Fraction(1, 2)),
    "an equal scalar of NumPy": (0.5, np.float64(0.5)),
    "the other zero": (0.0, -0.0),
    "no NaN any more": (float("nan"), 0.0),
    "what only says to be equal": (0.5, Equal()),
    "what cannot be written": (0.5, object()),
    "its bytes": (0.5, struct.pack("d", 0.5)),
    "a list": (0.5, [0.5]),
}


@pytest.mark.parametrize(("old", "new"), REPLACED.values(), ids=REPLACED)
@pytest.mark.parametrize("at", [0, -1])
def test_another_number_of_a_long_list_is_seen(user, old, new, at):
    values = numbers()
    values[at] = old
    module = user("module", "def root(): return L")
    module.L = values
    watch = run(module.root)
    assert watch.guard()
    values[at] = new
    assert not watch.guard()
    values[at] = old
    assert watch.guard()


def test_a_list_that_is_filled_with_equal_numbers_is_unchanged():
    values = [1.5 * i for i in range(LONG)]
    items = Items(values, None, values)
    values[:] = [float(str(x)) for x in values]
    assert items.are_unchanged()
    values.append(1.5)
    assert not items.are_unchanged()
    del values[-2:]
    assert not items.are_unchanged()


@pytest.mark.parametrize("kind", [list, deque, dict])
@pytest.mark.parametrize("new", [Thing, Equal, lambda: None, lambda: 1])
def test_another_object_in_a_long_container_is_seen(kind, new):
    things = [Thing() for _ in range(LONG)]
    values = dict(enumerate(things)) if kind is dict else kind(things)
    value = Seen(values)
    assert value.items
    assert value.matches(values)
    values[LONG // 2] = new()
    assert not value.matches(values)
    values[LONG // 2] = things[LONG // 2]
    assert value.matches(values)
    things.clear()
    values[LONG // 2] = None  # as if the object that is gone had been one
    gc.collect()
    assert not value.items[0].are_unchanged()


def test_objects_and_numbers_in_one_list():
    values = [Thing(), 1, None, Thing(), "text", 2.5] * 20
    items = Items(values, None, values)
    assert items.are_unchanged()
    assert items.packed is None
    for i, new in enumerate([Thing(), 1.0, 0, None, "Text", 2]):
        old, values[i] = values[i], new
        assert not items.are_unchanged()
        values[i] = old
    assert items.are_unchanged()


def test_objects_in_a_list_are_not_kept_alive():
    values = [Thing() for _ in range(LONG)]
    last = weakref.ref(values[-1])
    items = Items(values, None, values)
    values.pop()
    assert last() is None
    assert not items.are_unchanged()


def test_a_long_container_is_compared_without_a_call_for_each_item(monkeypatch):
    values = [*[Thing() for _ in range(LONG)], 1]
    items = Items(values, None, values)
    for kind in seen.Strong, seen.Weak:
        monkeypatch.setattr(kind, "is_", None)
        monkeypatch.setattr(kind, "get", None)
    assert items.are_unchanged()


def test_items_that_a_trace_added_are_left_out():
    things = [Thing(), Thing()]
    grown = Items(things, None, things[:1], is_grown=True)
    assert grown.are_unchanged()
    things.append(1)
    assert grown.are_unchanged()
    things[0] = Thing()
    assert not grown.are_unchanged()
    things.clear()
    assert not grown.are_unchanged()
    table = {"a": 1, "n": 0}
    items = Items(table, ["a", "n"], [1, None], free=frozenset([1]))
    table["n"] = 5
    assert items.are_unchanged()
    table["a"] = 2
    assert not items.are_unchanged()
    table["a"] = 1
    table["b"] = 1
    assert not items.are_unchanged()


def test_what_is_read_for_the_trace_is_let_go_after_it():
    values = [1]
    value = Seen(values)
    value.note_parts()
    assert value._reading is not None
    assert value.settle(values)._reading is None

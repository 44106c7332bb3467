"""Functions that were read before: one predicate, false as soon as anything has changed."""

import functools
import gc
import types
import weakref
from typing import NamedTuple

import numpy as np
import pytest

import imprint.numpy as inp
from imprint._src.jit.fingerprint import snapshot
from imprint._src.jit.fingerprint.static_values import static_token


class Pair(NamedTuple):
    init: object
    update: object


class OpenPair(Pair):
    """A named tuple whose instances have a `__dict__`."""


class Owner:
    def method(self):
        return self


class Compared:
    def __init__(self, x):
        self.x = x

    def __eq__(self, other):
        return self.x == other.x

    def __hash__(self):
        return hash(self.x)


def capturing(held):
    """Return a function that captures a value, and what binds another one."""

    def fun(x, *, scale=1):
        return x, held, scale

    def rebind(other):
        nonlocal held
        held = other

    return fun, rebind


def settled(fun):
    """Return the token of a function that was read until it is only compared."""
    for _ in range(3):
        token = static_token((fun,), "f")
    assert snapshot.snapshot_of(fun).check(fun)
    return token


def step(x):
    return x + 1


def other_step(x):
    return x - 1


def inner(held):
    return capturing(held)[0]


def counting():
    count = 0

    def fun():
        nonlocal count
        count += 1
        return step

    return fun


def set_default(fun, _):
    fun.__kwdefaults__["scale"] = 2


def set_attribute(fun, _):
    fun.tag = "other"


def set_code(fun, _):
    fun.__code__ = capturing(None)[0].__code__.replace(co_consts=(None, 2.5))


EDITS = {
    "number": (lambda: 1.0, lambda fun, rebind: rebind(2.0)),
    "type of a number": (lambda: 1, lambda fun, rebind: rebind(1.0)),
    "function": (lambda: step, lambda fun, rebind: rebind(other_step)),
    "inner variable": (
        lambda: capturing(step),
        lambda fun, _: fun.__closure__[0].cell_contents[1](other_step),
    ),
    "item of a list": (
        lambda: [step, 1],
        lambda fun, _: fun.__closure__[0].cell_contents.__setitem__(1, 2),
    ),
    "length of a list": (
        lambda: [step],
        lambda fun, _: fun.__closure__[0].cell_contents.append(step),
    ),
    "value of a dictionary": (
        lambda: {"a": step},
        lambda fun, _: fun.__closure__[0].cell_contents.update(a=other_step),
    ),
    "order of a dictionary": (
        lambda: {"a": 1, "b": 2},
        lambda fun, _: fun.__closure__[0].cell_contents.update(
            a=fun.__closure__[0].cell_contents.pop("a")
        ),
    ),
    "length of a dictionary": (
        lambda: {"a": 1, "b": 2},
        lambda fun, _: fun.__closure__[0].cell_contents.popitem(),
    ),
    "function that binds a variable of its own": (
        counting,
        lambda fun, rebind: rebind(counting()),
    ),
    "class of a container": (lambda: (1, 2), lambda fun, rebind: rebind([1, 2])),
    "named tuple": (
        lambda: Pair(inner(step), step),
        lambda fun, rebind: rebind(Pair(inner(step), other_step)),
    ),
    "attribute of a named tuple": (
        lambda: OpenPair(step, step),
        lambda fun, _: setattr(fun.__closure__[0].cell_contents, "tag", 1),
    ),
    "object": (Owner, lambda fun, rebind: rebind(Owner())),
    "owner of a method": (
        lambda: Owner().method,
        lambda fun, rebind: rebind(Owner().method),
    ),
    "array": (lambda: inp.ones(2), lambda fun, rebind: rebind(inp.ones(2))),
    "keyword default": (lambda: step, set_default),
    "attribute": (lambda: step, set_attribute),
    "code": (lambda: step, set_code),
}


@pytest.mark.parametrize("edit", EDITS)
def test_a_function_that_changed_is_read_again(edit):
    make, change = EDITS[edit]
    fun, rebind = capturing(make())
    before = settled(fun)
    change(fun, rebind)
    assert static_token((fun,), "f") is not before


def test_a_function_that_has_not_changed_is_not_read_again():
    fun, _ = capturing((inner(step), [1, 2.0], {"a": Owner()}, max, types))
    settled(fun)
    known = snapshot.snapshot_of(fun)
    readings = known.readings
    for _ in range(3):
        static_token((fun,), "f")
    assert known.readings == readings


def test_a_changed_variable_that_comes_back_has_its_old_token():
    fun, rebind = capturing(step)
    before = settled(fun)
    rebind(other_step)
    static_token((fun,), "f")
    rebind(step)
    assert static_token((fun,), "f") is before


def test_a_variable_without_a_value_is_compared():
    def make():
        def fun():
            return later, step

        yield fun
        later = 1
        yield later

    made = make()
    fun = next(made)
    before = settled(fun)
    next(made)
    assert static_token((fun,), "f") is not before


def test_a_variable_that_the_function_binds_is_none_of_its_content():
    count = 0

    def fun():
        nonlocal count
        count += 1
        return step, held

    held = inner(step)
    before = settled(fun)
    readings = snapshot.snapshot_of(fun).readings
    fun()
    assert static_token((fun,), "f") is before
    assert snapshot.snapshot_of(fun).readings == readings


@pytest.mark.parametrize(
    "held", [np.ones(2), Compared([]), Compared(1), functools.partial(step, 1)]
)
def test_what_identity_does_not_decide_has_no_predicate(held):
    assert snapshot.unchanged_since(inner(held)) is None


def test_an_array_that_was_written_is_read_again():
    table = np.ones(2)
    fun = inner(table)
    for _ in range(3):
        before = static_token((fun,), "f")
    table[0] = 2.0
    assert static_token((fun,), "f") is not before


def test_a_function_that_captures_itself_ends():
    def fun(n):
        return fun(n - 1), step

    settled(fun)


def test_a_container_without_end_has_no_predicate():
    endless = [step]
    endless.append(endless)
    assert snapshot.unchanged_since(inner(endless)) is None


def test_a_function_that_changed_while_it_was_read_has_no_predicate():
    fun, rebind = capturing(step)
    token, check = settled(fun), snapshot.unchanged_since(fun)
    rebind(other_step)
    snapshot.remember(fun, check, (token, 1, False))
    assert snapshot.snapshot_of(fun).check is None


def test_an_entry_of_another_function_is_ignored():
    fun, other = inner(step), inner(other_step)
    settled(fun)
    entries = vars(snapshot)["_snapshots"]
    entries[id(other)] = entries[id(fun)]
    assert snapshot.snapshot_of(other) is None
    del entries[id(other)]


def test_a_snapshot_keeps_nothing_alive():
    fun, rebind = capturing([Owner(), inner(Owner())])
    settled(fun)
    owner = weakref.ref(fun.__closure__[0].cell_contents[0])
    rebind(None)
    gc.collect()
    assert owner() is None
    dead, key = weakref.ref(fun), id(fun)
    del fun, rebind
    gc.collect()
    assert dead() is None
    assert key not in vars(snapshot)["_snapshots"]


def test_a_new_object_at_an_old_address_is_another():
    for _ in range(20):
        fun, rebind = capturing(Owner())
        before = settled(fun)
        rebind(None)
        rebind(Owner())
        assert static_token((fun,), "f") is not before


def test_a_function_that_changes_at_each_call_is_compared_less_and_less():
    fun, rebind = capturing(step)
    for i in range(100):
        rebind((step, float(i)))
        static_token((fun,), "f")
    assert snapshot.new_check(snapshot.snapshot_of(fun), fun) is None

"""Functions as static values: one that may change is read each time, others once."""

import gc
import weakref
from typing import NamedTuple

import numpy as np
import pytest

import imprint.numpy as inp
from imprint import optim
from imprint._src.jit.fingerprint import static_values
from imprint._src.jit.fingerprint.static_values import static_token


class Pair(NamedTuple):
    init: object
    update: object


class OpenPair(Pair):
    """A named tuple whose instances have a `__dict__`."""


class Owner:
    def method(self):
        return self


def capturing(held):
    """Return a function that captures a value, and what binds another one."""

    def fun(x, *, scale=1):
        return x, held, scale

    def rebind(other):
        nonlocal held
        held = other

    return fun, rebind


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
    "items of an array": (
        lambda: np.ones(2),
        lambda fun, _: fun.__closure__[0].cell_contents.fill(2.0),
    ),
    "keyword default": (lambda: step, set_default),
    "attribute": (lambda: step, set_attribute),
    "code": (lambda: step, set_code),
}


HOLDERS = {
    "itself": lambda fun: fun,
    "a tuple": lambda fun: (fun,),
    "nested tuples": lambda fun: ((fun, 1), (2, "a")),
    "a function of imprint": lambda fun: optim.scale_by_schedule(fun).update,
    "a named tuple": lambda fun: Pair(optim.adam(fun).update, step),
}


def settled(value):
    """Return the token of a value that was read more than once."""
    for _ in range(3):
        token = static_token(value, "f")
    return token


@pytest.mark.parametrize("holder", HOLDERS)
@pytest.mark.parametrize("edit", EDITS)
def test_a_function_that_changed_has_another_token(edit, holder):
    make, change = EDITS[edit]
    fun, rebind = capturing(make())
    value = HOLDERS[holder](fun)
    before = settled(value)
    assert static_token(value, "f") is before
    change(fun, rebind)
    assert static_token(value, "f") is not before


@pytest.mark.parametrize("holder", HOLDERS)
def test_a_variable_that_comes_back_gives_the_old_token(holder):
    fun, rebind = capturing(step)
    value = HOLDERS[holder](fun)
    before = settled(value)
    rebind(other_step)
    settled(value)
    rebind(step)
    assert static_token(value, "f") is before


def test_a_variable_without_a_value_is_compared():
    def make():
        def fun():
            return later, step

        yield fun
        later = 1
        yield later

    made = make()
    fun = next(made)
    before = settled((fun,))
    next(made)
    assert static_token((fun,), "f") is not before


def test_a_variable_that_the_function_binds_is_none_of_its_content():
    fun = counting()
    before = settled((fun,))
    fun()
    assert static_token((fun,), "f") is before


def test_a_function_that_captures_itself_ends():
    def fun(n):
        return fun(n - 1), step

    assert settled((fun,)) is settled((fun,))


def test_a_container_that_a_function_of_imprint_holds_is_compared():
    mask = {"w": True}
    update = optim.masked(optim.scale(2.0), mask).update
    before = settled(update)
    mask["w"] = False
    assert static_token(update, "f") is not before


def test_functions_of_imprint_are_read_once(monkeypatch):
    update = optim.adam(1e-3).update
    before = settled(update)
    monkeypatch.setattr(static_values.StateReader, "function", None)
    assert static_token((update,), "f") is not None
    assert static_token(update, "f") is before


def test_a_token_keeps_no_function_alive():
    update = optim.adam(lambda count: 1e-3 * count).update
    token = settled(update)
    dead = weakref.ref(update)
    del update
    gc.collect()
    assert dead() is None
    assert token not in [each.token for each in vars(static_values)["_fixed"].values()]

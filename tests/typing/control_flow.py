"""Types of loops, branches and partials: pyright reads this file, nothing runs it.

An ignore marks a line with an expected error: an unused one is an error.
"""

from functools import partial
from typing import Any, NamedTuple, assert_type

import numpy

import imprint
from imprint import Array, lax


class State(NamedTuple):
    total: Array
    steps: Array


def add(state: State, x: Array) -> tuple[State, Array]:
    return State(state.total + x, state.steps + 1), state.total


def a_carry_keeps_its_type(state: State, x: Array) -> None:
    assert_type(lax.scan(add, state, x), tuple[State, Array])
    assert_type(lax.scan(lambda c, x: (c + x, c), x, x), tuple[Array, Array])
    assert_type(lax.scan(lambda c, _: (c, None), x, length=3), tuple[Array, None])
    assert_type(
        lax.scan(lambda c, x: (c + x[0], x), 0.0, (x, x))[1], tuple[Array, Array]
    )
    smaller = lax.while_loop(
        lambda s: s.steps < 3, lambda s: State(s.total, s.steps + 1), state
    )
    assert_type(smaller, State)
    assert_type(lax.fori_loop(0, 3, lambda i, s: State(s.total + i, i), state), State)
    assert_type(lax.map(lambda x: x + 1, x), Array)
    print(lax.scan(add, state, x)[0].totals)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownArgumentType] - misspelt


def a_number_becomes_an_array(x: Array) -> None:
    assert_type(lax.scan(lambda c, x: (c + x, c), 0.0, x), tuple[Array, Array])
    assert_type(lax.while_loop(lambda c: c < 3, lambda c: c * 2, 1), Array)
    assert_type(lax.fori_loop(0, 3, lambda i, c: c + i, 0.0), Array)


def counted(i: int, x: Array) -> Array:
    return x * i


def what_does_not_fit_is_accepted(state: State, x: Array) -> None:
    assert_type(lax.scan(add, state, numpy.ones(3)), tuple[Any, Any])
    assert_type(lax.fori_loop(0, 3, counted, x), Any)
    assert_type(lax.map(lambda x: x, numpy.ones(3)), Array)
    assert_type(lax.cond(x > 0, abs, abs, operand=x), Any)


def branches_give_the_type_of_their_results(state: State, x: Array) -> None:
    assert_type(lax.cond(x > 0, lambda: state, lambda: state), State)
    assert_type(lax.cond(x > 0, lambda x, y: x + y, lambda x, y: x - y, x, x), Array)
    assert_type(lax.switch(0, [lambda s: s.total, lambda s: s.steps], state), Array)
    assert_type(lax.stop_gradient(state), State)
    assert_type(imprint.block_until_ready(state), State)


@partial(imprint.jit, static_argnames="n")
def power(x: Array, n: int) -> Array:
    return x**n


@partial(imprint.vmap, in_axes=(0, None))
def rows(x: Array, y: Array) -> Array:
    return x * y


def partials_keep_signatures(x: Array) -> None:
    assert_type(power(x, n=2), Array)
    assert_type(rows(x, x), Array)
    power(x, "2")  # pyright: ignore[reportArgumentType] - a text
    rows(x)  # pyright: ignore[reportCallIssue] - no y

"""Programs with loops, written once for imprint and for JAX, and their comparison.

Each takes the library, of which it uses `lax` and `numpy`, and arrays.
"""

from collections.abc import Callable
from dataclasses import dataclass

import jax
import numpy as np

import imprint
from imprint import tree
from tests import oracle
from tests.tolerances import assert_close

FLOATS = np.linspace(0.2, 1.3, 15, dtype=np.float32).reshape(5, 3)
STATE = np.array([0.5, -0.3, 0.8], np.float32)
WEIGHTS = np.linspace(-0.5, 0.5, 9, dtype=np.float32).reshape(3, 3)


@dataclass(frozen=True, eq=False)
class Program:
    function: Callable
    args: tuple
    is_reversible: bool = True

    def __str__(self):
        return self.function.__name__


def recurrent(lib, state, xs, w):
    def step(carry, x):
        h, n = carry
        h = lib.numpy.tanh(h @ w + x * lib.numpy.sin(w).sum())
        return (h, n + 1), {"h": h * 2, "x": x, "n": n}

    return lib.lax.scan(step, (state, 0), xs)


def backwards(lib, state, xs, w):
    step = lambda h, x: (lib.numpy.tanh(h @ w + x), h)
    return lib.lax.scan(step, state, xs, reverse=True)


def unrolled(lib, state, xs, w):
    step = lambda h, x: (lib.numpy.sin(h) * x + w[0], h)
    return lib.lax.scan(step, state, xs, unroll=2, reverse=True)


def whole(lib, state, xs, w):
    return lib.lax.scan(lambda h, x: (h * x, w @ h), state, xs, unroll=True)


def no_step(lib, state, xs, w):
    return lib.lax.scan(lambda h, x: (h * x, w @ h), state, xs[:0])


def without_xs(lib, state, xs, w):
    return lib.lax.scan(lambda h, _: (h + w @ h, None), state, length=4)


def handed_on(lib, state, xs, w):
    def step(carry, x):
        a, b, c = carry
        return (a, c, b * x), (x, a, w, b, b)

    return lib.lax.scan(step, (state, state * 2, state * 3), xs)


def nested(lib, state, xs, w):
    def inner(h, x):
        return lib.numpy.cos(h) * x + h, h.sum()

    def outer(h, x):
        h, sums = lib.lax.scan(inner, h, w * x)
        return h, sums

    return lib.lax.scan(outer, state, xs)


def known_trips(lib, state, xs, w):
    return lib.lax.fori_loop(1, 4, lambda i, h: lib.numpy.sin(h) * i + w[0], state)


def jitted_step(lib, state, xs, w):
    step = lib.jit(lambda h, x: (lib.numpy.exp(-h * h) + x, (h @ w).sum()))
    return lib.lax.scan(step, state, xs)


def mapped(lib, state, xs, w):
    return lib.lax.map(lambda x: lib.numpy.sin(x @ w) * state, xs)


def mapped_in_batches(lib, state, xs, w):
    return lib.lax.map(lambda x: lib.numpy.sin(x @ w) * state, xs, batch_size=2)


def until(lib, state, xs, w):
    step = lambda c: (c[0] * 1.7 + w[0, 0], c[1] + 1, lib.numpy.sin(c[2]) + c[0])
    x = lib.numpy.abs(state).sum()
    return lib.lax.while_loop(lambda c: c[0] < 60.0, step, (x, 0, state))


def unknown_trips(lib, state, xs, w):
    count = (state.sum() * 4).astype(int)
    return lib.lax.fori_loop(0, count, lambda i, h: lib.numpy.sin(h) + i, state)


def scan_of_while(lib, state, xs, w):
    def step(h, x):
        h = lib.lax.while_loop(lambda h: h.sum() < 5, lambda h: h * 1.5 + x, h)
        return h * 0.3, h

    return lib.lax.scan(step, lib.numpy.abs(state), xs)


PROGRAMS = (
    *(Program(f, (STATE, FLOATS, WEIGHTS)) for f in (recurrent, backwards, unrolled)),
    *(Program(f, (STATE, FLOATS, WEIGHTS)) for f in (whole, no_step, without_xs)),
    *(Program(f, (STATE, FLOATS, WEIGHTS)) for f in (handed_on, nested, known_trips)),
    *(Program(f, (STATE, FLOATS, WEIGHTS)) for f in (jitted_step, mapped)),
    Program(mapped_in_batches, (STATE, FLOATS, WEIGHTS)),
    Program(until, (STATE, FLOATS, WEIGHTS), is_reversible=False),
    Program(unknown_trips, (STATE, FLOATS, WEIGHTS), is_reversible=False),
    Program(scan_of_while, (STATE, FLOATS, WEIGHTS), is_reversible=False),
)


def total(function):
    """Return the function that sums all results of `function`, weighted."""

    def summed(*args):
        leaves = tree.leaves(function(*args))
        return sum(
            (i + 1) * (x.astype("float32") ** 2).sum() for i, x in enumerate(leaves)
        )

    return summed


def of(lib, program):
    return lambda *args: program.function(lib, *args)


def agree(apply, program, args=None, *, compiled=False):
    """Assert that `apply(lib, function)` is the same with both libraries.

    Eagerly, and compiled if requested; JAX runs one program of all.
    """
    args = program.args if args is None else args
    want = oracle.jit(apply(jax, of(jax, program)))(*args)
    ours = apply(imprint, of(imprint, program))
    assert_same(ours(*args), want)
    if compiled:
        assert_same(imprint.jit(ours)(*args), want)


def assert_same(got, want):
    got, want = tree.leaves(got), jax.tree.leaves(want)
    assert len(got) == len(want)
    for one, other in zip(got, want, strict=True):
        if np.asarray(other).dtype == jax.dtypes.float0:
            continue
        assert_close(np.asarray(one), np.asarray(other), "gradient")

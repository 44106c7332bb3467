"""Loops outside of `jit`, under transforms: a re-created step is found in the cache.

Its dependencies are current, and a tracer that it captures is differentiated.
"""

from functools import partial

import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint import lax
from imprint._src.jit.compilation.counters import COUNTERS

RATE = 1.0


def decayed(x):
    step = lambda c, _: (c * 0.5 + np.float32(RATE), c)
    return lax.scan(step, x, None, 4)[0]


def last(step, x):
    return lax.scan(lambda c, _: (step(c), None), x, None, 2)[0]


def squared(f):
    return lambda x: f(x) ** 2


UNDER = {
    "grad": lambda f: imprint.grad(squared(f))(2.0),
    "jvp": lambda f: imprint.jvp(f, (2.0,), (1.0,))[0],
    "vmap": lambda f: imprint.vmap(f)(inp.arange(3.0)).sum(),
    "vmap of grad": lambda f: imprint.vmap(imprint.grad(squared(f)))(inp.arange(3.0))[
        1
    ],
    "hessian": lambda f: imprint.hessian(lambda x: f(x) ** 3)(2.0),
}


def counted(run):
    """Return the result, and how often that traced and compiled."""
    before = COUNTERS.traces, COUNTERS.compiles
    result = float(run())
    after = COUNTERS.traces, COUNTERS.compiles
    return result, *(b - a for a, b in zip(before, after, strict=True))


@pytest.mark.parametrize("under", UNDER)
def test_a_recreated_step_is_traced_once(under, monkeypatch):
    imprint.clear_caches()
    run = lambda: UNDER[under](lambda x: decayed(x))
    first, traces, _ = counted(run)
    assert traces == 1
    assert counted(run)[:2] == (first, 0)
    monkeypatch.setitem(globals(), "RATE", 3.0)
    second, traces, _ = counted(run)
    assert traces == 1
    assert second == float(imprint.jit(run)()) != first
    monkeypatch.setitem(globals(), "RATE", 1.0)
    assert counted(run)[:2] == (first, 0)


def test_captures_of_a_step_are_read_at_each_call():
    weights = np.ones((), np.float32)

    def slope(rate):
        return float(imprint.grad(lambda x: last(lambda c: c * rate * weights, x))(1.0))

    assert [slope(2.0), slope(3.0), slope(2.0)] == [4.0, 9.0, 4.0]
    weights[...] = 2.0
    assert slope(2.0) == 16.0


class Holder:
    """Holds a dependency of a step; itself, it is a global."""


HOLDER = Holder()


def by_default(use, x):
    return lambda c, w=x: use(c, w)


def by_dict(use, x):
    held = {"w": x}
    return lambda c: use(c, held["w"])


def by_attribute(use, x):
    HOLDER.w = x
    return lambda c: use(c, HOLDER.w)


STEPS = {
    "variable": lambda use, x: lambda c: use(c, x),
    "default": by_default,
    "dict": by_dict,
    "attribute": by_attribute,
    "partial": lambda use, x: partial(lambda w, c: use(c, w), x),
}


@pytest.mark.parametrize("step", STEPS)
def test_a_captured_tracer_is_differentiated(step):
    cube = lambda x: last(STEPS[step](lambda c, w: c * w, x), x)
    slope = imprint.grad(cube)
    for x in (2.0, 3.0, 2.0):
        assert float(slope(x)) == 3 * x**2
        assert float(imprint.jvp(cube, (x,), (1.0,))[1]) == 3 * x**2
        assert float(imprint.grad(slope)(x)) == 6 * x
    xs = np.arange(4, dtype=np.float32)
    np.testing.assert_array_equal(imprint.vmap(slope)(xs), 3 * xs**2)


@pytest.mark.parametrize("step", STEPS)
def test_the_value_of_a_captured_tracer_is_used(step):
    chosen = STEPS[step]
    slope = imprint.grad(lambda x: last(chosen(lambda c, w: c * (2 if w else 3), x), x))
    assert [float(slope(x)) for x in (1.0, 0.0, 2.0, 0.0)] == [4.0, 9.0, 4.0, 9.0]


def test_a_while_loop_that_captures_a_tracer():
    def fourth(x):
        more, step = lambda s: s[1] < 3, lambda s: (s[0] * x, s[1] + 1)
        return lax.while_loop(more, step, (x, 0))[0]

    for x in (2.0, 3.0):
        assert float(imprint.jvp(fourth, (x,), (1.0,))[1]) == 4 * x**3


def test_the_named_axis_around_a_loop_is_part_of_the_key():
    for name, size in (("i", 2), ("j", 3), ("i", 3)):
        grown = lambda x, name=name: last(lambda c: c + lax.psum(c, name), x)
        xs = np.arange(size, dtype=np.float32)
        once = xs + xs.sum()
        got = imprint.vmap(grown, axis_name=name)(xs)
        np.testing.assert_array_equal(got, once + once.sum())

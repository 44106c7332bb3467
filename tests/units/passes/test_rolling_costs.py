"""Tests of passes.rolling_costs: which loops would be slower, and stay unrolled."""

import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint.passes.pipeline import changes_of, run_passes


def vector(size):
    return np.full(size, 0.25, "float32")


def matrix(size):
    return np.eye(size, dtype="float32")


def repeated(step, turns=20):
    def run(*state):
        for i in range(turns):
            state = step(i, *state)
        return state

    return run


def is_rolled(fun, *args):
    with imprint.roll_loops(), imprint.cut_recomputation(False):
        return bool(changes_of(run_passes(imprint.make_jaxpr(fun)(*args))))


def lorenz(_, x, y, z):
    return (
        x + 0.1 * (y - x),
        y + 0.01 * (x * (28 - z) - y),
        z + 0.01 * (x * y - 2.7 * z),
    )


def pendulum(_, x, v):
    return x + 0.01 * v - 0.1 * x, v - 0.01 * inp.sin(x) - (0.1 * v + 0.2 * x * v * v)


def midpoint(_, *state):
    half = lorenz(0, *state)
    return tuple(x + 2 * y for x, y in zip(state, lorenz(0, *half), strict=True))


SUMS = repeated(lambda _, x: (x * 0.5 + x.sum(),))
ADDS = repeated(lambda _, x: (x * 0.5 + 1,))
TANHS = repeated(lambda _, x: (inp.tanh(x),))
PRODUCTS = repeated(lambda _, x, w: (inp.tanh(x @ w), w))


@pytest.mark.parametrize(
    ("fun", "args", "expected"),
    [
        (SUMS, [vector(20_000)], True),
        (SUMS, [vector(20_001)], False),  # one kernel on several cores
        (SUMS, [vector(2)], True),
        (ADDS, [vector(())], False),  # one kernel
        (ADDS, [vector(1_000)], False),
        (TANHS, [vector(64)], False),
        (TANHS, [vector(65)], True),
        (repeated(lorenz), [vector(())] * 3, False),
        (repeated(lorenz, 100), [vector(())] * 3, True),  # long to compile
        (repeated(midpoint), [vector(())] * 3, True),
        (repeated(midpoint), [vector(4)] * 3, True),
        (repeated(midpoint), [vector(5)] * 3, False),
        (repeated(lorenz), [vector(499)] * 3, False),
        (repeated(lorenz), [vector(500)] * 3, True),
        (repeated(lorenz), [vector(4_000)] * 3, True),
        (repeated(lorenz), [vector(4_001)] * 3, False),
        (repeated(pendulum), [vector(16)] * 2, False),
        (repeated(pendulum, 100), [vector(16)] * 2, True),
        (repeated(lambda _, x, w: (x @ w, w)), [vector(64), matrix(64)], False),
    ],
)
def test_a_loop_is_made_where_it_is_not_slower(fun, args, expected):
    assert is_rolled(fun, *args) is expected


@pytest.mark.parametrize(("size", "expected"), [(8, True), (9, False)])
def test_arrays_are_copied_to_be_walked_over_if_they_are_small(size, expected):
    def run(x, weights):
        for w in weights:
            x = inp.tanh(x @ w)
        return x

    assert is_rolled(run, vector(size), [matrix(size)] * 20) is expected


@pytest.mark.parametrize(("size", "expected"), [(256, True), (257, False)])
def test_little_is_stacked(size, expected):
    def run(x):
        outs = []
        for _ in range(20):
            x = x * 0.5 + x.sum()
            outs += [(x, x.sum() + x)]
        return [inp.stack(found) for found in zip(*outs, strict=True)]

    assert is_rolled(run, vector(size)) is expected


@pytest.mark.parametrize("alone", [5, 6])
def test_few_rows_are_taken_out_of_a_stack(alone):
    def run(x):
        outs = []
        for _ in range(20):
            x = x * 0.5 + x.sum()
            outs.append(x)
        return outs[-1], outs[:alone]

    assert is_rolled(run, vector(64)) is (alone == 5)


def test_the_gradient_of_a_loop_is_a_loop_or_neither_is():
    def loops(size):
        run = imprint.grad(lambda *s: inp.sum(repeated(midpoint)(*s)[0]))
        with imprint.roll_loops(), imprint.cut_recomputation(False):
            closed = imprint.make_jaxpr(run)(*[vector(size)] * 3)
            return len(changes_of(run_passes(closed)))

    assert [loops(size) for size in ((), 600)] == [2, 0]

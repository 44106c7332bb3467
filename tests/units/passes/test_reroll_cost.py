"""The model `reroll_cost`: loops that would be slower stay unrolled."""

import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint._src.passes.pipeline import changes_of, run_passes
from imprint._src.passes.reroll_cost import may_gain


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
    return x + 0.01 * v, v - 0.01 * inp.sin(x + 0.01 * v)


def separate_parts(_, x, v):
    return inp.sin(x), inp.sin(v)


def coupled(_, x, y, z):
    return x - y, inp.tanh(y) * z + inp.exp(-z * z), z / (1 + y * y) + y * x


def parts(_, x):
    return (inp.concatenate([x[1:], x[:1]]) + x,)


def midpoint(_, *state):
    half = lorenz(0, *state)
    return tuple(x + 2 * y for x, y in zip(state, lorenz(0, *half), strict=True))


SUMS = repeated(lambda _, x: (x * 0.5 + x.sum(),))
ADD = lambda _, x: (x * 0.5 + 1,)
ADDS = repeated(ADD)
TANHS = repeated(lambda _, x: (inp.tanh(x),))
PRODUCTS = repeated(lambda _, x, w: (inp.tanh(x @ w), w))


@pytest.mark.parametrize(
    ("fun", "args", "expected"),
    [
        (SUMS, [vector(20_000)], True),
        (SUMS, [vector(20_001)], False),  # one kernel on several cores
        (SUMS, [vector(2)], True),
        (SUMS, [vector(())], False),  # nothing is summed
        (ADDS, [vector(())], False),  # one kernel
        (ADDS, [vector(1_000)], False),
        (repeated(ADD, 2_499), [vector(64)], False),
        (repeated(ADD, 2_501), [vector(64)], True),  # long to compile
        (repeated(ADD, 2_501), [vector(65)], False),
        (TANHS, [vector(499)], False),
        (TANHS, [vector(500)], True),
        (repeated(lorenz), [vector(())] * 3, False),
        (repeated(lorenz, 400), [vector(())] * 3, True),
        (repeated(midpoint), [vector(())] * 3, True),
        (repeated(midpoint), [vector(2)] * 3, False),
        (repeated(midpoint), [vector(255)] * 3, False),
        (repeated(midpoint), [vector(256)] * 3, True),
        (repeated(lorenz), [vector(499)] * 3, False),
        (repeated(lorenz), [vector(500)] * 3, True),
        (repeated(lorenz), [vector(2_000)] * 3, True),
        (repeated(lorenz), [vector(2_001)] * 3, False),
        (repeated(midpoint), [vector(5_000)] * 3, True),
        (repeated(midpoint), [vector(5_001)] * 3, False),
        (repeated(coupled), [vector(255)] * 3, False),
        (repeated(coupled), [vector(256)] * 3, True),  # each block has more kernels
        (repeated(pendulum), [vector(256)] * 2, True),  # sin is computed again
        (repeated(separate_parts), [vector(256)] * 2, False),
        (repeated(parts), [vector(256)], True),
        (repeated(parts), [vector(257)], False),
        (repeated(parts), [vector(4)], False),
        (repeated(lambda _, x, w: (x @ w, w)), [vector(64), matrix(64)], False),
        (PRODUCTS, [vector(64), matrix(64)], True),
        (PRODUCTS, [matrix(64), matrix(64)], False),  # products that are called
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


@pytest.mark.parametrize(("size", "expected"), [(1_000, True), (1_001, False)])
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
    def loops(step, size):
        run = imprint.grad(lambda *s: inp.sum(repeated(step)(*s)[0]))
        with imprint.roll_loops(), imprint.cut_recomputation(False):
            closed = imprint.make_jaxpr(run)(*[vector(size)] * 3)
            return len(changes_of(run_passes(closed)))

    assert [loops(midpoint, size) for size in ((), 8, 600)] == [2, 0, 0]
    assert loops(lorenz, ()) == 0  # parts that need a copy are not walked over


@pytest.mark.parametrize(("size", "expected"), [(256, True), (257, False)])
def test_less_is_stacked_next_to_products(size, expected):
    def run(x, w):
        outs = []
        for _ in range(20):
            x = inp.tanh(w @ x)
            outs.append((x, 2 * x))
        return [inp.stack(found) for found in zip(*outs, strict=True)]

    weights = np.full((size, size), 0.1, "float32")
    assert is_rolled(run, vector(size), weights) is expected


@pytest.mark.parametrize(
    ("fun", "args", "expected"),
    [
        (ADDS, [vector(64)], False),
        (repeated(ADD, 2_501), [vector(64)], True),
        (repeated(ADD, 2_501), [vector(65)], False),
        (repeated(lorenz), [vector(())] * 3, True),
        (ADDS, [vector(500)], False),
        (TANHS, [vector(500)], True),
        (TANHS, [vector(255)], False),
        (SUMS, [vector(4)], True),
    ],
)
def test_a_roll_without_gain_is_rejected_before_blocks_are_compared(
    fun, args, expected
):
    assert may_gain(imprint.make_jaxpr(fun)(*args).eqns) is expected


@pytest.mark.parametrize(
    ("rows", "between", "expected"),
    [
        ((4,), inp.tanh, False),
        ((), inp.tanh, True),
        ((4,), lambda x: inp.sort(x, 0), True),
        ((4,), lambda x: x / x.sum(), True),
        ((4,), lambda x: repeated(lambda _, x: (inp.tanh(x),), 15)(x)[0], False),
        ((4,), lambda x: repeated(lambda _, x: (inp.tanh(x),), 16)(x)[0], True),
    ],
    ids=["matrices", "vectors", "sort", "sum", "fifteen", "sixteen"],
)
def test_products_of_matrices_are_seen_before_blocks_are_compared(
    rows, between, expected
):
    def run(x, w):
        for _ in range(20):
            x = between(x @ w)
        return x

    weights = np.full((8, 8), 0.1, "float32")
    eqns = imprint.make_jaxpr(run)(np.full((*rows, 8), 0.1, "float32"), weights).eqns
    assert may_gain(eqns) is expected
    assert expected or not is_rolled(run, np.full((4, 8), 0.1, "float32"), weights)


def test_a_cheap_block_that_stacks_an_array_is_left():
    def run(x):
        outs = []
        for _ in range(20):
            x = inp.tanh(x)
            outs.append(x)
        return inp.stack(outs)

    assert not is_rolled(run, vector(1_000))

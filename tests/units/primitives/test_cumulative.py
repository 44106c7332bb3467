"""Cumulative reductions: derivatives at zeros and ties as in JAX, and errors."""

import functools

import jax
import numpy as np
import pytest
from jax import lax

import imprint
from imprint._src.primitives import cumulative
from imprint._src.primitives.cumulative import cummax, cummin, cumprod, cumsum
from imprint.errors import DTypeError, ShapeError
from tests.lanes import exhaustive
from tests.units.primitives.agreement import assert_agreed
from tests.units.primitives.formulations import (
    assert_same_bits,
    assert_sums_as_exact,
    both,
    texts,
)
from tests.units.primitives.twin import assert_as_jax

INF, NAN = np.inf, np.nan
VALUES = {
    "zeros": [2.0, 0.0, 3.0, 0.0, -1.0],
    "ties": [1.0, 2.0, 2.0, 0.0, 2.0, 3.0, 3.0],
    "one": [4.0],
    "two": [4.0, 4.0],
    "many": list(np.linspace(-2, 2, 37)),
}
SMALL = [name for name in VALUES if name != "many"]


def message(error, fun, *args):
    with pytest.raises(error) as caught:
        fun(*args)
    return str(caught.value)


@pytest.mark.sampled(4)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("values", "reverse"),
    [
        *((values, reverse) for values in SMALL for reverse in (False, True)),
        ("many", False),
        *exhaustive(("many", True)),
    ],
)
@pytest.mark.parametrize(
    "name", ["cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp"]
)
def test_derivatives(name, values, reverse):
    x = np.array(VALUES[values])
    weights = np.arange(1.0, len(x) + 1)
    ours, theirs = getattr(cumulative, name), getattr(lax, name)
    assert_as_jax(
        imprint.grad(lambda x: (ours(x, 0, reverse=reverse) * weights).sum()),
        jax.grad(lambda x: (theirs(x, 0, reverse=reverse) * weights).sum()),
        x,
    )


@pytest.mark.parametrize("reverse", [False, True])
def test_signed_zeros_and_nan(reverse):
    x = np.array([-0.0, 0.0, -0.0, NAN, 1.0], np.float32)[:: -1 if reverse else 1]

    def check(fun, want):
        want = np.array(want, np.float32)[:: -1 if reverse else 1]
        assert_agreed(lambda x: fun(x, 0, reverse=reverse), [x], want)

    check(cumulative.cummax, [-0.0, 0.0, 0.0, NAN, NAN])
    check(cumulative.cummin, [-0.0, -0.0, -0.0, NAN, NAN])
    check(cumulative.cumsum, [0.0, 0.0, 0.0, NAN, NAN])


def test_logs_of_nothing_and_of_infinity():
    x = np.array([-INF, -INF, 0.0, INF, INF], np.float32)
    assert_agreed(cumulative.cumlogsumexp, [x], x)


def test_small_dtypes_wrap_and_round():
    x = np.full(5, 100, np.int8)
    assert_agreed(cumulative.cumsum, [x], np.cumsum(x, dtype=np.int8))
    assert_agreed(cumulative.cumprod, [x], np.cumprod(x, dtype=np.int8))


@pytest.mark.parametrize("axis", [-1, 1])
def test_no_such_axis(axis):
    assert message(ShapeError, cumulative.cumsum, np.zeros(3, np.float32), axis) == (
        "cumsum: expected an axis in [0, 1) for operand float32[3], got "
        f"axis={axis}. To count from the end, call imprint.numpy.cumsum."
    )


def test_bools():
    assert message(DTypeError, cumulative.cummax, np.zeros(3, bool)) == (
        "cummax: expected an integer or float dtype, got bool[3]. Convert it with "
        "`.astype(...)`, or call imprint.numpy, which promotes."
    )


# ---- loops ----

SUMS = {
    "columns": ((200, 40), 0),
    "rows": ((40, 200), 1),
    "middle": ((8, 300, 8), 1),
    "one": ((5000,), 0),
    "long": ((100_000,), 0),
    "short": ((33, 64), 0),
}


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("name", SUMS)
def test_long_sums_are_loops(name, reverse):
    shape, axis = SUMS[name]
    random = np.random.default_rng(0)
    for dtype in ("float32", "float64"):
        x = random.normal(size=shape).astype(dtype)

        def exact(x):
            x = np.flip(x, axis) if reverse else x
            out = np.cumsum(x, axis)
            return np.flip(out, axis) if reverse else out

        run = functools.partial(cumsum, axis=axis, reverse=reverse)
        assert_sums_as_exact(run, exact, exact, shape[axis], [x])
        fast, plain = texts(run, x)
        assert ("while" in fast, "while" in plain) == (True, False)


def test_long_products_are_loops():
    random = np.random.default_rng(0)
    for dtype in ("float32", "float64"):
        x = np.exp(random.normal(size=(400, 64)) / 8).astype(dtype)
        truth = np.cumprod(x.astype(np.longdouble), 0)
        fast, plain = (
            np.abs(got / truth - 1) for got in both(lambda x: cumprod(x, 0), x)
        )
        eps = np.finfo(dtype).eps
        assert fast.max() <= min(400 * eps, 2 * plain.max() + eps)


SPECIAL = [0.0, -0.0, 1.0, -1.0, 2.5, np.inf, -np.inf, np.nan]


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("function", [cumsum, cumprod, cummax, cummin])
def test_loops_keep_special_numbers(function, reverse):
    random = np.random.default_rng(0)
    for numbers in (SPECIAL, SPECIAL[:2], [*SPECIAL[:5], np.inf], [-np.inf, 0.0, 1.0]):
        x = random.choice(np.array(numbers, np.float32), (70, 200))
        assert_same_bits(*both(lambda x: function(x, 0, reverse), x))
    whole = random.integers(-(2**31), 2**31 - 1, (70, 40)).astype(np.int32)
    assert_same_bits(*both(lambda x: function(x, 0, reverse), whole))


@pytest.mark.parametrize(
    ("shape", "axis", "dtype"),
    [
        ((15, 64), 0, "float32"),
        ((1 << 18,), 0, "float32"),
        ((64, 8), 0, "float32"),
        ((64, 64), 0, "bfloat16"),
        ((64, 64), 0, "complex64"),
    ],
)
def test_others_stay_windows(shape, axis, dtype):
    x = np.ones(shape, np.float32).astype(dtype)
    fast, plain = texts(lambda x: cumsum(x, axis), x)
    assert fast == plain

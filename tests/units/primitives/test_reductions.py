"""Reductions at their edges: nothing to reduce, NaN, signed zeros, ties, zeros."""

import jax
import numpy as np
import pytest
from jax import lax

import imprint
from imprint._src.primitives.core_ops import reduce_sum
from imprint._src.primitives.reductions import (
    reduce_and,
    reduce_max,
    reduce_min,
    reduce_or,
    reduce_prod,
    reduce_xor,
)
from imprint.errors import DTypeError, ShapeError
from tests.units.primitives.agreement import assert_agreed, assert_same
from tests.units.primitives.formulations import (
    assert_same_bits,
    assert_sums_as_exact,
    both,
    texts,
)
from tests.units.primitives.twin import assert_as_jax

FLOATS = ["float32", "float64", "float16", "bfloat16"]
NAN, INF = np.nan, np.inf


def message(error, fun, *args):
    with pytest.raises(error) as caught:
        fun(*args)
    return str(caught.value)


def over_all(reduce):
    return lambda x: reduce(x, tuple(range(x.ndim)))


# ---- reduce_max, reduce_min ----


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    ("values", "most", "least"),
    [
        ([-0.0, 0.0, -0.0], 0.0, -0.0),
        ([0.0, -0.0, 0.0], 0.0, -0.0),
        ([-0.0] * 40, -0.0, -0.0),
        ([0.0] * 40, 0.0, 0.0),
        ([-0.0] * 20 + [0.0] + [-0.0] * 20, 0.0, -0.0),
        ([1.0, NAN, 2.0], NAN, NAN),
        ([-INF, -INF], -INF, -INF),
        ([], -INF, INF),
    ],
)
def test_extremes_of_zeros_nan_and_nothing(dtype, values, most, least):
    x = np.array(values, np.float64).astype(dtype)
    assert_agreed(over_all(reduce_max), [x], np.array(most).astype(dtype))
    assert_agreed(over_all(reduce_min), [x], np.array(least).astype(dtype))


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64"])
def test_extremes_of_no_integers(dtype):
    x = np.zeros((0, 2), dtype)
    info = np.iinfo(dtype)
    assert_agreed(lambda x: reduce_max(x, (0,)), [x], np.full(2, info.min, dtype))
    assert_agreed(lambda x: reduce_min(x, (0,)), [x], np.full(2, info.max, dtype))


def test_extremes_of_bools_are_any_and_all():
    x = np.array([[True, False], [True, True]])
    assert_agreed(lambda x: reduce_max(x, (0,)), [x], np.array([True, True]))
    assert_agreed(lambda x: reduce_min(x, (0,)), [x], np.array([True, False]))
    assert_agreed(over_all(reduce_max), [x[:0]], np.array(False))


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_numbers_compare_by_real_then_imaginary_part(dtype):
    x = np.array([1 + 2j, 1 - 3j, 0 + 9j, -INF - 5j], dtype)
    assert_agreed(over_all(reduce_max), [x], x[0])
    assert_agreed(over_all(reduce_min), [x], x[3])
    spoiled = np.array([1 + 2j, complex(0, NAN), 9], dtype)
    for reduce in (reduce_max, reduce_min):
        assert_agreed(over_all(reduce), [spoiled], spoiled[1])


@pytest.mark.parametrize("axes", [(0,), (1,), (0, 1), ()])
def test_ties_share_the_derivative(axes):
    x = np.array([[1.0, 2.0, 2.0], [3.0, 2.0, 2.0]])
    for ours, theirs in ((reduce_max, lax.reduce_max), (reduce_min, lax.reduce_min)):
        assert_as_jax(
            imprint.grad(lambda x: ours(x, axes).sum()),  # noqa: B023
            jax.grad(lambda x: theirs(x, axes).sum()),  # noqa: B023
            x,
        )


def test_the_extreme_of_nothing_has_no_derivative():
    _, tangent = imprint.jvp(
        lambda x: reduce_max(x, (0,)),
        (np.zeros((0, 2), np.float32),) * 1,
        (np.zeros((0, 2), np.float32),),
    )
    assert_same(tangent, np.zeros(2, np.float32))


# ---- reduce_prod ----


@pytest.mark.parametrize("zeros", [0, 1, 2])
@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_gradients_of_products_with_zeros(zeros, count):
    x = np.linspace(0.5, 2.0, 2 * count).reshape(count, 2)
    x[:zeros, 0] = 0

    def ours(x):
        return (reduce_prod(x, (0,)) * np.array([1.0, 2.0])).sum()

    def theirs(x):
        return (lax.reduce_prod(x, (0,)) * np.array([1.0, 2.0])).sum()

    assert_as_jax(imprint.grad(ours), jax.grad(theirs), x)
    if count == 3:
        ours, theirs = squared(imprint.grad(ours)), squared(jax.grad(theirs))
        assert_as_jax(imprint.grad(ours), jax.grad(theirs), x)


def squared(fun):
    return lambda x: (fun(x) ** 2).sum()


def test_products_over_several_axes_of_some_order():
    x = np.linspace(0.5, 2.0, 24).reshape(2, 3, 4)
    assert_as_jax(
        imprint.grad(lambda x: (reduce_prod(x, (2, 0)) ** 2).sum()),
        jax.grad(lambda x: (lax.reduce_prod(x, (2, 0)) ** 2).sum()),
        x,
    )


def test_the_product_of_nothing():
    x = np.zeros((0, 2), np.float32)
    assert_agreed(lambda x: reduce_prod(x, (0,)), [x], np.ones(2, np.float32))
    assert_same(imprint.grad(lambda x: reduce_prod(x, (0, 1)))(x), x)


# ---- reduce_and, reduce_or, reduce_xor ----


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64"])
def test_bitwise_reductions_of_nothing(dtype):
    x = np.zeros((0, 2), dtype)
    ones = ~np.zeros(2, dtype)
    assert_agreed(lambda x: reduce_and(x, (0,)), [x], ones)
    assert_agreed(lambda x: reduce_or(x, (0,)), [x], ~ones)
    assert_agreed(lambda x: reduce_xor(x, (0,)), [x], ~ones)


# ---- errors ----

X = np.zeros((2, 3), np.float32)


@pytest.mark.parametrize("axes", [(-1,), (2,), (0, 0)])
def test_axes_that_are_none(axes):
    assert message(ShapeError, reduce_max, X, axes) == (
        "reduce_max: expected distinct axes in [0, 2) for operand float32[2,3], got "
        f"axes={axes}. To count from the end, call imprint.numpy."
    )


def test_bits_of_floats():
    assert message(DTypeError, reduce_or, X, (0,)) == (
        "reduce_or: expected an integer or bool, got float32[2,3]. Convert it with "
        "`.astype(...)`, or call imprint.numpy, which promotes."
    )


def test_the_product_of_bools():
    assert message(DTypeError, reduce_prod, X > 0, (0,)) == (
        "reduce_prod: expected a number, got bool[2,3]. Convert it with "
        "`.astype(...)`, or call imprint.numpy, which promotes."
    )


# ---- short rows ----


@pytest.mark.parametrize("length", [2, 3, 8])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_short_rows_are_added_by_columns(length, dtype):
    x = np.random.default_rng(0).normal(size=(50, 200, length)).astype(dtype)

    def total(x):
        return reduce_sum(x, (2,))

    assert_sums_as_exact(total, lambda x: x.sum(-1), lambda x: x.sum(-1), length, [x])
    fast, plain = texts(total, x)
    assert ("reduce" in fast, "reduce" in plain) == (False, True)


def test_sums_of_short_rows_keep_special_numbers_and_wrap():
    random = np.random.default_rng(0)
    special = np.array([0.0, -0.0, 1.0, np.inf, -np.inf, np.nan], np.float32)
    for numbers in (special, special[:2], special[1:2], special[:4]):
        x = random.choice(numbers, (9000, 3))
        assert_same_bits(*both(lambda x: reduce_sum(x, (1,)), x))
    whole = random.integers(-(2**31), 2**31 - 1, (9000, 3)).astype(np.int32)
    assert_same_bits(*both(lambda x: reduce_sum(x, (1,)), whole))


@pytest.mark.parametrize(
    ("shape", "axes", "dtype"),
    [
        ((9000, 9), (1,), "float32"),
        ((1000, 3), (1,), "float32"),
        ((3, 9000), (0,), "float32"),
        ((9000, 1), (1,), "float32"),
        ((9000, 3), (1,), "bfloat16"),
    ],
)
def test_other_sums_stay_reductions(shape, axes, dtype):
    x = np.ones(shape, np.float32).astype(dtype)
    fast, plain = texts(lambda x: reduce_sum(x, axes), x)
    assert fast == plain

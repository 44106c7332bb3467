"""select_n and clamp at their edges: numbers out of range, rank 0, NaN, crossed limits."""

import numpy as np
import pytest

from imprint._src.core.aval import ShapedArray
from imprint._src.core.tangents import UndefinedPrimal
from imprint._src.interpreters.batching import batch_flat
from imprint._src.primitives.elementwise.select import clamp, select_n, select_n_p
from imprint.errors import ArgumentError, DTypeError, ShapeError
from tests.units.primitives.agreement import assert_agreed, tangent

NAN, INF = np.nan, np.inf


def f32(*values):
    return np.array(values, np.float32)


# ---- select_n ----


def test_false_takes_the_first_case():
    which = np.array([False, True])
    assert_agreed(select_n, [which, f32(1, 2), f32(3, 4)], f32(1, 4))
    assert_agreed(select_n, [which, f32(1, 2)], f32(1, 2))


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8", "uint32"])
@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_a_number_out_of_range_takes_the_nearest_case(dtype, count):
    info = np.iinfo(dtype)
    which = np.array([info.min, 0, 1, count - 1, count, info.max], dtype)
    cases = [np.full(6, i, np.float32) for i in range(count)]
    nearest = [min(max(int(i), 0), count - 1) for i in which]
    assert_agreed(select_n, [which, *cases], f32(*nearest))


@pytest.mark.parametrize(
    ("which", "first", "second", "want"),
    [
        (np.True_, f32(1, 2), f32(3, 4), f32(3, 4)),
        (np.array([True, False]), np.float32(1), f32(3, 4), f32(3, 1)),
        (np.array([True, False]), np.float32(1), np.float32(2), f32(2, 1)),
    ],
)
def test_rank_0_goes_with_any_shape(which, first, second, want):
    assert_agreed(select_n, [which, first, second], want)


def test_a_cotangent_goes_to_the_case_that_was_taken():
    which, ct = np.array([-5, 0, 1, 2, 9], "int32"), f32(1, 2, 4, 8, 16)
    scalar, vector = ShapedArray((), np.dtype("f4")), ShapedArray((5,), np.dtype("f4"))
    operands = (
        which,
        UndefinedPrimal(vector),
        UndefinedPrimal(scalar),
        UndefinedPrimal(vector),
    )
    nothing, *cts = select_n_p.transpose((ct,), operands)
    assert nothing is None
    for got, want in zip(
        cts, [f32(1, 2, 0, 0, 0), 4, f32(0, 0, 0, 8, 16)], strict=True
    ):
        np.testing.assert_array_equal(np.asarray(got), want)


def test_vmap_of_a_scalar_choice_between_vectors():
    which, cases = np.array([True, False]), f32(1, 2, 3)
    (out,), (dim,) = batch_flat(
        lambda w, x, y: [select_n(w, x, y)], [which, cases, -cases], (0, None, None)
    )
    assert dim == 0
    np.testing.assert_array_equal(np.asarray(out), [-cases, cases])


def test_select_n_names_an_invalid_predicate():
    one = np.float32(1)
    with pytest.raises(DTypeError) as wrong:
        select_n(one, one, one)
    assert str(wrong.value) == (
        "select_n: expected a boolean or an integer to choose by, got float32[]. "
        "Compare it with something, or convert it with `.astype(int)`."
    )
    with pytest.raises(ArgumentError) as many:
        select_n(np.True_, one, one, one)
    assert str(many.value) == (
        "select_n: expected one or two cases for bool[] to choose from, got 3. "
        "To choose among more than two, pass an integer."
    )
    with pytest.raises(ShapeError, match=r"select_n: expected operands of one shape"):
        select_n(np.zeros(2, bool), np.ones(3), np.ones(3))
    with pytest.raises(DTypeError, match=r"select_n: expected operands of one dtype"):
        select_n(np.True_, one, np.int32(1))


# ---- clamp ----


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_clamp_propagates_nan_and_orders_zeros(dtype):
    low = np.array([-1, NAN, -1, -1, 0.0, -1, -INF]).astype(dtype)
    x = np.array([NAN, 0, 0, 5, -0.0, 0.0, INF]).astype(dtype)
    high = np.array([1, 1, NAN, 1, 1, -0.0, INF]).astype(dtype)
    want = np.array([NAN, NAN, NAN, 1, 0.0, -0.0, INF]).astype(dtype)
    assert_agreed(clamp, [low, x, high], want)


def test_crossed_limits_give_the_high_one():
    assert_agreed(clamp, [f32(3, 3, 3), f32(0, 2, 4), f32(1, 1, 1)], f32(1, 1, 1))
    low, high = np.uint8(200), np.uint8(100)
    assert_agreed(clamp, [low, np.arange(3, dtype="u1"), high], np.full(3, 100, "u1"))


def test_the_tangent_of_clamp_comes_from_the_operand_that_is_the_result():
    low, x, high = np.float64(0), np.array([-1.0, 0.0, 0.5, 1.0, 2.0]), np.float64(1)
    ones, zeros = np.ones(5), np.zeros(5)
    for which, want in enumerate([[1, 0, 0, 0, 0], [0, 0, 1, 0, 0], [0, 0, 0, 0, 1]]):
        tangents = [np.float64(0), zeros, np.float64(0)]
        tangents[which] = ones if which == 1 else np.float64(1)
        np.testing.assert_array_equal(tangent(clamp, [low, x, high], tangents), want)

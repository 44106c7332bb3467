"""Arithmetic at its edges: division by zero, the least integer, NaN, signed zeros."""

import ml_dtypes
import numpy as np
import pytest

from imprint._src.config import enable_x64
from imprint._src.core.aval import ShapedArray
from imprint._src.core.tangents import UndefinedPrimal
from imprint._src.primitives.elementwise.arithmetic import (
    div,
    div_p,
    integer_pow,
    max_,
    min_,
    nextafter,
    rem,
)
from imprint._src.primitives.elementwise.trigonometric import atan2, atan2_p
from imprint.dtypes import finfo
from imprint.errors import AbsentRuleError, DTypeError, ShapeError
from tests.tolerances import assert_close
from tests.units.primitives.agreement import agreed, assert_agreed, by_jax, tangent
from tests.units.primitives.formulations import assert_same_bits, both, texts

INTS = ["int8", "int16", "int32", "int64"]
UINTS = ["uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float32", "float64", "float16", "bfloat16"]
NAN, INF = np.nan, np.inf


def array(values, dtype):
    return np.array(values).astype(dtype)


# ---- div, rem ----


@pytest.mark.parametrize("dtype", INTS)
def test_signed_division_truncates_and_never_fails(dtype):
    least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
    x = array([7, -7, 7, -7, 5, 0, least, most, least, least], dtype)
    y = array([2, 2, -2, -2, 0, 0, 0, -1, -1, least], dtype)
    quotient = array([3, -3, -3, 3, -1, -1, -1, -most, least, 1], dtype)
    assert_agreed(div, [x, y], quotient)
    assert_agreed(rem, [x, y], array([1, -1, 1, -1, 5, 0, least, 0, 0, 0], dtype))


@pytest.mark.parametrize("dtype", UINTS)
def test_unsigned_division_by_zero_is_all_ones(dtype):
    most = np.iinfo(dtype).max
    x = np.array([7, most, 0, 5, most], dtype)
    y = np.array([2, most, 0, 0, 2], dtype)
    assert_agreed(div, [x, y], np.array([3, 1, most, most, most // 2], dtype))
    assert_agreed(rem, [x, y], np.array([1, 0, 0, 5, 1], dtype))


@pytest.mark.parametrize("dtype", FLOATS)
def test_float_division_at_zeros_and_infinities(dtype):
    x = array([1.0, -1.0, 1.0, 0.0, INF, 1.0, -0.0], dtype)
    y = array([0.0, 0.0, -0.0, 0.0, INF, -INF, 2.0], dtype)
    assert_agreed(div, [x, y], array([INF, -INF, -INF, NAN, NAN, -0.0, -0.0], dtype))
    remainder = array([NAN, NAN, NAN, NAN, NAN, 1.0, -0.0], dtype)
    assert_agreed(rem, [x, y], remainder)


def test_remainder_has_the_sign_of_the_dividend():
    x = array([5.5, -5.5, 5.5, -5.5, -4.0], "float32")
    y = array([2.0, 2.0, -2.0, -2.0, 2.0], "float32")
    assert_agreed(rem, [x, y], array([1.5, -1.5, 1.5, -1.5, -0.0], "float32"))


def test_complex_division_by_zero_and_infinity():
    infinite = complex(INF, 0)
    x = np.array([1 + 0j, 2 + 3j, infinite, 1 + 1j, 4 + 2j], "complex64")
    y = np.array([0j, complex(-0.0, 0), 1 + 0j, infinite, 2 + 0j], "complex64")
    out = agreed(div, x, y)
    assert out[0].real == INF
    assert out[1] == complex(-INF, -INF)
    assert out[2].real == INF
    assert out[3] == 0
    assert out[4] == 2 + 1j


def test_div_is_linear_in_the_numerator_only():
    scalar = ShapedArray((), np.dtype("float32"))
    ct = np.array([2.0, 4.0], "float32")
    (to_x, to_y) = div_p.transpose((ct,), (UndefinedPrimal(scalar), np.float32(2)))
    assert np.asarray(to_x) == 3.0
    assert to_y is None
    with pytest.raises(AbsentRuleError, match="not linear"):
        div_p.transpose((ct,), (np.float32(2), UndefinedPrimal(scalar)))


def test_division_refuses_booleans_and_other_shapes():
    with pytest.raises(DTypeError, match=r"div: expected a number, got bool\[2\]"):
        div(np.ones(2, bool), np.ones(2, bool))
    with pytest.raises(ShapeError, match=r"div: expected operands of one shape"):
        div(np.ones(2, "float32"), np.ones(3, "float32"))
    with pytest.raises(DTypeError, match="rem: expected an integer or float dtype"):
        rem(np.complex64(1), np.complex64(1))


# ---- max, min ----


@pytest.mark.parametrize("dtype", FLOATS)
def test_max_and_min_propagate_nan_and_order_zeros(dtype):
    x = array([NAN, 1.0, NAN, 0.0, -0.0, -0.0, 0.0, -INF], dtype)
    y = array([1.0, NAN, NAN, -0.0, 0.0, -0.0, 0.0, INF], dtype)
    larger = array([NAN, NAN, NAN, 0.0, 0.0, -0.0, 0.0, INF], dtype)
    smaller = array([NAN, NAN, NAN, -0.0, -0.0, -0.0, 0.0, -INF], dtype)
    assert_agreed(max_, [x, y], larger)
    assert_agreed(min_, [x, y], smaller)


def test_max_and_min_of_booleans_integers_and_complex_numbers():
    x, y = np.array([0, 0, 1], bool), np.array([0, 1, 1], bool)
    assert_agreed(max_, [x, y], x | y)
    assert_agreed(min_, [x, y], x & y)
    x, y = np.array([0, 255], "uint8"), np.array([255, 1], "uint8")
    assert_agreed(max_, [x, y], np.array([255, 255], "uint8"))
    x = np.array([1 + 2j, 1 + 2j, 3 - 1j], "complex64")
    y = np.array([1 + 3j, 0 + 9j, 3 - 1j], "complex64")
    assert_agreed(max_, [x, y], np.array([1 + 3j, 1 + 2j, 3 - 1j], "complex64"))
    assert_agreed(min_, [x, y], np.array([1 + 2j, 0 + 9j, 3 - 1j], "complex64"))


@pytest.mark.parametrize("fun", [max_, min_])
def test_operands_share_the_tangent_at_a_tie(fun):
    x = np.array([1.0, 2.0, 3.0, NAN])
    y = np.array([2.0, 2.0, 2.0, 2.0])
    sharing = tangent(fun, [x, y], [np.ones(4), np.zeros(4)])
    mine = [0.0, 0.5, 1.0, 0.0] if fun is max_ else [1.0, 0.5, 0.0, 0.0]
    np.testing.assert_array_equal(sharing, mine)


# ---- rem's derivative, atan2, nextafter ----


def test_rem_loses_whole_quotients():
    x, y = np.array([5.5, -5.5, 1.0]), np.array([2.0, 2.0, -4.0])
    np.testing.assert_array_equal(
        tangent(rem, [x, y], [np.zeros(3), np.ones(3)]), [-2.0, 2.0, 0.0]
    )


@pytest.mark.parametrize("dtype", FLOATS)
def test_atan2_on_the_axes_is_that_of_the_engine(dtype):
    points = array([0.0, -0.0, 1.0, -1.0, INF, -INF, NAN], dtype)
    y, x = (part.ravel() for part in np.meshgrid(points, points))
    with enable_x64(True):
        assert_close(atan2(y, x), by_jax(atan2_p, y, x))


def test_atan2_of_complex_numbers():
    y = np.array([1 + 2j, 0.5 - 1j, 2 + 0.25j])
    x = np.array([3 + 1j, 2 + 0.5j, 1.5 - 0.5j])
    with enable_x64(True):
        assert_close(atan2(y, x), by_jax(atan2_p, y, x))


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_nextafter_of_equal_numbers_is_the_second(dtype):
    x = array([0.0, -0.0, 1.0, NAN, 1.0, INF], dtype)
    y = array([-0.0, 0.0, 1.0, 1.0, NAN, INF], dtype)
    want = array([-0.0, 0.0, 1.0, NAN, NAN, INF], dtype)
    assert_agreed(nextafter, [x, y], want)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_nextafter_of_subnormal_numbers(dtype):
    least, info = float(finfo(dtype).smallest_subnormal), finfo(dtype)
    edges = [0.0, least, 5 * least, float(info.tiny), 1.0, float(info.max), INF]
    ends = array([*edges, *(-x for x in edges)], dtype)
    x, y = (np.ravel(part) for part in np.meshgrid(ends, ends))
    with np.errstate(over="ignore"):
        want = np.where(x == y, y, np.nextafter(x, y))
    assert_agreed(nextafter, [x, y], want)


def test_nextafter_moves_with_its_first_operand():
    one, two, three = np.float64([1, 2, 3])
    assert tangent(nextafter, [one, one], [two, three]) == 2


# ---- integer_pow ----


@pytest.mark.parametrize(
    ("y", "dtype", "base", "want"),
    [
        (0, "float32", [0, NAN, INF], [1, 1, 1]),
        (0, "int8", [0, 2, -128], [1, 1, 1]),
        (3, "int8", [2, -3, 6], [8, -27, 216 - 256]),
        (7, "uint8", [0, 2, 3], [0, 128, 3**7 % 256]),
        (-1, "float32", [0, -0.0, 2, INF], [INF, -INF, 0.5, 0]),
        (-2, "bfloat16", [-0.0, -2, 3], [INF, 0.25, 1 / 9]),
    ],
)
def test_integer_pow_wraps_and_inverts(y, dtype, base, want):
    assert_agreed(lambda x: integer_pow(x, y), [array(base, dtype)], array(want, dtype))


def test_integer_pow_refuses_negative_powers_of_integers():
    with pytest.raises(DTypeError) as caught:
        integer_pow(np.arange(3, dtype="int32"), -2)
    assert str(caught.value) == (
        "integer_pow: expected an exponent of at least 0 for integers, got int32[3] to "
        "the power -2. Convert the base with `.astype(float)`."
    )


@pytest.mark.parametrize(("y", "want"), [(0, 0.0), (1, 1.0), (2, 0.0), (-1, -INF)])
def test_integer_pow_differentiates_at_zero(y, want):
    zero, one = np.array([0.0]), np.array([1.0])
    got = tangent(lambda x: integer_pow(x, y), [zero], [one])
    np.testing.assert_array_equal(got, [want])


# ---- the remainder of many floats ----


def near_multiples(dtype, limit):
    """Return operands whose quotients are whole numbers below a limit, or nearly so."""
    n = 40_000
    random = np.random.default_rng(0)
    y = np.exp(random.uniform(-8, 8, n)).astype(dtype)
    whole = np.floor(np.exp(random.uniform(0, np.log(limit), n)))
    with np.errstate(over="ignore", invalid="ignore"):
        x = (y.astype(np.float64) * whole).astype(dtype)
        bits = x.view(f"i{x.dtype.itemsize}")
        x = (bits + random.integers(-1, 2, n).astype(bits.dtype)).view(dtype)
        fits = np.abs(x.astype(np.float64) / y.astype(np.float64)) < limit
    return np.where(np.arange(n) % 3, x, -x)[fits], y[fits]


@pytest.mark.parametrize("dtype", FLOATS)
def test_a_remainder_of_many_is_exact(dtype):
    x, y = near_multiples(dtype, 2.0**24 if dtype == "float64" else 2.0**130)
    fast, plain = both(rem, x, y)
    assert_same_bits(fast, plain)
    wide = np.fmod(x.astype(np.float64), y.astype(np.float64))
    np.testing.assert_array_equal(fast.astype(np.float64), wide)
    assert ("case" in texts(rem, x, y)[0]) is (dtype == "float64")
    assert "stablehlo.remainder" in texts(rem, x, y)[1]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_a_remainder_of_the_largest_quotients_is_exact(dtype):
    finfo, random = ml_dtypes.finfo(dtype), np.random.default_rng(0)
    large = random.uniform(float(finfo.max) / 8, float(finfo.max), 5000).astype(dtype)
    least = float(finfo.smallest_normal)
    small = (random.uniform(1, 4, 5000) * least).astype(dtype)
    fast, plain = both(rem, large, small)
    is_normal = plain >= finfo.smallest_normal  # XLA's sums have no others
    assert is_normal.sum() > 1000
    assert_same_bits(fast[is_normal], plain[is_normal])


@pytest.mark.parametrize("dtype", FLOATS)
def test_a_remainder_of_many_special_numbers(dtype):
    finfo = ml_dtypes.finfo(dtype)
    least, most = float(finfo.smallest_normal), float(finfo.max)
    few = array([0.0, -0.0, 1, -1, 3, -6, 0.3, least, -least, INF, -INF, NAN], dtype)
    many = np.concatenate([few, array([most, -most, most / 2], dtype)])
    for numbers in (few, many):  # all quotients small, and some large
        x, y = (a.ravel() for a in np.meshgrid(numbers, numbers))
        x, y = np.tile(x, 40), np.tile(y, 40)
        assert_same_bits(*both(rem, x, y))


def test_a_remainder_of_few_or_whole_numbers_is_one_operation():
    for x in (np.ones(4000, np.float32), np.ones(5000, np.int32)):
        fast, plain = texts(rem, x, x)
        assert fast == plain

"""Signs, magnitudes and halves: zeros, least integers, fractions."""

import jax
import numpy as np
import pytest
from jax import lax

import imprint
from imprint._src.primitives.elementwise.rounding import (
    RoundingMethod,
    abs_,
    ceil,
    floor,
    is_finite,
    round_,
    sign,
)
from imprint.errors import DTypeError
from tests.units.primitives.agreement import assert_agreed, tangent
from tests.units.primitives.twin import assert_as_jax

NAN, INF = np.nan, np.inf
FLOATS = ["float32", "float64", "float16", "bfloat16"]


@pytest.mark.parametrize("dtype", FLOATS)
def test_zeros_keep_their_sign(dtype):
    x = np.array([-0.0, 0.0, -0.25, 0.25, NAN]).astype(dtype)
    for fun, want in [
        (sign, [-0.0, 0.0, -1, 1, NAN]),
        (abs_, [0.0, 0.0, 0.25, 0.25, NAN]),
        (floor, [-0.0, 0.0, -1, 0, NAN]),
        (ceil, [-0.0, 0.0, -0.0, 1, NAN]),
        (round_, [-0.0, 0.0, -0.0, 0, NAN]),
    ]:
        assert_agreed(fun, [x], np.array(want).astype(dtype))


def test_integers_have_signs_and_the_least_no_magnitude():
    x = np.array([-128, 0, 127], "int8")
    assert_agreed(sign, [x], np.array([-1, 0, 1], "int8"))
    assert_agreed(abs_, [x], np.array([-128, 0, 127], "int8"))
    assert_agreed(sign, [x.view("uint8")], np.array([1, 0, 1], "uint8"))


@pytest.mark.parametrize("dtype", FLOATS)
def test_halves_go_away_from_zero_or_to_the_even_side(dtype):
    x = np.array([0.5, 1.5, 2.5, -0.5, -2.5, INF, -INF]).astype(dtype)
    away = np.array([1, 2, 3, -1, -3, INF, -INF]).astype(dtype)
    even = np.array([0, 2, 2, -0.0, -2, INF, -INF]).astype(dtype)
    assert_agreed(round_, [x], away)
    assert_agreed(lambda x: round_(x, RoundingMethod.TO_NEAREST_EVEN), [x], even)


def test_rounding_adds_no_half():
    below = np.nextafter(np.float32(0.5), np.float32(0))  # plus 0.5 it is 1.0
    odd = np.float32(2**23 + 1)  # plus 0.5 it is the even number above
    x = np.array([below, -below, odd, -odd], "float32")
    assert_agreed(round_, [x], np.array([0.0, -0.0, odd, -odd], "float32"))


def test_the_method_is_printed_as_in_jax_and_a_number_names_it():
    jaxpr = imprint.make_jaxpr(lambda x: round_(x, 1))(np.float32(1))
    assert " round[rounding_method=1] a" in str(jaxpr)
    with pytest.raises(ValueError, match="7 is not a valid RoundingMethod"):
        round_(np.float32(1), 7)


@pytest.mark.parametrize(
    ("fun", "x", "message"),
    [
        (round_, np.arange(2, dtype="int32"), "round: expected a float dtype"),
        (is_finite, np.arange(2, dtype="int32"), "is_finite: expected a float dtype"),
        (floor, np.zeros(2, "complex64"), "floor: expected a float dtype"),
        (
            abs_,
            np.zeros(2, "uint8"),
            "abs: expected a signed integer, float or complex",
        ),
        (sign, np.zeros(2, bool), "sign: expected a number"),
    ],
)
def test_other_dtypes_are_refused(fun, x, message):
    with pytest.raises(DTypeError, match=message):
        fun(x)


def test_the_derivative_of_abs_at_zero_is_that_of_the_right_side():
    x = np.array([-2.0, -0.0, 0.0, 2.0])
    got = tangent(abs_, [x], [np.full(4, 3.0)])
    np.testing.assert_array_equal(got, [-3, 3, 3, 3])


def test_steps_have_the_derivative_zero():
    x = np.array([0.0, 1.5, 2.0])
    for fun in (sign, floor, ceil, round_):
        np.testing.assert_array_equal(tangent(fun, [x], [np.ones(3)]), np.zeros(3))


def test_a_complex_magnitude_moves_along_and_a_sign_across():
    x = np.array([3 + 4j, 0, 2j])
    along, across = x.copy(), 1j * x
    np.testing.assert_allclose(tangent(abs_, [x], [along]), [5, 0, 2], rtol=1e-15)
    np.testing.assert_allclose(tangent(abs_, [x], [across]), [0, 0, 0], atol=1e-15)
    np.testing.assert_allclose(tangent(sign, [x], [along]), [0, 0, 0], atol=1e-15)
    turned = tangent(sign, [x], [across])
    np.testing.assert_allclose(turned, [-0.8 + 0.6j, 0, -1], atol=1e-15)


def test_the_gradient_of_a_complex_magnitude_is_that_of_jax():
    x = np.array([3 + 4j, 0, -1 - 2j, 5])
    assert_as_jax(pullback(imprint, abs_), pullback(jax, lax.abs), x)


def pullback(lib, fun):
    return lambda x: lib.vjp(fun, x)[1](np.arange(1.0, 5.0))

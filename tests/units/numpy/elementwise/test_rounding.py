"""Rounding to tens, hundreds and further: of integers, and beyond the dtype's range."""

import jax.numpy as jnp
import numpy as np
import pytest

import imprint
import imprint.numpy as inp

INTEGERS = ("int8", "uint8", "int16", "uint32", "int32")


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("zeros", [1, 2, 4, 9, 30])
def test_integers_round_as_those_of_python(dtype, zeros):
    info = np.iinfo(dtype)
    ties = [k * 10**zeros // 2 + d for k in range(-7, 8) for d in (-1, 0, 1)]
    values = [v for v in [*ties, info.min, info.max] if info.min <= v <= info.max]
    right = [round(v, -zeros) for v in values]
    fits = [info.min <= r <= info.max for r in right]
    x = inp.array(values, dtype)
    for f in (inp.round, imprint.jit(inp.round, static_argnums=1)):
        found = f(x, -zeros)
        assert found.dtype == dtype
        assert np.asarray(found)[fits].tolist() == np.array(right)[fits].tolist()


def test_numbers_that_are_beyond_a_dtype_round_to_zero():
    x = np.float32([1.5, -2.0, 3e38, np.inf, -np.inf, np.nan])
    for zeros in (39, 50, 10**6):
        found = np.asarray(inp.round(x, -zeros))
        np.testing.assert_array_equal(found, np.float32([0, -0.0, 0, *x[3:]]))
        assert np.signbit(found[1])
    assert imprint.grad(lambda x: inp.round(x, -50))(np.float32(np.inf)) == 0
    found = inp.round(np.float32([7e37, 4e37, 1.0]), -38)
    np.testing.assert_array_equal(found, np.float32([1e38, 0, 0]))
    assert inp.round(inp.float16(6e4), -5) == np.inf
    assert inp.round(inp.float16(4e4), -5) == 0


def test_ties_to_tens_are_those_of_numpy():
    x = np.arange(-2000, 2000, 5, dtype="float32")
    for zeros in (1, 2, 3):
        np.testing.assert_array_equal(inp.round(x, -zeros), np.round(x, -zeros))


def test_truth_values_have_no_tens():
    with pytest.raises(ValueError, match="expected decimals >= 0 for bool"):
        inp.round(inp.array([True]), -1)


def test_jax_does_not_round_integers():
    with pytest.raises(NotImplementedError):
        jnp.round(jnp.array([15]), -1)

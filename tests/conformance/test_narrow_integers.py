"""Integers below a byte outside of `jit`: NumPy computes some as int8, without cutting.

Every pair of values of a dtype goes through each function, here and in JAX; the results
equal those of JAX, and their host values have their dtype.
"""

import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import imprint
import imprint.numpy as inp
from tests import oracle

RANGES = {"int4": (-8, 8), "uint4": (0, 16), "int2": (-2, 2), "uint2": (0, 4)}
UNARY = ("neg", "bitwise_not", "sign", "clz")
BINARY = (
    *("add", "sub", "mul", "div", "rem", "max", "min"),
    *("bitwise_and", "bitwise_or", "bitwise_xor"),
    *("shift_left", "shift_right_arithmetic", "shift_right_logical"),
)


def _results(module, x, y):
    return {
        **{name: getattr(module, name)(x) for name in UNARY},
        **{name: getattr(module, name)(x, y) for name in BINARY},
        "cube": module.integer_pow(x, 3),
        "sum": module.reduce_sum(x * y, axes=(0,)),
    }


@pytest.mark.parametrize("dtype", RANGES)
def test_results_are_cut_to_the_width(dtype):
    values = np.arange(*RANGES[dtype])
    x, y = (np.array(n, np.int32) for n in np.meshgrid(values, values))

    def of_jax(x, y):
        x, y = x.astype(dtype), y.astype(dtype)
        return {k: v.astype("int32") for k, v in _results(lax, x, y).items()}

    expected = oracle.jit(of_jax)(jnp.asarray(x), jnp.asarray(y))
    x, y = (inp.asarray(n).astype(dtype) for n in (x, y))
    for name, out in _results(imprint.lax, x, y).items():
        assert np.asarray(out).dtype == out.dtype == dtype, name
        came = np.asarray(out).astype("int32")
        np.testing.assert_array_equal(came, expected[name], err_msg=name)


@pytest.mark.parametrize("dtype", ["int2", "uint2"])
def test_matrices_of_integers_of_two_bits(dtype):
    """The engine has no product of them."""
    x = inp.asarray(np.arange(16).reshape(4, 4) % 3).astype(dtype)
    for wide in (None, "int32"):
        product = imprint.jit(
            lambda x, wide=wide: inp.matmul(x, x.T, preferred_element_type=wide)
        )
        got, want = product(x), inp.matmul(x, x.T, preferred_element_type=wide)
        assert got.dtype == want.dtype == (wide or dtype)
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("dtype", ["int2", "uint2"])
def test_the_engine_survives_joined_and_searched_integers_of_two_bits(dtype):
    """XLA:CPU ends the process at some of the first, and refuses the second."""
    x = inp.asarray(np.array([1, 0, 1, 3, 0, 1])).astype(dtype)

    @imprint.jit
    def search(x):
        return inp.concatenate([x, x]), inp.argmax(x), inp.argmin(x)

    joined, *found = search(x)
    assert joined.dtype == dtype
    assert joined.tolist() == [*x.tolist(), *x.tolist()]
    assert [int(i) for i in found] == [int(inp.argmax(x)), int(inp.argmin(x))]


def test_the_least_int4_has_no_absolute_value():
    least = inp.array(-8, "int4")  # JAX has no `abs` of int4
    assert inp.abs(least).tolist() == imprint.jit(inp.abs)(least).tolist() == -8

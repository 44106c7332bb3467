"""Small matrices in stacks: kernels and LAPACK give the same factors and solutions."""

import numpy as np
import pytest

import imprint.numpy as inp
from imprint import lax
from imprint._src import runtime
from tests.units.primitives.formulations import by_kernels, calls_kernel

pytestmark = pytest.mark.skipif(
    not runtime.has_kernels(), reason=runtime.kernels_status()
)

SIZES = [1, 2, 3, 4, 5, 8]
DTYPES = ["float32", "float64"]
COUNT = 37  # no multiple of the matrices that are computed at once


def matrices(n, dtype, count=COUNT):
    return np.random.default_rng(n).normal(size=(count, n, n)).astype(dtype)


def positive(n, dtype, count=COUNT):
    x = matrices(n, np.float64, count)
    return (x @ x.swapaxes(1, 2) + 0.1 * np.eye(n)).astype(dtype)


def errors(found, truth):
    """Return the error of each matrix, in units of a rounding of its largest element."""
    most = np.abs(truth).max((-2, -1), keepdims=True)
    rounding = np.finfo(found.dtype).eps * np.maximum(most, np.finfo(found.dtype).tiny)
    return (np.abs(found - truth) / rounding).max((-2, -1))


def error(found, truth):
    """Return the largest error of all matrices."""
    return float(errors(found, truth).max())


def assert_as_exact(kernel, library, truth):
    assert error(kernel, truth) <= 2 * max(1.0, error(library, truth))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", SIZES)
def test_cholesky(n, dtype):
    x = positive(n, dtype, 2001)
    (ours,), (theirs,) = by_kernels(lax.linalg.cholesky, x)
    truth = np.zeros(x.shape, np.longdouble)
    for j in range(n):
        left = x[:, j:, j] - np.einsum("aik,ak->ai", truth[:, j:, :j], truth[:, j, :j])
        truth[:, j:, j] = left / np.sqrt(left[:, :1])
    # The largest error is that of the worst condition: LAPACK's luck with one matrix.
    assert errors(ours, truth).mean() <= 1.25 * max(0.5, errors(theirs, truth).mean())

    def backward(factor):
        factor = factor.astype(np.longdouble)
        return error((factor @ factor.swapaxes(1, 2)).astype(dtype), x)

    assert backward(ours) <= 2 * max(1.0, backward(theirs))
    np.testing.assert_array_equal(ours, np.tril(ours))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", SIZES)
def test_lu(n, dtype):
    x = matrices(n, dtype)
    ours, theirs = by_kernels(lax.linalg.lu, x)
    for a, b in zip(ours[1:], theirs[1:], strict=True):
        np.testing.assert_array_equal(a, b)
    rows = np.take_along_axis(x, ours[2][..., None], 1).astype(np.longdouble)

    def product(factor):
        factor = factor.astype(np.longdouble)
        return (np.tril(factor, -1) + np.eye(n)) @ np.triu(factor)

    def backward(factor):
        return error(product(factor).astype(dtype), rows.astype(dtype))

    assert backward(ours[0]) <= 2 * max(1.0, backward(theirs[0]))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("n", [1, 3, 8])
def test_triangular_solve(n, lower, transposed, unit, dtype):
    x = (0.2 * matrices(n, dtype) + np.eye(n)).astype(dtype)
    y = matrices(n, dtype)[..., : max(1, n - 1)]

    def solve(x, y):
        return lax.linalg.triangular_solve(
            x,
            y,
            left_side=True,
            lower=lower,
            transpose_a=transposed,
            unit_diagonal=unit,
        )

    (ours,), (theirs,) = by_kernels(solve, x, y)
    wide = np.longdouble if dtype == "float64" else np.float64
    a = (np.tril(x) if lower else np.triu(x)).astype(wide)
    if unit:
        a = a * (1 - np.eye(n)) + np.eye(n)
    a = a.swapaxes(1, 2) if transposed else a
    truth = y.astype(wide)
    for i in range(n) if lower != transposed else reversed(range(n)):
        truth[:, i] /= a[:, i, i, None]
        rest = [j for j in range(n) if (j > i) == (lower != transposed) and j != i]
        truth[:, rest] -= a[:, rest, i, None] * truth[:, None, i]
    assert_as_exact(ours, theirs, truth)


@pytest.mark.parametrize("dtype", DTYPES)
def test_what_has_no_factor(dtype):
    """Not positive: NaN everywhere, and nowhere else in the stack."""
    x = positive(3, dtype)
    x[1] = -x[1]
    x[2, 1, 1] = np.nan
    x[3] = 0
    x[4, 2, 2] = np.inf
    (ours,), (theirs,) = by_kernels(lax.linalg.cholesky, x)
    np.testing.assert_array_equal(np.isnan(ours), np.isnan(theirs))
    np.testing.assert_array_equal(np.isinf(ours), np.isinf(theirs))
    for bad in (1, 3):
        assert np.isnan(ours[bad][np.tril_indices(3)]).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_singular_matrices(dtype):
    x = matrices(3, dtype, 5)
    x[0] = 0
    x[1, :, 1] = 0
    x[2, 1] = x[2, 0]
    x[3] = np.eye(3)[::-1]
    ours, theirs = by_kernels(lax.linalg.lu, x)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-6)
    zeros = np.zeros((2, 3, 3), dtype)
    (ours,), (theirs,) = by_kernels(
        lambda x, y: lax.linalg.triangular_solve(x, y, left_side=True, lower=True),
        zeros,
        np.ones((2, 3, 1), dtype),
    )
    np.testing.assert_array_equal(np.isfinite(ours), np.isfinite(theirs))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("n", [1, 2, 3, 8])
@pytest.mark.parametrize("name", ["inv", "solve"])
def test_what_is_not_finite_is_nan_where_lapack_says_so(name, n, bad):
    """The kernels spread NaN further where LAPACK's comparisons skip it."""
    places = [(i, j) for i in range(n) for j in range(n)]
    x = np.repeat(matrices(n, "float32", 1), len(places) + 1, axis=0)
    for k, at in enumerate(places):
        x[(k, *at)] = bad
    right = matrices(n, "float32", 1)[..., :1].repeat(len(x), axis=0)
    functions = {
        "inv": (inp.linalg.inv, x),
        "solve": (inp.linalg.solve, x, right),
    }
    (ours,), (theirs,) = by_kernels(*functions[name])
    missed = np.isnan(theirs) & ~np.isnan(ours)
    assert not missed.any(), np.argwhere(missed)
    assert np.isfinite(ours[-1]).all()  # the others of a stack stay as they are
    np.testing.assert_allclose(ours[-1], theirs[-1], rtol=1e-3, atol=1e-4)


def test_compositions_call_kernels():
    x = matrices(4, "float32")
    for function in (inp.linalg.inv, inp.linalg.det, lambda x: inp.linalg.solve(x, x)):
        assert calls_kernel(function, x)
        for ours, theirs in zip(*by_kernels(function, x), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("shape", [(2, 9, 9), (2, 3, 4)])
def test_others_stay_with_lapack(shape):
    assert not calls_kernel(lax.linalg.lu, np.ones(shape, np.float32))


def test_complex_matrices_stay_with_lapack():
    assert not calls_kernel(lax.linalg.lu, np.ones((2, 3, 3), np.complex64))

"""The derivative of a determinant is that of its formula, for singular matrices too."""

import numpy
import pytest

import imprint
import imprint.numpy as np


def cofactors(x):
    """Return the transposed adjugate by minors."""
    out = numpy.empty_like(x)
    for i, j in numpy.ndindex(x.shape):
        minor = numpy.delete(numpy.delete(x, i, 0), j, 1)
        out[i, j] = (-1) ** (i + j) * numpy.linalg.det(minor)
    return out


SINGULAR = {
    "the first pivot is 0": numpy.diag([0.0, 2.0, 3.0, 4.0]),
    "an inner pivot is 0": numpy.diag([2.0, 0.0, 3.0, 4.0, 1.0]),
    "the last pivot is 0": numpy.diag([2.0, 3.0, 4.0, 0.0]),
    "two pivots are 0, and the rank is 3": numpy.diag([1.0, 2.0, 3.0], 1),
    "the rank is 2": numpy.diag([0.0, 0.0, 3.0, 4.0]),
    "none is 0": numpy.diag([2.0, 3.0, 4.0, 5.0]) + 1,
}


@pytest.mark.parametrize("name", SINGULAR)
def test_the_derivative_is_the_adjugate(name):
    x = SINGULAR[name].astype("float32")
    want = cofactors(x.astype("float64"))
    for run in (lambda f: f, imprint.jit):
        got = run(imprint.grad(np.linalg.det))(x)
        numpy.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)


INF, NAN = numpy.inf, numpy.nan
NOT_FINITE = [
    [[INF]],
    [[-INF]],
    [[NAN]],
    [[INF, 1.0], [2.0, 3.0]],
    [[1.0, INF], [2.0, 3.0]],
    [[1.0, 2.0], [NAN, 3.0]],
    [[INF, INF], [INF, INF]],
    [[INF, 0.0], [0.0, 0.0]],
    [[-INF, 0.0, 0.0], [0.0, 2.0, 1.0], [0.0, 1.0, 3.0]],
]


@pytest.mark.parametrize("rows", NOT_FINITE, ids=str)
def test_slogdet_of_what_is_not_finite(rows):
    x = numpy.array(rows, numpy.float32)
    with numpy.errstate(all="ignore"):
        sign, size = numpy.linalg.slogdet(x)
    want = numpy.where(numpy.isnan(size), NAN, sign), size  # NumPy has a sign for NaN
    for call in (np.linalg.slogdet, imprint.jit(np.linalg.slogdet)):
        numpy.testing.assert_array_equal(call(np.asarray(x)), want)

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

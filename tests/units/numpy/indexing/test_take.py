"""take, take_along_axis, put_along_axis and nonzero as in JAX, eager and compiled."""

import jax.numpy as jnp
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint.errors import ArgumentError, ConcretizationError
from tests import oracle

X = np.arange(12, dtype=np.float32).reshape(3, 4)
INDICES = np.array([[2, -1, 0], [5, -7, 1]], np.int32)


def of(np):
    def run(x, i):
        row = i[:, :1] % 4
        return [
            *(np.take(x, i, axis, mode=m) for axis in (None, 0, 1) for m in MODES),
            np.take(x, i, 1, fill_value=-5.0),
            np.take(x, 2, axis=1),
            np.take_along_axis(x[:2], i, 1),
            np.take_along_axis(x[:2], i, 1, mode="clip"),
            np.take_along_axis(x[:2], i[:1], 1, mode="one_hot"),
            np.take_along_axis(x, i[0], None),
            np.put_along_axis(x[:2], row, 9.0, 1, inplace=False),
            *np.nonzero(x % 5 < 2, size=4),
            *np.nonzero(x % 5 < 2, size=9, fill_value=(-1, 7)),
            np.flatnonzero(x > 9, size=4, fill_value=99),
        ]

    return run


MODES = (None, "clip", "wrap")


def test_they_are_those_of_jax():
    want = oracle.jit(of(jnp))(X, INDICES)
    for got in (
        of(inp)(inp.asarray(X), inp.asarray(INDICES)),
        imprint.jit(of(inp))(X, INDICES),
    ):
        for k, (a, b) in enumerate(zip(got, want, strict=True)):
            np.testing.assert_array_equal(np.asarray(a), b, str(k))
            assert a.dtype == b.dtype


def test_without_size_nonzero_is_that_of_numpy():
    for got, want in zip(inp.asarray(X % 3).nonzero(), np.nonzero(X % 3), strict=True):
        np.testing.assert_array_equal(got, want)
    assert inp.flatnonzero(inp.asarray([0, 2, 0, 1])).tolist() == [1, 3]
    assert inp.asarray(X).take(inp.asarray([1, 5])).tolist() == [1, 5]


def test_errors():
    with pytest.raises(ConcretizationError) as caught:
        imprint.jit(inp.nonzero)(X)
    assert str(caught.value).startswith(
        "nonzero: expected size, as the number of places in float32[3,4] is not known "
        "while tracing. Write nonzero(x, size=n), or mark elements with "
        "imprint.numpy.where."
    )
    with pytest.raises(ArgumentError, match="put_along_axis: expected inplace=False"):
        inp.put_along_axis(X, INDICES[:1, :1], 0, 0)
    with pytest.raises(TypeError, match="take: expected indices of an integer dtype"):
        inp.take(X, 1.5)

"""Values between the points of a grid, and the nearest codes: those of JAX and SciPy."""

import numpy as np
import pytest
import scipy.cluster.vq
import scipy.interpolate

import imprint
import imprint.numpy as inp
from imprint.errors import ArgumentError, DTypeError, ShapeError
from imprint.scipy.cluster.vq import vq
from imprint.scipy.interpolate import RegularGridInterpolator
from tests.oracle import jax

RNG = np.random.default_rng(1)
GRID = np.array([0.0, 1.0, 2.5, 4.0]), np.array([-1.0, 0.0, 3.0])
VALUES = RNG.standard_normal((4, 3)).astype(np.float32)
POINTS = np.stack(
    [RNG.uniform(-0.5, 4.5, (5, 4)), RNG.uniform(-1.5, 3.5, (5, 4))], -1
).astype(np.float32)
CORNERS = np.array([[0.0, -1.0], [4.0, 3.0], [1.0, 0.0], [0.5, 1.5]], np.float32)
Theirs = jax.scipy.interpolate.RegularGridInterpolator


def message(error, fun, *args, **kwargs):
    with pytest.raises(error) as caught:
        fun(*args, **kwargs)
    return str(caught.value)


@pytest.mark.parametrize(
    ("method", "fill"), [("linear", 7), ("linear", None), ("nearest", float("nan"))]
)
def test_values_are_those_of_jax_and_scipy(method, fill):
    ours = RegularGridInterpolator(GRID, VALUES, method, fill_value=fill)
    theirs = Theirs(GRID, VALUES, method, fill_value=fill)
    scipys = scipy.interpolate.RegularGridInterpolator(
        GRID, VALUES, method, bounds_error=False, fill_value=fill
    )
    for points in (POINTS, CORNERS):
        out = imprint.jit(lambda f, x: f(x))(ours, inp.asarray(points))
        np.testing.assert_allclose(out, theirs(points), rtol=1e-5, atol=1e-6)
        assert out.dtype == np.float32
        if method == "linear":  # of two nearest SciPy takes another one
            np.testing.assert_allclose(out, scipys(points), rtol=1e-4, atol=1e-5)


def test_further_axes_methods_and_separate_coordinates():
    values = np.stack([VALUES, 2 * VALUES], -1)
    ours, theirs = RegularGridInterpolator(GRID, values), Theirs(GRID, values)
    np.testing.assert_allclose(ours(POINTS), theirs(POINTS), rtol=1e-5)
    apart = POINTS[..., 0], POINTS[..., 1]
    np.testing.assert_allclose(ours(apart), theirs(apart), rtol=1e-5)
    np.testing.assert_allclose(
        ours(POINTS, "nearest"), theirs(POINTS, method="nearest"), rtol=1e-6
    )
    line = RegularGridInterpolator(GRID[:1], VALUES[:, 0])
    np.testing.assert_allclose(
        line(np.array([0.5, 3.0])),
        np.interp([0.5, 3.0], GRID[0], VALUES[:, 0]),
        rtol=1e-6,
    )


def test_the_values_have_a_derivative():
    inside = np.clip(POINTS, [0, -1], [4, 3]).astype(np.float32)

    def loss(kind, values):
        return (kind(GRID, values)(inside) ** 2).sum()

    ours = imprint.grad(lambda v: loss(RegularGridInterpolator, v))(inp.asarray(VALUES))
    theirs = jax.grad(lambda v: loss(Theirs, v))(VALUES)
    np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)


def test_an_invalid_grid_raises():
    make = RegularGridInterpolator
    assert message(ArgumentError, make, GRID, VALUES, "cubic") == (
        "RegularGridInterpolator: expected method 'linear' or 'nearest', got 'cubic'."
    )
    assert "does not raise for a value" in message(
        ArgumentError, make, GRID, VALUES, bounds_error=True
    )
    assert message(ShapeError, make, GRID[::-1], VALUES) == (
        "RegularGridInterpolator: expected for each axis of the values a vector of as "
        "many coordinates, got vectors of shapes [(3,), (4,)] for values of shape (4, 3)."
    )
    assert message(DTypeError, make, GRID, VALUES, fill_value=1j) == (
        "RegularGridInterpolator: expected a fill_value that float32 holds, got "
        "~complex64[]. Give one of that kind, or None."
    )
    assert message(ShapeError, make(GRID, VALUES), np.ones((2, 3))) == (
        "RegularGridInterpolator: expected points of 2 coordinates along the last axis, "
        "got float64[2,3]."
    ).replace("float64", "float32")


@pytest.mark.parametrize("columns", [(), (3,)])
def test_codes_are_those_of_scipy(columns):
    obs = RNG.standard_normal((9, *columns)).astype(np.float32)
    codes = RNG.standard_normal((4, *columns)).astype(np.float32)
    for found, expected in zip(
        imprint.jit(vq)(inp.asarray(obs), inp.asarray(codes)),
        scipy.cluster.vq.vq(obs, codes),
        strict=True,
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-5)
    assert message(ShapeError, vq, inp.ones((2, 3)), inp.ones(3)) == (
        "vq: expected two vectors, or two matrices of equal rows, got float32[2,3] and "
        "float32[3]. Give a row for each observation and for each code."
    )

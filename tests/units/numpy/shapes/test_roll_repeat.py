"""roll and repeat by traced numbers, as in JAX."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint import lax
from imprint.errors import DTypeError, ShapeError

X = np.arange(12.0, dtype=np.float32).reshape(3, 4)


@pytest.mark.parametrize("shift", [0, 2, -3, 7, 100])
@pytest.mark.parametrize("axis", [None, 0, -1, (0, 1)])
def test_a_shift_that_is_traced(shift, axis):
    rolled = imprint.jit(lambda x, s: inp.roll(x, s, axis))
    np.testing.assert_array_equal(rolled(X, shift), np.roll(X, shift, axis))
    eager = inp.roll(X, inp.array(shift), axis)
    np.testing.assert_array_equal(eager, np.roll(X, shift, axis))
    assert rolled.versions[0].jaxpr.out_avals[0].shape == X.shape


def test_a_shift_for_each_axis():
    expected = np.roll(X, (2, -1), (1, 0))
    np.testing.assert_array_equal(
        imprint.jit(lambda s: inp.roll(X, (s, -1), (1, 0)))(2), expected
    )
    np.testing.assert_array_equal(inp.roll(X, inp.array([2, -1]), (1, 0)), expected)
    assert imprint.jit(lambda s: inp.roll(inp.ones((0, 2)), s, 0))(1).shape == (0, 2)


def test_in_loops_batches_and_gradients():
    row = X[0]
    np.testing.assert_array_equal(
        lax.fori_loop(0, 3, lambda i, x: inp.roll(x, i), row),
        jax.lax.fori_loop(0, 3, lambda i, x: jnp.roll(x, i), row),
    )
    shifts = np.arange(3)
    np.testing.assert_array_equal(
        imprint.vmap(lambda s: inp.roll(row, s))(shifts),
        jax.vmap(lambda s: jnp.roll(row, s))(shifts),
    )
    slope = imprint.grad(lambda x, s: (inp.roll(x, s) * row).sum())
    np.testing.assert_array_equal(slope(row, inp.array(1)), np.roll(row, -1))


@pytest.mark.parametrize(
    ("repeats", "total"),
    [
        ([1, 1, 1, 0, 2, 1], 6),
        ([1, 1, 1, 0, 2, 0], 9),
        ([3, 1, 1, 0, 2, 0], 4),
        ([0, 0, 0, 0, 0, 2], 2),
        ([2], 12),
        (2, 5),
    ],
)
def test_counts_that_are_traced(repeats, total):
    counts = np.array(repeats)
    for x, axis in ((X.reshape(6, 2), 0), (X.reshape(2, 6), 1), (X[0, :1], None)):
        if axis is None and counts.size > 1:
            continue

        def ours(counts, x=x, axis=axis):
            return inp.repeat(x, counts, axis, total_repeat_length=total)

        def theirs(counts, x=x, axis=axis):
            return jnp.repeat(x, counts, axis, total_repeat_length=total)

        expected = jax.jit(theirs)(counts)
        np.testing.assert_array_equal(imprint.jit(ours)(counts), expected)
        np.testing.assert_array_equal(ours(counts), expected)


NAN = np.array([[1.0, np.nan, 3.0, 5.0]] * 3, np.float32)
OF_ONE = {
    "eye": lambda library, k: library.eye(3, 4, k=k),
    "tri": lambda library, k: library.tri(3, 4, k=k),
    "trace": lambda library, k: library.trace(X, k),
    "nanvar": lambda library, k: library.nanvar(NAN, ddof=k),
    "nanstd": lambda library, k: library.nanstd(NAN, ddof=k, axis=1),
}


@pytest.mark.parametrize("k", [-1, 0, 1, 2])
@pytest.mark.parametrize("name", OF_ONE)
def test_a_number_that_is_traced(name, k):
    ours = imprint.jit(lambda k: OF_ONE[name](inp, k))(k)
    theirs = jax.jit(lambda k: OF_ONE[name](jnp, k))(k)
    np.testing.assert_allclose(ours, theirs, rtol=1e-6)
    assert (ours.dtype, ours.weak_type) == (theirs.dtype, theirs.weak_type)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda s: inp.roll(X, s * 1.5),
            DTypeError,
            "roll: expected shift to be integers, got ~float32[]. Round it: "
            "`.astype(int)`.",
        ),
        (
            lambda s: inp.eye(3, k=s * 1.5),
            DTypeError,
            "eye: expected k to be an integer, got ~float32[]. Round it.",
        ),
        (
            lambda s: inp.roll(X, (s, s, s), (0, 1)),
            ShapeError,
            "roll: expected a shift for each axis, got 3 for axes [0, 1]. One shift "
            "stands for all.",
        ),
        (
            lambda s: inp.repeat(X, inp.ones(2, int) * s, 0, total_repeat_length=4),
            ShapeError,
            "repeat: expected a number for each of the 3 elements along axis 0, got "
            "int32[2]. One number stands for all.",
        ),
    ],
)
def test_an_invalid_number_raises(call, error, text):
    with pytest.raises(error) as raised:
        imprint.jit(call)(1)
    assert str(raised.value).startswith(text)


def test_a_constant_array_of_counts_under_jit():
    counts = inp.array([1, 0, 2])
    held = imprint.jit(lambda x: inp.repeat(x, counts, axis=0))
    np.testing.assert_array_equal(held(X), np.repeat(X, counts, axis=0))
    filled = imprint.jit(lambda x: inp.repeat(x, counts, 0, total_repeat_length=4))
    np.testing.assert_array_equal(filled(X), X[[0, 2, 2, 2]])

"""insert, delete, put and place as in JAX, eager and compiled."""

import jax.numpy as jnp
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint.errors import ArgumentError, ConcretizationError, DTypeError, ShapeError
from tests import oracle

X = np.arange(12, dtype=np.float32).reshape(3, 4)
PLACES = np.array([3, 1, -1], np.int32)
TWICE = np.array([2, 0, 2])
MASK = np.array([True, False, True, False])


def of(np):
    def run(x, places):
        return [
            *(np.insert(x, i, 9.5, axis) for i in (0, -1, 4) for axis in (None, 0, 1)),
            np.insert(x, 1, x[:, 0], 1),
            np.insert(x, np.array([1]), x[:, :2], 1),
            np.insert(x, slice(0, 3, 2), x[:1], axis=0),
            np.insert(x.astype("int32"), np.array([2, 2, 0]), np.array([7, 8.6, 9])),
            np.insert(x, places, np.array([7, 8, 9]), 1),
            np.insert(x, places[0], 5, 0),
            np.insert(x, np.zeros(0, int), 5, 0),
            *(np.delete(x, i, axis) for i in (0, -1, 2) for axis in (None, 0, 1)),
            np.delete(x, slice(3, None, -2), 1),
            np.delete(x, TWICE, 0),
            np.delete(x, MASK, 1),
            np.delete(x, np.array([[1, 3], [0, 5]]), assume_unique_indices=True),
            np.delete(x, places[:2], 1, assume_unique_indices=True),
            np.delete(x, places[2], 1, assume_unique_indices=True),
            *(np.put(x, places * 5, v, m, inplace=False) for v in VS for m in MODES),
            np.put(x, places[:0], 3.0, inplace=False),
            np.put(x.astype("int8"), places.astype("int8"), places, inplace=False),
            np.place(x, x % 2 > 0, x[0, 1:] * 10, inplace=False),
            np.place(x, x.reshape(4, 3) > 7, x, inplace=False),
            np.place(x.astype("int32"), x > 5, 3, inplace=False),
        ]

    return run


VS = (5.0, np.array([[1.0, 2.0]]), np.arange(9.0))
MODES = (None, "clip", "wrap")


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_they_are_those_of_jax():
    want = oracle.jit(of(jnp))(X, PLACES)
    for got in (
        of(inp)(inp.asarray(X), inp.asarray(PLACES)),
        imprint.jit(of(inp))(X, PLACES),
    ):
        for k, (a, b) in enumerate(zip(got, want, strict=True)):
            np.testing.assert_array_equal(np.asarray(a), b, str(k))
            assert (a.dtype, a.weak_type) == (b.dtype, b.weak_type), k


def test_where_elements_went_is_where_cotangents_come_from():
    def total(np):
        def run(x, v):
            x = np.place(np.put(x, PLACES, v, inplace=False), x > 9, v, inplace=False)
            both = np.insert(np.delete(x, 1, 0), np.array([1, 0]), v[:2], 1)
            return (both * np.arange(12.0).reshape(2, 6)).sum()

        return run

    want = oracle.jit(oracle.jax.grad(total(jnp), (0, 1)))(X, X[0, :3])
    got = imprint.jit(imprint.grad(total(inp), (0, 1)))(X, X[0, :3])
    for a, b in zip(got, want, strict=True):
        np.testing.assert_array_equal(a, b)


ERRORS = {
    "insert": (
        lambda: inp.insert(X, [0, 1], X, 0),
        ShapeError,
        "insert: expected values that are repeated to (2, 4), an index each, got "
        "float32[3,4]. Give one value for each index of axis 0.",
    ),
    "insert by a mask": (
        lambda: inp.insert(X, [True, False], 1),
        DTypeError,
        "insert: expected indices of an integer dtype, got bool[2]. Convert them with "
        ".astype('int32').",
    ),
    "insert by a matrix": (
        lambda: inp.insert(X, [[1]], 1),
        ShapeError,
        "insert: expected an integer, one axis of integers or a slice, got int32[1,1]. "
        "Ravel it.",
    ),
    "delete": (
        lambda: inp.delete(X, 3, 0),
        IndexError,
        "delete: expected indices in [-3, 3) for axis 0 of float32[3,4], got 3. Check them "
        "against x.shape[0].",
    ),
    "delete traced": (
        lambda: imprint.jit(inp.delete)(X, PLACES),
        ConcretizationError,
        "delete: expected indices that are known while tracing, got int32[3]. How many "
        "are distinct says how long the result is: promise that all are, with "
        "assume_unique_indices=True.",
    ),
    "delete by a mask": (
        lambda: inp.delete(X, [True], 0),
        ShapeError,
        "delete: expected a mask of shape (3,), that of axis 0, got one of shape (1,). "
        "Compare an array of that shape.",
    ),
    "put": (
        lambda: inp.put(X, PLACES, 1),
        ArgumentError,
        "put: expected inplace=False, got True. Arrays are immutable: write "
        "x = put(x, ..., inplace=False).",
    ),
    "put and raise": (
        lambda: inp.put(X, PLACES, 1, "raise", inplace=False),
        NotImplementedError,
        "put: expected the mode 'clip' or 'wrap' or None, got 'raise'. Values cannot raise "
        "inside a compiled function: leave it out.",
    ),
    "put otherwise": (
        lambda: inp.put(X, PLACES, 1, "drop", inplace=False),
        ArgumentError,
        "put: expected the mode 'clip' or 'wrap' or None, got 'drop'. Without one, "
        "negative indices count from the end.",
    ),
    "place": (
        lambda: inp.place(X, [True], 1, inplace=False),
        ShapeError,
        "place: expected a mask with as many elements as the array, and a value at least, "
        "got float32[3,4], bool[1] and ~int32[].",
    ),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors(case):
    call, kind, text = ERRORS[case]
    with pytest.raises(kind) as caught:
        call()
    assert str(caught.value).startswith(text)


def test_no_places_are_known_under_a_trace():
    x = inp.arange(3)
    assert imprint.jit(lambda x: inp.delete(x, []))(x).tolist() == [0, 1, 2]
    inserted = imprint.jit(lambda x: inp.insert(x, [], 5))(x)
    assert inserted.tolist() == [0, 1, 2]

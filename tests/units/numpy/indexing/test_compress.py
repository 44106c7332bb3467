"""Selection by conditions as in JAX: argwhere, extract, compress, choose and where."""

import jax.numpy as jnp
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint.errors import ArgumentError, ConcretizationError, DTypeError, ShapeError
from tests import oracle

X = np.array([[3, 0, 1, 4], [0, -2, 5, 0], [7, 6, 0, 9]], np.float32)
NUMBERS = np.array([[2, -1], [5, 0]], np.int8)


def of(np):
    def run(x, numbers):
        rows = [x[0, :2], 7.5, x[:2, 2:], np.arange(2)]
        return [
            *np.where(x > 2, size=4),
            *np.where(x > 2, size=9, fill_value=-1),
            np.argwhere(x, size=9, fill_value=-1),
            np.argwhere(x[0, 0], size=2),
            np.extract(x > 2, x, size=8, fill_value=-1),
            np.extract(x[:, 0] > 0, x, size=3),
            np.compress(x[:, 0] > 0, x, 0, size=3, fill_value=8.5),
            np.compress(x[1] > 0, x, -1, size=2),
            np.compress(x[:, 2] > 0, x, size=3),
            np.compress(x[0] > 0, x, axis=0, size=1),
            *np.mask_indices(3, np.tril, -1, size=4),
            np.choose(numbers, rows, mode="clip"),
            np.choose(numbers, rows, mode="wrap"),
            np.choose(numbers, x[:, :2], mode="wrap"),
            np.choose(numbers, [1, 2], mode="clip"),
            x.compress(x[:, 0] > 0, axis=0, size=2),
            numbers.choose([x[0, 0], x[0, 1], 1], mode="wrap"),
        ]

    return run


def test_they_are_those_of_jax():
    want = oracle.jit(of(jnp))(X, NUMBERS)
    for got in (
        of(inp)(inp.asarray(X), inp.asarray(NUMBERS)),
        imprint.jit(of(inp))(X, NUMBERS),
    ):
        for k, (a, b) in enumerate(zip(got, want, strict=True)):
            np.testing.assert_array_equal(np.asarray(a), b, str(k))
            assert (a.dtype, a.weak_type) == (b.dtype, b.weak_type), k


def test_outside_a_trace_values_decide_the_length_of_results():
    def run(np, x):
        return [
            *np.where(x > 2),
            *np.where(x[1]),
            np.argwhere(x > 2),
            np.argwhere(x[0, 0]),
            np.argwhere(x[0, 1]),
            np.extract(x > 2, x),
            np.compress(x[:, 0] > 0, x, 0),
            np.compress(np.asarray([True, False, True, False, False]), x[0]),
            *np.mask_indices(3, np.triu),
            np.choose(np.asarray([1, 0, 2, 1]), x),
        ]

    for a, b in zip(run(inp, inp.asarray(X)), run(jnp, jnp.asarray(X)), strict=True):
        np.testing.assert_array_equal(np.asarray(a), b)
        assert a.dtype == b.dtype
    mask = np.array([True, False, True])
    got = imprint.jit(lambda x: inp.compress(mask, x, 0))(X)
    np.testing.assert_array_equal(got, X[mask])


def test_selected_elements_pass_their_cotangent():
    def total(np):
        return lambda x: (
            np.extract(x > 2, x, size=8) @ np.arange(8.0)
            + (np.choose(NUMBERS, x[:, :2], mode="wrap") ** 2).sum()
        )

    want = oracle.jit(oracle.jax.grad(total(jnp)))(X)
    np.testing.assert_array_equal(imprint.jit(imprint.grad(total(inp)))(X), want)


UNKNOWN = (
    "expected size, as the number of places in {} is not known while tracing. Write "
)
ERRORS = {
    "where": (
        lambda: imprint.jit(inp.where)(X),
        ConcretizationError,
        f"where: {UNKNOWN.format('float32[3,4]')}where(x, size=n), or mark elements with "
        "imprint.numpy.where.",
    ),
    "where of values": (
        lambda: inp.where(X > 0, X, 0, size=3),
        ArgumentError,
        "where: expected size and fill_value beside a condition alone, got both values. "
        "Leave them out: the result has the shape of the values.",
    ),
    "negative size": (
        lambda: inp.argwhere(X, size=-1),
        ArgumentError,
        "argwhere: expected a size of at least 0, got -1. It is how many places are "
        "returned.",
    ),
    "extract": (
        lambda: imprint.jit(inp.extract)(X, X),
        ConcretizationError,
        f"extract: {UNKNOWN.format('bool[12]')}extract(condition, x, size=n), or mark "
        "elements with imprint.numpy.where.",
    ),
    "compress": (
        lambda: inp.compress(X, X),
        ShapeError,
        "compress: expected a condition of one axis, got bool[3,4]. Ravel it, or write "
        "imprint.numpy.extract.",
    ),
    "compress too many": (
        lambda: inp.compress(X[0], X, 0, size=4),
        ArgumentError,
        "compress: expected a size from 0 to 3, the number of slices, got 4. No more can "
        "be chosen.",
    ),
    "compress outside": (
        lambda: inp.compress([False, True], X[0, :1]),
        ArgumentError,
        "compress: expected a condition that holds for some of 1 slices, got one that "
        "holds for slice 1. Shorten it.",
    ),
    "choose floats": (
        lambda: inp.choose(X, [1, 2]),
        DTypeError,
        "choose: expected integers, got float32[3,4]. Choose by booleans with "
        "imprint.numpy.where.",
    ),
    "choose outside": (
        lambda: inp.choose(inp.asarray([0, 3]), [1, 2]),
        ArgumentError,
        "choose: expected numbers from 0 to 1, got 0 to 3. Write mode='clip' or "
        "mode='wrap'.",
    ),
    "choose traced": (
        lambda: imprint.jit(lambda i: inp.choose(i, [1, 2]))(NUMBERS[0]),
        ConcretizationError,
        "choose: expected numbers that are known, for the mode 'raise', got int32[2]. "
        "Write mode='clip' or mode='wrap' in what is traced.",
    ),
    "choose among none": (
        lambda: inp.choose(NUMBERS, []),
        ArgumentError,
        "choose: expected a choice at least, and the mode 'raise', 'wrap' or 'clip', got 0 "
        "and 'raise'.",
    ),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors(case):
    call, kind, text = ERRORS[case]
    with pytest.raises(kind) as caught:
        call()
    assert str(caught.value).startswith(text)

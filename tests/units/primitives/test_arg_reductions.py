"""argmax and argmin: NaN, ties, infinities, bools, and invalid arguments."""

import numpy as np
import pytest

import imprint
from imprint._src.primitives.arg_reductions import argmax, argmin
from imprint.errors import DTypeError, ShapeError
from tests.units.primitives.agreement import assert_agreed
from tests.units.primitives.formulations import both, texts

NAN, INF = np.nan, np.inf


def message(error, fun, *args):
    with pytest.raises(error) as caught:
        fun(*args)
    return str(caught.value)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize(
    ("values", "most", "least"),
    [
        ([1, 3, 3, 1, 0, 0], 1, 4),
        ([NAN, 1, NAN], 0, 0),
        ([5, 1, NAN, 9, NAN], 2, 2),
        ([-INF, -INF], 0, 0),
        ([INF, INF], 0, 0),
        ([0.0, -0.0, 0.0], 0, 0),
    ],
)
def test_the_first_extreme_or_nan(dtype, values, most, least):
    x = np.array(values, np.float64).astype(dtype)
    assert_agreed(lambda x: argmax(x, 0, "int32"), [x], np.int32(most))
    assert_agreed(lambda x: argmin(x, 0, "int32"), [x], np.int32(least))


def test_all_least_integers_and_bools():
    assert_agreed(lambda x: argmax(x, 0, "uint8"), [np.zeros(3, np.uint8)], np.uint8(0))
    x = np.array([[False, True], [False, False]])
    assert_agreed(lambda x: argmax(x, 1, "int64"), [x], np.array([1, 0]))
    assert_agreed(lambda x: argmin(x, 1, "int64"), [x], np.array([0, 0]))


def test_a_gradient_passes_by():
    x = np.array([1.0, 3.0], np.float32)
    found = imprint.grad(lambda x: x[0] * argmax(x, 0, "int32"))(x)
    np.testing.assert_array_equal(found, [1.0, 0.0])


def test_an_axis_without_elements():
    assert message(ShapeError, argmax, np.zeros((3, 0), np.float32), 1, "int32") == (
        "argmax: expected an axis with an element, got axis 1 of float32[3,0]. "
        "Check the length before."
    )


@pytest.mark.parametrize(("length", "dtype"), [(300, "int8"), (2, "float32")])
def test_an_index_dtype_that_cannot_count(length, dtype):
    assert message(DTypeError, argmin, np.zeros(length, np.float32), 0, dtype) == (
        f"argmin: expected an integer dtype that counts to {length - 1}, got "
        f"index_dtype={dtype}. Pass a wider one, such as int32."
    )


def test_complex_numbers():
    assert message(DTypeError, argmax, np.zeros(2, np.complex64), 0, "int32") == (
        "argmax: expected a real or bool dtype, got complex64[2]. Convert it with "
        "`.astype(...)`, or call imprint.numpy, which promotes."
    )


# ---- the extreme, then its index ----


def many(dtype, shape):
    """Return arrays with ties, zeros of both signs, infinities, NaN, and without."""
    random = np.random.default_rng(0)
    if np.dtype(dtype).kind in "iu":
        info = np.iinfo(dtype)
        yield random.integers(0, 50, shape).astype(dtype)
        yield random.choice(np.array([info.min, info.max, 0, 1], dtype), shape)
        return
    yield random.normal(size=shape).astype(dtype)
    for values in ([0.0, -0.0], [-INF], [INF, 1, -INF], [*[1.0] * 99_999, NAN], [NAN]):
        yield random.choice(np.array(values, dtype), shape)
    x = np.zeros(shape, dtype)
    x.flat[-1] = 1.0  # in the last block alone
    yield x
    yield -x


@pytest.mark.parametrize("find", [argmax, argmin])
@pytest.mark.parametrize(
    ("shape", "axis", "dtype"),
    [
        ((70_001,), 0, "float32"),
        ((65_536,), 0, "float64"),
        ((300, 150), 0, "float32"),
        ((3, 120, 100), 1, "float64"),
        ((300, 150), 0, "int32"),
        ((300, 150), 0, "uint64"),
    ],
)
def test_the_first_extreme_of_many(find, shape, axis, dtype):
    name = find.__name__
    for x in many(dtype, shape):
        fast, plain = both(lambda x: find(x, axis, "int32"), x)
        np.testing.assert_array_equal(fast, getattr(np, name)(x, axis))
        np.testing.assert_array_equal(fast, plain)
    fast, plain = texts(lambda x: find(x, axis, "int32"), x)
    assert fast != plain


@pytest.mark.parametrize(
    ("shape", "axis", "dtype"),
    [
        ((65_535,), 0, "float32"),
        ((70_000,), 0, "int32"),
        ((70_000,), 0, "bfloat16"),
        ((300, 60), 0, "float32"),
        ((60, 3000), 1, "float32"),
        ((100, 100), 0, "float32"),
    ],
)
def test_the_pairs_of_others_are_compared(shape, axis, dtype):
    x = np.ones(shape, np.float32).astype(dtype)
    fast, plain = texts(lambda x: argmax(x, axis, "int32"), x)
    assert fast == plain

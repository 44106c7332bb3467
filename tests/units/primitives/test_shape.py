"""Shape primitives: params of the public functions, and errors."""

import jax
import numpy as np
import pytest

import imprint
from imprint import lax
from imprint._src.primitives.shape import (
    expand_dims,
    iota,
    reshape,
    rev,
    squeeze,
)
from imprint.errors import DTypeError, ShapeError
from tests.units.primitives.twin import assert_as_jax, printed

X = np.arange(24.0, dtype=np.float32).reshape(2, 3, 4)


def message(error, fun, *args):
    with pytest.raises(error) as caught:
        fun(*args)
    return str(caught.value)


# ---- reshape ----


def test_reshape_reads_axes_in_another_order():
    assert_as_jax(
        lambda x: reshape(x, (4, 6), (2, 0, 1)),
        lambda x: jax.lax.reshape(x, (4, 6), (2, 0, 1)),
        X,
    )


def test_operations_without_effect_are_no_equations():
    def same(x):
        return expand_dims(squeeze(reshape(x, (2, 3, 4), (0, 1, 2)), ()), ())

    assert printed(same, X) == []


def test_reshape_takes_numpy_ints():
    assert printed(lambda x: reshape(x, np.array([6, 4])), X) == [
        "b:f32[6,4] = reshape[dimensions=None new_sizes=(6, 4)] a"
    ]


@pytest.mark.parametrize("sizes", [(5,), (-1, 24), (0, 24)])
def test_reshape_to_another_size(sizes):
    text = f"[{','.join(map(str, sizes))}]"
    assert message(ShapeError, reshape, X, sizes) == (
        "reshape: expected sizes whose product is 24, the number of elements of "
        f"float32[2,3,4], got {text}. To leave one size open, call "
        "imprint.numpy.reshape with -1."
    )


# ---- squeeze, expand_dims ----


def test_squeeze_and_expand_dims_count_from_the_end():
    x = X[:, :1, :1]
    assert squeeze(x, (-1,)).shape == (2, 1)
    assert squeeze(x, (-1, 1)).shape == (2,)
    assert expand_dims(X, (-1, 0)).shape == (1, 2, 3, 4, 1)


def test_squeeze_of_a_longer_axis():
    assert message(ShapeError, squeeze, X, (0,)) == (
        "squeeze: expected distinct axes of length 1 of float32[2,3,4], got "
        "dimensions=(0,). Name only axes of length 1."
    )


# ---- rev ----


@pytest.mark.parametrize("axes", [(0, 0), (-1,), (3,)])
def test_rev_of_no_axis(axes):
    assert message(ShapeError, rev, X, axes) == (
        "rev: expected distinct axes in [0, 3) for operand float32[2,3,4], got "
        f"dimensions={axes}. To count from the end, call imprint.numpy.flip."
    )


# ---- iota ----


@pytest.mark.parametrize("dtype", ["uint8", "bfloat16", "float16", "complex64"])
def test_iota_wraps_or_rounds_as_the_dtype_does(dtype):
    assert_as_jax(
        lambda: iota(np.dtype(dtype), 70_000),
        lambda: jax.lax.iota(np.dtype(dtype), 70_000),
        operation="elementwise",
    )


def test_iota_gives_64_bits_only_where_they_are_enabled():
    with pytest.warns(UserWarning, match="iota: expected a dtype of at most 32 bits"):
        assert iota("int64", 2).dtype == np.int32
    with imprint.enable_x64(True):
        assert iota("int64", 2).dtype == np.int64


def test_iota_of_bools():
    assert message(DTypeError, iota, bool, 2) == (
        "iota: expected a numeric dtype, got bool. Count in an integer dtype and "
        "convert."
    )


def test_iota_along_no_axis():
    assert message(ShapeError, lax.broadcasted_iota, "int32", (2, 3), 2) == (
        "broadcasted_iota: expected a dimension in [0, 2) and no negative length, got dimension=2, "
        "shape=[2,3]. For a 1-dimensional count call imprint.lax.iota(dtype, size)."
    )


@pytest.mark.parametrize("shape", [(-1,), (2, -3)])
def test_a_negative_length_is_refused(shape):
    with pytest.raises(ShapeError, match="full: expected lengths of at least 0"):
        imprint.eval_shape(lambda: lax.full(shape, 1.0))

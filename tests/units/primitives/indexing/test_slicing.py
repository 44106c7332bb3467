"""slice, pad and concatenate at their edges, and errors."""

import jax
import numpy as np
import pytest

import imprint
from imprint._src.primitives.core_ops import mul, reduce_sum
from imprint._src.primitives.indexing.slicing import (
    concatenate,
    pad,
    slice_,
    slice_in_dim,
)
from imprint.errors import ArgumentError, DTypeError, ShapeError
from tests.units.primitives.agreement import assert_same
from tests.units.primitives.twin import assert_as_jax

X = np.arange(10.0, dtype=np.float32)
XY = np.arange(6.0, dtype=np.float32).reshape(2, 3)


def message(error, fun, *args):
    with pytest.raises(error) as caught:
        fun(*args)
    return str(caught.value)


# ---- slice ----


@pytest.mark.parametrize(
    ("start", "limit", "strides"),
    [
        ((-1,), (3,), None),
        ((2,), (1,), None),
        ((0,), (11,), None),
        ((0,), (9,), (0,)),
        ((0,), (9,), (-1,)),
        ((0, 0), (9,), None),
        ((), (), None),
    ],
)
def test_slice_out_of_bounds(start, limit, strides):
    assert message(ShapeError, slice_, X, start, limit, strides) == (
        "slice: expected for each axis of length n 0 <= start <= limit <= n and a "
        f"positive stride, got float32[10], start_indices={start}, "
        f"limit_indices={limit}, strides={strides}. To count from the end or "
        "backwards, index the array."
    )


@pytest.mark.parametrize(
    "span", [(None, None), (-3, None), (2, -2), (8, 3), (-99, 99), (3, None, 4)]
)
def test_slice_in_dim_counts_as_python_does(span):
    assert_same(slice_in_dim(X, *span), X[slice(*span)])
    assert_same(slice_in_dim(XY, *span, axis=-1), XY[:, slice(*span)])


# ---- pad ----


def test_gradient_of_the_padding_value_counts_only_padding():
    config = ((1, -1, 1), (-1, 2, 0))
    weights = np.arange(1.0, 13.0, dtype=np.float32).reshape(3, 4)

    def ours(x, fill):
        return reduce_sum(mul(pad(x, fill, config), weights), (0, 1))

    def theirs(x, fill):
        return (jax.lax.pad(x, fill, config) * weights).sum()

    both = {"argnums": (0, 1)}
    fill = np.float32(2)
    assert_as_jax(imprint.grad(ours, **both), jax.grad(theirs, **both), XY, fill)


def test_infinite_cotangents_of_elements_leave_the_padding_value_alone():
    def weighted(fill):
        weights = np.array([1, np.inf, 2], np.float32)
        return reduce_sum(
            mul(pad(np.zeros(1, np.float32), fill, ((1, 1, 0),)), weights), (0,)
        )

    assert_same(imprint.grad(weighted)(np.float32(1)), np.float32(3))


@pytest.mark.parametrize("at", [(0, None), (None, 0), (1, 0)])
def test_pad_with_a_value_for_each_example(at):
    config = ((1, 0, 1),)
    x = XY if at[0] is None else XY.T if at[0] == 1 else XY
    x = x[0] if at[0] is None else x
    fill = np.float32(7) if at[1] is None else np.array([7, 8], np.float32)
    assert_as_jax(
        imprint.vmap(lambda x, v: pad(x, v, config), at),
        jax.vmap(lambda x, v: jax.lax.pad(x, v, config), at),
        x,
        fill,
    )


@pytest.mark.parametrize("config", [((-3, -8, 0),), ((0, 0, -1),), ((0, 0, 0),) * 2])
def test_pad_to_a_negative_length(config):
    assert message(ShapeError, pad, X, np.float32(0), config) == (
        "pad: expected for each axis (low, high, interior), with interior >= 0, that "
        f"leave no negative length, got float32[10], padding_config={config}. "
        "Negative low or high cut at most the whole axis."
    )


def test_pad_with_another_dtype():
    assert message(DTypeError, pad, X, np.int32(0), ((0, 0, 0),)) == (
        "pad: expected a padding value of rank 0 and dtype float32, got float32[10] and "
        "int32[]. Convert one of them, or call imprint.numpy.pad."
    )


def test_pad_by_pairs():
    assert message(ArgumentError, pad, X, np.float32(0), [(1, 2)]) == (
        "pad: expected (low, high, interior) for each axis, got [(1, 2)]. "
        "Give three ints an axis."
    )


# ---- concatenate ----


def test_concatenate_of_one_is_that_one():
    assert concatenate([X], 0) is X


def test_concatenate_of_none():
    assert message(ArgumentError, concatenate, [], 0) == (
        "concatenate: expected at least one array, got none. "
        "Call imprint.numpy.empty for an array without elements."
    )


@pytest.mark.parametrize("other", [np.float32(1), XY[:1, :2], X])
def test_concatenate_of_shapes_that_do_not_fit(other):
    shape = f"float32[{','.join(map(str, other.shape))}]"
    assert message(ShapeError, concatenate, [XY, other], 0) == (
        "concatenate: expected operands whose shapes differ in the axis `dimension` "
        f"alone, got float32[2,3], {shape}, dimension=0. "
        "To add an axis, call imprint.numpy.stack."
    )


def test_concatenate_of_two_dtypes():
    assert message(DTypeError, concatenate, [X, X.astype(int).astype(np.int32)], 0) == (
        "concatenate: expected operands of one dtype, got float32[10], int32[10]. "
        "Convert them, or call imprint.numpy.concatenate, which promotes."
    )

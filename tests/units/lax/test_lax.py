"""imprint.lax: every name has its meaning in jax.lax."""

import pickle

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint import lax
from imprint.errors import ShapeError
from tests.tolerances import assert_close

X = np.arange(24.0, dtype=np.float32).reshape(2, 3, 4)


NEWER = {
    f"{name}{end}"
    for name in ("log2", "one_minus_square", "polynomial")
    for end in ("", "_p")
}
"""Names that some of the tested releases of JAX lack."""


@pytest.mark.parametrize("name", sorted(lax.__all__))
def test_jax_has_the_name(name):
    assert name in NEWER or hasattr(jax.lax, name)


CALLS = {
    "batch_matmul": lambda lib, x: lib.batch_matmul(x, x.reshape(2, 4, 3)),
    "broadcast": lambda lib, x: lib.broadcast(x, (5,)),
    "collapse": lambda lib, x: lib.collapse(x, 1),
    "collapse some": lambda lib, x: lib.collapse(x, 0, 2),
    "complex": lambda lib, x: lib.complex(x, x),
    "dot vectors": lambda lib, x: lib.dot(x[0, 0], x[0, 1]),
    "dot matrices": lambda lib, x: lib.dot(x[0], x[1].T),
    "dynamic_index_in_dim": lambda lib, x: lib.dynamic_index_in_dim(x, -1, 1),
    "dynamic_index_in_dim drop": lambda lib, x: lib.dynamic_index_in_dim(
        x, 9, 2, keepdims=False
    ),
    "dynamic_slice_in_dim": lambda lib, x: lib.dynamic_slice_in_dim(x, 1, 2, axis=-1),
    "dynamic_update_slice_in_dim": lambda lib, x: lib.dynamic_update_slice_in_dim(
        x, x[:, :1] * 0, 1, 1
    ),
    "dynamic_update_index_in_dim": lambda lib, x: lib.dynamic_update_index_in_dim(
        x, x[0] * 0, 1, 0
    ),
    "full": lambda lib, x: lib.full((2, 3), 1.5),
    "full dtype": lambda lib, x: lib.full((2,), 1, "int8"),
    "full_like": lambda lib, x: lib.full_like(x, 7),
    "full_like shape": lambda lib, x: lib.full_like(x, 7, "int32", (2,)),
    "index_in_dim": lambda lib, x: lib.index_in_dim(x, -1, 2, keepdims=False),
    "max": lambda lib, x: lib.max(x, 5.0),
    "pow": lambda lib, x: lib.pow(x, 2.0),
    "reciprocal": lambda lib, x: lib.reciprocal(x + 1),
    "round": lambda lib, x: lib.round(x / 2),
    "select": lambda lib, x: lib.select(x > 3, x, -x),
    "atan2 by name": lambda lib, x: lib.atan2(y=x, x=x - 2),
    "broadcast_like": lambda lib, x: lib.broadcast_like(x[:1, 0], x),
    "broadcast_to_rank": lambda lib, x: lib.broadcast_to_rank(x[0, 0], 3),
    "clamp by name": lambda lib, x: lib.clamp(min=1.0, x=x, max=5.0),
    "dot numbers": lambda lib, x: lib.dot(
        x, x, dimension_numbers=(((2,), (2,)), ((0,), (0,)))
    ),
    "dynamic_slice from 0": lambda lib, x: lib.dynamic_slice(
        x,
        (x[0, 0, 0] - 1).astype("int32") + np.zeros(3, "int32"),
        (1, 2, 2),
        allow_negative_indices=(True, False, False),
    ),
    "dynamic_update_slice from 0": lambda lib, x: lib.dynamic_update_slice(
        x, x[:, :1] * 0, (x[0, 0, :3] - 2).astype("int32"), allow_negative_indices=False
    ),
    "dynamic_index_in_dim from 0": lambda lib, x: lib.dynamic_index_in_dim(
        x, (x[0, 0, 0] - 1).astype("int32"), 1, allow_negative_indices=False
    ),
    "empty": lambda lib, x: lib.empty((2, 3), "int8") * 0,
    "full of one axis": lambda lib, x: lib.full(3, 1.5),
    "reshape to one axis": lambda lib, x: lib.reshape(x, 24),
    "stack": lambda lib, x: lib.stack([x, -x], axis=-1),
    "tile": lambda lib, x: lib.tile(x, (2, 1, 3)),
    "slice": lambda lib, x: lib.slice(x, (0, 1, 0), (2, 3, 3), (1, 1, 2)),
}


@pytest.mark.parametrize("name", CALLS)
def test_values(name):
    got, want = CALLS[name](lax, inp.asarray(X)), CALLS[name](jax.lax, jnp.asarray(X))
    assert got.weak_type == want.weak_type
    assert_close(got, want)


SEVERAL = {
    "split": lambda lib, x: lib.split(x, (1, 0, 2), axis=1),
    "unstack": lambda lib, x: lib.unstack(x, axis=-1),
}


@pytest.mark.parametrize("name", SEVERAL)
def test_several_values(name):
    got, want = (SEVERAL[name](lib, lib_x) for lib, lib_x in libraries())
    assert len(got) == len(want)
    for one, other in zip(got, want, strict=True):
        assert_close(one, other)


def libraries():
    return (lax, inp.asarray(X)), (jax.lax, jnp.asarray(X))


SEQUENCES = {
    "transpose": lambda lib, x, of: lib.transpose(x, of([2, 0, 1])),
    "reduce_sum": lambda lib, x, of: lib.reduce_sum(x, of([0, 1])),
    "reduce_max": lambda lib, x, of: lib.reduce_max(x, of([0, 1])),
    "broadcast": lambda lib, x, of: lib.broadcast(x, of([2, 3])),
    "broadcast_in_dim": lambda lib, x, of: lib.broadcast_in_dim(
        x, of([2, 3, 4, 5]), tuple(of([0, 1, 2]))
    ),
    "reshape": lambda lib, x, of: lib.reshape(x, of([6, 4]), of([2, 1, 0])),
    "rev": lambda lib, x, of: lib.rev(x, of([0, 2])),
    "squeeze": lambda lib, x, of: lib.squeeze(x[:1, :, :1], of([0, 2])),
    "expand_dims": lambda lib, x, of: lib.expand_dims(x, of([0, 2])),
    "slice": lambda lib, x, of: lib.slice(
        x, of([0, 1, 0]), of([2, 3, 4]), of([1, 2, 1])
    ),
    "full": lambda lib, x, of: lib.full(of([2, 3]), 1.0),
    "broadcasted_iota": lambda lib, x, of: lib.broadcasted_iota("int8", of([2, 3]), 1),
    "dynamic_slice": lambda lib, x, of: lib.dynamic_slice(
        x, of([0, 1, -2]), of([1, 2, 2])
    ),
    "dot_general": lambda lib, x, of: lib.dot_general(
        x, x, ((of([2]), of([2])), (of([0]), of([0])))
    ),
}


@pytest.mark.parametrize("of", [list, np.array, lambda sizes: tuple(np.array(sizes))])
@pytest.mark.parametrize("name", SEQUENCES)
def test_sequences_of_integers_are_lists_arrays_and_numpy_integers(name, of):
    (_, ours), (_, theirs) = libraries()
    got, want = SEQUENCES[name](lax, ours, of), SEQUENCES[name](jax.lax, theirs, tuple)
    assert_close(got, want)
    assert all(type(n) is int for n in got.shape)


BINARY = [
    *("add", "atan2", "div", "eq", "ge", "gt", "le", "lt", "max", "min", "mul", "ne"),
    *("nextafter", "pow", "rem", "sub", "complex", "polygamma"),
]
BITWISE = ["bitwise_and", "bitwise_or", "bitwise_xor", "shift_left"]
BITWISE += ["shift_right_arithmetic", "shift_right_logical"]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", BINARY + BITWISE)
def test_axes_of_length_1_are_repeated(name):
    row, column = X[:1, :1, :] + 1, X[:, 1:2, :1] / 16
    if name in BITWISE:
        row, column = row.astype("int32"), (column * 16).astype("int32")
    for pair in ((row, column), (column, row), (row, X.astype(row.dtype) + 1)):
        ours, theirs = (
            getattr(lib, name)(*[array(x) for x in pair])
            for lib, array in ((lax, inp.asarray), (jax.lax, jnp.asarray))
        )
        assert_close(ours, theirs, "program")
    with pytest.raises(TypeError, match="expected operands of one shape"):
        getattr(lax, name)(inp.asarray(row), inp.asarray(column[0]))


def test_a_function_of_two_operands_has_its_name_and_can_be_pickled():
    assert lax.max.__name__ == "max"
    assert pickle.loads(pickle.dumps(lax.max)) is lax.max
    assert lax.add(1, 2) == 3


def test_derivatives_of_broadcast_operands():
    def loss(lib):
        return lambda x, y: (lib.mul(x, y) ** 2).sum()

    pair = np.ones((2, 1), np.float32) * 3, np.arange(3, dtype=np.float32)[None]
    ours = imprint.grad(loss(lax), (0, 1))(*pair)
    theirs = jax.grad(loss(jax.lax), (0, 1))(*pair)
    for one, other in zip(ours, theirs, strict=True):
        assert_close(one, other)


def test_dtypes():
    assert lax.dtype(inp.ones(2, "int8")) == np.int8 == jax.lax.dtype(jnp.int8)
    assert lax.dtype("float16") == lax.dtype(np.float16(1)) == np.float16
    assert lax.dtype(float) == np.float32 == jax.lax.dtype(float)


WRONG = {
    "a negative start": (
        lambda lib, x: lib.dynamic_slice(
            x, (0, 0, -1), (1, 1, 1), allow_negative_indices=False
        ),
        "dynamic_slice: expected starts of at least 0 where allow_negative_indices is "
        "False, got (0, 0, -1) for float32[2,3,4]. Count from the front.",
    ),
    "parts": (
        lambda lib, x: lib.split(x, (1, 1, 1)),
        "split: expected lengths that add up to 2, that of axis 0 of float32[2,3,4], got "
        "(1, 1, 1). The parts are the whole array.",
    ),
    "shapes": (
        lambda lib, x: lib.broadcast_shapes((2,), (3,)),
        "broadcast_shapes: expected shapes that broadcast together, got (2,), (3,). From "
        "the right, lengths must be equal or 1.",
    ),
    "like": (
        lambda lib, x: lib.broadcast_like(x, x[0]),
        "broadcast_like: expected a shape to which float32[2,3,4] can be repeated, got "
        "(3, 4). From the right, lengths must be equal, or 1 in the array.",
    ),
    "tile": (
        lambda lib, x: lib.tile(x, (2,)),
        "tile: expected a number of at least 0 for each axis of float32[2,3,4], got "
        "(2,). Expand the array to as many axes first.",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_error_messages(name):
    call, message = WRONG[name]
    (_, ours), (_, theirs) = libraries()
    with pytest.raises(ShapeError) as caught:
        call(lax, ours)
    assert str(caught.value) == message
    with pytest.raises((TypeError, ValueError)):
        call(jax.lax, theirs)


def test_a_static_index_outside():
    with pytest.raises(ShapeError) as caught:
        lax.index_in_dim(inp.arange(3), 3)
    assert str(caught.value) == (
        "index_in_dim: expected an index in [-3, 3) for axis 0 of int32[3], got 3. "
        "Check it against the shape."
    )


def test_dot_of_shapes_that_do_not_fit():
    with pytest.raises(ShapeError) as caught:
        lax.dot(inp.ones((2, 3)), inp.ones((2, 3)))
    assert str(caught.value) == (
        "dot: expected vectors or matrices whose last and first axes have one length, "
        "got float32[2,3] and float32[2,3]. For other products call "
        "imprint.lax.dot_general."
    )

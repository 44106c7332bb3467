"""imprint.lax: every name means what it means in jax.lax."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import imprint.numpy as inp
from imprint import lax
from imprint.errors import ShapeError
from tests.tolerances import assert_close

X = np.arange(24.0, dtype=np.float32).reshape(2, 3, 4)


@pytest.mark.parametrize("name", sorted(lax.__all__))
def test_jax_has_the_name(name):
    assert hasattr(jax.lax, name)


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
    "slice": lambda lib, x: lib.slice(x, (0, 1, 0), (2, 3, 3), (1, 1, 2)),
}


@pytest.mark.parametrize("name", CALLS)
def test_values(name):
    got, want = CALLS[name](lax, inp.asarray(X)), CALLS[name](jax.lax, jnp.asarray(X))
    assert got.weak_type == want.weak_type
    assert_close(got, want)


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

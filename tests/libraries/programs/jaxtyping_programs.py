"""jaxtyping with beartype, as its documentation uses it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from beartype import beartype
from jaxtyping import (
    Array,
    Bool,
    Complex,
    Float,
    Float32,
    Int,
    Integer,
    Key,
    Num,
    PyTree,
    Scalar,
    Shaped,
    UInt32,
    jaxtyped,
)

ONES = jnp.ones((2, 3))
FITS = {
    "float": (Float[Array, "2 3"], ONES, True),
    "other shape": (Float[Array, "3 2"], ONES, False),
    "any shape": (Float[Array, "..."], ONES, True),
    "rank": (Float[Array, "a b c"], ONES, False),
    "variadic": (Float[Array, "*batch 3"], ONES, True),
    "float32": (Float32[Array, "2 3"], ONES.astype("float16"), False),
    "int": (Int[Array, " n"], jnp.arange(3), True),
    "integer": (Integer[Array, " n"], jnp.arange(3, dtype="uint8"), True),
    "uint32": (UInt32[Array, " n"], jnp.arange(3), False),
    "bool": (Bool[Array, ""], jnp.array(True), True),
    "complex": (Complex[Array, " n"], jnp.ones(2, "complex64"), True),
    "number": (Num[Array, " n"], jnp.arange(3), True),
    "bfloat16": (Float[Array, " n"], jnp.ones(2, "bfloat16"), True),
    "shaped": (Shaped[Array, " n"], jnp.array([True]), True),
    "scalar": (Scalar, jnp.array(1.0), True),
    "a key": (Key[Array, ""], jax.random.key(0), True),
    "numpy": (Float[Array, "2 3"], np.ones((2, 3), "float32"), False),
    "of numpy": (Float[np.ndarray, "2 3"], np.ones((2, 3), "float32"), True),
    "tree": (PyTree[Float[Array, "..."]], {"a": ONES, "b": [ONES]}, True),
    "tree of ints": (PyTree[int], {"a": 1, "b": ONES}, False),
}


@pytest.mark.parametrize("name", FITS)
def test_isinstance(name):
    kind, value, fits = FITS[name]
    assert isinstance(value, kind) == fits


@jaxtyped(typechecker=beartype)
def matmul(x: Float[Array, "a b"], y: Float[Array, "b c"]) -> Float[Array, "a c"]:
    return x @ y


@pytest.mark.parametrize("transform", [lambda f: f, jax.jit])
def test_dimensions_agree(transform):
    f = transform(matmul)
    assert f(ONES, ONES.T).shape == (2, 2)
    with pytest.raises(Exception, match="matmul"):
        f(ONES, ONES)


def test_under_vmap_and_grad():
    batch = jnp.stack([ONES] * 4)
    assert jax.vmap(matmul, (0, None))(batch, ONES.T).shape == (4, 2, 2)
    gradient = jax.grad(lambda x: matmul(x, ONES.T).sum())(ONES)
    np.testing.assert_array_equal(gradient, 2 * np.ones((2, 3)))


def test_tracers_are_checked():
    seen = []

    @jax.jit
    def f(x):
        seen.append(isinstance(x, Float[Array, "2 3"]))
        seen.append(isinstance(x, Int[Array, "2 3"]))
        return x

    f(ONES)
    assert seen == [True, False]


def test_a_dataclass():
    import dataclasses

    @jaxtyped(typechecker=beartype)
    @dataclasses.dataclass
    class Pair:
        x: Float[Array, " n"]
        y: Int[Array, " n"]

    Pair(jnp.ones(2), jnp.arange(2))
    with pytest.raises(Exception, match="n"):
        Pair(jnp.ones(2), jnp.arange(3))


def test_symbolic_dimensions():
    @jaxtyped(typechecker=beartype)
    def pad(x: Float[Array, " n"]) -> Float[Array, " n+1"]:
        return jnp.concatenate([x, jnp.zeros(1)])

    assert pad(jnp.ones(3)).shape == (4,)


def test_structures_of_trees():
    @jaxtyped(typechecker=beartype)
    def add(x: PyTree[Float[Array, "..."], "T"], y: PyTree[Float[Array, "..."], "T"]):
        return jax.tree.map(jnp.add, x, y)

    add({"a": ONES}, {"a": ONES})
    with pytest.raises(Exception, match="T"):
        add({"a": ONES}, {"b": ONES})

"""`ravel_pytree` compared with JAX's."""

import jax
import jax.flatten_util
import jax.numpy as jnp
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint.flatten_util import ravel_pytree

TREES = {
    "one dtype": lambda np_: {"w": np_.ones((2, 2)), "b": np_.zeros(1)},
    "weak and strong": lambda np_: {"w": np_.ones((2, 2)), "b": 1.0},
    "weak": lambda np_: [1.0, (2.0,)],
    "integers": lambda np_: [1, np_.arange(3)],
    "mixed": lambda np_: {"a": True, "b": np_.arange(3), "c": np_.ones(2, "float16")},
    "complex": lambda np_: [np_.ones(2) * 1j, np_.ones(2)],
    "host": lambda np_: (np.ones(2, "float32"), None),
    "empty arrays": lambda np_: [np_.ones((0, 3)), np_.ones(2)],
    "nothing": lambda np_: {"a": None},
}


def same(ours, theirs):
    leaves, treedef = imprint.tree.flatten(ours)
    their_leaves, their_tree = jax.tree.flatten(theirs)
    assert str(treedef) == str(their_tree)
    for x, y in zip(leaves, their_leaves, strict=True):
        assert (x.dtype, x.weak_type) == (y.dtype, y.weak_type)
        np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("name", TREES)
def test_there_and_back_agree_with_jax(name):
    vector, unravel = ravel_pytree(TREES[name](inp))
    their_vector, their_unravel = jax.flatten_util.ravel_pytree(TREES[name](jnp))
    same(vector, their_vector)
    same(unravel(vector), their_unravel(their_vector))


def test_a_tree_of_one_dtype_comes_back_in_that_of_the_vector():
    vector, unravel = ravel_pytree([inp.ones(2), inp.ones(1)])
    assert unravel(vector.astype("bfloat16"))[1].dtype == "bfloat16"


def test_ravel_is_traced_and_differentiated():
    params = {"a": inp.ones(2), "b": inp.full((1, 2), 3.0)}

    def loss(params):
        vector, unravel = ravel_pytree(params)
        return (unravel(vector * vector)["b"] * vector[0]).sum()

    grads = imprint.jit(imprint.grad(loss))(params)
    np.testing.assert_array_equal(grads["a"], [18, 0])
    np.testing.assert_array_equal(grads["b"], [[6, 6]])


def test_the_way_back_is_a_static_argument():
    f = imprint.jit(lambda vector, unravel: unravel(vector)["a"], static_argnums=1)
    for value in (1.0, 2.0):
        vector, unravel = ravel_pytree({"a": inp.full(2, value), "b": inp.ones(1)})
        np.testing.assert_array_equal(f(vector, unravel), [value] * 2)
    assert len(f.versions) == 1


def test_a_vector_that_does_not_fit():
    vector, unravel = ravel_pytree([inp.ones(2), 1])
    with pytest.raises(imprint.errors.ShapeError) as caught:
        unravel(vector[:2])
    assert str(caught.value) == (
        "unravel: expected float32[3], got float32[2]. Pass a vector as long as that "
        "from ravel_pytree."
    )
    with pytest.raises(TypeError) as refused:
        unravel(vector.astype("float16"))
    assert str(refused.value) == (
        "unravel: expected float32[3], for the leaves of the tree are of several dtypes, "
        "got float16[3]. Convert it with `.astype(float32)`."
    )

import copy
import pickle

import jax
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint import errors, random, tree
from tests.units.random.streams import same, same_keys

KEY = random.key(42)
KEYS = random.split(KEY, 6)
JAX_KEYS = jax.random.split(jax.random.key(42), 6)


# ---- an array of keys ----


def test_prints_as_jax():
    assert repr(KEY) == repr(jax.random.key(42))
    assert repr(KEYS) == repr(JAX_KEYS)
    assert repr(KEY.dtype) == str(KEY.dtype) == "key<fry>"
    assert repr(random.PRNGKeyArray(None)) == "PRNGKeyArray(None)"


def test_shape_and_dtype():
    keys = KEYS.reshape(2, 3)
    assert (keys.shape, keys.ndim, keys.size, len(keys)) == ((2, 3), 2, 6, 2)
    assert (KEY.shape, KEY.ndim, KEY.size) == ((), 0, 1)
    assert keys.nbytes == 48
    assert KEY.dtype == random.KeyDType()
    assert KEY.dtype != np.dtype("uint32")
    assert len({KEY.dtype, keys.dtype}) == 1
    assert KEY.block_until_ready() is KEY


@pytest.mark.parametrize("shape", [(2, 3), (3, -1), (-1,), (1, 6, 1)])
def test_reshape(shape):
    keys = KEYS.reshape(2, 3)
    same_keys(keys.reshape(shape), JAX_KEYS.reshape(shape))
    same_keys(keys.reshape(*shape), JAX_KEYS.reshape(shape))
    same_keys(keys.ravel(), JAX_KEYS)
    same_keys(keys.flatten(), JAX_KEYS)


@pytest.mark.parametrize(
    "index",
    [0, -1, slice(1, None), (1, 2), (slice(None), 0), ..., (..., 1), (0, ...), None],
    ids=repr,
)
def test_index(index):
    keys, expected = KEYS.reshape(2, 3), JAX_KEYS.reshape(2, 3)
    same_keys(keys[index], expected[index])


def test_an_index_does_not_reach_the_words():
    with pytest.raises(IndexError):
        KEYS[0, 0]


def test_iteration_is_the_same_in_a_program():
    keys = list(KEYS)
    assert all(key.shape == () for key in keys)
    same_keys(keys[4], JAX_KEYS[4])
    rows = list(KEYS.reshape(2, 3))
    same_keys(rows[1], JAX_KEYS.reshape(2, 3)[1])
    same_keys(imprint.jit(lambda k: list(k)[4])(KEYS), JAX_KEYS[4])


def test_equality_is_elementwise():
    one, expected = KEYS[2], np.arange(6) == 2
    same(one == KEYS, expected)
    same(one != KEYS, ~expected)
    same(imprint.jit(lambda a, b: a == b)(KEYS, one), expected)
    assert KEY.__eq__(3) is KEY.__ne__(3) is NotImplemented
    with pytest.raises(TypeError, match="unhashable"):
        hash(KEY)


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda k: pickle.loads(pickle.dumps(k))]
)
def test_copies(copied):
    assert np.all(np.asarray(copied(KEYS) == KEYS))


# ---- a node of pytrees ----


def test_anything_may_stand_in_the_leaf():
    leaves, structure = tree.flatten({"key": KEY})
    assert leaves == [KEY.data]
    for leaf in (None, 0, "text", object()):
        assert structure.unflatten([leaf])["key"].data is leaf
    assert tree.keystr(structure.paths()[0]) == "['key'].data"


def test_argument_and_result_of_a_compiled_function():
    @imprint.jit
    def step(state):
        key, subkey = random.split(state["key"])
        return {"key": key, "step": state["step"] + 1}, random.normal(subkey)

    state = {"key": KEY, "step": 0}
    state, _ = step(state)
    state, drawn = step(state)
    assert step._cache_size() == 1
    key = jax.random.key(42)
    for _ in range(2):
        key, subkey = jax.random.split(key)
    same_keys(state["key"], key)
    same(drawn, jax.random.normal(subkey))


def test_a_captured_key():
    assert imprint.jit(lambda: random.bits(KEY))() == random.bits(KEY)


def test_vmap_over_keys():
    got = imprint.vmap(lambda k: random.normal(k, (2,)))(KEYS)
    same(got, jax.vmap(lambda k: jax.random.normal(k, (2,)))(JAX_KEYS))
    got = imprint.jit(imprint.vmap(random.uniform))(KEYS)
    same(got, jax.vmap(jax.random.uniform)(JAX_KEYS))
    twice = imprint.vmap(imprint.vmap(random.bits))(KEYS.reshape(2, 3))
    same(twice, np.asarray(imprint.vmap(random.bits)(KEYS)).reshape(2, 3))


def test_derivatives_beside_a_key():
    def loss(x, key):
        return (x * random.normal(key, (3,))).sum()

    drawn = np.asarray(random.normal(KEY, (3,)), np.float64)
    value, slope = imprint.value_and_grad(loss)(2.0, KEY)
    np.testing.assert_allclose(slope, drawn.sum(), rtol=1e-6)
    np.testing.assert_allclose(value, 2 * drawn.sum(), rtol=1e-6)
    slopes = imprint.vmap(imprint.grad(loss), (None, 0))(2.0, KEYS)
    assert slopes.shape == (6,)


def test_the_difference_from_jax_in_what_a_key_is():
    """In the page of differences: a node with words, not an array of a dtype."""
    assert isinstance(jax.random.key(0), jax.Array)
    assert not isinstance(KEY, imprint.Array)
    assert jax.tree.leaves(JAX_KEYS)[0].shape == (6,)
    assert tree.leaves(KEYS)[0].shape == (6, 2)
    jax.vmap(lambda k: k, in_axes=-1)(JAX_KEYS)  # the keys; here it would be the words
    with pytest.raises(errors.ArgumentError) as caught:
        imprint.vmap(random.normal, in_axes=-1)(KEYS)
    assert str(caught.value) == (
        "normal: expected a key, got words of keys, uint32[6]. vmap mapped over the "
        "words: pass a single key with in_axes=None, and count the axes of keys from "
        "the front."
    )


# ---- errors ----

WRONG = {
    lambda: random.normal((3,)): (
        "normal: expected a key, or its raw data uint32[..., 2], got tuple (3,). Make a "
        "key with imprint.random.key(0) and pass it first."
    ),
    lambda: random.bits(inp.zeros(2)): (
        "bits: expected a key, or its raw data uint32[..., 2], got float32[2]. Make a "
        "key with imprint.random.key(0) and pass it first."
    ),
    lambda: random.split(np.zeros(3, np.uint32)): (
        "split: expected a key, or its raw data uint32[..., 2], got uint32[3]. Make a "
        "key with imprint.random.key(0) and pass it first."
    ),
    lambda: random.key_data(np.uint32(3)): (
        "key_data: expected a key, or its raw data uint32[..., 2], got uint32 "
        "np.uint32(3). Make a key with imprint.random.key(0) and pass it first."
    ),
    lambda: random.uniform(KEYS): (
        "uniform: expected a single key, got keys of shape [6]. To draw with each of "
        "them, use imprint.vmap."
    ),
    lambda: imprint.vmap(random.uniform)(KEY): (
        "uniform: expected a key, got words of keys, uint32[]. vmap mapped over the "
        "words: pass a single key with in_axes=None, and count the axes of keys from "
        "the front."
    ),
    lambda: len(KEY): (
        "len(): expected an array of keys, got a single key. Make several with "
        "imprint.random.split(key, num)."
    ),
    lambda: list(KEY): (
        "iteration: expected an array of keys, got a single key. Make several with "
        "imprint.random.split(key, num)."
    ),
    lambda: bool(KEYS): (
        "`if` needs a bool, got keys key<fry>[6]. To ask whether there is a key, write "
        "`key is not None`."
    ),
    lambda: np.asarray(KEY): (
        "`np.asarray` needs numbers, got keys key<fry>[]. Call "
        "imprint.random.key_data(key) for their raw data."
    ),
}


@pytest.mark.parametrize(("wrong", "message"), WRONG.items(), ids=WRONG.values())
def test_the_whole_message(wrong, message):
    with pytest.raises(errors.ArgumentError) as caught:
        wrong()
    assert str(caught.value) == message


def test_no_arithmetic_on_keys():
    with pytest.raises(TypeError, match="unsupported operand"):
        KEY + 1

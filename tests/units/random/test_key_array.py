import copy
import pickle
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint import dtypes, errors, random, tree
from imprint._src.tree import internal
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
    for other in (None, "a", object()):
        for x, y in ((KEY, other), (other, KEY), (JAX_KEYS, other)):
            assert (x == y) is False
            assert (x != y) is True
    with pytest.raises(TypeError, match="unhashable"):
        hash(KEY)


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda k: pickle.loads(pickle.dumps(k))]
)
def test_copies(copied):
    assert np.all(np.asarray(copied(KEYS) == KEYS))


MOVED = {
    "stack": lambda q, k: q.stack([k, k], axis=1),
    "concatenate": lambda q, k: q.concatenate([k, k[:1]]),
    "reshape": lambda q, k: q.reshape(k, (3, -1)),
    "ravel": lambda q, k: q.ravel(k),
    "where": lambda q, k: q.where(np.eye(2, 3) > 0, k, k[0, 0]),
    "broadcast_to": lambda q, k: q.broadcast_to(k[0, 0], (4, 2)),
    "expand_dims": lambda q, k: q.expand_dims(k, (-1, 0)),
    "squeeze": lambda q, k: q.squeeze(k[None], 0),
    "transpose": lambda q, k: q.transpose(k),
    "moveaxis": lambda q, k: q.moveaxis(k, -1, 0),
    "swapaxes": lambda q, k: q.swapaxes(k, 0, -1),
    "atleast_2d": lambda q, k: q.atleast_2d(k[0]),
    "split": lambda q, k: q.split(k, 3, axis=-1)[1],
    "hstack": lambda q, k: q.hstack([k, k]),
    "append": lambda q, k: q.append(k, k[0]),
    "tile": lambda q, k: q.tile(k, 2),
    "repeat": lambda q, k: q.repeat(k, 2, axis=1),
    "flip": lambda q, k: q.flip(k),
    "roll": lambda q, k: q.roll(k, 1, axis=0),
    "nan_to_num": lambda q, k: q.nan_to_num(k),
    "of T": lambda q, k: k.T,
    "of transpose": lambda q, k: k.transpose(-1, 0),
    "of swapaxes": lambda q, k: k.swapaxes(0, 1),
    "of squeeze": lambda q, k: k[:1, None].squeeze((0, -2)),
    "of squeeze all": lambda q, k: k[:1, None].squeeze(),
    "of copy": lambda q, k: k.copy(),
}


@pytest.mark.parametrize("name", MOVED)
def test_functions_that_move_elements_accept_keys(name):
    move, keys = MOVED[name], KEYS.reshape(2, 3)
    expected = move(jnp, JAX_KEYS.reshape(2, 3))
    same_keys(move(inp, keys), expected)
    same_keys(imprint.jit(lambda k: move(inp, k))(keys), expected)


def test_keys_are_arrays_where_they_are_traced_too():
    for key in (KEY, KEYS):
        assert isinstance(key, imprint.Array)
    assert imprint.jit(lambda k: isinstance(k, imprint.Array))(KEY)
    assert np.all(imprint.vmap(lambda k: isinstance(k, imprint.Array))(KEYS))


ARRAYS_OF = {
    "asarray": lambda q, k: q.asarray(k),
    "array": lambda q, k: q.array(k),
    "array of rank 2": lambda q, k: q.array(k, ndmin=2),
    "copy": lambda q, k: q.copy(k),
    "a list": lambda q, k: q.asarray([k[0], k[3]]),
    "a list of lists": lambda q, k: q.array([[k[0], k[3]], [k[1], k[1]]]),
}


@pytest.mark.parametrize("name", ARRAYS_OF)
def test_an_array_is_made_of_keys(name):
    make = ARRAYS_OF[name]
    same_keys(make(inp, KEYS), make(jnp, JAX_KEYS))
    same_keys(imprint.jit(lambda k: make(inp, k))(KEYS), make(jnp, JAX_KEYS))
    assert inp.asarray(KEY) is KEY


def test_a_copy_of_keys_outlives_them():
    keys = random.split(KEY, 3)
    copied = inp.copy(keys)
    keys.delete()
    same_keys(copied, jax.random.split(jax.random.key(42), 3))


OPERATORS = {
    "k + 1": lambda k, n: k + 1,
    "1 + k": lambda k, n: 1 + k,
    "k + k": lambda k, n: k + k,
    "k < k": lambda k, n: k < k,
    "k == 1": lambda k, n: k == 1,
    "1 != k": lambda k, n: 1 != k,  # noqa: SIM300 - the other order
    "k == [1]": lambda k, n: k == [1],
    "array + k": lambda k, n: n.ones(6) + k,
    "k * array": lambda k, n: k * n.ones(6),
    "NumPy's + k": lambda k, n: np.ones(6) + k,
    "k - NumPy's": lambda k, n: k - np.ones(6),
    "NumPy's scalar == k": lambda k, n: np.float32(1) == k,
    "a function of NumPy's": lambda k, n: np.add(k, 1),
    "-k": lambda k, n: -k,
    "abs(k)": lambda k, n: abs(k),
    "~k": lambda k, n: ~k,
    "divmod": lambda k, n: divmod(k, 2),
    "round": lambda k, n: round(k),
    "assignment": lambda k, n: k.__setitem__(0, k[1]),
    "np.asarray": lambda k, n: np.asarray(k),
    "float": lambda k, n: float(k[0]),
    "bool": lambda k, n: bool(k[0]),
    "index": lambda k, n: n.ones(3)[k[0]],
}


@pytest.mark.parametrize("name", OPERATORS)
def test_operators_refuse_keys_as_jax_does(name):
    operate = OPERATORS[name]
    with pytest.raises(TypeError):
        operate(JAX_KEYS, jnp)
    with pytest.raises(TypeError, match=r"key|PRNGKeyArray"):
        operate(KEYS, inp)
    with pytest.raises(TypeError, match=r"key|PRNGKeyArray"):
        imprint.jit(lambda k: operate(k, inp))(KEYS)


def test_the_error_for_keys_names_the_function_and_the_keys():
    wanted = (
        "add: expected an array or a number, got keys key<fry>[6]. Call imprint.random"
    )
    with pytest.raises(errors.ArgumentError, match=re.escape(wanted)):
        KEYS + 1
    wanted = (
        "sum: expected an array or a number, got keys key<fry>[6]. Call imprint.random"
    )
    with pytest.raises(errors.ArgumentError, match=re.escape(wanted)):
        KEYS.sum()


def test_functions_that_compute_reject_keys():
    for wrong in (
        lambda: inp.sin(KEYS),
        lambda: inp.add(KEYS, 1),
        lambda: inp.sum(KEYS),
        lambda: inp.stack([KEY, inp.zeros(2, "uint32")]),
        lambda: inp.where(True, KEY, 0),
        lambda: inp.concatenate([KEYS, KEYS], dtype="float32"),
        lambda: KEYS.astype("float32"),
    ):
        with pytest.raises((TypeError, AttributeError)):
            wrong()
    with pytest.raises(errors.ShapeError, match=r"uint32\[6\]"):
        inp.reshape(KEYS, (4, 2))


def test_keys_have_a_dtype_of_their_own():
    kinds = (dtypes.prng_key, dtypes.extended, np.generic, np.number, np.uint32)
    theirs = (jax.dtypes.prng_key, jax.dtypes.extended, *kinds[2:])
    for kind, other in zip(kinds, theirs, strict=True):
        assert dtypes.issubdtype(KEY.dtype, kind) == jnp.issubdtype(
            JAX_KEYS.dtype, other
        )
        assert not dtypes.issubdtype("float32", dtypes.prng_key)
    f = imprint.jit(lambda k: dtypes.issubdtype(k.dtype, dtypes.prng_key))
    assert f(KEY)


def test_structs_of_keys():
    struct = imprint.ShapeDtypeStruct(KEYS.shape, KEYS.dtype)
    theirs = jax.ShapeDtypeStruct(JAX_KEYS.shape, JAX_KEYS.dtype)
    assert repr(struct) == repr(theirs)
    assert (struct.shape, struct.dtype) == (KEYS.shape, KEYS.dtype)
    assert struct == imprint.ShapeDtypeStruct((6,), KEY.dtype)
    assert struct != imprint.ShapeDtypeStruct((5,), KEY.dtype)
    assert imprint.eval_shape(lambda: KEYS) == struct
    assert repr(imprint.eval_shape(random.key, 0)) == repr(
        jax.eval_shape(jax.random.key, 0)
    )
    draw = imprint.vmap(lambda k: random.normal(k, (3,)))
    assert imprint.eval_shape(draw, struct).shape == (6, 3)
    same(imprint.jit(draw).lower(struct).compile()(KEYS), draw(KEYS))


def test_keys_are_where_their_words_are():
    key = imprint.device_put(KEYS.copy(), imprint.devices()[0])
    assert key.committed
    assert key.devices() == {key.device}
    assert key.sharding == key.data.sharding
    assert key.is_ready()
    assert key.itemsize == 8
    key.delete()
    assert key.is_deleted()
    assert not KEYS.is_deleted()


# ---- a node of pytrees ----


def test_the_leaf_may_hold_any_object():
    leaves, structure = internal.flatten({"key": KEY})  # as transforms see it
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


def test_vmap_counts_axes_of_keys_from_their_last():
    keys, theirs = KEYS.reshape(2, 3), JAX_KEYS.reshape(2, 3)
    for axis in (-1, -2, 0, 1):
        got = imprint.vmap(lambda k: random.split(k[0]), axis, axis)(keys)
        same_keys(got, jax.vmap(lambda k: jax.random.split(k[0]), axis, axis)(theirs))
    got = imprint.vmap(lambda d: (d["k"], d["x"]), -1, -1)(
        {"k": keys, "x": inp.ones((4, 3))}
    )
    assert got[0].shape == (2, 3)
    assert got[1].shape == (4, 3)


def test_derivatives_next_to_a_key():
    def loss(x, key):
        return (x * random.normal(key, (3,))).sum()

    drawn = np.asarray(random.normal(KEY, (3,)), np.float64)
    value, slope = imprint.value_and_grad(loss)(2.0, KEY)
    np.testing.assert_allclose(slope, drawn.sum(), rtol=1e-6)
    np.testing.assert_allclose(value, 2 * drawn.sum(), rtol=1e-6)
    slopes = imprint.vmap(imprint.grad(loss), (None, 0))(2.0, KEYS)
    assert slopes.shape == (6,)


def test_the_difference_from_jax_in_the_leaves_of_a_key():
    """In the page of differences: a leaf, that stays an `Array` in `eval_shape`."""
    assert jax.tree.leaves(JAX_KEYS)[0].shape == (6,)
    assert tree.leaves(KEYS)[0].shape == (6,)
    assert not isinstance(jax.eval_shape(lambda k: k, JAX_KEYS), jax.Array)
    assert isinstance(imprint.eval_shape(lambda k: k, KEYS), imprint.Array)


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
        "words: pass a single key with in_axes=None."
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
    with pytest.raises(TypeError, match="key_data"):
        KEY + 1

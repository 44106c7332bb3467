import jax
import jax.numpy as jnp
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint import errors, random
from tests.units.random.streams import flags, same, same_keys

INTS = [0, 1, 42, -1, -7, 2**31 - 1, 2**31, 2**32 - 1, 2**32 + 5, 2**63 - 1, -(2**63)]
TYPED = [
    np.int8(-1),
    np.uint8(200),
    np.int16(-300),
    np.int32(-5),
    np.uint32(2**32 - 1),
    np.int64(-(2**40)),
    np.uint64(2**63 + 9),
]


@pytest.mark.parametrize("seed", [*INTS, True, *TYPED], ids=repr)
@pytest.mark.parametrize("x64", [False, True])
def test_seeds_as_jax(seed, x64):
    with flags(x64=x64):
        want = jax.random.key(seed)
        same_keys(random.key(seed), want)
        same(random.PRNGKey(seed), jax.random.PRNGKey(seed))
        same_keys(imprint.jit(lambda: random.key(seed))(), want)


@pytest.mark.parametrize("seed", TYPED, ids=repr)
@pytest.mark.parametrize("x64", [False, True])
def test_seeds_that_are_arguments(seed, x64):
    with flags(x64=x64):
        same_keys(imprint.jit(random.key)(seed), jax.random.key(seed))
        same_keys(random.key(inp.asarray(seed)), jax.random.key(jnp.asarray(seed)))


def test_a_seed_in_a_program_is_a_literal():
    assert imprint.make_jaxpr(lambda: random.key(3).data)().consts == ()


def test_raw_keys_stay_raw():
    raw, jax_raw = random.PRNGKey(4), jax.random.PRNGKey(4)
    same(raw, jax_raw)
    same(random.split(raw, 3), jax.random.split(jax_raw, 3))
    same(random.fold_in(raw, 3), jax.random.fold_in(jax_raw, 3))
    same(random.clone(raw), jax_raw)
    same(random.normal(raw, (3,)), jax.random.normal(jax_raw, (3,)))
    same(random.bits(np.asarray(raw), (3,)), random.bits(raw, (3,)))
    same(imprint.jit(random.split)(np.asarray(raw)), random.split(raw))


def test_fold_in_of_arrays_and_floats():
    key, other = random.key(1), jax.random.key(1)
    for number in (
        np.int32(-1),
        np.uint8(3),
        np.float32(2.5),
        2.5,
        np.int64(2**40 + 1),
    ):
        want = jax.random.fold_in(other, jnp.asarray(number))
        same_keys(random.fold_in(key, number), want)


def test_clone_and_raw_data():
    key = random.key(9)
    assert random.clone(key) == key
    data = random.key_data(key)
    assert isinstance(data, imprint.Array)
    assert random.wrap_key_data(data) == key
    assert random.wrap_key_data(np.asarray(data), impl="threefry2x32") == key
    assert random.wrap_key_data(data, impl=key.dtype) == key
    assert random.wrap_key_data(np.zeros((3, 2), np.uint32)).shape == (3,)
    assert random.key_impl(key) == random.key_impl(data) == "threefry2x32"


def test_many_keys_from_one_call():
    keys = imprint.vmap(random.key)(inp.arange(3))
    same_keys(keys, jax.vmap(jax.random.key)(jnp.arange(3)))
    same_keys(
        imprint.vmap(random.fold_in, (None, 0))(random.key(1), inp.arange(3)),
        jax.vmap(jax.random.fold_in, (None, 0))(jax.random.key(1), jnp.arange(3)),
    )
    same_keys(
        imprint.vmap(lambda k: random.split(k, 4), out_axes=1)(keys),
        jax.vmap(lambda k: jax.random.split(k, 4), out_axes=1)(
            jax.vmap(jax.random.key)(jnp.arange(3))
        ),
    )


# ---- errors ----

KEY = random.key(0)
WRONG = {
    lambda: random.key(1.5): (
        "key: expected an integer as seed, got float 1.5. Pass an int, as in key(0)."
    ),
    lambda: random.PRNGKey("a"): (
        "PRNGKey: expected an integer as seed, got str 'a'. Pass an int, as in "
        "PRNGKey(0)."
    ),
    lambda: random.key(np.float32(1)): (
        "key: expected an integer as seed, got float32[]. Convert it with "
        "`.astype(int)`."
    ),
    lambda: random.key(np.arange(3)): (
        "key: expected a seed of rank 0, got int32[3]. For a key of each seed, call "
        "imprint.vmap(imprint.random.key)(seeds)."
    ),
    lambda: random.key(2**63): (
        "key: expected a seed of at most 64 bits, got 9223372036854775808. Take its "
        "lower bits: seed % 2**63."
    ),
    lambda: random.key(0, impl="threefry"): (
        "key: expected impl to be one of ['threefry2x32', 'rbg', 'unsafe_rbg'], or "
        "None, got 'threefry'. Did you mean 'threefry2x32'? None stands for the flag "
        "default_prng_impl."
    ),
    lambda: random.split(KEY, -1): (
        "split: expected lengths of at least 0 in shape, got (-1,). A length cannot be "
        "left open: give the number of elements."
    ),
    lambda: random.split(KEY, 1.5): (
        "split: expected integers in shape, got float 1.5. Convert it with int()."
    ),
    lambda: random.fold_in(KEY, np.arange(3)): (
        "fold_in: expected a number of rank 0, got int32[3]. For a key of each number, "
        "use imprint.vmap."
    ),
    lambda: random.fold_in(KEY, -1): (
        "fold_in: expected an integer in [0, 2**32), got -1. Take 32 bits of it: "
        "data % 2**32."
    ),
}


@pytest.mark.parametrize(("wrong", "message"), WRONG.items(), ids=WRONG.values())
def test_the_whole_message(wrong, message):
    with pytest.raises(
        (errors.ArgumentError, errors.ShapeError, OverflowError)
    ) as caught:
        wrong()
    assert str(caught.value) == message

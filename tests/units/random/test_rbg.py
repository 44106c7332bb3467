"""Keys of rbg and unsafe_rbg: JAX's bits, and the implementation is part of the type."""

import copy
import pickle

import jax
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint import errors, random
from tests.lanes import exhaustive
from tests.units.random.streams import flags, same, same_keys

OTHERS = pytest.mark.parametrize("impl", ["rbg", "unsafe_rbg"])
DRAWS = {
    "normal": lambda m, k: m.normal(k, (3, 2)),
    "bits": lambda m, k: m.bits(k, (5,), "uint8"),
    "randint": lambda m, k: m.randint(k, (5,), 0, 100),
    "bernoulli": lambda m, k: m.bernoulli(k, 0.5, (4,)),
}


def pair(impl):
    return random.key(42, impl=impl), jax.random.key(42, impl=impl)


@pytest.mark.slow
@OTHERS
@pytest.mark.parametrize("partitionable", [True, *exhaustive(False)])
def test_keys_as_jax(impl, partitionable):
    with flags(partitionable=partitionable):
        key, theirs = pair(impl)
        same_keys(key, theirs)
        assert (repr(key), str(key.dtype)) == (repr(theirs), str(theirs.dtype))
        for num in (3, (2, 3)):
            want = jax.random.split(theirs, num)
            same_keys(random.split(key, num), want)
            same_keys(imprint.jit(random.split, static_argnums=1)(key, num), want)
        want = jax.random.fold_in(theirs, 7)
        same_keys(random.fold_in(key, 7), want)
        same_keys(imprint.jit(random.fold_in)(key, 7), want)
        same_keys(imprint.jit(lambda s: random.key(s, impl=impl))(42), theirs)


@pytest.mark.slow
@pytest.mark.parametrize("impl", ["rbg", *exhaustive("unsafe_rbg")])
def test_draws_and_batches_as_jax(impl):
    key, theirs = pair(impl)
    keys, their_keys = random.split(key, 3), jax.random.split(theirs, 3)

    def every(m, k):
        return [draw(m, k) for draw in DRAWS.values()]

    want = jax.jit(lambda k: every(jax.random, k))(theirs)
    batch = jax.jit(jax.vmap(lambda k: every(jax.random, k)))(their_keys)
    assert [x.size for x in want] == [6, 5, 5, 4]
    for got, wanted in zip(every(random, key), want, strict=True):
        same(got, wanted)
    mapped = imprint.jit(imprint.vmap(lambda k: every(random, k)))(keys)
    for got, wanted in zip(mapped, batch, strict=True):
        same(got, wanted)
    split = imprint.vmap(random.split)(keys)
    same_keys(split, jax.vmap(jax.random.split)(their_keys))


@pytest.mark.slow
@pytest.mark.exhaustive
@OTHERS
def test_rejection_samplers_are_as_in_jax(impl):
    key, theirs = pair(impl)
    same(random.gamma(key, 2.0, (3,)), jax.random.gamma(theirs, 2.0, (3,)))
    same(random.binomial(key, 9, 0.3, (3,)), jax.random.binomial(theirs, 9, 0.3, (3,)))


@pytest.mark.slow
@pytest.mark.exhaustive
def test_a_batch_of_gamma_draws_has_bits_of_a_batch():
    key, theirs = pair("rbg")
    keys, their_keys = random.split(key, 3), jax.random.split(theirs, 3)
    drawn = imprint.vmap(lambda k: random.gamma(k, 2.0))(keys)
    alone = [random.gamma(k, 2.0) for k in keys]
    wanted = np.asarray(jax.vmap(lambda k: jax.random.gamma(k, 2.0))(their_keys))
    same(np.stack(alone), wanted)
    assert (np.asarray(drawn) == wanted).tolist() == [True, False, False]


def test_poisson_takes_keys_of_every_implementation():
    key, theirs = pair("rbg")
    assert random.poisson(key, 3.0, (4,)).shape == (4,)
    with pytest.raises(NotImplementedError):
        jax.random.poisson(theirs, 3.0, (4,))


@pytest.mark.slow
@pytest.mark.parametrize("impl", ["unsafe_rbg", *exhaustive("rbg")])
def test_keys_go_through_loops_and_branches(impl):
    key, theirs = pair(impl)

    def walk(m, lax, k):
        def step(k, _):
            k, at = m.split(k)
            return lax.cond(True, lambda k: k, lambda k: m.fold_in(k, 1), k), m.bits(at)

        return lax.scan(step, k, None, length=3)

    last, bits = walk(random, imprint.lax, key)
    their_last, wanted = walk(jax.random, jax.lax, theirs)
    same_keys(last, their_last)
    same(bits, wanted)


@OTHERS
def test_the_flag_sets_the_implementation_of_new_keys(impl):
    made = imprint.jit(lambda: random.key(3))
    assert made().dtype == random.key_dtype("threefry2x32")
    with imprint.default_prng_impl(impl), jax.default_prng_impl(impl):
        raw, theirs = random.PRNGKey(3), jax.random.PRNGKey(3)
        same(raw, theirs)
        same(random.split(raw), jax.random.split(theirs))
        same(random.bits(raw, (2,)), jax.random.bits(theirs, (2,)))
        assert random.key_impl(raw) == random.key_impl(random.key(0)) == impl
        assert made().dtype == random.key_dtype() == random.key_dtype(impl)
        same(random.key_data(random.wrap_key_data(raw)), raw)
    assert made().dtype == random.KeyDType()


def test_the_implementation_is_part_of_the_type():
    draw = imprint.jit(lambda k: random.bits(k))
    for impl in (None, "rbg", "unsafe_rbg", "rbg"):
        draw(random.key(0, impl=impl))
    assert len(draw.versions) == 3
    text = str(draw.explain(random.split(random.key(0, impl="rbg"), 2)))
    assert "k.data.shape: (4,) → (2, 4)" in text
    fry = imprint.jit(lambda k: random.bits(k, (2,)))
    fry(random.key(0))
    said = str(fry.explain(random.key(0, impl="rbg")))
    assert "static data of k: 'threefry2x32' → 'rbg'" in said


def test_copies_and_shapes():
    key = random.key(5, impl="unsafe_rbg")
    for copied in (copy.copy(key), copy.deepcopy(key), pickle.loads(pickle.dumps(key))):
        assert copied.dtype == key.dtype
        assert bool(copied == key)
    keys = inp.stack([key, key]).reshape(1, 2)
    assert (keys.dtype, keys.shape, keys.size, keys.T.shape) == (
        *(key.dtype, (1, 2)),
        *(2, (2, 1)),
    )
    assert keys[0, 1].dtype == next(iter(keys)).dtype == key.dtype
    assert imprint.eval_shape(lambda: key).dtype == key.dtype
    assert random.key(5, dtype=key.dtype).dtype == random.clone(key).dtype == key.dtype
    assert random.Key(key) is key


FRY, RBG = random.key(0), random.key(0, impl="rbg")
MESSAGES = {
    "two": (
        lambda: random.key(0, impl="rbg", dtype=FRY.dtype),
        "key: expected one of impl and dtype, got impl='rbg' and dtype=key<fry>. Leave "
        "one out.",
    ),
    "raw": (
        lambda: random.bits(np.zeros(4, np.uint32)),
        "bits: expected a key, or its raw data uint32[..., 2], got uint32[4]. Make a key "
        "with imprint.random.key(0) and pass it first.",
    ),
    "words": (
        lambda: random.wrap_key_data(np.zeros(2, np.uint32), impl="rbg"),
        "wrap_key_data: expected a key, or its raw data uint32[..., 4], got uint32[2]. "
        "Make a key with imprint.random.key(0) and pass it first.",
    ),
    "compared": (
        lambda: FRY == RBG,
        "==: expected keys of one implementation, got key<fry> and key<rbg>. Compare "
        "their words, imprint.random.key_data(key).",
    ),
    "joined": (
        lambda: inp.stack([FRY, RBG]),
        "stack: expected keys of one implementation, got key<fry> and key<rbg>. Make "
        "them with one impl.",
    ),
}


@pytest.mark.parametrize("case", MESSAGES)
def test_messages(case):
    call, message = MESSAGES[case]
    with pytest.raises(errors.ArgumentError) as caught:
        call()
    assert str(caught.value) == message

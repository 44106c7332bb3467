import jax
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint import errors, random
from imprint._src.primitives import hashing
from imprint._src.random.threefry import _FEW, threefry2x32
from tests.units.random.streams import both_streams, flags, same, same_draw, same_keys

# Random123's known answers: key words, counter words, hash.
KNOWN = [
    ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
    ((2**32 - 1,) * 2, (2**32 - 1,) * 2, (0x1CB996FC, 0xBB002BE7)),
    ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0)),
]
SHAPES = [(), (1,), (7,), (0,), (2, 0, 3), (3, 5), (33,)]


@pytest.mark.parametrize(("key", "counter", "expected"), KNOWN)
def test_the_hash_is_threefry(key, counter, expected):
    words = map(np.uint32, (*key, *counter))
    assert tuple(map(int, threefry2x32(*words))) == expected
    assert hashing.threefry2x32(*key, *counter) == expected


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@both_streams
def test_bits_of_every_shape(shape, partitionable):
    with flags(partitionable=partitionable):
        same_draw("bits", shape)


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint64"])
@pytest.mark.parametrize("size", [5, 8])
@both_streams
def test_bits_of_every_width(dtype, size, partitionable):
    with flags(x64=True, partitionable=partitionable):
        same_draw("bits", (size,), dtype, seed=-3)


def test_a_draw_without_elements_of_every_width():
    with flags(x64=True, partitionable=False):
        for dtype in ("uint8", "uint64"):
            assert random.bits(random.key(0), (0, 2), dtype).shape == (0, 2)


def test_the_streams_differ():
    key = random.key(0)
    with imprint.threefry_partitionable(False):
        old = random.bits(key, (4,))
    assert not np.any(np.asarray(old) == np.asarray(random.bits(key, (4,))))


def test_draws_share_the_jaxpr_of_the_hash():
    def draws(key):
        return random.bits(key, (3,)), random.uniform(key, (3,))

    eqns = imprint.make_jaxpr(draws)(random.key(0)).jaxpr.eqns
    assert [e.primitive.name for e in eqns] == ["jit", "materialize"] * 2
    assert [e.params["name"] for e in eqns[::2]] == ["_bits", "unit_floats"]
    hashes = [
        inner.params["jaxpr"]
        for eqn in eqns[::2]
        for inner in eqn.params["jaxpr"].jaxpr.eqns
        if inner.primitive.name == "jit"
    ]
    assert len(hashes) == 2
    assert hashes[0] is hashes[1]


def hashes_of(f, *args):
    """Return how often the executable of `f` contains the hash."""
    rounds = imprint.jit(f).lower(*args).compile().as_text().count(" xor(")
    return round(rounds / 22)  # in 20 rounds, and two for the key schedule


@pytest.mark.slow
def test_a_draw_is_hashed_once_however_often_it_is_used():
    def use(key, x):
        mask = random.bernoulli(key, 0.5, (1000,))
        return inp.where(mask, x, 0).sum(0), inp.where(mask, x.T, 1)

    assert hashes_of(use, random.key(0), np.ones((1000, 1000), np.float32)) == 1


@pytest.mark.slow
def test_a_key_is_hashed_once_however_many_draws_descend_from_it():
    def walk(key, steps):
        total = 0.0
        for _ in range(steps):
            key, subkey = random.split(key)
            total += random.uniform(subkey, (9,))
        return total

    key = random.key(0)
    lengths = [hashes_of(lambda k, n=n: walk(k, n), key) for n in (2, 4)]
    assert lengths[1] == 2 * lengths[0]


def test_the_bits_in_a_program_are_those_outside():
    key = random.key(7)
    same(imprint.jit(lambda k: random.bits(k, (5,)))(key), random.bits(key, (5,)))
    with imprint.disable_jit():
        same(random.bits(key, (5,)), jax.random.bits(jax.random.key(7), (5,)))


@both_streams
def test_too_many_numbers(partitionable):
    with (
        flags(partitionable=partitionable),
        pytest.raises(errors.ShapeError) as caught,
    ):
        imprint.make_jaxpr(lambda k: random.bits(k, (1 << 16, 1 << 16)))(random.key(0))
    assert str(caught.value) == (
        "bits: expected a draw of fewer than 2**32 numbers, got 4294967296. "
        "Split the key and draw it in parts."
    )


@pytest.mark.parametrize("count", [0, 1, 2, 3, _FEW, _FEW + 1, 101])
@both_streams
def test_split_as_jax(count, partitionable):
    with flags(partitionable=partitionable):
        want = jax.random.split(jax.random.key(3), count)
        same_keys(random.split(random.key(3), count), want)


@both_streams
def test_split_as_under_jit(partitionable):
    with flags(partitionable=partitionable):
        for shape in (3, (2, 2), (0,)):
            traced = imprint.jit(lambda k, n=shape: random.split(k, n))(random.key(5))
            assert np.all(np.asarray(traced == random.split(random.key(5), shape)))


@pytest.mark.parametrize("number", [0, 1, 2**31, 2**32 - 1])
def test_fold_in_as_jax_and_as_under_jit(number):
    key = random.key(11)
    got = random.fold_in(key, number)
    same_keys(got, jax.random.fold_in(jax.random.key(11), np.uint32(number)))
    assert imprint.jit(random.fold_in)(key, np.uint32(number)) == got


def test_keys_compile_nothing(monkeypatch):
    monkeypatch.setattr(imprint._src.runtime, "compile", None)
    key, other = random.split(random.fold_in(random.key(1), 2))
    assert key != other
    assert random.split(key, 50).shape == (50,)

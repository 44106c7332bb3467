import jax
import numpy as np
import pytest

import imprint
from imprint import random
from imprint._src.random import host
from tests.units.random.streams import both_streams, flags, same_keys


@pytest.mark.parametrize("count", [0, 1, 2, 3, host._FEW, host._FEW + 1, 101])
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

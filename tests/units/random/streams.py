"""imprint.random and jax.random with the same flags are equal to the last bit."""

from contextlib import contextmanager

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import imprint
from imprint import random
from tests.lanes import exhaustive

FLOATS = ("float32", "float16", "bfloat16", "float64")
JAX_0_12 = tuple(map(int, jax.__version__.split(".")[:2])) >= (0, 12)

both_streams = pytest.mark.parametrize("partitionable", [True, False])
newer_stream = pytest.mark.parametrize("partitionable", [True, *exhaustive(False)])
"""For samplers that are composed of others, which are tested in both."""


@contextmanager
def flags(*, x64=False, partitionable=True):
    with (
        imprint.enable_x64(x64),
        imprint.threefry_partitionable(partitionable),
        jax.enable_x64(x64),
        jax.threefry_partitionable(partitionable),
    ):
        yield


def same_draw(name, *args, seed=0, **kwargs):
    """Draw with both; assert that dtype, shape and every bit agree."""
    got = getattr(random, name)(random.key(seed), *args, **kwargs)
    want = getattr(jax.random, name)(jax.random.key(seed), *args, **kwargs)
    same(got, want)


def same(got, want):
    got, want = np.asarray(got), np.asarray(want)
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    if got.tobytes() != want.tobytes():
        np.testing.assert_array_equal(got.astype(object), want.astype(object))
        pytest.fail("signs of zero or bits of NaN differ")


def same_keys(got, want):
    same(random.key_data(got), jax.random.key_data(want))


def dtypes_of(x64):
    return [jnp.dtype(name) for name in FLOATS if x64 or name != "float64"]

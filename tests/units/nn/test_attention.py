"""Attention as in `jax.nn`: values and derivatives of each option."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint import nn
from imprint.errors import ArgumentError, DTypeError, ShapeError
from tests.lanes import exhaustive
from tests.tolerances import assert_close

RNG = np.random.default_rng(0)
B, T, S, N, H = 2, 5, 4, 6, 3


def normal(*shape):
    return RNG.normal(size=shape).astype(np.float32)


Q, K, V = normal(B, T, N, H), normal(B, S, N, H), normal(B, S, N, H)
BIAS, MASK = normal(B, N, T, S), normal(B, N, T, S) > -0.5
T_LENGTHS, S_LENGTHS = np.array([3, 5], np.int32), np.array([4, 2], np.int32)

OPTIONS = {
    "none": {},
    "scale": {"scale": 0.3},
    "bias": {"bias": BIAS},
    "bias of all heads": {"bias": BIAS[:1, :1]},
    "bias of rank 3": {"bias": BIAS[0]},
    "mask": {"mask": MASK},
    "mask of all": {"mask": MASK[:1, :1, :1]},
    "causal": {"is_causal": True},
    "window": {"local_window_size": 1},
    "two windows": {"local_window_size": (2, 0)},
    "lengths of queries": {"query_seq_lengths": T_LENGTHS},
    "lengths of keys": {"key_value_seq_lengths": S_LENGTHS},
    "residual": {"return_residual": True},
    "xla": {"implementation": "xla"},
    "all": {
        "bias": BIAS,
        "mask": MASK,
        "scale": 2.0,
        "is_causal": True,
        "query_seq_lengths": T_LENGTHS,
        "key_value_seq_lengths": S_LENGTHS,
        "local_window_size": (2, 1),
        "return_residual": True,
    },
}
HEADS = {"as many": N, "shared by two": 3, "one": 1}


CASES = [(name, "shared by two") for name in OPTIONS]
CASES += exhaustive(*itertools.product(("bias", "all"), ("as many", "one")))


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("name", "heads"), CASES)
def test_as_jax(name, heads):
    options, few = OPTIONS[name], HEADS[heads]
    args = Q, K[:, :, :few], V[:, :, :few]
    expected = jax.nn.dot_product_attention(*args, **options)
    attend = imprint.jit(lambda *xs: nn.dot_product_attention(*xs, **options))
    for got in (attend(*args), nn.dot_product_attention(*args, **options)):
        got, wanted = (x if isinstance(x, tuple) else (x,) for x in (got, expected))
        for x, y in zip(got, wanted, strict=True):
            assert_close(x, y)


@pytest.mark.parametrize("name", ["none", "all"])
def test_derivatives_are_those_of_jax(name):
    options = OPTIONS[name]
    args = Q, K[:, :, :3], V[:, :, :3]

    def loss(attend, q, k, v):
        out = attend(q, k, v, **options)
        out = out[0] + out[1][..., None] if isinstance(out, tuple) else out
        return (out**2).sum()

    got = imprint.jit(
        imprint.grad(lambda *xs: loss(nn.dot_product_attention, *xs), (0, 1, 2))
    )(*args)
    expected = jax.grad(lambda *xs: loss(jax.nn.dot_product_attention, *xs), (0, 1, 2))(
        *args
    )
    for x, y in zip(got, expected, strict=True):  # JAX's are 5e-6 off the true ones
        np.testing.assert_allclose(x, y, rtol=1e-5, atol=1e-5)


def test_one_example_and_narrow_dtypes():
    got = nn.dot_product_attention(Q[0], K[0], V[0], return_residual=True)
    expected = jax.nn.dot_product_attention(Q[0], K[0], V[0], return_residual=True)
    for x, y in zip(got, expected, strict=True):
        assert_close(x, y)
    narrow = [jnp.asarray(x, "bfloat16") for x in (Q, K, V)]
    got = nn.dot_product_attention(*map(np.asarray, narrow), is_causal=True)
    expected = jax.nn.dot_product_attention(*narrow, is_causal=True)
    assert got.dtype == expected.dtype
    np.testing.assert_allclose(
        np.asarray(got, np.float32), np.asarray(expected, np.float32), atol=2e-2
    )


WRONG = {
    "a width": ((Q, K[..., :2], V[..., :2]), {}, ShapeError),
    "heads": ((Q, K[:, :, :4], V[:, :, :4]), {}, ShapeError),
    "a value": ((Q, K, V[:, :2]), {}, ShapeError),
    "a dtype": ((Q, K.astype(np.float16), V.astype(np.float16)), {}, DTypeError),
    "heads of a bias": ((Q, K, V), {"bias": BIAS[:, :2]}, ShapeError),
    "a mask of numbers": ((Q, K, V), {"mask": BIAS}, DTypeError),
    "lengths": ((Q, K, V), {"query_seq_lengths": T_LENGTHS[:1]}, ShapeError),
    "floats as lengths": ((Q, K, V), {"query_seq_lengths": inp.ones(2)}, ShapeError),
    "an implementation": ((Q, K, V), {"implementation": "flash"}, ArgumentError),
    "too many axes": ((Q[None], K, V), {}, ShapeError),
}


@pytest.mark.parametrize("name", WRONG)
def test_shapes_that_do_not_match_raise_as_in_jax(name):
    args, options, error = WRONG[name]
    with pytest.raises(error, match="dot_product_attention: expected"):
        nn.dot_product_attention(*args, **options)
    options = {
        k: getattr(v, "tolist", lambda v=v: v)() if k[0] == "q" else v
        for k, v in options.items()
    }
    with pytest.raises((ValueError, TypeError, AssertionError)):
        jax.nn.dot_product_attention(*args, **options)

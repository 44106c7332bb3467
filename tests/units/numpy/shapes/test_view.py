"""The bits of arrays in another dtype, as in JAX."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import imprint
import imprint.numpy as inp

DTYPES = (
    *("bool", "int2", "int4", "int8", "uint8", "int16", "int32", "int64", "float16"),
    *("bfloat16", "float32", "float64", "complex64", "complex128", "float8_e4m3fn"),
    "float4_e2m1fn",
)
SHAPES = ((2, 8), (), (3,), (0,), (4, 0))
USES = {
    **{f"view {name}": lambda x, name=name: x.view(name) for name in DTYPES},
    "view as it is": lambda x: x.view(),
    "byteswap": lambda x: x.byteswap(),
    "another class": lambda x: x.view(type=np.ndarray),
}


def outcome(use, x):
    try:
        return use(x)
    except (NotImplementedError, TypeError, ValueError) as error:
        return error


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("ignore:.*dtype", "ignore:.*bits")
@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_bits_as_another_dtype(dtype, wide):
    draws = np.random.default_rng(0)
    with jax.enable_x64(wide), imprint.enable_x64(wide):
        for shape, (name, use) in ((s, u) for s in SHAPES for u in USES.items()):
            values = draws.integers(0, 2, shape).astype(inp.dtype(dtype))
            x = inp.asarray(values)
            got = outcome(use, x)
            want = outcome(use, jnp.asarray(values))
            assert isinstance(got, Exception) == isinstance(want, Exception), name
            if isinstance(want, Exception):
                continue
            assert (got.shape, got.dtype) == (want.shape, want.dtype), name
            if "complex" not in name:  # JAX takes subnormal parts to zero
                texts = [str(np.asarray(x).tolist()) for x in (got, want)]
                assert texts[0] == texts[1], name  # no number is no number


@pytest.mark.parametrize("name", ["int16", "complex64", "bool"])
def test_views_are_compiled(name):
    x = inp.arange(1, 9, dtype="float32").reshape(2, 4)
    for use in (USES[f"view {name}"], USES["byteswap"]):
        found = imprint.jit(use)(x)
        assert np.asarray(found).tobytes() == np.asarray(use(x)).tobytes()
        assert np.asarray(imprint.vmap(use)(x)).tobytes() == np.asarray(found).tobytes()


def test_the_bits_are_those_of_numpy():
    names = [name for name in DTYPES if hasattr(np, name)]
    draws = np.random.default_rng(0)
    with imprint.enable_x64(True):
        for shape, one in itertools.product(SHAPES, names):
            values = draws.integers(0, 2, shape).astype(one)
            for name in ("byteswap", *(f"view {n}" for n in names)):
                want = outcome(USES[name], values)
                got = outcome(USES[name], inp.asarray(values))
                if isinstance(want, Exception):
                    assert isinstance(got, ValueError), (one, shape, name)
                else:
                    assert got.dtype == want.dtype
                    assert got.shape == want.shape
                    if (
                        want.dtype != bool
                    ):  # where NumPy keeps values other than 0 and 1
                        assert np.asarray(got).tobytes() == want.tobytes()


def test_views_as_numpy():
    values = np.array([1 + 2j, 3 - 4j], "complex64")
    x = inp.asarray(values)
    assert x.view("float32").tolist() == values.view("float32").tolist()
    assert x.view("float32").view("complex64").tolist() == values.tolist()
    assert np.asarray(x.byteswap()).tobytes() == values.byteswap().tobytes()
    assert inp.ComplexWarning is np.exceptions.ComplexWarning


def test_partial_elements_raise():
    with pytest.raises(ValueError, match="view") as caught:
        inp.ones(3, "int8").view("int16")
    assert str(caught.value) == (
        "view: expected a last axis of whole elements of int16, 16 bits each, got "
        "int8[3]. Reshape it, or convert the values with x.astype('int16')."
    )
    with pytest.raises(NotImplementedError, match="expected type to be None"):
        inp.ones(3).view(type=np.matrix)

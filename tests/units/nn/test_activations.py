"""Activations as in `jax.nn`: values, and derivatives of first and second order."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint import nn
from tests import oracle
from tests.tolerances import assert_close

NAMES = [
    *("celu", "elu", "gelu", "hard_sigmoid", "hard_silu", "hard_tanh", "identity"),
    *("leaky_relu", "log_sigmoid", "mish", "relu", "relu6", "selu", "sigmoid", "silu"),
    *("soft_sign", "softplus", "sparse_plus", "sparse_sigmoid", "squareplus", "tanh"),
]
ALIASES = {"hard_swish": "hard_silu", "swish": "silu"}
WITH_ARGUMENTS = {
    "celu, alpha": lambda m, x: m.celu(x, 2.5),
    "elu, alpha": lambda m, x: m.elu(x, 2.5),
    "gelu, exact": lambda m, x: m.gelu(x, approximate=False),
    "gelu, exact by position": lambda m, x: m.gelu(x, False),
    "leaky_relu, slope": lambda m, x: m.leaky_relu(x, 0.3),
    "leaky_relu, slopes": lambda m, x: m.leaky_relu(x, x / 7),
    "squareplus, b": lambda m, x: m.squareplus(x, 0.5),
}
FUNCTIONS = {name: lambda m, x, name=name: getattr(m, name)(x) for name in NAMES}
FUNCTIONS |= WITH_ARGUMENTS

CORNERS = [-6.0, -3.0, -1.0, -0.0, 0.0, 1.0, 3.0, 6.0]
EDGES = [-np.inf, -200, -90, -1e-20, 1e-20, 90, 200, np.inf]
POINTS = np.sort(np.array([*CORNERS, *EDGES, *np.linspace(-5, 5, 16)], np.float32))
OPERATIONS = "program", "gradient", "gradient"


def orders(transforms, module, call, points):
    """Return the function at points, and its first and second derivative there."""

    def f(x):
        return call(module, x)

    first = transforms.grad(f)
    second = transforms.grad(first)
    return [f(points), *(transforms.vmap(g)(points) for g in (first, second))]


@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_and_derivatives_as_jax(name):
    call = FUNCTIONS[name]
    got = orders(imprint, nn, call, inp.asarray(POINTS))
    want = oracle.jit(lambda x: orders(jax, jax.nn, call, x))(POINTS)
    for ours, theirs, operation in zip(got, want, OPERATIONS, strict=True):
        # At an infinity a formula of JAX's may be 0 * inf where there is a limit.
        ours, theirs = np.asarray(ours), np.asarray(theirs)
        has_limit = np.isinf(POINTS) & np.isnan(theirs) & np.isfinite(ours)
        assert_close(np.where(has_limit, theirs, ours), theirs, operation)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_derivative_is_nan_but_at_infinity(name):
    finite = inp.asarray(POINTS[np.isfinite(POINTS)])
    for values in orders(imprint, nn, FUNCTIONS[name], finite):
        assert np.isfinite(values).all()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_nan_stays_nan(name):
    assert np.isnan(FUNCTIONS[name](nn, inp.asarray(np.nan)))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_derivative_at_nan_is_that_of_jax(name):
    call = FUNCTIONS[name]
    got = imprint.grad(lambda x: call(nn, x))(np.nan)
    want = jax.grad(lambda x: call(jax.nn, x))(np.nan)
    np.testing.assert_equal(np.asarray(got), np.asarray(want))


def test_log1mexp_as_jax():
    x = np.array([1e-30, 1e-6, 0.3, 0.6931, 0.6932, 5, 80, 200, np.inf, 0, -1], "f4")
    got = orders(imprint, nn, lambda m, x: m.log1mexp(x), x)
    want = orders(jax, jax.nn, lambda m, x: m.log1mexp(x), x)
    assert_close(got[0], want[0])
    assert_close(got[1], want[1], "gradient")
    assert_close(got[2][2:6], want[2][2:6], "gradient")
    assert got[2][7] == 0  # where JAX's is NaN
    assert np.isnan(nn.log1mexp(np.nan))


FLOATS_ONLY = {"sigmoid", "silu"}
"""Those that refuse integers in JAX; here they make floats of them."""


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", ["int32", "float16", "bfloat16"])
def test_dtypes_as_jax(name, dtype):
    got = imprint.eval_shape(lambda x: FUNCTIONS[name](nn, x), inp.ones(2, dtype))
    theirs = jnp.ones(
        2, "float32" if name in FLOATS_ONLY and dtype == "int32" else dtype
    )
    want = jax.eval_shape(lambda x: FUNCTIONS[name](jax.nn, x), theirs)
    assert (got.shape, got.dtype) == (want.shape, want.dtype)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_weak_types_as_jax(name):
    got = FUNCTIONS[name](nn, inp.asarray(0.5))
    want = jax.eval_shape(lambda x: FUNCTIONS[name](jax.nn, x), jnp.asarray(0.5))
    assert (got.dtype, got.weak_type) == (want.dtype, want.weak_type)


@pytest.mark.parametrize("name", ALIASES)
def test_aliases(name):
    assert getattr(nn, name) is getattr(nn, ALIASES[name])

"""Derivatives and batches of imprint.numpy's compositions, compared with JAX's.

The laws check each primitive; this file checks functions made of several, at ordinary
points and where a derivative is a convention: ties, zeros, branches not taken.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from tests.tolerances import assert_close

X = np.array([[0.5, -1.25, 2.0], [1.5, 0.75, -0.25]], np.float32)
EDGES = np.array([[0.0, 1.0, -1.0], [1.0, 0.0, 2.0]], np.float32)

FUNCTIONS = {
    "absolute": lambda np, x: np.abs(x),
    "amax": lambda np, x: np.max(x, axis=0),
    "amin": lambda np, x: np.min(x),
    "angle": lambda np, x: np.angle(x + 1j * (x - 3)),
    "average": lambda np, x: np.average(x, axis=1, weights=x * x + 1),
    "clip": lambda np, x: np.clip(x, 0.0, 1.0),
    "concatenate": lambda np, x: np.concatenate([x, x * x], axis=1) * 2,
    "copysign": lambda np, x: np.copysign(x, -x + 0.1),
    "cumsum": lambda np, x: np.cumsum(x, axis=1) * x,
    "cumprod": lambda np, x: np.cumprod(x, axis=1),
    "diag": lambda np, x: np.diag(x[:, :2]) * np.diag(x[0])[:2, 0],
    "diff": lambda np, x: np.diff(x) ** 2,
    "divmod": lambda np, x: np.divmod(x + 3, 0.7)[1] * x,
    "dot": lambda np, x: np.dot(x, x.T),
    "einsum": lambda np, x: np.einsum("ij,kj,k->i", x, x, x[:, 0]),
    "exp2": lambda np, x: np.exp2(x) + np.expm1(x) + np.log1p(x * x),
    "float_power": lambda np, x: np.float_power(x + 3, 2),
    "fmax": lambda np, x: np.fmax(x, 0.5),
    "heaviside": lambda np, x: np.heaviside(x, 0.5) * x,
    "hypot": lambda np, x: np.hypot(x + 4, x - 4),
    "index": lambda np, x: x[1, ::-1] * x[0, 1:2] + x[..., -1].sum(),
    "interp": lambda np, x: np.interp(x, np.sort(x[0]), x[1]),
    "interp at a step": lambda np, x: np.interp(
        x, np.array([0.0, 0.0, 1.0]), np.array([1.0, 2.0, 4.0]) * x[0, 0]
    ),
    "kron": lambda np, x: np.kron(x, x[0]),
    "linspace": lambda np, x: np.linspace(x, 2.0, 4) ** 2,
    "logaddexp": lambda np, x: np.logaddexp(x, x[:, ::-1]),
    "logaddexp2": lambda np, x: np.logaddexp2(x, 1.0),
    "log10": lambda np, x: np.log10(x + 3) + np.log2(x + 4),
    "matmul": lambda np, x: x @ x.T @ x,
    "maximum": lambda np, x: np.maximum(x, x[:, ::-1]),
    "maximum scalar": lambda np, x: np.maximum(x, 0),
    "median": lambda np, x: np.median(x, axis=1) + np.nanmedian(x, axis=1),
    "mean": lambda np, x: np.mean(x * x, axis=0),
    "minimum": lambda np, x: np.minimum(x, 1.0),
    "mod": lambda np, x: np.mod(x, 0.7),
    "nan_to_num": lambda np, x: np.nan_to_num(x) * x,
    "nanmean": lambda np, x: np.nanmean(np.where(x > 1, np.nan, x)),
    "outer": lambda np, x: np.outer(x, x),
    "pad": lambda np, x: np.pad(x, 1, mode="reflect") ** 2,
    "power": lambda np, x: x**3 + x**2 + (x * x + 1) ** x,
    "power of zero": lambda np, x: x**0 + x**1,
    "prod": lambda np, x: np.prod(x, axis=1),
    "partition": lambda np, x: np.partition(x, 1) * np.arange(3.0),
    "ptp": lambda np, x: np.ptp(x, axis=1),
    "quantile": lambda np, x: np.quantile(x, np.array([0.2, 0.7]), axis=1) ** 2,
    "reciprocal": lambda np, x: np.reciprocal(x + 5),
    "remainder": lambda np, x: np.remainder(x, 2.0 + x * x),
    "repeat": lambda np, x: np.repeat(x, 2, axis=0) * np.tile(x, (2, 1)),
    "roll": lambda np, x: np.roll(x, 1, axis=1) * x,
    "round": lambda np, x: np.round(x) * x,
    "select": lambda np, x: np.select([x > 1, x < 0], [x * x, -x], 2 * x),
    "sinc": lambda np, x: np.sinc(x),
    "sinh": lambda np, x: np.sinh(x) + np.cosh(x) + np.tanh(x),
    "sort": lambda np, x: np.sort(x, axis=0) * x + np.sort(x, descending=True),
    "sqrt guarded": lambda np, x: np.where(x > 0, np.sqrt(np.where(x > 0, x, 1)), 0),
    "square": lambda np, x: np.square(x) + np.cbrt(x + 5),
    "stack": lambda np, x: np.stack([x, -x], axis=-1) ** 3,
    "std": lambda np, x: np.std(x, axis=1),
    "tensordot": lambda np, x: np.tensordot(x, x, 2),
    "trace": lambda np, x: np.trace(x @ x.T),
    "tril": lambda np, x: np.tril(x) * np.triu(x),
    "trig": lambda np, x: np.arctan(x) + np.arcsinh(x) + np.arctan2(x, x + 7),
    "true_divide": lambda np, x: x / (x * x + 1),
    "trunc": lambda np, x: np.trunc(x) + np.modf(x)[0],
    "unique": lambda np, x: np.unique(x, size=4) * np.arange(4.0),
    "var": lambda np, x: np.var(x, axis=0, ddof=1),
    "where": lambda np, x: np.where(x > 0.5, x, 3 * x),
}
# JAX's rule differs, or its convention at such points is not ours on purpose.
NO_EDGES = {"std", "cumprod", "angle", "power", "power of zero"}
POINTS = {
    **{name: (name, X) for name in FUNCTIONS},
    **{f"{name} at edges": (name, EDGES) for name in FUNCTIONS if name not in NO_EDGES},
}


def gradients(library, grad):
    def gradient(name, x):
        def total(x):
            return (FUNCTIONS[name](library, x) * library.asarray(1.5)).sum()

        return grad(total)(x)

    return gradient


@pytest.fixture(scope="module")
def expected():
    gradient = gradients(jnp, jax.grad)
    run = jax.jit(lambda: {key: gradient(name, x) for key, (name, x) in POINTS.items()})
    return run()


@pytest.mark.slow
@pytest.mark.parametrize("key", POINTS)
def test_gradient(key, expected):
    name, x = POINTS[key]
    with np.errstate(all="ignore"):
        got = gradients(inp, imprint.grad)(name, inp.asarray(x))
    assert_close(got, expected[key], "gradient")


@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTIONS)
def test_batch(name):
    stack = inp.asarray(np.stack([X, EDGES, X[::-1]], axis=1))
    with np.errstate(all="ignore"):
        got = imprint.vmap(lambda x: FUNCTIONS[name](inp, x), in_axes=1)(stack)
        want = inp.stack([FUNCTIONS[name](inp, stack[:, i]) for i in range(3)])
    assert_close(got, want, "program")

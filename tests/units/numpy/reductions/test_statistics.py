"""Variances as in JAX: counts that are known, masked or too few."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from tests.tolerances import assert_close

X = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32) * 3 + 100

CALLS = {
    "var": lambda q, x: q.var(x),
    "rows": lambda q, x: q.var(x, 1, keepdims=True),
    "all, kept": lambda q, x: q.var(x, keepdims=True),
    "two axes": lambda q, x: q.std(x, (0, 1), ddof=1),
    "a sample": lambda q, x: q.var(x, 0, ddof=1),
    "too few": lambda q, x: q.var(x, 0, ddof=3),
    "fewer than none": lambda q, x: q.std(x, ddof=99),
    "half a degree": lambda q, x: q.var(x, correction=0.5),
    "an array of degrees": lambda q, x: q.var(x, ddof=q.asarray(1.0)),
    "where": lambda q, x: q.var(x, 1, where=x > 100),
    "a mean": lambda q, x: q.var(x, 1, mean=q.zeros((3, 1))),
    "halves": lambda q, x: q.var(x.astype("float16"), ddof=1),
    "integers": lambda q, x: q.var(x.astype("int32"), ddof=99),
    "an integer dtype": lambda q, x: q.var(x, dtype="int32"),
    "complex": lambda q, x: q.var(x * (1 + 2j), 1),
    "a number": lambda q, x: q.var(2.0),
}


@pytest.mark.parametrize("name", CALLS)
def test_values_are_those_of_jax(name):
    call = CALLS[name]
    expected = call(jnp, jnp.asarray(X))
    for got in (call(inp, inp.asarray(X)), imprint.jit(lambda x: call(inp, x))(X)):
        assert (got.dtype, got.weak_type) == (expected.dtype, expected.weak_type)
        assert_close(got, expected)


@pytest.mark.parametrize("name", ["var", "rows", "a sample", "too few", "where"])
def test_derivatives_are_those_of_jax(name):
    call = CALLS[name]
    got = imprint.grad(lambda x: call(inp, x).sum())(X)
    assert_close(got, jax.grad(lambda x: call(jnp, x).sum())(X))


def test_a_known_count_costs_no_equations():
    jaxpr = imprint.make_jaxpr(inp.var)(X)
    names = [eqn.primitive.name for eqn in jaxpr.eqns]
    assert names == ["reduce_sum", "div", "sub", "square", "reduce_sum", "div"]


@pytest.mark.parametrize("name", ["nanvar", "nanstd"])
def test_derivatives_ignore_nan(name):
    x = inp.array([1.0, 2.0, np.nan, 5.0])
    found = imprint.grad(getattr(inp, name))(x)
    want = imprint.grad(getattr(inp, name.removeprefix("nan")))(x[inp.array([0, 1, 3])])
    assert_close(found, inp.array([want[0], want[1], 0.0, want[2]]))

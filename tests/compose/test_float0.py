"""The tangents of integers, which have no values, through every transform, as in JAX.

They are arrays of NumPy's of the dtype float0 wherever they come out. In a compiled
program they have no place.
"""

import numpy
import pytest

import imprint
from tests.oracle import jax
from tests.tolerances import assert_close

FLOAT0 = jax.dtypes.float0


def zero(*shape):
    return numpy.zeros(shape, FLOAT0)


def pair(x, y):
    return x * y, x


PROGRAMS = {
    "grad": lambda api: api.grad(lambda x: x * 2.0, allow_int=True)(3),
    "grad of an array": lambda api: api.grad(lambda x: (x * 2.0).sum(), allow_int=True)(
        numpy.arange(3)
    ),
    "jit of grad": lambda api: api.jit(
        api.grad(lambda x, y: x * y, argnums=(0, 1), allow_int=True)
    )(3, 2.0),
    "jit of grad, in a tree": lambda api: api.jit(
        lambda t: {"g": api.grad(lambda t: t["n"] * t["x"], allow_int=True)(t), "t": t}
    )({"n": 3, "x": 2.0}),
    "grad of jit": lambda api: api.grad(
        api.jit(lambda x, y: x * y), (0, 1), allow_int=True
    )(3, 2.0),
    "vmap of grad": lambda api: api.vmap(
        api.grad(lambda x, y: x * y, argnums=(0, 1), allow_int=True)
    )(numpy.arange(3), numpy.ones(3, "float32")),
    "jvp": lambda api: api.jvp(pair, (3, 2.0), (zero(), 1.0))[1],
    "jvp of jit": lambda api: api.jvp(api.jit(pair), (3, 2.0), (zero(), 1.0))[1],
    "jit of jvp": lambda api: api.jit(
        lambda x, t: api.jvp(pair, (x, 2.0), (t, 1.0))[1]
    )(3, zero()),
    "jit of jit of jvp": lambda api: api.jit(
        lambda x, t: api.jit(lambda x, t: api.jvp(pair, (x, 2.0), (t, 1.0))[1])(x, t)
    )(3, zero()),
    "vmap of jvp": lambda api: api.vmap(lambda x, t: api.jvp(pair, (x, x), (t, t))[1])(
        numpy.arange(2), zero(2)
    ),
    "vjp": lambda api: api.vjp(pair, 3, 2.0)[1]((1.0, zero())),
    "vjp of jit": lambda api: api.vjp(api.jit(pair), 3, 2.0)[1]((1.0, zero())),
    "jit of vjp": lambda api: api.jit(lambda x, ct: api.vjp(pair, x, 2.0)[1](ct))(
        3, (1.0, zero())
    ),
    "linearize": lambda api: api.linearize(pair, 3, 2.0)[1](zero(), 1.0),
    "jit of linearize": lambda api: api.jit(lambda f, t: f(t, 1.0))(
        api.linearize(pair, 3, 2.0)[1], zero()
    ),
    "through jit": lambda api: api.jit(lambda t: t)(zero(2)),
    "through jit, kept": lambda api: api.jit(lambda t, x: (t, x), keep_unused=True)(
        zero(2), 1.0
    ),
    "a constant of jit": lambda api: api.jit(lambda x: (zero(), x))(1),
    "through vmap": lambda api: api.vmap(lambda t: t)(zero(2, 3)),
    "through vmap to another axis": lambda api: api.vmap(lambda t: t, 1, 1)(zero(2, 3)),
    "an argument of what is differentiated": lambda api: api.grad(lambda x, t: x * 2)(
        1.0, zero()
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_float0_results_are_those_of_jax(name):
    for _ in range(2):  # the second call of a jitted function is warm
        got = imprint.tree.leaves(PROGRAMS[name](imprint))
    want = jax.tree.leaves(PROGRAMS[name](jax))
    for x, y in zip(got, want, strict=True):
        assert (x.shape, x.dtype) == (y.shape, y.dtype)
        if x.dtype == FLOAT0:
            assert type(x) is numpy.ndarray
        else:
            assert_close(x, jax.numpy.asarray(y), "gradient")


def test_a_warm_call_takes_other_tangents_of_the_same_shape():
    f = imprint.jit(lambda t, x: (t, x + 1))
    for x in (1.0, 2.0):
        t, y = f(zero(3), x)
        assert (t.shape, float(y)) == ((3,), x + 1)
    assert f._cache_size() == 1
    assert f(zero(4), 1.0)[0].shape == (4,)
    assert f._cache_size() == 2


def test_float0_has_no_arithmetic_in_a_traced_function():
    for api in (jax, imprint):
        with pytest.raises(TypeError):
            api.jit(lambda t: t + 1)(zero(2))

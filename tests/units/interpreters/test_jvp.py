"""Conversions of values with tangents to Python and NumPy.

A result of NumPy, `math` or `float` would have no derivative, and the gradient would be
silently wrong. Conversions to bools and indices lose nothing. JAX decides each case.
"""

import math
import operator
import pickle

import numpy
import pytest

import imprint
import imprint.numpy as inp
from imprint import lax
from imprint.errors import ConcretizationError
from tests.oracle import jax
from tests.tolerances import assert_close

TRANSFORMS = {
    "grad": lambda api, f: api.grad(f)(3.0),
    "grad at an array": lambda api, f: api.grad(f)(numpy.float32(3)),
    "vjp": lambda api, f: api.vjp(f, 3.0)[1](api.numpy.asarray(f(3.0)) * 0 + 1.0),
    "jvp": lambda api, f: api.jvp(f, (3.0,), (1.0,)),
    "linearize": lambda api, f: api.linearize(f, 3.0)[1](1.0),
    "grad of grad": lambda api, f: api.grad(api.grad(f))(3.0),
    "jvp of grad": lambda api, f: api.jvp(api.grad(f), (3.0,), (1.0,)),
    "grad of jvp": lambda api, f: api.grad(
        lambda x: api.jvp(f, (x,), (api.numpy.ones_like(x),))[1]
    )(3.0),
    "vmap of grad": lambda api, f: api.vmap(api.grad(f))(numpy.ones(2, "float32")),
    "jvp in jit": lambda api, f: api.jit(lambda t: api.jvp(f, (3.0,), (t,)))(1.0),
}
OUTSIDE = [name for name in TRANSFORMS if "vmap" not in name and "jit" not in name]
"""Transforms under which the value itself is known."""

LOST = {
    "float": lambda np: lambda x: float(x) * x,
    "complex": lambda np: lambda x: complex(x).real * x,
    "math.exp": lambda np: lambda x: math.exp(x) * x,
    "math.floor": lambda np: lambda x: math.floor(x) * x,
    "numpy.array": lambda np: lambda x: numpy.array([x, x]).sum() * x,
    "numpy.asarray": lambda np: lambda x: numpy.asarray(x) * x,
    "numpy.full": lambda np: lambda x: numpy.full(2, x).sum() * x,
    "numpy.float32": lambda np: lambda x: numpy.float32(x) * x,
    "an element": lambda np: lambda x: numpy.zeros(1).__setitem__(0, x) or x,
    "__array__": lambda np: lambda x: x.__array__() * x,
    "tolist": lambda np: lambda x: np.stack([x, x]).tolist()[0] * x,
    "index": lambda np: lambda x: operator.index(x) * x,
    "range": lambda np: lambda x: len(range(x)) * x,
    "pickle": lambda np: lambda x: pickle.loads(pickle.dumps(x)) * x,
    "times zero": lambda np: lambda x: float(x * 0) * x,
}

KEPT = {
    "if": lambda np: lambda x: x * x if x else x,
    "bool": lambda np: lambda x: x * bool(x),
    "int": lambda np: lambda x: x * int(x),
    "compared": lambda np: lambda x: x * x if x > 0 else x,
    "bool of a comparison": lambda np: lambda x: x * bool(x > 0),
    "float of a comparison": lambda np: lambda x: x * float(x > 0),
    "while": lambda np: _doubled,
    "max": lambda np: lambda x: max(x, 1.0) * x,
    "sorted": lambda np: lambda x: sorted([x, 1.0])[-1] * x,
    "in": lambda np: lambda x: x * x if x in [3.0] else x,
    "an integer": lambda np: lambda x: x * [5.0, 7.0][np.argmax(np.stack([1.0, x]))],
    "floor": lambda np: lambda x: x * int(np.floor(x)),
    "zeros": lambda np: lambda x: x * float(np.zeros_like(x)),
    "printed": lambda np: lambda x: x * len(f"{x}" * 0 + repr(x) * 0),
    "the shape": lambda np: lambda x: x * numpy.zeros(numpy.shape(x)),
}


def _doubled(x):
    while x < 100.0:
        x = x * x
    return x


@pytest.mark.parametrize("name", LOST)
@pytest.mark.parametrize("transform", TRANSFORMS)
def test_a_conversion_that_loses_a_tangent_raises_as_in_jax(transform, name):
    run = TRANSFORMS[transform]
    for api in (jax, imprint):
        with pytest.raises((TypeError, ValueError)):
            run(api, LOST[name](api.numpy))


@pytest.mark.slow
@pytest.mark.parametrize("name", KEPT)
@pytest.mark.parametrize("transform", OUTSIDE)
def test_a_decision_loses_nothing_as_in_jax(transform, name):
    run = TRANSFORMS[transform]
    got, want = (run(api, KEPT[name](api.numpy)) for api in (imprint, jax))
    for x, y in zip(imprint.tree.leaves(got), jax.tree.leaves(want), strict=True):
        assert_close(x, y, "gradient")


@pytest.mark.parametrize("transform", OUTSIDE)
def test_conversions_that_jax_allows_lose_a_tangent_too(transform):
    run = TRANSFORMS[transform]
    for f in (lambda x: x.item() * x, lambda x: inp.arange(x).sum() * x):
        with pytest.raises(ConcretizationError, match="stop_gradient"):
            run(imprint, f)


@pytest.mark.parametrize("transform", OUTSIDE)
def test_a_function_of_numpy_is_that_of_imprint(transform):
    run = TRANSFORMS[transform]
    got, want = run(imprint, numpy.sin), run(jax, jax.numpy.sin)
    for x, y in zip(imprint.tree.leaves(got), jax.tree.leaves(want), strict=True):
        assert_close(x, y, "gradient")


def test_a_value_without_a_tangent_is_a_constant():
    def f(x, n):
        return x * float(lax.stop_gradient(x)) * float(n) * numpy.asarray(n)

    assert float(imprint.grad(f)(3.0, 2.0)) == 12.0
    assert float(imprint.grad(imprint.grad(lambda x, n: f(x, n) * x))(3.0, 2.0)) == 24.0
    assert float(imprint.jvp(lambda x: f(x, 2), (3.0,), (1.0,))[1]) == 12.0


def test_a_conversion_in_a_mapped_function_names_vmap_inside_any_transform():
    def f(x):
        return imprint.vmap(lambda y: y * float(y))(x).sum()

    for run in (f, imprint.grad(f), imprint.jit(f)):
        with pytest.raises(ConcretizationError, match=r"mapped by vmap(.|\n)*in_axes"):
            run(numpy.ones(2, "float32"))


def test_in_a_compiled_gradient_it_is_jit_that_hides_the_value():
    with pytest.raises(ConcretizationError, match=r"traced by jit(.|\n)*static"):
        imprint.jit(imprint.grad(lambda x: float(x) * x))(3.0)

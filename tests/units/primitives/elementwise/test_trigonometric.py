"""Circular and hyperbolic functions: long arrays, branch cuts, small and large parts."""

import jax
import mpmath
import numpy as np
import pytest
from jax import lax

import imprint
from imprint._src.config import enable_x64
from imprint._src.jit.api import jit
from imprint._src.primitives.elementwise import trigonometric
from imprint._src.primitives.elementwise.trigonometric import (
    acos,
    acosh,
    asin,
    asinh,
    atan,
    atanh,
    cos,
    cosh,
    sin,
    sinh,
    tan,
    tanh,
)
from tests.tolerances import assert_close
from tests.units.primitives.agreement import tangent
from tests.units.primitives.formulations import assert_same_bits, both, texts
from tests.units.primitives.twin import assert_as_jax

COMPLEXES = ["complex64", "complex128"]


def assert_both_close(fun, x, want):
    """Assert that `fun` gives `want` up to rounding, eagerly and compiled."""
    with enable_x64(True):
        for run in (fun, jit(fun)):
            assert_close(run(x), want)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("length", [49, 50, 127, 1000])
def test_arc_functions_of_long_arrays(length, dtype):
    """jaxlib 0.10.2 computes other numbers for `atan2(x, 1)`, which atan becomes."""
    x = np.linspace(-0.99, 0.99, length).astype(dtype)
    wide = x.astype("float64")
    for fun, want in [(asin, np.arcsin), (acos, np.arccos), (atan, np.arctan)]:
        assert_both_close(fun, x, want(wide).astype(dtype))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", COMPLEXES)
def test_on_their_cuts_inverses_do_not_see_the_sign_of_zero(dtype):
    for fun, above, below in [
        (asin, complex(2, 0.0), complex(2, -0.0)),
        (acos, complex(-2, 0.0), complex(-2, -0.0)),
        (acosh, complex(-3, 0.0), complex(-3, -0.0)),
        (asinh, complex(0.0, 2), complex(-0.0, 2)),
    ]:
        inverse = getattr(np, f"arc{fun.__name__.removeprefix('a')}")
        want = inverse(np.array([above, above], dtype))
        assert_both_close(fun, np.array([above, below], dtype), want)


@pytest.mark.parametrize("dtype", COMPLEXES)
def test_a_small_part_keeps_its_digits(dtype):
    x = np.array([1 + 1e-20j, 2 - 1e-9j], dtype)
    parts = [
        (sin, lambda z: z.imag, np.cos(x.real) * x.imag),
        (cos, lambda z: z.imag, -np.sin(x.real) * x.imag),
        (sinh, lambda z: z.imag, np.cosh(x.real) * x.imag),
        (cosh, lambda z: z.imag, np.sinh(x.real) * x.imag),
    ]
    for fun, part, want in parts:
        with enable_x64(True):
            for run in (fun, jit(fun)):
                assert_close(part(np.asarray(run(x))) / want, np.ones_like(want))
    y = x * 1j
    with enable_x64(True):
        for run in (sinh, jit(sinh)):
            ratio = np.asarray(run(y)).real / (np.cos(y.imag) * y.real)
            assert_close(ratio, np.ones_like(ratio))


@pytest.mark.parametrize("dtype", COMPLEXES)
def test_zero_times_an_infinite_part_is_zero(dtype):
    x = np.array([2000j, -2000j], dtype)
    with enable_x64(True):
        for run in (sin, jit(sin)):
            out = np.asarray(run(x))
            np.testing.assert_array_equal(out.real, [0, 0])
            np.testing.assert_array_equal(out.imag, [np.inf, -np.inf])
        for run in (cos, jit(cos)):
            np.testing.assert_array_equal(np.asarray(run(x)).real, [np.inf, np.inf])


def test_acosh_differentiates_to_the_right_root_everywhere():
    x = np.array([-3 - 4j, -2 + 1j, 0.5 + 0.5j, 3 + 0j])
    got = tangent(acosh, [x], [np.ones_like(x)])
    step = 1e-6
    want = (np.arccosh(x + step) - np.arccosh(x - step)) / (2 * step)
    np.testing.assert_allclose(got, want, rtol=1e-8)


def test_tanh_saturates_without_a_derivative():
    x = np.array([0.0, 50.0, -50.0, np.inf, -np.inf])
    got = tangent(tanh, [x], [np.ones(5)])
    np.testing.assert_array_equal(got, [1, 0, 0, 0, 0])


@pytest.mark.parametrize("fun", [asin, acos, atanh])
def test_derivatives_at_the_ends_of_the_domain_are_infinite(fun):
    got = tangent(fun, [np.array([1.0, -1.0])], [np.ones(2)])
    np.testing.assert_array_equal(np.abs(got), [np.inf, np.inf])


@pytest.mark.parametrize("name", ["sin", "tan", "asin", "atan", "asinh", "tanh"])
def test_second_derivatives_are_those_of_jax(name):
    x = np.linspace(-0.9, 0.9, 10)
    ours, theirs = getattr(trigonometric, name), getattr(lax, name)
    assert_as_jax(curvature(imprint, ours), curvature(jax, theirs), x)


def curvature(lib, fun):
    return lambda x: lib.vmap(lib.grad(lib.grad(fun)))(x)


# ---- many real numbers ----

CIRCULAR = {
    "sin": (sin, mpmath.sin),
    "cos": (cos, mpmath.cos),
    "tan": (tan, mpmath.tan),
}
MANY = 1 << 14
EXTREME = (np.inf, -np.inf, np.nan, 1e-45, -1e-45)


NEAREST = (1.2614587862244266e38, 7.729178919452902e28, 252.89820861816406)
"""The numbers of float32 that are nearest to multiples of π/2."""


def everywhere(dtype):
    """Return numbers of all sizes up to the limit, and some near multiples of π/4."""
    random = np.random.default_rng(0)
    largest, nearest = (3e38, NEAREST) if dtype == "float32" else (1e6, ())
    third = MANY // 3
    sizes = np.exp(random.uniform(-70, np.log(largest), third))
    near = np.pi / 4 * random.integers(1, 1_200_000, third)
    rest = random.uniform(-1e6, 1e6, MANY - 2 * third - len(nearest))
    return np.concatenate([nearest, sizes, -near, rest]).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", CIRCULAR)
def test_many_angles_are_as_exact_as_those_of_xla(name, dtype):
    function, exact = CIRCULAR[name]
    x = everywhere(dtype)
    found = both(function, x)
    at = np.append(np.random.default_rng(1).permutation(MANY)[:2000], [0, 1, 2])
    with mpmath.workprec(160):
        truth = [exact(mpmath.mpf(float(v))) for v in x[at]]
        ulps = np.spacing(np.abs(np.array(truth, np.float64)).astype(dtype))
        fast, plain = (
            max(
                abs((mpmath.mpf(float(v)) - t) / mpmath.mpf(float(u)))
                for v, t, u in zip(values[at], truth, ulps, strict=True)
            )
            for values in found
        )
    limit = 0.502 if dtype == "float32" else min(1, plain + 1)
    assert fast <= limit or (name, dtype) == ("tan", "float64")
    fast, plain = texts(function, x)
    assert (fast == plain) is ((name, dtype) == ("tan", "float64"))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", CIRCULAR)
def test_many_special_angles_are_those_of_xla(name, dtype):
    function, _ = CIRCULAR[name]
    special = np.array([0.0, -0.0, *EXTREME, 1e-38, 1e-12], dtype)
    if name == "tan":  # jaxlib 0.10 has 0 for the tangent of a subnormal number
        special = special[~(np.abs(special) < np.finfo("float32").smallest_normal)]
    assert_same_bits(*both(function, np.resize(special, MANY)))


@pytest.mark.parametrize("name", ["sin", "cos"])
def test_one_large_angle_of_float64_sends_all_to_xla(name):
    function, _ = CIRCULAR[name]
    large = np.array([0.0, -0.0, *EXTREME, 1e-12, 1.1e6, 1e15, -1e38, 1e300])
    assert_same_bits(*both(function, np.resize(large, MANY)))


def test_few_angles_and_others_are_one_operation():
    for x in (np.ones(MANY - 1, np.float32), np.ones(MANY, np.float16)):
        fast, plain = texts(sin, x)
        assert fast == plain

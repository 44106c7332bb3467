"""Exponentials and roots where digits are lost: whole powers, small numbers, branch cuts."""

import jax
import numpy as np
import pytest
from jax import lax

import imprint
from imprint._src.config import enable_x64
from imprint._src.jit.api import jit
from imprint._src.primitives.elementwise.exponential import (
    cbrt,
    exp2,
    expm1,
    log,
    log1p,
    rsqrt,
    sqrt,
    square,
)
from imprint._src.primitives.elementwise.trigonometric import logistic
from imprint.errors import DTypeError
from tests.tolerances import assert_close
from tests.units.primitives.agreement import assert_agreed, tangent
from tests.units.primitives.twin import assert_as_jax

INF = np.inf
FLOATS = ["float32", "float64", "float16", "bfloat16"]
COMPLEXES = ["complex64", "complex128"]


def assert_both_close(fun, x, want):
    """Assert that `fun` gives `want` up to rounding, eagerly and compiled."""
    with enable_x64(True):
        for run in (fun, jit(fun)):
            assert_close(run(x), want)


@pytest.mark.parametrize("dtype", FLOATS)
def test_whole_powers_of_two_are_exact(dtype):
    x = np.arange(-14, 16).astype(dtype)
    assert_agreed(exp2, [x], np.ldexp(1.0, np.arange(-14, 16)).astype(dtype))


@pytest.mark.parametrize("fun", [expm1, log1p])
@pytest.mark.parametrize("dtype", [*FLOATS[:2], *COMPLEXES])
def test_small_numbers_keep_their_digits(fun, dtype):
    x = np.array([1e-30, -1e-30, 3e-20]).astype(dtype)
    with enable_x64(True):
        for run in (fun, jit(fun)):
            assert_close(np.asarray(run(x)) / x, np.ones_like(x))


@pytest.mark.parametrize("dtype", COMPLEXES)
def test_expm1_of_an_infinite_real_number_is_one(dtype):
    x = np.array([complex(INF, 0), complex(1e30, 0), complex(-INF, 0), 2], dtype)
    want = np.array([complex(INF, 0), complex(INF, 0), -1, np.expm1(2)], dtype)
    if dtype == "complex128":
        x, want = x[[0, 2, 3]], want[[0, 2, 3]]
    assert_both_close(expm1, x, want)
    assert_both_close(expm1, x[0], want[0])


def test_log1p_of_small_complex_numbers_keeps_both_parts():
    x = np.array([1e-9 + 1e-3j, -2e-4 + 1e-2j, 0.3 - 0.4j, 30 + 40j, -0.9 + 0.8j])
    radius = np.log1p(x.real * (2 + x.real) + x.imag**2) / 2
    want = radius + 1j * np.arctan2(x.imag, 1 + x.real)
    assert_both_close(log1p, x, want)


@pytest.mark.parametrize("dtype", COMPLEXES)
def test_on_its_cut_sqrt_does_not_see_the_sign_of_zero(dtype):
    x = np.array([complex(-4, 0.0), complex(-4, -0.0)], dtype)
    assert_both_close(sqrt, x, np.array([2j, 2j], dtype))
    assert_both_close(rsqrt, x, np.array([-0.5j, 0.5j], dtype))
    assert_both_close(log, x, np.log(x))


def test_real_roots_keep_the_sign_of_zero():
    x = np.array([-0.0, 0.0, INF], "float32")
    assert_agreed(sqrt, [x], x)
    assert_agreed(rsqrt, [x], np.array([-INF, INF, 0], "float32"))
    assert_agreed(cbrt, [x], x)


@pytest.mark.parametrize("dtype", COMPLEXES)
def test_the_logistic_function_does_not_overflow(dtype):
    x = np.array([-1000 + 1j, 1000 - 1j, -1000, 1000], dtype)
    assert_both_close(logistic, x, np.array([0, 1, 0, 1], dtype))


def test_square_of_integers_wraps_around():
    assert_agreed(square, [np.array([-128, 11, 16], "int8")], np.int8([0, 121, 0]))


def test_integers_are_refused_with_the_way_out():
    with pytest.raises(DTypeError) as caught:
        log1p(np.arange(3, dtype=np.int32))
    assert str(caught.value) == (
        "log1p: expected a float or complex dtype, got int32[3]. Convert it with "
        "`.astype(...)`, or call imprint.numpy, which promotes."
    )


def test_derivatives_at_the_ends_of_the_domain():
    one = np.array([1.0])
    for fun, x, want in [
        (sqrt, 0.0, INF),
        (cbrt, 0.0, INF),
        (log, 0.0, INF),
        (log1p, -1.0, INF),
        (rsqrt, INF, 0.0),
        (expm1, -40.0, np.exp(-40.0)),  # `expm1(x) + 1` has no digits left here
        (logistic, -INF, 0.0),
        (logistic, INF, 0.0),
    ]:
        assert_close(tangent(fun, [np.array([x])], [one]), np.array([want]))


@pytest.mark.parametrize("ours", [logistic, rsqrt, exp2, log1p])
def test_second_derivatives_are_those_of_jax(ours):
    x = np.linspace(0.1, 3, 11)
    theirs = getattr(lax, ours.__name__)
    assert_as_jax(curvature(imprint, ours), curvature(jax, theirs), x)


def curvature(lib, fun):
    return lambda x: lib.vmap(lib.grad(lib.grad(fun)))(x)

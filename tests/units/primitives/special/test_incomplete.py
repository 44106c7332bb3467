"""The incomplete gamma and beta functions where the laws do not draw: far, and at ends."""

import numpy as np
import pytest
from scipy import special

import imprint
from imprint import lax
from imprint._src.core.primitive import Primitive, Samples
from imprint._src.primitives.special.incomplete import (
    regularized_incomplete_beta_p as beta_p,
)
from imprint.errors import AbsentRuleError, NotDifferentiableError
from tests import oracle
from tests.laws import test_aval, test_batch, test_lower
from tests.oracle import jax
from tests.tolerances import FINITE_DIFFERENCE, assert_within

SAMPLES = Samples(
    ("float32", "float64", "bfloat16", "float16"),
    arity=3,
    operand_domains=((0.5, 8.0), (0.5, 8.0), (0.01, 0.99)),
    differentiable=False,
    ulps=512,
)
RULES = {rule: getattr(beta_p, rule) for rule in Primitive.__slots__ if rule != "_memo"}
LAWFUL = Primitive(**(RULES | {"samples": SAMPLES}))
"""`betainc` with samples: it has none, since laws differentiate by every operand."""


@pytest.mark.slow
@pytest.mark.parametrize("tests", [test_aval, test_batch, test_lower])
def test_betainc_obeys_the_laws(tests):
    with imprint.enable_x64(True):
        tests.law(LAWFUL)


def far(count):
    """Return shapes from 1e-3 to 3e5, and numbers near them."""
    rng = np.random.default_rng(0)
    a = 10 ** rng.uniform(-3, 5.5, count)
    return a, a * np.exp(rng.normal(0, 1, count) * np.minimum(1, 3 / np.sqrt(a)))


@pytest.mark.parametrize("x64", [True, False])
def test_igamma_is_precise_for_large_shapes(x64):
    a, x = far(300)
    with imprint.enable_x64(x64):
        if not x64:
            a, x = a.astype(np.float32), x.astype(np.float32)
        both = imprint.jit(lambda a, x: (lax.igamma(a, x), lax.igammac(a, x)))(a, x)
    for got, reference in zip(both, (special.gammainc, special.gammaincc), strict=True):
        error = np.abs(
            np.asarray(got, float) - reference(a.astype(float), x.astype(float))
        )
        assert error.max() < (1e-12 if x64 else 3e-5)


def test_betainc_is_precise_for_large_shapes():
    a, x = far(300)
    b = a[::-1].copy()
    x = np.clip(a / (a + b) * x / a, 0, 1)
    with imprint.enable_x64(True):
        got = imprint.jit(lax.betainc)(a, b, x)
    assert np.abs(np.asarray(got) - special.betainc(a, b, x)).max() < 1e-8


def test_the_derivative_of_a_draw_is_that_of_jax():
    a, x = far(100)
    a, x = a[a < 1e4], x[a < 1e4]
    with jax.enable_x64(True), imprint.enable_x64(True):
        want = np.asarray(oracle.jit(oracle.lax.random_gamma_grad)(a, x))
        np.testing.assert_allclose(lax.random_gamma_grad(a, x), want, rtol=1e-8)
        np.testing.assert_allclose(
            imprint.jit(lax.random_gamma_grad)(a, x), want, rtol=1e-8
        )


@pytest.mark.parametrize("a", [999.0, 1001.0, 1e6 - 1, 1e6 + 1, 1e30])
def test_the_derivative_of_a_draw_at_the_seam(a):
    with imprint.enable_x64(a != 999.0 and a != 1001.0):
        x = a + np.sqrt(a)
        z = 1.0
        want = 1 + z / (2 * np.sqrt(a)) - 1 / (3 * a)
        assert abs(float(imprint.jit(lax.random_gamma_grad)(a, x)) - want) < 2e-3


def test_large_numbers_end():
    with imprint.enable_x64(True):
        p = imprint.jit(lax.igamma)(np.array([1e300, 1e30]), np.array([1e299, 1e30]))
    np.testing.assert_allclose(p, [0.0, 0.5], atol=1e-12)


def test_betainc_is_derived_by_x_alone():
    def slope(x):
        return imprint.grad(lambda x: lax.betainc(2.0, 3.0, x))(x)

    assert_within(
        np.float64(slope(0.25)), np.float64(12 * 0.25 * 0.75**2), FINITE_DIFFERENCE
    )
    with pytest.raises(NotDifferentiableError) as info:
        imprint.grad(lambda a: lax.betainc(a, 3.0, 0.5))(2.0)
    assert str(info.value) == (
        "betainc: expected to differentiate by x, got a tangent of a or of b, for which "
        "there is no rule. Hold both constant: close over them, or use stop_gradient."
    )


def test_a_derivative_of_igamma_has_none():
    with pytest.raises(AbsentRuleError) as info:
        imprint.grad(imprint.grad(lax.igamma))(2.0, 1.0)
    assert str(info.value) == (
        "of igamma there is the derivative by a, but no second one: use stop_gradient"
    )


def test_axes_of_length_1_are_repeated():
    column, row = np.ones((2, 1), np.float32), np.ones((1, 3), np.float32)
    assert lax.igamma(column, row).shape == (2, 3)
    assert lax.betainc(column, row, 0.5).shape == (2, 3)
    assert lax.zeta(column + 1, row).shape == (2, 3)

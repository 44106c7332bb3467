"""pow of many numbers of float32: rounded once, and IEEE's for special numbers."""

import numpy as np
import pytest

from imprint._src.primitives.elementwise.exponential import exp2
from imprint._src.primitives.elementwise.power import pow_
from imprint._src.primitives.elementwise.real_power import MANY
from tests.units.primitives.formulations import both, texts

SPECIAL = np.array(
    (
        *(0.0, -0.0, 1, -1, 0.5, -0.5, 2, -2, 3, -3, np.inf, -np.inf, np.nan, 1.7),
        *(-1.7, 1e-45, -1e-45, 1e-38, 1e38, 1e10, -1e10, 16777215, -16777215),
    ),
    np.float32,
)


def truth(x, y):
    """Return powers, and these in float32."""
    with np.errstate(all="ignore"):
        exact = np.power(x.astype(np.longdouble), y.astype(np.longdouble))
        return exact, exact.astype(np.float32)


def test_powers_of_many_are_rounded_once():
    random = np.random.default_rng(0)
    near = np.exp(random.normal(size=MANY))
    sizes = np.exp(random.uniform(-103, 88, MANY))
    x = np.concatenate([near, sizes]).astype(np.float32)
    y = random.normal(size=x.size) * np.exp(random.uniform(-10, 4, x.size))
    y = y.astype(np.float32)
    fast, _ = both(pow_, x, y)
    exact, rounded = truth(x, y)
    np.testing.assert_array_equal(np.isinf(fast), np.isinf(rounded))
    shown = np.isfinite(rounded) & (rounded > 0)
    wrong = np.abs(fast[shown].astype(np.longdouble) - exact[shown])
    ulps = wrong / np.spacing(rounded[shown])
    assert ulps.max() <= 0.502


def test_powers_of_many_special_numbers():
    x, y = (a.ravel() for a in np.meshgrid(SPECIAL, SPECIAL))
    times = -(-MANY // x.size)
    fast, plain = (out[: x.size] for out in both(pow_, *np.tile((x, y), times)))
    _, exact = truth(x, y)
    np.testing.assert_array_equal(fast, exact)
    shown = ~np.isnan(exact)
    np.testing.assert_array_equal(np.signbit(fast)[shown], np.signbit(exact)[shown])
    least = np.finfo(np.float32).smallest_normal  # XLA drops smaller ones
    usual = np.all([(v == 0) | ~(np.abs(v) < least) for v in (x, y, exact)], axis=0)
    np.testing.assert_allclose(fast[usual], plain[usual], 2e-6)


def test_powers_of_two_are_rounded_once():
    x = np.linspace(-151, 129, MANY).astype(np.float32)
    x[: SPECIAL.size] = SPECIAL
    fast, _ = both(exp2, x)
    exact, rounded = truth(np.full_like(x, 2), x)
    np.testing.assert_array_equal(np.isfinite(fast), np.isfinite(rounded))
    np.testing.assert_array_equal(fast[: SPECIAL.size], rounded[: SPECIAL.size])
    shown = np.isfinite(rounded) & (rounded > 0)
    wrong = np.abs(fast[shown].astype(np.longdouble) - exact[shown])
    assert (wrong / np.spacing(rounded[shown])).max() <= 0.501


@pytest.mark.parametrize("dtype", ["float64", "complex64", "float16"])
def test_powers_of_few_or_others_are_one_operation(dtype):
    for x in (np.ones(MANY - 1, np.float32), np.ones(MANY, dtype)):
        fast, plain = texts(pow_, x, x)
        assert fast == plain

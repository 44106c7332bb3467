"""Inverse functions of many numbers of float32: exact, also subnormal and special ones."""

import numpy as np
import pytest

from imprint._src.primitives.elementwise.exponential import cbrt
from imprint._src.primitives.elementwise.inverses import MANY
from imprint._src.primitives.elementwise.trigonometric import acos, asin, atan, atan2
from tests.units.primitives.formulations import both, texts

RANDOM = np.random.default_rng(0)
FUNCTIONS = {
    "asin": (asin, np.arcsin),
    "acos": (acos, np.arccos),
    "atan": (atan, np.arctan),
    "cbrt": (cbrt, np.cbrt),
    "atan2": (atan2, np.arctan2),
}
SPECIAL = np.array(
    (
        *(0.0, -0.0, 1, -1, 0.5, -0.5, 2, -2, np.inf, -np.inf, np.nan),
        *(1e-45, -1e-45, 3e-39, -1e-40, 1e-30, 3e38, 1.0000001, -1.0000001),
    ),
    np.float32,
)


def operands(name):
    """Return numbers of all sizes, also near 0, 1/2 and 1."""
    signs = RANDOM.choice([-1, 1], MANY)
    if name in ("asin", "acos"):
        near = np.exp(RANDOM.uniform(-17, -1, MANY))
        parts = RANDOM.uniform(-1, 1, MANY), signs * (1 - near), signs * near
        return (np.concatenate([*parts, signs * (0.5 + near / 16)]).astype(np.float32),)
    sizes = np.exp(RANDOM.uniform(-103, 88, (2, MANY)))
    near = np.exp(RANDOM.uniform(-2, 2, (2, MANY)))
    x, y = (signs * np.concatenate([sizes, near], 1).reshape(2, 2, -1)).reshape(2, -1)
    return (
        (x.astype(np.float32),)
        if name != "atan2"
        else tuple(v.astype(np.float32) for v in (x, RANDOM.permutation(y)))
    )


def error(found, truth):
    """Return the largest error in units of the last place."""
    unit = np.spacing(np.abs(truth).astype(np.float32)).astype(np.float64)
    return np.max(np.abs(found.astype(np.float64) - truth) / unit)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_inverses_of_many_are_rounded_once(name):
    function, exact = FUNCTIONS[name]
    xs = operands(name)
    fast, plain = both(function, *xs)
    truth = exact(*(x.astype(np.float64) for x in xs))
    assert fast.dtype == plain.dtype == np.float32
    assert error(fast, truth) <= 0.502


@pytest.mark.parametrize("name", FUNCTIONS)
def test_inverses_of_many_special_numbers(name):
    """XLA drops subnormal numbers; else these are its own results, up to rounding."""
    function, exact = FUNCTIONS[name]
    xs = (SPECIAL,)
    if name == "atan2":
        xs = tuple(x.ravel() for x in np.meshgrid(SPECIAL, SPECIAL))
    many = [np.resize(x, -(-MANY // x.size) * x.size) for x in xs]
    fast, plain = (out[: xs[0].size] for out in both(function, *many))
    with np.errstate(invalid="ignore", under="ignore"):
        truth = exact(*(x.astype(np.float64) for x in xs)).astype(np.float32)
    np.testing.assert_array_equal(fast, truth)
    shown = ~np.isnan(truth)
    np.testing.assert_array_equal(np.signbit(fast)[shown], np.signbit(truth)[shown])
    usual = np.all([~((x != 0) & (np.abs(x) < 1.2e-38)) for x in (*xs, truth)], axis=0)
    np.testing.assert_allclose(fast[usual], plain[usual], 2e-6)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_inverses_of_few_numbers_are_one_operation(name):
    function, _ = FUNCTIONS[name]
    count = 2 if name == "atan2" else 1
    for x in (np.ones(MANY - 1, np.float32), np.ones(MANY)):
        fast, plain = texts(function, *[x] * count)
        assert fast == plain

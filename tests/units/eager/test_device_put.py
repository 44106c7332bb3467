"""Live arrays as in JAX; the rest of placement is in tests/spec."""

import pytest

import imprint
import imprint.numpy as inp
from tests.oracle import jax


def held(lib):
    """Return which of four arrays are listed: one computed, one derived, one deleted."""
    compute = lib.jit(lambda x: x * 2)
    x = lib.device_put(lib.numpy.arange(7))
    y = compute(x)
    gone = compute(y)
    gone.delete()
    listed = lib.live_arrays()
    return [any(a is b for b in listed) for a in (x, y, gone)]


def test_arrays_that_are_not_deleted_are_listed():
    assert held(imprint) == held(jax) == [True, True, False]


def test_unreferenced_arrays_are_not_listed():
    def count():
        return sum(x.shape == (12, 13) for x in imprint.live_arrays("cpu"))

    before = count()
    x = inp.ones((12, 13))
    assert count() == before + 1
    del x
    assert count() == before


def test_a_missing_platform_is_refused():
    for lib in (jax, imprint):
        with pytest.raises(RuntimeError):
            lib.live_arrays("nowhere")


def test_leaks_are_looked_for_under_either_name():
    kept = []

    def leak(x):
        kept.append(x)
        return x

    for lib in (jax, imprint):
        with lib.checking_leaks(), pytest.raises(Exception, match=r"(?i)leaked"):
            lib.jit(leak)(1.0)
        kept.clear()

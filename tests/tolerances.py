"""How close is equal: the tolerances of all tests, by dtype and operation.

A tolerance is `ulps * eps(dtype)`, relative, and the same amount absolute for values
of order one. The base factor of a dtype covers one correctly written elementwise
operation; an operation that is further from NumPy has its factor in `FACTORS`, with the
reason. Integers and booleans are exact. No test states a tolerance inline.
"""

from typing import NamedTuple

import ml_dtypes
import numpy as np


class Tolerance(NamedTuple):
    rtol: float
    atol: float


# Units in the last place for one elementwise operation.
BASE_ULPS = 8

# How many times further than that an operation may be.
FACTORS = {
    # XLA's own approximations, polynomial over float32, against libm's.
    "acosh": 4,
    "asinh": 4,
    "atanh": 4,
    "cbrt": 4,
    "digamma": 64,
    "erf_inv": 16,
    "erfc": 16,
    "lgamma": 64,
    "pow": 8,
    "tan": 8,
    # Sums in another order: the error grows with the number of terms.
    "cumulative": 16,
    "contraction": 16,
    "reduction": 16,
    # A chain of several operations, each with its own error.
    "program": 32,
    # Matrices that are factored: errors grow with how near to singular they are.
    "factored": 1024,
    # Derivatives: a chain that also subtracts near-equal terms.
    "gradient": 64,
}

# Central differences in float64: truncation and cancellation are equal near eps ** (2 / 3).
FINITE_DIFFERENCE = Tolerance(rtol=2e-5, atol=2e-6)


def tolerance(dtype, operation: str = "elementwise") -> Tolerance:
    """Return how far results of `operation` in `dtype` may lie from the truth."""
    dtype = np.dtype(dtype)
    if dtype.kind in "biu" or dtype.name.lstrip("u") in ("int2", "int4"):
        return Tolerance(0.0, 0.0)
    amount = BASE_ULPS * FACTORS.get(operation, 1) * float(ml_dtypes.finfo(dtype).eps)
    return Tolerance(rtol=amount, atol=amount)


def assert_close(got, want, operation: str = "elementwise") -> None:
    """Assert equal shape, dtype and, within the tolerance of `operation`, values."""
    assert_within(got, want, tolerance(np.asarray(want).dtype, operation))


def assert_within(got, want, allowed: Tolerance) -> None:
    """Assert equal shape, dtype and, within a tolerance of this file, values."""
    got, want = np.asarray(got), np.asarray(want)
    _assert_same_type(got, want)
    wide = np.complex128 if want.dtype.kind == "c" else np.float64
    exact = want.dtype.kind in "biu"
    np.testing.assert_allclose(
        got if exact else got.astype(wide),
        want if exact else want.astype(wide),
        rtol=allowed.rtol,
        atol=allowed.atol,
        equal_nan=True,
    )


def assert_within_ulps(got, want, ulps: float, scale: float = 0.0) -> None:
    """Assert equal shape, dtype, specials (nan, inf, the sign of 0), and values.

    Values may differ by `ulps` units in the last place of the larger of the wanted value
    and `scale`. Below the smallest normal number nothing is compared: the engine flushes.
    """
    got, want = np.asarray(got), np.asarray(want)
    _assert_same_type(got, want)
    if want.dtype.kind in "biu":
        np.testing.assert_array_equal(got, want)
        return
    info = ml_dtypes.finfo(want.dtype)
    is_complex = want.dtype.kind == "c"
    wide = np.complex128 if is_complex else np.float64
    got, want = got.astype(wide), want.astype(wide)
    finite = np.isfinite(want)
    if is_complex:
        # No law says which part of an infinite or undefined complex result is nan.
        np.testing.assert_array_equal(np.isfinite(got), finite, "where it is finite")
    else:
        np.testing.assert_array_equal(got[~finite], want[~finite], "where not finite")
        zero = finite & (want == 0) & (got == 0)
        signs = np.signbit(got[zero]), np.signbit(want[zero])
        np.testing.assert_array_equal(*signs, "the sign of zero")
    with np.errstate(all="ignore"):
        allowed = ulps * float(info.eps) * np.maximum(np.abs(want), scale)
        far = finite & ~(np.abs(got - want) <= allowed + float(info.smallest_normal))
    np.testing.assert_array_equal(
        got[far], want[far], f"by more than {ulps} ulps of max(|want|, {scale:.3g})"
    )


def _assert_same_type(got, want) -> None:
    came, wanted = (f"{x.dtype}{list(x.shape)}" for x in (got, want))
    assert came == wanted, f"expected {wanted}, got {came}"

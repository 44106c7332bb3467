"""How close is equal: the tolerances of all tests, by dtype and operation.

A tolerance is `ulps * eps(dtype)`, relative, and the same amount absolute beside values
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
    # Derivatives: a chain that also subtracts near-equal terms.
    "gradient": 64,
}

# Central differences in float64: truncation and cancellation meet near eps ** (2 / 3).
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
    got, want = np.asarray(got), np.asarray(want)
    assert (got.shape, got.dtype) == (want.shape, want.dtype)
    rtol, atol = tolerance(want.dtype, operation)
    wide = np.complex128 if want.dtype.kind == "c" else np.float64
    exact = want.dtype.kind in "biu"
    np.testing.assert_allclose(
        got if exact else got.astype(wide),
        want if exact else want.astype(wide),
        rtol=rtol,
        atol=atol,
        equal_nan=True,
    )

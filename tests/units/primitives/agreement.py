"""Run a function of primitives eagerly and compiled, and demand the same bits of both."""

import numpy as np

from imprint._src.array import to_array
from imprint._src.config import enable_x64
from imprint._src.core.aval import ShapedArray
from imprint._src.core.tangents import is_zero
from imprint._src.interpreters.jvp import jvp_flat
from imprint._src.jit.api import jit
from tests import oracle
from tests.strategies import Call


def agreed(fun, *operands, options=None):
    """Return the result of `fun`, which is the same eagerly and compiled."""
    with enable_x64(True):
        eager = np.asarray(fun(*map(to_array, operands)))
        compiled = np.asarray(jit(fun, compiler_options=options)(*operands))
    assert_same(compiled, eager)
    return eager


def assert_agreed(fun, operands, want):
    """Assert that `fun` gives `want` eagerly and compiled; the dtype is that of want."""
    assert_same(agreed(fun, *operands), want)


def assert_same(got, want):
    """Assert equal shape, dtype and values, the signs of zeros included; NaN is NaN."""
    got, want = np.asarray(got), np.asarray(want)
    assert (got.shape, got.dtype) == (want.shape, want.dtype)
    np.testing.assert_array_equal(_parts(got), _parts(want))


def by_jax(primitive, *operands, **params):
    """Return JAX's result of the primitive of this name."""
    avals = tuple(ShapedArray(x.shape, x.dtype) for x in operands)
    ((out,),) = oracle.compiled([Call(primitive, avals, params)])([operands])
    return out


def tangent(fun, primals, tangents):
    """Return the tangent of `fun` as an array, zeros if it is symbolically zero."""
    with enable_x64(True):
        _, (out,) = jvp_flat(lambda *xs: [fun(*xs)], primals, tangents)
    return np.zeros(out.aval.shape) if is_zero(out) else np.asarray(out)


def _parts(x):
    """Return real values and signs; of numbers, nan without its sign."""
    if x.dtype.kind in "biu" or "int" in x.dtype.name:
        return x.astype(object)
    parts = [np.real(x).astype(np.float64), np.imag(x).astype(np.float64)]
    return [[p, np.signbit(p) & (p == p)] for p in parts]

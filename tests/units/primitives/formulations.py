"""Compare what imprint writes for a CPU with the plain operations of StableHLO.

`both` and `texts` are of its formulations in StableHLO, `by_kernels` of native kernels.
"""

from contextlib import contextmanager

import numpy as np

import imprint
from imprint._src.jit.compilation import lowered

PLAIN = {"formulations": "plain"}


def both(fun, *operands):
    """Return the results of a compiled function as it is written for a CPU, and plainly."""
    with imprint.enable_x64(True), without_kernels():
        fast = imprint.jit(fun)(*operands)
        plain = imprint.jit(fun, compiler_options=PLAIN)(*operands)
    return np.asarray(fast), np.asarray(plain)


@contextmanager
def without_kernels():
    """Lower as where no kernels were built."""
    there = lowered.has_kernels
    lowered.has_kernels = lambda: False
    try:
        yield
    finally:
        lowered.has_kernels = there


def by_kernels(fun, *operands):
    """Return the results of a function that calls a kernel, and of plain operations."""
    with imprint.enable_x64(True):
        made = imprint.jit(fun)
        assert calls_kernel(fun, *operands)
        plain = imprint.jit(fun, compiler_options=PLAIN)
        return tuple(
            [np.asarray(x) for x in imprint.tree.leaves(f(*operands))]
            for f in (made, plain)
        )


def calls_kernel(fun, *operands):
    """Return whether a compiled function calls a kernel."""
    with imprint.enable_x64(True):
        text = imprint.jit(fun).lower(*operands).as_text()
    return "@imprint_kernel_" in text


def texts(fun, *operands):
    """Return the StableHLO of both."""
    with imprint.enable_x64(True), without_kernels():
        fast = imprint.jit(fun).lower(*operands).as_text()
        plain = imprint.jit(fun, compiler_options=PLAIN).lower(*operands).as_text()
    return fast, plain


def assert_same_bits(fast, plain):
    """Assert equal dtypes, shapes, numbers and signs; all NaN are one."""
    assert fast.dtype == plain.dtype
    if fast.dtype.kind not in "iub":  # NumPy knows no NaN of bfloat16
        fast, plain = fast.astype(np.float64), plain.astype(np.float64)
        signs = [np.signbit(x)[~np.isnan(plain)] for x in (fast, plain)]
        np.testing.assert_array_equal(*signs)
    np.testing.assert_array_equal(fast, plain)


def assert_sums_as_exact(fun, exact, sizes, terms, operands, of=both):
    """Assert that sums are within n eps Σ|x|, and at most twice as wrong as plain ones.

    Args:
        fun: the function, of operands.
        exact: its value, of operands in float64 or wider.
        sizes: the sums of magnitudes, of operands in float64 or wider.
        terms: how many terms a sum has.
        operands: arrays of one float dtype.
        of: returns both results.
    """
    eps = np.finfo(operands[0].dtype).eps
    wide = [x.astype(np.longdouble) for x in operands]
    truth, bound = exact(*wide), terms * eps * sizes(*map(np.abs, wide))
    fast, plain = (
        np.abs(np.asarray(x).astype(np.longdouble).reshape(truth.shape) - truth)
        for x in of(fun, *operands)
    )
    assert (fast <= bound).all()
    fast, plain = (np.sqrt((x * x).mean()) for x in (fast, plain))
    assert fast <= 2 * plain + eps * np.abs(truth).mean()

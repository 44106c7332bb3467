"""Special functions of `jax.lax`, which load lazily.

As in `elementwise`, axes of length 1 broadcast, and dtypes are equal.
"""

import operator
from collections.abc import Sequence
from typing import Any

from imprint._src.core import dims
from imprint._src.core.array_interop import shown
from imprint._src.core.aval import get_aval
from imprint._src.errors import ArgumentError
from imprint._src.primitives import core_ops
from imprint._src.primitives.special import incomplete, polynomials
from imprint._src.primitives.special import special as gamma


def betainc(a: Any, b: Any, x: Any) -> Any:
    """Return the regularized incomplete beta function, elementwise.

    Args:
        a: the first shape parameter, at least 0: floats; rank 0 and axes of length 1
            are repeated.
        b: the second shape parameter, like `a`.
        x: the upper limit of the integral, in [0, 1], like `a`.

    Returns:
        An array of the dtype and the common shape of the operands. It is NaN outside of
        these ranges.

    References:
        DLMF 8.17.2; SciPy, `scipy.special.betainc`.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import lax
        >>> lax.betainc(np.ones(2), np.ones(2), np.array([0.25, 1.0]))
        Array([0.25, 1.  ], dtype=float32)
    """
    return incomplete.betainc(*_repeated(a, b, x))


def igamma(a: Any, x: Any) -> Any:
    """Return the regularized lower incomplete gamma function, elementwise.

    Args:
        a: the shape parameter, at least 0: floats; rank 0 and axes of length 1 are
            repeated.
        x: the upper limit of the integral, at least 0, like `a`.

    Returns:
        An array of the dtype and the common shape of the operands. It is NaN outside of
        these ranges.

    References:
        DLMF 8.2.4; SciPy, `scipy.special.gammainc`.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import lax
        >>> lax.igamma(np.ones(2), np.array([0.0, np.inf]))
        Array([0., 1.], dtype=float32)
    """
    return incomplete.igamma(*_repeated(a, x))


def igammac(a: Any, x: Any) -> Any:
    """Return the regularized upper incomplete gamma function, elementwise.

    Args:
        a: the shape parameter, at least 0: floats; rank 0 and axes of length 1 are
            repeated.
        x: the lower limit of the integral, at least 0, like `a`.

    Returns:
        An array of the dtype and the common shape of the operands.

    References:
        DLMF 8.2.4; SciPy, `scipy.special.gammaincc`.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import lax
        >>> lax.igammac(np.ones(2), np.array([0.0, np.inf]))
        Array([1., 0.], dtype=float32)
    """
    return incomplete.igammac(*_repeated(a, x))


def igamma_grad_a(a: Any, x: Any) -> Any:
    """Return the derivative of `igamma` by its first operand, elementwise.

    Args:
        a: the shape parameter, at least 0: floats; rank 0 and axes of length 1 are
            repeated.
        x: the upper limit of the integral, at least 0, like `a`.

    Returns:
        An array of the dtype and the common shape of the operands.

    References:
        JAX, `jax.lax.igamma_grad_a`.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import lax
        >>> lax.igamma_grad_a(np.ones(2), np.array([0.0, 1.0])).round(4)
        Array([ 0.    , -0.4317], dtype=float32)
    """
    return incomplete.igamma_grad_a(*_repeated(a, x))


def random_gamma_grad(a: Any, x: Any) -> Any:
    """Return the derivative of gamma draws `x` by their shapes `a`.

    Args:
        a: the shape parameters, positive: floats; rank 0 and axes of length 1 are
            repeated.
        x: the draws, like `a`.

    Returns:
        An array of the dtype and the common shape of the operands.

    References:
        Figurnov, Mohamed and Mnih, "Implicit Reparameterization Gradients", 2018.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import lax
        >>> lax.random_gamma_grad(np.ones(2), np.array([0.0, 1.0])).round(4)
        Array([0.    , 1.1736], dtype=float32)
    """
    return incomplete.random_gamma_grad(*_repeated(a, x))


def zeta(x: Any, q: Any) -> Any:
    """Return Hurwitz's zeta function: the sum of `(n + q) ** -x` from n = 0.

    Args:
        x: the exponents: floats; rank 0 and axes of length 1 are repeated.
        q: the offsets, like `x`.

    Returns:
        An array of the dtype and the common shape of the operands. It is inf for `x` of
        1, NaN below.

    References:
        DLMF 25.11.1; SciPy, `scipy.special.zeta`.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import lax
        >>> lax.zeta(np.array([2.0, 1.0]), np.ones(2)).round(4)
        Array([1.6449,    inf], dtype=float32)
    """
    return gamma.zeta(*_repeated(x, q))


def mulhi(x: Any, y: Any, /) -> Any:
    """Return the upper half of the bits of the product of integers, elementwise.

    Args:
        x: integers; rank 0 and axes of length 1 are repeated.
        y: integers of the same dtype.

    Returns:
        An array of the dtype and the common shape of the operands.

    References:
        JAX, `jax.lax.mulhi`.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import lax
        >>> lax.mulhi(np.array([1 << 20, 3]), np.array([1 << 20, 5]))
        Array([256,   0], dtype=int32)
    """
    return polynomials.mulhi(*_repeated(x, y))


def polygamma(m: Any, x: Any) -> Any:
    """Return the derivative of order `m` of `digamma` at `x`, elementwise.

    Args:
        m: the orders, whole numbers of at least 0: floats; rank 0 and axes of length 1
            are repeated.
        x: floats, like `m`.

    Returns:
        An array of the dtype and the common shape of the operands. It is NaN for a
        negative or fractional order.

    References:
        DLMF 5.15; SciPy, `scipy.special.polygamma`.

    Example:
        >>> from imprint import lax
        >>> lax.polygamma(1.0, 1.0)
        Array(1.644934, dtype=float32, weak_type=True)
    """
    return gamma.polygamma(*_repeated(m, x))


def polynomial(x: Any, coeffs: Sequence[Any], *, unroll: int | None = None) -> Any:
    """Return `coeffs[0] + coeffs[1] * x + coeffs[2] * x ** 2 + …`, elementwise.

    Args:
        x: numbers.
        coeffs: the coefficients, the constant one first; none gives zeros.
        unroll: ignored: every term is unrolled.

    Returns:
        An array of the dtype and the common shape of `x` and the coefficients.

    Raises:
        ArgumentError: `coeffs` is not a sequence.

    References:
        Knuth, The Art of Computer Programming 2, 4.6.4 (Horner's rule).

    Example:
        >>> from imprint import lax
        >>> lax.polynomial(3.0, [1.0, 5.0, 2.0])
        Array(34., dtype=float32, weak_type=True)
    """
    if unroll is not None:
        operator.index(unroll)
    try:
        coefficients = list(coeffs)
    except TypeError:
        raise ArgumentError(
            f"polynomial: expected coeffs as a sequence, got {shown(coeffs)}. Write "
            "[c0, c1, c2], the constant first."
        ) from None
    x, *coefficients = _repeated(x, *coefficients)
    if not coefficients:
        return core_ops.broadcast_to(core_ops.scalar_like(x, 0), get_aval(x).shape)
    return polynomials.polynomial(x, coefficients)


def _repeated(*operands: Any) -> list[Any]:
    """Return operands of one rank broadcast along axes of length 1."""
    shapes = [get_aval(x).shape for x in operands]
    shaped = [s for s in shapes if s]
    if len({len(s) for s in shaped}) != 1:
        return list(operands)
    shape = dims.broadcast_shapes(shaped)
    if shape is None:  # the primitive raises
        return list(operands)
    axes = tuple(range(len(shape)))
    return [
        core_ops.broadcast_in_dim(x, shape, axes)
        if own and not dims.is_same_shape(own, shape)
        else x
        for x, own in zip(operands, shapes, strict=True)
    ]

"""Entropies and their parts: products with logarithms, logits, sums of exponentials.

A product with factor 0 is 0, whatever the logarithm, unless that is NaN; derivatives are those of the
formula. Sums of exponentials are those of `imprint.nn`.
"""

import math
from functools import partial
from typing import Any

import imprint.numpy as np
from imprint import nn
from imprint._src import dtypes
from imprint._src.core.array import Array
from imprint._src.eager.fusion import fuse_eager
from imprint._src.nn.functions import logsumexp as logsumexp
from imprint._src.numpy.promotion import ArrayLike, as_array, inexact, promote
from imprint._src.numpy.reductions.reductions import Axis
from imprint._src.primitives.elementwise.trigonometric import logistic
from imprint._src.scipy.special.arguments import floats, sum_of_terms
from imprint.custom_derivatives import custom_jvp


@fuse_eager
def xlogy(x: ArrayLike, y: ArrayLike) -> Array:
    """Return `x * log(y)`, and 0 where `x` is 0 and `y` not NaN.

    Args:
        x: the factors; real or complex.
        y: the arguments of the logarithm; broadcast with `x`.

    Returns:
        The products, of the broadcast shape and the common inexact dtype.

    References:
        SciPy, `scipy.special.xlogy`.

    Example:
        >>> from imprint.scipy import special
        >>> special.xlogy(0.0, 0.0)
        Array(0., dtype=float32, weak_type=True)
    """
    return _xlogy(*promote("xlogy", (x, y), dtypes.to_inexact))


@custom_jvp
def _xlogy(x: Any, y: Any) -> Any:
    some = np.not_equal(x, 0) | np.isnan(y)
    return np.where(
        some, np.multiply(x, np.log(np.where(some, y, 1))), np.multiply(x, 0)
    )


@partial(_xlogy.defjvp, symbolic_zeros=True)
def _xlogy_jvp(primals: Any, tangents: Any) -> Any:
    (x, y), (dx, dy) = primals, tangents
    by_x, by_y = (dx, lambda: np.log(y)), (dy, lambda: _quotient(x, y))
    return _xlogy(x, y), sum_of_terms(by_x, by_y)


def _quotient(x: Any, y: Any) -> Any:
    """Return `x / y`, and 0 for 0 / 0: products with 0 are 0 for every logarithm."""
    flat = np.equal(x, 0) & np.equal(y, 0)
    return np.where(flat, 0, np.divide(x, np.where(flat, 1, y)))


@fuse_eager
def xlog1py(x: ArrayLike, y: ArrayLike) -> Array:
    """Return `x * log1p(y)`, and 0 where `x` is 0 and `y` not NaN.

    Args:
        x: the factors; real or complex.
        y: the arguments of the logarithm, less 1; broadcast with `x`.

    Returns:
        The products, of the broadcast shape and the common inexact dtype.

    References:
        SciPy, `scipy.special.xlog1py`.

    Example:
        >>> from imprint.scipy import special
        >>> special.xlog1py(0.0, -1.0)
        Array(0., dtype=float32, weak_type=True)
    """
    return _xlog1py(*promote("xlog1py", (x, y), dtypes.to_inexact))


@custom_jvp
def _xlog1py(x: Any, y: Any) -> Any:
    some = np.not_equal(x, 0) | np.isnan(y)
    return np.where(
        some, np.multiply(x, np.log1p(np.where(some, y, 0))), np.multiply(x, 0)
    )


@partial(_xlog1py.defjvp, symbolic_zeros=True)
def _xlog1py_jvp(primals: Any, tangents: Any) -> Any:
    (x, y), (dx, dy) = primals, tangents
    by_y = dy, lambda: _quotient(x, np.add(y, 1))
    return _xlog1py(x, y), sum_of_terms((dx, lambda: np.log1p(y)), by_y)


@fuse_eager
def entr(x: ArrayLike) -> Array:
    """Return `-x * log(x)`, 0 at 0 and -inf below.

    Args:
        x: a real array or number; integers become floats.

    Returns:
        The entropy of each element in nats, a float array of the shape of `x`.

    References:
        SciPy, `scipy.special.entr`.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint.scipy import special
        >>> special.entr(np.array([0.0, 1.0, -1.0]))
        Array([ -0.,  -0., -inf], dtype=float32)
    """
    (x,) = floats("entr", x)
    safe = np.where(np.less(x, 0), 1, x)
    return np.where(np.less(x, 0), -math.inf, np.negative(_xlogx(safe)))


@custom_jvp
def _xlogx(x: Any) -> Any:
    return _xlogy(x, x)


@_xlogx.defjvp
def _xlogx_jvp(primals: Any, tangents: Any) -> Any:
    (x,), (dx,) = primals, tangents
    return _xlogx(x), dx * (np.log(x) + 1)


@fuse_eager
def rel_entr(p: ArrayLike, q: ArrayLike) -> Array:
    """Return `p * log(p / q)`: 0 if `p` is 0, inf outside of probabilities.

    Args:
        p: real numbers of at least 0.
        q: real numbers of at least 0, which broadcast with `p`.

    Returns:
        The terms of the relative entropy, a float array of the broadcast shape.

    References:
        SciPy, `scipy.special.rel_entr`.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint.scipy import special
        >>> special.rel_entr(np.array([0.0, 1.0, 1.0]), np.array([1.0, 1.0, 0.0]))
        Array([ 0.,  0., inf], dtype=float32)
    """
    p, q = floats("rel_entr", p, q)
    return _divergence(p, q, 0, 0)


def _divergence(p: Any, q: Any, rest: Any, at_zero: Any) -> Any:
    """Return `p * log(p / q) + rest`, and `at_zero` where `p` is 0."""
    both = np.greater(p, 0) & np.greater(q, 0)
    none = np.equal(p, 0) & np.greater_equal(q, 0)
    safe_p, safe_q = np.where(both, p, 1), np.where(both, q, 1)
    value = safe_p * (np.log(safe_p) - np.log(safe_q)) + rest
    unknown = np.isnan(p) | np.isnan(q)
    outside = np.where(unknown, math.nan, math.inf)
    return np.where(both, value, np.where(none, at_zero, outside))


@fuse_eager
def kl_div(p: ArrayLike, q: ArrayLike) -> Array:
    """Return `p * log(p / q) - p + q`, the terms of the Kullback-Leibler divergence.

    Args:
        p: real numbers of at least 0; infinity is the result for others.
        q: real numbers of at least 0, which broadcast with `p`.

    Returns:
        The terms, a float array of the broadcast shape; `q` where `p` is 0.

    References:
        SciPy, `scipy.special.kl_div`.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint.scipy import special
        >>> special.kl_div(np.array([0.0, 1.0]), np.array([1.0, 1.0]))
        Array([1., 0.], dtype=float32)
    """
    p, q = floats("kl_div", p, q)
    return _divergence(p, q, np.subtract(q, p), q)


@fuse_eager
def logit(x: ArrayLike) -> Array:
    """Return the logit, `log(x / (1 - x))`.

    Args:
        x: an array or number; integers become floats.

    Returns:
        The logit of each element, of the shape of `x`; NaN for reals outside of [0, 1].

    References:
        SciPy, `scipy.special.logit`.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint.scipy import special
        >>> special.logit(np.array([0.0, 0.5, 1.0]))
        Array([-inf,   0.,  inf], dtype=float32)
    """
    return _logit(inexact("logit", as_array("logit", x)))


@custom_jvp
def _logit(x: Any) -> Any:
    return np.log(x / (1 - x))


@_logit.defjvp
def _logit_jvp(primals: Any, tangents: Any) -> Any:
    (x,), (dx,) = primals, tangents
    return _logit(x), dx / (x * (1 - x))


@fuse_eager
def expit(x: ArrayLike) -> Array:
    """Return the logistic function, `1 / (1 + exp(-x))`.

    Args:
        x: an array or number; integers become floats.

    Returns:
        The function of each element, of the shape of `x`.

    References:
        SciPy, `scipy.special.expit`.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint.scipy import special
        >>> special.expit(np.array([-np.inf, 0.0, np.inf]))
        Array([0. , 0.5, 1. ], dtype=float32)
    """
    return logistic(inexact("expit", as_array("expit", x)))


def boxcox(x: ArrayLike, lmbda: ArrayLike) -> Array:
    """Return `(x ** lmbda - 1) / lmbda`, and `log(x)` where `lmbda` is 0.

    Args:
        x: real numbers of at least 0; NaN is the result for others.
        lmbda: the exponents, real; broadcast with `x`.

    Returns:
        The transforms, a float array of the broadcast shape.

    References:
        SciPy, `scipy.special.boxcox`; Box and Cox 1964.

    Example:
        >>> from imprint.scipy import special
        >>> special.boxcox(3.0, 2.0).round(4)
        Array(4., dtype=float32, weak_type=True)
    """
    x, power = floats("boxcox", x, lmbda)
    return _powered(np.log(x), power)


def boxcox1p(x: ArrayLike, lmbda: ArrayLike) -> Array:
    """Return the Box-Cox transform of `1 + x`, accurately near 0.

    Args:
        x: real numbers of at least -1; NaN is the result for others.
        lmbda: the exponents, real; broadcast with `x`.

    Returns:
        The transforms, a float array of the broadcast shape.

    References:
        SciPy, `scipy.special.boxcox1p`; Box and Cox 1964.

    Example:
        >>> from imprint.scipy import special
        >>> special.boxcox1p(2.0, 2.0).round(4)
        Array(4., dtype=float32, weak_type=True)
    """
    x, power = floats("boxcox1p", x, lmbda)
    return _powered(np.log1p(x), power)


def _powered(log_x: Any, power: Any) -> Array:
    none = np.equal(power, 0)
    safe = np.where(none, 1, power)
    return np.where(none, log_x, np.expm1(safe * log_x) / safe)


def softmax(x: ArrayLike, /, *, axis: Axis = None) -> Array:
    """Return the softmax along axes; None for all.

    Args:
        x: an array or number; integers become floats.
        axis: the axes along which the result adds up to 1; None for all.

    Returns:
        An array of the shape of `x`.

    References:
        SciPy, `scipy.special.softmax`.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint.scipy import special
        >>> special.softmax(np.array([500.0, 500.0]))
        Array([0.5, 0.5], dtype=float32)
    """
    return nn.softmax(x, axis)


def log_softmax(x: ArrayLike, /, *, axis: Axis = None) -> Array:
    """Return the logarithm of the softmax along axes; None for all.

    Args:
        x: an array or number; integers become floats.
        axis: the axes along which the probabilities add up to 1; None for all.

    Returns:
        An array of the shape of `x`.

    References:
        SciPy, `scipy.special.log_softmax`.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint.scipy import special
        >>> special.log_softmax(np.array([0.0, -500.0]))
        Array([   0., -500.], dtype=float32)
    """
    return nn.log_softmax(x, axis)

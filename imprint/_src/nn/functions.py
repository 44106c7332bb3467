"""Functions along axes: softmax, log_softmax, logsumexp, glu, standardize, one_hot.

Exponentials are of differences from the maximum, so they do not overflow; the maximum
is constant for derivatives. `where` excludes elements: they are not part of a sum, and
their values, infinities included, do not reach a derivative.
"""

import math
from typing import Any

import imprint.numpy as np
from imprint._src import dtypes
from imprint._src.core import dims
from imprint._src.core.array import Array
from imprint._src.core.array_interop import shown
from imprint._src.core.dims import Dim
from imprint._src.dtypes import DTypeLike
from imprint._src.eager.fusion import fuse_eager
from imprint._src.errors import ArgumentError, DTypeError, ShapeError
from imprint._src.nn.activations import sigmoid
from imprint._src.numpy.promotion import ArrayLike, as_array, convert, inexact, promote
from imprint._src.numpy.reductions.reductions import Axis
from imprint._src.primitives.axes import canonical_axis
from imprint._src.primitives.barrier import stop_gradient
from imprint._src.primitives.elementwise.exponential import rsqrt
from imprint._src.primitives.shape import expand_dims


@fuse_eager
def softmax(x: ArrayLike, axis: Axis = -1, where: ArrayLike | None = None) -> Array:
    """Return the softmax: exponentials divided by their sum along axes.

    Args:
        x: numbers.
        axis: the axes along which the result adds up to 1; None for all.
        where: mask of the elements to include; the result is 0 at the others.

    Returns:
        An array of the shape of `x`; floats keep their dtype, integers become floats.

    References:
        JAX, `jax.nn.softmax`.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import nn
        >>> nn.softmax(np.array([500.0, 500.0, -np.inf]))
        Array([0.5, 0.5, 0. ], dtype=float32)
    """
    x = inexact("softmax", as_array("softmax", x))
    exponentials = np.exp(_shifted(x, axis, where))
    total = np.sum(exponentials, axis, where=where, keepdims=True)
    result = _like(x, exponentials / total)
    return result if where is None else np.where(where, result, 0)


@fuse_eager
def log_softmax(x: ArrayLike, axis: Axis = -1, where: ArrayLike | None = None) -> Array:
    """Return the logarithm of the softmax, without underflow.

    Args:
        x: numbers.
        axis: the axes along which the softmax adds up to 1; None for all.
        where: mask of the elements to include; the result is -inf at the others.

    Returns:
        An array of the shape of `x`; floats keep their dtype, integers become floats.

    References:
        JAX, `jax.nn.log_softmax`.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import nn
        >>> nn.log_softmax(np.array([0.0, -500.0]))
        Array([   0., -500.], dtype=float32)
    """
    x = inexact("log_softmax", as_array("log_softmax", x))
    shifted = _shifted(x, axis, where)
    total = np.sum(np.exp(shifted), axis, where=where, keepdims=True)
    result = _like(x, shifted - np.log(total))
    return result if where is None else np.where(where, result, -math.inf)


def _shifted(x: Any, axis: Axis, where: ArrayLike | None) -> Any:
    """Return `x` less its maximum, and -inf where it is excluded."""
    x = _summable(x)
    largest = _largest(x, axis, where)
    x = x if where is None else np.where(where, x, -math.inf)
    return x - largest


def _summable(x: Any) -> Any:
    """Return `x` in a dtype in which a sum of many ones does not overflow."""
    return x.astype(np.float32) if x.dtype == dtypes.float16 else x


def _like(x: Any, result: Any) -> Any:
    return convert("softmax", result, x.dtype, weak_type=x.weak_type)


def _largest(x: Any, axis: Axis, where: ArrayLike | None) -> Array:
    """Return the maximum as a constant, so that derivatives do not need its index."""
    constant = stop_gradient(x)
    return np.max(constant, axis, where=where, initial=-math.inf, keepdims=True)


@fuse_eager
def logsumexp(
    a: ArrayLike,
    axis: Axis = None,
    b: ArrayLike | None = None,
    keepdims: bool = False,  # noqa: FBT001, FBT002 - JAX's signature
    return_sign: bool = False,  # noqa: FBT001, FBT002 - JAX's signature
    where: ArrayLike | None = None,
) -> Any:
    """Return the logarithm of the sum of exponentials, without overflow.

    Args:
        a: numbers.
        axis: the axes to reduce; None for all.
        b: factors of the exponentials; where the sum is negative the result is NaN.
        keepdims: whether to keep the reduced axes with length 1.
        return_sign: whether to return the logarithm of the absolute value of the sum,
            and its sign.
        where: mask of the elements to include.

    Returns:
        The logarithm, without the reduced axes; of integers, floats. With
        `return_sign`, a pair of it and the sign. It is -inf without elements.

    References:
        SciPy, `scipy.special.logsumexp`.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import nn
        >>> nn.logsumexp(np.array([500.0, 500.0]))
        Array(500.69315, dtype=float32)
    """
    x: Array = inexact("logsumexp", as_array("logsumexp", a))
    x = x if where is None else np.where(where, x, 0)
    if b is not None:
        x, factors = promote("logsumexp", (x, b), dtypes.to_inexact)
        x = np.where(factors != 0, x, -math.inf)
    given, x = x, _summable(x)
    largest = _largest(x, axis, where)
    shift = np.where(np.isfinite(largest), largest, 0)
    exponentials = np.exp(x - shift)
    exponentials = exponentials if b is None else exponentials * b
    total = np.sum(exponentials, axis, keepdims=keepdims, where=where)
    shift = shift if keepdims else np.squeeze(shift, _axes(x, axis))
    if return_sign:
        logarithm, sign = np.log(np.abs(total)) + shift, np.sign(total)
        return _like(given, logarithm), _like(given, sign)
    return _like(given, np.log(total) + shift)


def _axes(x: Array, axis: Axis) -> Axis:
    return tuple(range(x.ndim)) if axis is None else axis


@fuse_eager
def logmeanexp(
    x: ArrayLike,
    axis: Axis = None,
    where: ArrayLike | None = None,
    keepdims: bool = False,  # noqa: FBT001, FBT002 - JAX's signature
) -> Array:
    """Return the logarithm of the mean of exponentials, without overflow.

    Args:
        x: numbers.
        axis: the axes to reduce; None for all.
        where: mask of the elements to include.
        keepdims: whether to keep the reduced axes with length 1.

    Returns:
        The logarithm, without the reduced axes; of integers, floats.

    References:
        JAX, `jax.nn.logmeanexp`.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import nn
        >>> nn.logmeanexp(np.array([500.0, 500.0]))
        Array(500., dtype=float32)
    """
    given = inexact("logmeanexp", as_array("logmeanexp", x))
    x = _summable(given)
    total = logsumexp(x, axis, keepdims=keepdims, where=where)
    count = np.sum(np.ones_like(x), axis, keepdims=keepdims, where=where)
    return _like(given, total - np.log(count))


@fuse_eager
def glu(x: ArrayLike, axis: int = -1) -> Array:
    """Return the first half of `x` times the sigmoid of the second half.

    Args:
        x: numbers.
        axis: the axis to halve; its length must be even.

    Returns:
        An array with half as many elements along the axis; integers become floats.

    Raises:
        ShapeError: the length is odd.

    References:
        Dauphin et al., "Language Modeling with Gated Convolutional Networks", 2016.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import nn
        >>> nn.glu(np.array([3.0, 0.0]))
        Array([1.5], dtype=float32)
    """
    x = as_array("glu", x)
    length = x.shape[canonical_axis("glu", axis, x.ndim)]
    if length % 2:
        raise ShapeError(
            f"glu: expected an even length along axis {axis}, got {x.aval}. The axis is "
            "halved: give a layer before it twice the features."
        )
    value, gate = np.split(x, 2, axis)
    return value * sigmoid(gate)


@fuse_eager
def standardize(  # noqa: PLR0913 - JAX's signature
    x: ArrayLike,
    axis: Axis = -1,
    mean: ArrayLike | None = None,
    variance: ArrayLike | None = None,
    epsilon: ArrayLike = 1e-5,
    where: ArrayLike | None = None,
    *,
    algorithm: str = "fast",
) -> Array:
    """Return `x` shifted and scaled to mean 0 and variance 1 along axes.

    Args:
        x: numbers.
        axis: the axes to normalize; None for all.
        mean: the mean, if it is known.
        variance: the variance, if it is known.
        epsilon: added to the variance, against division by zero.
        where: mask of the elements for mean and variance.
        algorithm: the computation of the variance: "fast", from the mean of the
            squares, or "stable", from the distances to the mean, which loses fewer
            digits.

    Returns:
        An array of the shape of `x`; floats keep their dtype, integers become floats.

    Raises:
        ArgumentError: the algorithm is unknown.

    References:
        JAX, `jax.nn.standardize`.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import nn
        >>> nn.standardize(np.array([1.0, 3.0]), epsilon=0.0)
        Array([-1.,  1.], dtype=float32)
    """
    x = inexact("standardize", as_array("standardize", x))
    if mean is None:
        mean = np.mean(x, axis, keepdims=True, where=where)
    if algorithm not in ("fast", "stable"):
        raise ArgumentError(
            f"standardize: expected algorithm 'fast' or 'stable', got {algorithm!r}."
        )
    if variance is None and algorithm == "stable":
        distances = np.subtract(x, mean)
        variance = np.mean(np.square(distances), axis, keepdims=True, where=where)
    elif variance is None:
        square = np.mean(np.square(x), axis, keepdims=True, where=where)
        variance = np.clip(square - np.square(mean), 0)
    return np.subtract(x, mean) * rsqrt(np.add(variance, epsilon))


@fuse_eager
def one_hot(
    x: ArrayLike, num_classes: int, *, dtype: DTypeLike | None = None, axis: int = -1
) -> Array:
    """Return one-hot vectors of integers.

    Args:
        x: integers; one outside of `[0, num_classes)` gives only zeros.
        num_classes: the length of the vectors.
        dtype: of the result; None for the default float.
        axis: the position of the new axis.

    Returns:
        An array of that dtype, with a new axis of `num_classes` elements.

    Raises:
        DTypeError: `x` does not have an integer dtype.

    References:
        JAX, `jax.nn.one_hot`.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import nn
        >>> nn.one_hot(np.array([0, 2]), 3)
        Array([[1., 0., 0.],
               [0., 0., 1.]], dtype=float32)
    """
    x = as_array("one_hot", x)
    if not dtypes.is_integer(x.dtype):
        raise DTypeError(
            f"one_hot: expected integers, got {x.aval}. Convert with .astype(int)."
        )
    count = _number_of_classes(num_classes)
    place = canonical_axis("one_hot", axis, x.ndim + 1)
    others = [i for i in range(x.ndim + 1) if i != place]
    classes = expand_dims(np.arange(count), others)
    found = np.equal(expand_dims(x, (place,)), classes)
    return np.astype(found, dtypes.default_float() if dtype is None else dtype)


def _number_of_classes(given: Any) -> Dim:
    if getattr(given, "shape", ()) == ():
        count = dims.as_dim(given, "one_hot")
        if not dims.has_negative((count,)):
            return count
    aval = getattr(given, "aval", None)
    came = shown(given) if aval is None else str(aval)
    raise ArgumentError(
        f"one_hot: expected one number of at least 0 as num_classes, got {came}. It is "
        "how many places there are, the same for all elements."
    )

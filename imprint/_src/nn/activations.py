"""Activation functions, elementwise: relu, gelu, softplus and others, as in `jax.nn`.

Values and derivatives are JAX's, also at corners: the derivative of relu at 0 is 0. A
branch that is not selected gets operands for which it is finite, so that it gives no
NaN to the derivative. Functions along an axis are in `functions`.
"""

import math
from typing import Any, Final

import imprint.numpy as np
from imprint._src.core.array import Array
from imprint._src.eager.fusion import fuse_eager
from imprint._src.numpy.promotion import ArrayLike, as_array, inexact, strong_like
from imprint._src.primitives.barrier import stop_gradient
from imprint._src.primitives.elementwise.trigonometric import logistic
from imprint._src.primitives.special.special import erfc
from imprint.custom_derivatives import custom_jvp
from imprint.numpy import tanh as tanh


def identity(x: ArrayLike) -> Array:
    """Return `x` as an array.

    Args:
        x: an array or number.

    Returns:
        An array of the same dtype and shape.

    References:
        JAX, `jax.nn.identity`.

    Example:
        >>> from imprint import nn
        >>> nn.identity(2.0)
        Array(2., dtype=float32, weak_type=True)
    """
    return as_array("identity", x)


# ---- with corners ----


@fuse_eager
def relu(x: ArrayLike) -> Array:
    """Return the maximum of `x` and 0; the derivative at 0 is 0.

    Args:
        x: numbers.

    Returns:
        An array of the dtype and shape of `x`; of booleans, integers. NaN stays NaN.

    References:
        Nair and Hinton, "Rectified Linear Units Improve Restricted Boltzmann Machines",
        2010.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import nn
        >>> nn.relu(np.array([-1.0, 0.0, 2.0]))
        Array([0., 0., 2.], dtype=float32)
    """
    x = as_array("relu", x)
    # The maximum would halve the derivative at 0; it is used to propagate NaN.
    return np.where(x > 0, x, stop_gradient(np.maximum(x, 0)))


@fuse_eager
def relu6(x: ArrayLike) -> Array:
    """Return `x` clipped to [0, 6]; the derivative at both ends is 0.

    Args:
        x: numbers.

    Returns:
        An array of the shape of `x`; floats keep their dtype, integers become floats.

    References:
        Krizhevsky, "Convolutional Deep Belief Networks on CIFAR-10", 2010.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import nn
        >>> nn.relu6(np.array([-1.0, 2.0, 9.0]))
        Array([0., 2., 6.], dtype=float32)
    """
    x = as_array("relu6", x)
    limited = np.minimum(np.maximum(x, 0), 6.0)
    return np.where((x > 0) & (x < 6), x, stop_gradient(limited))


@fuse_eager
def leaky_relu(x: ArrayLike, negative_slope: ArrayLike = 0.01) -> Array:
    """Return `x`, multiplied by a small slope where it is negative.

    Args:
        x: numbers.
        negative_slope: the slope below 0.

    Returns:
        An array of the shape of `x`; floats keep their dtype, integers become floats.

    References:
        Maas, Hannun and Ng, "Rectifier Nonlinearities Improve Neural Network Acoustic
        Models", 2013.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import nn
        >>> nn.leaky_relu(np.array([-1.0, 2.0]), 0.25)
        Array([-0.25,  2.  ], dtype=float32)
    """
    x = as_array("leaky_relu", x)
    return np.where(x >= 0, x, negative_slope * x)


@fuse_eager
def hard_tanh(x: ArrayLike) -> Array:
    """Return `x` clipped to [-1, 1].

    Args:
        x: numbers.

    Returns:
        An array of the dtype and shape of `x`; of booleans, integers.

    References:
        Collobert, "Large Scale Machine Learning", 2004.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import nn
        >>> nn.hard_tanh(np.array([-2.0, 0.5, 2.0]))
        Array([-1. ,  0.5,  1. ], dtype=float32)
    """
    x = as_array("hard_tanh", x)
    return np.where(x > 1, 1, np.where(x < -1, -1, x))


@fuse_eager
def hard_sigmoid(x: ArrayLike) -> Array:
    """Return a piecewise linear sigmoid: `relu6(x + 3) / 6`.

    Args:
        x: numbers.

    Returns:
        An array of the shape of `x`; floats keep their dtype, integers become floats.

    References:
        Howard et al., "Searching for MobileNetV3", 2019.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import nn
        >>> nn.hard_sigmoid(np.array([-4.0, 0.0, 1.5]))
        Array([0.  , 0.5 , 0.75], dtype=float32)
    """
    return relu6(as_array("hard_sigmoid", x) + 3.0) / 6.0


@fuse_eager
def hard_silu(x: ArrayLike) -> Array:
    """Return `x` times `hard_sigmoid(x)`.

    Args:
        x: numbers.

    Returns:
        An array of the shape of `x`; floats keep their dtype, integers become floats.

    References:
        Howard et al., "Searching for MobileNetV3", 2019.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import nn
        >>> nn.hard_silu(np.array([-4.0, 0.0, 1.5]))
        Array([-0.   ,  0.   ,  1.125], dtype=float32)
    """
    x = as_array("hard_silu", x)
    return x * hard_sigmoid(x)


hard_swish = hard_silu


@fuse_eager
def sparse_plus(x: ArrayLike) -> Array:
    """Return 0 up to -1, `x` from 1 on, and a parabola between.

    Args:
        x: numbers.

    Returns:
        An array of the shape of `x`; floats keep their dtype, integers become floats.

    References:
        JAX, `jax.nn.sparse_plus`.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import nn
        >>> nn.sparse_plus(np.array([-2.0, 0.0, 2.0]))
        Array([0.  , 0.25, 2.  ], dtype=float32)
    """
    x = as_array("sparse_plus", x)
    return np.where(x <= -1.0, 0.0, np.where(x >= 1.0, x, (x + 1.0) ** 2 / 4))


def sparse_sigmoid(x: ArrayLike) -> Array:
    """Return the derivative of `sparse_plus`: 0, then a line, then 1.

    Args:
        x: real numbers.

    Returns:
        An array of the shape of `x`; floats keep their dtype, integers become floats.

    References:
        JAX, `jax.nn.sparse_sigmoid`.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import nn
        >>> nn.sparse_sigmoid(np.array([-2.0, 0.0, 2.0]))
        Array([0. , 0.5, 1. ], dtype=float32)
    """
    return 0.5 * np.clip(as_array("sparse_sigmoid", x) + 1.0, 0.0, 2.0)


# ---- exponential ----


@fuse_eager
def elu(x: ArrayLike, alpha: ArrayLike = 1.0) -> Array:
    """Return `x` where it is positive, else `alpha * (exp(x) - 1)`.

    Args:
        x: numbers.
        alpha: the negative of the limit at minus infinity.

    Returns:
        An array of the shape of `x`; floats keep their dtype, integers become floats.

    References:
        Clevert, Unterthiner and Hochreiter, "Fast and Accurate Deep Network Learning by
        Exponential Linear Units", 2015.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import nn
        >>> nn.elu(np.array([-np.inf, 0.0, 2.0]), 0.5)
        Array([-0.5,  0. ,  2. ], dtype=float32)
    """
    x = as_array("elu", x)
    left = np.where(x > 0, 0.0, x)
    return np.where(x > 0, x, alpha * np.expm1(left))


@fuse_eager
def celu(x: ArrayLike, alpha: ArrayLike = 1.0) -> Array:
    """Return `x` where it is positive, else `alpha * (exp(x / alpha) - 1)`.

    Args:
        x: numbers.
        alpha: the negative of the limit at minus infinity.

    Returns:
        An array of the shape of `x`; floats keep their dtype, integers become floats.

    References:
        Barron, "Continuously Differentiable Exponential Linear Units", 2017.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import nn
        >>> nn.celu(np.array([-np.inf, 0.0, 2.0]), 0.5)
        Array([-0.5,  0. ,  2. ], dtype=float32)
    """
    x = as_array("celu", x)
    return np.maximum(x, 0.0) + alpha * np.expm1(np.minimum(x, 0.0) / alpha)


@fuse_eager
def log1mexp(x: ArrayLike) -> Array:
    """Return `log(1 - exp(-x))` of positive numbers, accurate at both ends.

    Args:
        x: positive numbers; 0 gives -inf.

    Returns:
        An array of the shape of `x`; floats keep their dtype, integers become floats.

    References:
        Mächler, "Accurately Computing log(1 - exp(-|a|))", 2012.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import nn
        >>> nn.log1mexp(np.array([0.0, 0.6931472, 1e-20]))
        Array([       -inf,  -0.6931472, -46.0517   ], dtype=float32)
    """
    x = inexact("log1mexp", as_array("log1mexp", x))
    is_near = np.less(x, math.log(2))
    near, far = (
        np.where(is_near, x, 1),
        np.where(is_near, 1, x),
    )  # each where it is accurate
    return np.where(is_near, np.log(-np.expm1(-near)), np.log1p(-np.exp(-far)))


_SELU_ALPHA: Final = 1.6732632423543772848170429916717
_SELU_SCALE: Final = 1.0507009873554804934193349852946


@fuse_eager
def selu(x: ArrayLike) -> Array:
    """Return the elu that keeps mean 0 and variance 1 from layer to layer.

    Args:
        x: numbers.

    Returns:
        An array of the shape of `x`; floats keep their dtype, integers become floats.

    References:
        Klambauer et al., "Self-Normalizing Neural Networks", 2017.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import nn
        >>> nn.selu(np.array([-np.inf, 0.0, 1.0]))
        Array([-1.7580993,  0.       ,  1.050701 ], dtype=float32)
    """
    return _SELU_SCALE * elu(x, _SELU_ALPHA)


@fuse_eager
def softplus(x: ArrayLike) -> Array:
    """Return `log(1 + exp(x))`, without overflow.

    Args:
        x: numbers.

    Returns:
        An array of the shape of `x`; floats keep their dtype, integers become floats.

    References:
        Dugas et al., "Incorporating Second-Order Functional Knowledge for Better Option
        Pricing", 2000.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import nn
        >>> nn.softplus(np.array([-np.inf, 0.0, 500.0]))
        Array([  0.       ,   0.6931472, 500.       ], dtype=float32)
    """
    return np.logaddexp(x, 0)


@fuse_eager
def squareplus(x: ArrayLike, b: ArrayLike = 4) -> Array:
    """Return `(x + sqrt(x**2 + b)) / 2`, a relu with a round corner.

    Args:
        x: numbers.
        b: the roundness.

    Returns:
        An array of the shape of `x`; floats keep their dtype, integers become floats.

    References:
        Barron, "Squareplus: A Softplus-Like Algebraic Rectifier", 2021.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import nn
        >>> nn.squareplus(np.array([0.0, 1.5]))
        Array([1., 2.], dtype=float32)
    """
    x = as_array("squareplus", x)
    root = np.hypot(x, np.sqrt(b))
    is_left = x < 0
    left = np.where(is_left, x, 0)
    return np.where(is_left, b / (root - left), x + root) / 2


@fuse_eager
def sigmoid(x: ArrayLike) -> Array:
    """Return `1 / (1 + exp(-x))`.

    Args:
        x: numbers.

    Returns:
        An array of the shape of `x`; floats keep their dtype, integers become floats.

    References:
        StableHLO, `logistic`.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import nn
        >>> nn.sigmoid(np.array([-np.inf, 0.0, np.inf]))
        Array([0. , 0.5, 1. ], dtype=float32)
    """
    return logistic(inexact("sigmoid", x))


@fuse_eager
def log_sigmoid(x: ArrayLike) -> Array:
    """Return the logarithm of the sigmoid, without underflow.

    Args:
        x: numbers.

    Returns:
        An array of the shape of `x`; floats keep their dtype, integers become floats.

    References:
        JAX, `jax.nn.log_sigmoid`.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import nn
        >>> nn.log_sigmoid(np.array([-500.0, 0.0]))
        Array([-500.       ,   -0.6931472], dtype=float32)
    """
    return -softplus(-as_array("log_sigmoid", x))


@fuse_eager
def silu(x: ArrayLike) -> Array:
    """Return `x` times its sigmoid, also known as swish.

    Args:
        x: numbers.

    Returns:
        An array of the shape of `x`; floats keep their dtype, integers become floats.

    References:
        Elfwing, Uchibe and Doya, "Sigmoid-Weighted Linear Units", 2017.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import nn
        >>> nn.silu(np.array([0.0, 500.0]))
        Array([  0., 500.], dtype=float32)
    """
    x = as_array("silu", x)
    return x * sigmoid(x)


swish = silu


@fuse_eager
def mish(x: ArrayLike) -> Array:
    """Return `x * tanh(softplus(x))`.

    Args:
        x: numbers.

    Returns:
        An array of the shape of `x`; floats keep their dtype, integers become floats.

    References:
        Misra, "Mish: A Self Regularized Non-Monotonic Activation Function", 2019.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import nn
        >>> nn.mish(np.array([0.0, 500.0]))
        Array([  0., 500.], dtype=float32)
    """
    x = as_array("mish", x)
    return x * np.tanh(softplus(x))


@fuse_eager
def soft_sign(x: ArrayLike) -> Array:
    """Return `x / (abs(x) + 1)`.

    Args:
        x: numbers.

    Returns:
        An array of the shape of `x`; floats keep their dtype, integers become floats.

    References:
        Glorot and Bengio, "Understanding the difficulty of training deep feedforward
        neural networks", 2010.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import nn
        >>> nn.soft_sign(np.array([-1.0, 3.0]))
        Array([-0.5 ,  0.75], dtype=float32)
    """
    return _soft_sign(as_array("soft_sign", x))


@custom_jvp
def _soft_sign(x: Any) -> Any:
    return x / (np.abs(x) + 1)


@_soft_sign.defjvp
def _soft_sign_jvp(primals: Any, tangents: Any) -> Any:
    (x,), (t,) = primals, tangents
    return _soft_sign(x), t * np.square(1 / (np.abs(x) + 1))


@fuse_eager
def gelu(
    x: ArrayLike,
    approximate: bool = True,  # noqa: FBT001, FBT002 - JAX's signature
) -> Array:
    """Return `x` times the normal cumulative distribution of `x`.

    Args:
        x: numbers.
        approximate: whether to compute it by tanh, not by erfc: faster, with errors up
            to 0.0005.

    Returns:
        An array of the shape of `x`; floats keep their dtype, integers become floats.

    References:
        Hendrycks and Gimpel, "Gaussian Error Linear Units", 2016.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import nn
        >>> nn.gelu(np.array([0.0, 500.0]), approximate=False)
        Array([  0., 500.], dtype=float32)
    """
    array: Array = inexact("gelu", as_array("gelu", x))
    if approximate:
        # Far out it is constant, and its cube overflows. Tanh would cancel on the left.
        near = np.clip(array, -_FAR, _FAR)
        scale = strong_like(array, math.sqrt(8 / math.pi))
        return array * logistic(scale * (near + 0.044715 * near**3))
    return 0.5 * array * erfc(-array * strong_like(array, math.sqrt(0.5)))


_FAR: Final = 30.0
"""Where the approximate `gelu` is 0 or its argument, in every dtype."""

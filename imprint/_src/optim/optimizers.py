"""Optimizers: stochastic gradient descent, Adam, AdamW and RMSProp.

Each is a chain of parts with optax's names, arguments and defaults, and has its state.
A step size is a number or a schedule; its sign is flipped, so updates are added.
"""

from collections.abc import Callable

from imprint._src.dtypes import DTypeLike
from imprint._src.numpy.promotion import ArrayLike
from imprint._src.optim.base import GradientTransformation, ScalarOrSchedule
from imprint._src.optim.moments import scale_by_adam, scale_by_rms
from imprint._src.optim.transforms import (
    add_decayed_weights,
    chain,
    identity,
    scale_by_learning_rate,
    trace,
)
from imprint.tree import PyTree


def sgd(
    learning_rate: ScalarOrSchedule,
    momentum: ArrayLike | None = None,
    *,
    nesterov: bool = False,
    accumulator_dtype: DTypeLike | None = None,
) -> GradientTransformation:
    """Return gradient descent, optionally with momentum.

    Args:
        learning_rate: the step size.
        momentum: the decay rate of the momentum; None for none.
        nesterov: whether to use Nesterov momentum.
        accumulator_dtype: the dtype of the momentum, if not that of the parameters.

    Returns:
        A transformation: a pair of the functions `init` and `update`.

    References:
        Robbins and Monro, "A Stochastic Approximation Method", 1951; Sutskever et al.,
        "On the importance of initialization and momentum in deep learning", 2013.

    Example:
        >>> import imprint
        >>> import imprint.numpy as np
        >>> from imprint import optim
        >>> optimizer = optim.sgd(0.25)
        >>> x = np.array([1.0, 2.0])
        >>> gradient = imprint.grad(lambda x: np.sum(x**2))(x)
        >>> updates, _ = optimizer.update(gradient, optimizer.init(x))
        >>> optim.apply_updates(x, updates)
        Array([0.5, 1. ], dtype=float32)
    """
    part = identity()
    if momentum is not None:
        part = trace(momentum, nesterov=nesterov, accumulator_dtype=accumulator_dtype)
    return chain(part, scale_by_learning_rate(learning_rate))


def adam(  # noqa: PLR0913 - optax's parameters
    learning_rate: ScalarOrSchedule,
    b1: ArrayLike = 0.9,
    b2: ArrayLike = 0.999,
    eps: ArrayLike = 1e-8,
    eps_root: ArrayLike = 0.0,
    mu_dtype: DTypeLike | None = None,
    *,
    nesterov: bool = False,
) -> GradientTransformation:
    """Return Adam, which divides the average gradient by the root of its average square.

    Args:
        learning_rate: the step size.
        b1: the decay rate of the average of gradients.
        b2: the decay rate of the average of squares.
        eps: added to the root, against division by zero.
        eps_root: added below the root.
        mu_dtype: the dtype of the average of gradients, if not that of the parameters.
        nesterov: whether to use Nesterov momentum (Dozat, 2016).

    Returns:
        A transformation: a pair of the functions `init` and `update`.

    References:
        Kingma and Ba, "Adam: A Method for Stochastic Optimization", 2014.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import optim
        >>> optimizer = optim.adam(0.125)
        >>> x = np.array([1.0, 2.0])
        >>> updates, state = optimizer.update(x, optimizer.init(x))
        >>> updates
        Array([-0.1249..., -0.1249...], dtype=float32)
    """
    return chain(
        scale_by_adam(b1, b2, eps, eps_root, mu_dtype, nesterov=nesterov),
        scale_by_learning_rate(learning_rate),
    )


def adamw(  # noqa: PLR0913, PLR0917 - optax's parameters
    learning_rate: ScalarOrSchedule,
    b1: ArrayLike = 0.9,
    b2: ArrayLike = 0.999,
    eps: ArrayLike = 1e-8,
    eps_root: ArrayLike = 0.0,
    mu_dtype: DTypeLike | None = None,
    weight_decay: ScalarOrSchedule = 1e-4,
    mask: PyTree | Callable[[PyTree], PyTree] | None = None,
    *,
    nesterov: bool = False,
) -> GradientTransformation:
    """Return Adam with decoupled weight decay.

    Args:
        learning_rate: the step size.
        b1: the decay rate of the average of gradients.
        b2: the decay rate of the average of squares.
        eps: added to the root, against division by zero.
        eps_root: added below the root.
        mu_dtype: the dtype of the average of gradients, if not that of the parameters.
        weight_decay: the fraction of a parameter to subtract, times the step size.
        mask: which parameters decay: a tree of bools, or a function from parameters to
            one; None for all.
        nesterov: whether to use Nesterov momentum.

    Returns:
        A transformation: a pair of the functions `init` and `update`. Its `update`
        needs the parameters.

    References:
        Loshchilov and Hutter, "Decoupled Weight Decay Regularization", 2017.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import optim
        >>> optimizer = optim.adamw(0.5, weight_decay=0.25)
        >>> x = np.array([1.0, 2.0])
        >>> optimizer.update(x, optimizer.init(x), x)[0]
        Array([-0.6249..., -0.7499...], dtype=float32)
    """
    return chain(
        scale_by_adam(b1, b2, eps, eps_root, mu_dtype, nesterov=nesterov),
        add_decayed_weights(weight_decay, mask),
        scale_by_learning_rate(learning_rate),
    )


def rmsprop(  # noqa: PLR0913 - optax's parameters
    learning_rate: ScalarOrSchedule,
    decay: ArrayLike = 0.9,
    eps: ArrayLike = 1e-8,
    initial_scale: ArrayLike = 0.0,
    momentum: ArrayLike | None = None,
    *,
    eps_in_sqrt: bool = True,
    nesterov: bool = False,
) -> GradientTransformation:
    """Return RMSProp, which divides the gradient by the root of its average square.

    Args:
        learning_rate: the step size.
        decay: the decay rate of the average of squares.
        eps: added against division by zero.
        initial_scale: the first value of the average.
        momentum: the decay rate of the momentum; None for none.
        eps_in_sqrt: whether to add `eps` below the root, not to it.
        nesterov: whether to use Nesterov momentum.

    Returns:
        A transformation: a pair of the functions `init` and `update`.

    References:
        Tieleman and Hinton, "Lecture 6.5: RMSProp", 2012.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import optim
        >>> optimizer = optim.rmsprop(0.5, decay=0.75)
        >>> x = np.array([3.0])
        >>> optimizer.update(x, optimizer.init(x))[0]
        Array([-1.], dtype=float32)
    """
    return chain(
        scale_by_rms(decay, eps, initial_scale, eps_in_sqrt=eps_in_sqrt),
        scale_by_learning_rate(learning_rate),
        identity() if momentum is None else trace(momentum, nesterov=nesterov),
    )

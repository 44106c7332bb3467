"""Normalization of one example: LayerNorm, RMSNorm and GroupNorm.

All compute in float32 at least and return the input's dtype.
"""

from collections.abc import Sequence
from typing import Any, Final

import imprint.numpy as np
from imprint._src import dtypes
from imprint._src.core.array import Array
from imprint._src.core.aval import Shape
from imprint._src.dtypes import DTypeLike
from imprint._src.errors import ArgumentError, ShapeError
from imprint._src.numpy.promotion import ArrayLike, as_array
from imprint._src.primitives.elementwise.exponential import rsqrt
from imprint.module import Module, field

_NO_STATE: Final = object()


class _Normalization(Module):
    """The common base of LayerNorm and RMSNorm."""

    shape: Shape = field(static=True)
    eps: float = field(static=True)
    use_weight: bool = field(static=True)
    use_bias: bool = field(static=True)
    weight: Array | None
    bias: Array | None

    def __init__(
        self,
        shape: int | Sequence[int],
        eps: float,
        use_weight: bool,  # noqa: FBT001 - Equinox's signature
        use_bias: bool,  # noqa: FBT001 - Equinox's signature
        dtype: DTypeLike | None,
    ) -> None:
        """Create the weight and the bias."""
        self.shape = (shape,) if isinstance(shape, int) else tuple(shape)
        self.eps = eps
        self.use_weight = use_weight
        self.use_bias = use_bias
        self.weight = np.ones(self.shape, dtype) if use_weight else None
        self.bias = np.zeros(self.shape, dtype) if use_bias else None


class LayerNorm(_Normalization):
    """Layer normalization: mean 0 and variance 1 over all elements, weight and bias.

    Attributes:
        shape: of the input.
        eps: added to the variance, against division by zero.
        use_weight: whether there is a weight.
        use_bias: whether there is a bias.
        weight: of that shape, initially ones; or None.
        bias: of that shape, initially zeros; or None.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import nn
        >>> nn.LayerNorm(2, eps=0.0)(np.array([1.0, 3.0]))
        Array([-1.,  1.], dtype=float32)
    """

    # Written for each class, because type checkers treat one without as a plain
    # dataclass.
    def __init__(
        self,
        shape: int | Sequence[int],
        eps: float = 1e-5,
        use_weight: bool = True,  # noqa: FBT001, FBT002 - Equinox's signature
        use_bias: bool = True,  # noqa: FBT001, FBT002 - Equinox's signature
        dtype: DTypeLike | None = None,
    ) -> None:
        """Create the weight and the bias.

        Args:
            shape: of the input; a number for a vector.
            eps: added to the variance, against division by zero.
            use_weight: whether to multiply by a weight.
            use_bias: whether to add a bias.
            dtype: of weight and bias; None for the default float.
        """
        super().__init__(shape, eps, use_weight, use_bias, dtype)

    def __call__(self, x: ArrayLike, *, key: Any = None) -> Array:
        """Return the normalized example; `key` is not used."""
        del key
        x, wide = _one_example(self, x)
        inverse = rsqrt(np.var(wide) + self.eps)
        return _scaled(self, (wide - np.mean(wide)) * inverse, x)


class RMSNorm(_Normalization):
    """RMS normalization: mean square 1 over all elements, weight and bias.

    Attributes:
        shape: of the input.
        eps: added to the mean square, against division by zero.
        use_weight: whether there is a weight.
        use_bias: whether there is a bias.
        weight: of that shape, initially ones; or None.
        bias: of that shape, initially zeros; or None.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import nn
        >>> nn.RMSNorm(2, eps=0.0)(np.array([3.0, -3.0]))
        Array([ 1., -1.], dtype=float32)
    """

    # Written for each class, because type checkers treat one without as a plain
    # dataclass.
    def __init__(
        self,
        shape: int | Sequence[int],
        eps: float = 1e-5,
        use_weight: bool = True,  # noqa: FBT001, FBT002 - Equinox's signature
        use_bias: bool = True,  # noqa: FBT001, FBT002 - Equinox's signature
        dtype: DTypeLike | None = None,
    ) -> None:
        """Create the weight and the bias.

        Args:
            shape: of the input; a number for a vector.
            eps: added to the mean square, against division by zero.
            use_weight: whether to multiply by a weight.
            use_bias: whether to add a bias.
            dtype: of weight and bias; None for the default float.
        """
        super().__init__(shape, eps, use_weight, use_bias, dtype)

    def __call__(self, x: ArrayLike, *, key: Any = None) -> Array:
        """Return the normalized example; `key` is not used."""
        del key
        x, wide = _one_example(self, x)
        inverse = rsqrt(np.mean(np.square(wide)) + self.eps)
        return _scaled(self, inverse * wide, x)


class GroupNorm(Module):
    """Group normalization: mean 0 and variance 1 over groups of channels.

    Attributes:
        groups: the number of groups; channels are the first axis.
        channels: the number of channels; None for any number.
        eps: added to the variance, against division by zero.
        channelwise_affine: whether there are weight and bias.
        weight: one for each channel, initially ones; or None.
        bias: one for each channel, initially zeros; or None.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import nn
        >>> nn.GroupNorm(2, 4, eps=0.0)(np.array([1.0, 3.0, 10.0, 30.0]))
        Array([-1.,  1., -1.,  1.], dtype=float32)
    """

    groups: int = field(static=True)
    channels: int | None = field(static=True)
    eps: float = field(static=True)
    channelwise_affine: bool = field(static=True)
    weight: Array | None
    bias: Array | None

    def __init__(
        self,
        groups: int,
        channels: int | None = None,
        eps: float = 1e-5,
        channelwise_affine: bool = True,  # noqa: FBT001, FBT002 - Equinox's signature
        dtype: DTypeLike | None = None,
    ) -> None:
        """Create the weight and the bias.

        Args:
            groups: the number of groups.
            channels: the number of channels; required for weight and bias.
            eps: added to the variance, against division by zero.
            channelwise_affine: whether to multiply by a weight and add a bias.
            dtype: of weight and bias; None for the default float.
        """
        if channels is None and channelwise_affine:
            raise ArgumentError(
                "GroupNorm: expected channels, for weight and bias, got None. Write the "
                "number, or channelwise_affine=False."
            )
        if channels is not None and channels % groups:
            raise ArgumentError(
                "GroupNorm: expected channels that groups divide, got "
                f"channels={channels} and groups={groups}."
            )
        self.groups = groups
        self.channels = channels
        self.eps = eps
        self.channelwise_affine = channelwise_affine
        count = channels or 0
        self.weight = np.ones(count, dtype) if channelwise_affine else None
        self.bias = np.zeros(count, dtype) if channelwise_affine else None

    def __call__(self, x: ArrayLike, state: Any = _NO_STATE, *, key: Any = None) -> Any:
        """Return the normalized example, and the state if one is given.

        Args:
            x: of shape `(channels, ...)`.
            state: returned unchanged, so that the layer can replace `BatchNorm`.
            key: not used.
        """
        del key
        array = as_array("GroupNorm", x)
        wanted = "a multiple of groups" if self.channels is None else self.channels
        fits = array.ndim and array.shape[0] % self.groups == 0
        if not fits or (self.channels is not None and array.shape[0] != self.channels):
            raise ShapeError(
                f"GroupNorm: expected one example whose channels are {wanted}, got "
                f"{array.aval} with groups={self.groups}. For a batch write "
                "imprint.vmap(layer)(x)."
            )
        wide = np.astype(array, dtypes.promote_types(array.dtype, "float32"))
        rows = np.reshape(wide, (self.groups, -1))
        variance = np.var(rows, axis=1, keepdims=True)
        inverse = rsqrt(np.maximum(variance, 0.0) + self.eps)
        out = (rows - np.mean(rows, axis=1, keepdims=True)) * inverse
        out = np.reshape(out, array.shape)
        if self.weight is not None and self.bias is not None:
            shape = (-1, *[1] * (array.ndim - 1))
            weight, bias = (
                np.astype(np.reshape(p, shape), out.dtype)
                for p in (self.weight, self.bias)
            )
            out = weight * out + bias
        out = np.astype(out, array.dtype)
        return out if state is _NO_STATE else (out, state)


def _one_example(layer: _Normalization, x: ArrayLike) -> tuple[Array, Array]:
    """Return the input, and the input in the dtype of the computation."""
    name = type(layer).__name__
    array = as_array(name, x)
    if array.shape != layer.shape:
        raise ShapeError(
            f"{name}: expected one example of shape {layer.shape}, got {array.aval}. "
            "For a batch write imprint.vmap(layer)(x)."
        )
    return array, np.astype(array, dtypes.promote_types(array.dtype, "float32"))


def _scaled(layer: _Normalization, out: Array, x: Array) -> Array:
    """Apply weight and bias, and convert to the dtype of the input."""
    if layer.weight is not None:
        out = np.astype(layer.weight, out.dtype) * out
    if layer.bias is not None:
        out = out + np.astype(layer.bias, out.dtype)
    return np.astype(out, x.dtype)

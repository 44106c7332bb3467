"""Pooling of one example: the mean or the maximum of windows.

A layer takes one example of shape `(channels, *spatial)`. An adaptive layer uses as
many windows as the result has elements, of the length that then fits.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import imprint.numpy as np
from imprint._src.core.array import Array
from imprint._src.errors import ArgumentError, ShapeError
from imprint._src.interpreters.vmap import vmap
from imprint._src.lax import elementwise
from imprint._src.lax.monoids import reduce_window
from imprint._src.nn.convolution import Ints, Pads, each_axis, pads_of_axes
from imprint._src.numpy.promotion import ArrayLike, as_array
from imprint.module import Module, field


class Pool(Module):
    """Pooling by an associative function.

    Attributes:
        init: the identity of `operation`.
        operation: an associative function; `imprint.lax.add` and `max` are the fastest.
        num_spatial_dims: the number of spatial axes.
        kernel_size: the lengths of a window.
        stride: the steps between windows.
        padding: the numbers of `init` before and after each axis.
        use_ceil: whether to include a window that does not fit completely.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import lax, nn
        >>> layer = nn.Pool(0.0, lax.add, 1, kernel_size=2, stride=2)
        >>> layer(np.array([[1.0, 2.0, 3.0, 4.0]]))
        Array([[3., 7.]], dtype=float32)
    """

    init: Any
    operation: Callable[[Any, Any], Any]
    num_spatial_dims: int = field(static=True)
    kernel_size: Ints = field(static=True)
    stride: Ints = field(static=True)
    padding: Pads = field(static=True)
    use_ceil: bool = field(static=True)

    def __init__(  # noqa: PLR0913, PLR0917 - Equinox's signature
        self,
        init: Any,
        operation: Callable[[Any, Any], Any],
        num_spatial_dims: int,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] = 1,
        padding: int | Sequence[int] | Sequence[tuple[int, int]] = 0,
        use_ceil: bool = False,  # noqa: FBT001, FBT002 - Equinox's signature
    ) -> None:
        """Set the operation and the windows.

        Args:
            init: the identity of `operation`.
            operation: an associative function of two elements.
            num_spatial_dims: the number of spatial axes.
            kernel_size: the lengths of a window; one number for all axes.
            stride: the steps between windows.
            padding: the padding before and after each axis: a number, or one or a pair
                for each.
            use_ceil: whether to include a window that does not fit completely.
        """
        name = type(self).__name__
        self.init = init
        self.operation = operation
        self.num_spatial_dims = num_spatial_dims
        self.kernel_size = each_axis(name, "kernel_size", kernel_size, num_spatial_dims)
        self.stride = each_axis(name, "stride", stride, num_spatial_dims)
        self.padding = pads_of_axes(name, padding, num_spatial_dims)
        self.use_ceil = use_ceil

    def __call__(self, x: ArrayLike, *, key: Any = None) -> Array:
        """Return the result for one example; `key` is not used."""
        del key
        x = _one_example(self, x, self.num_spatial_dims)
        pads = list(self.padding)
        if self.use_ceil:
            for i, (low, high) in enumerate(pads):
                rest = x.shape[i + 1] + low + high - self.kernel_size[i]
                if rest % self.stride[i]:
                    pads[i] = (low, high + self.stride[i])
        pairs = zip(pads, self.kernel_size, strict=True)
        if any(max(pad) > size for pad, size in pairs):
            raise ArgumentError(
                f"{type(self).__name__}: expected padding of no more than kernel_size, "
                f"got padding={tuple(pads)} and kernel_size={self.kernel_size}."
            )
        return reduce_window(
            x,
            self.init,
            self.operation,
            (1, *self.kernel_size),
            (1, *self.stride),
            [(0, 0), *pads],
        )


def _one_example(layer: Module, x: ArrayLike, count: int) -> Array:
    name = type(layer).__name__
    array = as_array(name, x)
    if array.ndim != count + 1:
        raise ShapeError(
            f"{name}: expected one example of channels and {count} further axes, got "
            f"{array.aval}. For a batch write imprint.vmap(layer)(x)."
        )
    return array


class AvgPool1d(Pool):
    """The mean of each window over one axis; padding counts as zeros.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import nn
        >>> nn.AvgPool1d(kernel_size=2, stride=2)(np.ones((3, 4))).shape
        (3, 2)
    """

    def __init__(
        self,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] = 1,
        padding: int | Sequence[int] | Sequence[tuple[int, int]] = 0,
        use_ceil: bool = False,  # noqa: FBT001, FBT002 - Equinox's signature
    ) -> None:
        """Set the windows; the arguments are those of `Pool`."""
        super().__init__(0, elementwise.add, 1, kernel_size, stride, padding, use_ceil)

    def __call__(self, x: ArrayLike, *, key: Any = None) -> Array:
        """Return the result for one example; `key` is not used."""
        return super().__call__(x, key=key) / math.prod(self.kernel_size)


class MaxPool1d(Pool):
    """The maximum of each window over one axis.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import nn
        >>> nn.MaxPool1d(kernel_size=2, stride=2)(np.ones((3, 4))).shape
        (3, 2)
    """

    def __init__(
        self,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] = 1,
        padding: int | Sequence[int] | Sequence[tuple[int, int]] = 0,
        use_ceil: bool = False,  # noqa: FBT001, FBT002 - Equinox's signature
    ) -> None:
        """Set the windows; the arguments are those of `Pool`."""
        super().__init__(
            -math.inf, elementwise.max, 1, kernel_size, stride, padding, use_ceil
        )


class AvgPool2d(Pool):
    """The mean of each window over two axes; padding counts as zeros.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import nn
        >>> nn.AvgPool2d(kernel_size=2, stride=2)(np.ones((3, 4, 4))).shape
        (3, 2, 2)
    """

    def __init__(
        self,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] = 1,
        padding: int | Sequence[int] | Sequence[tuple[int, int]] = 0,
        use_ceil: bool = False,  # noqa: FBT001, FBT002 - Equinox's signature
    ) -> None:
        """Set the windows; the arguments are those of `Pool`."""
        super().__init__(0, elementwise.add, 2, kernel_size, stride, padding, use_ceil)

    def __call__(self, x: ArrayLike, *, key: Any = None) -> Array:
        """Return the result for one example; `key` is not used."""
        return super().__call__(x, key=key) / math.prod(self.kernel_size)


class MaxPool2d(Pool):
    """The maximum of each window over two axes.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import nn
        >>> nn.MaxPool2d(kernel_size=2, stride=2)(np.ones((3, 4, 4))).shape
        (3, 2, 2)
    """

    def __init__(
        self,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] = 1,
        padding: int | Sequence[int] | Sequence[tuple[int, int]] = 0,
        use_ceil: bool = False,  # noqa: FBT001, FBT002 - Equinox's signature
    ) -> None:
        """Set the windows; the arguments are those of `Pool`."""
        super().__init__(
            -math.inf, elementwise.max, 2, kernel_size, stride, padding, use_ceil
        )


class AvgPool3d(Pool):
    """The mean of each window over three axes; padding counts as zeros.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import nn
        >>> nn.AvgPool3d(kernel_size=2, stride=2)(np.ones((3, 4, 4, 4))).shape
        (3, 2, 2, 2)
    """

    def __init__(
        self,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] = 1,
        padding: int | Sequence[int] | Sequence[tuple[int, int]] = 0,
        use_ceil: bool = False,  # noqa: FBT001, FBT002 - Equinox's signature
    ) -> None:
        """Set the windows; the arguments are those of `Pool`."""
        super().__init__(0, elementwise.add, 3, kernel_size, stride, padding, use_ceil)

    def __call__(self, x: ArrayLike, *, key: Any = None) -> Array:
        """Return the result for one example; `key` is not used."""
        return super().__call__(x, key=key) / math.prod(self.kernel_size)


class MaxPool3d(Pool):
    """The maximum of each window over three axes.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import nn
        >>> nn.MaxPool3d(kernel_size=2, stride=2)(np.ones((3, 4, 4, 4))).shape
        (3, 2, 2, 2)
    """

    def __init__(
        self,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] = 1,
        padding: int | Sequence[int] | Sequence[tuple[int, int]] = 0,
        use_ceil: bool = False,  # noqa: FBT001, FBT002 - Equinox's signature
    ) -> None:
        """Set the windows; the arguments are those of `Pool`."""
        super().__init__(
            -math.inf, elementwise.max, 3, kernel_size, stride, padding, use_ceil
        )


class AdaptivePool(Module):
    """Adaptive pooling: as many windows as the result has elements.

    Attributes:
        target_shape: the spatial shape of the result.
        operation: a function from a vector to a number.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import nn
        >>> layer = nn.AdaptivePool(2, num_spatial_dims=1, operation=np.max)
        >>> layer(np.array([[1.0, 2.0, 3.0, 4.0, 5.0]]))
        Array([[3., 5.]], dtype=float32)
    """

    target_shape: Ints = field(static=True)
    operation: Callable[[Any], Any]

    def __init__(
        self,
        target_shape: int | Sequence[int],
        num_spatial_dims: int,
        operation: Callable[[Any], Any],
    ) -> None:
        """Set the shape of the result.

        Args:
            target_shape: the spatial shape of the result; one number for all axes.
            num_spatial_dims: the number of spatial axes.
            operation: a function from a vector to a number.
        """
        name = type(self).__name__
        self.operation = operation
        self.target_shape = each_axis(
            name, "target_shape", target_shape, num_spatial_dims
        )

    def __call__(self, x: ArrayLike, *, key: Any = None) -> Array:
        """Return the result for one example; `key` is not used."""
        del key
        x = _one_example(self, x, len(self.target_shape))
        for axis, size in enumerate(self.target_shape, start=1):
            rows = np.moveaxis(x, axis, -1)
            shape = rows.shape[:-1]
            flat = np.reshape(rows, (-1, rows.shape[-1]))
            adapt = partial(_adapted, size=size, operation=self.operation)
            pooled = vmap(adapt)(flat)
            x = np.moveaxis(np.reshape(pooled, (*shape, size)), -1, axis)
        return x


def _adapted(x: Array, size: int, operation: Callable[[Any], Any]) -> Array:
    """Pool a vector: the first windows are longer by one if needed."""
    length, longer = divmod(x.shape[0], size)
    cut = longer * (length + 1)
    parts: list[Array] = []
    for part, count in ((x[:cut], longer), (x[cut:], size - longer)):
        if count:
            parts.append(vmap(operation)(np.reshape(part, (count, -1))))
    return np.concatenate(parts)


class AdaptiveAvgPool1d(AdaptivePool):
    """Adaptive average pooling over one axis.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import nn
        >>> nn.AdaptiveAvgPool1d(2)(np.ones((3, 5))).shape
        (3, 2)
    """

    def __init__(self, target_shape: int | Sequence[int]) -> None:
        """Set the shape of the result; one number for all axes."""
        super().__init__(target_shape, 1, np.mean)


class AdaptiveAvgPool2d(AdaptivePool):
    """Adaptive average pooling over two axes.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import nn
        >>> nn.AdaptiveAvgPool2d(2)(np.ones((3, 5, 5))).shape
        (3, 2, 2)
    """

    def __init__(self, target_shape: int | Sequence[int]) -> None:
        """Set the shape of the result; one number for all axes."""
        super().__init__(target_shape, 2, np.mean)


class AdaptiveAvgPool3d(AdaptivePool):
    """Adaptive average pooling over three axes.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import nn
        >>> nn.AdaptiveAvgPool3d(2)(np.ones((3, 5, 5, 5))).shape
        (3, 2, 2, 2)
    """

    def __init__(self, target_shape: int | Sequence[int]) -> None:
        """Set the shape of the result; one number for all axes."""
        super().__init__(target_shape, 3, np.mean)


class AdaptiveMaxPool1d(AdaptivePool):
    """Adaptive maximum pooling over one axis.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import nn
        >>> nn.AdaptiveMaxPool1d(2)(np.ones((3, 5))).shape
        (3, 2)
    """

    def __init__(self, target_shape: int | Sequence[int]) -> None:
        """Set the shape of the result; one number for all axes."""
        super().__init__(target_shape, 1, np.max)


class AdaptiveMaxPool2d(AdaptivePool):
    """Adaptive maximum pooling over two axes.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import nn
        >>> nn.AdaptiveMaxPool2d(2)(np.ones((3, 5, 5))).shape
        (3, 2, 2)
    """

    def __init__(self, target_shape: int | Sequence[int]) -> None:
        """Set the shape of the result; one number for all axes."""
        super().__init__(target_shape, 2, np.max)


class AdaptiveMaxPool3d(AdaptivePool):
    """Adaptive maximum pooling over three axes.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import nn
        >>> nn.AdaptiveMaxPool3d(2)(np.ones((3, 5, 5, 5))).shape
        (3, 2, 2, 2)
    """

    def __init__(self, target_shape: int | Sequence[int]) -> None:
        """Set the shape of the result; one number for all axes."""
        super().__init__(target_shape, 3, np.max)

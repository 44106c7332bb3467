"""Convolution layers of any number of axes: Conv and ConvTranspose.

A layer takes one example of shape `(channels, *spatial)`. Weights and biases are
uniform between ± 1 / sqrt of the number of terms of a sum; for the same key they are
Equinox's.
"""

import math
from collections.abc import Sequence
from typing import Any, TypeAlias, cast

import imprint.numpy as np
from imprint import random
from imprint._src.core.array import Array
from imprint._src.dtypes import DTypeLike
from imprint._src.errors import ArgumentError, ShapeError
from imprint._src.lax.convolution import conv_general_dilated
from imprint._src.lax.layouts import padtype_to_pads
from imprint._src.nn.linear import draw_within
from imprint._src.numpy.promotion import ArrayLike, as_array
from imprint._src.primitives.shape import squeeze
from imprint.module import Module, field

Ints: TypeAlias = tuple[int, ...]
Pads: TypeAlias = tuple[tuple[int, int], ...]
Padding: TypeAlias = str | int | Sequence[int] | Sequence[tuple[int, int]]

_NAMED = ("SAME", "SAME_LOWER", "VALID")
_MODES = {"ZEROS": "", "REFLECT": "reflect", "REPLICATE": "edge", "CIRCULAR": "wrap"}


class _Convolution(Module):
    """The common base of both layers."""

    num_spatial_dims: int = field(static=True)
    weight: Array
    bias: Array | None
    in_channels: int = field(static=True)
    out_channels: int = field(static=True)
    kernel_size: Ints = field(static=True)
    stride: Ints = field(static=True)
    padding: str | Pads = field(static=True)
    dilation: Ints = field(static=True)
    groups: int = field(static=True)
    use_bias: bool = field(static=True)
    padding_mode: str = field(static=True)

    def _set(self, given: dict[str, Any]) -> None:
        """Store the arguments, and initialize weight and bias."""
        name, count = type(self).__name__, given["num_spatial_dims"]
        ins, outs, groups = (
            given[part] for part in ("in_channels", "out_channels", "groups")
        )
        if ins % groups:
            raise ArgumentError(
                f"{name}: expected in_channels that groups divide, got "
                f"in_channels={ins} and groups={groups}."
            )
        self.num_spatial_dims, self.groups = count, groups
        self.in_channels, self.out_channels = ins, outs
        self.kernel_size, self.stride, self.dilation = (
            each_axis(name, part, given[part], count)
            for part in ("kernel_size", "stride", "dilation")
        )
        self.padding = _padding(name, given["padding"], count)
        self.padding_mode = str(given["padding_mode"]).upper()
        if self.padding_mode not in _MODES:
            raise ArgumentError(
                f"{name}: expected a padding_mode of {list(_MODES)}, got "
                f"{given['padding_mode']!r}."
            )
        self.use_bias = given["use_bias"]
        weight_key, bias_key = random.split(given["key"])
        shape = (outs, ins // groups, *self.kernel_size)
        limit = 1 / math.sqrt(math.prod(shape[1:]))
        dtype = given["dtype"]
        self.weight = draw_within(weight_key, limit, shape, dtype)
        ones = (1,) * count
        drawn = draw_within(bias_key, limit, (outs, *ones), dtype)
        self.bias = drawn if self.use_bias else None

    def _one_example(self, x: ArrayLike) -> Array:
        name = type(self).__name__
        array = as_array(name, x)
        if (
            array.ndim != self.num_spatial_dims + 1
            or array.shape[0] != self.in_channels
        ):
            raise ShapeError(
                f"{name}: expected one example of {self.in_channels} channels and "
                f"{self.num_spatial_dims} further axes, got {array.aval}. For a batch "
                "write imprint.vmap(layer)(x)."
            )
        return array

    def _with_bias(self, y: Array) -> Array:
        y = squeeze(y, (0,))
        return y if self.bias is None else y + self.bias


class Conv(_Convolution):
    """A convolution over any number of axes, with a bias for each channel.

    Attributes:
        num_spatial_dims: the number of spatial axes.
        weight: the kernel, of shape `(out_channels, in_channels // groups, *kernel_size)`.
        bias: of shape `(out_channels, 1, …)`, or None.
        in_channels: the channels of the input.
        out_channels: the channels of the result.
        kernel_size: the lengths of the kernel.
        stride: the steps between windows.
        padding: its name, or the padding before and after each axis.
        dilation: the distance between elements of a window.
        groups: the number of groups of channels, which are convolved separately.
        use_bias: whether there is a bias.
        padding_mode: the padding: "ZEROS", "REFLECT", "REPLICATE" or "CIRCULAR".

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import nn, random
        >>> layer = nn.Conv(2, 3, 8, kernel_size=3, padding="SAME", key=random.key(0))
        >>> layer(np.ones((3, 10, 12))).shape
        (8, 10, 12)
    """

    def __init__(  # noqa: PLR0913, PLR0917 - Equinox's signature
        self,
        num_spatial_dims: int,
        in_channels: int,
        out_channels: int,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] = 1,
        padding: Padding = 0,
        dilation: int | Sequence[int] = 1,
        groups: int = 1,
        use_bias: bool = True,  # noqa: FBT001, FBT002 - Equinox's signature
        padding_mode: str = "ZEROS",
        dtype: DTypeLike | None = None,
        *,
        key: Any,
    ) -> None:
        """Initialize the kernel.

        Args:
            num_spatial_dims: the number of spatial axes.
            in_channels: the channels of the input.
            out_channels: the channels of the result.
            kernel_size: the lengths of the kernel; one number for all axes.
            stride: the steps between windows.
            padding: the padding before and after each axis: a number, one or a pair for
                each, or "SAME", "SAME_LOWER" or "VALID".
            dilation: the distance between elements of a window.
            groups: the number of groups of channels.
            use_bias: whether to add a bias.
            padding_mode: the padding: "ZEROS", "REFLECT", "REPLICATE" or "CIRCULAR".
            dtype: of kernel and bias; None for the default float.
            key: the key of the initial kernel.
        """
        given = {name: value for name, value in locals().items() if name != "self"}
        self._set(given)

    def __call__(self, x: ArrayLike, *, key: Any = None) -> Array:
        """Return the result for one example; `key` is not used."""
        del key
        x = self._one_example(x)
        padding = self.padding
        if self.padding_mode != "ZEROS":
            if isinstance(padding, str):
                pairs = zip(self.kernel_size, self.dilation, strict=True)
                extents = [(k - 1) * d + 1 for k, d in pairs]
                padding = padtype_to_pads(x.shape[1:], extents, self.stride, padding)
            x = np.pad(x, [(0, 0), *padding], _MODES[self.padding_mode])
            padding = "VALID"
        out = conv_general_dilated(
            np.expand_dims(x, 0),
            self.weight,
            self.stride,
            padding,
            rhs_dilation=self.dilation,
            feature_group_count=self.groups,
        )
        return self._with_bias(out)


class ConvTranspose(_Convolution):
    """A transposed convolution, which enlarges its input.

    Attributes:
        num_spatial_dims: the number of spatial axes.
        weight: the kernel, of shape `(out_channels, in_channels // groups, *kernel_size)`.
        bias: of shape `(out_channels, 1, …)`, or None.
        in_channels: the channels of the input.
        out_channels: the channels of the result.
        kernel_size: the lengths of the kernel.
        stride: the stride of the `Conv` to transpose.
        padding: the padding of that `Conv`.
        output_padding: the number of additional elements of the result.
        dilation: the distance between elements of a window.
        groups: the number of groups of channels, which are convolved separately.
        use_bias: whether there is a bias.
        padding_mode: "ZEROS", or "CIRCULAR", as of that `Conv`.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import nn, random
        >>> layer = nn.ConvTranspose(
        ...     1, 3, 2, kernel_size=2, stride=2, key=random.key(0)
        ... )
        >>> layer(np.ones((3, 5))).shape
        (2, 10)
    """

    output_padding: Ints = field(static=True)

    def __init__(  # noqa: PLR0913, PLR0917 - Equinox's signature
        self,
        num_spatial_dims: int,
        in_channels: int,
        out_channels: int,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] = 1,
        padding: Padding = 0,
        output_padding: int | Sequence[int] = 0,
        dilation: int | Sequence[int] = 1,
        groups: int = 1,
        use_bias: bool = True,  # noqa: FBT001, FBT002 - Equinox's signature
        padding_mode: str = "ZEROS",
        dtype: DTypeLike | None = None,
        *,
        key: Any,
    ) -> None:
        """Initialize the kernel.

        Args:
            num_spatial_dims: the number of spatial axes.
            in_channels: the channels of the input.
            out_channels: the channels of the result.
            kernel_size: the lengths of the kernel; one number for all axes.
            stride: the stride of the `Conv` to transpose.
            padding: the padding of that `Conv`.
            output_padding: the number of additional elements of the result; less than
                the stride.
            dilation: the distance between elements of a window.
            groups: the number of groups of channels.
            use_bias: whether to add a bias.
            padding_mode: "ZEROS"; or "CIRCULAR", with padding "SAME" or "SAME_LOWER".
            dtype: of kernel and bias; None for the default float.
            key: the key of the initial kernel.
        """
        given = {name: value for name, value in locals().items() if name != "self"}
        self._set(given)
        name = type(self).__name__
        more = each_axis(name, "output_padding", output_padding, num_spatial_dims)
        if any(n >= step for n, step in zip(more, self.stride, strict=True)):
            raise ArgumentError(
                f"{name}: expected output_padding less than the stride, got {more} and "
                f"{self.stride}."
            )
        self.output_padding = more
        is_same = self.padding in ("SAME", "SAME_LOWER")
        fits = self.padding_mode == "CIRCULAR" and is_same and not any(more)
        if self.padding_mode != "ZEROS" and not fits:
            raise ArgumentError(
                f"{name}: expected padding_mode 'ZEROS', or 'CIRCULAR' with padding "
                "'SAME' or 'SAME_LOWER' and no output_padding, got "
                f"padding_mode={self.padding_mode!r}, padding={self.padding!r} and "
                f"output_padding={more}."
            )

    def __call__(self, x: ArrayLike, *, key: Any = None) -> Array:
        """Return the result for one example; `key` is not used."""
        del key
        x = self._one_example(x)
        pads = [self._pads(axis) for axis in range(self.num_spatial_dims)]
        if self.padding_mode == "CIRCULAR":
            pairs = list(zip(pads, self.stride, strict=True))
            around = [(low // step, high // step) for (low, high), step in pairs]
            x = np.pad(x, [(0, 0), *around], "wrap")
            pads = [(low % step, high % step) for (low, high), step in pairs]
        out = conv_general_dilated(
            np.expand_dims(x, 0),
            self.weight,
            (1,) * self.num_spatial_dims,
            pads,
            self.stride,
            self.dilation,
            feature_group_count=self.groups,
        )
        return self._with_bias(out)

    def _pads(self, axis: int) -> tuple[int, int]:
        """Return the zeros before and after the dilated elements of an axis."""
        reach = self.dilation[axis] * (self.kernel_size[axis] - 1)
        more = self.output_padding[axis]
        low = high = 0
        if self.padding in ("SAME", "SAME_LOWER"):
            total = reach - self.stride[axis] + more + 1
            more, total = max(-total, 0), max(total, 0)
            low = (total + (self.padding == "SAME_LOWER")) // 2
            high = total - low
        elif not isinstance(self.padding, str):
            low, high = self.padding[axis]
        return reach - low, reach - high + more


def each_axis(name: str, what: str, given: int | Sequence[int], count: int) -> Ints:
    """Return a number for each axis; errors name the layer and the argument."""
    found = (given,) * count if isinstance(given, int) else tuple(given)
    if len(found) != count:
        raise ArgumentError(
            f"{name}: expected {what} as one number, or {count} of them, got {given!r}."
        )
    return found


def pads_of_axes(name: str, given: int | Sequence[Any], count: int) -> Pads:
    """Return the padding before and after each axis."""
    each = (given,) * count if isinstance(given, int) else tuple(given)
    pairs = [(p, p) if isinstance(p, int) else tuple(p) for p in each]
    if len(pairs) != count or any(len(p) != 2 for p in pairs):
        raise ArgumentError(
            f"{name}: expected padding as a number, or a number or a pair for each of "
            f"{count} axes, got {given!r}."
        )
    return cast("Pads", tuple(pairs))


def _padding(name: str, given: Padding, count: int) -> str | Pads:
    if not isinstance(given, str):
        return pads_of_axes(name, given, count)
    if given.upper() not in _NAMED:
        raise ArgumentError(
            f"{name}: expected padding {', '.join(_NAMED)}, numbers or pairs, got "
            f"{given!r}."
        )
    return given.upper()

"""Convolution layers of one, two and three axes, with Equinox's defaults.

See `Conv` and `ConvTranspose`; as in Equinox, the transposed ones take `output_padding`
before `padding`.
"""

from collections.abc import Sequence
from typing import Any

from imprint._src.dtypes import DTypeLike
from imprint._src.nn.convolution import Conv, ConvTranspose, Padding


class Conv1d(Conv):
    """A convolution over one axis, with a bias for each channel.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import nn, random
        >>> layer = nn.Conv1d(2, 4, kernel_size=3, key=random.key(0))
        >>> layer(np.ones((2, 5))).shape
        (4, 3)
    """

    def __init__(  # noqa: PLR0913, PLR0917 - Equinox's signature
        self,
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
        """Initialize the kernel; the arguments are those of `Conv`."""
        super().__init__(
            1,
            in_channels=in_channels,
            out_channels=out_channels,
            kernel_size=kernel_size,
            stride=stride,
            padding=padding,
            dilation=dilation,
            groups=groups,
            use_bias=use_bias,
            padding_mode=padding_mode,
            dtype=dtype,
            key=key,
        )


class Conv2d(Conv):
    """A convolution over two axes, with a bias for each channel.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import nn, random
        >>> layer = nn.Conv2d(2, 4, kernel_size=3, key=random.key(0))
        >>> layer(np.ones((2, 5, 5))).shape
        (4, 3, 3)
    """

    def __init__(  # noqa: PLR0913, PLR0917 - Equinox's signature
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] = (1, 1),
        padding: Padding = (0, 0),
        dilation: int | Sequence[int] = (1, 1),
        groups: int = 1,
        use_bias: bool = True,  # noqa: FBT001, FBT002 - Equinox's signature
        padding_mode: str = "ZEROS",
        dtype: DTypeLike | None = None,
        *,
        key: Any,
    ) -> None:
        """Initialize the kernel; the arguments are those of `Conv`."""
        super().__init__(
            2,
            in_channels=in_channels,
            out_channels=out_channels,
            kernel_size=kernel_size,
            stride=stride,
            padding=padding,
            dilation=dilation,
            groups=groups,
            use_bias=use_bias,
            padding_mode=padding_mode,
            dtype=dtype,
            key=key,
        )


class Conv3d(Conv):
    """A convolution over three axes, with a bias for each channel.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import nn, random
        >>> layer = nn.Conv3d(2, 4, kernel_size=3, key=random.key(0))
        >>> layer(np.ones((2, 5, 5, 5))).shape
        (4, 3, 3, 3)
    """

    def __init__(  # noqa: PLR0913, PLR0917 - Equinox's signature
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] = (1, 1, 1),
        padding: Padding = (0, 0, 0),
        dilation: int | Sequence[int] = (1, 1, 1),
        groups: int = 1,
        use_bias: bool = True,  # noqa: FBT001, FBT002 - Equinox's signature
        padding_mode: str = "ZEROS",
        dtype: DTypeLike | None = None,
        *,
        key: Any,
    ) -> None:
        """Initialize the kernel; the arguments are those of `Conv`."""
        super().__init__(
            3,
            in_channels=in_channels,
            out_channels=out_channels,
            kernel_size=kernel_size,
            stride=stride,
            padding=padding,
            dilation=dilation,
            groups=groups,
            use_bias=use_bias,
            padding_mode=padding_mode,
            dtype=dtype,
            key=key,
        )


class ConvTranspose1d(ConvTranspose):
    """A transposed convolution over one axis.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import nn, random
        >>> layer = nn.ConvTranspose1d(2, 4, kernel_size=2, stride=2, key=random.key(0))
        >>> layer(np.ones((2, 5))).shape
        (4, 10)
    """

    def __init__(  # noqa: PLR0913, PLR0917 - Equinox's signature
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] = 1,
        output_padding: int | Sequence[int] = 0,
        padding: Padding = 0,
        dilation: int | Sequence[int] = 1,
        groups: int = 1,
        use_bias: bool = True,  # noqa: FBT001, FBT002 - Equinox's signature
        padding_mode: str = "ZEROS",
        dtype: DTypeLike | None = None,
        *,
        key: Any,
    ) -> None:
        """Initialize the kernel; the arguments are those of `ConvTranspose`."""
        super().__init__(
            1,
            in_channels=in_channels,
            out_channels=out_channels,
            kernel_size=kernel_size,
            stride=stride,
            output_padding=output_padding,
            padding=padding,
            dilation=dilation,
            groups=groups,
            use_bias=use_bias,
            padding_mode=padding_mode,
            dtype=dtype,
            key=key,
        )


class ConvTranspose2d(ConvTranspose):
    """A transposed convolution over two axes.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import nn, random
        >>> layer = nn.ConvTranspose2d(2, 4, kernel_size=2, stride=2, key=random.key(0))
        >>> layer(np.ones((2, 5, 5))).shape
        (4, 10, 10)
    """

    def __init__(  # noqa: PLR0913, PLR0917 - Equinox's signature
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] = (1, 1),
        output_padding: int | Sequence[int] = (0, 0),
        padding: Padding = (0, 0),
        dilation: int | Sequence[int] = (1, 1),
        groups: int = 1,
        use_bias: bool = True,  # noqa: FBT001, FBT002 - Equinox's signature
        padding_mode: str = "ZEROS",
        dtype: DTypeLike | None = None,
        *,
        key: Any,
    ) -> None:
        """Initialize the kernel; the arguments are those of `ConvTranspose`."""
        super().__init__(
            2,
            in_channels=in_channels,
            out_channels=out_channels,
            kernel_size=kernel_size,
            stride=stride,
            output_padding=output_padding,
            padding=padding,
            dilation=dilation,
            groups=groups,
            use_bias=use_bias,
            padding_mode=padding_mode,
            dtype=dtype,
            key=key,
        )


class ConvTranspose3d(ConvTranspose):
    """A transposed convolution over three axes.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint import nn, random
        >>> layer = nn.ConvTranspose3d(2, 4, kernel_size=2, stride=2, key=random.key(0))
        >>> layer(np.ones((2, 5, 5, 5))).shape
        (4, 10, 10, 10)
    """

    def __init__(  # noqa: PLR0913, PLR0917 - Equinox's signature
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] = (1, 1, 1),
        output_padding: int | Sequence[int] = (0, 0, 0),
        padding: Padding = (0, 0, 0),
        dilation: int | Sequence[int] = (1, 1, 1),
        groups: int = 1,
        use_bias: bool = True,  # noqa: FBT001, FBT002 - Equinox's signature
        padding_mode: str = "ZEROS",
        dtype: DTypeLike | None = None,
        *,
        key: Any,
    ) -> None:
        """Initialize the kernel; the arguments are those of `ConvTranspose`."""
        super().__init__(
            3,
            in_channels=in_channels,
            out_channels=out_channels,
            kernel_size=kernel_size,
            stride=stride,
            output_padding=output_padding,
            padding=padding,
            dilation=dilation,
            groups=groups,
            use_bias=use_bias,
            padding_mode=padding_mode,
            dtype=dtype,
            key=key,
        )

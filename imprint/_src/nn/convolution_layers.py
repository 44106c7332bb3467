"""The layers of convolution by their number of axes, whose defaults are Equinox's.

Each is `Conv` or `ConvTranspose`, which see; the transposed ones take `output_padding`
before `padding`, as Equinox's do.
"""

from collections.abc import Sequence
from typing import Any

from imprint._src.dtypes import DTypeLike
from imprint._src.nn.convolution import Conv, ConvTranspose, Padding


class Conv1d(Conv):
    """A kernel that slides over one axis, and a bias for each channel.

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
        """Draw the kernel; the arguments are those of `Conv`."""
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
    """A kernel that slides over two axes, and a bias for each channel.

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
        """Draw the kernel; the arguments are those of `Conv`."""
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
    """A kernel that slides over three axes, and a bias for each channel.

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
        """Draw the kernel; the arguments are those of `Conv`."""
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
    """A kernel that slides over one axis, makes larger what `Conv1d` made smaller.

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
        """Draw the kernel; the arguments are those of `ConvTranspose`."""
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
    """A kernel that slides over two axes, makes larger what `Conv2d` made smaller.

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
        """Draw the kernel; the arguments are those of `ConvTranspose`."""
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
    """A kernel that slides over three axes, makes larger what `Conv3d` made smaller.

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
        """Draw the kernel; the arguments are those of `ConvTranspose`."""
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

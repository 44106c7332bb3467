"""Layouts, shapes and named padding of convolutions and windows.

Strings such as ("NHWC", "HWIO", "NHWC") name the axes: N and C are batch and feature, O
and I the kernel's output and input features. All other letters are spatial, in the
order of the kernel. None is ("NCHW", "OIHW", "NCHW"), of any rank.
"""

from collections.abc import Sequence
from typing import Any, TypeAlias, cast

from imprint._src.core import dims
from imprint._src.core.aval import Shape
from imprint._src.core.dims import Dim
from imprint._src.errors import ArgumentError, ShapeError
from imprint._src.primitives.axes import int_tuple
from imprint._src.primitives.windows.windows import (
    ConvDimensionNumbers,
    Pads,
    out_space,
    pads_of,
)

Ints = tuple[int, ...]
DimensionNumbers = ConvDimensionNumbers | Sequence[str] | None
ConvGeneralDilatedDimensionNumbers: TypeAlias = (
    tuple[str, str, str] | ConvDimensionNumbers | None
)
"""The dimension numbers that `conv_general_dilated` accepts."""
Padding = str | Sequence[tuple[Dim, Dim]]

# ---- layouts ----


def conv_dimension_numbers(
    lhs_shape: Shape, rhs_shape: Shape, dimension_numbers: DimensionNumbers
) -> ConvDimensionNumbers:
    """Return dimension numbers as `ConvDimensionNumbers`.

    Args:
        lhs_shape: the shape of the first operand.
        rhs_shape: the shape of the kernel.
        dimension_numbers: three strings, `ConvDimensionNumbers`, or None for
            ("NCHW", "OIHW", "NCHW").

    Returns:
        The axes of each operand and of the result: batch or output features, features,
        then the spatial ones.

    Raises:
        ShapeError: the ranks differ or are below 2.
        ArgumentError: the layouts are invalid.

    References:
        JAX, `jax.lax.conv_dimension_numbers`.

    Example:
        >>> from imprint import lax
        >>> lax.conv_dimension_numbers((1, 8, 3), (2, 3, 4), ("NHC", "HIO", "NHC"))
        ConvDimensionNumbers(lhs_spec=(0, 2, 1), rhs_spec=(2, 1, 0), out_spec=(0, 2, 1))
    """
    rank = len(lhs_shape)
    if rank != len(rhs_shape) or rank < 2:
        raise ShapeError(
            "conv_general_dilated: expected two operands of one rank, at least 2, got "
            f"shapes {tuple(lhs_shape)} and {tuple(rhs_shape)}. Add axes with "
            "imprint.numpy.expand_dims."
        )
    given: Any = dimension_numbers
    if isinstance(given, ConvDimensionNumbers):
        return ConvDimensionNumbers(*map(int_tuple, given))
    if given is None:
        axes = tuple(range(rank))
        return ConvDimensionNumbers(axes, axes, axes)
    specs = cast("Sequence[Any]", given) if isinstance(given, tuple | list) else ()
    if [len(spec) if isinstance(spec, str) else 0 for spec in specs] != [rank] * 3:
        raise ArgumentError(
            "conv_general_dilated: expected dimension_numbers of three strings of "
            f"{rank} letters, such as {_example(rank)}, ConvDimensionNumbers or None, got "
            f"{given!r}."
        )
    return ConvDimensionNumbers(*conv_general_permutations(specs))


def _example(rank: int) -> tuple[str, str, str]:
    letters = "DHW"[5 - rank :] if rank < 6 else "ABDEFGHJKL"[: rank - 2]
    return f"N{letters}C", f"{letters}IO", f"N{letters}C"


def conv_general_permutations(
    dimension_numbers: Sequence[str],
) -> tuple[Ints, Ints, Ints]:
    """Return (batch, feature, spatial…) of each of three strings.

    Args:
        dimension_numbers: three strings, such as ("NHWC", "HWIO", "NHWC").

    Returns:
        Three tuples of axes; the spatial ones are in the order of the kernel.

    Raises:
        ArgumentError: letters are missing, repeated or different.

    References:
        JAX, `jax.lax.conv_general_permutations`.

    Example:
        >>> from imprint import lax
        >>> lax.conv_general_permutations(("NHWC", "HWIO", "NHWC"))
        ((0, 3, 1, 2), (3, 2, 0, 1), (0, 3, 1, 2))
    """
    lhs, rhs, out = dimension_numbers
    pairs = "NC", "OI", "NC"
    spatial = [
        set(spec) - set(pair) for spec, pair in zip((lhs, rhs, out), pairs, strict=True)
    ]
    named = all(
        len(set(spec)) == len(spec) and set(pair) <= set(spec)
        for spec, pair in zip((lhs, rhs, out), pairs, strict=True)
    )
    if not named or spatial[0] != spatial[1] or spatial[1] != spatial[2]:
        raise ArgumentError(
            "conv_general_dilated: expected dimension_numbers with the letters N and C, "
            "O and I, N and C, and in all three the same spatial ones, each letter once, "
            f"got {tuple(dimension_numbers)}. Write for example {_example(len(rhs))}."
        )
    order = [letter for letter in rhs if letter in spatial[1]]
    first, second, third = (
        tuple(map(spec.index, (*pair, *order)))
        for spec, pair in zip((lhs, rhs, out), pairs, strict=True)
    )
    return first, second, third


# ---- shapes ----


def padtype_to_pads(
    in_shape: Sequence[Dim],
    window_shape: Sequence[Dim],
    window_strides: Sequence[int],
    padding: str,
) -> list[tuple[Dim, Dim]]:
    """Return the padding before and after each axis, for a named padding.

    Args:
        in_shape: the lengths of the axes.
        window_shape: the lengths of the window.
        window_strides: the steps between windows.
        padding: "VALID", "SAME" or "SAME_LOWER".

    Returns:
        A pair (before, after) for each axis.

    References:
        JAX, `jax.lax.padtype_to_pads`.

    Example:
        >>> from imprint import lax
        >>> lax.padtype_to_pads((5, 6), (3, 3), (1, 2), "SAME")
        [(1, 1), (0, 1)]
    """
    steps = int_tuple(window_strides)
    return list(
        pads_of("padtype_to_pads", padding, list(in_shape), list(window_shape), steps)
    )


def conv_shape_tuple(
    lhs_shape: Shape,
    rhs_shape: Shape,
    strides: Sequence[int],
    pads: Padding,
    batch_group_count: int = 1,
) -> Shape:
    """Return the shape of a convolution in the layout ("NCHW", "OIHW", "NCHW").

    Args:
        lhs_shape: the shape of the first operand.
        rhs_shape: the shape of the kernel.
        strides: the steps between windows.
        pads: "VALID", "SAME" or "SAME_LOWER", or a pair (before, after) for each
            spatial axis.
        batch_group_count: the number of batch groups.

    Returns:
        The shape of the result.

    Raises:
        ShapeError: there is not a pair for each spatial axis, or padding cuts too much.

    References:
        JAX, `jax.lax.conv_shape_tuple`.

    Example:
        >>> from imprint import lax
        >>> lax.conv_shape_tuple((8, 3, 32, 32), (16, 3, 3, 3), (2, 2), "SAME")
        (8, 16, 16, 16)
    """
    lengths, kernel = tuple(lhs_shape[2:]), tuple(rhs_shape[2:])
    steps = int_tuple(strides)
    if isinstance(pads, str):
        pads = pads_of("conv_shape_tuple", pads, lengths, kernel, steps)
    if len(pads) != len(lengths):
        raise ShapeError(
            f"conv_shape_tuple: expected {len(lengths)} pairs of padding, one for each "
            f"spatial axis, got {tuple(pads)}."
        )
    ones = (1,) * len(lengths)
    sizes = out_space(lengths, kernel, (steps, pairs_of(pads), ones, ones))
    if sizes is None:
        raise ShapeError(
            "conv_shape_tuple: expected negative padding to cut no more than there is, "
            f"got {tuple(pads)} for lengths {lengths}. Cut less."
        )
    return (lhs_shape[0] // batch_group_count, rhs_shape[0], *sizes)


def conv_general_shape_tuple(
    lhs_shape: Shape,
    rhs_shape: Shape,
    window_strides: Sequence[int],
    padding: Padding,
    dimension_numbers: Sequence[str],
) -> Shape:
    """Return the shape of a convolution in any layout.

    Args:
        lhs_shape: the shape of the first operand.
        rhs_shape: the shape of the kernel.
        window_strides: the steps between windows.
        padding: "VALID", "SAME" or "SAME_LOWER", or a pair (before, after) for each
            spatial axis.
        dimension_numbers: three strings, such as ("NHWC", "HWIO", "NHWC").

    Returns:
        The shape of the result.

    References:
        JAX, `jax.lax.conv_general_shape_tuple`.

    Example:
        >>> from imprint import lax
        >>> layout = ("NHWC", "HWIO", "NHWC")
        >>> lax.conv_general_shape_tuple(
        ...     (8, 32, 32, 3), (3, 3, 3, 16), (1, 1), "VALID", layout
        ... )
        (8, 30, 30, 16)
    """
    lhs, rhs, out = conv_general_permutations(dimension_numbers)
    shape = conv_shape_tuple(
        tuple(lhs_shape[i] for i in lhs),
        tuple(rhs_shape[i] for i in rhs),
        window_strides,
        padding,
    )
    return tuple(shape[out.index(i)] for i in range(len(out)))


def conv_transpose_shape_tuple(
    lhs_shape: Shape,
    rhs_shape: Shape,
    window_strides: Sequence[int],
    padding: Padding,
    dimension_numbers: Sequence[str],
) -> Shape:
    """Return the shape of a transposed convolution in any layout.

    Args:
        lhs_shape: the shape of the first operand.
        rhs_shape: the shape of the kernel.
        window_strides: the distance between neighbours in the first operand.
        padding: "VALID" or "SAME", or a pair (before, after) for each spatial axis.
        dimension_numbers: three strings, such as ("NHWC", "HWIO", "NHWC").

    Returns:
        The shape of the result.

    References:
        JAX, `jax.lax.conv_transpose_shape_tuple`.

    Example:
        >>> from imprint import lax
        >>> layout = ("NHWC", "HWIO", "NHWC")
        >>> lax.conv_transpose_shape_tuple(
        ...     (8, 4, 4, 3), (3, 3, 3, 16), (2, 2), "SAME", layout
        ... )
        (8, 8, 8, 16)
    """
    lhs, rhs, out = conv_general_permutations(dimension_numbers)
    data = [lhs_shape[i] for i in lhs]
    kernel = [rhs_shape[i] for i in rhs]
    steps = int_tuple(window_strides)
    if isinstance(padding, str):
        pairs = zip(kernel[2:], steps, strict=True)
        padding = [transposed_pads(k, step, padding) for k, step in pairs]
    sizes = [
        (n - 1) * step - k + 2 + low + high
        for n, k, step, (low, high) in zip(
            data[2:], kernel[2:], steps, padding, strict=True
        )
    ]
    shape = (data[0], kernel[0], *sizes)
    return tuple(shape[out.index(i)] for i in range(len(out)))


def reduce_window_shape_tuple(
    operand_shape: Shape,
    window_dimensions: Sequence[int],
    window_strides: Sequence[int],
    padding: Sequence[tuple[Dim, Dim]],
    base_dilation: Sequence[int] | None = None,
    window_dilation: Sequence[int] | None = None,
) -> Shape:
    """Return the shape of a reduction of windows.

    Args:
        operand_shape: the shape of the operand.
        window_dimensions: the length of the window along each axis.
        window_strides: the steps between windows.
        padding: a pair (before, after) for each axis.
        base_dilation: the distance between neighbours; None for 1.
        window_dilation: the distance between elements of a window; None for 1.

    Returns:
        The shape of the result.

    Raises:
        ShapeError: negative padding cuts more than there is.

    References:
        JAX, `jax.lax.reduce_window_shape_tuple`.

    Example:
        >>> from imprint import lax
        >>> lax.reduce_window_shape_tuple((1, 6), (1, 2), (1, 2), [(0, 0), (0, 0)])
        (1, 3)
    """
    ones = (1,) * len(operand_shape)
    steps = (
        int_tuple(window_strides),
        pairs_of(padding),
        ones if base_dilation is None else int_tuple(base_dilation),
        ones if window_dilation is None else int_tuple(window_dilation),
    )
    sizes = out_space(tuple(operand_shape), int_tuple(window_dimensions), steps)
    if sizes is None:
        raise ShapeError(
            "reduce_window_shape_tuple: expected negative padding to cut no more than "
            f"there is, got {tuple(padding)} for shape {tuple(operand_shape)}. Cut less."
        )
    return sizes


def transposed_pads(k: Dim, step: int, padding: str | Sequence[Dim]) -> tuple[Dim, Dim]:
    """Return the padding of a transposed convolution, given that of the convolution."""
    if padding == "SAME":
        total = k + step - 2
        low = k - 1 if dims.is_surely_at_least(step, k) else (total + 1) // 2
    elif padding == "VALID":
        total = k + step - 2 + dims.maximum(k - step, 0)
        low = k - 1
    elif isinstance(padding, str):
        raise ArgumentError(
            "conv_transpose: expected padding SAME, VALID or pairs of ints, got "
            f"{padding!r}."
        )
    else:
        before, behind = padding
        low, total = k - before - 1, 2 * k - before - behind - 2
    return low, total - low


def pairs_of(padding: Sequence[tuple[Dim, Dim]]) -> Pads:
    """Return padding as params hold it; raise for invalid padding."""
    try:
        return tuple([(dims.as_dim(low), dims.as_dim(high)) for low, high in padding])
    except (TypeError, ValueError):
        raise ArgumentError(
            "conv_general_dilated: expected padding VALID, SAME, SAME_LOWER or a pair "
            f"of ints for each spatial axis, got {padding!r}."
        ) from None

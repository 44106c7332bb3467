"""Convolutions under JAX's names, all by `conv_general_dilated`.

They differ in their defaults (`conv`), in the meaning of padding (`conv_transpose`),
and in the kernel: the identity extracts patches, and patches contracted with separate
kernels are a local convolution. See `layouts` for dimension numbers.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from imprint._src import dtypes
from imprint._src.core import dims
from imprint._src.core.aval import get_aval
from imprint._src.core.dims import Dim
from imprint._src.core.functions import as_result
from imprint._src.dtypes import DTypeLike
from imprint._src.eager.spread import spread
from imprint._src.errors import ArgumentError, ShapeError
from imprint._src.lax.layouts import (
    DimensionNumbers,
    Padding,
    conv_dimension_numbers,
    pairs_of,
    transposed_pads,
)
from imprint._src.primitives.axes import int_of, int_tuple
from imprint._src.primitives.core_ops import broadcast_in_dim, transpose
from imprint._src.primitives.dot import dot_general
from imprint._src.primitives.elementwise.precision import Precision, canonical_precision
from imprint._src.primitives.shape import reshape, rev
from imprint._src.primitives.windows.convolution import conv_general_dilated_p
from imprint._src.primitives.windows.windows import pads_of

Ints = tuple[int, ...]


def conv_general_dilated(  # noqa: PLR0913, PLR0917 - JAX's signature
    lhs: Any,
    rhs: Any,
    window_strides: Sequence[int],
    padding: Padding,
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: DimensionNumbers = None,
    feature_group_count: int = 1,
    batch_group_count: int = 1,
    precision: Any = None,
    preferred_element_type: DTypeLike | None = None,
    out_sharding: Any = None,
) -> Any:
    """Convolve an array with a kernel, with strides, dilation and groups.

    Args:
        lhs: an array with a batch axis, a feature axis, and spatial axes.
        rhs: the kernel, with axes of output features, input features, and as many
            spatial axes; it is not reversed.
        window_strides: the steps between windows, one for each spatial axis.
        padding: "VALID", "SAME", "SAME_LOWER", or the numbers of zeros before and after
            each spatial axis; negative ones cut.
        lhs_dilation: the distance between neighbours in `lhs`, with zeros between.
        rhs_dilation: the distance between neighbours in the kernel.
        dimension_numbers: the layouts: three strings, such as ("NHWC", "HWIO", "NHWC"),
            or `ConvDimensionNumbers`.
        feature_group_count: the number of feature groups, each with its own outputs.
        batch_group_count: the number of batch groups, each with its own outputs.
        precision: a `Precision` or its name, a pair of these, or None for
            `config.default_matmul_precision`.
        preferred_element_type: the dtype of the sums and the result.
        out_sharding: how the result is spread, as in `imprint.lax.with_sharding_constraint`.

    Returns:
        An array in the layout of the result: the batch length of `lhs` divided by
        `batch_group_count`, the output features of the kernel, and the positions of the
        window along each spatial axis. The dtype is `preferred_element_type` or that of
        the operands.

    Raises:
        ShapeError: shapes, groups or numbers of axes do not match.

    References:
        StableHLO, `convolution`.

    Example:
        >>> from imprint import lax, numpy as np
        >>> x = np.arange(5.0).reshape(1, 1, 5)
        >>> lax.conv_general_dilated(x, np.array([[[1.0, -1.0]]]), (1,), "VALID")
        Array([[[-1., -1., -1., -1.]]], dtype=float32)
    """
    x, y = get_aval(lhs), get_aval(rhs)
    numbers = conv_dimension_numbers(x.shape, y.shape, dimension_numbers)
    ones = (1,) * (x.ndim - 2)
    dilated = ones if lhs_dilation is None else int_tuple(lhs_dilation)
    dilation = ones if rhs_dilation is None else int_tuple(rhs_dilation)
    strides = int_tuple(window_strides)
    if isinstance(padding, str):
        _check_named(padding, dilated, (len(strides), len(dilation)), ones)
        pads = pads_of(
            "conv_general_dilated",
            padding,
            [x.shape[i] for i in numbers.lhs_spec[2:]],
            _extents([y.shape[i] for i in numbers.rhs_spec[2:]], dilation),
            strides,
        )
    else:
        pads = pairs_of(padding)
    params: dict[str, Any] = {
        "window_strides": strides,
        "padding": pads,
        "lhs_dilation": dilated,
        "rhs_dilation": dilation,
        "dimension_numbers": numbers,
        "feature_group_count": int_of(feature_group_count),
        "batch_group_count": int_of(batch_group_count),
    }
    chosen = canonical_precision(precision)
    if chosen is not None:
        params["precision"] = chosen
    if preferred_element_type is not None:
        params["preferred_element_type"] = dtypes.requested(
            preferred_element_type, "conv_general_dilated"
        )
    out = conv_general_dilated_p.bind1(lhs, rhs, **params)
    return out if out_sharding is None else spread(out, out_sharding)


def _check_named(padding: str, dilated: Ints, lengths: Ints, ones: Ints) -> None:
    """Check that a named padding is defined: one number for each spatial axis."""
    if dilated != ones and len(dilated) == len(ones):
        raise ArgumentError(
            f"conv_general_dilated: expected padding as pairs of ints with lhs_dilation, "
            f"got padding={padding!r} and lhs_dilation={dilated}. Write the pairs, or call "
            "imprint.lax.conv_transpose."
        )
    if lengths != (len(ones),) * 2:
        raise ShapeError(
            f"conv_general_dilated: expected {len(ones)} window_strides and "
            f"rhs_dilation, one for each spatial axis, got {lengths[0]} and {lengths[1]}."
        )


def _extents(kernel: Sequence[Dim], dilation: Sequence[int]) -> list[Dim]:
    return [dims.dilated(k, d) for k, d in zip(kernel, dilation, strict=True)]


def conv(
    lhs: Any,
    rhs: Any,
    window_strides: Sequence[int],
    padding: str,
    precision: Any = None,
    preferred_element_type: DTypeLike | None = None,
) -> Any:
    """Convolve an array with a kernel: `conv_general_dilated` with fewer options.

    Args:
        lhs: an array of shape `(batch, features, *spatial)`.
        rhs: the kernel, of shape `(outputs, features, *spatial)`; it is not reversed.
        window_strides: the steps between windows, one for each spatial axis.
        padding: "VALID", "SAME" or "SAME_LOWER".
        precision: as for `conv_general_dilated`.
        preferred_element_type: the dtype of the sums and the result.

    Returns:
        An array of shape `(batch, outputs, *positions)`.

    References:
        StableHLO, `convolution`.

    Example:
        >>> from imprint import lax, numpy as np
        >>> lax.conv(np.ones((1, 1, 3, 3)), np.ones((1, 1, 3, 3)), (1, 1), "SAME")[0, 0]
        Array([[4., 6., 4.],
               [6., 9., 6.],
               [4., 6., 4.]], dtype=float32)
    """
    return conv_general_dilated(
        lhs,
        rhs,
        window_strides,
        padding,
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


def conv_with_general_padding(  # noqa: PLR0913, PLR0917 - JAX's signature
    lhs: Any,
    rhs: Any,
    window_strides: Sequence[int],
    padding: Padding,
    lhs_dilation: Sequence[int] | None,
    rhs_dilation: Sequence[int] | None,
    precision: Any = None,
    preferred_element_type: DTypeLike | None = None,
) -> Any:
    """Convolve an array with a kernel in the layout ("NCHW", "OIHW", "NCHW").

    Args:
        lhs: an array of shape `(batch, features, *spatial)`.
        rhs: the kernel, of shape `(outputs, features, *spatial)`; it is not reversed.
        window_strides: the steps between windows, one for each spatial axis.
        padding: as for `conv_general_dilated`.
        lhs_dilation: the distance between neighbours in `lhs`; None for 1.
        rhs_dilation: the distance between neighbours in the kernel; None for 1.
        precision: as for `conv_general_dilated`.
        preferred_element_type: the dtype of the sums and the result.

    Returns:
        An array of shape `(batch, outputs, *positions)`.

    References:
        StableHLO, `convolution`.
    """
    return conv_general_dilated(
        lhs,
        rhs,
        window_strides,
        padding,
        lhs_dilation,
        rhs_dilation,
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


_TRANSPOSED_LAYOUTS = ("NC", "IO"), ("NHC", "HIO"), ("NHWC", "HWIO"), ("NHWDC", "HWDIO")


def conv_transpose(  # noqa: PLR0913, PLR0917 - JAX's signature
    lhs: Any,
    rhs: Any,
    strides: Sequence[int],
    padding: Padding,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: DimensionNumbers = None,
    transpose_kernel: bool = False,  # noqa: FBT001, FBT002 - JAX's signature
    precision: Any = None,
    preferred_element_type: DTypeLike | None = None,
    use_consistent_padding: bool = False,  # noqa: FBT001, FBT002 - JAX's signature
) -> Any:
    """Return the transposed convolution, which `strides` enlarges.

    Args:
        lhs: an array with a batch axis, a feature axis, and spatial axes.
        rhs: the kernel.
        strides: the distance between neighbours in `lhs`, with zeros between.
        padding: "SAME" or "VALID", as for the convolution to transpose, or the numbers
            of zeros before and after each spatial axis.
        rhs_dilation: the distance between neighbours in the kernel.
        dimension_numbers: the layouts; by default ("NHWC", "HWIO", "NHWC").
        transpose_kernel: whether to reverse the kernel and exchange its features, so
            that this is the gradient of a convolution with it.
        precision: as for `conv_general_dilated`.
        preferred_element_type: the dtype of the sums and the result.
        use_consistent_padding: whether pairs are those of the convolution to transpose.

    Returns:
        An array in the layout of `lhs`, with the output features of the kernel; with
        "SAME", each spatial length is multiplied by its stride.

    Raises:
        ArgumentError: `dimension_numbers` is None for more than three spatial axes.

    References:
        Dumoulin and Visin, "A guide to convolution arithmetic for deep learning", 2016.

    Example:
        >>> from imprint import lax, numpy as np
        >>> x = np.array([1.0, 2.0]).reshape(1, 2, 1)
        >>> lax.conv_transpose(x, np.ones((2, 1, 1)), (2,), "VALID").ravel()
        Array([1., 1., 2., 2.], dtype=float32)
    """
    x, y = get_aval(lhs), get_aval(rhs)
    if dimension_numbers is None:
        if not 2 <= x.ndim <= 5:
            raise ArgumentError(
                "conv_transpose: expected dimension_numbers for an array of rank "
                f"{x.ndim}, got None, which has a meaning for 0 to 3 spatial axes."
            )
        data, kernel = _TRANSPOSED_LAYOUTS[x.ndim - 2]
        dimension_numbers = (data, kernel, data)
    numbers = conv_dimension_numbers(x.shape, y.shape, dimension_numbers)
    steps = int_tuple(strides)
    dilation = (1,) * (x.ndim - 2) if rhs_dilation is None else int_tuple(rhs_dilation)
    if use_consistent_padding or (
        isinstance(padding, str) and padding in {"SAME", "VALID"}
    ):
        given = [padding] * len(steps) if isinstance(padding, str) else padding
        extents = _extents([y.shape[i] for i in numbers.rhs_spec[2:]], dilation)
        triples = zip(extents, steps, given, strict=True)
        padding = [transposed_pads(k, step, pads) for k, step, pads in triples]
    if transpose_kernel:
        rhs = rev(rhs, numbers.rhs_spec[2:])
        order = list(range(y.ndim))
        outputs, inputs = numbers.rhs_spec[:2]
        order[outputs], order[inputs] = inputs, outputs
        rhs = transpose(rhs, tuple(order))
    return conv_general_dilated(
        lhs,
        rhs,
        (1,) * (x.ndim - 2),
        padding,
        steps,
        dilation,
        numbers,
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


def conv_general_dilated_patches(  # noqa: PLR0913, PLR0917 - JAX's signature
    lhs: Any,
    filter_shape: Sequence[int],
    window_strides: Sequence[int],
    padding: Padding,
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: DimensionNumbers = None,
    precision: Any = None,
    preferred_element_type: DTypeLike | None = None,
) -> Any:
    """Return the elements of each window as features, grouped by input feature.

    Args:
        lhs: an array with a batch axis, a feature axis, and spatial axes.
        filter_shape: the lengths of the window.
        window_strides: the steps between windows.
        padding: as for `conv_general_dilated`.
        lhs_dilation: the distance between neighbours in `lhs`, with zeros between.
        rhs_dilation: the distance between neighbours in a window.
        dimension_numbers: the layouts.
        precision: the precision for `lhs`, as for `conv_general_dilated`.
        preferred_element_type: the dtype of the result.

    Returns:
        An array in the layout of the result, with as many features as input features
        times elements of a window.

    References:
        JAX, `jax.lax.conv_general_dilated_patches`.

    Example:
        >>> from imprint import lax, numpy as np
        >>> x = np.arange(4.0).reshape(1, 1, 4)
        >>> lax.conv_general_dilated_patches(x, (2,), (1,), "VALID")[0]
        Array([[0., 1., 2.],
               [1., 2., 3.]], dtype=float32)
    """
    aval = get_aval(lhs)
    lengths = int_tuple(filter_shape)
    numbers = conv_dimension_numbers(aval.shape, (1, 1, *lengths), dimension_numbers)
    size = dims.product(lengths)
    features = dims.concrete(
        aval.shape[numbers.lhs_spec[1]], "conv_general_dilated_patches"
    )
    each = broadcast_in_dim(
        as_result(np.eye(size, dtype=aval.dtype)), (features, size, size), (1, 2)
    )
    kernel = reshape(each, (features * size, 1, *lengths))
    order = (*numbers.rhs_spec,)
    kernel = transpose(kernel, tuple(order.index(i) for i in range(len(order))))
    return conv_general_dilated(
        lhs,
        kernel,
        window_strides,
        padding,
        lhs_dilation,
        rhs_dilation,
        numbers,
        features,
        precision=None if precision is None else (precision, Precision.DEFAULT),
        preferred_element_type=preferred_element_type,
    )


def conv_general_dilated_local(  # noqa: PLR0913, PLR0917 - JAX's signature
    lhs: Any,
    rhs: Any,
    window_strides: Sequence[int],
    padding: Padding,
    filter_shape: Sequence[int],
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: DimensionNumbers = None,
    precision: Any = None,
) -> Any:
    """Contract each window with its own kernel.

    Args:
        lhs: an array with a batch axis, a feature axis, and spatial axes.
        rhs: the kernels: their spatial axes are those of the result, and their input
            features are the elements of a window, as in `conv_general_dilated_patches`.
        window_strides: the steps between windows.
        padding: as for `conv_general_dilated`.
        filter_shape: the lengths of the window.
        lhs_dilation: the distance between neighbours in `lhs`, with zeros between.
        rhs_dilation: the distance between neighbours in a window.
        dimension_numbers: the layouts.
        precision: as for `conv_general_dilated`, without algorithms.

    Returns:
        An array in the layout of the result, with the output features of the kernels.

    Raises:
        ArgumentError: `precision` names an algorithm.

    References:
        JAX, `jax.lax.conv_general_dilated_local`.

    Example:
        >>> from imprint import lax, numpy as np
        >>> x = np.arange(4.0).reshape(1, 1, 4)
        >>> kernels = np.ones((1, 2, 3)) * np.array([1.0, 10.0, 100.0])
        >>> lax.conv_general_dilated_local(x, kernels, (1,), "VALID", (2,))
        Array([[[  1.,  30., 500.]]], dtype=float32)
    """
    chosen = canonical_precision(precision)
    if isinstance(chosen, str):
        raise ArgumentError(
            "conv_general_dilated_local: expected a Precision, a pair of them or None, "
            f"got precision={precision!r}."
        )
    patches = conv_general_dilated_patches(
        lhs,
        filter_shape,
        window_strides,
        padding,
        lhs_dilation,
        rhs_dilation,
        dimension_numbers,
        None if chosen is None else chosen[0],
    )
    shape = get_aval(patches).shape
    kernel = (1, 1, *int_tuple(filter_shape))
    numbers = conv_dimension_numbers(shape, kernel, dimension_numbers)
    _, rhs_spec, out_spec = numbers
    places = sorted(zip(out_spec[2:], rhs_spec[2:], strict=True))
    batch = [[i for i, _ in places], [j for _, j in places]]
    contracted = [[out_spec[1]], [rhs_spec[1]]]
    out = dot_general(patches, rhs, (contracted, batch), precision)
    last = get_aval(out).ndim - 1  # the batch, then the feature axis
    source = {out_spec[0]: last - 1, out_spec[1]: last}
    rest = iter(range(last - 1))
    order = [source[i] if i in source else next(rest) for i in range(last + 1)]
    return transpose(out, tuple(order))

"""Evenly spaced numbers and grids: arange, linspace, logspace, meshgrid, indices.

The number of elements is the length of the result, so it must be concrete; the bounds
of `linspace` may be traced.
"""

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from imprint._src import dtypes
from imprint._src.core import dims
from imprint._src.core.array import Array
from imprint._src.core.aval import get_aval
from imprint._src.core.dims import Dim
from imprint._src.core.trace import Tracer
from imprint._src.dtypes import DTypeLike
from imprint._src.eager.device_put import DeviceLike, placed
from imprint._src.eager.fusion import fuse_eager
from imprint._src.eager.spread import spread
from imprint._src.errors import ArgumentError, ShapeError
from imprint._src.numpy.elementwise.exponential import log10, power
from imprint._src.numpy.promotion import (
    ArrayLike,
    as_array,
    broadcast_all,
    check_ranks,
    convert,
    match_shapes,
    refuse_complex,
)
from imprint._src.numpy.shapes.concatenate import stack
from imprint._src.numpy.shapes.reshape import moveaxis
from imprint._src.primitives.axes import canonical_axis
from imprint._src.primitives.core_ops import (
    add,
    broadcast_in_dim,
    full,
    mul,
    scalar_like,
    sub,
)
from imprint._src.primitives.elementwise.arithmetic import div
from imprint._src.primitives.elementwise.comparison import gt
from imprint._src.primitives.elementwise.rounding import floor, sign
from imprint._src.primitives.elementwise.select import select_n
from imprint._src.primitives.indexing.slicing import concatenate
from imprint._src.primitives.shape import (
    as_value,
    broadcasted_iota,
    expand_dims,
    number_of,
    reshape,
)


def arange(
    start: ArrayLike,
    stop: ArrayLike | None = None,
    step: ArrayLike | None = None,
    dtype: DTypeLike | None = None,
    *,
    device: DeviceLike | None = None,
    out_sharding: Any = None,
) -> Array:
    """Return the numbers from `start` to before `stop`, in steps of `step`.

    Args:
        start: the first number; the end if it is the only argument.
        stop: the end, excluded.
        step: the spacing.
        dtype: the dtype; None for the common dtype of the numbers.
        device: where it is to be, as in `imprint.device_put`.
        out_sharding: how the result is spread, as in `imprint.lax.with_sharding_constraint`.

    Returns:
        A vector of ceil((stop - start) / step) numbers, or none.

    Raises:
        ArgumentError: the step is 0.
        ShapeError: an operand is no single number.
        DTypeError: an operand is complex.

    References:
        NumPy, `numpy.arange`.

    Example:
        >>> import imprint.numpy as np
        >>> np.arange(1, 10, 3)
        Array([1, 4, 7], dtype=int32)
    """
    if out_sharding is not None:
        return spread(arange(start, stop, step, dtype, device=device), out_sharding)
    given = [x for x in (start, stop, step) if x is not None]
    values = [x for x in given if not dims.is_symbolic(x)]
    for x in values:
        _check_known("arange", x)
    refuse_complex("arange", *values)
    wanted = dtypes.result_type(*values, *[0] * (len(given) - len(values)))
    wanted = wanted if dtype is None else dtypes.requested(dtype, "arange")
    if stop is None:
        start, stop = 0, start
    first, distance = _number(start), 1 if step is None else _number(step)
    if not (dims.is_symbolic(distance) or distance):
        raise ArgumentError(
            "arange: expected a step other than 0, got 0. "
            "Give the distance between numbers."
        )
    last = _number(stop)
    count = _count if len(values) == len(given) else _symbolic_count
    computed = wanted
    if step is not None and dtypes.is_floating(wanted) and wanted.itemsize < 4:
        computed = dtypes.float32
    numbers = _counted(count(first, last, distance), computed)
    if step is not None:
        numbers = mul(_typed(distance, computed), numbers)
    if step is not None or dims.is_symbolic(first) or first:
        numbers = add(_typed(first, computed), numbers)
    return placed("arange", convert("arange", numbers, wanted), device)


def _count(start: Any, stop: Any, step: Any) -> int:
    return max(0, math.ceil((stop - start) / step))


def _symbolic_count(start: Any, stop: Any, step: Any) -> Dim:
    start, stop, step = dims.as_shape((start, stop, step))
    if not dims.at_least(step, 0):
        start, stop, step = stop, start, -step
    return dims.maximum(0, dims.ceil_divide(stop - start, step))


def _counted(count: Dim, dtype: Any) -> Array:
    if dtypes.is_bool(dtype):
        return convert("arange", broadcasted_iota(dtypes.int32, (count,), 0), dtype)
    return broadcasted_iota(dtype, (count,), 0)


def _typed(value: Any, dtype: Any) -> Any:
    if dims.is_symbolic(value):
        dims.concrete(value, "arange")
    return convert("arange", as_array("arange", value), dtype)


def _number(x: Any) -> Any:
    return x if isinstance(x, int | float) or dims.is_symbolic(x) else x.item()


def _check_known(name: str, x: Any) -> None:
    """Raise unless `x` is a concrete number."""
    if isinstance(x, Tracer):
        operator.index(x)  # raises the tracer's error: its value is not known
    if as_array(name, x).ndim:
        raise ShapeError(
            f"{name}: expected numbers, got {get_aval(x)}. Take one element, `x[0]`."
        )


@fuse_eager
def linspace(  # noqa: PLR0913, PLR0917 - NumPy's signature
    start: ArrayLike,
    stop: ArrayLike,
    num: int = 50,
    endpoint: bool = True,  # noqa: FBT001, FBT002 - NumPy's signature
    retstep: bool = False,  # noqa: FBT001, FBT002 - NumPy's signature
    dtype: DTypeLike | None = None,
    axis: int = 0,
    *,
    device: DeviceLike | None = None,
) -> Any:
    """Return evenly spaced numbers from `start` to `stop`.

    Args:
        start: the first number, or an array of first numbers.
        stop: the last number, or an array of them.
        num: the number of elements; concrete.
        endpoint: whether to include `stop`.
        retstep: whether to return the spacing too.
        dtype: the dtype; None for a float.
        axis: the axis of the result along which the numbers run.
        device: where it is to be, as in `imprint.device_put`.

    Returns:
        An array of `num` elements along a new axis, and the axes of the ends; with
        `retstep`, also the spacing, of their shape.

    Raises:
        ArgumentError: `num` is negative.

    References:
        NumPy, `numpy.linspace`.

    Example:
        >>> import imprint.numpy as np
        >>> np.linspace(0, 1, 5)
        Array([0.  , 0.25, 0.5 , 0.75, 1.  ], dtype=float32)
    """
    count = dims.as_dim(num, "linspace")
    if not dims.at_least(count, 0):
        raise ArgumentError(
            f"linspace: expected num of at least 0, got {count}. "
            "It is how many numbers to return."
        )
    ends = [as_array("linspace", x) for x in (start, stop)]
    wanted = dtypes.to_inexact(dtypes.result_type(*ends))
    wanted = wanted if dtype is None else dtypes.requested(dtype, "linspace")
    computed = dtypes.to_inexact(wanted)
    check_ranks("linspace", ends)
    first, last = broadcast_all(
        "linspace", [convert("linspace", x, computed) for x in ends]
    )
    at = canonical_axis("linspace", axis, first.ndim + 1)
    gaps = count - 1 if endpoint else count
    if dims.is_symbolic(count) or count > 1:
        out = _spaced(first, last, at, gaps)
        if endpoint:
            end = last if type(count) is int else _last_of(count, first, last)
            out = concatenate([out, expand_dims(end, (at,))], at)
    else:
        shape = (*first.shape[:at], count, *first.shape[at:])
        out = expand_dims(first, (at,)) if count else full(shape, 0, computed)
    if dtypes.is_integer(wanted):
        out = floor(out)
    result = placed("linspace", convert("linspace", out, wanted), device)
    if not retstep:
        return result
    if dims.is_symbolic(gaps):
        steps = number_of(gaps, first.dtype)
        steps = select_n(
            gt(steps, scalar_like(steps, 0)), scalar_like(steps, math.nan), steps
        )
    else:
        steps = scalar_like(first, gaps if gaps > 0 else math.nan)
    return result, div(sub(last, first), steps)


def _last_of(count: Dim, first: Array, last: Array) -> Array:
    """Return the last of `count` numbers, which is the first if there is only one."""
    is_many = gt(as_value(count), np.int32(1))
    return select_n(broadcast_in_dim(is_many, last.shape, ()), first, last)


def _spaced(first: Array, last: Array, at: int, gaps: int) -> Array:
    """Return `gaps` numbers that begin with `first` and end before `last`."""
    dtype = dtypes.real_part_dtype(first.dtype)
    shape = tuple(gaps if i == at else 1 for i in range(first.ndim + 1))
    share = div(broadcasted_iota(dtype, (gaps,), 0), number_of(gaps, dtype))
    share = convert("linspace", reshape(share, shape), first.dtype)
    begins, ends = expand_dims(first, (at,)), expand_dims(last, (at,))
    rest = sub(scalar_like(share, 1), share)
    return add(
        mul(*match_shapes("linspace", (begins, rest))),
        mul(*match_shapes("linspace", (ends, share))),
    )


@fuse_eager
def logspace(  # noqa: PLR0913, PLR0917 - NumPy's signature
    start: ArrayLike,
    stop: ArrayLike,
    num: int = 50,
    endpoint: bool = True,  # noqa: FBT001, FBT002 - NumPy's signature
    base: ArrayLike = 10.0,
    dtype: DTypeLike | None = None,
    axis: int = 0,
) -> Array:
    """Return `base` to the power of evenly spaced numbers; see `linspace`.

    Args:
        start: the first exponent, or an array of first exponents.
        stop: the last exponent, or an array of them.
        num: the number of elements; concrete.
        endpoint: whether to include `stop`.
        base: the base of the powers.
        dtype: the dtype; None for a float.
        axis: the axis of the result along which the numbers run.

    Returns:
        An array of `num` elements along a new axis, and the axes of the exponents.

    References:
        NumPy, `numpy.logspace`.

    Example:
        >>> import imprint.numpy as np
        >>> np.logspace(0, 2, 3, base=2)
        Array([1., 2., 4.], dtype=float32)
    """
    ends = [as_array("logspace", x) for x in (start, stop)]
    wanted = dtypes.to_inexact(dtypes.result_type(*ends))
    wanted = wanted if dtype is None else dtypes.requested(dtype, "logspace")
    computed = dtypes.to_inexact(wanted)
    first, last = (convert("logspace", x, computed) for x in ends)
    exponents = linspace(first, last, num, endpoint, axis=axis)
    return convert("logspace", power(base, exponents), wanted)


@fuse_eager
def geomspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: int = 50,
    endpoint: bool = True,  # noqa: FBT001, FBT002 - NumPy's signature
    dtype: DTypeLike | None = None,
    axis: int = 0,
) -> Array:
    """Return numbers from `start` to `stop` in geometric progression; see `linspace`.

    Args:
        start: the first number, or an array of first numbers; not 0.
        stop: the last number, or an array of them, of the same sign.
        num: the number of elements; concrete.
        endpoint: whether to include `stop`.
        dtype: the dtype; None for a float.
        axis: the axis of the result along which the numbers run.

    Returns:
        An array of `num` elements along a new axis, and the axes of the ends.

    References:
        NumPy, `numpy.geomspace`.

    Example:
        >>> import imprint.numpy as np
        >>> np.geomspace(1, 8, 4).shape
        (4,)
    """
    ends = [as_array("geomspace", x) for x in (start, stop)]
    wanted = dtypes.to_inexact(dtypes.result_type(*ends))
    wanted = wanted if dtype is None else dtypes.requested(dtype, "geomspace")
    computed = dtypes.to_inexact(wanted)
    check_ranks("geomspace", ends)
    first, last = broadcast_all(
        "geomspace", [convert("geomspace", x, computed) for x in ends]
    )
    signs = sign(first)
    exponents = (log10(div(first, signs)), log10(div(last, signs)))
    sizes = logspace(*exponents, num, endpoint, dtype=computed)
    result = mul(*match_shapes("geomspace", (signs, sizes)))
    return convert("geomspace", moveaxis(result, 0, axis), wanted)


@fuse_eager
def meshgrid(
    *xi: ArrayLike, copy: bool = True, sparse: bool = False, indexing: str = "xy"
) -> tuple[Array, ...]:
    """Return coordinate grids, an array for each axis.

    Args:
        xi: the coordinates along each axis.
        copy: must be True; arrays are immutable, so a view and a copy are the same.
        sparse: whether arrays keep length 1 along the axes of the others.
        indexing: "xy" puts the first coordinate along the columns, "ij" along the rows.

    Returns:
        The grids, each in the dtype of its coordinates, with an axis for each of `xi`.

    Raises:
        ArgumentError: `copy` is false, an array is no vector, or `indexing` is another
            word.

    References:
        NumPy, `numpy.meshgrid`.

    Example:
        >>> import imprint.numpy as np
        >>> np.meshgrid(np.arange(2), np.arange(2))[0]
        Array([[0, 1],
               [0, 1]], dtype=int32)
    """
    if not copy:
        raise ArgumentError(
            "meshgrid: expected copy=True, got False. Leave it out: nothing is copied "
            "that need not be."
        )
    args = [as_array("meshgrid", x) for x in xi]
    if indexing not in ("xy", "ij") or any(x.ndim != 1 for x in args):
        raise ArgumentError(
            "meshgrid: expected arrays with one axis, and indexing 'xy' or 'ij', got "
            f"{', '.join(str(x.aval) for x in args)} and {indexing!r}. Ravel the arrays."
        )
    order = list(range(len(args)))
    if indexing == "xy":
        order[:2] = order[:2][::-1]
    lengths = [1] * len(args)
    for x, at in zip(args, order, strict=True):
        lengths[at] = 1 if sparse else x.shape[0]
    grids: list[Array] = []
    for x, at in zip(args, order, strict=True):
        shape = tuple(x.shape[0] if i == at else n for i, n in enumerate(lengths))
        grids.append(broadcast_in_dim(x, shape, (at,)))
    return tuple(grids)


def indices(
    dimensions: Sequence[Dim],
    dtype: DTypeLike | None = None,
    sparse: bool = False,  # noqa: FBT001, FBT002 - NumPy's signature
) -> Any:
    """Return the indices of all elements of an array, an array for each axis.

    Args:
        dimensions: the lengths of the axes.
        dtype: the dtype of the indices; None for the default integer.
        sparse: whether arrays keep length 1 along the axes of the others.

    Returns:
        An array of shape (number of axes, *dimensions); with `sparse`, a tuple of
        arrays.

    References:
        NumPy, `numpy.indices`.

    Example:
        >>> import imprint.numpy as np
        >>> np.indices((2, 2), sparse=True)[0]
        Array([[0],
               [1]], dtype=int32)
    """
    wanted = dtypes.requested(int if dtype is None else dtype, "indices")
    sizes = dims.as_shape(dimensions)
    rank = len(sizes)
    shapes = [
        tuple(m if i == at or not sparse else 1 for i, m in enumerate(sizes))
        for at in range(rank)
    ]
    grids = [broadcasted_iota(wanted, shapes[at], at) for at in range(rank)]
    if sparse:
        return tuple(grids)
    return stack(grids) if grids else full((0,), 0, wanted)

"""argmax and argmin: the index of the extreme element along an axis.

The first of equal elements wins, and NaN wins over every number. `axes` holds one axis,
counted from 0, which has an element; `index_dtype` is the dtype of the result. XLA has no
such operation, so it is a reduction of (value, index) pairs.
"""

from typing import Any, Final

import numpy as np

from imprint._src import dtypes as dt
from imprint._src.core import dims
from imprint._src.core.aval import DType, ShapedArray
from imprint._src.core.dims import Dim
from imprint._src.core.fusion import UNFUSED
from imprint._src.core.padding import filling
from imprint._src.core.primitive import Avals, Case, Dims, Primitive, Samples, Values
from imprint._src.errors import DTypeError, ShapeError
from imprint._src.primitives.axes import check_axes, int_tuple, reduced
from imprint._src.primitives.core_ops import (
    FLOATS,
    INTS,
    NOT_LINEAR,
    not_differentiable,
    reduction_batch,
)
from imprint._src.primitives.families import ORDERED
from imprint._src.primitives.native_calls import has_kernel, reduce_by
from imprint._src.primitives.reductions import extreme
from imprint._src.stablehlo import Builder, Value, indexed, reductions
from imprint._src.stablehlo.builder import Comparison

NDArray = np.ndarray[Any, Any]
Ints = tuple[int, ...]


def _arg_reduction(name: str, *, largest: bool) -> Primitive:
    """Declare argmax or argmin."""
    find: Any = np.ndarray.argmax if largest else np.ndarray.argmin
    beats: Comparison = "GT" if largest else "LT"

    def aval(x: ShapedArray, *, axes: Ints, index_dtype: DType) -> Avals:
        ORDERED.check(name, (x,))
        check_axes(name, x, axes)
        _check_axis(name, x, axes)
        _check_index_dtype(name, x.shape[axes[0]], index_dtype)
        return (reduced(x.with_dtype(index_dtype), axes),)

    def reference(x: NDArray, *, axes: Ints, index_dtype: DType) -> Values:
        return (np.asarray(find(x, axis=axes[0])).astype(index_dtype),)

    def lower(
        b: Builder, x: Value, *, axes: Ints, index_dtype: DType
    ) -> tuple[Value, ...]:
        if x.dtype in (dt.int2, dt.uint2):  # XLA:CPU 0.10 to 0.12 refuses them here
            x = b.convert(x, dt.int8)
        worst = b.constant(extreme(x.dtype, largest=not largest), x.dtype)
        if has_kernel(b, x, _WORTH_A_CALL):
            found = reduce_by(b, name, x, axes[0], np.dtype(np.int32))
        else:
            found = _found_fast(b, x, axes[0], worst, beats)
        if found is not None:
            return (b.convert(found, index_dtype),)
        return (_by_pairs(b, x, axes, worst, index_dtype, beats),)

    def jvp(primals: Values, _: Values, **params: Any) -> Any:
        return not_differentiable(primitive, primals, **params)

    def batch(args: Values, at: Dims, **params: Any) -> Any:
        return reduction_batch(primitive, args, at, **params)

    primitive = Primitive(
        name=name,
        aval=aval,
        reference=reference,
        lower=lower,
        fusion=UNFUSED,
        makes_nan=False,
        jvp=jvp,
        transpose=NOT_LINEAR,
        batch=batch,
        pad=filling(lambda dtype: extreme(dtype, largest=not largest), keeps=False),
        samples=_samples(),
    )
    return primitive


def _check_axis(name: str, x: ShapedArray, axes: Ints) -> None:
    if len(axes) != 1:
        raise ShapeError(
            f"{name}: expected one axis, got axes={axes} for operand {x}. To search "
            "all axes, flatten the array first."
        )
    if dims.is_same(x.shape[axes[0]], 0):
        raise ShapeError(
            f"{name}: expected an axis with an element, got axis {axes[0]} of {x}. "
            "Check the length before."
        )


def _check_index_dtype(name: str, length: Dim, dtype: DType) -> None:
    if not dt.is_integer(dtype) or dims.is_surely_at_least(
        length, int(dt.iinfo(dtype).max) + 2
    ):
        raise DTypeError(
            f"{name}: expected an integer dtype that counts to {length - 1}, got "
            f"index_dtype={dtype}. Pass a wider one, such as int32."
        )


def _by_pairs(
    b: Builder,
    x: Value,
    axes: Ints,
    worst: Value,
    index_dtype: DType,
    beats: Comparison,
) -> Value:
    """Reduce (value, index) pairs."""
    zero = b.constant(0, index_dtype)
    index = b.iota(x.shape, index_dtype, axes[0])
    return reductions.reduce_with(
        b, [x, index], [worst, zero], axes, lambda r, xs: _better(r, *xs, beats=beats)
    )[1]


def _better(
    b: Builder, x: Value, i: Value, y: Value, j: Value, *, beats: Comparison
) -> tuple[Value, Value]:
    """Join two (value, index) pairs."""
    wins = b.or_(b.compare(x, y, beats), b.compare(x, x, "NE"))
    tie = b.and_(b.compare(x, y, "EQ"), b.compare(i, j, "LT"))
    return b.select(wins, x, y), b.select(b.or_(wins, tie), i, j)


# ---- the extreme, then its index ----
#
# A kernel's call costs as much as 50 pairs. Measured with jaxlib 0.10.2 on a CPU with
# AVX-512, kernel / pairs: 10**6 float32 0.007, 64 rows of 50,000 0.006, 1024 columns of 1024
# 0.11, 64 numbers in a loop 0.3, 16 in a loop 1.6. It compiles in half of the time.
#
# Without kernels, XLA:CPU compares one (value, index) pair after another, 1.6 ns each. A
# maximum alone is vectorized. Measured with jaxlib 0.10.2 and 0.12 on two cores with AVX2,
# new / old: 10**6 float32 0.2, float64 0.3, 1024 columns of 1024 0.3; but 1.0 for 64 rows of
# 50,000 and for 10**6 integers, whose maximum is not vectorized. It compiles in 2 to 5 times
# as long.

_WORTH_A_CALL: Final = 32
_COMPARED: Final = ("float32", "float64", "int32", "int64", "uint32", "uint64")
_LONG: Final = 1 << 16
_BLOCK: Final = 4096
_MANY: Final = 1 << 15
_MANY_COLUMNS: Final = 64


def _found_fast(
    b: Builder, x: Value, axis: int, worst: Value, beats: Comparison
) -> Value | None:
    """Return the index as int32, if a formulation is faster than pairs."""
    if not b.module.is_fast or x.dtype.name not in _COMPARED:
        return None
    join = "maximum" if beats == "GT" else "minimum"
    if x.ndim == 1 and x.shape[0] >= _LONG and dt.is_floating(x.dtype):
        return _in_blocks(b, x, worst, join, beats)
    if _has_long_columns(x, axis):
        return _first_of(b, x, axis, worst, join)
    return None


def _has_long_columns(x: Value, axis: int) -> bool:
    columns = dims.product(x.shape[axis + 1 :])
    return columns >= _MANY_COLUMNS and dims.product(x.shape) >= _MANY


def _first_of(b: Builder, x: Value, axis: int, worst: Value, join: str) -> Value:
    """Return where the extreme, or NaN, stands first, as int32."""
    others = [i for i in range(x.ndim) if i != axis]
    best = b.broadcast_in_dim(b.reduce(x, worst, join, [axis]), x.shape, others)
    is_best = b.compare(x, best, "EQ")
    if dt.is_floating(
        x.dtype
    ):  # one NaN makes the extreme NaN, and others do not count
        is_best = b.or_(is_best, b.compare(x, x, "NE"))
    behind = np.int32(x.shape[axis])
    index = b.iota(x.shape, np.int32, axis)
    places = b.select(is_best, index, b.full(x.shape, behind, np.int32))
    return b.reduce(places, b.constant(behind), "minimum", [axis])


def _in_blocks(
    b: Builder, x: Value, worst: Value, join: str, beats: Comparison
) -> Value:
    """Find the first block that has the extreme of a vector, and search it.

    The last block overlaps the one before, which is searched first.
    """

    def found(x: Value) -> Value:
        return _by_pairs(b, x, (0,), worst, np.dtype(np.int32), beats)

    (length,) = x.shape
    whole = length // _BLOCK
    rows = b.slice(x, [0], [whole * _BLOCK], [1])
    last = b.slice(x, [length - _BLOCK], [length], [1])
    rows, last = b.reshape(rows, (whole, _BLOCK)), b.reshape(last, (1, _BLOCK))
    best = b.concatenate([b.reduce(part, worst, join, [1]) for part in (rows, last)], 0)
    at = b.multiply(found(best), b.constant(np.int32(_BLOCK)))
    at = b.minimum(at, b.constant(np.int32(length - _BLOCK)))
    return b.add(at, found(indexed.dynamic_slice(b, x, [at], [_BLOCK])))


def _samples() -> Samples:
    def params(axis: int, dtype: str) -> dict[str, Any]:
        return {"axes": (axis,), "index_dtype": np.dtype(dtype)}

    return Samples(
        (*INTS, *FLOATS, "bool"),
        cases=(
            Case(((12,),), params(0, "int32")),
            Case(((3, 4, 2),), params(1, "uint8")),
            Case(((2, 3),), params(1, "int64")),
            Case(((3, 0),), params(0, "int32")),
            Case(((1,),), params(0, "int32")),
        ),
        differentiable=False,
    )


argmax_p: Final = _arg_reduction("argmax", largest=True)


def argmax(operand: Any, axis: int, index_dtype: Any) -> Any:
    """Return the index of the largest element along `axis`, counted from 0.

    Args:
        operand: an array of real numbers or booleans.
        axis: the axis, counted from 0.
        index_dtype: the integer dtype of the result.

    Returns:
        The index of the first largest element, or of the first NaN; the shape is that
        of `operand` without `axis`.

    Raises:
        ShapeError: the axis has no element, or `operand` has no such axis.

    References:
        NumPy, `numpy.argmax`.
    """
    dtype = dt.requested(index_dtype, "argmax")
    return argmax_p.bind1(operand, axes=int_tuple((axis,)), index_dtype=dtype)


argmin_p: Final = _arg_reduction("argmin", largest=False)


def argmin(operand: Any, axis: int, index_dtype: Any) -> Any:
    """Return the index of the smallest element along `axis`, counted from 0.

    Args:
        operand: an array of real numbers or booleans.
        axis: the axis, counted from 0.
        index_dtype: the integer dtype of the result.

    Returns:
        The index of the first smallest element, or of the first NaN; the shape is that
        of `operand` without `axis`.

    Raises:
        ShapeError: the axis has no element, or `operand` has no such axis.

    References:
        NumPy, `numpy.argmin`.
    """
    dtype = dt.requested(index_dtype, "argmin")
    return argmin_p.bind1(operand, axes=int_tuple((axis,)), index_dtype=dtype)

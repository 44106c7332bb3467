"""The same elements in another shape: reshape, squeeze, expand_dims, rev; iota; and sizes.

All but iota only move elements (`moving`): they are linear and take every dtype. `transpose`
and `broadcast_in_dim` are in `core_ops`. Params are JAX's, without those that only matter on
many devices. A symbolic size becomes a number by `dim_as_value`, such as the divisor of a
mean; it gets its value before the program is lowered.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from imprint._src import dtypes
from imprint._src import dtypes as dt
from imprint._src.core import dims
from imprint._src.core.aval import DType, Shape, ShapedArray, get_aval, shape_str
from imprint._src.core.dims import Dim
from imprint._src.core.fusion import INDEXING, UNFUSED, Fusion
from imprint._src.core.padding import AS_IS, PadContext, PaddedValue, carrying
from imprint._src.core.primitive import (
    Absent,
    Avals,
    Case,
    Dims,
    Primitive,
    Samples,
    Values,
)
from imprint._src.errors import DTypeError, ShapeError
from imprint._src.primitives.axes import canonical_axes, int_of, int_tuple, push
from imprint._src.primitives.copying import own
from imprint._src.primitives.core_ops import (
    NUMBERS,
    add,
    broadcast_in_dim,
    moveaxis,
    mul,
    sub,
    transpose,
)
from imprint._src.primitives.elementwise.arithmetic import div, rem
from imprint._src.primitives.elementwise.convert import (
    convert_element_type,
    convert_element_type_p,
)
from imprint._src.stablehlo import Builder, Value

NDArray = np.ndarray[Any, Any]
Ints = tuple[int, ...]

EVERY: Final = (*NUMBERS, "bool")
"""The dtypes on which laws try primitives that only move elements."""


def moving(  # noqa: PLR0913 - one parameter a rule
    name: str,
    *,
    aval: Callable[..., Avals],
    reference: Callable[..., Any],
    lower: Callable[..., Value],
    fusion: Fusion | None,
    makes_nan: bool,
    transpose: Callable[..., Any],
    batch: Callable[..., Any],
    pad: Callable[..., Any],
    samples: Samples,
) -> Primitive:
    """Declare a primitive that only moves the elements of one operand: it is linear.

    Args:
        name: as printed in jaxprs.
        aval: its shape rule.
        reference: its meaning, on a NumPy array.
        lower: its StableHLO.
        fusion: how XLA fuses it.
        makes_nan: whether it makes a NaN of numbers.
        transpose: `(ct, aval of the operand, **params)` → the cotangent.
        batch: `(x, b, **params)` → the result and its hidden axis.
        pad: as for every primitive.
        samples: operands and params of the laws.
    """

    def jvp(primals: Values, tangents: Values, **params: Any) -> Any:
        return primitive.bind_all(*primals, **params), primitive.bind_all(
            *tangents, **params
        )

    def transpose_rule(cts: Values, operands: Values, **params: Any) -> Values:
        return (transpose(cts[0], operands[0].aval, **params),)

    def batch_rule(args: Values, at: Dims, **params: Any) -> Any:
        out, b = batch(args[0], at[0], **params)
        return (out,), (b,)

    def reference_rule(x: Any, **params: Any) -> Values:
        return (reference(x, **params),)

    def lower_rule(b: Builder, x: Value, **params: Any) -> tuple[Value, ...]:
        return (lower(b, x, **params),)

    primitive = Primitive(
        name=name,
        aval=aval,
        reference=reference_rule,
        lower=lower_rule,
        fusion=fusion,
        makes_nan=makes_nan,
        jvp=jvp,
        transpose=transpose_rule,
        batch=batch_rule,
        pad=pad,
        samples=samples,
    )
    return primitive


# ---- reshape ----


def _reshape_aval(x: ShapedArray, *, new_sizes: Shape, dimensions: None) -> Avals:
    fits = not dims.has_negative(new_sizes)
    if not fits or not dims.equal(dims.product(new_sizes), x.size):
        raise ShapeError(
            f"reshape: expected sizes whose product is {x.size}, the number of "
            f"elements of {x}, got {shape_str(new_sizes)}. To leave one size open, "
            "call imprint.numpy.reshape with -1."
        )
    return (x.with_shape(new_sizes),)


def _reshape_reference(x: NDArray, *, new_sizes: Shape, dimensions: None) -> NDArray:
    return np.reshape(x, new_sizes)


def _reshape_lower(
    b: Builder, x: Value, *, new_sizes: Shape, dimensions: None
) -> Value:
    return b.reshape(x, new_sizes)


def _reshape_transpose(
    ct: Any, x: ShapedArray, *, new_sizes: Shape, dimensions: None
) -> Any:
    return reshape(ct, x.shape)


def _reshape_batch(x: Any, b: int, *, new_sizes: Shape, dimensions: None) -> Any:
    x = moveaxis(x, b, 0)
    return reshape(x, (get_aval(x).shape[0], *new_sizes)), 0


def _reshape_pad(
    bucket: PadContext, x: PaddedValue, *, new_sizes: Shape, dimensions: None
) -> Values:
    """Take the elements of each group of axes in the order of the true sizes.

    Where names lead all groups, that is the order of the bucket's sizes as well.
    """
    old = x.aval.shape
    groups = [] if dims.has_zero(old) else _groups(old, new_sizes)
    if all(_leads(old[a]) and _leads(new_sizes[b]) for a, b in groups):
        outs = bucket.bind_all(x, new_sizes=new_sizes, dimensions=None)
        return (PaddedValue(outs[0], bucket.outs[0], None, x.known),)
    flat = reshape(x.value, [dims.product(bucket.bound(old[a])) for a, _ in groups])
    for axis, (a, b) in enumerate(groups):
        if not (_leads(old[a]) and _leads(new_sizes[b])):
            flat = bucket.taken(flat, _places(bucket, old[a], new_sizes[b]), axis)
    return (reshape(flat, bucket.bound(new_sizes)),)


def _groups(old: Shape, new: Shape) -> list[tuple[slice, slice]]:
    """Return the smallest runs of axes of both shapes that hold the same elements."""
    found: list[tuple[slice, slice]] = []
    i = j = 0
    while i < len(old) and j < len(new):
        a, b, have, need = i, j, old[i], new[j]
        i, j = i + 1, j + 1
        while not dims.is_same(have, need):
            if i < len(old) and not dims.is_surely_at_least(have, need):
                have, i = have * old[i], i + 1
            elif j < len(new):
                need, j = need * new[j], j + 1
            else:
                have, i = have * old[i], i + 1
        found.append((slice(a, i), slice(b, j)))
    if found:  # the remaining axes have length 1
        a, b = found.pop()
        found.append((slice(a.start, len(old)), slice(b.start, len(new))))
    return found


def _leads(shape: Shape) -> bool:
    """Return whether a symbolic axis follows only axes of length 1.

    A size that is 1 at each size of a trace, as `n*m` where that is less than 2, is more
    in a bucket.
    """
    lengths = [n for n in shape if dims.is_symbolic(n) or n != 1]
    return not any(map(dims.is_symbolic, lengths[1:]))


def _places(bucket: PadContext, old: Shape, new: Shape) -> Any:
    """Return the index in the axes `old` of each element of the axes `new`."""
    lengths = bucket.bound(new)
    place: Any = None
    for axis, n in enumerate(new):
        along = broadcasted_iota(_INT32, lengths, axis)
        place = along if place is None else add(mul(place, bucket.number(n)), along)
    found, step = np.int32(0), 1
    for axis, n in reversed(list(enumerate(old))):
        length = bucket.number(n)
        index = rem(place, length) if axis else place
        found = add(found, mul(index, np.int32(step)))
        place, step = div(place, length), step * bucket.bound(n)
    return reshape(found, (dims.product(lengths),))


_INT32: Final = np.dtype(np.int32)

reshape_p: Final = moving(
    "reshape",
    aval=_reshape_aval,
    reference=_reshape_reference,
    lower=_reshape_lower,
    fusion=INDEXING,
    makes_nan=False,
    transpose=_reshape_transpose,
    batch=_reshape_batch,
    pad=_reshape_pad,
    samples=Samples(
        EVERY,
        cases=(
            Case(((2, 3, 4),), {"new_sizes": (4, 6), "dimensions": None}),
            Case(((6,),), {"new_sizes": (3, 1, 2), "dimensions": None}),
            Case(((),), {"new_sizes": (1, 1), "dimensions": None}),
            Case(((1,),), {"new_sizes": (), "dimensions": None}),
            Case(((0, 3),), {"new_sizes": (5, 0), "dimensions": None}),
        ),
    ),
)


def reshape(
    operand: Any,
    new_sizes: Dim | Sequence[Dim],
    dimensions: Sequence[int] | None = None,
) -> Any:
    """Return the elements of `operand`, in row-major order, in an array of `new_sizes`.

    Args:
        operand: an array.
        new_sizes: the lengths of the axes of the result; their product is its size.
        dimensions: the order in which the axes of `operand` are read, if not 0, 1, 2, …
    """
    if not isinstance(new_sizes, tuple) and isinstance(new_sizes, int | np.integer):
        new_sizes = (new_sizes,)  # a tuple is detected at once, not in 130 ns
    sizes = dims.as_shape(new_sizes)
    aval = get_aval(operand)
    if dimensions is not None:
        order = int_tuple(dimensions)
        if order != tuple(range(aval.ndim)):
            operand = transpose(operand, order)
    if dims.is_same_shape(sizes, get_aval(operand).shape):
        return operand if sizes else own(operand)  # JAX reshapes rank 0 only
    return reshape_p.bind1(operand, new_sizes=sizes, dimensions=None)


# ---- squeeze, expand_dims ----


def _squeeze_aval(x: ShapedArray, *, dimensions: Ints) -> Avals:
    distinct = len(set(dimensions)) == len(dimensions)
    if not distinct or any(
        not 0 <= d < x.ndim or not dims.equal(x.shape[d], 1) for d in dimensions
    ):
        raise ShapeError(
            f"squeeze: expected distinct axes of length 1 of {x}, got "
            f"dimensions={dimensions}. Name only axes of length 1."
        )
    return (x.with_shape(_squeezed(x.shape, dimensions)),)


def _squeezed(shape: Shape, dimensions: Ints) -> Shape:
    return tuple(n for i, n in enumerate(shape) if i not in dimensions)


def _squeeze_reference(x: NDArray, *, dimensions: Ints) -> NDArray:
    return np.squeeze(x, dimensions)


def _squeeze_lower(b: Builder, x: Value, *, dimensions: Ints) -> Value:
    return b.reshape(x, _squeezed(x.shape, dimensions))


def _squeeze_transpose(ct: Any, x: ShapedArray, *, dimensions: Ints) -> Any:
    return reshape(ct, x.shape)


def _squeeze_batch(x: Any, b: int, *, dimensions: Ints) -> Any:
    shifted = push(dimensions, b)
    return squeeze(x, shifted), b - sum(d < b for d in shifted)


def _squeeze_origins(x: ShapedArray, *, dimensions: Ints) -> Ints:
    return _squeezed(tuple(range(x.ndim)), dimensions)


squeeze_p: Final = moving(
    "squeeze",
    aval=_squeeze_aval,
    reference=_squeeze_reference,
    lower=_squeeze_lower,
    fusion=INDEXING,
    makes_nan=False,
    transpose=_squeeze_transpose,
    batch=_squeeze_batch,
    pad=carrying(_squeeze_origins),
    samples=Samples(
        EVERY,
        cases=(
            Case(((1, 3, 1),), {"dimensions": (0, 2)}),
            Case(((3, 1, 2, 1),), {"dimensions": (3,)}),
            Case(((1,),), {"dimensions": (0,)}),
            Case(((0, 1),), {"dimensions": (1,)}),
        ),
    ),
)


def squeeze(array: Any, dimensions: Sequence[int]) -> Any:
    """Remove axes of length 1; a negative axis counts from the end.

    Args:
        array: an array.
        dimensions: the axes to remove.

    Returns:
        An array of the same elements and dtype, without these axes.

    References:
        NumPy, `numpy.squeeze`; StableHLO, `reshape`.
    """
    axes = canonical_axes("squeeze", dimensions, get_aval(array).ndim)
    return squeeze_p.bind1(array, dimensions=axes) if axes else array


def expand_dims(array: Any, dimensions: Sequence[int]) -> Any:
    """Insert axes of length 1 at positions of the result; negative from its end.

    Args:
        array: an array.
        dimensions: the positions of the new axes.

    Returns:
        An array of the same elements and dtype, with these axes.

    References:
        NumPy, `numpy.expand_dims`; StableHLO, `broadcast_in_dim`.
    """
    shape = get_aval(array).shape
    ndim = len(shape) + len(dimensions)
    new = canonical_axes("expand_dims", dimensions, ndim)
    if not new:
        return own(array) if shape else array  # as in JAX
    kept = tuple(i for i in range(ndim) if i not in new)
    lengths = dict(zip(kept, shape, strict=True))
    return broadcast_in_dim(array, tuple(lengths.get(i, 1) for i in range(ndim)), kept)


# ---- rev ----


def _rev_aval(x: ShapedArray, *, dimensions: Ints) -> Avals:
    distinct = len(set(dimensions)) == len(dimensions)
    if not distinct or any(not 0 <= d < x.ndim for d in dimensions):
        raise ShapeError(
            f"rev: expected distinct axes in [0, {x.ndim}) for operand {x}, got "
            f"dimensions={dimensions}. To count from the end, call imprint.numpy.flip."
        )
    return (x,)


def _rev_reference(x: NDArray, *, dimensions: Ints) -> NDArray:
    return np.flip(x, dimensions)


def _rev_lower(b: Builder, x: Value, *, dimensions: Ints) -> Value:
    return b.reverse(x, dimensions)


def _rev_transpose(ct: Any, x: ShapedArray, *, dimensions: Ints) -> Any:
    return rev(ct, dimensions)


def _rev_batch(x: Any, b: int, *, dimensions: Ints) -> Any:
    return rev(x, push(dimensions, b)), b


def _rev_pad(bucket: PadContext, x: PaddedValue, *, dimensions: Ints) -> Values:
    (out,) = bucket.bind_all(x, dimensions=dimensions)
    for axis in x.padded_axes(dimensions):  # the padding is in front now
        n = x.aval.shape[axis]
        start = sub(np.int32(bucket.bound(n)), bucket.number(n))
        out = bucket.part(out, start, bucket.bound(n), axis)
    return (out,)


rev_p: Final = moving(
    "rev",
    aval=_rev_aval,
    reference=_rev_reference,
    lower=_rev_lower,
    fusion=INDEXING,
    makes_nan=False,
    transpose=_rev_transpose,
    batch=_rev_batch,
    pad=_rev_pad,
    samples=Samples(
        EVERY,
        cases=(
            Case(((2, 3, 4),), {"dimensions": (0, 2)}),
            Case(((5,),), {"dimensions": (0,)}),
            Case(((2, 3),), {"dimensions": ()}),
            Case(((0, 3),), {"dimensions": (0, 1)}),
        ),
    ),
)


def rev(operand: Any, dimensions: Sequence[int]) -> Any:
    """Reverse the order of the elements along axes, counted from 0.

    Args:
        operand: an array.
        dimensions: distinct axes.

    Returns:
        An array of the same shape and dtype.

    References:
        StableHLO, `reverse`.
    """
    return rev_p.bind1(operand, dimensions=int_tuple(dimensions))


# ---- iota ----


def _iota_aval(*, dtype: DType, shape: Shape, dimension: int) -> Avals:
    if dt.is_bool(dtype):
        raise DTypeError(
            f"iota: expected a numeric dtype, got {dtype}. Count in an integer dtype "
            "and convert."
        )
    if dims.has_negative(shape) or not 0 <= dimension < len(shape):
        raise ShapeError(
            f"iota: expected a dimension in [0, {len(shape)}) and no negative length, "
            f"got dimension={dimension}, shape={shape_str(shape)}. For a 1-dimensional "
            "count call imprint.lax.iota(dtype, size)."
        )
    return (ShapedArray(shape, dtype),)


def _iota_reference(*, dtype: DType, shape: Shape, dimension: int) -> Values:
    count = np.arange(shape[dimension], dtype=np.int64).astype(dtype)
    lengths = tuple(n if i == dimension else 1 for i, n in enumerate(shape))
    return (np.broadcast_to(count.reshape(lengths), shape),)


def _iota_lower(
    b: Builder, *, dtype: DType, shape: Shape, dimension: int
) -> tuple[Value, ...]:
    return (b.iota(shape, dtype, dimension),)


_NO_OPERANDS: Final = Absent("it has no operands")

iota_p: Final = Primitive(
    name="iota",
    aval=_iota_aval,
    reference=_iota_reference,
    lower=_iota_lower,
    fusion=UNFUSED,
    makes_nan=False,
    jvp=_NO_OPERANDS,
    transpose=_NO_OPERANDS,
    batch=_NO_OPERANDS,
    pad=AS_IS,
    samples=Samples(
        ("int32",),
        cases=tuple(
            Case((), {"dtype": np.dtype(dtype), "shape": shape, "dimension": dimension})
            for dtype, shape, dimension in (
                ("int32", (3, 4), 1),
                ("uint8", (300,), 0),  # wraps
                ("float32", (2, 3, 4), 1),
                (dt.bfloat16, (300,), 0),  # rounds
                ("complex64", (3,), 0),
                ("int32", (0, 3), 0),
            )
        ),
        differentiable=False,
    ),
)


def broadcasted_iota(dtype: Any, shape: Sequence[Dim], dimension: int) -> Any:
    """Return an array of `shape` that counts 0, 1, 2, … along `dimension`."""
    return iota_p.bind1(
        dtype=dt.requested(dtype, "iota"),
        shape=dims.as_shape(shape),
        dimension=int_of(dimension),
    )


def iota(dtype: Any, size: Dim) -> Any:
    """Return 0, 1, …, `size` - 1.

    Args:
        dtype: a numeric dtype.
        size: the number of elements.

    Returns:
        A vector of that dtype.

    References:
        StableHLO, `iota`.
    """
    return broadcasted_iota(dtype, (size,), 0)


def _dim_aval(*, dim: Dim) -> Avals:
    return (ShapedArray((), dtypes.scalar_type_dtype(int), weak_type=True),)


def _dim_reference(*, dim: Dim) -> Values:
    dtype = dtypes.scalar_type_dtype(int)
    return (np.asarray(dims.concrete(dim, "a size as a number"), dtype),)


def _dim_lower(b: Builder, *, dim: Dim) -> tuple[Value, ...]:
    return (b.constant(dim, dtypes.scalar_type_dtype(int)),)


def _dim_pad(bucket: PadContext, *, dim: Dim) -> Values:
    (aval,) = bucket.outs
    number = bucket.number(dim)
    return convert_element_type_p.bind_all(number, new_dtype=aval.dtype, weak_type=True)


dim_as_value_p: Final = Primitive(
    name="dim_as_value",
    aval=_dim_aval,
    reference=_dim_reference,
    lower=_dim_lower,
    fusion=UNFUSED,
    makes_nan=False,
    jvp=_NO_OPERANDS,
    transpose=_NO_OPERANDS,
    batch=_NO_OPERANDS,
    pad=_dim_pad,
    samples=Samples(
        ("int32",),
        cases=(Case((), {"dim": 3}), Case((), {"dim": 0})),
        differentiable=False,
    ),
)


def as_value(dim: Any) -> Any:
    """Return a size as an integer of no axes, weak as Python's."""
    return dim_as_value_p.bind1(dim=dim)


def as_operand(dim: Any) -> Any:
    """Return a size as arithmetic with arrays takes it: itself, unless it has names."""
    return as_value(dim) if dims.is_symbolic(dim) else dim


def number_of(dim: Any, dtype: DType) -> Any:
    """Return a size as a number of a dtype: NumPy's, unless it has names."""
    if dims.is_symbolic(dim):
        return convert_element_type(as_value(dim), dtype)
    return dtype.type(dim)

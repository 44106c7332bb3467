"""The primitives that the rules of all others use.

add, sub, neg, mul, broadcast_in_dim, reduce_sum and transpose are linear or bilinear, and
their transposes use each other, so they are in one file; so are the sums of tangents and
the batching of elementwise primitives.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Any, Final

import numpy as np

from imprint._src import dtypes
from imprint._src.core import dims
from imprint._src.core.aval import DType, Shape, ShapedArray, get_aval, number_of
from imprint._src.core.fusion import ARITHMETIC, BROADCAST, INDEXING, REDUCTION
from imprint._src.core.padding import ELEMENTWISE, carrying, filling
from imprint._src.core.primitive import (
    Absent,
    Avals,
    Case,
    Dims,
    Params,
    Primitive,
    Samples,
    Values,
)
from imprint._src.core.tangents import (
    UndefinedPrimal,
    Zero,
    is_zero,
    tangent_aval,
    zero_of,
)
from imprint._src.errors import DTypeError, ShapeError
from imprint._src.primitives.axes import check_axes, inverse, reduced
from imprint._src.primitives.elementwise.elementwise import (
    broadcast_reference,
    elementwise_aval,
    listed,
    repeated,
)
from imprint._src.stablehlo import Builder, Value
from imprint._src.stablehlo.reductions import place_of, sum_of

FLOATS: Final = ("float32", "float64", "bfloat16", "float16")
COMPLEXES: Final = ("complex64", "complex128")
INEXACTS: Final = FLOATS + COMPLEXES
INTS: Final = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
NUMBERS: Final = INTS + INEXACTS

# ---- helpers of rules ----


def scalar_like(x: Any, value: Any) -> Any:
    """Return a rank-0 constant of the dtype and weak type of `x`."""
    aval = get_aval(x)
    typed = np.asarray(value, aval.dtype)[()]
    if aval.weak_type:  # a Python number of that dtype is weak, as `x` is
        weak: object = typed.item()
        if dtypes.scalar_type_dtype(type(weak)) == aval.dtype:
            return weak
    return number_of(typed, aval.dtype)


def full(shape: Shape, value: Any, dtype: DType) -> Any:
    """Return an array of `shape` with all elements equal."""
    scalar = number_of(np.asarray(value, dtype)[()], dtype)
    return broadcast_in_dim(scalar, shape, ()) if shape else scalar


def instantiate(tangent: Any) -> Any:
    """Return a tangent as an array: zeros if it is symbolically `Zero`."""
    if not is_zero(tangent):
        return tangent
    return broadcast_to(scalar_like(tangent, 0), tangent.aval.shape)


def add_tangents(x: Any, y: Any) -> Any:
    """Add two tangents or cotangents, either of which may be `Zero`."""
    if type(x) is Zero:
        return y
    return x if type(y) is Zero else add(x, y)


def broadcast_to(x: Any, shape: Shape) -> Any:
    """Repeat a rank-0 value to `shape`; a value of that shape stays as it is."""
    own = get_aval(x).shape
    return x if dims.is_same_shape(own, shape) else broadcast_in_dim(x, shape, ())


def unbroadcast(ct: Any, aval: ShapedArray) -> Any:
    """Sum a cotangent to the shape of an operand that was repeated."""
    if type(ct) is Zero:
        return Zero(aval)
    ndim = get_aval(ct).ndim
    return reduce_sum(ct, tuple(range(ndim))) if aval.ndim < ndim else ct


def moveaxis(x: Any, source: int, target: int) -> Any:
    """Move one axis; the others keep their order."""
    if source == target:
        return x
    order = [i for i in range(get_aval(x).ndim) if i != source]
    order.insert(target, source)
    return transpose(x, tuple(order))


NOT_LINEAR: Final = Absent("it is not linear in its operands, so it has no transpose")
"""The transpose of a primitive that differentiation replaces by its derivative."""


def not_differentiable(primitive: Primitive, primals: Values, **params: Any) -> Any:
    """Give the jvp of a primitive whose derivative is zero everywhere."""
    outs = primitive.bind_all(*primals, **params)
    return outs, tuple(Zero(tangent_aval(get_aval(x))) for x in outs)


# ---- elementwise: the shared batching rule ----


def elementwise_batch(
    primitive: Primitive, args: Values, dims: Dims, params: Params
) -> Any:
    """Batch an elementwise primitive: bring all operands to one shape."""
    present = {d for d in dims if d is not None}
    shapes = [get_aval(x).shape for x in args]
    ranks = [len(s) - (d is not None) for s, d in zip(shapes, dims, strict=True)]
    rank = max(ranks)
    uniform = all(
        d is not None or r == 0 for d, r in zip(dims, ranks, strict=True)
    ) and all(r == rank for r, d in zip(ranks, dims, strict=True) if d is not None)
    if len(present) == 1 and uniform:
        (dim,) = present
        outs = primitive.bind_all(*args, **params)
        return outs, (dim,) * len(outs)
    size = next(s[d] for s, d in zip(shapes, dims, strict=True) if d is not None)
    full_shape = next(
        (size, *(n for i, n in enumerate(s) if i != d))
        for s, d, r in zip(shapes, dims, ranks, strict=True)
        if r == rank
    )
    aligned = [
        x if d is None and r == 0 else _align(x, d, full_shape)
        for x, d, r in zip(args, dims, ranks, strict=True)
    ]
    outs = primitive.bind_all(*aligned, **params)
    return outs, (0,) * len(outs)


def _align(x: Any, dim: int | None, shape: Shape) -> Any:
    """Bring the hidden axis to the front and repeat to `shape`."""
    rank = get_aval(x).ndim
    if dim is None:
        return broadcast_in_dim(x, shape, tuple(range(1, rank + 1)))
    moved = moveaxis(x, dim, 0)
    return moved if rank == len(shape) else broadcast_in_dim(moved, shape, (0,))


# ---- neg ----


def _neg_aval(x: ShapedArray) -> Avals:
    if x.dtype.kind == "b":
        raise DTypeError(
            f"neg: expected a number, got {x}. Use imprint.numpy.logical_not."
        )
    return (x,)


def _neg_reference(x: Any) -> Values:
    return (np.negative(x),)


def _neg_lower(b: Builder, x: Value) -> tuple[Value, ...]:
    return (b.negate(x),)


def _neg_jvp(primals: Values, tangents: Values) -> Any:
    return (neg(primals[0]),), (neg(tangents[0]),)


def _neg_transpose(cts: Values, operands: Values) -> Values:
    return (neg(cts[0]),)


def _neg_batch(args: Values, at: Dims) -> Any:
    return (neg(args[0]),), at


neg_p: Final = Primitive(
    name="neg",
    aval=_neg_aval,
    reference=_neg_reference,
    lower=_neg_lower,
    fusion=ARITHMETIC,
    makes_nan=False,
    jvp=_neg_jvp,
    transpose=_neg_transpose,
    batch=_neg_batch,
    pad=ELEMENTWISE,
    samples=Samples(NUMBERS, arity=1, edges=(0.0, -0.0)),
)


def neg(x: Any) -> Any:
    """Return `-x`, elementwise.

    Args:
        x: numbers; unsigned ones wrap around.

    Returns:
        An array of the dtype and shape of `x`.

    References:
        StableHLO, `negate`.
    """
    return neg_p.bind1(x)


# ---- add, sub ----


def _arithmetic(
    name: str,
    *,
    reference: Callable[[Any, Any], Any],
    lower: Callable[[Builder, Value, Value], Value],
    jvp: Callable[[Values, Values], Any],
    transpose: Callable[[Values, Values], Values],
) -> Primitive:
    """Declare a primitive of two numbers, linear in each."""

    def aval(x: ShapedArray, y: ShapedArray) -> Avals:
        out = elementwise_aval(name, (x, y))
        if out.dtype.kind == "b":
            raise DTypeError(
                f"{name}: expected numbers, got {listed((x, y))}. "
                "Use imprint.numpy.logical_or, logical_and or logical_xor."
            )
        return (out,)

    def referenced(x: Any, y: Any) -> Values:
        return (reference(x, y),)

    def lowered(b: Builder, x: Value, y: Value) -> tuple[Value, ...]:
        x, y = repeated(b, (x, y))
        return (lower(b, x, y),)

    def batch(args: Values, at: Dims) -> Any:
        return elementwise_batch(primitive, args, at, {})

    primitive = Primitive(
        name=name,
        aval=aval,
        reference=referenced,
        lower=lowered,
        fusion=ARITHMETIC,
        makes_nan=True,
        jvp=jvp,
        transpose=transpose,
        batch=batch,
        pad=ELEMENTWISE,
        samples=Samples(NUMBERS, arity=2),
    )
    return primitive


def _add_jvp(primals: Values, tangents: Values) -> Any:
    out = add(*primals)
    shape = get_aval(out).shape
    tx, ty = [_repeated_tangent(t, shape) for t in tangents]
    return (out,), (add_tangents(tx, ty),)


def _repeated_tangent(t: Any, shape: Shape) -> Any:
    return Zero(t.aval.with_shape(shape)) if type(t) is Zero else broadcast_to(t, shape)


def _add_transpose(cts: Values, operands: Values) -> Values:
    (ct,) = cts
    return tuple(
        [
            unbroadcast(ct, x.aval) if type(x) is UndefinedPrimal else None
            for x in operands
        ]
    )


add_p: Final = _arithmetic(
    "add",
    reference=np.add,
    lower=Builder.add,
    jvp=_add_jvp,
    transpose=_add_transpose,
)


def add(x: Any, y: Any) -> Any:
    """Return `x + y`, elementwise.

    Args:
        x: numbers.
        y: of the dtype of `x`; rank 0 and axes of length 1 are repeated.

    Returns:
        An array of that dtype and the common shape. Integers wrap around.

    References:
        StableHLO, `add`.
    """
    return add_p.bind1(x, y)


def _sub_jvp(primals: Values, tangents: Values) -> Any:
    out = sub(*primals)
    shape = get_aval(out).shape
    tx, ty = [_repeated_tangent(t, shape) for t in tangents]
    if is_zero(ty):
        return (out,), (tx,)
    return (out,), (neg(ty) if is_zero(tx) else sub(tx, ty),)


def _sub_transpose(cts: Values, operands: Values) -> Values:
    (ct,), (x, y) = cts, operands
    return (
        unbroadcast(ct, x.aval) if type(x) is UndefinedPrimal else None,
        unbroadcast(neg(ct), y.aval) if type(y) is UndefinedPrimal else None,
    )


sub_p: Final = _arithmetic(
    "sub",
    reference=np.subtract,
    lower=Builder.subtract,
    jvp=_sub_jvp,
    transpose=_sub_transpose,
)


def sub(x: Any, y: Any) -> Any:
    """Return `x - y`, elementwise.

    Args:
        x: numbers.
        y: of the dtype of `x`; rank 0 and axes of length 1 are repeated.

    Returns:
        An array of that dtype and the common shape. Integers wrap around.

    References:
        StableHLO, `subtract`.
    """
    return sub_p.bind1(x, y)


# ---- mul ----


def _mul_jvp(primals: Values, tangents: Values) -> Any:
    (x, y), (tx, ty) = primals, tangents
    out = mul(x, y)
    shape = get_aval(out).shape
    terms = [
        zero_of(get_aval(out)) if is_zero(t) else broadcast_to(mul(t, other), shape)
        for t, other in ((tx, y), (ty, x))
    ]
    return (out,), (add_tangents(*terms),)


def _mul_transpose(cts: Values, operands: Values) -> Values:
    (ct,), (x, y) = cts, operands
    if type(x) is UndefinedPrimal and type(y) is UndefinedPrimal:
        NOT_LINEAR()  # in each alone it is
    return (
        unbroadcast(mul(ct, y), x.aval) if type(x) is UndefinedPrimal else None,
        unbroadcast(mul(x, ct), y.aval) if type(y) is UndefinedPrimal else None,
    )


mul_p: Final = _arithmetic(
    "mul",
    reference=np.multiply,
    lower=Builder.multiply,
    jvp=_mul_jvp,
    transpose=_mul_transpose,
)


def mul(x: Any, y: Any) -> Any:
    """Return `x * y`, elementwise.

    Args:
        x: numbers.
        y: of the dtype of `x`; rank 0 and axes of length 1 are repeated.

    Returns:
        An array of that dtype and the common shape. Integers wrap around.

    References:
        StableHLO, `multiply`.
    """
    return mul_p.bind1(x, y)


# ---- broadcast_in_dim ----


def _broadcast_aval(
    x: ShapedArray, *, shape: Shape, broadcast_dimensions: tuple[int, ...]
) -> Avals:
    axes = broadcast_dimensions
    fits = (
        len(axes) == x.ndim
        and all(a < b for a, b in pairwise(axes))
        and all(0 <= a < len(shape) for a in axes)
        and dims.repeats_to(x.shape, tuple(shape[a] for a in axes))
    )
    if dims.has_negative(shape):
        raise ShapeError(
            f"broadcast_in_dim: expected lengths of at least 0 in shape, got {shape}. A "
            "length cannot be left open: give the number of elements."
        )
    if not fits:
        raise ShapeError(
            "broadcast_in_dim: expected increasing broadcast_dimensions that map each "
            f"axis of {x} to an axis of the same length (or from length 1), got "
            f"shape={shape}, broadcast_dimensions={axes}. "
            "For NumPy's rule call imprint.numpy.broadcast_to."
        )
    return (x.with_shape(shape),)


def _broadcast_lower(
    b: Builder, x: Value, *, shape: Shape, broadcast_dimensions: tuple[int, ...]
) -> tuple[Value, ...]:
    return (b.broadcast_in_dim(x, shape, broadcast_dimensions),)


def _broadcast_jvp(primals: Values, tangents: Values, **params: Any) -> Any:
    bind = broadcast_in_dim_p.bind_all
    return bind(*primals, **params), bind(*tangents, **params)


def _broadcast_transpose(
    cts: Values,
    operands: Values,
    *,
    shape: Shape,
    broadcast_dimensions: tuple[int, ...],
) -> Values:
    (ct,), (x,) = cts, operands
    axes = broadcast_dimensions
    added = tuple(i for i in range(len(shape)) if i not in axes)
    stretched = tuple(
        a
        for n, a in zip(x.aval.shape, axes, strict=True)
        if dims.is_same(n, 1) and not dims.is_same(shape[a], 1)
    )
    summed = reduce_sum(ct, tuple(sorted(added + stretched)))
    if not stretched:
        return (summed,)
    kept = tuple(i for i, a in enumerate(axes) if a not in stretched)
    return (broadcast_in_dim(summed, x.aval.shape, kept),)


def _broadcast_batch(
    args: Values, at: Dims, *, shape: Shape, broadcast_dimensions: tuple[int, ...]
) -> Any:
    (x,), (b,) = args, at
    assert b is not None
    x = moveaxis(x, b, 0)
    size = get_aval(x).shape[0]
    axes = (0, *(a + 1 for a in broadcast_dimensions))
    return (broadcast_in_dim(x, (size, *shape), axes),), (0,)


def _broadcast_origins(
    x: ShapedArray, *, shape: Shape, broadcast_dimensions: tuple[int, ...]
) -> list[int | None]:
    places = enumerate(broadcast_dimensions)
    origins = {to: i for i, to in places if not dims.is_same(x.shape[i], 1)}
    return [origins.get(i) for i in range(len(shape))]


broadcast_in_dim_p: Final = Primitive(
    name="broadcast_in_dim",
    aval=_broadcast_aval,
    reference=broadcast_reference,
    lower=_broadcast_lower,
    fusion=BROADCAST,
    makes_nan=False,
    jvp=_broadcast_jvp,
    transpose=_broadcast_transpose,
    batch=_broadcast_batch,
    pad=carrying(_broadcast_origins),
    samples=Samples(
        NUMBERS,
        cases=(
            Case(((),), {"shape": (2, 3), "broadcast_dimensions": ()}),
            Case(((3,),), {"shape": (2, 3, 4), "broadcast_dimensions": (1,)}),
            Case(((1, 3),), {"shape": (2, 3), "broadcast_dimensions": (0, 1)}),
            Case(((3, 1),), {"shape": (3, 2, 4), "broadcast_dimensions": (0, 2)}),
            Case(((0,),), {"shape": (0, 2), "broadcast_dimensions": (0,)}),
        ),
    ),
)


def broadcast_in_dim(
    x: Any, shape: Shape, broadcast_dimensions: tuple[int, ...]
) -> Any:
    """Repeat `x` to `shape`; its axis i becomes axis `broadcast_dimensions[i]`."""
    return broadcast_in_dim_p.bind1(
        x, shape=shape, broadcast_dimensions=broadcast_dimensions
    )


# ---- reduce_sum ----


def reduction_batch(
    primitive: Primitive, args: Values, at: Dims, axes: tuple[int, ...], **params: Any
) -> Any:
    """Batch a reduction: the hidden axis pushes later axes up."""
    (x,), (b,) = args, at
    assert b is not None
    shifted = tuple(a + (a >= b) for a in axes)
    outs = primitive.bind_all(x, axes=shifted, **params)
    return outs, (b - sum(a < b for a in shifted),) * len(outs)


def _sum_aval(x: ShapedArray, *, axes: tuple[int, ...]) -> Avals:
    check_axes("reduce_sum", x, axes)
    if x.dtype.kind == "b":
        raise DTypeError(
            f"reduce_sum: expected numbers, got {x}. Convert it, or call "
            "imprint.numpy.sum, which counts."
        )
    return (reduced(x, axes),)


_SHORT_FLOATS: Final = frozenset({dtypes.bfloat16, dtypes.float16})


def _sum_reference(x: Any, *, axes: tuple[int, ...]) -> Any:
    if x.dtype in _SHORT_FLOATS:
        return (np.add.reduce(x, axis=axes, dtype=np.float32).astype(x.dtype),)
    return (np.add.reduce(x, axis=axes, dtype=x.dtype),)  # 2 us less than np.sum


# XLA:CPU adds the elements of short rows one after another, a scalar loop for each row.
# The sum of columns is elementwise. Measured with jaxlib 0.10.2 and 0.12 on two cores with
# AVX2, columns / rows: 300,000 rows of 2 0.05 to 0.2, of 3 0.07 to 0.2, 100,000 of 8 0.2 to
# 0.35; squared distances of 1,000 points of 3 coordinates 0.01 to 0.06. It compiles in 3
# times as long, so small arrays stay.

_SHORT_ROWS: Final = range(2, 9)
_MANY: Final = 1 << 14
_IN_COLUMNS: Final = ("float32", "float64", "int32", "int64", "uint32", "uint64")


def _has_short_rows(x: Value, axes: tuple[int, ...]) -> bool:
    """Return whether rows are added faster column by column."""
    if axes != (x.ndim - 1,) or x.dtype.name not in _IN_COLUMNS:
        return False
    length, size = x.shape[-1], dims.product(x.shape)
    return length in _SHORT_ROWS and size >= _MANY


def _sum_lower(b: Builder, x: Value, *, axes: tuple[int, ...]) -> tuple[Value, ...]:
    if b.module.is_fast and _has_short_rows(x, axes):
        columns = [place_of(b, x, x.ndim - 1, i) for i in range(x.shape[-1])]
        return (sum_of(b, columns),)
    return (b.reduce(x, b.constant(0, x.dtype), "add", axes),)


def _sum_jvp(primals: Values, tangents: Values, *, axes: tuple[int, ...]) -> Any:
    return (reduce_sum(primals[0], axes),), (reduce_sum(tangents[0], axes),)


def _sum_transpose(cts: Values, operands: Values, *, axes: tuple[int, ...]) -> Values:
    (ct,), (x,) = cts, operands
    kept = tuple(i for i in range(x.aval.ndim) if i not in axes)
    return (broadcast_in_dim(ct, x.aval.shape, kept),)


def _sum_batch(args: Values, at: Dims, *, axes: tuple[int, ...]) -> Any:
    return reduction_batch(reduce_sum_p, args, at, axes)


REDUCTIONS: Final = (
    Case(((3, 4),), {"axes": (0,)}),
    Case(((3, 4, 2),), {"axes": (0, 2)}),
    Case(((5,),), {"axes": (0,)}),
    Case(((2, 3),), {"axes": (0, 1)}),
    Case(((2, 3),), {"axes": ()}),
)

reduce_sum_p: Final = Primitive(
    name="reduce_sum",
    aval=_sum_aval,
    reference=_sum_reference,
    lower=_sum_lower,
    fusion=REDUCTION,
    makes_nan=True,
    jvp=_sum_jvp,
    transpose=_sum_transpose,
    batch=_sum_batch,
    pad=filling(lambda _: 0),
    samples=Samples(
        NUMBERS, cases=(*REDUCTIONS, Case(((0, 3),), {"axes": (0,)})), ulps=16
    ),
)


def reduce_sum(x: Any, axes: tuple[int, ...]) -> Any:
    """Sum `x` over `axes`, which are counted from 0; the axes disappear."""
    return reduce_sum_p.bind1(x, axes=axes)


# ---- transpose ----


def _transpose_aval(x: ShapedArray, *, permutation: tuple[int, ...]) -> Avals:
    if sorted(permutation) != list(range(x.ndim)):
        raise ShapeError(
            f"transpose: expected a permutation of the axes of {x}, got "
            f"permutation={permutation}. Name each axis from 0 to {x.ndim - 1} once."
        )
    return (x.with_shape(tuple(x.shape[p] for p in permutation)),)


def _transpose_reference(x: Any, *, permutation: tuple[int, ...]) -> Values:
    return (np.transpose(x, permutation),)


def _transpose_lower(
    b: Builder, x: Value, *, permutation: tuple[int, ...]
) -> tuple[Value, ...]:
    return (b.transpose(x, permutation),)


def _transpose_jvp(
    primals: Values, tangents: Values, *, permutation: tuple[int, ...]
) -> Any:
    (x,), (t,) = primals, tangents
    return (transpose(x, permutation),), (transpose(t, permutation),)


def _transpose_transpose(
    cts: Values, operands: Values, *, permutation: tuple[int, ...]
) -> Values:
    return (transpose(cts[0], inverse(permutation)),)


def _transpose_batch(args: Values, at: Dims, *, permutation: tuple[int, ...]) -> Any:
    (x,), (b,) = args, at
    assert b is not None
    shifted = (b, *(p + (p >= b) for p in permutation))
    return (transpose(x, shifted),), (0,)


def _transpose_axes(_: Any, *, permutation: tuple[int, ...]) -> tuple[int, ...]:
    return permutation


transpose_p: Final = Primitive(
    name="transpose",
    aval=_transpose_aval,
    reference=_transpose_reference,
    lower=_transpose_lower,
    fusion=INDEXING,
    makes_nan=False,
    jvp=_transpose_jvp,
    transpose=_transpose_transpose,
    batch=_transpose_batch,
    pad=carrying(_transpose_axes),
    samples=Samples(
        (*NUMBERS, "bool"),
        cases=(
            Case(((2, 3, 4),), {"permutation": (1, 2, 0)}),
            Case(((2, 3),), {"permutation": (1, 0)}),
            Case(((),), {"permutation": ()}),
            Case(((0, 3),), {"permutation": (1, 0)}),
        ),
    ),
)


def transpose(x: Any, permutation: tuple[int, ...]) -> Any:
    """Permute axes: axis i of the result is axis `permutation[i]` of `x`."""
    return transpose_p.bind1(x, permutation=permutation)

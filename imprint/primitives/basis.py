"""The primitives in which the rules of all others are written.

add, sub, neg, mul, broadcast_in_dim and reduce_sum are linear or bilinear, and their
transposes need each other, so they stand together. Beside them: how rules add and
make tangents. Elementwise primitives take operands of one shape and dtype; an operand
of rank 0 may stand beside shaped ones, as in JAX's jaxprs, which saves an equation for
every Python scalar.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np

from imprint import dtypes
from imprint.core.aval import DType, Shape, ShapedArray, get_aval
from imprint.core.primitive import Absent, Avals, Dims, Params, Primitive, Values
from imprint.core.samples import Case, Samples
from imprint.core.tangents import Linear, Zero, is_zero, tangent_aval, zero_of
from imprint.errors import DTypeError, ShapeError
from imprint.stablehlo import Builder, Value

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
        weak = typed.item()
        if dtypes.scalar_type_dtype(type(weak)) == aval.dtype:
            return weak
    return typed


def full(shape: Shape, value: Any, dtype: DType) -> Any:
    """Return an array of `shape` with all elements equal."""
    scalar = np.asarray(value, dtype)[()]
    return broadcast_in_dim(scalar, shape, ()) if shape else scalar


def instantiate(tangent: Any) -> Any:
    """Return a tangent as an array: zeros if it is symbolically `Zero`."""
    if not is_zero(tangent):
        return tangent
    return full(tangent.aval.shape, 0, tangent.aval.dtype)


def add_tangents(x: Any, y: Any) -> Any:
    """Add two tangents or cotangents, either of which may be `Zero`."""
    if is_zero(x):
        return y
    return x if is_zero(y) else add(x, y)


def broadcast_to(x: Any, shape: Shape) -> Any:
    """Repeat a rank-0 value to `shape`; a value of that shape stays as it is."""
    return x if get_aval(x).shape == shape else broadcast_in_dim(x, shape, ())


def unbroadcast(ct: Any, aval: ShapedArray) -> Any:
    """Sum a cotangent to the shape of an operand that was repeated."""
    if is_zero(ct):
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


# ---- elementwise: shared rules ----


def elementwise_aval(name: str, avals: Avals) -> ShapedArray:
    """Check that operands have one dtype and one shape (or rank 0); return their aval.

    The result is weakly typed if every operand is.
    """
    first = avals[0]
    shape: Shape = ()
    for aval in avals:
        if aval.dtype != first.dtype:
            raise DTypeError(
                f"{name}: expected operands of one dtype, got {_listed(avals)}. "
                f"Convert one of them, or call imprint.numpy, which promotes."
            )
        if aval.shape and shape and aval.shape != shape:
            raise ShapeError(
                f"{name}: expected operands of one shape or of rank 0, got "
                f"{_listed(avals)}. Reshape one of them, or call imprint.numpy, which "
                "broadcasts."
            )
        shape = shape or aval.shape
    return ShapedArray(shape, first.dtype, all(a.weak_type for a in avals))


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
        outs = primitive.bind(*args, **params)
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
    outs = primitive.bind(*aligned, **params)
    return outs, (0,) * len(outs)


def _align(x: Any, dim: int | None, shape: Shape) -> Any:
    """Bring the hidden axis to the front and repeat to `shape`."""
    rank = get_aval(x).ndim
    if dim is None:
        return broadcast_in_dim(x, shape, tuple(range(1, rank + 1)))
    moved = moveaxis(x, dim, 0)
    return moved if rank == len(shape) else broadcast_in_dim(moved, shape, (0,))


def repeated(b: Builder, values: Sequence[Value]) -> list[Value]:
    """Lower the repetition of rank-0 operands beside shaped ones."""
    shape = next((v.shape for v in values if v.shape), ())
    return [v if v.shape == shape else b.broadcast_in_dim(v, shape, ()) for v in values]


def _listed(avals: Avals) -> str:
    return " and ".join(map(str, avals))


# ---- neg ----


def _neg_aval(x: ShapedArray) -> Avals:
    if x.dtype.kind == "b":
        raise DTypeError(
            f"neg: expected a number, got {x}. Use imprint.numpy.logical_not."
        )
    return (x,)


neg_p = Primitive(
    name="neg",
    aval=_neg_aval,
    reference=lambda x: (np.negative(x),),
    lower=lambda b, x: (b.negate(x),),
    jvp=lambda xs, ts: ((neg(xs[0]),), (neg(ts[0]),)),
    transpose=lambda cts, _: (neg(cts[0]),),
    batch=lambda xs, dims: ((neg(xs[0]),), dims),
    samples=Samples(NUMBERS, arity=1, edges=(0.0, -0.0)),
)


def neg(x: Any) -> Any:
    """Return `-x`, elementwise."""
    return neg_p.bind1(x)


# ---- add, sub ----


def _numeric(name: str, *avals: ShapedArray) -> Avals:
    out = elementwise_aval(name, avals)
    if out.dtype.kind == "b":
        raise DTypeError(
            f"{name}: expected numbers, got {_listed(avals)}. "
            "Use imprint.numpy.logical_or, logical_and or logical_xor."
        )
    return (out,)


def _add_jvp(primals: Values, tangents: Values) -> Any:
    out = add(*primals)
    shape = get_aval(out).shape
    tx, ty = (_repeated_tangent(t, shape) for t in tangents)
    return (out,), (add_tangents(tx, ty),)


def _repeated_tangent(t: Any, shape: Shape) -> Any:
    return Zero(t.aval.with_shape(shape)) if is_zero(t) else broadcast_to(t, shape)


def _add_transpose(cts: Values, operands: Values) -> Values:
    (ct,) = cts
    return tuple(
        unbroadcast(ct, x.aval) if isinstance(x, Linear) else None for x in operands
    )


add_p = Primitive(
    name="add",
    aval=lambda x, y: _numeric("add", x, y),
    reference=lambda x, y: (np.add(x, y),),
    lower=lambda b, x, y: (b.add(*repeated(b, (x, y))),),
    jvp=_add_jvp,
    transpose=_add_transpose,
    batch=lambda xs, dims: elementwise_batch(add_p, xs, dims, {}),
    samples=Samples(NUMBERS, arity=2),
)


def add(x: Any, y: Any) -> Any:
    """Return `x + y`, elementwise."""
    return add_p.bind1(x, y)


def _sub_jvp(primals: Values, tangents: Values) -> Any:
    out = sub(*primals)
    shape = get_aval(out).shape
    tx, ty = (_repeated_tangent(t, shape) for t in tangents)
    if is_zero(ty):
        return (out,), (tx,)
    return (out,), (neg(ty) if is_zero(tx) else sub(tx, ty),)


def _sub_transpose(cts: Values, operands: Values) -> Values:
    (ct,), (x, y) = cts, operands
    return (
        unbroadcast(ct, x.aval) if isinstance(x, Linear) else None,
        unbroadcast(neg(ct), y.aval) if isinstance(y, Linear) else None,
    )


sub_p = Primitive(
    name="sub",
    aval=lambda x, y: _numeric("sub", x, y),
    reference=lambda x, y: (np.subtract(x, y),),
    lower=lambda b, x, y: (b.subtract(*repeated(b, (x, y))),),
    jvp=_sub_jvp,
    transpose=_sub_transpose,
    batch=lambda xs, dims: elementwise_batch(sub_p, xs, dims, {}),
    samples=Samples(NUMBERS, arity=2),
)


def sub(x: Any, y: Any) -> Any:
    """Return `x - y`, elementwise."""
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
    return (
        unbroadcast(mul(ct, y), x.aval) if isinstance(x, Linear) else None,
        unbroadcast(mul(x, ct), y.aval) if isinstance(y, Linear) else None,
    )


mul_p = Primitive(
    name="mul",
    aval=lambda x, y: _numeric("mul", x, y),
    reference=lambda x, y: (np.multiply(x, y),),
    lower=lambda b, x, y: (b.multiply(*repeated(b, (x, y))),),
    jvp=_mul_jvp,
    transpose=_mul_transpose,
    batch=lambda xs, dims: elementwise_batch(mul_p, xs, dims, {}),
    samples=Samples(NUMBERS, arity=2),
)


def mul(x: Any, y: Any) -> Any:
    """Return `x * y`, elementwise."""
    return mul_p.bind1(x, y)


# ---- broadcast_in_dim ----


def _broadcast_aval(
    x: ShapedArray, *, shape: Shape, broadcast_dimensions: tuple[int, ...]
) -> Avals:
    dims = broadcast_dimensions
    fits = (
        len(dims) == x.ndim
        and all(a < b for a, b in pairwise(dims))
        and all(0 <= d < len(shape) for d in dims)
        and all(n in (1, shape[d]) for n, d in zip(x.shape, dims, strict=True))
    )
    if not fits:
        raise ShapeError(
            "broadcast_in_dim: expected increasing broadcast_dimensions that map each "
            f"axis of {x} to an axis of the same length (or from length 1), got "
            f"shape={shape}, broadcast_dimensions={dims}. "
            "For NumPy's rule call imprint.numpy.broadcast_to."
        )
    return (x.with_shape(shape),)


def _broadcast_reference(
    x: Any, *, shape: Shape, broadcast_dimensions: tuple[int, ...]
) -> Any:
    expanded = [1] * len(shape)
    for n, d in zip(x.shape, broadcast_dimensions, strict=True):
        expanded[d] = n
    return (np.broadcast_to(np.reshape(x, expanded), shape),)


def _broadcast_transpose(
    cts: Values,
    operands: Values,
    *,
    shape: Shape,
    broadcast_dimensions: tuple[int, ...],
) -> Values:
    (ct,), (x,) = cts, operands
    dims = broadcast_dimensions
    added = tuple(i for i in range(len(shape)) if i not in dims)
    stretched = tuple(
        d for n, d in zip(x.aval.shape, dims, strict=True) if n == 1 and shape[d] != 1
    )
    summed = reduce_sum(ct, tuple(sorted(added + stretched)))
    if not stretched:
        return (summed,)
    kept = tuple(i for i, d in enumerate(dims) if d not in stretched)
    return (broadcast_in_dim(summed, x.aval.shape, kept),)


def _broadcast_batch(
    args: Values, at: Dims, *, shape: Shape, broadcast_dimensions: tuple[int, ...]
) -> Any:
    (x,), (b,) = args, at
    assert b is not None
    x = moveaxis(x, b, 0)
    size = get_aval(x).shape[0]
    dims = (0, *(d + 1 for d in broadcast_dimensions))
    return (broadcast_in_dim(x, (size, *shape), dims),), (0,)


broadcast_in_dim_p = Primitive(
    name="broadcast_in_dim",
    aval=_broadcast_aval,
    reference=_broadcast_reference,
    lower=lambda b, x, *, shape, broadcast_dimensions: (
        b.broadcast_in_dim(x, shape, broadcast_dimensions),
    ),
    jvp=lambda xs, ts, **params: (
        broadcast_in_dim_p.bind(*xs, **params),
        broadcast_in_dim_p.bind(*ts, **params),
    ),
    transpose=_broadcast_transpose,
    batch=_broadcast_batch,
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


def check_axes(name: str, x: ShapedArray, axes: tuple[int, ...]) -> None:
    """Raise ShapeError unless `axes` are distinct axes of `x`, counted from 0."""
    if any(not 0 <= a < x.ndim for a in axes) or len(set(axes)) != len(axes):
        raise ShapeError(
            f"{name}: expected distinct axes in [0, {x.ndim}) for operand {x}, "
            f"got axes={axes}. To count from the end, call imprint.numpy."
        )


def reduced(x: ShapedArray, axes: tuple[int, ...]) -> ShapedArray:
    """Return the aval of `x` without `axes`."""
    return x.with_shape(tuple(n for i, n in enumerate(x.shape) if i not in axes))


def reduction_batch(
    primitive: Primitive, args: Values, at: Dims, axes: tuple[int, ...], **params: Any
) -> Any:
    """Batch a reduction: the hidden axis pushes later axes up."""
    (x,), (b,) = args, at
    assert b is not None
    shifted = tuple(a + (a >= b) for a in axes)
    outs = primitive.bind(x, axes=shifted, **params)
    return outs, (b - sum(a < b for a in shifted),) * len(outs)


def _sum_aval(x: ShapedArray, *, axes: tuple[int, ...]) -> Avals:
    check_axes("reduce_sum", x, axes)
    if x.dtype.kind == "b":
        raise DTypeError(
            f"reduce_sum: expected numbers, got {x}. Convert it, or call "
            "imprint.numpy.sum, which counts."
        )
    return (reduced(x, axes),)


def _sum_reference(x: Any, *, axes: tuple[int, ...]) -> Any:
    wide = np.float32 if x.dtype.name in {"bfloat16", "float16"} else x.dtype
    return (np.sum(x, axis=axes, dtype=wide).astype(x.dtype),)


def _sum_transpose(cts: Values, operands: Values, *, axes: tuple[int, ...]) -> Values:
    (ct,), (x,) = cts, operands
    kept = tuple(i for i in range(x.aval.ndim) if i not in axes)
    return (broadcast_in_dim(ct, x.aval.shape, kept),)


def _sum_lower(b: Builder, x: Value, *, axes: tuple[int, ...]) -> tuple[Value, ...]:
    return (b.reduce(x, b.constant(0, x.dtype), "add", axes),)


REDUCTIONS: Final = (
    Case(((3, 4),), {"axes": (0,)}),
    Case(((3, 4, 2),), {"axes": (0, 2)}),
    Case(((5,),), {"axes": (0,)}),
    Case(((2, 3),), {"axes": (0, 1)}),
    Case(((2, 3),), {"axes": ()}),
)

reduce_sum_p = Primitive(
    name="reduce_sum",
    aval=_sum_aval,
    reference=_sum_reference,
    lower=_sum_lower,
    jvp=lambda xs, ts, *, axes: (
        (reduce_sum(xs[0], axes),),
        (reduce_sum(ts[0], axes),),
    ),
    transpose=_sum_transpose,
    batch=lambda xs, at, *, axes: reduction_batch(reduce_sum_p, xs, at, axes),
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


def inverse(permutation: tuple[int, ...]) -> tuple[int, ...]:
    """Return the permutation that undoes another."""
    return tuple(int(i) for i in np.argsort(permutation))


def _transpose_batch(args: Values, at: Dims, *, permutation: tuple[int, ...]) -> Any:
    (x,), (b,) = args, at
    assert b is not None
    shifted = (b, *(p + (p >= b) for p in permutation))
    return (transpose(x, shifted),), (0,)


transpose_p = Primitive(
    name="transpose",
    aval=_transpose_aval,
    reference=lambda x, *, permutation: (np.transpose(x, permutation),),
    lower=lambda b, x, *, permutation: (b.transpose(x, permutation),),
    jvp=lambda xs, ts, *, permutation: (
        (transpose(xs[0], permutation),),
        (transpose(ts[0], permutation),),
    ),
    transpose=lambda cts, _, *, permutation: (transpose(cts[0], inverse(permutation)),),
    batch=_transpose_batch,
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


NOT_LINEAR: Final = Absent("it is not linear in its operands, so it has no transpose")
"""The transpose of a primitive that differentiation replaces by its derivative."""


def not_differentiable(primitive: Primitive, primals: Values, **params: Any) -> Any:
    """Give the jvp of a primitive whose derivative is zero everywhere."""
    outs = primitive.bind(*primals, **params)
    return outs, tuple(Zero(tangent_aval(get_aval(x))) for x in outs)

"""The methods of ufuncs: reduce, accumulate, reduceat, at and outer.

A ufunc with a reduction, running reduction or scatter of its own uses that one. For any
other, one loop (`_in_order`) combines the elements in order, a row per step; bitwise
and logical functions combine halves, because their order does not matter. Results have
the dtype that the function gives for two ones.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Final

import numpy as np

from imprint._src import dtypes
from imprint._src.config import settings
from imprint._src.control_flow.scan import scan
from imprint._src.control_flow.trace_body import trace_body
from imprint._src.core import dims
from imprint._src.core.array import Array
from imprint._src.core.array_interop import shown
from imprint._src.core.aval import DType, get_aval
from imprint._src.core.functions import as_result, check_function, wraps
from imprint._src.core.shape_struct import ShapeDtypeStruct
from imprint._src.errors import ArgumentError, DTypeError, ShapeError
from imprint._src.interpreters.trace_to_jaxpr import is_staging
from imprint._src.jit.api import run_loop
from imprint._src.jit.make_jaxpr import eval_shape
from imprint._src.numpy.elementwise.arithmetic import (
    add,
    maximum,
    minimum,
    multiply,
    subtract,
)
from imprint._src.numpy.elementwise.bitwise import bitwise_and, bitwise_or, bitwise_xor
from imprint._src.numpy.elementwise.comparison import (
    logical_and,
    logical_or,
    logical_xor,
)
from imprint._src.numpy.elementwise.exponential import exp, log, logaddexp, logaddexp2
from imprint._src.numpy.elementwise.rounding import real
from imprint._src.numpy.elementwise.selection import as_bool
from imprint._src.numpy.elementwise.selection import where as choose
from imprint._src.numpy.elementwise.ufunc import refuse_options, ufunc
from imprint._src.numpy.indexing.advanced import is_array, read_index
from imprint._src.numpy.indexing.take import take
from imprint._src.numpy.indexing.updating import At
from imprint._src.numpy.promotion import (
    as_array,
    broadcast,
    convert,
    inexact,
    refuse_out,
)
from imprint._src.numpy.ranges import arange
from imprint._src.numpy.reductions.cumulative import cumprod, cumsum
from imprint._src.numpy.reductions.reductions import (
    MAX,
    MIN,
    PROD,
    SUM,
    Over,
    Reduction,
    add_up,
    axes_of,
)
from imprint._src.numpy.reductions.reductions import reduce as reduce_by
from imprint._src.numpy.shapes.concatenate import concatenate
from imprint._src.numpy.shapes.reshape import (
    broadcast_to,
    expand_dims,
    moveaxis,
    ravel,
    reshape,
)
from imprint._src.numpy.vectorize import vectorize
from imprint._src.primitives.axes import canonical_axis
from imprint._src.primitives.barrier import stop_gradient
from imprint._src.primitives.core_ops import full, scalar_like
from imprint._src.primitives.cumulative import cumlogsumexp, cummax, cummin
from imprint._src.primitives.elementwise.bitwise import and_, or_, xor
from imprint._src.primitives.elementwise.rounding import is_finite
from imprint._src.primitives.reductions import reduce_and, reduce_or, reduce_xor
from imprint._src.primitives.shape import squeeze
from imprint._src.tree import internal as tree

Given = dict[str, Any]


def elementwise(func: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Return the function of arrays that maps a function of numbers."""
    check_function(func, "ufunc")
    mapped = vectorize(func)

    @wraps(func)
    def call(*args: Any, out: None = None, where: None = None) -> Any:
        refuse_options(name, out, where)
        return mapped(*(as_array(name, x) for x in args))

    return call


# ---- the methods ----


def reduce(f: ufunc[..., Any], a: Any, out: None, given: Given) -> Array:
    """Return `f.reduce(a, **given)`."""
    name = _check_binary(f, "reduce")
    refuse_out(name, out)
    where = given["where"]
    if where is not None:
        where = as_array(name, where)
        if f.identity is None and given["initial"] is None:
            raise ArgumentError(
                f"{name}: expected initial beside where, got only where. No element may "
                f"be left, and {f.__name__} has no identity: pass initial=."
            )
        if not dtypes.is_bool(where.dtype):
            raise DTypeError(
                f"{name}: expected booleans for where, got {where.aval}. Compare it "
                "first: where=x != 0."
            )
    if "reduce" in f.own_methods:
        return f.own_methods["reduce"](a, **given)
    over = Over(given["axis"], given["keepdims"], given["initial"], where)
    special = _REDUCTIONS.get(f)
    if special is not None:
        return special(name, as_array(name, a), over, given["dtype"])
    return _reduced_in_order(f, as_array(name, a), over, given["dtype"])


def accumulate(f: ufunc[..., Any], a: Any, out: None, given: Given) -> Array:
    """Return `f.accumulate(a, **given)`."""
    name = _check_binary(f, "accumulate")
    refuse_out(name, out)
    if "accumulate" in f.own_methods:
        return f.own_methods["accumulate"](a, **given)
    x, axis = as_array(name, a), given["axis"]
    if f in _SUMMING and axis is None:
        x, axis = ravel(x), 0
    at = canonical_axis(name, _one_axis(name, axis), x.ndim)
    if f in _SUMMING:
        return _SUMMING[f](x, at, given["dtype"])
    dtype = _dtype_of(f, name, x.dtype, given["dtype"])
    special = _ACCUMULATIONS.get(f)
    if special is not None and not (
        dtypes.is_bool(x.dtype) or dtypes.is_complex(dtype)
    ):
        return special(x, at, dtype)
    x = convert(name, x, dtype)
    if dims.has_zero(x.shape):
        return x
    rows = moveaxis(x, at, 0)
    if f in _JOINING:
        return moveaxis(_joined_by_halves(f, name, rows), 0, at)

    def step(before: Any, row: Any) -> Any:
        after = convert(name, f(before, row), dtype)
        return after, after

    _, after = _in_order(name, step, rows[0], rows[1:])
    return moveaxis(concatenate([rows[:1], after]), 0, at)


def reduceat(
    f: ufunc[..., Any], a: Any, indices: Any, out: None, given: Given
) -> Array:
    """Return `f.reduceat(a, indices, **given)`."""
    name = _check_binary(f, "reduceat")
    refuse_out(name, out)
    if "reduceat" in f.own_methods:
        return f.own_methods["reduceat"](a, indices, **given)
    x, starts = as_array(name, a), as_array(name, indices)
    at = canonical_axis(name, _one_axis(name, given["axis"]), x.ndim)
    if starts.ndim != 1 or not dtypes.is_integer(starts.dtype):
        raise ShapeError(
            f"{name}: expected a vector of integers for indices, got {starts.aval}. Give "
            "the index where each part begins."
        )
    if given["dtype"] is not None:
        x = x.astype(dtypes.requested(given["dtype"], name))
    own = _dtype_of(f, name, x.dtype, None)
    x = convert(name, x, dtypes.promote(((x.dtype, False), (own, False)))[0])
    rows = moveaxis(x, at, 0)
    length = dims.concrete(rows.shape[0], name)
    ends = concatenate([starts[1:], full((1,), length, starts.dtype)])
    shape = (-1, *(1,) * (x.ndim - 1))
    first, last = reshape(starts, shape), reshape(ends, shape)

    def step(parts: Any, place: Any) -> Any:
        i, row = place
        joined = f(parts, broadcast(row, parts.shape))
        inside = bitwise_and(i > first, i < last)
        return choose(inside, convert(name, joined, parts.dtype), parts), ()

    places = arange(length, dtype=starts.dtype)
    parts, _ = _in_order(name, step, take(rows, starts, 0), (places, rows))
    return moveaxis(parts, 0, at)


def at(f: ufunc[..., Any], a: Any, indices: Any, *b: Any, inplace: bool) -> Array:
    """Return `f.at(a, indices, *b, inplace=False)`."""
    name = f"{f.__name__}.at"
    if inplace:
        raise NotImplementedError(
            f"{name}: expected inplace=False, got True. Arrays are immutable: write "
            f"a = {name}(a, {'indices, b' if b else 'indices'}, inplace=False)."
        )
    if "at" in f.own_methods:
        return f.own_methods["at"](a, indices, *b)
    x = as_array(name, a)
    values = [as_array(name, y) for y in b]
    if isinstance(indices, list):
        raise ArgumentError(
            f"{name}: expected an index, got {shown(indices)}. Make it an array "
            "with imprint.numpy.asarray, or a tuple, one entry for each axis."
        )
    scatter = _SCATTERS.get(f)
    if scatter is not None and values:
        return scatter(x, indices, *values)
    avals = [x, *values]
    dtype = _result_dtype(f, name, [y.dtype for y in avals])
    x, *values = [convert(name, y, dtype) for y in avals]
    if f in _EXTREMES and values:
        return getattr(At(x)[indices], _EXTREMES[f])(*values)
    return _applied_in_order(f, name, x, indices, values)


def outer(f: ufunc[..., Any], a: Any, b: Any) -> Array:
    """Return `f.outer(a, b)`."""
    name = _check_binary(f, "outer")
    x, y = as_array(name, a), as_array(name, b)
    before, after = tuple(range(x.ndim)), tuple(range(x.ndim, x.ndim + y.ndim))
    if not y.ndim:
        return f(x, y)
    return f(expand_dims(x, after), expand_dims(y, before))


def _check_binary(f: ufunc[..., Any], method: str) -> str:
    """Return the method's name; raise unless a function has two operands, one result."""
    name = f"{f.__name__}.{method}"
    if (f.nin, f.nout) != (2, 1):
        raise ArgumentError(
            f"{name}: expected a function of two operands and one result, got nin="
            f"{f.nin}, nout={f.nout}. Call {f.__name__} itself."
        )
    return name


def _one_axis(name: str, axis: Any) -> Any:
    if axis is None or isinstance(axis, list | tuple):
        raise ArgumentError(
            f"{name}: expected one axis, got {axis!r}. Flatten the array with "
            "imprint.numpy.ravel, or reduce along one axis after the other."
        )
    return axis


def _dtype_of(f: ufunc[..., Any], name: str, own: DType, dtype: Any) -> DType:
    """Return the requested dtype, or that of the function's result for two numbers."""
    if dtype is not None:
        return dtypes.requested(dtype, name)
    return _result_dtype(f, name, [own, own])


def _result_dtype(f: ufunc[..., Any], name: str, given: list[DType]) -> DType:
    described = [ShapeDtypeStruct((), dtype) for dtype in given]
    result = eval_shape(f, *described)
    if not hasattr(result, "dtype"):
        raise ArgumentError(
            f"{name}: expected {f.__name__} to return one number, got "
            f"{type(result).__name__}. Return an array or a number."
        )
    return result.dtype


# ---- in order ----


def _reduced_in_order(f: ufunc[..., Any], x: Array, over: Over, dtype: Any) -> Array:
    name = f"{f.__name__}.reduce"
    dtype = _dtype_of(f, name, x.dtype, dtype)
    initial = f.identity if over.initial is None else over.initial
    mask = None if over.where is None else broadcast_to(over.where, x.shape)
    if isinstance(over.axis, list | tuple):
        raise NotImplementedError(
            f"{name}: expected one axis, got {over.axis}: what {f.__name__} gives depends "
            "on the order of elements. Reduce along one axis after the other."
        )
    kept = [1] * x.ndim
    if over.axis is None:
        x, mask, at = ravel(x), None if mask is None else ravel(mask), 0
    else:
        at = canonical_axis(name, over.axis, x.ndim)
        kept = [1 if i == at else n for i, n in enumerate(x.shape)]
    rows = convert(name, moveaxis(x, at, 0), dtype)
    chosen = () if mask is None else (moveaxis(mask, at, 0),)
    if initial is None and dims.has_zero(rows.shape[:1]):
        raise ShapeError(
            f"{name}: expected at least one element along axis {at}, got {x.aval}. "
            f"{f.__name__} has no identity: pass initial=."
        )

    def step(value: Any, given: Any) -> Any:
        row, *takes_part = given
        joined = convert(name, f(value, row), dtype)
        return choose(takes_part[0], joined, value) if takes_part else joined, ()

    if initial is None:
        start, rows = rows[0], rows[1:]
    else:
        start = broadcast(convert(name, initial, dtype), rows.shape[1:])
    result = start
    if not dims.has_zero(rows.shape[:1]):
        result, _ = _in_order(name, step, start, (rows, *chosen))
    return reshape(result, kept) if over.keepdims else result


def _applied_in_order(
    f: ufunc[..., Any], name: str, x: Array, indices: Any, values: list[Array]
) -> Array:
    """Apply a function at an index, once for each entry of its arrays."""
    read = read_index(x.aval, indices)
    x = read.widened(x)
    entries = tuple(read.entries)
    places = [i for i, e in enumerate(entries) if is_array(e)]
    part = At(x)[entries].get()
    values = [broadcast_to(y, part.shape) for y in values]
    if not any(entries[i].ndim for i in places):
        x = At(x)[entries].set(convert(name, f(part, *values), x.dtype))
        return squeeze(x, read.added) if read.added else x
    shape = np.broadcast_shapes(*(entries[i].shape for i in places))
    lead = _slices_before(entries) if read.are_together else 0
    axes = range(lead, lead + len(shape))
    listed = [
        reshape(moveaxis(y, axes, range(len(shape))), (-1, *_without(part.shape, axes)))
        for y in values
    ]
    along = [ravel(broadcast_to(entries[i], shape)) for i in places]

    def step(array: Any, given: Any) -> Any:
        index = list(entries)
        for i, place in zip(places, given[: len(places)], strict=True):
            index[i] = place
        there = At(array)[tuple(index)]
        new = f(there.get(), *given[len(places) :])
        return there.set(convert(name, new, array.dtype)), ()

    x, _ = _in_order(name, step, x, (*along, *listed))
    return squeeze(x, read.added) if read.added else x


def _slices_before(entries: Any) -> int:
    """Return the number of axes of a part before those of its index arrays."""
    is_index = [e is not None and not isinstance(e, slice) for e in entries]
    return is_index.index(True)


def _without(shape: Any, axes: range) -> tuple[Any, ...]:
    return tuple(n for i, n in enumerate(shape) if i not in axes)


def _in_order(name: str, step: Callable[[Any, Any], Any], start: Any, xs: Any) -> Any:
    """Scan over first axes: `value, y = step(value, rows)`; stack each `y`."""
    if not is_staging() and not settings().disable_jit:
        return run_loop(partial(_in_order, name, step), start, xs)
    leaves, treedef = tree.flatten(xs)
    avals = [get_aval(x) for x in leaves]
    slices = [aval.with_shape(aval.shape[1:]) for aval in avals]
    pair = tree.treedef_tuple((tree.structure(start), treedef))
    closed = trace_body(step, pair, [get_aval(start), *slices], name)
    length = dims.concrete(avals[0].shape[0], name)
    loop: Given = {"length": length, "reverse": False, "unroll": 1}
    outs = scan(closed.jaxpr, closed.captured, [start], leaves, **loop)
    return closed.out_tree.unflatten([as_result(x) for x in outs])


def _joined_by_halves(f: ufunc[..., Any], name: str, rows: Array) -> Array:
    """Reduce each prefix of rows, where the order does not matter."""
    count, done = dims.concrete(rows.shape[0], name), 1
    while done < count:
        rows = concatenate([rows[:done], f(rows[:-done], rows[done:])])
        done *= 2
    return rows


# ---- methods of single ufuncs ----


def _by(kind: Reduction) -> Any:
    """Return the reduction of a function that has one, in the requested dtype."""

    def method(name: str, x: Array, over: Over, dtype: Any) -> Array:
        wanted = x.dtype if dtype is None else dtypes.requested(dtype, name)
        return reduce_by(replace(kind, name=name), convert(name, x, wanted), over)

    return method


def _of_bits(kind: Reduction, identity: Callable[[DType], Any] | None = None) -> Any:
    def method(name: str, x: Array, over: Over, dtype: Any) -> Array:
        if not (dtypes.is_integer(x.dtype) or dtypes.is_bool(x.dtype)):
            raise DTypeError(
                f"{name}: expected integers or booleans, got {x.aval}. Convert it with "
                ".astype(int)."
            )
        wanted = x.dtype if dtype is None else dtypes.requested(dtype, name)
        one = kind if identity is None else replace(kind, identity=identity(wanted))
        return _by(one)(name, x, over, wanted)

    return method


def _all_bits(dtype: DType) -> Any:
    """Return the integer of a dtype with all bits set."""
    return -1 if dtypes.is_signed(dtype) else (1 << dtypes.bit_width(dtype)) - 1


def _add_up(kind: Reduction) -> Any:
    def method(name: str, x: Array, over: Over, dtype: Any) -> Array:
        return add_up(replace(kind, name=name), x, dtype, over)

    return method


def _truth(method: Any) -> Any:
    """Return a reduction of whether each number is nonzero."""

    def of_numbers(name: str, x: Array, over: Over, dtype: Any) -> Array:
        return method(name, as_bool(name, x), over, dtype)

    return of_numbers


def _log_of_sum(base: float) -> Any:
    """Return the reduction `log(sum(exp(x)))` to a base, without overflow."""
    scale = float(np.log(base))
    pair = logaddexp if base == np.e else logaddexp2

    def method(name: str, x: Array, over: Over, dtype: Any) -> Array:
        x = inexact(
            name, x if dtype is None else x.astype(dtypes.requested(dtype, name))
        )
        x = x if base == np.e else multiply(x, scale)
        whole = Over(over.axis, keepdims=True, where=over.where)
        lowest = Over(over.axis, keepdims=True, initial=-np.inf, where=over.where)
        top = reduce_by(replace(MAX, name=name), real(x), lowest)
        top = stop_gradient(choose(is_finite(top), top, scalar_like(top, 0)))
        total = add_up(replace(SUM, name=name), exp(subtract(x, top)), None, whole)
        result = add(log(total), top)
        result = result if base == np.e else result / scale
        if not over.keepdims:
            result = squeeze(result, axes_of(name, over.axis, x.ndim))
        return result if over.initial is None else pair(over.initial, result)

    return method


def _running(run: Callable[..., Array]) -> Any:
    def method(x: Array, axis: int, dtype: DType) -> Array:
        return run(x.astype(dtype), axis)

    return method


def _running_log(base: float) -> Any:
    """Return the running reduction `log(sum(exp(x)))`, in logarithms to a base."""
    scale = float(np.log(base))

    def method(x: Array, axis: int, dtype: DType) -> Array:
        x = x.astype(dtype)
        if base == np.e:
            return cumlogsumexp(x, axis)
        return cumlogsumexp(multiply(x, scale), axis) / scale

    return method


def _scatter(method: str) -> Any:
    """Return the scatter of a sum or product; booleans are computed as integers."""

    def at(x: Array, indices: Any, values: Array) -> Array:
        if not dtypes.is_bool(x.dtype):
            return getattr(At(x)[indices], method)(values)
        counts = as_bool(method, values).astype(dtypes.int32)
        counted = getattr(At(x.astype(dtypes.int32))[indices], method)(counts)
        return counted.astype(dtypes.bool_)

    return at


_AND: Final = Reduction("and", reduce_and, and_, 1)
_OR: Final = Reduction("or", reduce_or, or_, 0)
_XOR: Final = Reduction("xor", reduce_xor, xor, 0)
_REDUCTIONS: Final[dict[Any, Any]] = {
    add: _add_up(SUM),
    multiply: _add_up(PROD),
    maximum: _by(MAX),
    minimum: _by(MIN),
    bitwise_and: _of_bits(_AND, _all_bits),
    bitwise_or: _of_bits(_OR),
    bitwise_xor: _of_bits(_XOR),
    logical_and: _truth(_by(_AND)),
    logical_or: _truth(_by(_OR)),
    logical_xor: _truth(_by(_XOR)),
    logaddexp: _log_of_sum(np.e),
    logaddexp2: _log_of_sum(2.0),
}
_ACCUMULATIONS: Final[dict[Any, Any]] = {
    maximum: _running(cummax),
    minimum: _running(cummin),
    logaddexp: _running_log(np.e),
    logaddexp2: _running_log(2.0),
}
_SUMMING: Final[dict[Any, Any]] = {add: cumsum, multiply: cumprod}
_JOINING: Final = frozenset(
    (bitwise_and, bitwise_or, bitwise_xor, logical_and, logical_or, logical_xor)
)
_SCATTERS: Final[dict[Any, Any]] = {
    add: _scatter("add"),
    multiply: _scatter("multiply"),
    subtract: _scatter("subtract"),
}
_EXTREMES: Final[dict[Any, str]] = {maximum: "max", minimum: "min"}

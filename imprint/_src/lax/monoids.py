"""Reductions by any associative function: `reduce` and `reduce_window`.

The function takes two numbers, or two trees of them. It is traced once and combines
whole arrays as a batch, neighbours first, so n elements take log2(n) applications in
sequence. Derivatives and batching are those of its operations. `init_value` must be its
identity. Functions of this package with a reduction primitive (`add`, `max`) use it. A
window of w elements is composed of windows of 1, 2, 4, … elements, axis by axis from
the last, so the order of elements is kept; sums and extremes of windows are primitives.
"""

from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any, Final, NamedTuple

import numpy as np

from imprint._src.control_flow.trace_body import (
    Returned,
    first_mismatch,
    own_leaves,
    trace_body,
)
from imprint._src.core import dims
from imprint._src.core.aval import DType, ShapedArray, get_aval
from imprint._src.core.functions import as_result, check_function, name_of
from imprint._src.core.jaxpr import eval_jaxpr
from imprint._src.core.primitive import Primitive
from imprint._src.core.trace import Tracer
from imprint._src.diagnostics.traceback_filter import filter_traceback
from imprint._src.dtypes import is_bool, is_complex
from imprint._src.eager.spread import spread
from imprint._src.errors import ArgumentError, DTypeError, ShapeError
from imprint._src.interpreters.batching import batch_jaxpr
from imprint._src.lax import elementwise
from imprint._src.primitives.axes import canonical_axes
from imprint._src.primitives.core_ops import broadcast_in_dim, reduce_sum, transpose
from imprint._src.primitives.elementwise.bitwise import or_p
from imprint._src.primitives.elementwise.comparison import gt, lt, ne
from imprint._src.primitives.elementwise.convert import convert_element_type
from imprint._src.primitives.elementwise.select import select_n
from imprint._src.primitives.indexing.slicing import concatenate, pad, slice_in_dim
from imprint._src.primitives.reductions import (
    extreme,
    reduce_and,
    reduce_max,
    reduce_min,
    reduce_or,
    reduce_prod,
    reduce_xor,
)
from imprint._src.primitives.shape import reshape
from imprint._src.primitives.windows.window_reductions import ReduceWindow as Steps
from imprint._src.primitives.windows.window_reductions import (
    reduce_window_max_p,
    reduce_window_min_p,
    reduce_window_sum_p,
)
from imprint._src.primitives.windows.windows import pads_of
from imprint._src.tree import internal as tree

Arrays = list[Any]
Join = Callable[[Arrays, Arrays], Arrays]


@filter_traceback
def reduce(
    operands: Any,
    init_values: Any,
    computation: Callable[[Any, Any], Any],
    dimensions: Sequence[int],
    out_sharding: Any = None,
) -> Any:
    """Reduce some axes by an associative function.

    Args:
        operands: an array, or a tree of arrays of one shape to be reduced together.
        init_values: the identity of `computation`: a number, or a tree of numbers.
        computation: a function of two elements, each like `init_values`, to one.
        dimensions: the axes to reduce.
        out_sharding: how the result is spread, as in `imprint.lax.with_sharding_constraint`.

    Returns:
        An array, or a tree of arrays, without the axes `dimensions` and of the same
        dtypes.

    Raises:
        ArgumentError: `operands` and `init_values` are different trees, or
            `computation` returns other types than it takes.
        ShapeError: the operands differ in shape, or an identity is not of rank 0.
        DTypeError: an identity has another dtype than its operand.

    References:
        StableHLO, `reduce`.

    Example:
        >>> from imprint import lax, numpy as np
        >>> lax.reduce(np.arange(6.0), 0.0, lambda x, y: x + y + x * y, [0]) + 1
        Array(720., dtype=float32)
    """
    if out_sharding is not None:
        return spread(
            reduce(operands, init_values, computation, dimensions), out_sharding
        )
    monoid = _monoid("reduce", operands, init_values, computation)
    ndim = monoid.avals[0].ndim
    axes = canonical_axes("reduce", dimensions, ndim)
    reducer = _known(_REDUCERS, computation, len(monoid.avals))
    if reducer is not None:
        outs = [reducer(monoid.operands[0], axes)]
    else:
        kept = [i for i in range(ndim) if i not in axes]
        shape = tuple(monoid.avals[0].shape[i] for i in kept)
        order = (*axes, *kept)
        lengths = dims.product(monoid.avals[0].shape[i] for i in axes)
        count = dims.concrete(lengths, "reduce")
        rows = [reshape(transpose(x, order), (count, *shape)) for x in monoid.operands]
        outs = _folded(monoid, rows, count)
    return monoid.result(outs)


@filter_traceback
def reduce_window(  # noqa: PLR0913, PLR0917 - JAX's signature
    operand: Any,
    init_value: Any,
    computation: Callable[[Any, Any], Any],
    window_dimensions: Sequence[int],
    window_strides: Sequence[int] | None = None,
    padding: str | Sequence[tuple[int, int]] = "VALID",
    base_dilation: Sequence[int] | None = None,
    window_dilation: Sequence[int] | None = None,
) -> Any:
    """Reduce the elements of each window that slides over an array.

    Args:
        operand: an array, or a tree of arrays of one shape to be reduced together.
        init_value: the identity of `computation`: a number, or a tree of numbers.
        computation: a function of two elements, each like `init_value`, to one.
        window_dimensions: the length of the window along each axis.
        window_strides: the steps between windows; 1 by default.
        padding: "VALID", "SAME", "SAME_LOWER", or the numbers of identities before and
            after each axis.
        base_dilation: the distance between neighbours, with identities between; 1 by
            default.
        window_dilation: the distance between elements of a window; 1 by default.

    Returns:
        An array, or a tree of arrays, with an element for each position of the window
        and of the same dtypes.

    Raises:
        ArgumentError: `operand` and `init_value` are different trees, or `computation`
            returns other types than it takes.
        ShapeError: the operands differ in shape, or an identity is not of rank 0.
        DTypeError: an identity has another dtype than its operand.

    References:
        StableHLO, `reduce_window`.

    Example:
        >>> from imprint import lax, numpy as np
        >>> lax.reduce_window(np.arange(5.0), -np.inf, lax.max, (3,))
        Array([2., 3., 4.], dtype=float32)
    """
    monoid = _monoid("reduce_window", operand, init_value, computation)
    shape = monoid.avals[0].shape
    window = _Window(
        _each("window_dimensions", window_dimensions, shape),
        _each("window_strides", window_strides, shape),
        _each("base_dilation", base_dilation, shape),
        _each("window_dilation", window_dilation, shape),
    )
    pads = window.pads(shape, padding)
    reducer = _known(_WINDOWED, computation, len(monoid.avals))
    if reducer is not None and _suits(reducer, monoid.avals[0].dtype, window):
        steps = Steps(
            window.lengths, window.strides, pads, window.base, window.dilation
        )
        out = reducer.bind1(monoid.operands[0], **steps._asdict())
        if _begins_with_identity(reducer, init_value, monoid.avals[0].dtype):
            return out
        return monoid.result([out])
    for n in shape:
        dims.concrete(n, f"reduce_window by {name_of(computation)}")
    config = [(*p, d - 1) for p, d in zip(pads, window.base, strict=True)]
    outs = [
        pad(x, init, config)
        for x, init in zip(monoid.operands, monoid.inits, strict=True)
    ]
    for axis in reversed(range(len(shape))):
        outs = window.along(monoid.join, outs, axis)
    return monoid.result(outs)


# ---- the associative function ----


class _Monoid(NamedTuple):
    """An associative function of lists of arrays, and its operands."""

    join: Join
    operands: Arrays
    inits: Arrays
    avals: list[ShapedArray]
    treedef: tree.TreeDef

    def result(self, outs: Arrays) -> Any:
        """Combine the identities with the reduced arrays, and return a tree."""
        shape = get_aval(outs[0]).shape
        first = [broadcast_in_dim(x, shape, ()) for x in self.inits]
        joined = self.join(first, outs)
        return self.treedef.unflatten(list(map(as_result, joined)))


def _monoid(
    caller: str, operands: Any, inits: Any, computation: Callable[[Any, Any], Any]
) -> _Monoid:
    check_function(computation, caller)
    arrays, treedef, names = own_leaves(operands, caller, "operand")
    values, init_tree, _ = own_leaves(inits, caller, "init_value")
    if not treedef.agrees(init_tree) or not arrays:
        raise ArgumentError(
            f"{caller}: expected an init_value for each operand, got {init_tree} for "
            f"{treedef}. Pass trees of the same structure."
        )
    avals = [get_aval(x) for x in arrays]
    checked = [
        _init(caller, init, aval, name)
        for init, aval, name in zip(values, avals, names, strict=True)
    ]
    if not all(dims.equal_shapes(aval.shape, avals[0].shape) for aval in avals):
        listed = ", ".join(map(str, avals))
        raise ShapeError(
            f"{caller}: expected operands of one shape, got {listed}. Broadcast them."
        )
    join = _known(_JOINS, computation, len(arrays))
    if join is None:
        join = _closed(caller, computation, checked, treedef)
    return _Monoid(join, arrays, checked, avals, treedef)


def _init(caller: str, init: Any, aval: ShapedArray, name: str) -> Any:
    """Return an identity, with the dtype of its operand."""
    own = get_aval(init)
    if own.ndim:
        raise ShapeError(
            f"{caller}: expected an init_value of rank 0 for {name}, got {own}. Pass the "
            "identity of the computation, one number."
        )
    if own.dtype != aval.dtype and not own.weak_type:
        raise DTypeError(
            f"{caller}: expected an init_value of dtype {aval.dtype} for {name}, got "
            f"{own}. Cast it: `.astype({aval.dtype.name!r})`."
        )
    weak = own.weak_type and aval.weak_type
    return convert_element_type(as_result(init), aval.dtype, weak_type=weak)


def _closed(
    caller: str,
    computation: Callable[[Any, Any], Any],
    inits: Arrays,
    treedef: tree.TreeDef,
) -> Join:
    """Trace a function of two elements; return how it combines arrays."""
    in_avals = [get_aval(x).strong() for x in inits]
    pair = tree.structure((treedef.unflatten(inits), treedef.unflatten(inits)))
    body = trace_body(computation, pair, in_avals * 2, caller, ())
    expected = Returned(treedef, in_avals)
    came = Returned(body.out_tree, body.jaxpr.out_avals)
    found = first_mismatch(expected, came)
    if found is not None:
        where = f" at result{found.where}" if found.where else ""
        cast = f" Cast it: `.astype({in_avals[0].dtype.name!r})`." * bool(found.dtype)
        raise ArgumentError(
            f"{caller}: expected {name_of(computation)} to return one element as it "
            f"takes two, {expected}, got {came}, which has {found.got}{where}.{cast}"
        )
    free = (None,) * len(body.captured)
    count = len(inits)

    def join(xs: Arrays, ys: Arrays) -> Arrays:
        shape = get_aval(xs[0]).shape
        size = dims.product(shape)
        flat = [reshape(x, (size,)) for x in (*xs, *ys)]
        axes = (*free, *(0 for _ in flat))
        batched, _ = batch_jaxpr(body.jaxpr, size, axes, out_dims=(0,) * count)
        outs = eval_jaxpr(batched.jaxpr, (), *body.captured, *flat)
        return [
            convert_element_type(reshape(x, shape), aval.dtype)
            for x, aval in zip(outs, in_avals, strict=True)
        ]

    return join


def _folded(monoid: _Monoid, xs: Arrays, n: int) -> Arrays:
    """Combine the rows of arrays, neighbours first."""
    if n == 0:
        shape = get_aval(xs[0]).shape[1:]
        return [broadcast_in_dim(init, shape, ()) for init in monoid.inits]
    while n > 1:
        even = n - n % 2
        firsts = [slice_in_dim(x, 0, even, 2) for x in xs]
        seconds = [slice_in_dim(x, 1, even, 2) for x in xs]
        joined = monoid.join(firsts, seconds)
        if n % 2:  # the last one has no neighbour
            lasts = [slice_in_dim(x, even, n) for x in xs]
            pairs = zip(joined, lasts, strict=True)
            joined = [concatenate(pair, 0) for pair in pairs]
        xs, n = joined, n // 2 + n % 2
    return [reshape(x, get_aval(x).shape[1:]) for x in xs]


# ---- windows ----


class _Window(NamedTuple):
    """A window: its lengths, strides and dilations along each axis."""

    lengths: tuple[int, ...]
    strides: tuple[int, ...]
    base: tuple[int, ...]
    dilation: tuple[int, ...]

    def pads(
        self, shape: tuple[Any, ...], padding: str | Sequence[tuple[int, int]]
    ) -> tuple[tuple[int, int], ...]:
        """Return the padding before and after each axis."""
        if not isinstance(padding, str):
            given = tuple([(int(low), int(high)) for low, high in padding])
            if len(given) != len(shape):
                raise ShapeError(
                    f"reduce_window: expected a pair of padding for each of {len(shape)} "
                    f"axes, got {padding}. Give (low, high) an axis."
                )
            return given
        pairs = zip(self.lengths, self.dilation, strict=True)
        extents = [dims.dilated(k, d) for k, d in pairs]
        return pads_of("reduce_window", padding, shape, extents, self.strides)

    def along(self, join: Join, xs: Arrays, axis: int) -> Arrays:
        """Reduce the elements of each window along one axis."""
        length, step = self.lengths[axis], self.dilation[axis]
        size = max(get_aval(xs[0]).shape[axis] - (length - 1) * step, 0)

        def part(arrays: Arrays, start: int, count: int) -> Arrays:
            return [
                slice_in_dim(x, start, start + count, axis=axis) if count else x
                for x in arrays
            ]

        if size == 0:
            return [slice_in_dim(x, 0, 0, axis=axis) for x in xs]
        found: Arrays | None = None
        covered, block = 0, 1  # `xs` has the reductions of `block` elements
        while True:
            if length & block:
                more = part(xs, covered * step, size)
                found = more if found is None else join(found, more)
                covered += block
            if block * 2 > length:
                break
            count = get_aval(xs[0]).shape[axis] - block * step
            xs = join(part(xs, 0, count), part(xs, block * step, count))
            block *= 2
        assert found is not None
        return [slice_in_dim(x, 0, size, self.strides[axis], axis) for x in found]


def _each(
    name: str, given: Sequence[int] | None, shape: tuple[Any, ...]
) -> tuple[int, ...]:
    """Return a positive int for each axis; ones by default."""
    if given is None:
        return (1,) * len(shape)
    values = tuple(int(n) for n in given)
    if len(values) != len(shape) or any(n < 1 for n in values):
        raise ShapeError(
            f"reduce_window: expected {name} of {len(shape)} positive ints, one for each "
            f"axis, got {tuple(given)}."
        )
    return values


# ---- functions with a primitive ----


def _known(table: dict[Any, Any], computation: Any, operands: int) -> Any:
    """Return the entry of a table for a function; None if there is none."""
    return table.get(computation) if operands == 1 and _is_plain(computation) else None


def _is_plain(computation: Any) -> bool:
    return isinstance(computation, FunctionType)  # others may not be hashable


def _elementwise(function: Callable[[Any, Any], Any]) -> Join:
    return lambda xs, ys: [function(xs[0], ys[0])]


def _first_extreme(
    function: Callable[[Any, Any], Any], is_better: Callable[[Any, Any], Any]
) -> Join:
    """Return the reduction by `max` or `min` that selects the first of equal elements.

    So it gets the whole gradient, as in JAX; `max` itself would share it.
    """

    def join(xs: Arrays, ys: Arrays) -> Arrays:
        (x,), (y,) = xs, ys
        if is_complex(get_aval(x).dtype):
            return [function(x, y)]
        is_later = or_p.bind1(is_better(y, x), ne(y, y))
        return [select_n(is_later, x, y)]

    return join


_JOINS: Final[dict[Any, Join]] = {
    **{
        function: _elementwise(function)
        for function in (
            elementwise.add,
            elementwise.mul,
            elementwise.bitwise_and,
            elementwise.bitwise_or,
            elementwise.bitwise_xor,
        )
    },
    elementwise.max: _first_extreme(elementwise.max, gt),
    elementwise.min: _first_extreme(elementwise.min, lt),
}
_REDUCERS: Final[dict[Any, Callable[[Any, tuple[int, ...]], Any]]] = {
    elementwise.add: reduce_sum,
    elementwise.mul: reduce_prod,
    elementwise.max: reduce_max,
    elementwise.min: reduce_min,
    elementwise.bitwise_and: reduce_and,
    elementwise.bitwise_or: reduce_or,
    elementwise.bitwise_xor: reduce_xor,
}
_WINDOWED: Final[dict[Any, Primitive]] = {
    elementwise.add: reduce_window_sum_p,
    elementwise.max: reduce_window_max_p,
    elementwise.min: reduce_window_min_p,
}


def _suits(reducer: Primitive, dtype: DType, window: _Window) -> bool:
    """Return whether a primitive takes the dtype, and has the window's derivatives."""
    if reducer is reduce_window_sum_p:
        return not is_bool(dtype)
    return not is_complex(dtype) and all(n == 1 for n in window.dilation)


def _begins_with_identity(reducer: Primitive, init: Any, dtype: DType) -> bool:
    """Return whether the initial value is concrete and the identity."""
    if isinstance(init, Tracer):
        return False
    if reducer is reduce_window_sum_p:
        return bool(np.asarray(init) == 0)
    worst = extreme(dtype, largest=reducer is reduce_window_min_p)
    return bool(np.asarray(init) == worst)

"""Reductions of windows: sums and extremes, and the primitives of their derivatives.

reduce_window_sum is linear. The derivative of reduce_window_max (min) is that of the element
that each window selects: select_and_gather_add takes its tangent, and
select_and_scatter_add, the transpose, adds to its cotangent. `select_prim`, `ge_p` or `le_p`,
selects one of two; of equal ones the first. Padding never wins over an element, and never has
a tangent. Each axis is reduced separately, the last one first.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import inf
from typing import Any, Final, NamedTuple

import numpy as np

from imprint._src.core import dims
from imprint._src.core.aval import DType, Shape, ShapedArray, get_aval
from imprint._src.core.fusion import UNFUSED
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
from imprint._src.errors import ShapeError
from imprint._src.primitives.axes import insert
from imprint._src.primitives.core_ops import (
    FLOATS,
    INTS,
    NOT_LINEAR,
    NUMBERS,
    broadcast_in_dim,
    moveaxis,
    scalar_like,
)
from imprint._src.primitives.elementwise.comparison import ge_p, le_p, maximum, minimum
from imprint._src.primitives.families import FLOATING, NUMBER, ORDERED, DTypeClass, wide
from imprint._src.primitives.indexing.slicing import pad, slice_
from imprint._src.primitives.reductions import extreme
from imprint._src.primitives.shape import moving
from imprint._src.primitives.windows.windows import (
    Pads,
    Steps,
    back_pads,
    filling_windows,
    out_space,
    placed,
)
from imprint._src.stablehlo import Builder, Value, tensor, windows
from imprint._src.stablehlo.windows import WindowAttributes

NDArray = np.ndarray[Any, Any]
Ints = tuple[int, ...]


class ReduceWindow(NamedTuple):
    """The params: lengths and strides, padding, and dilations."""

    window_dimensions: Ints
    window_strides: Ints
    padding: Pads
    base_dilation: Ints
    window_dilation: Ints

    @property
    def steps(self) -> Steps:
        """All but the lengths."""
        return (
            self.window_strides,
            self.padding,
            self.base_dilation,
            self.window_dilation,
        )

    def widened(self, at: int) -> "ReduceWindow":
        """Return the window with one more axis, along which it is one element."""
        one = (1, 1, (0, 0), 1, 1)
        return ReduceWindow(*[insert(p, at, n) for p, n in zip(self, one, strict=True)])


# ---- shared rules ----


def _out_shape(name: str, x: ShapedArray, window: ReduceWindow) -> Shape:
    lengths = window.window_dimensions, window.window_strides, *window[3:]
    fits = all(len(p) == x.ndim for p in window) and all(
        n > 0 for p in lengths for n in p
    )
    if not fits:
        raise ShapeError(
            f"{name}: expected positive window_dimensions, window_strides, base_dilation "
            f"and window_dilation and pairs of padding, one for each of {x.ndim} axes of "
            f"{x}, got {tuple(window)}. Write 1, and (0, 0), for axes without windows."
        )
    shape = out_space(x.shape, window.window_dimensions, window.steps)
    if shape is None:
        raise ShapeError(
            f"{name}: expected negative padding to cut no more than there is, got "
            f"padding={window.padding} for {x}. Cut less."
        )
    return shape


@lru_cache(maxsize=512)
def _counts(lengths: Shape, window: ReduceWindow) -> Shape:
    """Return how many windows a NumPy array has."""
    shape = out_space(lengths, window.window_dimensions, window.steps)
    assert shape is not None
    return shape


_placed = lru_cache(maxsize=512)(placed)


def _spread(x: NDArray, fill: Any, window: ReduceWindow) -> NDArray:
    """Put an array among the fill values of its padding and dilation."""
    room, place, source = _placed(x.shape, window.padding, window.base_dilation)
    if room is None:
        return x
    out = np.full(room, fill, x.dtype)
    out[tuple(place)] = x[tuple(source)]
    return out


def _reference_fold(
    arrays: Sequence[NDArray],
    window: ReduceWindow,
    shape: Shape,
    join: Callable[[Any, Any], Any],
) -> Sequence[NDArray]:
    """Join the elements of each window, of several arrays together."""
    for axis in reversed(range(len(shape))):
        length, stride = window.window_dimensions[axis], window.window_strides[axis]
        if length == stride == 1 and arrays[0].shape[axis] == shape[axis]:
            continue
        reach = (shape[axis] - 1) * stride + 1 if shape[axis] else 0
        before = (slice(None),) * axis
        parts = [
            [x[(*before, slice(at, at + reach, stride))] for x in arrays]
            for at in range(0, length * window.window_dilation[axis], window[4][axis])
        ]
        arrays = parts[0]
        for part in parts[1:]:
            arrays = join(arrays, part)
    return arrays


def _lower_reduction(
    b: Builder,
    xs: Sequence[Value],
    inits: Sequence[Any],
    window: ReduceWindow,
    body: Callable[[Builder, Any], Sequence[Value]],
) -> tuple[Value, ...]:
    shape = out_space(xs[0].shape, window.window_dimensions, window.steps)
    assert shape is not None
    if 0 in (*shape, *xs[0].shape):  # no engine has windows of nothing
        return tuple(
            b.full(shape, init, x.dtype) for x, init in zip(xs, inits, strict=True)
        )
    values = [b.constant(init, x.dtype) for x, init in zip(xs, inits, strict=True)]
    scalars = [tensor((), x.dtype) for x in xs]
    text, _ = b.region([*scalars, *scalars], body)
    return windows.reduce_window(b, xs, values, WindowAttributes(*window), shape, text)


# ---- reduce_window_sum ----


def _aval_of(name: str, dtypes: DTypeClass) -> Callable[..., Avals]:
    def aval(x: ShapedArray, **params: Any) -> Avals:
        dtypes.check(name, (x,))
        return (x.with_shape(_out_shape(name, x, ReduceWindow(**params))),)

    return aval


def _batch_of(x: Any, b: int, **params: Any) -> Any:
    wider = ReduceWindow(**params).widened(b)
    return reduce_window_sum_p.bind1(x, **wider._asdict()), b


@wide
def _sum_reference(x: NDArray, **params: Any) -> NDArray:
    window = ReduceWindow(**params)
    shape = _counts(x.shape, window)
    (out,) = _reference_fold(
        [_spread(x, 0, window)], window, shape, lambda a, c: [np.add(a[0], c[0])]
    )
    return out + x.dtype.type(0) if x.ndim else out  # -0.0 is added to 0.0


def _sum_lower(b: Builder, x: Value, **params: Any) -> Value:
    window = ReduceWindow(**params)
    return _lower_reduction(b, [x], [0], window, lambda r, xs: [r.add(*xs)])[0]


def _sum_transpose(ct: Any, x: ShapedArray, **params: Any) -> Any:
    """Sum the cotangents of each element's windows: windows spaced by the stride."""
    window = ReduceWindow(**params)
    aval = get_aval(ct)
    pads = back_pads(x.shape, window.window_dimensions, aval.shape, window.steps)
    config = [(*p, n - 1) for p, n in zip(pads, window.window_strides, strict=True)]
    ones, none = (1,) * x.ndim, ((0, 0),) * x.ndim
    back = ReduceWindow(
        window[0], window.base_dilation, none, ones, window.window_dilation
    )
    padded = pad(ct, scalar_like(ct, 0), config)
    return reduce_window_sum_p.bind1(padded, **back._asdict())


def _params(
    lengths: Ints,
    strides: Ints | None = None,
    padding: Pads | None = None,
    base: Ints | None = None,
    dilation: Ints | None = None,
) -> dict[str, Any]:
    ones = (1,) * len(lengths)
    none = ((0, 0),) * len(lengths)
    window = ReduceWindow(
        lengths, strides or ones, padding or none, base or ones, dilation or ones
    )
    return window._asdict()


_WINDOWS: Final = (
    ((5,), _params((2,))),
    ((2, 4, 5), _params((1, 2, 3), (1, 2, 1), ((0, 0), (1, 0), (1, 1)))),
    ((6,), _params((3,), (2,), ((-1, 2),), (2,))),
    ((0, 3), _params((1, 2))),
    ((2,), _params((3,))),
    ((), _params(())),
)
_CASES: Final = (*(Case((shape,), params) for shape, params in _WINDOWS),)
_DILATED_PARAMS: Final = _params((3,), (2,), ((2, 1),), (1,), (2,))


def _zero(_dtype: DType, _params: Params) -> Any:
    return 0


reduce_window_sum_p: Final = moving(
    "reduce_window_sum",
    aval=_aval_of("reduce_window_sum", NUMBER),
    reference=_sum_reference,
    lower=_sum_lower,
    fusion=UNFUSED,
    makes_nan=True,
    transpose=_sum_transpose,
    batch=_batch_of,
    pad=filling_windows(_zero),
    samples=Samples(NUMBERS, cases=(*_CASES, Case(((7,),), _DILATED_PARAMS)), ulps=16),
)

# ---- reduce_window_max, reduce_window_min ----


def _extremum(name: str, *, largest: bool) -> Primitive:
    """Declare the reduction by max or min."""
    join: Any = maximum if largest else minimum
    select = ge_p if largest else le_p

    def reference(x: NDArray, **params: Any) -> Values:
        window = ReduceWindow(**params)
        shape = _counts(x.shape, window)
        spread = _spread(x, extreme(x.dtype, largest=not largest), window)
        return tuple(
            _reference_fold([spread], window, shape, lambda a, c: [join(a[0], c[0])])
        )

    def lower(b: Builder, x: Value, **params: Any) -> tuple[Value, ...]:
        init = extreme(x.dtype, largest=not largest)

        def body(r: Builder, xs: Any) -> list[Value]:
            return [r.maximum(*xs) if largest else r.minimum(*xs)]

        return _lower_reduction(b, [x], [init], ReduceWindow(**params), body)

    def jvp(primals: Values, tangents: Values, **params: Any) -> Any:
        (x,), (t,) = primals, tangents
        out = primitive.bind1(x, **params)
        if is_zero(t):
            return (out,), (Zero(tangent_aval(get_aval(out))),)
        return (out,), (select_and_gather_add(t, x, select, ReduceWindow(**params)),)

    def batch(args: Values, at: Dims, **params: Any) -> Any:
        (x,), (b,) = args, at
        assert b is not None
        return primitive.bind_all(x, **ReduceWindow(**params).widened(b)._asdict()), at

    primitive = Primitive(
        name=name,
        aval=_aval_of(name, ORDERED),
        reference=reference,
        lower=lower,
        fusion=UNFUSED,
        makes_nan=False,
        jvp=jvp,
        transpose=NOT_LINEAR,
        batch=batch,
        pad=filling_windows(lambda dtype, _: extreme(dtype, largest=not largest)),
        samples=Samples(
            (*INTS, *FLOATS, "bool"),
            cases=(*_CASES, Case(((7,),), _DILATED_PARAMS, ("int32",))),
        ),
    )
    return primitive


reduce_window_max_p: Final = _extremum("reduce_window_max", largest=True)
reduce_window_min_p: Final = _extremum("reduce_window_min", largest=False)


# ---- select_and_gather_add ----


def _first(select: Primitive) -> Callable[[Any, Any], Any]:
    """Return the join that keeps the values of the selected element."""
    better: Any = np.greater_equal if select is ge_p else np.less_equal

    def join(xs: Sequence[NDArray], ys: Sequence[NDArray]) -> Sequence[NDArray]:
        keeps = better(xs[0], ys[0])
        return [np.where(keeps, x, y) for x, y in zip(xs, ys, strict=True)]

    return join


def _worst(select: Primitive, dtype: DType) -> Any:
    return np.asarray(-inf if select is ge_p else inf, dtype)[()]


def _worst_of(dtype: DType, params: Params) -> Any:
    return _worst(params["select_prim"], dtype)


def _gather_aval(
    t: ShapedArray, x: ShapedArray, *, select_prim: Primitive, **params: Any
) -> Avals:
    FLOATING.check("select_and_gather_add", (t, x))
    if t.dtype != x.dtype or not dims.equal_shapes(t.shape, x.shape):
        raise ShapeError(
            "select_and_gather_add: expected tangents like the operand, got "
            f"{t} for {x}. Convert or broadcast them."
        )
    shape = _out_shape("select_and_gather_add", x, ReduceWindow(**params))
    return (ShapedArray(shape, x.dtype, t.weak_type and x.weak_type),)


def _gather_reference(
    t: NDArray, x: NDArray, *, select_prim: Primitive, **params: Any
) -> Values:
    window = ReduceWindow(**params)
    shape = _counts(x.shape, window)
    arrays = [_spread(x, _worst(select_prim, x.dtype), window), _spread(t, 0, window)]
    found, out = _reference_fold(arrays, window, shape, _first(select_prim))
    is_worst = found == _worst(select_prim, x.dtype)  # a window begins with that
    return (np.where(is_worst, out.dtype.type(0), out),)


def _gather_lower(
    b: Builder, t: Value, x: Value, *, select_prim: Primitive, **params: Any
) -> tuple[Value, ...]:
    def body(r: Builder, xs: Any) -> list[Value]:
        best, tangent, value, other = xs
        keeps = r.compare(best, value, "GE" if select_prim is ge_p else "LE")
        return [r.select(keeps, best, value), r.select(keeps, tangent, other)]

    inits = [_worst(select_prim, x.dtype), 0]
    return _lower_reduction(b, [x, t], inits, ReduceWindow(**params), body)[1:]


def _gather_transpose(
    cts: Values, operands: Values, *, select_prim: Primitive, **params: Any
) -> Values:
    (ct,), (t, x) = cts, operands
    assert isinstance(t, UndefinedPrimal)
    window = ReduceWindow(**params)
    if any(n != 1 for n in window.window_dilation):
        _DILATED()
    base, dilated = window.base_dilation, any(n != 1 for n in window.base_dilation)
    aval = get_aval(x)
    if dilated:
        worst = scalar_like(x, _worst(select_prim, aval.dtype))
        x = pad(x, worst, [(0, 0, n - 1) for n in base])
    found = select_and_scatter_add(ct, x, select_prim, window)
    if dilated:
        shape = get_aval(found).shape
        found = slice_(found, (0,) * len(shape), shape, base)
    return found, None


_DILATED: Final = Absent(
    "select_and_gather_add: expected no window_dilation in what is differentiated in "
    "reverse. Call imprint.lax.reduce_window, which has that derivative"
)


def _pair_jvp(primals: Values, tangents: Values, **params: Any) -> Any:
    """Differentiate: it is linear in its first operand, and selects by the other."""
    primitive = (
        select_and_gather_add_p
        if "base_dilation" in params
        else select_and_scatter_add_p
    )
    out = primitive.bind1(*primals, **params)
    t = tangents[0]
    if is_zero(t):
        return (out,), (zero_of(get_aval(out)),)
    return (out,), (primitive.bind1(t, primals[1], **params),)


def _fronted(args: Values, at: Dims) -> list[Any]:
    """Bring the hidden axis of both to the front, also of one that has none."""
    size = next(
        get_aval(x).shape[d] for x, d in zip(args, at, strict=True) if d is not None
    )
    found: list[Any] = []
    for x, d in zip(args, at, strict=True):
        shape = get_aval(x).shape
        axes = tuple(range(1, len(shape) + 1))
        repeated = d is None
        found.append(
            broadcast_in_dim(x, (size, *shape), axes) if repeated else moveaxis(x, d, 0)
        )
    return found


def _gather_batch(
    args: Values, at: Dims, *, select_prim: Primitive, **params: Any
) -> Any:
    t, x = _fronted(args, at)
    window = ReduceWindow(**params).widened(0)
    return (select_and_gather_add(t, x, select_prim, window),), (0,)


select_and_gather_add_p: Final = Primitive(
    name="select_and_gather_add",
    aval=_gather_aval,
    reference=_gather_reference,
    lower=_gather_lower,
    fusion=UNFUSED,
    makes_nan=True,
    jvp=_pair_jvp,
    transpose=_gather_transpose,
    batch=_gather_batch,
    pad=filling_windows(_zero, _worst_of),
    samples=Samples(
        FLOATS,
        cases=tuple(
            Case((shape, shape), params | {"select_prim": select})
            for select in (ge_p, le_p)
            for shape, params in _WINDOWS
        ),
        finite=True,
    ),
)


def select_and_gather_add(
    t: Any, x: Any, select: Primitive, window: ReduceWindow
) -> Any:
    """Return the tangent of the element that each window selects."""
    return select_and_gather_add_p.bind1(t, x, select_prim=select, **window._asdict())


# ---- select_and_scatter_add ----


def _scattered(
    window_dimensions: Ints, window_strides: Ints, padding: Pads
) -> ReduceWindow:
    ones = (1,) * len(window_dimensions)
    return ReduceWindow(window_dimensions, window_strides, padding, ones, ones)


def _scatter_aval(
    source: ShapedArray, x: ShapedArray, *, select_prim: Primitive, **params: Any
) -> Avals:
    FLOATING.check("select_and_scatter_add", (source, x))
    shape = _out_shape("select_and_scatter_add", x, _scattered(**params))
    if source.dtype != x.dtype or not dims.equal_shapes(source.shape, shape):
        raise ShapeError(
            "select_and_scatter_add: expected a source of the operand's dtype with an "
            f"element for each window, {x.dtype}{list(shape)}, got {source} for {x}."
        )
    return (ShapedArray(x.shape, x.dtype, source.weak_type and x.weak_type),)


def _scatter_reference(
    source: NDArray, x: NDArray, *, select_prim: Primitive, **params: Any
) -> Values:
    window = _scattered(**params)
    padded = _spread(x, _worst(select_prim, x.dtype), window)
    where = np.reshape(np.arange(padded.size), padded.shape)
    _, chosen = _reference_fold(
        [padded, where], window, source.shape, _first(select_prim)
    )
    total: NDArray = np.zeros(
        padded.size, np.float32 if source.dtype.itemsize == 2 else x.dtype
    )
    np.add.at(total, np.ravel(chosen), np.ravel(source).astype(total.dtype))
    cut = tuple(
        slice(max(low, 0), max(low + n, 0))
        for n, (low, _) in zip(x.shape, window.padding, strict=True)
    )
    found = total.reshape(padded.shape)[cut]
    out = np.zeros(x.shape, total.dtype)
    kept = tuple(
        slice(max(-low, 0), max(-low, 0) + m)
        for m, (low, _) in zip(found.shape, window.padding, strict=True)
    )
    out[kept] = found
    return (out.astype(x.dtype),)


def _scatter_lower(
    b: Builder, source: Value, x: Value, *, select_prim: Primitive, **params: Any
) -> tuple[Value, ...]:
    window = _scattered(**params)
    if 0 in (*source.shape, *x.shape):
        return (b.full(x.shape, 0, x.dtype),)
    # XLA:CPU crashes on padding of its own.
    worst = b.constant(_worst(select_prim, x.dtype))
    low, high = zip(*window.padding, strict=True) if x.ndim else ((), ())
    none = (0,) * x.ndim
    padded = b.pad(x, worst, low, high, none)
    zero = b.constant(0, x.dtype)
    direction = "GE" if select_prim is ge_p else "LE"
    scalars = [tensor((), x.dtype)] * 2
    select, _ = b.region(scalars, lambda r, xs: [r.compare(xs[0], xs[1], direction)])
    add, _ = b.region(scalars, lambda r, xs: [r.add(*xs)])
    config = WindowAttributes(*window._replace(padding=((0, 0),) * x.ndim))
    out = windows.select_and_scatter(
        b, padded, source, zero, config, f"{select}, {add}"
    )
    back = [-n for n in low], [-n for n in high]
    return (b.pad(out, zero, *back, none),)


def _scatter_transpose(
    cts: Values, operands: Values, *, select_prim: Primitive, **params: Any
) -> Values:
    (ct,), (source, x) = cts, operands
    assert isinstance(source, UndefinedPrimal)
    return select_and_gather_add(ct, x, select_prim, _scattered(**params)), None


def _scatter_batch(
    args: Values, at: Dims, *, select_prim: Primitive, **params: Any
) -> Any:
    source, x = _fronted(args, at)
    window = _scattered(**params).widened(0)
    return (select_and_scatter_add(source, x, select_prim, window),), (0,)


def _scatter_case(
    shape: Shape, source: Shape, params: dict[str, Any], select: Primitive
) -> Case:
    keys = "window_dimensions", "window_strides", "padding"
    kept = {key: params[key] for key in keys}
    return Case((source, shape), kept | {"select_prim": select})


select_and_scatter_add_p: Final = Primitive(
    name="select_and_scatter_add",
    aval=_scatter_aval,
    reference=_scatter_reference,
    lower=_scatter_lower,
    fusion=UNFUSED,
    makes_nan=True,
    jvp=_pair_jvp,
    transpose=_scatter_transpose,
    batch=_scatter_batch,
    pad=filling_windows(_zero, _worst_of),
    samples=Samples(
        FLOATS,
        cases=(
            _scatter_case((5,), (4,), _params((2,)), ge_p),
            _scatter_case(
                (2, 4, 5),
                (2, 2, 5),
                _params((1, 2, 3), (1, 2, 1), ((0, 0), (1, 0), (1, 1))),
                le_p,
            ),
            _scatter_case((6,), (3,), _params((3,), (2,), ((0, 2),)), ge_p),
            _scatter_case((0, 3), (0, 2), _params((1, 2)), ge_p),
            _scatter_case((2,), (0,), _params((3,)), le_p),
        ),
        finite=True,
        ulps=16,
    ),
)


def select_and_scatter_add(
    source: Any, x: Any, select: Primitive, window: ReduceWindow
) -> Any:
    """Add each element of a source to zeros, at the element that its window selects."""
    return select_and_scatter_add_p.bind1(
        source,
        x,
        select_prim=select,
        window_dimensions=window.window_dimensions,
        window_strides=window.window_strides,
        padding=window.padding,
    )

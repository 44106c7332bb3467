"""gather and scatter_add: windows of an array, read or added to at indices that are data.

`windows.gather_dims` defines the dimension numbers, and which windows are moved or dropped.
The two are each other's transposes; `scattering` declares all scatters, and the others are
in `scatter`. A gather moves every window inside; if the mode is to fill, the results of
windows outside are replaced. A scatter applies the updates in the order of their indices.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, cast

import numpy as np

from imprint._src import dtypes as dt
from imprint._src.core import dims
from imprint._src.core.array_interop import shown
from imprint._src.core.aval import DType, Shape, ShapedArray, get_aval
from imprint._src.core.dims import Dim
from imprint._src.core.fusion import UNFUSED
from imprint._src.core.primitive import Avals, Case, Dims, Primitive, Samples, Values
from imprint._src.core.tangents import UndefinedPrimal, is_zero, zero_of
from imprint._src.errors import ArgumentError, DTypeError, ShapeError
from imprint._src.primitives.core_ops import NUMBERS, full, instantiate, moveaxis
from imprint._src.primitives.indexing.dynamic_slicing import batch_size, in_front
from imprint._src.primitives.native_calls import has_kernel
from imprint._src.primitives.shape import EVERY
from imprint._src.primitives.windows.gather_dims import (
    GatherDimensionNumbers,
    GatherScatterMode,
    ScatterDimensionNumbers,
    as_numbers,
    batched_numbers,
    check_numbers,
    lower_indices,
    lower_limits,
    lower_zeros,
    mode_of,
    rows,
    sizes_of,
)
from imprint._src.primitives.windows.gather_reference import (
    Put,
    put_windows,
    read_windows,
)
from imprint._src.primitives.windows.windows_padded import gather_pad, padding_updates
from imprint._src.stablehlo import Builder, Value, indexed
from imprint._src.stablehlo.custom_calls import native_call

NDArray = np.ndarray[Any, Any]
Ints = tuple[int, ...]
Join = Callable[[Builder, Value, Value], Value]

_FILL: Final = GatherScatterMode.FILL_OR_DROP
_CLIP: Final = GatherScatterMode.CLIP
_PROMISE: Final = GatherScatterMode.PROMISE_IN_BOUNDS

# ---- gather ----


def _gather_aval(
    x: ShapedArray,
    indices: ShapedArray,
    *,
    dimension_numbers: GatherDimensionNumbers,
    slice_sizes: Shape,
    **_params: Any,
) -> Avals:
    numbers = dimension_numbers
    check_numbers("gather", x, indices, numbers)
    _, absent, _, batch, _ = numbers
    fits = len(slice_sizes) == x.ndim and (
        dims.has_zero(indices.shape)
        or all(
            dims.at_least(size, 0) and dims.at_least(n, size)
            for size, n in zip(slice_sizes, x.shape, strict=True)
        )
    )
    thin = fits and all(dims.equal(slice_sizes[i], 1) for i in absent)
    if not (thin and all(dims.at_least(1, slice_sizes[i]) for i in batch)):
        raise ShapeError(
            f"gather: expected slice_sizes of at most {x.shape}, the shape of {x}, 1 at "
            f"the axes {absent}, which collapse, and at most 1 at {batch}, which are "
            f"walked, got {slice_sizes}. A window cannot be larger than the array."
        )
    return (x.with_shape(_gathered(indices.shape, slice_sizes, numbers)),)


def _gathered(indices: Shape, sizes: Shape, numbers: GatherDimensionNumbers) -> Shape:
    window, absent, _, batch, _ = numbers
    spans = iter([n for i, n in enumerate(sizes) if i not in absent and i not in batch])
    along = iter(indices)
    rank = len(indices) - 1 + len(window)
    return tuple([next(spans) if i in window else next(along) for i in range(rank)])


def _gather_reference(
    x: NDArray,
    indices: NDArray,
    *,
    dimension_numbers: GatherDimensionNumbers,
    slice_sizes: Shape,
    mode: GatherScatterMode,
    fill_value: Any,
    **_params: Any,
) -> Values:
    shape = _gathered(indices.shape, slice_sizes, dimension_numbers)
    if 0 in shape:
        return (np.zeros(shape, x.dtype),)
    out, within = read_windows(x, indices, slice_sizes, dimension_numbers)
    if mode is _FILL and not within.all():
        axes = rows(dimension_numbers, len(shape))
        seen = [n if i in axes else 1 for i, n in enumerate(shape)]
        out = np.where(within.reshape(seen), out, np.asarray(fill_value, x.dtype))
    return (out,)


def _gather_lower(
    b: Builder,
    x: Value,
    indices: Value,
    *,
    dimension_numbers: GatherDimensionNumbers,
    slice_sizes: Shape,
    **params: Any,
) -> tuple[Value, ...]:
    numbers, is_sorted = dimension_numbers, params["indices_are_sorted"]
    shape = _gathered(indices.shape, slice_sizes, numbers)
    if 0 in shape:
        return (b.full(shape, 0, x.dtype),)
    indices = lower_indices(b, indices)
    out = indexed.gather(
        b, (x, indices), numbers, slice_sizes, shape, is_sorted=is_sorted
    )
    if params["mode"] is not _FILL or not numbers.start_index_map:
        return (out,)
    limits = lower_limits(b, x.shape, indices, slice_sizes, numbers.start_index_map)
    within = b.compare(indices, limits, "LE")
    if not dt.is_unsigned(indices.dtype):
        low = b.compare(indices, lower_zeros(b, indices), "GE")
        within = b.and_(low, within)
    true = b.constant(1, np.dtype(bool))
    within = b.reduce(within, true, "and", (indices.ndim - 1,))
    seen = b.broadcast_in_dim(within, shape, rows(numbers, len(shape)))
    return (b.select(seen, out, b.full(shape, params["fill_value"], x.dtype)),)


def _gather_jvp(
    primals: Values, tangents: Values, *, fill_value: Any, **params: Any
) -> Any:
    (x, indices), (t, _) = primals, tangents
    out = gather_p.bind_all(x, indices, fill_value=fill_value, **params)
    if is_zero(t):
        return out, (zero_of(get_aval(out[0])),)
    zero = None if fill_value is None else 0
    return out, gather_p.bind_all(t, indices, fill_value=zero, **params)


def _gather_transpose(
    cts: Values,
    operands: Values,
    *,
    dimension_numbers: GatherDimensionNumbers,
    slice_sizes: Shape,
    fill_value: Any,
    **params: Any,
) -> Values:
    (ct,), (x, indices) = cts, operands
    numbers = ScatterDimensionNumbers(*dimension_numbers)
    zeros = full(x.aval.shape, 0, x.aval.dtype)
    added = scatter_add_p.bind1(zeros, indices, ct, dimension_numbers=numbers, **params)
    return added, None


def _gather_batch(
    args: Values,
    at: Dims,
    *,
    dimension_numbers: GatherDimensionNumbers,
    slice_sizes: Shape,
    indices_are_sorted: bool,
    unique_indices: bool,
    **params: Any,
) -> Any:
    (x, indices), (b, indices_b) = args, at
    if b is not None:
        x = moveaxis(x, b, 0)
        size = get_aval(x).shape[0]
        # A window has all of the hidden axis; walked with the indices it has one of it.
        size = size if indices_b is None or dims.is_same(size, 0) else 1
        slice_sizes = (size, *slice_sizes)
    else:  # an index of one example may be that of another
        indices_are_sorted = unique_indices = False
    if indices_b is not None:
        indices = moveaxis(indices, indices_b, 0)
    out = gather_p.bind_all(
        x,
        indices,
        dimension_numbers=batched_numbers(dimension_numbers, at),
        slice_sizes=slice_sizes,
        indices_are_sorted=indices_are_sorted,
        unique_indices=unique_indices,
        **params,
    )
    return out, (0,)


def _gathering(
    numbers: tuple[Ints, ...],
    sizes: Shape,
    mode: GatherScatterMode = _CLIP,
    fill: Any = None,
) -> dict[str, Any]:
    return {
        "dimension_numbers": GatherDimensionNumbers(*numbers),
        "slice_sizes": sizes,
        "indices_are_sorted": False,
        "unique_indices": False,
        "mode": mode,
        "fill_value": fill,
    }


_ROWS: Final = ((1,), (0,), (0,))
_POINTS: Final = ((), (0, 1), (1, 0))
_WINDOWS: Final = ((0, 2), (1,), (1, 2))
_WALKED: Final = ((1,), (1,), (1,), (0,), (1,))

gather_p: Final = Primitive(
    name="gather",
    aval=_gather_aval,
    reference=_gather_reference,
    lower=_gather_lower,
    fusion=UNFUSED,
    makes_nan=True,
    jvp=_gather_jvp,
    transpose=_gather_transpose,
    batch=_gather_batch,
    pad=gather_pad,
    samples=Samples(
        EVERY,
        cases=(
            Case(((4, 3), (5, 1)), _gathering(_ROWS, (1, 3)), (None, "int32")),
            Case(
                ((4, 3), (2, 2)),
                _gathering(_POINTS, (1, 1), _FILL, 3),
                (None, "int32"),
            ),
            Case(
                ((2, 4, 5), (3, 2)),
                _gathering(_WINDOWS, (2, 1, 3), _FILL, 1),
                (None, "int8"),
            ),
            Case(
                ((2, 3, 4), (2, 2, 1)),
                _gathering(_WALKED, (1, 1, 4), _FILL, 0),
                (None, "uint32"),
            ),
            Case(
                ((2, 3), (4, 1)),
                _gathering(((0,), (1,), (1,)), (2, 1), _PROMISE),
                ("int32", "int64"),
            ),
            Case(
                ((3, 2), (2, 0)), _gathering(((0, 2), (), ()), (2, 2)), (None, "int32")
            ),
            Case(((0, 2), (0, 1)), _gathering(_ROWS, (1, 2)), (None, "int64")),
        ),
    ),
)


def gather(  # noqa: PLR0913 - JAX's signature
    operand: Any,
    start_indices: Any,
    dimension_numbers: GatherDimensionNumbers,
    slice_sizes: Sequence[Dim],
    *,
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
    mode: str | GatherScatterMode | None = None,
    fill_value: Any = None,
) -> Any:
    """Read windows of `operand` at places that may be traced.

    To index as NumPy does, write `operand[i]`, or `operand.at[i].get(mode=…)`.

    Args:
        operand: an array.
        start_indices: integers; along the last axis, where a window begins.
        dimension_numbers: which axes belong together.
        slice_sizes: the size of a window along each axis of the operand.
        unique_indices: the promise that no two windows overlap; it speeds the derivative.
        indices_are_sorted: the promise that the index vectors are sorted.
        mode: for a window outside of the operand: the nearest one inside, for "clip" and
            None; `fill_value`, for "fill".
        fill_value: a number; if None, NaN, for signed integers the least, for unsigned
            ones the greatest, for booleans True.

    Returns:
        An array of the dtype of `operand`: the axes of `start_indices` but the last,
        and those of the windows at `offset_dims`.

    References:
        StableHLO, `gather`.

    Example:
        >>> from imprint import lax, numpy as np
        >>> numbers = lax.GatherDimensionNumbers((1,), (0,), (0,))
        >>> x = np.arange(6).reshape(3, 2)
        >>> lax.gather(x, np.array([[2], [0]]), numbers, (1, 2))
        Array([[4, 5],
               [0, 1]], dtype=int32)
    """
    chosen = _PROMISE if mode is None else mode_of("gather", mode)
    fill = _fill_of(get_aval(operand).dtype, fill_value) if chosen is _FILL else None
    return gather_p.bind1(
        operand,
        start_indices,
        dimension_numbers=as_numbers(GatherDimensionNumbers, dimension_numbers),
        slice_sizes=dims.as_shape(slice_sizes),
        unique_indices=bool(unique_indices),
        indices_are_sorted=bool(indices_are_sorted),
        mode=chosen,
        fill_value=fill,
    )


def _fill_of(dtype: DType, value: Any) -> Any:
    """Return a fill value as a Python number, one that equals itself."""
    if value is None:
        if dt.is_inexact(dtype):
            return np.nan
        if dt.is_bool(dtype):
            return True
        info: Any = cast("Any", dt).iinfo(dtype)
        return int(info.max if dt.is_unsigned(dtype) else info.min)
    if np.ndim(value):
        raise ArgumentError(
            f"gather: expected fill_value to be one number, got {shown(value)}. Choose "
            "between arrays with imprint.numpy.where."
        )
    number = np.asarray(value)[()].item()
    return np.nan if isinstance(number, float) and number != number else number


# ---- shared rules of scatters ----


def scattering(  # noqa: PLR0913 - one parameter a rule
    name: str,
    *,
    join: Join,
    put: Put | None,
    nothing: Callable[[DType], Any] | None,
    jvp: Callable[..., Any],
    transpose: Callable[..., Values],
    samples: Samples,
) -> Primitive:
    """Declare a primitive that joins updates with the elements at their places.

    Args:
        name: as printed in jaxprs.
        join: writes the join of an element with an update.
        put: does so with NumPy, on a flat array: given it, the numbers of the elements
            and the updates; None where an update replaces the element.
        nothing: an update, of a dtype, that changes no element; None if there is none.
        jvp: its rule.
        transpose: its rule.
        samples: operands and params of the laws.
    """
    function = name.replace("-", "_")
    of_numbers = put in (np.add.at, np.subtract.at, np.multiply.at)

    def aval(x: ShapedArray, i: ShapedArray, u: ShapedArray, **params: Any) -> Avals:
        check_numbers(function, x, i, params["dimension_numbers"])
        _check_updates(function, x, i, u, params["dimension_numbers"])
        if of_numbers and dt.is_bool(x.dtype):
            raise DTypeError(
                f"{function}: expected numbers, got {x}. Convert it, or call scatter_max or "
                "scatter_min, which are `or` and `and` of booleans."
            )
        return (x,)

    def reference(x: NDArray, i: NDArray, u: NDArray, **params: Any) -> Values:
        clips, numbers = params["mode"] is _CLIP, params["dimension_numbers"]
        return (put_windows(x, i, u, numbers, put, clips=clips),)

    def lower(b: Builder, *values: Value, **params: Any) -> tuple[Value, ...]:
        return (_lower_scatter(b, values, join, params),)

    def batch(args: Values, at: Dims, *, dimension_numbers: Any, **params: Any) -> Any:
        (x, i, u), (x_b, i_b, u_b) = args, at
        size = batch_size(args, at)
        x, u = in_front(x, x_b, size), in_front(u, u_b, size)
        i = i if i_b is None else moveaxis(i, i_b, 0)
        numbers = batched_numbers(dimension_numbers, (0, i_b))
        return primitive.bind_all(x, i, u, dimension_numbers=numbers, **params), (0,)

    primitive = Primitive(
        name=name,
        aval=aval,
        reference=reference,
        lower=lower,
        fusion=UNFUSED,
        makes_nan=True,
        jvp=jvp,
        transpose=transpose,
        batch=batch,
        pad=padding_updates(nothing),
        samples=samples,
    )
    return primitive


def _lower_scatter(
    b: Builder, values: Sequence[Value], join: Join, params: dict[str, Any]
) -> Value:
    x, i, u = values
    if 0 in x.shape or 0 in u.shape:
        return x
    numbers: ScatterDimensionNumbers = params["dimension_numbers"]
    i = lower_indices(b, i)
    axes = numbers.scatter_dims_to_operand_dims
    if params["mode"] is _CLIP and axes:
        sizes = sizes_of(x.shape, u.shape, numbers)
        limits = lower_limits(b, x.shape, i, sizes, axes)
        i = b.clamp(lower_zeros(b, i), i, limits)
    is_sorted, is_unique = params["indices_are_sorted"], params["unique_indices"]
    if is_sorted and join is Builder.add and _adds_many(b, x, i, u, numbers):
        count = u.shape[0]
        operands = x, b.reshape(i, (count,)), u
        return native_call(b, "scatter_add_sorted", operands, [x.type])[0]
    return indexed.scatter(
        b, (x, i, u), numbers, join, is_sorted=is_sorted, is_unique=is_unique
    )


# A kernel sums many updates of one element by vectors, and adds the sums to a copy of the
# operand. Measured with jaxlib 0.10.2 on a CPU with AVX-512, kernel / the engine: 10**6 float32
# in 1000 sorted segments 0.07. Where indices are in no order, the engine is as fast.

_WORTH_A_CALL: Final = 256
_NUMBERS: Final = ScatterDimensionNumbers((), (0,), (0,))


def _adds_many(
    b: Builder, x: Value, i: Value, u: Value, numbers: ScatterDimensionNumbers
) -> bool:
    """Return whether a kernel adds at least as many numbers as a vector has."""
    return (
        numbers == _NUMBERS
        and x.ndim == u.ndim == 1
        and i.dtype == np.int32
        and has_kernel(b, u, max(_WORTH_A_CALL, x.shape[0]))
    )


def _check_updates(
    name: str,
    x: ShapedArray,
    indices: ShapedArray,
    updates: ShapedArray,
    numbers: ScatterDimensionNumbers,
) -> None:
    window, absent, _, batch, _ = numbers
    if x.dtype != updates.dtype:
        raise DTypeError(
            f"{name}: expected updates of dtype {x.dtype}, got {x} and {updates}. "
            "Convert the updates with `.astype(...)`."
        )
    of_windows = [i for i in range(x.ndim) if i not in absent and i not in batch]
    along = rows(numbers, updates.ndim)
    fits = (
        updates.ndim == indices.ndim - 1 + len(window)
        and all(
            dims.at_least(x.shape[i], updates.shape[j])
            for i, j in zip(of_windows, window, strict=True)
        )
        and all(
            dims.equal(n, updates.shape[j])
            for n, j in zip(indices.shape[:-1], along, strict=True)
        )
    )
    if not fits:
        raise ShapeError(
            f"{name}: expected updates with the axes of the indices but the last, and at "
            f"{window}, update_window_dims, windows that fit into the operand, got the "
            f"operand {x}, indices {indices} and updates {updates}. Reshape the updates."
        )


# ---- scatter_add ----


def windows_of(
    x: Any,
    indices: Any,
    updates: Shape,
    numbers: ScatterDimensionNumbers,
    mode: GatherScatterMode,
    *,
    is_sorted: bool = False,
) -> Any:
    """Read the windows that a scatter of updates of this shape writes, outside of it 0."""
    return gather_p.bind1(
        x,
        indices,
        dimension_numbers=GatherDimensionNumbers(*numbers),
        slice_sizes=sizes_of(get_aval(x).shape, updates, numbers),
        indices_are_sorted=is_sorted,
        unique_indices=False,
        mode=mode,
        fill_value=0 if mode is _FILL else None,
    )


def summing_jvp(
    primitive: Primitive, primals: Values, tangents: Values, **params: Any
) -> Any:
    """Push tangents through a scatter that is linear in operand and updates together."""
    (_, indices, _), (t, _, update_t) = primals, tangents
    out = primitive.bind_all(*primals, **params)
    if is_zero(t) and is_zero(update_t):
        return out, (zero_of(get_aval(out[0])),)
    t, update_t = instantiate(t), instantiate(update_t)
    return out, primitive.bind_all(t, indices, update_t, **params)


def summing_transpose(cts: Values, operands: Values, **params: Any) -> tuple[Any, ...]:
    """Pull a cotangent through `scatter_add`."""
    (ct,), (x, indices, updates) = cts, operands
    update_ct = None
    if isinstance(updates, UndefinedPrimal):
        update_ct = windows_of(
            ct,
            indices,
            updates.aval.shape,
            params["dimension_numbers"],
            params["mode"],
            is_sorted=params["indices_are_sorted"],
        )
    return ct if isinstance(x, UndefinedPrimal) else None, None, update_ct


def _add_jvp(primals: Values, tangents: Values, **params: Any) -> Any:
    return summing_jvp(scatter_add_p, primals, tangents, **params)


def scattering_params(
    numbers: tuple[Ints, ...],
    mode: GatherScatterMode = _FILL,
    *,
    unique: bool = False,
) -> dict[str, Any]:
    """Return the params of a scatter, for samples."""
    return {
        "dimension_numbers": ScatterDimensionNumbers(*numbers),
        "indices_are_sorted": unique,
        "unique_indices": unique,
        "mode": mode,
    }


def scatter_cases(mode: GatherScatterMode = _FILL) -> tuple[Case, ...]:
    """Return calls that show everything about a scatter but one that promises nothing."""
    params = scattering_params
    return (
        Case(((4, 3), (5, 1), (5, 3)), params(_ROWS), (None, "int32", None)),
        Case(((4, 3), (6, 2), (6,)), params(_POINTS, mode), (None, "int32", None)),
        Case(
            ((2, 4, 5), (3, 2), (2, 3, 2)),
            params(((0, 2), (1,), (1, 2))),
            (None, "int8", None),
        ),
        Case(
            ((2, 3, 4), (2, 2, 1), (2, 4, 2)),
            params(((1,), (1,), (1,), (0,), (0,)), mode),
            (None, "uint32", None),
        ),
        Case(
            ((3, 2), (2,), ()),
            params(((), (0, 1), (0, 1)), unique=True),
            (None, "int64", None),
        ),
        Case(((3,), (0, 1), (0,)), params(((), (0,), (0,))), (None, "int64", None)),
        Case(((0, 2), (0, 1), (0, 2)), params(_ROWS), (None, "int64", None)),
        Case(((2,), (0,), (2,)), params(((0,), (), ())), (None, "int32", None)),
    )


scatter_add_p: Final = scattering(
    "scatter-add",
    join=Builder.add,
    put=np.add.at,
    nothing=lambda _: -0.0,
    jvp=_add_jvp,
    transpose=summing_transpose,
    samples=Samples(
        NUMBERS,
        cases=(
            *scatter_cases(_CLIP),
            Case(
                ((4,), (3, 1), (3,)),
                scattering_params(((), (0,), (0,)), _PROMISE),
                ("int32", "int64", "int32"),
            ),
        ),
        ulps=16,
    ),
)

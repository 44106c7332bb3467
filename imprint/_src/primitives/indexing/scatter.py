"""scatter, and scatters that subtract, multiply or take the extreme.

Their shape rule, reference, lowering and batching are `scattering` in `gather`, where
`scatter_add` is. If several updates have one element, the engine chooses which one `scatter`
keeps; the derivative is that of this one. Equal candidates of an extreme share its
derivative, as in all extremes. The functions have JAX's names and arguments.
"""

from typing import Any, Final

import numpy as np

from imprint._src import dtypes as dt
from imprint._src.core import dims
from imprint._src.core.aval import Shape, get_aval
from imprint._src.core.primitive import Primitive, Samples, Values
from imprint._src.core.tangents import UndefinedPrimal, is_zero, zero_of
from imprint._src.primitives.core_ops import (
    NOT_LINEAR,
    NUMBERS,
    add,
    add_tangents,
    broadcast_in_dim,
    full,
    instantiate,
    mul,
    neg,
    scalar_like,
)
from imprint._src.primitives.elementwise.arithmetic import div, max_p, min_p
from imprint._src.primitives.elementwise.bitwise import or_
from imprint._src.primitives.elementwise.comparison import eq, ne
from imprint._src.primitives.elementwise.convert import convert_element_type
from imprint._src.primitives.elementwise.select import select_n
from imprint._src.primitives.indexing.gather import (
    scatter_add_p,
    scatter_cases,
    scattering,
    summing_jvp,
    summing_transpose,
    windows_of,
)
from imprint._src.primitives.reductions import extreme
from imprint._src.primitives.shape import EVERY, iota, reshape
from imprint._src.primitives.windows.gather_dims import (
    GatherScatterMode,
    ScatterDimensionNumbers,
    as_numbers,
    mode_of,
    rows,
)
from imprint._src.stablehlo import Builder, Value

NDArray = np.ndarray[Any, Any]

_CLIP: Final = GatherScatterMode.CLIP
_FILL: Final = GatherScatterMode.FILL_OR_DROP

# ---- scatter ----


def _put_jvp(primals: Values, tangents: Values, **params: Any) -> Any:
    if params["unique_indices"]:
        return summing_jvp(scatter_p, primals, tangents, **params)
    (x, indices, updates), (t, _, update_t) = primals, tangents
    out = scatter_p.bind_all(*primals, **params)
    if is_zero(t) and is_zero(update_t):
        return out, (zero_of(get_aval(out[0])),)
    t, update_t = instantiate(t), instantiate(update_t)
    held, ids = _numbered(get_aval(x).shape, indices, get_aval(updates).shape, params)
    stays = eq(_read(held, indices, ids, params), ids)
    t = select_n(eq(held, scalar_like(held, 0)), scalar_like(t, 0), t)
    update_t = select_n(stays, scalar_like(update_t, 0), update_t)
    return out, scatter_add_p.bind_all(t, indices, update_t, **params)


def _put_transpose(cts: Values, operands: Values, **params: Any) -> tuple[Any, ...]:
    (ct,), (x, indices, updates) = cts, operands
    shape = get_aval(updates).shape
    x_ct = update_ct = None
    if isinstance(x, UndefinedPrimal):
        zeros = full(shape, 0, x.aval.dtype)
        x_ct = scatter_p.bind1(ct, indices, zeros, **params)
    if isinstance(updates, UndefinedPrimal):
        update_ct = _read(ct, indices, updates, params)
        if not params["unique_indices"]:
            held, ids = _numbered(get_aval(ct).shape, indices, shape, params)
            stays = eq(_read(held, indices, ids, params), ids)
            update_ct = select_n(stays, scalar_like(ct, 0), update_ct)
    return x_ct, None, update_ct


def _numbered(
    shape: Shape, indices: Any, updates: Shape, params: dict[str, Any]
) -> tuple[Any, Any]:
    """Return which window each element of an array of `shape` is of, and their numbers.

    They count from 1, and have the shape of the updates; 0 is an element of no window.
    """
    along = get_aval(indices).shape[:-1]
    count = reshape(iota(np.int32, dims.product(along)), along)
    numbers: ScatterDimensionNumbers = params["dimension_numbers"]
    ids = broadcast_in_dim(count, updates, rows(numbers, len(updates)))
    ids = add(ids, np.int32(1))
    zeros = full(shape, 0, np.dtype(np.int32))
    return scatter_p.bind1(zeros, indices, ids, **params), ids


def _read(x: Any, indices: Any, updates: Any, params: dict[str, Any]) -> Any:
    """Read the windows that a scatter of updates like these writes, 0 for those it drops."""
    mode = _CLIP if params["mode"] is _CLIP else _FILL
    shape = get_aval(updates).shape
    return windows_of(x, indices, shape, params["dimension_numbers"], mode)


def _update(b: Builder, x: Value, update: Value) -> Value:
    return update


scatter_p: Final = scattering(
    "scatter",
    join=_update,
    put=None,
    nothing=None,
    jvp=_put_jvp,
    transpose=_put_transpose,
    samples=Samples(EVERY, cases=scatter_cases()),
)

# ---- scatter_sub ----


def _sub_jvp(primals: Values, tangents: Values, **params: Any) -> Any:
    return summing_jvp(scatter_sub_p, primals, tangents, **params)


def _sub_transpose(cts: Values, operands: Values, **params: Any) -> tuple[Any, ...]:
    x_ct, _, update_ct = summing_transpose(cts, operands, **params)
    return x_ct, None, None if update_ct is None else neg(update_ct)


scatter_sub_p: Final = scattering(
    "scatter-sub",
    join=Builder.subtract,
    put=np.subtract.at,
    nothing=lambda _: 0,
    jvp=_sub_jvp,
    transpose=_sub_transpose,
    samples=Samples(NUMBERS, cases=scatter_cases()[:4], ulps=16),
)

# ---- scatter_mul ----


def _mul_jvp(primals: Values, tangents: Values, **params: Any) -> Any:
    (x, indices, updates), (t, _, update_t) = primals, tangents
    out = scatter_mul_p.bind_all(*primals, **params)
    total: Any = zero_of(get_aval(out[0]))
    if not is_zero(t):
        total = scatter_mul_p.bind1(t, indices, updates, **params)
    if not is_zero(update_t):
        if not params["unique_indices"]:
            update_t = mul(update_t, _product_of_others(x, indices, updates, params))
        aval = get_aval(x)
        zeros = full(aval.shape, 0, aval.dtype)
        added = scatter_add_p.bind1(zeros, indices, update_t, **params)
        total = add_tangents(total, mul(x, added))
    return out, (total,)


def _product_of_others(
    x: Any, indices: Any, updates: Any, params: dict[str, Any]
) -> Any:
    """Return for each update the product of the other updates of its element.

    It is that of all over it, so updates that are 0 are counted and left out.
    """
    aval = get_aval(x)
    zero, one = scalar_like(updates, 0), scalar_like(updates, 1)
    is_nothing = eq(updates, zero)
    nothing = convert_element_type(is_nothing, aval.dtype)
    factors = select_n(is_nothing, updates, one)
    ones = full(aval.shape, 1, aval.dtype)
    zeros = full(aval.shape, 0, aval.dtype)
    product = scatter_mul_p.bind1(ones, indices, factors, **params)
    count = scatter_add_p.bind1(zeros, indices, nothing, **params)
    product = _read(product, indices, updates, params)
    others = eq(_read(count, indices, updates, params), nothing)
    return select_n(others, zero, div(product, factors))


def _mul_transpose(cts: Values, operands: Values, **params: Any) -> tuple[Any, ...]:
    (ct,), (_, indices, updates) = cts, operands
    if isinstance(updates, UndefinedPrimal):
        NOT_LINEAR()  # elements without an update stay
    return scatter_mul_p.bind1(ct, indices, updates, **params), None, None


scatter_mul_p: Final = scattering(
    "scatter-mul",
    join=Builder.multiply,
    put=np.multiply.at,
    nothing=lambda _: 1,
    jvp=_mul_jvp,
    transpose=_mul_transpose,
    samples=Samples(NUMBERS, cases=scatter_cases(_CLIP)[:5], ulps=64),
)

# ---- scatter_min, scatter_max ----


def _extreme(name: str, joined: Primitive, ufunc: Any) -> Primitive:
    (least,) = joined.reference(np.float32(0.0), np.float32(-0.0))
    negative = bool(np.signbit(least))  # the sign of the zero that is taken of two

    def put(out: NDArray, row: NDArray, given: NDArray) -> None:
        if dt.is_complex(out.dtype):
            _put_in_rounds(joined, out, row, given)
            return
        before = out.copy() if dt.is_floating(out.dtype) else None
        ufunc.at(out, row, given)
        if before is not None and not out.all():
            taken = _zeros_of(before, negative=negative)
            taken[row[_zeros_of(given, negative=negative)]] = True
            zero = out == 0
            sign = np.where(taken[zero] == negative, -1, 1)
            out[zero] = np.copysign(out[zero], sign.astype(out.dtype))

    def join(b: Builder, x: Value, y: Value) -> Value:
        return joined.lower(b, x, y)[0]

    def jvp(primals: Values, tangents: Values, **params: Any) -> Any:
        (x, indices, updates), (t, _, update_t) = primals, tangents
        out = primitive.bind1(*primals, **params)
        if is_zero(t) and is_zero(update_t):
            return (out,), (zero_of(get_aval(out)),)
        aval = get_aval(out)
        t, update_t = instantiate(t), instantiate(update_t)
        chosen = eq(updates, _read(out, indices, updates, params))
        stays = or_(eq(x, out), ne(x, x))
        count = scatter_add_p.bind1(
            convert_element_type(stays, aval.dtype),
            indices,
            convert_element_type(chosen, aval.dtype),
            **params,
        )
        count = select_n(eq(count, scalar_like(count, 0)), count, scalar_like(count, 1))
        shared = scatter_add_p.bind1(
            select_n(stays, scalar_like(t, 0), t),
            indices,
            select_n(chosen, scalar_like(update_t, 0), update_t),
            **params,
        )
        return (out,), (div(shared, count),)

    primitive = scattering(
        name,
        join=join,
        put=put,
        nothing=lambda dtype: extreme(dtype, largest=joined is min_p),
        jvp=jvp,
        transpose=NOT_LINEAR,
        samples=Samples(EVERY, cases=scatter_cases()[:4]),
    )
    return primitive


def _zeros_of(x: NDArray, *, negative: bool) -> NDArray:
    return (x == 0) & (np.signbit(x) == negative)


def _put_in_rounds(
    joined: Primitive, out: NDArray, row: NDArray, given: NDArray
) -> None:
    """Join the first update of each element, then the second of each, and so on."""
    while row.size:
        at, first = np.unique(row, return_index=True)
        (out[at],) = joined.reference(out[at], given[first])
        row, given = np.delete(row, first), np.delete(given, first)


scatter_min_p: Final = _extreme("scatter-min", min_p, np.minimum)
scatter_max_p: Final = _extreme("scatter-max", max_p, np.maximum)

# ---- the functions ----


def _scattered(
    name: str,
    primitive: Primitive,
    operands: Values,
    dimension_numbers: Any,
    mode: Any,
    **promises: bool,
) -> Any:
    params = {key: bool(promise) for key, promise in promises.items()}
    return primitive.bind1(
        *operands,
        dimension_numbers=as_numbers(ScatterDimensionNumbers, dimension_numbers),
        mode=mode_of(name, mode),
        **params,
    )


def scatter(  # noqa: PLR0913 - JAX's signature
    operand: Any,
    scatter_indices: Any,
    updates: Any,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: str | GatherScatterMode | None = None,
) -> Any:
    """Put windows into `operand` at places that may be traced.

    To index as NumPy does, write `operand.at[i].set(updates)`.

    Args:
        operand: an array.
        scatter_indices: integers; along the last axis, where a window begins.
        updates: the windows, of the dtype of the operand.
        dimension_numbers: which axes belong together.
        indices_are_sorted: the promise that the index vectors are sorted.
        unique_indices: the promise that no two windows overlap.
        mode: for a window outside of the operand: moved inside, for "clip", else dropped.

    Returns:
        An array of the shape and dtype of `operand`. Of several windows at one place,
        any may win.

    References:
        StableHLO, `scatter`.

    Example:
        >>> from imprint import lax, numpy as np
        >>> numbers = lax.ScatterDimensionNumbers((), (0,), (0,))
        >>> lax.scatter(
        ...     np.zeros(4), np.array([[2], [0]]), np.array([7.0, 8.0]), numbers
        ... )
        Array([8., 0., 7., 0.], dtype=float32)
    """
    return _scattered(
        "scatter",
        scatter_p,
        (operand, scatter_indices, updates),
        dimension_numbers,
        mode,
        indices_are_sorted=indices_are_sorted,
        unique_indices=unique_indices,
    )


def scatter_add(  # noqa: PLR0913 - JAX's signature
    operand: Any,
    scatter_indices: Any,
    updates: Any,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: str | GatherScatterMode | None = None,
) -> Any:
    """Add windows to `operand` at places that may be traced.

    Args:
        operand: an array.
        scatter_indices: integers; along the last axis, where a window begins.
        updates: the windows, of the dtype of the operand.
        dimension_numbers: which axes belong together.
        indices_are_sorted: the promise that the index vectors are sorted.
        unique_indices: the promise that no two windows overlap.
        mode: for a window outside of the operand: moved inside, for "clip", else
            dropped.

    Returns:
        An array of the shape and dtype of `operand`. Each of several windows at one
        place counts.

    References:
        StableHLO, `scatter`.
    """
    return _scattered(
        "scatter_add",
        scatter_add_p,
        (operand, scatter_indices, updates),
        dimension_numbers,
        mode,
        indices_are_sorted=indices_are_sorted,
        unique_indices=unique_indices,
    )


def scatter_sub(  # noqa: PLR0913 - JAX's signature
    operand: Any,
    scatter_indices: Any,
    updates: Any,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: str | GatherScatterMode | None = None,
) -> Any:
    """Subtract windows from `operand` at places that may be traced.

    Args:
        operand: an array.
        scatter_indices: integers; along the last axis, where a window begins.
        updates: the windows, of the dtype of the operand.
        dimension_numbers: which axes belong together.
        indices_are_sorted: the promise that the index vectors are sorted.
        unique_indices: the promise that no two windows overlap.
        mode: for a window outside of the operand: moved inside, for "clip", else
            dropped.

    Returns:
        An array of the shape and dtype of `operand`. Each of several windows at one
        place counts.

    References:
        StableHLO, `scatter`.
    """
    return _scattered(
        "scatter_sub",
        scatter_sub_p,
        (operand, scatter_indices, updates),
        dimension_numbers,
        mode,
        indices_are_sorted=indices_are_sorted,
        unique_indices=unique_indices,
    )


def scatter_mul(  # noqa: PLR0913 - JAX's signature
    operand: Any,
    scatter_indices: Any,
    updates: Any,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: str | GatherScatterMode | None = None,
) -> Any:
    """Multiply `operand` by windows at places that may be traced.

    Args:
        operand: an array.
        scatter_indices: integers; along the last axis, where a window begins.
        updates: the windows, of the dtype of the operand.
        dimension_numbers: which axes belong together.
        indices_are_sorted: the promise that the index vectors are sorted.
        unique_indices: the promise that no two windows overlap.
        mode: for a window outside of the operand: moved inside, for "clip", else
            dropped.

    Returns:
        An array of the shape and dtype of `operand`. Each of several windows at one
        place counts.

    References:
        StableHLO, `scatter`.
    """
    return _scattered(
        "scatter_mul",
        scatter_mul_p,
        (operand, scatter_indices, updates),
        dimension_numbers,
        mode,
        indices_are_sorted=indices_are_sorted,
        unique_indices=unique_indices,
    )


def scatter_min(  # noqa: PLR0913 - JAX's signature
    operand: Any,
    scatter_indices: Any,
    updates: Any,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: str | GatherScatterMode | None = None,
) -> Any:
    """Take the smaller of `operand` and windows at places that may be traced.

    Args:
        operand: an array.
        scatter_indices: integers; along the last axis, where a window begins.
        updates: the windows, of the dtype of the operand.
        dimension_numbers: which axes belong together.
        indices_are_sorted: the promise that the index vectors are sorted.
        unique_indices: the promise that no two windows overlap.
        mode: for a window outside of the operand: moved inside, for "clip", else
            dropped.

    Returns:
        An array of the shape and dtype of `operand`. Each of several windows at one
        place counts.

    References:
        StableHLO, `scatter`.
    """
    return _scattered(
        "scatter_min",
        scatter_min_p,
        (operand, scatter_indices, updates),
        dimension_numbers,
        mode,
        indices_are_sorted=indices_are_sorted,
        unique_indices=unique_indices,
    )


def scatter_max(  # noqa: PLR0913 - JAX's signature
    operand: Any,
    scatter_indices: Any,
    updates: Any,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: str | GatherScatterMode | None = None,
) -> Any:
    """Take the larger of `operand` and windows at places that may be traced.

    Args:
        operand: an array.
        scatter_indices: integers; along the last axis, where a window begins.
        updates: the windows, of the dtype of the operand.
        dimension_numbers: which axes belong together.
        indices_are_sorted: the promise that the index vectors are sorted.
        unique_indices: the promise that no two windows overlap.
        mode: for a window outside of the operand: moved inside, for "clip", else
            dropped.

    Returns:
        An array of the shape and dtype of `operand`. Each of several windows at one
        place counts.

    References:
        StableHLO, `scatter`.
    """
    return _scattered(
        "scatter_max",
        scatter_max_p,
        (operand, scatter_indices, updates),
        dimension_numbers,
        mode,
        indices_are_sorted=indices_are_sorted,
        unique_indices=unique_indices,
    )

"""Reductions: axes disappear, their elements joined by an associative operation.

reduce_prod, reduce_max, reduce_min and the bitwise three; reduce_sum is in `core_ops`, argmax
and argmin in `arg_reductions`. No axis is counted from the end. A reduction of nothing is
the operation's identity. NaN wins every max and min. Complex numbers compare by real part,
then by imaginary part. Equal extremes share the derivative equally.
"""

from collections.abc import Callable, Sequence
from functools import cache
from math import inf
from typing import Any, Final, cast

import numpy as np

from imprint._src import dtypes as dt
from imprint._src.core import dims
from imprint._src.core.aval import DType, ShapedArray, get_aval
from imprint._src.core.fusion import REDUCTION, UNFUSED, Fusion
from imprint._src.core.padding import filling
from imprint._src.core.primitive import Avals, Case, Dims, Primitive, Samples, Values
from imprint._src.core.tangents import zero_of
from imprint._src.primitives.axes import check_axes, int_tuple, reduced
from imprint._src.primitives.core_ops import (
    INTS,
    NOT_LINEAR,
    NUMBERS,
    REDUCTIONS,
    add,
    broadcast_in_dim,
    mul,
    not_differentiable,
    reduce_sum,
    reduction_batch,
    scalar_like,
)
from imprint._src.primitives.elementwise.arithmetic import div
from imprint._src.primitives.elementwise.comparison import eq, may_have_zero
from imprint._src.primitives.elementwise.convert import convert_element_type
from imprint._src.primitives.families import ANY, BITS, NUMBER, DTypeClass, wide
from imprint._src.primitives.indexing.slicing import pad, slice_in_dim
from imprint._src.primitives.shape import reshape
from imprint._src.stablehlo import Builder, Value
from imprint._src.stablehlo.reductions import reduce_with

NDArray = np.ndarray[Any, Any]
Ints = tuple[int, ...]

_CASES: Final = (
    *REDUCTIONS,
    Case(((0, 3),), {"axes": (1,)}),
    Case(((0, 3),), {"axes": (0,)}, ("int32",)),
    Case(((),), {"axes": ()}),
)

# ---- shared rules ----

Jvp = Callable[..., Any]
Lower = Callable[[Builder, Value, Ints], Value]


def _reduction(  # noqa: PLR0913 - one parameter a rule
    name: str,
    *,
    dtypes: DTypeClass,
    reference: Callable[[Any, Ints], Any],
    lower: Lower,
    fusion: Fusion | None,
    makes_nan: bool,
    identity: Callable[[DType], Any],
    jvp: Jvp,
    samples: Samples,
    keeps_weak_type: bool = True,
) -> Primitive:
    """Declare the reduction by an associative operation.

    Args:
        name: as printed in jaxprs.
        dtypes: the dtypes it takes.
        reference: `(x, axes)` → its meaning, on a NumPy array.
        lower: `(builder, x, axes)` → its StableHLO.
        fusion: how XLA fuses it.
        makes_nan: whether it makes a NaN of numbers.
        identity: the reduction of nothing, of a dtype.
        jvp: its derivative.
        samples: operands and params of the laws.
        keeps_weak_type: whether the result is weakly typed where the operand is.
    """

    def aval(x: ShapedArray, *, axes: Ints) -> Avals:
        dtypes.check(name, (x,))
        check_axes(name, x, axes)
        return (reduced(x if keeps_weak_type else x.strong(), axes),)

    def reference_rule(x: NDArray, *, axes: Ints) -> Values:
        return (reference(x, axes),)

    def lower_rule(b: Builder, x: Value, *, axes: Ints) -> tuple[Value, ...]:
        return (lower(b, x, axes),)

    def batch(args: Values, at: Dims, *, axes: Ints) -> Any:
        return reduction_batch(primitive, args, at, axes)

    primitive = Primitive(
        name=name,
        aval=aval,
        reference=reference_rule,
        lower=lower_rule,
        fusion=fusion,
        makes_nan=makes_nan,
        jvp=jvp,
        transpose=NOT_LINEAR,
        batch=batch,
        pad=filling(identity),
        samples=samples,
    )
    return primitive


def _by(op: str, identity: Callable[[DType], Any]) -> Lower:
    """Lower to one operation of StableHLO; `identity` is the reduction of nothing."""

    def lower(b: Builder, x: Value, axes: Ints) -> Value:
        return b.reduce(x, b.constant(identity(x.dtype), x.dtype), op, axes)

    return lower


# ---- reduce_prod ----


def _prod_jvp(primals: Values, tangents: Values, *, axes: Ints) -> Any:
    """Multiply in a tree of halves: no division, so zeros are no special case."""
    (x,), (t,) = primals, tangents
    out = reduce_prod(x, axes)
    aval = get_aval(x)
    kept = tuple(i for i in range(aval.ndim) if i not in axes)
    count = dims.product(aval.shape[a] for a in axes)
    if dims.is_same(count, 0):
        return (out,), (zero_of(get_aval(out)),)
    rows = (count, *(aval.shape[i] for i in kept))
    order = (*axes, *kept)
    x, t = (reshape(v, rows, order) for v in (x, t))
    if dims.is_symbolic(count):
        power = dims.power_of_two(count, "derivative of reduce_prod")
        x, t, count = lengthened(x, power, 1), lengthened(t, power, 0), power
    while count > 1:
        half = (count + 1) // 2
        (x, x2), (t, t2) = _halves(x, half, 1), _halves(t, half, 0)
        t = add(mul(t, x2), mul(x, t2))
        x = mul(x, x2)
        count = half
    return (out,), (reshape(t, rows[1:]),)


def _halves(x: Any, half: int, fill: int) -> tuple[Any, Any]:
    """Cut axis 0 in two parts of length `half`, the second padded if it is shorter."""
    second = lengthened(slice_in_dim(x, half, None), half, fill)
    return slice_in_dim(x, 0, half), second


def lengthened(x: Any, length: int, fill: int, axis: int = 0) -> Any:
    """Return an array with more elements behind an axis, if that is shorter."""
    aval = get_aval(x)
    short = length - aval.shape[axis]
    if dims.is_same(short, 0):
        return x
    config = [(0, 0, 0)] * aval.ndim
    config[axis] = (0, short, 0)
    return pad(x, scalar_like(x, fill), config)


@wide
def _prod_reference(x: Any, *, axes: Ints) -> Any:
    return np.prod(x, axis=axes, dtype=x.dtype)


reduce_prod_p: Final = _reduction(
    "reduce_prod",
    dtypes=NUMBER,
    reference=lambda x, axes: _prod_reference(x, axes=axes),
    lower=_by("multiply", lambda _: 1),
    fusion=REDUCTION,
    makes_nan=True,
    identity=lambda _: 1,
    jvp=_prod_jvp,
    samples=Samples(NUMBERS, cases=_CASES, domain=(-2.0, 2.0), ulps=16),
)


def reduce_prod(operand: Any, axes: Sequence[int]) -> Any:
    """Multiply the elements of `operand` over `axes`, which are counted from 0.

    Args:
        operand: an array of numbers.
        axes: distinct axes, counted from 0.

    Returns:
        An array of the same dtype without `axes`. Without elements it is 1.

    References:
        StableHLO, `reduce`.
    """
    return reduce_prod_p.bind1(operand, axes=int_tuple(axes))


# ---- reduce_max, reduce_min ----


def extreme(dtype: DType, *, largest: bool) -> Any:
    """Return the value that is not exceeded by any of a dtype, or exceeds none."""
    if dt.is_bool(dtype):
        return largest
    if dt.is_integer(dtype):
        info = dt.iinfo(dtype)
        return info.max if largest else info.min
    infinity = inf if largest else -inf
    if dt.is_complex(dtype):
        return complex(infinity, infinity)
    if np.isinf(np.asarray(infinity, dtype)):
        return infinity
    finite = cast("Any", dt.finfo(dtype))
    return finite.max if largest else finite.min


def _extremum(name: str, *, largest: bool) -> Primitive:
    """Declare reduce_max or reduce_min."""
    pick, op = (np.maximum, "maximum") if largest else (np.minimum, "minimum")

    def identity(dtype: DType) -> Any:
        return extreme(dtype, largest=not largest)

    @cache
    def initial(dtype: DType) -> Any:
        return np.asarray(identity(dtype), dtype)[()]

    def reference(x: Any, axes: Ints) -> Any:
        out = np.asarray(pick.reduce(x, axis=axes, initial=initial(x.dtype)))
        return _with_zeros(x, out, axes, largest=largest)

    def lower(b: Builder, x: Value, axes: Ints) -> Value:
        if not dt.is_complex(x.dtype):
            return _by(op, identity)(b, x, axes)
        init = b.constant(identity(x.dtype), x.dtype)
        return reduce_with(
            b, [x], [init], axes, lambda r, xs: [_pick_complex(r, *xs, largest=largest)]
        )[0]

    def jvp(primals: Values, tangents: Values, *, axes: Ints) -> Any:
        (x,), (t,) = primals, tangents
        out = primitive.bind1(x, axes=axes)
        aval = get_aval(x)
        kept = tuple(i for i in range(aval.ndim) if i not in axes)
        if dims.has_zero(aval.shape[a] for a in axes):
            return (out,), (zero_of(get_aval(out)),)
        hits = eq(x, broadcast_in_dim(out, aval.shape, kept))
        hits = convert_element_type(hits, aval.dtype)
        total = reduce_sum(mul(t, hits), axes)
        return (out,), (div(total, reduce_sum(hits, axes)),)

    primitive = _reduction(
        name,
        dtypes=ANY,
        reference=reference,
        lower=lower,
        fusion=REDUCTION,
        makes_nan=False,
        identity=identity,
        jvp=jvp,
        samples=Samples((*NUMBERS, "bool"), cases=_CASES),
    )
    return primitive


def _with_zeros(x: NDArray, out: NDArray, axes: Ints, *, largest: bool) -> NDArray:
    """Give zeros among extrema XLA's sign: -0.0 is less than 0.0, in any order."""
    if not dt.is_floating(x.dtype) or not may_have_zero(out) or not np.any(out == 0):
        return out
    signs = np.signbit(x)
    found = np.any((x == 0) & (~signs if largest else signs), axis=axes)
    zero = np.asarray(0.0 if largest else -0.0, x.dtype)
    return np.where(out == 0, np.where(found, zero, -zero), out)


def _pick_complex(b: Builder, x: Value, y: Value, *, largest: bool) -> Value:
    """Compare real parts, then imaginary parts; a NaN wins, as for real numbers."""
    x_real, y_real = b.real(x), b.real(y)
    further = b.compare(x_real, y_real, "GT" if largest else "LT")
    tie = b.compare(x_real, y_real, "EQ")
    no_less = b.compare(b.imag(x), b.imag(y), "GE" if largest else "LE")
    number = b.select(b.or_(further, b.and_(tie, no_less)), x, y)
    return b.select(_is_nan(b, x), x, b.select(_is_nan(b, y), y, number))


def _is_nan(b: Builder, x: Value) -> Value:
    real, imag = b.real(x), b.imag(x)
    return b.or_(b.compare(real, real, "NE"), b.compare(imag, imag, "NE"))


reduce_max_p: Final = _extremum("reduce_max", largest=True)


def reduce_max(operand: Any, axes: Sequence[int]) -> Any:
    """Return the largest element over `axes`, which are counted from 0.

    Args:
        operand: an array of numbers or booleans.
        axes: distinct axes, counted from 0.

    Returns:
        An array of the same dtype without `axes`. For floats it is NaN where an element
        is, and -inf without elements; for integers without elements, the least number.

    References:
        StableHLO, `reduce`.
    """
    return reduce_max_p.bind1(operand, axes=int_tuple(axes))


reduce_min_p: Final = _extremum("reduce_min", largest=False)


def reduce_min(operand: Any, axes: Sequence[int]) -> Any:
    """Return the smallest element over `axes`, which are counted from 0.

    Args:
        operand: an array of numbers or booleans.
        axes: distinct axes, counted from 0.

    Returns:
        An array of the same dtype without `axes`. For floats it is NaN where an element
        is, and inf without elements; for integers without elements, the largest number.

    References:
        StableHLO, `reduce`.
    """
    return reduce_min_p.bind1(operand, axes=int_tuple(axes))


# ---- reduce_and, reduce_or, reduce_xor ----


def _bitwise(
    name: str, join: np.ufunc, op: str, identity: int, fusion: Fusion | None
) -> Primitive:
    """Declare a bitwise reduction; of booleans it is the logical one."""

    def of_nothing(dtype: DType) -> Any:
        return np.asarray(identity).astype(dtype)

    def jvp(primals: Values, _: Values, *, axes: Ints) -> Any:
        return not_differentiable(primitive, primals, axes=axes)

    primitive = _reduction(
        name,
        dtypes=BITS,
        reference=lambda x, axes: join.reduce(x, axis=axes),
        lower=_by(op, of_nothing),
        fusion=fusion,
        makes_nan=False,
        identity=of_nothing,
        jvp=jvp,
        samples=Samples(("bool", *INTS), cases=_CASES, differentiable=False),
        keeps_weak_type=False,
    )
    return primitive


reduce_and_p: Final = _bitwise("reduce_and", np.bitwise_and, "and", -1, REDUCTION)


def reduce_and(operand: Any, axes: Sequence[int]) -> Any:
    """Return the bits that all elements over `axes` have; of booleans, "all".

    Args:
        operand: an array of integers or booleans.
        axes: distinct axes, counted from 0.

    Returns:
        An array of the same dtype without `axes`. Without elements, all bits are 1.

    References:
        StableHLO, `reduce`.
    """
    return reduce_and_p.bind1(operand, axes=int_tuple(axes))


reduce_or_p: Final = _bitwise("reduce_or", np.bitwise_or, "or", 0, REDUCTION)


def reduce_or(operand: Any, axes: Sequence[int]) -> Any:
    """Return the bits that any element over `axes` has; of booleans, "any".

    Args:
        operand: an array of integers or booleans.
        axes: distinct axes, counted from 0.

    Returns:
        An array of the same dtype without `axes`. Without elements it is 0.

    References:
        StableHLO, `reduce`.
    """
    return reduce_or_p.bind1(operand, axes=int_tuple(axes))


reduce_xor_p: Final = _bitwise("reduce_xor", np.bitwise_xor, "xor", 0, UNFUSED)


def reduce_xor(operand: Any, axes: Sequence[int]) -> Any:
    """Return the bits that an odd number of elements over `axes` have.

    Args:
        operand: an array of integers or booleans.
        axes: distinct axes, counted from 0.

    Returns:
        An array of the same dtype without `axes`. Without elements it is 0.

    References:
        StableHLO, `reduce`.
    """
    return reduce_xor_p.bind1(operand, axes=int_tuple(axes))

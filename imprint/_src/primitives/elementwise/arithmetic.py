"""Arithmetic of two operands beyond add, sub and mul, powers to a fixed integer, and gcd.

Integer division truncates and never fails: by zero the quotient is -1 (all bits set) and
the remainder the dividend, and the least integer by -1 is itself. `max` and `min` propagate
NaN, order -0.0 below 0.0, and share the tangent at a tie. `pow` is in `power`, since its
derivative needs the logarithm. `gcd` is Euclid's algorithm: one loop, until every element
is done; the magnitude of the least integer wraps.
"""

from typing import Any, Final

import numpy as np

from imprint._src import dtypes as dt
from imprint._src.core import dims
from imprint._src.core.aval import ShapedArray, get_aval
from imprint._src.core.fusion import ARITHMETIC, DIVISION, UNFUSED
from imprint._src.core.padding import ELEMENTWISE
from imprint._src.core.primitive import Avals, Case, Dims, Primitive, Samples, Values
from imprint._src.core.tangents import UndefinedPrimal, is_zero, zero_of
from imprint._src.errors import DTypeError
from imprint._src.primitives.core_ops import (
    FLOATS,
    INEXACTS,
    INTS,
    NOT_LINEAR,
    NUMBERS,
    add_tangents,
    broadcast_to,
    elementwise_batch,
    full,
    mul,
    neg,
    scalar_like,
    sub,
    unbroadcast,
)
from imprint._src.primitives.elementwise.by_vectors import with_sign_of
from imprint._src.primitives.elementwise.comparison import eq, maximum, minimum
from imprint._src.primitives.elementwise.elementwise import (
    elementwise_aval,
    repeated,
    where_reference,
)
from imprint._src.primitives.elementwise.rare import unless_any
from imprint._src.primitives.elementwise.select import select_n
from imprint._src.primitives.families import (
    ANY,
    FLOATING,
    INTEGER,
    NUMBER,
    DTypeClass,
    binary,
    wide,
)
from imprint._src.stablehlo import Builder, Value

NDArray = np.ndarray[Any, Any]

_REAL: Final = DTypeClass(
    lambda d: dt.is_integer(d) or dt.is_floating(d), "an integer or float dtype"
)

# ---- div ----


def _div_aval(x: ShapedArray, y: ShapedArray) -> Avals:
    NUMBER.check("div", (x, y))
    return (elementwise_aval("div", (x, y)),)


def _div_reference(x: NDArray, y: NDArray) -> Values:
    if dt.is_complex(x.dtype):
        return (_complex_quotient(x, y),)
    if dt.is_floating(x.dtype):
        return (np.divide(x, y),)
    divisor = _harmless(y)
    quotient = (x - np.fmod(x, divisor)) // divisor
    quotient = np.where(y == 0, ~x.dtype.type(0), quotient)
    return (np.where(_is_minus_one(y), np.negative(x), quotient),)


def _harmless(y: NDArray) -> NDArray:
    """Return integer divisors with 1 for 0 and -1, which trap on some processors."""
    return np.where((y == 0) | _is_minus_one(y), y.dtype.type(1), y)


def _is_minus_one(y: NDArray) -> NDArray:
    return np.equal(y, -1) if dt.is_signed(y.dtype) else np.zeros_like(y, bool)


def _complex_quotient(x: NDArray, y: NDArray) -> NDArray:
    """Divide as C does (annex G): by zero infinite, by an infinite number zero."""
    with np.errstate(all="ignore"):
        quotient = np.divide(x, y)
        by_zero = (y == 0) & ~(np.isnan(x.real) & np.isnan(x.imag))
        infinity = np.copysign(y.real.dtype.type(np.inf), y.real)
        infinite = np.isinf(x) & np.isfinite(y)
        to_zero = np.isinf(y) & np.isfinite(x)
        numerator = np.where(infinite, _signs_of_infinities(x), x)
        denominator = np.where(to_zero, _signs_of_infinities(y), y)
        scale = np.where(infinite, np.inf, 0).astype(infinity.dtype)
        limit = numerator * np.conj(denominator)
        out = np.where(infinite | to_zero, _scaled(limit, scale), quotient)
        return np.where(by_zero, _scaled(x, infinity), out)


def _signs_of_infinities(x: NDArray) -> NDArray:
    """Return 1 with its sign for an infinite part and 0 with its sign for another."""
    ones = np.isinf([x.real, x.imag]).astype(x.real.dtype)
    return _joined(*np.copysign(ones, [x.real, x.imag]))


def _scaled(x: NDArray, factor: NDArray) -> NDArray:
    """Multiply each part by a real factor."""
    return _joined(x.real * factor, x.imag * factor)


def _joined(real: NDArray, imag: NDArray) -> NDArray:
    """Join parts, which `real + 1j * imag` would not do at infinities."""
    return np.stack([real, imag], axis=-1).view(f"c{2 * real.dtype.itemsize}")[..., 0]


def _div_lower(b: Builder, x: Value, y: Value) -> tuple[Value, ...]:
    return (b.divide(*repeated(b, (x, y))),)


def _div_jvp(primals: Values, tangents: Values) -> Any:
    (x, y), (tx, ty) = primals, tangents
    out = div(x, y)
    total: Any = zero_of(get_aval(out))
    if not is_zero(tx):
        total = broadcast_to(div(tx, y), get_aval(out).shape)
    if not is_zero(ty):
        # Not by y ** -2, which over- and underflows where the quotient does not.
        term = mul(neg(ty), div(out, y))
        total = add_tangents(total, broadcast_to(term, get_aval(out).shape))
    return (out,), (total,)


def _div_transpose(cts: Values, operands: Values) -> Values:
    (ct,), (x, y) = cts, operands
    if isinstance(y, UndefinedPrimal):
        return NOT_LINEAR()
    return unbroadcast(div(ct, y), x.aval), None


def _div_batch(args: Values, dims: Dims) -> Any:
    return elementwise_batch(div_p, args, dims, {})


div_p: Final = Primitive(
    name="div",
    aval=_div_aval,
    reference=_div_reference,
    lower=_div_lower,
    fusion=DIVISION,
    makes_nan=True,
    jvp=_div_jvp,
    transpose=_div_transpose,
    batch=_div_batch,
    pad=ELEMENTWISE,
    samples=Samples(
        NUMBERS, arity=2, edges=(2, -3), operand_domains=((-4.0, 4.0), (0.5, 4.0))
    ),
)


def div(x: Any, y: Any) -> Any:
    """Return `x / y`, elementwise; integers are divided towards zero.

    Args:
        x: numbers.
        y: of the dtype of `x`; rank 0 and axes of length 1 are repeated.

    Returns:
        An array of that dtype and the common shape. An integer divided by 0 is all bits
        1; the least one by -1 is itself.

    References:
        StableHLO, `divide`.
    """
    return div_p.bind1(x, y)


# ---- rem ----


def _rem_reference(x: NDArray, y: NDArray) -> NDArray:
    if not dt.is_integer(x.dtype):
        return np.fmod(x, y)
    return np.where(y == 0, x, np.fmod(x, _harmless(y)))


def _minus_whole_quotient(x: Any, y: Any, _: Any) -> Any:
    quotient = div(x, y)
    return sub(rem(quotient, scalar_like(quotient, 1)), quotient)


# XLA:CPU calls `fmod` for each float, one at a time: 19 ns where the quotient is near 10,
# 180 where it is near 1,000. Here floats of up to 32 bits are divided in steps of 29 bits of
# the quotient, in float64, each without any rounding: 1 ns in one kernel. float64 has one
# step; a larger quotient sends all elements to `fmod`, and it takes 3 times as long to
# compile both. Subnormal numbers count as 0, as in XLA's sums. jaxlib 0.12, AVX2.

_MANY: Final = 4096
_FLOAT64: Final = np.dtype(np.float64)
_STEPS: Final = {"float16": 2, "bfloat16": 9, "float32": 9}
"""How many steps the largest quotient takes: of float32 it is 2**254."""
_STEP: Final = 29
_LIMIT_OF_FLOAT64: Final = 2.0**24
_LOW_BITS: Final = 26


def _rem_lower(b: Builder, x: Value, y: Value) -> Value:
    if (
        not b.module.is_fast
        or dims.product(x.shape) < _MANY
        or x.dtype.name not in (*_STEPS, "float64")
    ):
        return b.remainder(x, y)
    if x.dtype != _FLOAT64:
        return with_sign_of(b, x, _short_remainder(b, b.abs(x), b.abs(y)))
    a, d = b.abs(x), b.abs(y)
    limit, zero = (b.full(x.shape, n, a.dtype) for n in (_LIMIT_OF_FLOAT64, 0))
    is_large = b.and_(
        b.compare(a, b.multiply(d, limit), "GE"),
        b.and_(b.is_finite(a), b.compare(d, zero, "GT")),  # else it is NaN
    )
    return unless_any(
        b,
        is_large,
        x.type,
        lambda r: with_sign_of(r, x, _near_remainder(r, r.abs(x), r.abs(y))),
        lambda r: r.remainder(x, y),
    )


def _short_remainder(b: Builder, a: Value, d: Value) -> Value:
    """Return the remainder of magnitudes of up to 24 bits each.

    A step subtracts the nearest multiple of d 2**n, or one nearly so near, as the quotient is
    rounded. That leaves a quotient of up to 29 bits, whose product with d is exact. So is
    each difference, a multiple of the last bit of `a` or of d 2**n.
    """
    rest, over = b.convert(a, _FLOAT64), b.convert(d, _FLOAT64)
    inverse = b.divide(b.full(a.shape, 1, _FLOAT64), over)
    for n in reversed(range(_STEPS[a.dtype.name])):
        above, below = (
            b.full(a.shape, 2.0 ** (k * _STEP * n), _FLOAT64) for k in (1, -1)
        )
        q = b.round_nearest_even(b.multiply(rest, b.multiply(inverse, below)))
        rest = b.subtract(rest, b.multiply(q, b.multiply(over, above)))
    return _least_positive(b, rest, over, a, d)


def _near_remainder(b: Builder, a: Value, d: Value) -> Value:
    """Return the remainder of magnitudes whose quotient is below the limit.

    The nearest whole quotient q leaves at most half of d. q d is q high + q low, both
    exact, and so is each difference, which is a multiple of the last bits of a and d, and
    not above d.
    """
    q = b.round_nearest_even(b.divide(a, d))
    words = np.dtype(np.uint64)
    mask = b.full(a.shape, 2**64 - 2**_LOW_BITS, words)
    bits = b.and_(b.bitcast_convert(d, a.shape, words), mask)
    high = b.bitcast_convert(bits, a.shape, d.dtype)
    rest = b.subtract(a, b.multiply(q, high))
    rest = b.subtract(rest, b.multiply(q, b.subtract(d, high)))
    return _least_positive(b, rest, d, a, d)


def _least_positive(b: Builder, rest: Value, over: Value, a: Value, d: Value) -> Value:
    """Add the divisor to negative rests; keep `a` where it is smaller than `d`."""
    is_below = b.compare(rest, b.full(rest.shape, 0, rest.dtype), "LT")
    rest = b.convert(b.select(is_below, b.add(rest, over), rest), a.dtype)
    return b.select(b.compare(a, d, "LT"), a, rest)  # also where d is infinite


rem_p: Final = binary(
    "rem",
    dtypes=_REAL,
    reference=_rem_reference,
    lower=_rem_lower,
    fusion=DIVISION._replace(wide=(650, 650)),
    makes_nan=True,
    derivatives=(lambda x, y, _: scalar_like(x, 1), _minus_whole_quotient),
    samples=Samples(
        (*INTS, *FLOATS),
        arity=2,
        edges=(2, -3),
        operand_domains=((5.0, 5.9), (-2.4, -2.1)),
    ),
)


def rem(x: Any, y: Any) -> Any:
    """Return the remainder of `x / y`, with the sign of `x`, elementwise.

    Args:
        x: real numbers.
        y: of the dtype of `x`; rank 0 and axes of length 1 are repeated.

    Returns:
        An array of that dtype and the common shape. For an integer `y` of 0 it is `x`,
        for a float NaN.

    References:
        StableHLO, `remainder`; C, `fmod`.
    """
    return rem_p.bind1(x, y)


# ---- max, min ----


def _share_of_first(x: Any, y: Any, out: Any) -> Any:
    """Return 1 where `x` is the result, 1/2 at a tie, 0 elsewhere and for NaN."""
    zero, half, one = (scalar_like(out, n) for n in (0, 0.5, 1))
    return select_n(eq(x, y), select_n(eq(x, out), zero, one), half)


def _share_of_second(x: Any, y: Any, out: Any) -> Any:
    return _share_of_first(y, x, out)


def _choose(b: Builder, x: Value, y: Value, direction: Any) -> Value:
    """Choose between complex numbers by real part, then imaginary part."""
    tie = b.compare(b.real(x), b.real(y), "EQ")
    by_real = b.compare(b.real(x), b.real(y), direction)
    by_imag = b.compare(b.imag(x), b.imag(y), direction)
    return b.select(b.select(tie, by_imag, by_real), x, y)


max_p: Final = binary(
    "max",
    dtypes=ANY,
    reference=maximum,
    lower=lambda b, x, y: (
        _choose(b, x, y, "GT") if x.dtype.kind == "c" else b.maximum(x, y)
    ),
    fusion=ARITHMETIC,
    makes_nan=False,
    derivatives=(_share_of_first, _share_of_second),
    samples=Samples(("bool", *NUMBERS), arity=2),
)


def max_(x: Any, y: Any) -> Any:
    """Return the larger of `x` and `y`, elementwise; NaN if either float is.

    Args:
        x: numbers or booleans; complex ones are compared by real, then by imaginary
            part.
        y: of the dtype of `x`; rank 0 and axes of length 1 are repeated.

    Returns:
        An array of that dtype and the common shape. A complex NaN compares as false:
        the result is `y`.

    References:
        StableHLO, `maximum`.
    """
    return max_p.bind1(x, y)


min_p: Final = binary(
    "min",
    dtypes=ANY,
    reference=minimum,
    lower=lambda b, x, y: (
        _choose(b, x, y, "LT") if x.dtype.kind == "c" else b.minimum(x, y)
    ),
    fusion=ARITHMETIC,
    makes_nan=False,
    derivatives=(_share_of_first, _share_of_second),
    samples=Samples(("bool", *NUMBERS), arity=2),
)


def min_(x: Any, y: Any) -> Any:
    """Return the smaller of `x` and `y`, elementwise; NaN if either float is.

    Args:
        x: numbers or booleans; complex ones are compared by real, then by imaginary
            part.
        y: of the dtype of `x`; rank 0 and axes of length 1 are repeated.

    Returns:
        An array of that dtype and the common shape. A complex NaN compares as false:
        the result is `y`.

    References:
        StableHLO, `minimum`.
    """
    return min_p.bind1(x, y)


# ---- nextafter ----


def _nextafter_reference(x: NDArray, y: NDArray) -> NDArray:
    return where_reference(
        x == y, y, np.nextafter(x, y)
    )  # NumPy may give the other zero


def _nextafter_lower(b: Builder, x: Value, y: Value) -> Value:
    """Count on bits: comparisons of floats take subnormal numbers for 0."""
    holder, shape = np.dtype(f"i{x.dtype.itemsize}"), x.shape
    least = np.iinfo(holder).min
    zero, one, top = (b.full(shape, n, holder) for n in (0, 1, least))
    bits, to = (b.bitcast_convert(z, shape, holder) for z in (x, y))
    # In the order of the numbers, both zeros at 0.
    at, end = (
        b.select(b.compare(n, zero, "LT"), b.subtract(top, n), n) for n in (bits, to)
    )
    grows = b.compare(
        b.compare(at, end, "LT"), b.compare(bits, zero, "GE"), "EQ"
    )  # the magnitude
    step = b.select(grows, one, b.full(shape, -1, holder))
    from_zero = b.or_(b.and_(to, top), one)
    out = b.select(b.compare(at, zero, "EQ"), from_zero, b.add(bits, step))
    out = b.select(b.compare(at, end, "EQ"), to, out)
    is_nan = b.or_(b.compare(x, x, "NE"), b.compare(y, y, "NE"))
    nan = b.full(shape, np.nan, x.dtype)
    return b.select(is_nan, nan, b.bitcast_convert(out, shape, x.dtype))


nextafter_p: Final = binary(
    "nextafter",
    dtypes=FLOATING,
    reference=_nextafter_reference,
    lower=_nextafter_lower,
    fusion=UNFUSED,
    makes_nan=False,
    derivatives=(lambda x, y, _: scalar_like(x, 1), None),
    samples=Samples(FLOATS, arity=2),
)


def nextafter(x1: Any, x2: Any) -> Any:
    """Return the float next to `x1` in the direction of `x2`, elementwise.

    Args:
        x1: floats.
        x2: of the dtype of `x1`; rank 0 and axes of length 1 are repeated.

    Returns:
        An array of that dtype and the common shape. Where both are equal it is `x2`,
        where either is NaN it is NaN.

    References:
        C, `nextafter`; CHLO, `next_after`.
    """
    return nextafter_p.bind1(x1, x2)


# ---- integer_pow ----


def _integer_pow_aval(x: ShapedArray, *, y: int) -> Avals:
    NUMBER.check("integer_pow", (x,))
    if y < 0 and dt.is_integer(x.dtype):
        raise DTypeError(
            f"integer_pow: expected an exponent of at least 0 for integers, got {x} to "
            f"the power {y}. Convert the base with `.astype(float)`."
        )
    return (x,)


def _integer_pow_reference(x: NDArray, *, y: int) -> Values:
    return (_powers(x, y=y),)


@wide
def _powers(x: NDArray, *, y: int) -> NDArray:
    if y == 0:
        return np.ones_like(x)
    out = _power(x, abs(y), np.multiply)
    return out if y > 0 else _div_reference(np.ones_like(out), out)[0]


def _power(x: Any, exponent: int, multiply: Any) -> Any:
    """Multiply `x` with itself; the same products in NumPy and in the lowering."""
    out = None
    while True:
        if exponent & 1:
            out = x if out is None else multiply(out, x)
        exponent >>= 1
        if not exponent:
            return out
        x = multiply(x, x)


def _integer_pow_lower(b: Builder, x: Value, *, y: int) -> tuple[Value, ...]:
    one = b.full(x.shape, 1, x.dtype) if y <= 0 else x
    if y == 0:
        return (one,)
    out = _power(x, abs(y), b.multiply)
    return (out if y > 0 else b.divide(one, out),)


def _integer_pow_jvp(primals: Values, tangents: Values, *, y: int) -> Any:
    (x,), (t,) = primals, tangents
    out = integer_pow(x, y)
    if y == 0:
        return (out,), (full(get_aval(t).shape, 0, get_aval(t).dtype),)
    if y == 1:
        return (out,), (t,)
    lower = x if y == 2 else integer_pow(x, y - 1)
    return (out,), (mul(t, mul(scalar_like(x, y), lower)),)


def _integer_pow_batch(args: Values, dims: Dims, *, y: int) -> Any:
    return integer_pow_p.bind_all(*args, y=y), dims


integer_pow_p: Final = Primitive(
    name="integer_pow",
    aval=_integer_pow_aval,
    reference=_integer_pow_reference,
    lower=_integer_pow_lower,
    fusion=ARITHMETIC,
    makes_nan=True,
    jvp=_integer_pow_jvp,
    transpose=NOT_LINEAR,
    batch=_integer_pow_batch,
    pad=ELEMENTWISE,
    samples=Samples(
        NUMBERS,
        cases=(
            *(Case(((3, 4),), {"y": y}) for y in (0, 1, 2, 3, 7)),
            *(Case(((8,),), {"y": y}, (d,)) for y in (-1, -3) for d in INEXACTS),
        ),
        domain=(0.5, 3.0),
        ulps=16,
    ),
)


def integer_pow(x: Any, y: int) -> Any:
    """Return `x` to the power of a Python integer, by products, elementwise.

    Args:
        x: numbers.
        y: the exponent; to the power 0 every number is 1.

    Returns:
        An array of the dtype and shape of `x`.

    Raises:
        DTypeError: `x` are integers and `y` is negative.

    References:
        JAX, `jax.lax.integer_pow`.
    """
    return integer_pow_p.bind1(x, y=y)


# ---- gcd ----


def _gcd_lower(b: Builder, x: Value, y: Value) -> Value:
    if not dt.is_unsigned(x.dtype):
        x, y = b.abs(x), b.abs(y)
    axes = tuple(range(x.ndim))

    def condition(b: Builder, values: tuple[Value, ...]) -> tuple[Value, ...]:
        rest = values[1]
        going = b.compare(rest, b.full(rest.shape, 0, rest.dtype), "NE")
        return (b.reduce(going, b.constant(array=False), "or", axes),)

    def body(b: Builder, values: tuple[Value, ...]) -> tuple[Value, ...]:
        divisor, rest = values
        done = b.compare(rest, b.full(rest.shape, 0, rest.dtype), "EQ")
        return b.select(done, divisor, rest), b.select(
            done, rest, b.remainder(divisor, rest)
        )

    divisor = b.while_loop((x, y), condition, body)[0]
    return divisor if dt.is_unsigned(x.dtype) else b.abs(divisor)


gcd_p: Final = binary(
    "gcd",
    dtypes=INTEGER,
    reference=np.gcd,
    lower=_gcd_lower,
    fusion=UNFUSED,
    makes_nan=False,
    derivatives=None,
    samples=Samples(INTS, arity=2, edges=(12, 18, -6), differentiable=False),
)


def gcd(x: Any, y: Any) -> Any:
    """Return the greatest common divisor, elementwise; of 0 and 0 it is 0."""
    return gcd_p.bind1(x, y)

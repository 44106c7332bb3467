"""Uniform draws: bits, floats, integers; the other samplers transform these.

A float has random bits as mantissa and an exponent that puts it in [1, 2); minus 1, it
is scaled to the bounds. A dtype with few mantissa bits uses bits of the next width. An
integer is the remainder of twice as many bits, so that spans which are not a power of 2
have little bias; narrow integers are drawn in 32 bits.
"""

from typing import Any

import numpy as np

from imprint._src import dtypes
from imprint._src.core.array import Array
from imprint._src.core.aval import DType, Shape, get_aval
from imprint._src.dtypes import DTypeLike
from imprint._src.eager.spread import spread
from imprint._src.errors import ArgumentError
from imprint._src.primitives.barrier import stop_gradient
from imprint._src.primitives.core_ops import add, mul, scalar_like, sub
from imprint._src.primitives.elementwise.arithmetic import max_, min_, nextafter, rem
from imprint._src.primitives.elementwise.bitwise import and_, or_, shift_right_logical
from imprint._src.primitives.elementwise.comparison import gt, le, lt
from imprint._src.primitives.elementwise.convert import (
    bitcast_convert_type,
    convert_element_type,
)
from imprint._src.primitives.elementwise.select import clamp, select_n
from imprint._src.primitives.shape import as_operand
from imprint._src.random.arguments import (
    check_fits,
    check_number,
    float_dtype,
    float_info,
    programs,
    repeat,
    sizes,
)
from imprint._src.random.key_array import KeyLike, single_key
from imprint._src.random.streams import random_bits, row, split_data
from imprint._src.random.threefry import UINTS

# ---- bits ----


def bits(
    key: KeyLike,
    shape: Any = (),
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw unsigned integers, all equally likely.

    Args:
        key: a key.
        shape: the shape of the result.
        dtype: an unsigned integer dtype; `uint32` by default, `uint64` under `enable_x64`.
        out_sharding: how the result is spread, as in `imprint.lax.with_sharding_constraint`.

    Returns:
        The integers, of shape `shape`.

    Raises:
        ArgumentError: `dtype` is not an unsigned integer of 8 bits or more.

    Example:
        >>> import imprint
        >>> imprint.random.bits(imprint.random.key(0), (2,), "uint8")
        Array([167, 146], dtype=uint8)
    """
    if out_sharding is not None:
        return spread(bits(key, shape, dtype), out_sharding)
    data = single_key("bits", key)
    out = dtypes.default_uint() if dtype is None else dtypes.requested(dtype, "bits")
    if not dtypes.is_unsigned(out) or dtypes.bit_width(out) not in UINTS:
        raise ArgumentError(
            f"bits: expected uint8, uint16, uint32 or uint64 as dtype, got {out}. "
            "For integers in a range call imprint.random.randint."
        )
    return _bits_of(dtypes.bit_width(out), sizes("bits", shape))(data)


def _bits(width: int, shape: Shape, data: Any) -> Any:
    return random_bits(data, width, shape)


_bits_of = programs(_bits, is_exact=True)

# ---- floats ----


def uniform(
    key: KeyLike,
    shape: Any = (),
    dtype: DTypeLike | None = None,
    minval: Any = 0.0,
    maxval: Any = 1.0,
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw floats from [`minval`, `maxval`), all equally likely.

    Args:
        key: a key.
        shape: the shape of the result.
        dtype: a floating-point dtype; `float32` by default, `float64` under `enable_x64`.
        minval: the lower bound; broadcasts to `shape`.
        maxval: the upper bound, excluded; broadcasts to `shape`.
        out_sharding: how the result is spread, as in `imprint.lax.with_sharding_constraint`.

    Returns:
        The numbers, of shape `shape`.

    Raises:
        ArgumentError: `dtype` is not floating-point.
        ShapeError: the bounds do not broadcast to `shape`.

    Example:
        >>> import imprint
        >>> imprint.random.uniform(imprint.random.key(0), (2,))
        Array([0.947667 , 0.9785799], dtype=float32)
    """
    if out_sharding is not None:
        return spread(uniform(key, shape, dtype, minval, maxval), out_sharding)
    data = single_key("uniform", key)
    out, lengths = float_dtype("uniform", dtype), sizes("uniform", shape)
    if type(minval) is type(maxval) is float and (minval, maxval) == (0.0, 1.0):
        return _unit_of(lengths, out)(data)  # concrete numbers cost a call 7 us
    minval, maxval = as_operand(minval), as_operand(maxval)
    _check_bounds("uniform", lengths, minval, maxval)
    return _uniform_of(lengths, out)(data, minval, maxval)


def _check_bounds(name: str, shape: Shape, minval: Any, maxval: Any) -> None:
    for parameter, bound in (("minval", minval), ("maxval", maxval)):
        check_fits(name, shape, check_number(name, parameter, bound).shape)


def _uniform(shape: Shape, dtype: DType, data: Any, minval: Any, maxval: Any) -> Any:
    low, high = (convert_element_type(x, dtype) for x in (minval, maxval))
    drawn = uniform_floats(shape, dtype, data, repeat(low, shape), repeat(high, shape))
    if float_info(dtype).nmant >= 23:
        return drawn  # JAX's bits; one draw in 2^24 may round to the upper bound
    below, high = stop_gradient(low), stop_gradient(high)
    below, high = repeat(below, shape), repeat(high, shape)
    last = select_n(lt(below, high), below, nextafter(high, below))
    return min_(drawn, last)


_uniform_of = programs(_uniform)


def uniform_floats(shape: Shape, dtype: DType, data: Any, low: Any, high: Any) -> Any:
    """Draw floats from [`low`, `high`), which have this dtype and shape, or rank 0."""
    info = float_info(dtype)
    width = 8 if info.nmant < 8 else info.bits
    uint = UINTS[info.bits]
    drawn = convert_element_type(random_bits(data, width, shape), uint)
    mantissa = shift_right_logical(drawn, scalar_like(drawn, width - info.nmant))
    one = np.ones((), dtype)
    exponent = one.view(uint)[()]
    floats = sub(bitcast_convert_type(or_(mantissa, exponent), dtype), one[()])
    return max_(low, add(mul(floats, sub(high, low)), low))


def unit_floats(shape: Shape, dtype: DType, data: Any, low: float = 0.0) -> Any:
    """Draw floats from [`low`, 1)."""
    least, one = (np.asarray(x, dtype)[()] for x in (low, 1.0))
    return uniform_floats(shape, dtype, data, least, one)


_unit_of = programs(unit_floats, is_exact=True)

# ---- integers ----


def randint(
    key: KeyLike,
    shape: Any,
    minval: Any,
    maxval: Any,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw integers from [`minval`, `maxval`), all equally likely up to rounding.

    Args:
        key: a key.
        shape: the shape of the result.
        minval: the lower bound; broadcasts to `shape`.
        maxval: the upper bound, excluded; broadcasts to `shape`.
        dtype: an integer dtype; `int32` by default, `int64` under `enable_x64`.
        out_sharding: how the result is spread, as in `imprint.lax.with_sharding_constraint`.

    Returns:
        The integers, of shape `shape`; `minval`, where `maxval` is not above it.

    Raises:
        ArgumentError: `dtype` is not an integer of 8 bits or more.
        ShapeError: the bounds do not broadcast to `shape`.

    Example:
        >>> import imprint
        >>> imprint.random.randint(imprint.random.key(0), (5,), 1, 7)
        Array([2, 1, 3, 2, 6], dtype=int32)
    """
    if out_sharding is not None:
        return spread(randint(key, shape, minval, maxval, dtype), out_sharding)
    data = single_key("randint", key)
    out = dtypes.requested(int if dtype is None else dtype, "randint")
    if not dtypes.is_integer(out) or dtypes.bit_width(out) not in UINTS:
        raise ArgumentError(
            f"randint: expected an integer dtype of 8 bits or more, got {out}. "
            "For floats call imprint.random.uniform."
        )
    lengths = sizes("randint", shape)
    minval, maxval = as_operand(minval), as_operand(maxval)
    _check_bounds("randint", lengths, minval, maxval)
    return _randint_of(lengths, out)(data, minval, maxval)


def _randint(shape: Shape, dtype: DType, data: Any, minval: Any, maxval: Any) -> Any:
    minval, maxval = _as_integer(minval), _as_integer(maxval)
    drawn = dtype
    if dtypes.bit_width(dtype) < 32:
        drawn, info = dtypes.int32, dtypes.iinfo(dtype)
        minval = _clipped(minval, drawn, int(info.min), int(info.max))
        maxval = _clipped(maxval, drawn, int(info.min), int(info.max) + 1)
    most = int(dtypes.iinfo(drawn).max)
    beyond = gt(maxval, scalar_like(maxval, min(most, _most(maxval))))
    low, high = (repeat(_clipped(x, drawn), shape) for x in (minval, maxval))
    span = _span(low, high, repeat(beyond, shape))
    offset = _offset(shape, data, span)
    return convert_element_type(add(low, convert_element_type(offset, drawn)), dtype)


_randint_of = programs(_randint, is_exact=True)


def _as_integer(x: Any) -> Any:
    if dtypes.is_integer(get_aval(x).dtype):
        return x
    return convert_element_type(x, dtypes.default_int())


def _most(x: Any) -> int:
    return int(dtypes.iinfo(get_aval(x).dtype).max)


def _clipped(
    x: Any, dtype: DType, least: int | None = None, most: int | None = None
) -> Any:
    """Convert an integer, clipped to the limits of the dtype or the given one."""
    info, own = dtypes.iinfo(dtype), dtypes.iinfo(get_aval(x).dtype)
    least = max(int(own.min), int(info.min) if least is None else least)
    most = min(int(own.max), int(info.max) if most is None else most)
    limited = clamp(scalar_like(x, least), x, scalar_like(x, most))
    return convert_element_type(limited, dtype)


def _span(low: Any, high: Any, beyond: Any) -> Any:
    """Return the number of integers to draw from; 0 for all of the dtype."""
    width = dtypes.bit_width(get_aval(low).dtype)
    span = convert_element_type(sub(high, low), UINTS[width])
    one = scalar_like(span, 1)
    span = _where(le(high, low), one, span)
    return _where(and_(beyond, gt(high, low)), add(span, one), span)


def _where(which: Any, x: Any, y: Any) -> Any:
    shape = max((get_aval(v).shape for v in (which, x, y)), key=len)
    return select_n(which, *(repeat(v, shape) for v in (y, x)))


def _offset(shape: Shape, data: Any, span: Any) -> Any:
    """Draw numbers of twice the width, modulo `span`: (a·b) % n = ((a % n)·(b % n)) % n."""
    width = dtypes.bit_width(get_aval(span).dtype)
    keys = split_data(data, (2,))
    high, low = (random_bits(row(keys, i), width, shape) for i in (0, 1))
    half = rem(scalar_like(span, 1 << width // 2), span)
    whole = rem(mul(half, half), span)
    return rem(add(mul(rem(high, span), whole), rem(low, span)), span)

"""Continuous distributions: each is a function of a uniform draw.

The bounds of the uniform draw keep the function finite. Operations and their order are
JAX's, so results agree to the last bit.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from imprint._src import dtypes
from imprint._src.core.array import Array
from imprint._src.core.aval import DType, Shape
from imprint._src.dtypes import DTypeLike
from imprint._src.eager.spread import spread
from imprint._src.errors import ArgumentError
from imprint._src.primitives.barrier import stop_gradient
from imprint._src.primitives.core_ops import add, mul, neg, scalar_like, sub
from imprint._src.primitives.elementwise.arithmetic import div, max_, min_, nextafter
from imprint._src.primitives.elementwise.comparison import ge
from imprint._src.primitives.elementwise.convert import convert_element_type
from imprint._src.primitives.elementwise.exponential import log, log1p
from imprint._src.primitives.elementwise.rounding import abs_, sign
from imprint._src.primitives.elementwise.select import select_n
from imprint._src.primitives.elementwise.trigonometric import tan
from imprint._src.primitives.special.special import erf, erf_inv
from imprint._src.random.arguments import (
    check_number,
    common_shape,
    float_dtype,
    float_info,
    programs,
    repeat,
    sizes,
)
from imprint._src.random.intervals import uniform_floats, unit_floats
from imprint._src.random.key_array import KeyLike, single_key
from imprint._src.random.streams import row, split_data

# ---- normal ----


def normal(
    key: KeyLike,
    shape: Any = (),
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw from the normal distribution of mean 0 and variance 1.

    Args:
        key: a key.
        shape: the shape of the result.
        dtype: a floating-point or complex dtype; `float32` by default, `float64` under
            `enable_x64`. The parts of a complex number have variance 1/2 each.
        out_sharding: how the result is spread, as in `imprint.lax.with_sharding_constraint`.

    Returns:
        The numbers, of shape `shape`.

    Raises:
        ArgumentError: `dtype` is neither floating-point nor complex.

    Example:
        >>> import imprint
        >>> imprint.random.normal(imprint.random.key(0), (2,))
        Array([1.6226422, 2.0252647], dtype=float32)
    """
    if out_sharding is not None:
        return spread(normal(key, shape, dtype), out_sharding)
    data = single_key("normal", key)
    out = dtypes.requested(float if dtype is None else dtype, "normal")
    if not dtypes.is_inexact(out):
        raise ArgumentError(
            f"normal: expected a floating-point or complex dtype, got {out}. Leave dtype "
            "out for the default, or convert the result."
        )
    return _normal_of(sizes("normal", shape), out)(data)


def normal_numbers(shape: Shape, dtype: DType, data: Any) -> Any:
    """Draw from the standard normal distribution, in a real or complex dtype."""
    if not dtypes.is_complex(dtype):
        return normal_floats(shape, dtype, data)
    keys, part = split_data(data, (2,)), dtypes.real_part_dtype(dtype)
    real, imag = (
        convert_element_type(normal_floats(shape, part, row(keys, i)), dtype)
        for i in (0, 1)
    )
    both = add(real, mul(scalar_like(imag, 1j), imag))
    return div(both, scalar_like(both, np.sqrt(2)))


def normal_floats(shape: Shape, dtype: DType, data: Any) -> Any:
    """Draw from the standard normal distribution, in a real dtype."""
    one = np.ones((), dtype)
    low = np.nextafter(-one, np.zeros((), dtype), dtype=dtype)
    drawn = uniform_floats(shape, dtype, data, low, one[()])
    return mul(scalar_like(drawn, np.sqrt(2)), erf_inv(drawn))


_normal_of = programs(normal_numbers)


def truncated_normal(
    key: KeyLike,
    lower: Any,
    upper: Any,
    shape: Any = None,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw from the normal distribution, truncated to an interval.

    Args:
        key: a key.
        lower: the lower bound, excluded.
        upper: the upper bound, excluded.
        shape: the shape of the result; by default the common shape of the bounds.
        dtype: as in `uniform`.
        out_sharding: how the result is spread, as in `imprint.lax.with_sharding_constraint`.

    Returns:
        The numbers, between the bounds.

    Raises:
        ArgumentError: `dtype` is not floating-point.
        ShapeError: the bounds do not broadcast to `shape`.

    Example:
        >>> import imprint
        >>> imprint.random.truncated_normal(imprint.random.key(0), -1, 1, (2,))
        Array([0.8618594, 0.9412883], dtype=float32)
    """
    if out_sharding is not None:
        return spread(truncated_normal(key, lower, upper, shape, dtype), out_sharding)
    asked, bounds = (key, shape, dtype), {"lower": lower, "upper": upper}
    return with_parameters("truncated_normal", _truncated_normal_of, asked, bounds)


def _truncated_normal(
    shape: Shape, dtype: DType, data: Any, lower: Any, upper: Any
) -> Any:
    lower, upper = (convert_element_type(x, dtype) for x in (lower, upper))
    root = scalar_like(lower, np.sqrt(2))
    low, high = (repeat(erf(div(x, root)), shape) for x in (lower, upper))
    drawn = mul(root, erf_inv(uniform_floats(shape, dtype, data, low, high)))
    above = nextafter(stop_gradient(lower), scalar_like(lower, np.inf))
    below = nextafter(stop_gradient(upper), scalar_like(upper, -np.inf))
    return min_(max_(drawn, repeat(above, shape)), repeat(below, shape))


_truncated_normal_of = programs(_truncated_normal)


def with_parameters(
    name: str,
    program_of: Callable[..., Callable[..., Any]],
    asked: tuple[KeyLike, Any, DTypeLike | None],
    parameters: dict[str, Any],
) -> Array:
    """Draw floats by a program with parameters, broadcast to the shape.

    Args:
        name: the sampler, for errors.
        program_of: the result of `programs` for its draw.
        asked: the key, the shape (None for the common one of the parameters) and the
            dtype.
        parameters: the parameters by name, in the order of the draw's arguments.
    """
    key, shape, dtype = asked
    data, out = single_key(name, key), float_dtype(name, dtype)
    for word, x in parameters.items():
        check_number(name, word, x)
    given = parameters.values()
    return program_of(common_shape(name, shape, *given), out)(data, *given)


# ---- other distributions without parameters ----


def exponential(
    key: KeyLike,
    shape: Any = (),
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw from the exponential distribution of mean 1.

    Args:
        key: a key.
        shape: the shape of the result.
        dtype: as in `uniform`.
        out_sharding: how the result is spread, as in `imprint.lax.with_sharding_constraint`.

    Returns:
        The numbers, of at least 0.

    Raises:
        ArgumentError: `dtype` is not floating-point.

    Example:
        >>> import imprint
        >>> imprint.random.exponential(imprint.random.key(0), (2,))
        Array([2.950128 , 3.8434246], dtype=float32)
    """
    if out_sharding is not None:
        return spread(exponential(key, shape, dtype), out_sharding)
    data, out = single_key("exponential", key), float_dtype("exponential", dtype)
    return _exponential_of(sizes("exponential", shape), out)(data)


def exponential_floats(shape: Shape, dtype: DType, data: Any) -> Any:
    """Draw from the exponential distribution of mean 1."""
    drawn = unit_floats(shape, dtype, data)
    return neg(log1p(neg(drawn)))


_exponential_of = programs(exponential_floats)


def gumbel(
    key: KeyLike,
    shape: Any = (),
    dtype: DTypeLike | None = None,
    mode: str | None = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw from the Gumbel distribution of location 0 and scale 1.

    Args:
        key: a key.
        shape: the shape of the result.
        dtype: as in `uniform`.
        mode: "low", the default; or "high", with twice the bits, for tails accurate to
            1e-14 instead of 1e-7 in `float32`.
        out_sharding: how the result is spread, as in `imprint.lax.with_sharding_constraint`.

    Returns:
        The numbers, of shape `shape`.

    Raises:
        ArgumentError: `dtype` is not floating-point, or `mode` is unknown.

    Example:
        >>> import imprint
        >>> imprint.random.gumbel(imprint.random.key(0), (2,))
        Array([2.9233725, 3.8326178], dtype=float32)
    """
    if out_sharding is not None:
        return spread(gumbel(key, shape, dtype, mode), out_sharding)
    data, out = single_key("gumbel", key), float_dtype("gumbel", dtype)
    lengths = sizes("gumbel", shape)
    return _gumbel_of(lengths, out, precision("gumbel", mode))(data)


def precision(name: str, mode: str | None) -> bool:
    """Return whether a sampler uses twice the bits."""
    if mode not in ("low", "high", None):
        raise ArgumentError(
            f'{name}: expected "low" or "high" as mode, got {mode!r}. '
            '"low" is the default, "high" takes twice the bits.'
        )
    return mode == "high"


def gumbel_floats(shape: Shape, dtype: DType, precise: bool, data: Any) -> Any:  # noqa: FBT001 - a param of a program
    """Draw from the Gumbel distribution, optionally with twice the bits."""
    tiny = float_info(dtype).tiny
    if not precise:
        return neg(log(neg(log(unit_floats(shape, dtype, data, tiny)))))
    nmant = float_info(dtype).nmant
    pair = unit_floats((2, *shape), dtype, data)
    high, low = row(pair, 0), row(pair, 1)
    fine = mul(scalar_like(low, 2.0**-nmant), low)
    least = scalar_like(high, max(2.0 ** -(2 * nmant + 1), tiny))
    wide = ge(high, scalar_like(high, 0.5))
    drawn = select_n(wide, add(add(high, fine), least), high)
    return neg(log(neg(log1p(neg(drawn)))))


_gumbel_of = programs(gumbel_floats)


def laplace(
    key: KeyLike,
    shape: Any = (),
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw from the Laplace distribution of location 0 and scale 1.

    Args:
        key: a key.
        shape: the shape of the result.
        dtype: as in `uniform`.
        out_sharding: how the result is spread, as in `imprint.lax.with_sharding_constraint`.

    Returns:
        The numbers, of shape `shape`.

    Raises:
        ArgumentError: `dtype` is not floating-point.

    Example:
        >>> import imprint
        >>> imprint.random.laplace(imprint.random.key(0), (2,))
        Array([-2.2569816, -3.1502788], dtype=float32)
    """
    if out_sharding is not None:
        return spread(laplace(key, shape, dtype), out_sharding)
    data, out = single_key("laplace", key), float_dtype("laplace", dtype)
    return _laplace_of(sizes("laplace", shape), out)(data)


def _laplace(shape: Shape, dtype: DType, data: Any) -> Any:
    drawn = unit_floats(shape, dtype, data, -1.0 + float_info(dtype).epsneg)
    return mul(sign(drawn), log1p(neg(abs_(drawn))))


_laplace_of = programs(_laplace)


def logistic(
    key: KeyLike,
    shape: Any = (),
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw from the logistic distribution of location 0 and scale 1.

    Args:
        key: a key.
        shape: the shape of the result.
        dtype: as in `uniform`.
        out_sharding: how the result is spread, as in `imprint.lax.with_sharding_constraint`.

    Returns:
        The numbers, of shape `shape`.

    Raises:
        ArgumentError: `dtype` is not floating-point.

    Example:
        >>> import imprint
        >>> imprint.random.logistic(imprint.random.key(0), (2,))
        Array([2.896376 , 3.8217716], dtype=float32)
    """
    if out_sharding is not None:
        return spread(logistic(key, shape, dtype), out_sharding)
    data, out = single_key("logistic", key), float_dtype("logistic", dtype)
    return _logistic_of(sizes("logistic", shape), out)(data)


def _logistic(shape: Shape, dtype: DType, data: Any) -> Any:
    drawn = unit_floats(shape, dtype, data, float_info(dtype).tiny)
    return sub(log(drawn), log1p(neg(drawn)))


_logistic_of = programs(_logistic)


def cauchy(
    key: KeyLike,
    shape: Any = (),
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw from the Cauchy distribution of location 0 and scale 1.

    Args:
        key: a key.
        shape: the shape of the result.
        dtype: as in `uniform`.
        out_sharding: how the result is spread, as in `imprint.lax.with_sharding_constraint`.

    Returns:
        The numbers, of shape `shape`.

    Raises:
        ArgumentError: `dtype` is not floating-point.

    Example:
        >>> import imprint
        >>> imprint.random.cauchy(imprint.random.key(0), (2,))
        Array([ 6.0274944, 14.837895 ], dtype=float32)
    """
    if out_sharding is not None:
        return spread(cauchy(key, shape, dtype), out_sharding)
    data, out = single_key("cauchy", key), float_dtype("cauchy", dtype)
    return _cauchy_of(sizes("cauchy", shape), out)(data)


def _cauchy(shape: Shape, dtype: DType, data: Any) -> Any:
    drawn = unit_floats(shape, dtype, data, float_info(dtype).eps)
    centred = sub(drawn, scalar_like(drawn, 0.5))
    return tan(mul(scalar_like(drawn, np.pi), centred))


_cauchy_of = programs(_cauchy)

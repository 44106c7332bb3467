"""Distributions derived from one or two simpler draws.

Parameters broadcast to the shape of the result. Operations and their order are JAX's,
so results agree to the last bit (except for `maxwell`).
"""

from typing import Any

from imprint._src import dtypes
from imprint._src.core.array import Array
from imprint._src.core.aval import DType, Shape, get_aval
from imprint._src.dtypes import DTypeLike
from imprint._src.eager.spread import spread
from imprint._src.errors import ArgumentError
from imprint._src.primitives.core_ops import (
    add,
    broadcast_to,
    mul,
    neg,
    reduce_sum,
    scalar_like,
    sub,
)
from imprint._src.primitives.elementwise.arithmetic import div
from imprint._src.primitives.elementwise.comparison import eq, le, lt
from imprint._src.primitives.elementwise.convert import convert_element_type
from imprint._src.primitives.elementwise.exponential import exp, log, log1p, sqrt
from imprint._src.primitives.elementwise.power import pow_
from imprint._src.primitives.elementwise.rounding import floor
from imprint._src.primitives.elementwise.select import select_n
from imprint._src.primitives.shape import expand_dims
from imprint._src.random.arguments import (
    check_number,
    common_shape,
    float_dtype,
    programs,
    repeat,
    sizes,
)
from imprint._src.random.continuous import (
    exponential_floats,
    normal_floats,
    with_parameters,
)
from imprint._src.random.discrete import rademacher_signs
from imprint._src.random.intervals import unit_floats
from imprint._src.random.key_array import KeyLike, single_key
from imprint._src.random.streams import row, split_data

# ---- from a normal draw ----


def lognormal(
    key: KeyLike,
    sigma: Any = 1.0,
    shape: Any = None,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw numbers with normal logarithms, of mean 0: log-normal.

    Args:
        key: a key.
        sigma: the standard deviation of the logarithm.
        shape: the shape of the result; by default the common shape of the parameters.
        dtype: as in `uniform`.
        out_sharding: how the result is spread, as in `imprint.lax.with_sharding_constraint`.

    Returns:
        The numbers, of shape `shape`, positive.

    Raises:
        ArgumentError: `dtype` is not floating-point.
        ShapeError: `sigma` does not broadcast to `shape`.

    Example:
        >>> import imprint
        >>> imprint.random.lognormal(imprint.random.key(0), shape=(2,))
        Array([5.066459, 7.578117], dtype=float32)
    """
    if out_sharding is not None:
        return spread(lognormal(key, sigma, shape, dtype), out_sharding)
    return with_parameters(
        "lognormal", _lognormal_of, (key, shape, dtype), {"sigma": sigma}
    )


def _lognormal(shape: Shape, dtype: DType, data: Any, sigma: Any) -> Any:
    drawn = normal_floats(shape, dtype, data)
    return exp(mul(drawn, _as(dtype, shape, sigma)))


_lognormal_of = programs(_lognormal)


def maxwell(
    key: KeyLike,
    shape: Any = (),
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw from the Maxwell distribution: norms of normal vectors of three numbers.

    Args:
        key: a key.
        shape: the shape of the result.
        dtype: as in `uniform`.
        out_sharding: how the result is spread, as in `imprint.lax.with_sharding_constraint`.

    Returns:
        The numbers, of shape `shape`, of at least 0.

    Raises:
        ArgumentError: `dtype` is not floating-point.

    Example:
        >>> import imprint
        >>> imprint.random.maxwell(imprint.random.key(0), (2,)).round(4)
        Array([2.6311, 0.991 ], dtype=float32)
    """
    if out_sharding is not None:
        return spread(maxwell(key, shape, dtype), out_sharding)
    data, out = single_key("maxwell", key), float_dtype("maxwell", dtype)
    return _maxwell_of(sizes("maxwell", shape), out)(data)


def _maxwell(shape: Shape, dtype: DType, data: Any) -> Any:
    drawn = normal_floats((*shape, 3), dtype, data)
    squares = mul(drawn, drawn)
    wide = dtypes.float32 if dtype.itemsize < 4 else dtype
    total = reduce_sum(convert_element_type(squares, wide), (len(shape),))
    return sqrt(convert_element_type(total, dtype))


_maxwell_of = programs(_maxwell)


def double_sided_maxwell(
    key: KeyLike,
    loc: Any,
    scale: Any,
    shape: Any = (),
    dtype: DTypeLike | None = None,
) -> Array:
    """Draw from the double-sided Maxwell distribution, scaled and shifted.

    Args:
        key: a key.
        loc: the shift.
        scale: the factor.
        shape: the shape of the result, before the common shape of the parameters; by
            default that shape again.
        dtype: as in `uniform`.

    Returns:
        The numbers.

    Raises:
        ArgumentError: `dtype` is not floating-point.
        ShapeError: the parameters do not broadcast.

    Example:
        >>> import imprint
        >>> key = imprint.random.key(0)
        >>> imprint.random.double_sided_maxwell(key, 1.0, 2.0, (2,)).shape
        (2,)
    """
    name = "double_sided_maxwell"
    data, out = single_key(name, key), float_dtype(name, dtype)
    check_number(name, "loc", loc)
    check_number(name, "scale", scale)
    common = common_shape(name, None, loc, scale)
    lengths = (*(sizes(name, shape) or common), *common)
    return _double_sided_maxwell_of(lengths, out)(data, loc, scale)


def _double_sided_maxwell(
    shape: Shape, dtype: DType, data: Any, loc: Any, scale: Any
) -> Any:
    keys = split_data(data, (2,))
    drawn = _maxwell(shape, dtype, row(keys, 0))
    loc, scale = (_of_rank(len(shape), x) for x in (loc, scale))
    return rademacher_signs(shape, dtype, row(keys, 1)) * drawn * scale + loc


def _of_rank(ndim: int, x: Any) -> Any:
    own = get_aval(x).ndim
    return expand_dims(x, tuple(range(ndim - own))) if 0 < own < ndim else x


_double_sided_maxwell_of = programs(_double_sided_maxwell)


def wald(
    key: KeyLike,
    mean: Any,
    shape: Any = None,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw from the Wald (inverse Gaussian) distribution.

    Args:
        key: a key.
        mean: the mean, positive; the shape parameter is 1.
        shape: the shape of the result; by default the common shape of the parameters.
        dtype: as in `uniform`.
        out_sharding: how the result is spread, as in `imprint.lax.with_sharding_constraint`.

    Returns:
        The numbers, of shape `shape`, positive.

    Raises:
        ArgumentError: `dtype` is not floating-point.
        ShapeError: `mean` does not broadcast to `shape`.

    References:
        Michael, Schucany and Haas 1976.

    Example:
        >>> import imprint
        >>> imprint.random.wald(imprint.random.key(0), 1.0, (2,))
        Array([0.3805977 , 0.41566527], dtype=float32)
    """
    if out_sharding is not None:
        return spread(wald(key, mean, shape, dtype), out_sharding)
    return with_parameters("wald", _wald_of, (key, shape, dtype), {"mean": mean})


def _wald(shape: Shape, dtype: DType, data: Any, mean: Any) -> Any:
    mean = _as(dtype, shape, mean)
    keys = split_data(data, (2,))
    drawn = normal_floats(shape, dtype, row(keys, 0))
    chosen = unit_floats(shape, dtype, row(keys, 1))
    two, four = scalar_like(mean, 2), scalar_like(mean, 4)
    y = mul(drawn, drawn)
    mean_sq = mul(mean, mean)
    root = sqrt(add(mul(mul(four, mean), y), mul(mean_sq, mul(y, y))))
    low = sub(add(mean, div(mul(mean_sq, y), two)), mul(div(mean, two), root))
    is_low = le(chosen, div(mean, add(mean, low)))
    return select_n(is_low, div(mean_sq, low), low)


_wald_of = programs(_wald)


# ---- from an exponential or a uniform draw ----


def pareto(
    key: KeyLike,
    b: Any,
    shape: Any = None,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw from the Pareto distribution, numbers of at least 1.

    Args:
        key: a key.
        b: the shape parameter, positive; a smaller one has a heavier tail.
        shape: the shape of the result; by default the common shape of the parameters.
        dtype: as in `uniform`.
        out_sharding: how the result is spread, as in `imprint.lax.with_sharding_constraint`.

    Returns:
        The numbers, of shape `shape`.

    Raises:
        ArgumentError: `dtype` is not floating-point.
        ShapeError: `b` does not broadcast to `shape`.

    Example:
        >>> import imprint
        >>> imprint.random.pareto(imprint.random.key(0), 2.0, (2,))
        Array([4.371316, 6.832648], dtype=float32)
    """
    if out_sharding is not None:
        return spread(pareto(key, b, shape, dtype), out_sharding)
    return with_parameters("pareto", _pareto_of, (key, shape, dtype), {"b": b})


def _pareto(shape: Shape, dtype: DType, data: Any, b: Any) -> Any:
    drawn = exponential_floats(shape, dtype, data)
    return exp(div(drawn, _as(dtype, shape, b)))


_pareto_of = programs(_pareto)


def rayleigh(
    key: KeyLike,
    scale: Any,
    shape: Any = None,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw from the Rayleigh distribution.

    Args:
        key: a key.
        scale: the mode of the distribution.
        shape: the shape of the result; by default the common shape of the parameters.
        dtype: as in `uniform`.
        out_sharding: how the result is spread, as in `imprint.lax.with_sharding_constraint`.

    Returns:
        The numbers, of shape `shape`, of at least 0.

    Raises:
        ArgumentError: `dtype` is not floating-point.
        ShapeError: `scale` does not broadcast to `shape`.

    Example:
        >>> import imprint
        >>> imprint.random.rayleigh(imprint.random.key(0), 1.0, (2,))
        Array([0.32787833, 0.20810027], dtype=float32)
    """
    if out_sharding is not None:
        return spread(rayleigh(key, scale, shape, dtype), out_sharding)
    return with_parameters(
        "rayleigh", _rayleigh_of, (key, shape, dtype), {"scale": scale}
    )


def _rayleigh(shape: Shape, dtype: DType, data: Any, scale: Any) -> Any:
    size = log(unit_floats(shape, dtype, data))
    return mul(_as(dtype, shape, scale), sqrt(mul(size, scalar_like(size, -2))))


_rayleigh_of = programs(_rayleigh)


def weibull_min(
    key: KeyLike,
    scale: Any,
    concentration: Any,
    shape: Any = (),
    dtype: DTypeLike | None = None,
) -> Array:
    """Draw from the Weibull distribution of minima.

    Args:
        key: a key.
        scale: the factor.
        concentration: the shape parameter, positive.
        shape: the shape of the result; None for the common shape of the parameters.
        dtype: as in `uniform`.

    Returns:
        The numbers, of at least 0 for a positive `scale`.

    Raises:
        ArgumentError: `dtype` is not floating-point.
        ShapeError: the parameters do not broadcast to `shape`.

    Example:
        >>> import imprint
        >>> imprint.random.weibull_min(imprint.random.key(0), 1.0, 2.0, (2,))
        Array([1.7175937, 1.9604654], dtype=float32)
    """
    return with_parameters(
        "weibull_min",
        _weibull_min_of,
        (key, shape, dtype),
        {"scale": scale, "concentration": concentration},
    )


def _weibull_min(
    shape: Shape, dtype: DType, data: Any, scale: Any, concentration: Any
) -> Any:
    drawn = neg(log1p(neg(unit_floats(shape, dtype, data))))
    concentration = _as(dtype, shape, concentration)
    power = div(scalar_like(concentration, 1), concentration)
    return mul(pow_(drawn, power), _as(dtype, shape, scale))


_weibull_min_of = programs(_weibull_min)


def triangular(  # noqa: PLR0913 - JAX's signature
    key: KeyLike,
    left: Any,
    mode: Any,
    right: Any,
    shape: Any = None,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw from the triangular distribution.

    Args:
        key: a key.
        left: the lower limit.
        mode: the most likely value.
        right: the upper limit.
        shape: the shape of the result; by default the common shape of the parameters.
        dtype: as in `uniform`.
        out_sharding: how the result is spread, as in `imprint.lax.with_sharding_constraint`.

    Returns:
        The numbers, of shape `shape`, between the limits.

    Raises:
        ArgumentError: `dtype` is not floating-point.
        ShapeError: the parameters do not broadcast to `shape`.

    Example:
        >>> import imprint
        >>> imprint.random.triangular(imprint.random.key(0), 0.0, 0.5, 1.0, (2,))
        Array([0.8382394, 0.8965106], dtype=float32)
    """
    if out_sharding is not None:
        return spread(triangular(key, left, mode, right, shape, dtype), out_sharding)
    return with_parameters(
        "triangular",
        _triangular_of,
        (key, shape, dtype),
        {"left": left, "mode": mode, "right": right},
    )


def _triangular(shape: Shape, dtype: DType, data: Any, *bounds: Any) -> Any:
    left, mode, right = (_as(dtype, shape, x) for x in bounds)
    drawn = unit_floats(shape, dtype, data)
    span, below, above = sub(right, left), sub(mode, left), sub(right, mode)
    rest = sub(scalar_like(drawn, 1), drawn)
    low = add(left, sqrt(mul(mul(drawn, span), below)))
    high = sub(right, sqrt(mul(mul(rest, span), above)))
    return select_n(repeat(lt(drawn, div(below, span)), shape), high, low)


_triangular_of = programs(_triangular)


def geometric(
    key: KeyLike,
    p: Any,
    shape: Any = None,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw from the geometric distribution: the trials until the first success.

    Args:
        key: a key.
        p: the probability of success, in (0, 1].
        shape: the shape of the result; by default that of `p`.
        dtype: an integer dtype; `int32` by default, `int64` under `enable_x64`.
        out_sharding: how the result is spread, as in `imprint.lax.with_sharding_constraint`.

    Returns:
        The counts, of at least 1.

    Raises:
        ArgumentError: `dtype` is not an integer one.
        ShapeError: `p` does not broadcast to `shape`.

    Example:
        >>> import imprint
        >>> imprint.random.geometric(imprint.random.key(0), 0.25, (4,))
        Array([1, 1, 4, 3], dtype=int32)
    """
    if out_sharding is not None:
        return spread(geometric(key, p, shape, dtype), out_sharding)
    data = single_key("geometric", key)
    out = dtypes.requested(int if dtype is None else dtype, "geometric")
    if not dtypes.is_integer(out):
        raise ArgumentError(
            f"geometric: expected an integer dtype, got {out}. Convert the result."
        )
    check_number("geometric", "p", p)
    return _geometric_of(common_shape("geometric", shape, p), out)(data, p)


def _geometric(shape: Shape, dtype: DType, data: Any, p: Any) -> Any:
    floats = dtypes.to_inexact(get_aval(p).dtype)
    drawn = unit_floats(shape, floats, data)
    one = scalar_like(drawn, 1)
    is_zero = eq(drawn, scalar_like(drawn, 0))
    size = log(select_n(is_zero, drawn, broadcast_to(one, shape)))
    failing = log1p(neg(_as(floats, shape, p)))
    return convert_element_type(add(floor(div(size, failing)), one), dtype)


_geometric_of = programs(_geometric)


def _as(dtype: DType, shape: Shape, x: Any) -> Any:
    """Return a parameter with the dtype and the shape of the draw."""
    return repeat(convert_element_type(x, dtype), shape)

"""Discrete distributions of counts: poisson, binomial, multinomial.

For a small rate, count steps until a product of uniform draws, or a sum of geometric
ones, passes its bound. For a large one, use transformed rejection. Both loops run for
each number; the unused one gets a rate at which it ends at once. Operations and their
order are JAX's.
"""

import math
from typing import Any, Final, Literal, TypeAlias

import numpy as np

from imprint._src import dtypes
from imprint._src.core.array import Array
from imprint._src.core.aval import DType, Shape, get_aval
from imprint._src.dtypes import DTypeLike
from imprint._src.eager.spread import spread
from imprint._src.errors import ArgumentError, ShapeError, did_you_mean
from imprint._src.primitives.core_ops import broadcast_to, full, moveaxis, scalar_like
from imprint._src.primitives.cumulative import cumsum
from imprint._src.primitives.elementwise.arithmetic import max_, min_
from imprint._src.primitives.elementwise.convert import convert_element_type
from imprint._src.primitives.elementwise.exponential import exp, log, log1p, sqrt
from imprint._src.primitives.elementwise.rounding import ceil, floor
from imprint._src.primitives.elementwise.select import clamp, select_n
from imprint._src.primitives.special.special import erf, erfc, lgamma
from imprint._src.random.arguments import (
    check_fits,
    check_number,
    common_shape,
    float_dtype,
    programs,
    repeat,
    sizes,
)
from imprint._src.random.continuous import normal_floats
from imprint._src.random.intervals import unit_floats
from imprint._src.random.key_array import KeyLike, single_key
from imprint._src.random.loops import repeat_while, walk
from imprint._src.random.streams import row, split_data

Method: TypeAlias = Literal["exact", "approximate"]

_METHODS: Final = ("exact", "approximate")

# ---- poisson ----


def poisson(
    key: KeyLike,
    lam: Any,
    shape: Any = None,
    dtype: DTypeLike | None = None,
    *,
    method: Method = "exact",
    out_sharding: Any = None,
) -> Array:
    """Draw from the Poisson distribution: the number of events at a rate.

    Args:
        key: a key.
        lam: the rate.
        shape: the shape of the result; by default that of `lam`.
        dtype: `int32` by default, `int64` under `enable_x64`.
        method: "approximate" draws without a loop, from quantiles.
        out_sharding: how the result is spread, as in `imprint.lax.with_sharding_constraint`.

    Returns:
        The counts, of shape `shape`; -1 if the rate is negative or NaN.

    Raises:
        ArgumentError: `dtype` is not an integer one, or the method is unknown.
        ShapeError: `lam` does not broadcast to `shape`.

    References:
        Knuth 1969; Hörmann 1993; Peizer and Pratt 1968 (approximate).

    Example:
        >>> import imprint
        >>> imprint.random.poisson(imprint.random.key(0), 4.0, (5,)).shape
        (5,)
    """
    if out_sharding is not None:
        return spread(poisson(key, lam, shape, dtype, method=method), out_sharding)
    data = single_key("poisson", key)
    out = dtypes.requested(int if dtype is None else dtype, "poisson")
    if not dtypes.is_integer(out):
        raise ArgumentError(
            f"poisson: expected an integer dtype, got {out}. Convert the result."
        )
    if method not in _METHODS:
        hint = did_you_mean(str(method), _METHODS)
        raise ArgumentError(
            f"poisson: expected method to be one of {list(_METHODS)}, got {method!r}."
            f"{hint}"
        )
    check_number("poisson", "lam", lam)
    return _poisson_of(common_shape("poisson", shape, lam), out, method)(data, lam)


def _poisson(shape: Shape, dtype: DType, method: str, data: Any, lam: Any) -> Any:
    if method == "approximate":
        return _approximate_poisson(shape, dtype, data, lam)
    lam = broadcast_to(repeat(convert_element_type(lam, np.float32), shape), shape)
    is_small = (lam != lam) | (lam < 10)
    small = select_n(is_small, _all(lam, 0), lam)
    large = select_n(is_small, lam, _all(lam, 1e5))
    drawn = select_n(
        is_small,
        _poisson_by_rejection(shape, dtype, data, large),
        _poisson_by_steps(shape, dtype, data, small),
    )
    return select_n(lam == 0, drawn, _all(drawn, 0))


_poisson_of = programs(_poisson)


def _poisson_by_steps(shape: Shape, dtype: DType, data: Any, lam: Any) -> Any:
    """Multiply uniform draws until the product is at most exp(-lam): Knuth's method."""

    def goes_on(steps: Any, _: Any, __: Any, total: Any) -> Any:
        return _any(total > -lam) & (steps < _most(dtype))

    def step(steps: Any, count: Any, key: Any, total: Any) -> Any:
        keys = split_data(key, (2,))
        count = select_n(total > -lam, count, count + 1)
        drawn = log(unit_floats(shape, dtypes.float32, row(keys, 1)))
        return steps + 1, count, row(keys, 0), total + drawn

    first = np.int32(0), full(shape, 0, dtype), data, _all(lam, 0)
    return repeat_while(goes_on, step, *first)[1] - 1


def _poisson_by_rejection(shape: Shape, dtype: DType, data: Any, lam: Any) -> Any:
    """Draw by Hörmann's transformed rejection of 1993 (PTRS)."""
    log_lam = log(lam)
    b = 0.931 + 2.53 * sqrt(lam)
    a = -0.059 + 0.02483 * b
    inverse = 1.1239 + 1.1328 / (b - 3.4)
    bound = 0.9277 - 3.6224 / (b - 2)

    def goes_on(steps: Any, _: Any, accepted: Any, __: Any) -> Any:
        return _any(~accepted) & (steps < _most(dtype))

    def step(steps: Any, count: Any, accepted: Any, key: Any) -> Any:
        keys = split_data(key, (3,))
        u = unit_floats(shape, dtypes.float32, row(keys, 1)) - 0.5
        v = unit_floats(shape, dtypes.float32, row(keys, 2))
        near = 0.5 - abs(u)
        k = floor((2 * a / near + b) * u + lam + 0.43)
        s = log(v * inverse / (a / (near * near) + b))
        t = -lam + k * log_lam - lgamma(k + 1)
        is_inside = (near >= 0.07) & (v <= bound)
        is_outside = (k < 0) | ((near < 0.013) & (v > near))
        accept = is_inside | (~is_outside & (s <= t))
        return steps + 1, select_n(accept, count, k), accepted | accept, row(keys, 0)

    first = np.int32(0), _all(lam, -1), full(shape, np.False_, dtypes.bool_), data
    return convert_element_type(repeat_while(goes_on, step, *first)[1], dtype)


def _most(dtype: DType) -> Any:
    """Return the maximum number of steps of a loop."""
    info: Any = dtypes.iinfo(dtype)
    return np.int32(min(int(info.max), 2**31 - 1))


def _any(x: Any) -> Any:
    return x.any()


def _all(like: Any, value: Any) -> Any:
    """Return an array of one value, with the shape and dtype of another."""
    aval = get_aval(like)
    return full(aval.shape, value, aval.dtype)


# ---- poisson, approximately ----

_FEW: Final = 7.0
"""The rate below which terms are counted one by one."""
_TERMS: Final = 20
_CORRECTION: Final = 0.02


def _approximate_poisson(shape: Shape, dtype: DType, data: Any, lam: Any) -> Any:
    """Return the Poisson quantile of a normal draw."""
    is_wide = get_aval(lam).dtype == dtypes.float64 or dtype.itemsize > 4
    computed = dtypes.float64 if is_wide else dtypes.float32
    lam = broadcast_to(repeat(convert_element_type(lam, computed), shape), shape)
    drawn = normal_floats(shape, computed, data)
    found = select_n(lam < _FEW, _far_quantile(drawn, lam), _near_quantile(drawn, lam))
    return convert_element_type(found, dtype)


def _near_quantile(drawn: Any, lam: Any) -> Any:
    """Count the terms of the cumulative distribution that are lower."""
    u = _normal_probability(drawn)
    term = exp(-lam)
    total = term
    dtype = get_aval(lam).dtype
    count = convert_element_type(total < u, dtype)
    for k in range(1, _TERMS - 1):
        term = term * (lam / k)
        total = total + term
        count = count + convert_element_type(total < u, dtype)
    return count


def _normal_probability(x: Any) -> Any:
    """Return the cumulative probability of a normal draw `x`."""
    root = math.sqrt(0.5)
    scaled = x * root
    size = abs(scaled)
    near = 1 + erf(scaled)
    far = select_n(scaled > 0, erfc(size), 2 - erfc(size))
    return 0.5 * select_n(size < root, far, near)


def _far_quantile(drawn: Any, lam: Any) -> Any:
    """Round a root of Peizer and Pratt's approximation of 1968 and correct it."""
    root = sqrt(lam)
    square = drawn * drawn
    guess = lam + root * drawn - 2 / 3 + square / 6
    guess = guess + drawn * (1 - square) / (72 * root) + 0.6
    c = ceil(guess)

    def is_above(c: Any) -> Any:
        at = _peizer_pratt(max_(c, scalar_like(c, 0)), lam)
        at = select_n(c < 0, at, _all(at, -math.inf))
        return convert_element_type(at >= drawn, get_aval(c).dtype)

    out = c + 1 - is_above(c) - is_above(c - 1)
    return max_(out, scalar_like(out, 0))


def _peizer_pratt(x: Any, lam: Any) -> Any:
    t = _relative_deviance((x + 0.5) / lam)
    return (x - lam + 2 / 3 + _CORRECTION / (x + 1)) * sqrt((1 + t) / lam)


def _relative_deviance(y: Any) -> Any:
    rest = y - 1
    is_near = abs(rest) < 0.25
    series = _all(rest, 0)
    for k in reversed(range(1, 10)):
        series = rest * (2 * (-1) ** k / ((k + 1) * (k + 2)) + series)
    y, rest = select_n(is_near, y, _all(y, 2)), select_n(is_near, rest, _all(y, 1))
    direct = (1 - y * y + 2 * y * log(y)) / (rest * rest)
    return select_n(is_near, direct, series)


# ---- binomial ----


def binomial(
    key: KeyLike,
    n: Any,
    p: Any,
    shape: Any = None,
    dtype: DTypeLike | None = None,
) -> Array:
    """Draw from the binomial distribution: the number of successes in `n` trials.

    Args:
        key: a key.
        n: the number of trials.
        p: the probability of success.
        shape: the shape of the result; by default the common shape of the parameters.
        dtype: as in `uniform`.

    Returns:
        The counts, floats of shape `shape`; NaN for invalid parameters.

    Raises:
        ArgumentError: `dtype` is not floating-point.
        ShapeError: the parameters do not broadcast to `shape`.

    References:
        Hörmann 1993.

    Example:
        >>> import imprint
        >>> imprint.random.binomial(imprint.random.key(0), 10, 0.3, (5,)).shape
        (5,)
    """
    data, out = single_key("binomial", key), float_dtype("binomial", dtype)
    check_number("binomial", "n", n)
    check_number("binomial", "p", p)
    return _binomial_of(common_shape("binomial", shape, n, p), out)(data, n, p)


def _binomial(shape: Shape, dtype: DType, data: Any, n: Any, p: Any) -> Any:
    floats = dtypes.to_inexact(get_aval(p).dtype)
    n, p = (
        broadcast_to(repeat(convert_element_type(x, floats), shape), shape)
        for x in (n, p)
    )
    is_rare = p < 0.5
    q = select_n(is_rare, 1.0 - p, p)  # of success or of failure, whichever is rarer
    is_none = (n != n) | (n < 0)
    is_endless, is_unknown, is_negative = abs(n) == math.inf, q != q, q < 0
    q = select_n(is_unknown | is_negative, q, _all(q, 0.01))
    is_small = is_none | (n * q <= 10)
    n = floor(n)
    few, many = select_n(is_small, _all(n, 0), n), select_n(is_small, n, _all(n, 1e4))
    drawn = select_n(
        is_small,
        _binomial_by_rejection(shape, data, many, select_n(is_small, q, _all(q, 0.5))),
        _binomial_by_steps(shape, data, few, q),
    )
    drawn = convert_element_type(drawn, dtype)
    is_wrong = is_negative | is_unknown | is_none
    drawn = select_n(is_wrong, drawn, _all(drawn, math.nan))
    drawn = select_n(is_endless & ~is_wrong, drawn, _all(drawn, math.inf))
    stays = is_rare | is_none | is_unknown | is_endless
    return select_n(stays, convert_element_type(n, dtype) - drawn, drawn)


_binomial_of = programs(_binomial)


def _binomial_by_steps(shape: Shape, data: Any, n: Any, p: Any) -> Any:
    """Sum waiting times between successes until they exceed `n`."""
    failing = log1p(-p)
    dtype = get_aval(p).dtype

    def goes_on(_: Any, total: Any, __: Any) -> Any:
        return _any(total <= n)

    def step(count: Any, total: Any, key: Any) -> Any:
        keys = split_data(key, (2,))
        count = select_n(total <= n, count, count + 1)
        drawn = log(unit_floats(shape, dtype, row(keys, 0)))
        return count, total + ceil(drawn / failing), row(keys, 1)

    return repeat_while(goes_on, step, _all(p, 0), _all(p, 0), data)[0] - 1


def _binomial_by_rejection(shape: Shape, data: Any, n: Any, p: Any) -> Any:
    """Draw by Hörmann's transformed rejection with squeeze of 1993 (BTRS)."""
    dtype = get_aval(p).dtype
    deviation = sqrt(n * p * (1 - p))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * p
    center = n * p + 0.5
    bound = 0.92 - 4.2 / b
    odds = p / (1 - p)
    alpha = (2.83 + 5.1 / b) * deviation
    mode = floor((n + 1) * p)

    def goes_on(_: Any, accepted: Any, __: Any) -> Any:
        return _any(~accepted)

    def step(count: Any, accepted: Any, key: Any) -> Any:
        keys = split_data(key, (3,))
        u = unit_floats(shape, dtype, row(keys, 1)) - 0.5
        v = unit_floats(shape, dtype, row(keys, 2))
        near = 0.5 - abs(u)
        is_inside = (near >= 0.07) & (v <= bound)
        k = floor((2 * a / near + b) * u + center)
        is_outside = (k < 0) | (k > n)
        height = log(v * alpha / (a / (near * near) + b))
        most = (
            (mode + 0.5) * log((mode + 1) / (odds * (n - mode + 1)))
            + (n + 1) * log((n - mode + 1) / (n - k + 1))
            + (k + 0.5) * log(odds * (n - k + 1) / (k + 1))
            + _stirling_rest(mode)
            + _stirling_rest(n - mode)
            - _stirling_rest(k)
            - _stirling_rest(n - k)
        )
        accept = is_inside | (~is_outside & (height <= most))
        return select_n(accept, count, k), accepted | accept, row(keys, 0)

    first = _all(p, -1), full(shape, np.False_, dtypes.bool_), data
    return repeat_while(goes_on, step, *first)[0]


_STIRLING: Final = (
    0.0810614667953272,
    0.0413406959554092,
    0.0276779256849983,
    0.02079067210376509,
    0.0166446911898211,
    0.0138761288230707,
    0.0118967099458917,
    0.010411265261972,
    0.00925546218271273,
    0.00833056343336287,
)


def _stirling_rest(k: Any) -> Any:
    """Return the logarithm of k! less Stirling's formula."""
    last = len(_STIRLING) - 1
    at = clamp(scalar_like(k, 0), k, scalar_like(k, last))
    square = (at + 1) * (at + 1)
    series = (1 / 12 - (1 / 360 - 1 / 1260 / square) / square) / (at + 1)
    which = convert_element_type(floor(at), np.int32)
    return select_n(
        k <= last, series, select_n(which, *[_all(k, x) for x in _STIRLING])
    )


# ---- multinomial ----


def multinomial(
    key: KeyLike,
    n: Any,
    p: Any,
    *,
    shape: Any = None,
    dtype: DTypeLike | None = None,
    unroll: int | bool = 1,
) -> Array:
    """Draw from the multinomial distribution: the count of each category in `n` draws.

    Args:
        key: a key.
        n: the number of draws.
        p: the probability of each category, along the last axis.
        shape: the shape of the result without its last axis; by default that of `p`.
        dtype: by default the default float.
        unroll: the number of categories in an iteration of the loop; True for all.

    Returns:
        The counts, of shape `(*shape, m)` for m categories; their sum is `n`.

    Raises:
        ShapeError: `p` has no axis, or a parameter does not broadcast to `shape`.

    Example:
        >>> import imprint
        >>> import imprint.numpy as np
        >>> p = np.asarray([0.2, 0.3, 0.5])
        >>> imprint.random.multinomial(imprint.random.key(0), 10, p).sum()
        Array(10., dtype=float32)
    """
    data = single_key("multinomial", key)
    out = dtypes.requested(float if dtype is None else dtype, "multinomial")
    amount = check_number("multinomial", "n", n)
    aval = check_number("multinomial", "p", p)
    if not aval.ndim:
        raise ShapeError(
            f"multinomial: expected p with an axis of categories, got {aval}. Give the "
            "probability of each, as in p=np.asarray([0.2, 0.8])."
        )
    batch = aval.shape[:-1]
    lengths = batch if shape is None else sizes("multinomial", shape)
    check_fits("multinomial", lengths, batch, amount.shape)
    return _multinomial_of(
        lengths, out, aval.shape[-1] if unroll is True else max(1, int(unroll))
    )(data, n, p)


def _multinomial(
    shape: Shape, dtype: DType, unroll: int, data: Any, n: Any, p: Any
) -> Any:
    common, _ = dtypes.promote(tuple(map(dtypes.typed, (n, p))))
    floats = dtypes.to_inexact(common)
    count = get_aval(p).shape[-1]
    n = broadcast_to(repeat(convert_element_type(n, floats), shape), shape)
    p = repeat(convert_element_type(p, floats), (*shape, count))
    p = moveaxis(p, len(shape), 0)
    remaining = cumsum(p, 0, reverse=True)
    shares = p / select_n(remaining == 0, remaining, _all(remaining, 1))

    def step(rest: Any, at: Any) -> Any:
        share, key = at
        share = min_(max_(share, scalar_like(share, 0)), scalar_like(share, 1))
        drawn = _binomial(shape, floats, key, rest, share)
        return rest - drawn, drawn

    _, drawn = walk(step, n, (shares, split_data(data, (count,))), count, unroll)
    return convert_element_type(moveaxis(drawn, 0, len(shape)), dtype)


_multinomial_of = programs(_multinomial)

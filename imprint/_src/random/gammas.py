"""The gamma distribution and its relatives: beta, Dirichlet, chi-square, F, t.

For a shape of at least 1, a gamma draw is the first accepted of proposals that are
cubes of normal draws. Below 1, it is a draw of shape plus 1, times a power of a uniform
draw. Each number has its own key, so rejections of one do not affect another. The
derivative by the shape moves the number at a fixed quantile. Where small numbers would
underflow, the draw is of logarithms. Operations and their order are JAX's.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Final, Literal, TypeAlias

from imprint._src import dtypes
from imprint._src.core import dims
from imprint._src.core.array import Array
from imprint._src.core.aval import DType, Shape, get_aval
from imprint._src.core.dims import Dim
from imprint._src.custom_derivatives.forward import custom_jvp
from imprint._src.dtypes import DTypeLike
from imprint._src.eager.spread import spread
from imprint._src.errors import ArgumentError, ShapeError, did_you_mean
from imprint._src.interpreters.vmap import vmap
from imprint._src.primitives.axes import whole
from imprint._src.primitives.barrier import stop_gradient
from imprint._src.primitives.core_ops import (
    broadcast_to,
    full,
    mul,
    reduce_sum,
    scalar_like,
)
from imprint._src.primitives.elementwise.arithmetic import div, max_
from imprint._src.primitives.elementwise.comparison import eq, ge
from imprint._src.primitives.elementwise.convert import convert_element_type
from imprint._src.primitives.elementwise.exponential import exp, log, rsqrt, sqrt
from imprint._src.primitives.elementwise.power import pow_
from imprint._src.primitives.elementwise.select import select_n
from imprint._src.primitives.reductions import reduce_max
from imprint._src.primitives.shape import expand_dims, iota, reshape
from imprint._src.primitives.special.incomplete import random_gamma_grad
from imprint._src.random.arguments import (
    check_fits,
    check_number,
    common_shape,
    float_dtype,
    float_info,
    programs,
    repeat,
    sizes,
)
from imprint._src.random.continuous import exponential_floats, normal_floats
from imprint._src.random.discrete import rademacher_signs
from imprint._src.random.intervals import unit_floats
from imprint._src.random.key_array import KeyLike, single_key
from imprint._src.random.loops import repeat_while, walk
from imprint._src.random.streams import is_batch_invariant, row, split_data

Method: TypeAlias = Literal["exact", "approximate"]

_METHODS: Final = ("exact", "approximate")

# ---- gamma ----


def gamma(
    key: KeyLike,
    a: Any,
    shape: Any = None,
    dtype: DTypeLike | None = None,
    *,
    method: Method = "exact",
    out_sharding: Any = None,
) -> Array:
    """Draw from the gamma distribution of scale 1; differentiable by its shape `a`.

    Args:
        key: a key.
        a: the shape parameter, positive.
        shape: the shape of the result; by default that of `a`.
        dtype: as in `uniform`.
        method: "approximate" draws without a loop, from quantiles.
        out_sharding: how the result is spread, as in `imprint.lax.with_sharding_constraint`.

    Returns:
        The numbers, of shape `shape`, positive.

    Raises:
        ArgumentError: `dtype` is not floating-point, or the method is unknown.
        ShapeError: `a` does not broadcast to `shape`.

    References:
        Marsaglia and Tsang 2000; Goldstein 1973 (approximate).

    Example:
        >>> import imprint
        >>> imprint.random.gamma(imprint.random.key(0), 3.0, (2,)).shape
        (2,)
    """
    if out_sharding is not None:
        return spread(gamma(key, a, shape, dtype, method=method), out_sharding)
    return _drawn_gamma("gamma", key, a, (shape, dtype, method))


def loggamma(
    key: KeyLike,
    a: Any,
    shape: Any = None,
    dtype: DTypeLike | None = None,
    *,
    method: Method = "exact",
    out_sharding: Any = None,
) -> Array:
    """Draw logarithms from the gamma distribution: accurate for a small `a`.

    Args:
        key: a key.
        a: the shape parameter, positive.
        shape: the shape of the result; by default that of `a`.
        dtype: as in `uniform`.
        method: as in `gamma`.
        out_sharding: how the result is spread, as in `imprint.lax.with_sharding_constraint`.

    Returns:
        The logarithms, of shape `shape`.

    Raises:
        ArgumentError: `dtype` is not floating-point, or the method is unknown.
        ShapeError: `a` does not broadcast to `shape`.

    References:
        Marsaglia and Tsang 2000; Goldstein 1973 (approximate).

    Example:
        >>> import imprint
        >>> imprint.random.loggamma(imprint.random.key(0), 0.01, (2,)).shape
        (2,)
    """
    if out_sharding is not None:
        return spread(loggamma(key, a, shape, dtype, method=method), out_sharding)
    return _drawn_gamma("loggamma", key, a, (shape, dtype, method))


def _drawn_gamma(name: str, key: Any, a: Any, asked: tuple[Any, Any, Any]) -> Array:
    shape, dtype, method = asked
    data, out = single_key(name, key), float_dtype(name, dtype)
    check_number(name, "a", a)
    way = _checked(name, method)
    lengths = common_shape(name, shape, a)
    return _gamma_of(lengths, out, way, name == "loggamma")(data, a)


def _checked(name: str, method: Any) -> str:
    if method in _METHODS:
        return method
    hint = did_you_mean(method, _METHODS) if isinstance(method, str) else ""
    raise ArgumentError(
        f"{name}: expected method to be one of {list(_METHODS)}, got {method!r}.{hint}"
    )


def _gamma(
    shape: Shape,
    dtype: DType,
    method: str,
    log_space: bool,  # noqa: FBT001 - a param of a program
    data: Any,
    a: Any,
) -> Any:
    if method == "approximate":
        return _approximate(shape, dtype, log_space, data, a)
    a = broadcast_to(repeat(convert_element_type(a, dtype), shape), shape)
    return _each(log_space, data, a)


_gamma_of = programs(_gamma)


def _each_drawn(log_space: bool, data: Any, a: Any) -> Any:  # noqa: FBT001 - a param of a program
    """Draw a number for each element of `a`, with its own key."""
    aval = get_aval(a)
    if dims.has_zero(aval.shape):
        return full(aval.shape, 0, aval.dtype)
    keys, flat = split_data(data, (aval.size,)), reshape(a, (aval.size,))
    draw = partial(_one, log_space)
    if is_batch_invariant(data):
        drawn = vmap(draw)(keys, flat)
    else:
        step = partial(_step, draw)
        _, drawn = walk(step, (), (keys, flat), aval.size, 1)
    return reshape(drawn, aval.shape)


def _step(draw: Callable[..., Any], _: Any, at: Any) -> tuple[tuple[()], Any]:
    return (), draw(*at)


def _each_jvp(log_space: bool, primals: Any, tangents: Any) -> Any:  # noqa: FBT001 - a param of a program
    (data, a), (_, t) = primals, tangents
    out = _each(log_space, data, a)
    if not log_space:
        return out, mul(t, random_gamma_grad(a, out))
    drawn = exp(out)
    tiny = scalar_like(drawn, float_info(get_aval(drawn).dtype).tiny)
    drawn = select_n(
        eq(out, scalar_like(out, 0)), drawn, broadcast_to(tiny, get_aval(drawn).shape)
    )
    return out, mul(t, div(random_gamma_grad(a, drawn), drawn))


_each: Final[Any] = custom_jvp(_each_drawn, nondiff_argnums=(0,))
_each.defjvp(_each_jvp)


def _one(log_space: bool, data: Any, a: Any) -> Any:  # noqa: FBT001 - a param of a program
    """Draw one number: Marsaglia and Tsang's method of 2000."""
    dtype = get_aval(a).dtype
    zero, one, two = (scalar_like(a, x) for x in (0, 1, 2))
    is_large = ge(a, one)
    d = select_n(is_large, a + 1, a) - 1 / 3
    c = div(scalar_like(d, 1 / 3), sqrt(d))

    def is_refused(_: Any, square: Any, cube: Any, u: Any) -> Any:
        squeezed = u >= 1 - 0.0331 * (square * square)
        return squeezed & (log(u) >= square * 0.5 + d * ((1 - cube) + log(cube)))

    def is_outside(_: Any, __: Any, v: Any) -> Any:
        return v <= 0

    def proposed(key: Any, _: Any, __: Any) -> Any:
        keys = split_data(key, (2,))
        x = normal_floats((), dtype, row(keys, 1))
        return row(keys, 0), x, 1 + x * c

    def step(key: Any, *_: Any) -> Any:
        keys = split_data(key, (3,))
        first = row(keys, 1), zero, -one
        _, x, v = repeat_while(is_outside, proposed, *first)
        return row(keys, 0), x * x, v * v * v, unit_floats((), dtype, row(keys, 2))

    keys = split_data(data, (2,))
    _, _, cube, _ = repeat_while(is_refused, step, row(keys, 0), zero, one, two)
    rest = row(keys, 1)
    if log_space:
        boost = -exponential_floats((), dtype, rest)
        boost = select_n(is_large | (boost == 0), boost * div(one, a), zero)
        return (log(d) + log(cube)) + boost
    boost = pow_(1 - unit_floats((), dtype, rest), div(one, a))
    return d * cube * select_n(is_large, boost, one)


# ---- approximately ----

_CHI2_QUANTILE: Final = (
    (1.0, -0.2237368, -0.01513904),
    (0.4713941, 0.02607083, -0.008986007),
    (0.0001348028, 0.01128186, 0.02277679),
    (-0.008553069, -0.01153761, -0.01323293),
    (0.00312558, 0.005169654, -0.006950356),
    (-0.0008426812, 0.00253001, 0.001060438),
    (9.780499e-05, -0.001450117, 0.001565326),
)
"""Goldstein's expansion of 1973, by powers of the normal quantile and of 1/ν."""
_BOOSTS: Final = 4
"""The increase of the shape, because the expansion is inaccurate for small ones."""


def _approximate(
    shape: Shape,
    dtype: DType,
    log_space: bool,  # noqa: FBT001 - a param of a program
    data: Any,
    a: Any,
) -> Any:
    computed = dtypes.float32 if dtype.itemsize < 4 else dtype
    a = broadcast_to(repeat(convert_element_type(a, computed), shape), shape)
    keys = split_data(data, (2,))
    base = _log_of_quantile(row(keys, 0), a + _BOOSTS)
    count = expand_dims(iota(computed, _BOOSTS), tuple(range(1, len(shape) + 1)))
    drawn = -exponential_floats((_BOOSTS, *shape), computed, row(keys, 1))
    out = base + reduce_sum(div(drawn, expand_dims(a, (0,)) + count), (0,))
    return convert_element_type(out if log_space else exp(out), dtype)


def _log_of_quantile(data: Any, a: Any) -> Any:
    aval = get_aval(a)
    degrees = 2 * a
    drawn = normal_floats(aval.shape, aval.dtype, data) * rsqrt(degrees)
    rows = [_polynomial(1 / degrees, coefficients) for coefficients in _CHI2_QUANTILE]
    cube = _polynomial(drawn, rows)
    tiny = scalar_like(cube, float_info(aval.dtype).tiny)
    return log(a) + 3 * log(max_(cube, tiny))


def _polynomial(x: Any, coefficients: Any) -> Any:
    *rest, total = coefficients
    for coefficient in reversed(rest):
        total = total * x + coefficient
    return total


# ---- from two or more gamma draws ----


def beta(  # noqa: PLR0913 - JAX's signature
    key: KeyLike,
    a: Any,
    b: Any,
    shape: Any = None,
    dtype: DTypeLike | None = None,
    *,
    method: Method = "exact",
    out_sharding: Any = None,
) -> Array:
    """Draw from the beta distribution, numbers between 0 and 1.

    Args:
        key: a key.
        a: the first parameter, positive.
        b: the second parameter, positive.
        shape: the shape of the result; by default the common shape of the parameters.
        dtype: as in `uniform`.
        method: as in `gamma`.
        out_sharding: how the result is spread, as in `imprint.lax.with_sharding_constraint`.

    Returns:
        The numbers, of shape `shape`.

    Raises:
        ArgumentError: `dtype` is not floating-point, or the method is unknown.
        ShapeError: the parameters do not broadcast to `shape`.

    Example:
        >>> import imprint
        >>> imprint.random.beta(imprint.random.key(0), 2.0, 5.0, (2,)).shape
        (2,)
    """
    if out_sharding is not None:
        return spread(beta(key, a, b, shape, dtype, method=method), out_sharding)
    data, out = single_key("beta", key), float_dtype("beta", dtype)
    check_number("beta", "a", a)
    check_number("beta", "b", b)
    way = _checked("beta", method)
    return _beta_of(common_shape("beta", shape, a, b), out, way)(data, a, b)


def _beta(shape: Shape, dtype: DType, method: str, data: Any, a: Any, b: Any) -> Any:
    keys = split_data(data, (2,))
    logs = [
        _gamma(shape, dtype, method, True, row(keys, i), x)  # noqa: FBT003 - a param of a program
        for i, x in enumerate((a, b))
    ]
    largest = max_(*logs)
    first, second = (exp(x - largest) for x in logs)
    return div(first, first + second)


_beta_of = programs(_beta)


def dirichlet(
    key: KeyLike,
    alpha: Any,
    shape: Any = None,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw from the Dirichlet distribution: positive numbers with sum 1.

    Args:
        key: a key.
        alpha: the concentration of each number, positive, along the last axis.
        shape: the shape of the result without its last axis; by default that of `alpha`.
        dtype: as in `uniform`.
        out_sharding: how the result is spread, as in `imprint.lax.with_sharding_constraint`.

    Returns:
        The numbers, of shape `(*shape, n)` for n concentrations.

    Raises:
        ArgumentError: `dtype` is not floating-point.
        ShapeError: `alpha` has no axis, or does not broadcast to `shape`.

    Example:
        >>> import imprint
        >>> import imprint.numpy as np
        >>> imprint.random.dirichlet(imprint.random.key(0), np.ones(3), (2,)).shape
        (2, 3)
    """
    if out_sharding is not None:
        return spread(dirichlet(key, alpha, shape, dtype), out_sharding)
    data, out = single_key("dirichlet", key), float_dtype("dirichlet", dtype)
    aval = check_number("dirichlet", "alpha", alpha)
    if not aval.ndim:
        raise ShapeError(
            f"dirichlet: expected alpha with an axis of concentrations, got {aval}. "
            "Give one for each number, as in alpha=np.ones(3)."
        )
    batch = aval.shape[:-1]
    lengths = batch if shape is None else sizes("dirichlet", shape)
    check_fits("dirichlet", lengths, batch)
    return _dirichlet_of((*lengths, aval.shape[-1]), out)(data, alpha)


def _dirichlet(shape: Shape, dtype: DType, data: Any, alpha: Any) -> Any:
    logs = _gamma(shape, dtype, "exact", True, data, alpha)  # noqa: FBT003 - a param of a program
    if dims.has_zero(shape):
        return logs
    last = len(shape) - 1
    largest = expand_dims(stop_gradient(reduce_max(logs, (last,))), (last,))
    shares = exp(logs - largest)
    return div(shares, repeat(expand_dims(reduce_sum(shares, (last,)), (last,)), shape))


_dirichlet_of = programs(_dirichlet)


def chisquare(
    key: KeyLike,
    df: Any,
    shape: Any = None,
    dtype: DTypeLike | None = None,
    *,
    method: Method = "exact",
    out_sharding: Any = None,
) -> Array:
    """Draw from the chi-square distribution: sums of squares of normal numbers.

    Args:
        key: a key.
        df: the degrees of freedom, any positive number.
        shape: the shape of the result; by default that of `df`.
        dtype: as in `uniform`.
        method: as in `gamma`.
        out_sharding: how the result is spread, as in `imprint.lax.with_sharding_constraint`.

    Returns:
        The numbers, of shape `shape`, positive.

    Raises:
        ArgumentError: `dtype` is not floating-point, or the method is unknown.
        ShapeError: `df` does not broadcast to `shape`.

    Example:
        >>> import imprint
        >>> imprint.random.chisquare(imprint.random.key(0), 3, (2,)).shape
        (2,)
    """
    if out_sharding is not None:
        return spread(chisquare(key, df, shape, dtype, method=method), out_sharding)
    data, out = single_key("chisquare", key), float_dtype("chisquare", dtype)
    check_number("chisquare", "df", df)
    way = _checked("chisquare", method)
    return _chisquare_of(common_shape("chisquare", shape, df), out, way)(data, df)


def _chisquare(shape: Shape, dtype: DType, method: str, data: Any, df: Any) -> Any:
    half = convert_element_type(df, dtype) / 2
    return exp(_gamma(shape, dtype, method, True, data, half)) * 2  # noqa: FBT003 - a param of a program


_chisquare_of = programs(_chisquare)


def f(
    key: KeyLike,
    dfnum: Any,
    dfden: Any,
    shape: Any = None,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw from the F distribution: ratios of mean squares of normal numbers.

    Args:
        key: a key.
        dfnum: the degrees of freedom of the numerator, positive.
        dfden: the degrees of freedom of the denominator, positive.
        shape: the shape of the result; by default the common shape of the parameters.
        dtype: as in `uniform`.
        out_sharding: how the result is spread, as in `imprint.lax.with_sharding_constraint`.

    Returns:
        The numbers, of shape `shape`, positive.

    Raises:
        ArgumentError: `dtype` is not floating-point.
        ShapeError: the parameters do not broadcast to `shape`.

    Example:
        >>> import imprint
        >>> imprint.random.f(imprint.random.key(0), 3.0, 5.0, (2,)).shape
        (2,)
    """
    if out_sharding is not None:
        return spread(f(key, dfnum, dfden, shape, dtype), out_sharding)
    data, out = single_key("f", key), float_dtype("f", dtype)
    check_number("f", "dfnum", dfnum)
    check_number("f", "dfden", dfden)
    return _f_of(common_shape("f", shape, dfnum, dfden), out)(data, dfnum, dfden)


def _f(shape: Shape, dtype: DType, data: Any, dfnum: Any, dfden: Any) -> Any:
    keys = split_data(data, (2,))
    means = [
        _chisquare(shape, dtype, "exact", row(keys, i), df)
        / convert_element_type(df, dtype)
        for i, df in ((1, dfnum), (0, dfden))
    ]
    return div(*means)


_f_of = programs(_f)


def t(
    key: KeyLike,
    df: Any,
    shape: Any = None,
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw from Student's t distribution.

    Args:
        key: a key.
        df: the degrees of freedom, positive.
        shape: the shape of the result; by default that of `df`.
        dtype: as in `uniform`.
        out_sharding: how the result is spread, as in `imprint.lax.with_sharding_constraint`.

    Returns:
        The numbers, of shape `shape`.

    Raises:
        ArgumentError: `dtype` is not floating-point.
        ShapeError: `df` does not broadcast to `shape`.

    Example:
        >>> import imprint
        >>> imprint.random.t(imprint.random.key(0), 3.0, (2,)).shape
        (2,)
    """
    if out_sharding is not None:
        return spread(t(key, df, shape, dtype), out_sharding)
    data, out = single_key("t", key), float_dtype("t", dtype)
    check_number("t", "df", df)
    return _t_of(common_shape("t", shape, df), out)(data, df)


def _t(shape: Shape, dtype: DType, data: Any, df: Any) -> Any:
    keys = split_data(data, (2,))
    drawn = normal_floats(shape, dtype, row(keys, 0))
    half = convert_element_type(df, dtype) / 2
    spread = _gamma(shape, dtype, "exact", False, row(keys, 1), half)  # noqa: FBT003 - a param of a program
    return drawn * sqrt(repeat(half, shape) / spread)


_t_of = programs(_t)

# ---- from powers ----


def generalized_normal(
    key: KeyLike,
    p: Any,
    shape: Any = (),
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw from the generalized normal distribution, of density exp(-|x|^p).

    Args:
        key: a key.
        p: the power; 2 gives a normal distribution of variance 1/2.
        shape: the shape of the result.
        dtype: as in `uniform`.
        out_sharding: how the result is spread, as in `imprint.lax.with_sharding_constraint`.

    Returns:
        The numbers, of shape `shape`.

    Raises:
        ArgumentError: `dtype` is not floating-point.
        ShapeError: `p` does not broadcast to `shape`.

    Example:
        >>> import imprint
        >>> imprint.random.generalized_normal(imprint.random.key(0), 1.5, (2,)).shape
        (2,)
    """
    if out_sharding is not None:
        return spread(generalized_normal(key, p, shape, dtype), out_sharding)
    name = "generalized_normal"
    data, out = single_key(name, key), float_dtype(name, dtype)
    lengths = sizes(name, shape)
    check_fits(name, lengths, check_number(name, "p", p).shape)
    return _generalized_normal_of(lengths, out)(data, p)


def _generalized_normal(shape: Shape, dtype: DType, data: Any, p: Any) -> Any:
    keys = split_data(data, (2,))
    sizes_ = _gamma(shape, dtype, "exact", False, row(keys, 0), 1 / p)  # noqa: FBT003 - a param of a program
    return rademacher_signs(shape, dtype, row(keys, 1)) * sizes_ ** (1 / p)


_generalized_normal_of = programs(_generalized_normal)


def ball(
    key: KeyLike,
    d: int,
    p: Any = 2,
    shape: Any = (),
    dtype: DTypeLike | None = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw uniformly from the unit ball of a p-norm.

    Args:
        key: a key.
        d: the dimension of the ball.
        p: the order of the norm.
        shape: the shape of the result without its last axis, the coordinates.
        dtype: as in `uniform`.
        out_sharding: how the result is spread, as in `imprint.lax.with_sharding_constraint`.

    Returns:
        The points, of shape `(*shape, d)`.

    Raises:
        ArgumentError: `dtype` is not floating-point, or `d` is negative.
        ShapeError: `p` does not broadcast to `shape`.

    References:
        Barthe et al. 2005.

    Example:
        >>> import imprint
        >>> imprint.random.ball(imprint.random.key(0), 3, shape=(2,)).shape
        (2, 3)
    """
    if out_sharding is not None:
        return spread(ball(key, d, p, shape, dtype), out_sharding)
    data, out = single_key("ball", key), float_dtype("ball", dtype)
    lengths, axes = sizes("ball", shape), whole("ball", "d", d)
    if axes < 0:
        raise ArgumentError(f"ball: expected d to be at least 0, got {axes}.")
    check_fits("ball", lengths, check_number("ball", "p", p).shape)
    return _ball_of(lengths, out, axes)(data, p)


def _ball(shape: Shape, dtype: DType, axes: Dim, data: Any, p: Any) -> Any:
    keys = split_data(data, (2,))
    directions = _generalized_normal((*shape, axes), dtype, row(keys, 0), p)
    rest = exponential_floats(shape, dtype, row(keys, 1))
    total = (abs(directions) ** p).sum(-1) + rest
    return directions / (total ** (1 / p))[..., None]


_ball_of = programs(_ball)

"""Initializers of parameters, as in `jax.nn.initializers`.

An initializer takes a key, a shape and a dtype; most are returned by a function of the
other parameters. The numbers are JAX's for the same key. The fans of a shape are the
numbers of inputs and outputs of a unit: lengths of its axes, times the lengths of all
axes that are neither.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, Final, Literal, Protocol, TypeAlias

import imprint.numpy as np
from imprint import random
from imprint._src import dtypes
from imprint._src.core.array import Array
from imprint._src.core.aval import DType, Shape
from imprint._src.dtypes import DTypeLike
from imprint._src.eager.spread import spread
from imprint._src.errors import ArgumentError, ShapeError
from imprint._src.numpy.promotion import ArrayLike
from imprint._src.primitives.axes import canonical_axes

__all__ = [
    "Initializer",
    "constant",
    "delta_orthogonal",
    "glorot_normal",
    "glorot_uniform",
    "he_normal",
    "he_uniform",
    "kaiming_normal",
    "kaiming_uniform",
    "lecun_normal",
    "lecun_uniform",
    "normal",
    "ones",
    "orthogonal",
    "truncated_normal",
    "uniform",
    "variance_scaling",
    "xavier_normal",
    "xavier_uniform",
    "zeros",
]

Axes: TypeAlias = int | Sequence[int]
Mode: TypeAlias = Literal["fan_in", "fan_out", "fan_avg", "fan_geo_avg"]
Distribution: TypeAlias = Literal["truncated_normal", "normal", "uniform"]


class Initializer(Protocol):
    """Creates the initial values of a parameter."""

    def __call__(
        self, key: Any, shape: Sequence[int], dtype: DTypeLike | None = None
    ) -> Array:
        """Return an array of this shape and dtype."""
        ...


# ---- one value ----


def zeros(
    key: Any,
    shape: Sequence[int],
    dtype: DTypeLike | None = None,
    out_sharding: Any = None,
) -> Array:
    """Return zeros; the key is not used.

    Args:
        key: ignored.
        shape: the shape.
        dtype: the dtype; None for the default float.
        out_sharding: how the result is spread, as in
            `imprint.lax.with_sharding_constraint`.

    Returns:
        An array of that shape and dtype.

    References:
        JAX, `jax.nn.initializers.zeros`.

    Example:
        >>> from imprint import nn
        >>> nn.initializers.zeros(None, (2,))
        Array([0., 0.], dtype=float32)
    """
    if out_sharding is not None:
        return spread(zeros(key, shape, dtype), out_sharding)
    del key
    return np.zeros(shape, dtype)


def ones(
    key: Any,
    shape: Sequence[int],
    dtype: DTypeLike | None = None,
    out_sharding: Any = None,
) -> Array:
    """Return ones; the key is not used.

    Args:
        key: ignored.
        shape: the shape.
        dtype: the dtype; None for the default float.
        out_sharding: how the result is spread, as in
            `imprint.lax.with_sharding_constraint`.

    Returns:
        An array of that shape and dtype.

    References:
        JAX, `jax.nn.initializers.ones`.

    Example:
        >>> from imprint import nn
        >>> nn.initializers.ones(None, (2,))
        Array([1., 1.], dtype=float32)
    """
    if out_sharding is not None:
        return spread(ones(key, shape, dtype), out_sharding)
    del key
    return np.ones(shape, dtype)


def constant(value: ArrayLike, dtype: DTypeLike | None = None) -> Initializer:
    """Return the initializer with one value everywhere.

    Args:
        value: a number, or an array that broadcasts to the shape.
        dtype: the default dtype.

    Returns:
        An initializer: a function of a key, a shape and a dtype that returns an array.

    References:
        JAX, `jax.nn.initializers.constant`.

    Example:
        >>> from imprint import nn
        >>> nn.initializers.constant(0.5)(None, (2,))
        Array([0.5, 0.5], dtype=float32)
    """
    return _initializer(dtype, lambda key, shape, dtype: np.full(shape, value, dtype))


# ---- one distribution ----


def uniform(scale: ArrayLike = 1e-2, dtype: DTypeLike | None = None) -> Initializer:
    """Return the initializer uniform on [0, `scale`).

    Args:
        scale: the upper bound.
        dtype: the default dtype.

    Returns:
        An initializer: a function of a key, a shape and a dtype that returns an array.

    References:
        JAX, `jax.nn.initializers.uniform`.

    Example:
        >>> from imprint import nn, random
        >>> nn.initializers.uniform(10.0)(random.key(0), (2,))
        Array([9.47667 , 9.785799], dtype=float32)
    """

    def draw(key: Any, shape: Shape, dtype: DType) -> Array:
        return random.uniform(key, shape, dtype) * np.array(scale, dtype)

    return _initializer(dtype, draw)


def normal(stddev: ArrayLike = 1e-2, dtype: DTypeLike | None = None) -> Initializer:
    """Return the initializer with a normal distribution of mean 0.

    Args:
        stddev: the standard deviation.
        dtype: the default dtype.

    Returns:
        An initializer: a function of a key, a shape and a dtype that returns an array.

    References:
        JAX, `jax.nn.initializers.normal`.

    Example:
        >>> from imprint import nn, random
        >>> nn.initializers.normal(1.0)(random.key(0), (2,))
        Array([1.6226422, 2.0252647], dtype=float32)
    """

    def draw(key: Any, shape: Shape, dtype: DType) -> Array:
        return random.normal(key, shape, dtype) * np.array(stddev, dtype)

    return _initializer(dtype, draw)


def truncated_normal(
    stddev: ArrayLike = 1e-2,
    dtype: DTypeLike | None = None,
    lower: ArrayLike = -2.0,
    upper: ArrayLike = 2.0,
) -> Initializer:
    """Return the initializer with a truncated normal distribution of mean 0.

    Args:
        stddev: the standard deviation before truncation.
        dtype: the default dtype.
        lower: the lower bound, in standard deviations.
        upper: the upper bound.

    Returns:
        An initializer: a function of a key, a shape and a dtype that returns an array.

    References:
        JAX, `jax.nn.initializers.truncated_normal`.

    Example:
        >>> from imprint import nn, random
        >>> nn.initializers.truncated_normal(1.0)(random.key(0), (2,))
        Array([1.4559592, 1.7147487], dtype=float32)
    """

    def draw(key: Any, shape: Shape, dtype: DType) -> Array:
        drawn = random.truncated_normal(key, lower, upper, shape, dtype)
        return drawn * np.array(stddev, dtype)

    return _initializer(dtype, draw)


_Draw: TypeAlias = Callable[[Any, Shape, DType], Array]


def _initializer(default: DTypeLike | None, draw: _Draw) -> Initializer:
    def init(key: Any, shape: Sequence[int], dtype: DTypeLike | None = None) -> Array:
        chosen = default if dtype is None else dtype
        if chosen is None:
            return draw(key, tuple(shape), dtypes.default_float())
        return draw(key, tuple(shape), dtypes.requested(chosen, "initializer"))

    return init


# ---- orthogonal matrices ----


def orthogonal(
    scale: ArrayLike = 1.0, column_axis: int = -1, dtype: DTypeLike | None = None
) -> Initializer:
    """Return the initializer with uniform orthogonal matrices.

    Args:
        scale: the factor of the matrices.
        column_axis: the axis of the outputs; all others together are the rows. Columns
            are orthonormal, or rows if these are fewer.
        dtype: the default dtype.

    Returns:
        An initializer: a function of a key, a shape and a dtype that returns an array.
        It raises `ShapeError` for fewer than two axes.

    References:
        Saxe, McClelland and Ganguli, "Exact solutions to the nonlinear dynamics of
        learning in deep linear neural networks", 2013.

    Example:
        >>> from imprint import nn, random
        >>> import imprint.numpy as np
        >>> w = nn.initializers.orthogonal()(random.key(0), (3, 2))
        >>> bool(np.allclose(w.T @ w, np.eye(2), atol=1e-5))
        True
    """

    def draw(key: Any, shape: Shape, dtype: DType) -> Array:
        if len(shape) < 2:
            raise ShapeError(
                f"orthogonal: expected a shape of at least two axes, got {shape}. A "
                "vector has no columns that could be orthogonal: use normal."
            )
        if 0 in shape:
            return np.zeros(shape, dtype)
        (axis,) = canonical_axes("orthogonal", (column_axis,), len(shape))
        columns = shape[axis]
        others = (*shape[:axis], *shape[axis + 1 :])
        drawn = random.orthogonal(key, math.prod(others), (), dtype, columns)
        weights = np.moveaxis(np.reshape(drawn, (*others, columns)), -1, axis)
        return np.array(scale, dtype) * weights

    return _initializer(dtype, draw)


def delta_orthogonal(
    scale: ArrayLike = 1.0, column_axis: int = -1, dtype: DTypeLike | None = None
) -> Initializer:
    """Return the initializer of convolution kernels with delta-orthogonal matrices.

    A convolution by such a kernel is an orthogonal matrix at each position.

    Args:
        scale: the factor of the matrix.
        column_axis: the axis of the outputs, of the last two.
        dtype: the default dtype.

    Returns:
        An initializer: a function of a key, a shape and a dtype that returns an array.
        It raises `ShapeError` unless the shape has one to three kernel axes, then at
        most as many inputs as outputs.

    References:
        Xiao et al., "Dynamical Isometry and a Mean Field Theory of CNNs", 2018.

    Example:
        >>> from imprint import nn, random
        >>> kernel = nn.initializers.delta_orthogonal()(random.key(0), (3, 2, 2))
        >>> (kernel != 0).any((1, 2))
        Array([False,  True, False], dtype=bool)
    """

    def draw(key: Any, shape: Shape, dtype: DType) -> Array:
        if len(shape) not in (3, 4, 5) or shape[-1] < shape[-2]:
            raise ShapeError(
                "delta_orthogonal: expected one to three axes of a kernel, then at most "
                f"as many channels that go in as come out, got {shape}. Draw the kernel "
                "for the other direction, and transpose it."
            )
        matrix = orthogonal(scale, column_axis)(key, shape[-2:], dtype)
        *kernel, _, _ = shape
        widths = [((n - 1) // 2, n - 1 - (n - 1) // 2) for n in kernel]
        centre = np.reshape(matrix, (*[1] * len(kernel), *shape[-2:]))
        return np.pad(centre, [*widths, (0, 0), (0, 0)])

    return _initializer(dtype, draw)


# ---- a variance by the fans ----


def variance_scaling(  # noqa: PLR0913, PLR0917 - JAX's parameters
    scale: float,
    mode: Mode,
    distribution: Distribution,
    in_axis: Axes = -2,
    out_axis: Axes = -1,
    batch_axis: Axes = (),
    dtype: DTypeLike | None = None,
) -> Initializer:
    """Return the initializer whose variance is `scale` over a fan of the shape.

    Args:
        scale: a factor of the variance.
        mode: the fan: "fan_in", "fan_out", their mean "fan_avg", or their geometric
            mean "fan_geo_avg".
        distribution: "truncated_normal", "normal" or "uniform", of mean 0.
        in_axis: the input axes.
        out_axis: the output axes.
        batch_axis: axes that are part of neither fan.
        dtype: the default dtype.

    Returns:
        An initializer: a function of a key, a shape and a dtype that returns an array.

    Raises:
        ArgumentError: the mode or distribution is unknown.

    References:
        JAX, `jax.nn.initializers.variance_scaling`.

    Example:
        >>> from imprint import nn, random
        >>> init = nn.initializers.variance_scaling(3.0, "fan_in", "uniform")
        >>> init(random.key(0), (3, 1))
        Array([[ 1.550764 ],
               [ 1.6578493],
               [-0.5809593]], dtype=float32)
    """
    denominator = _among("mode", mode, _DENOMINATORS)
    draw_unit = _among("distribution", distribution, _UNITS)

    def draw(key: Any, shape: Shape, dtype: DType) -> Array:
        if 0 in shape:
            return np.zeros(shape, dtype)
        fans = _fans(shape, in_axis, out_axis, batch_axis)
        variance = np.array(scale / denominator(*fans), dtype)
        return draw_unit(key, shape, variance)

    return _initializer(dtype, draw)


def _among(parameter: str, given: str, table: dict[str, Any]) -> Any:
    if given not in table:
        raise ArgumentError(
            f"variance_scaling: expected {parameter} among {[*table]}, got {given!r}. "
            "Choose one of these."
        )
    return table[given]


def _fans(
    shape: Shape, in_axis: Axes, out_axis: Axes, batch_axis: Axes
) -> tuple[float, float]:
    """Return the numbers of inputs and outputs of a unit."""
    if in_axis == -2 and len(shape) < 2:
        raise ShapeError(
            f"initializer: expected a shape of at least 2 axes, got {shape}. Say with "
            "in_axis which axis goes in, or use normal or uniform."
        )
    ins, outs, batch = (_size(shape, axes) for axes in (in_axis, out_axis, batch_axis))
    field = math.prod(shape) / ins / outs / batch
    return field * ins, field * outs


def _size(shape: Shape, axes: Axes) -> int:
    """Return the product of the lengths of some axes."""
    named = (axes,) if isinstance(axes, int) else axes
    places = canonical_axes("initializer", named, len(shape))
    return math.prod([shape[i] for i in places])


_DENOMINATORS: Final[dict[str, Callable[[float, float], float]]] = {
    "fan_in": lambda fan_in, fan_out: fan_in,
    "fan_out": lambda fan_in, fan_out: fan_out,
    "fan_avg": lambda fan_in, fan_out: (fan_in + fan_out) / 2,
    "fan_geo_avg": lambda fan_in, fan_out: (fan_in * fan_out) ** 0.5,
}
_CUT: Final = 0.87962566103423978
"""The standard deviation of a normal distribution truncated at -2 and 2."""
_COMPLEX_CUT: Final = 0.95311164380491208
"""That of the complex normal distribution truncated at absolute value 2."""


def _cut_normal(key: Any, shape: Shape, variance: Array) -> Array:
    dtype = variance.dtype
    if dtypes.is_complex(dtype):
        inside = -math.expm1(-(2.0**2))  # the fraction within the bounds
        drawn = _turned(key, shape, dtype, lambda u: np.sqrt(-np.log1p(-inside * u)))
        return drawn * (np.sqrt(variance) / np.array(_COMPLEX_CUT, dtype))
    drawn = random.truncated_normal(key, -2, 2, shape, dtype)
    return drawn * (np.sqrt(variance) / np.array(_CUT, dtype))


def _normal(key: Any, shape: Shape, variance: Array) -> Array:
    return random.normal(key, shape, variance.dtype) * np.sqrt(variance)


def _uniform(key: Any, shape: Shape, variance: Array) -> Array:
    dtype = variance.dtype
    if dtypes.is_complex(dtype):
        drawn = _turned(key, shape, dtype, lambda u: np.sqrt(2 * u))
        return drawn * np.sqrt(variance)
    return random.uniform(key, shape, dtype, -1) * np.sqrt(3 * variance)


def _turned(
    key: Any, shape: Shape, dtype: DType, radius: Callable[[Array], Array]
) -> Array:
    """Draw complex numbers of uniform angle; `radius` gives their lengths."""
    of_radius, of_angle = random.split(key)
    real = dtypes.real_part_dtype(dtype)
    length = radius(random.uniform(of_radius, shape, real))
    angle = 2 * math.pi * random.uniform(of_angle, shape, real)
    return length * np.exp(1j * angle)


_UNITS: Final[dict[str, Callable[[Any, Shape, Array], Array]]] = {
    "truncated_normal": _cut_normal,
    "normal": _normal,
    "uniform": _uniform,
}

# ---- named after their authors ----


class InitializerFactory(Protocol):
    """A variance rule; called, it returns the initializer."""

    def __call__(
        self,
        in_axis: Axes = -2,
        out_axis: Axes = -1,
        batch_axis: Axes = (),
        dtype: DTypeLike | None = None,
    ) -> Initializer:
        """Return the initializer for the roles of the axes."""
        ...


def _named(
    name: str, scale: float, mode: Mode, distribution: Distribution, source: str
) -> InitializerFactory:
    def make(
        in_axis: Axes = -2,
        out_axis: Axes = -1,
        batch_axis: Axes = (),
        dtype: DTypeLike | None = None,
    ) -> Initializer:
        axes = in_axis, out_axis, batch_axis
        return variance_scaling(scale, mode, distribution, *axes, dtype)

    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"""Return `variance_scaling({scale}, "{mode}", "{distribution}")`.

    Args:
        in_axis: the input axes.
        out_axis: the output axes.
        batch_axis: axes that are part of neither fan.
        dtype: the default dtype.

    Returns:
        An initializer: a function of a key, a shape and a dtype that returns an array.

    References:
        {source}

    Example:
        >>> from imprint import nn, random
        >>> nn.initializers.{name}()(random.key(0), (3, 2)).shape
        (3, 2)
    """
    return make


_GLOROT = "Glorot and Bengio, AISTATS, 2010."
_LECUN = "LeCun et al., Efficient BackProp, 1998."
_HE = "He et al., ICCV, 2015."

glorot_uniform: Final = _named("glorot_uniform", 1.0, "fan_avg", "uniform", _GLOROT)
glorot_normal: Final = _named(
    "glorot_normal", 1.0, "fan_avg", "truncated_normal", _GLOROT
)
lecun_uniform: Final = _named("lecun_uniform", 1.0, "fan_in", "uniform", _LECUN)
lecun_normal: Final = _named("lecun_normal", 1.0, "fan_in", "truncated_normal", _LECUN)
he_uniform: Final = _named("he_uniform", 2.0, "fan_in", "uniform", _HE)
he_normal: Final = _named("he_normal", 2.0, "fan_in", "truncated_normal", _HE)
xavier_uniform = glorot_uniform
xavier_normal = glorot_normal
kaiming_uniform = he_uniform
kaiming_normal = he_normal

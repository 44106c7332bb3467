"""Resizing of images of any rank: resize, scale_and_translate.

Each axis is contracted with a matrix of weights. The weights of a new element add up to
1, or to 0 if it lies outside. If an axis shrinks, the kernel is widened, so that every
element contributes. Distances in kernels are nonnegative, in elements of the coarser
image.
"""

import enum
import math
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from imprint._src import dtypes
from imprint._src.core import dims
from imprint._src.core.array import Array
from imprint._src.core.array_interop import shown
from imprint._src.core.aval import Shape, get_aval
from imprint._src.eager.fusion import fuse_eager
from imprint._src.errors import ArgumentError, ShapeError, did_you_mean
from imprint._src.numpy.einsum import einsum
from imprint._src.numpy.elementwise.arithmetic import maximum, minimum
from imprint._src.numpy.elementwise.comparison import where
from imprint._src.numpy.elementwise.rounding import floor
from imprint._src.numpy.elementwise.trigonometric import sin
from imprint._src.numpy.indexing.take import take
from imprint._src.numpy.promotion import ArrayLike, as_array, inexact, promote_dtypes
from imprint._src.numpy.ranges import arange
from imprint._src.numpy.shapes.concatenate import concatenate
from imprint._src.numpy.shapes.reshape import size_tuple
from imprint._src.primitives.axes import canonical_axes
from imprint._src.primitives.elementwise.precision import Precision
from imprint._src.primitives.shape import as_operand, number_of


class ResizeMethod(enum.Enum):
    """How to compute new elements from those of an image."""

    NEAREST = 0
    LINEAR = 1
    LANCZOS3 = 2
    LANCZOS5 = 3
    CUBIC = 4
    CUBIC_PYTORCH = 5
    AREA = 6

    @staticmethod
    def from_string(s: str) -> "ResizeMethod":
        """Return the method of a name.

        Example:
            >>> import imprint
            >>> imprint.image.ResizeMethod.from_string("bilinear").name
            'LINEAR'
        """
        return method_of("ResizeMethod.from_string", s)


_NAMES: Final = {
    "nearest": ResizeMethod.NEAREST,
    "linear": ResizeMethod.LINEAR,
    "bilinear": ResizeMethod.LINEAR,
    "trilinear": ResizeMethod.LINEAR,
    "triangle": ResizeMethod.LINEAR,
    "lanczos3": ResizeMethod.LANCZOS3,
    "lanczos5": ResizeMethod.LANCZOS5,
    "cubic": ResizeMethod.CUBIC,
    "bicubic": ResizeMethod.CUBIC,
    "tricubic": ResizeMethod.CUBIC,
    "cubic-pytorch": ResizeMethod.CUBIC_PYTORCH,
    "bicubic-pytorch": ResizeMethod.CUBIC_PYTORCH,
    "area": ResizeMethod.AREA,
}


def method_of(name: str, given: Any) -> ResizeMethod:
    """Return the method argument of the function `name` as a `ResizeMethod`."""
    if isinstance(given, ResizeMethod):
        return given
    if isinstance(given, str) and given in _NAMES:
        return _NAMES[given]
    raise ArgumentError(
        f"{name}: expected method to be a ResizeMethod or one of {list(_NAMES)}, got "
        f"{shown(given)}.{did_you_mean(str(given), _NAMES)}"
    )


class Kernel(NamedTuple):
    """A function of distances, and its radius, beyond which it is 0."""

    radius: int
    weigh: Callable[[Any], Any]


def _triangle(x: Any) -> Any:
    return maximum(0, 1 - abs(x))


def _lanczos(radius: float) -> Callable[[Any], Any]:
    def weigh(x: Any) -> Any:
        wave = radius * sin(math.pi * x) * sin(math.pi * x / radius)
        square = where(x != 0, math.pi**2 * x**2, 1)
        return where(x > radius, 0.0, where(x > 1e-3, wave / square, 1))

    return weigh


def _cubic(a: float) -> Callable[[Any], Any]:
    """Return the Keys cubic with slope `a` at distance 1."""

    def weigh(x: Any) -> Any:
        near = ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0
        far = ((a * x - 5.0 * a) * x + 8.0 * a) * x - 4.0 * a
        return where(x >= 2.0, 0.0, where(x >= 1.0, far, near))

    return weigh


KERNELS: Final = {
    ResizeMethod.LINEAR: Kernel(1, _triangle),
    ResizeMethod.LANCZOS3: Kernel(3, _lanczos(3.0)),
    ResizeMethod.LANCZOS5: Kernel(5, _lanczos(5.0)),
    ResizeMethod.CUBIC: Kernel(2, _cubic(-0.5)),
    ResizeMethod.CUBIC_PYTORCH: Kernel(2, _cubic(-0.75)),
}
"""The kernel of each method that has one."""


_FLOAT32 = np.dtype(np.float32)
_LEAST_TOTAL = 1000.0 * float(np.finfo(np.float32).eps)
"""Weights with a smaller sum are zero."""


@fuse_eager
def resize(
    image: ArrayLike,
    shape: Sequence[int],
    method: str | ResizeMethod,
    antialias: bool = True,  # noqa: FBT001, FBT002 - JAX's signature
    precision: Any = Precision.HIGHEST,
) -> Array:
    """Resize an image.

    Args:
        image: an array of any rank.
        shape: the shape of the result, of the same rank.
        method: "nearest", "linear", "cubic", "lanczos3", "lanczos5", "cubic-pytorch" or
            "area", or a `ResizeMethod`.
        antialias: whether to widen the kernel if an axis shrinks.
        precision: the precision of float products.

    Returns:
        An array of that shape; of the dtype of `image`, but integers become floats
        unless the method is "nearest".

    Raises:
        ShapeError: `shape` has another rank, or an axis without elements would get
            some.
        ArgumentError: the method is unknown.

    References:
        JAX, `jax.image.resize`; Keys, "Cubic convolution interpolation", 1981.

    Example:
        >>> import imprint
        >>> import imprint.numpy as np
        >>> imprint.image.resize(np.asarray([0.0, 1.0, 2.0]), (6,), "linear")
        Array([0.  , 0.25, 0.75, 1.25, 1.75, 2.  ], dtype=float32)
    """
    x, way = as_array("resize", image), method_of("resize", method)
    sizes = _sizes("resize", x, shape)
    old = x.shape
    pairs = enumerate(zip(old, sizes, strict=True))
    moved = [d for d, (m, n) in pairs if not dims.is_same(m, n)]
    if dims.has_zero([old[d] for d in moved]):
        raise ShapeError(
            f"resize: expected elements along the axes that get another length, got "
            f"{x.aval} for {sizes}. Make the new ones with imprint.numpy.zeros."
        )
    if way is ResizeMethod.NEAREST:
        return _nearest(x, sizes, moved)
    x = inexact("resize", x)
    scales = [
        1.0 if dims.is_same(sizes[d], 0) else as_operand(sizes[d]) / as_operand(old[d])
        for d in moved
    ]
    weigh = _Weights("resize", way, antialias=antialias)
    places = [(d, scale, 0.0) for d, scale in zip(moved, scales, strict=True)]
    return _contracted(x, sizes, places, weigh, precision)


def scale_and_translate(  # noqa: PLR0913, PLR0917 - JAX's signature
    image: ArrayLike,
    shape: Sequence[int],
    spatial_dims: Sequence[int],
    scale: ArrayLike,
    translation: ArrayLike,
    method: str | ResizeMethod,
    antialias: bool = True,  # noqa: FBT001, FBT002 - JAX's signature
    precision: Any = Precision.HIGHEST,
) -> Array:
    """Scale and translate an image along axes; both arguments are differentiable.

    A coordinate `x` of the image moves to `x * scale + translation` in the result,
    counted from the border of the first element.

    Args:
        image: an array of any rank.
        shape: the shape of the result, of the same rank.
        spatial_dims: the axes to scale and translate.
        scale: the factor for each of these.
        translation: the shift for each of these, in elements of the result.
        method: as in `resize`, but not "nearest".
        antialias: as in `resize`.
        precision: as in `resize`.

    Returns:
        An array of that shape; of the dtype of `image`, but integers become floats. It
        is 0 where the image does not reach.

    Raises:
        ShapeError: `shape` has another rank, or there is not a scale and a translation
            for each axis.
        ArgumentError: the method is unknown or "nearest".

    References:
        JAX, `jax.image.scale_and_translate`.

    Example:
        >>> import imprint
        >>> import imprint.numpy as np
        >>> x, one = np.asarray([1.0, 2.0, 3.0]), np.ones(1)
        >>> imprint.image.scale_and_translate(x, (3,), (0,), one, one, "linear")
        Array([0., 1., 2.], dtype=float32)
    """
    name = "scale_and_translate"
    x, way = inexact(name, as_array(name, image)), method_of(name, method)
    if way is ResizeMethod.NEAREST:
        raise ArgumentError(
            f"{name}: expected a method that weighs elements, got 'nearest'. Take "
            "'linear', or call imprint.image.resize."
        )
    sizes = _sizes(name, x, shape)
    axes = canonical_axes(name, spatial_dims, x.ndim)
    scales, moves = promote_dtypes(name, (scale, translation), dtypes.to_inexact)
    given = get_aval(scales), get_aval(moves)
    if any(tuple(aval.shape) != (len(axes),) for aval in given):
        raise ShapeError(
            f"{name}: expected a scale and a translation for each of {len(axes)} axes, "
            f"got {given[0]} and {given[1]}. Give vectors of that length."
        )
    weigh = _Weights(name, way, antialias=antialias)
    places = [(d, scales[i], moves[i]) for i, d in enumerate(axes)]
    return _contracted(x, sizes, places, weigh, precision)


def _sizes(name: str, x: Array, shape: Any) -> Shape:
    sizes = size_tuple(name, shape)
    if len(sizes) != x.ndim or dims.has_negative(sizes):
        raise ShapeError(
            f"{name}: expected a shape of {x.ndim} lengths for {x.aval}, got {sizes}. "
            "Name the length of each axis, also of those that stay."
        )
    return sizes


def _nearest(x: Array, sizes: Shape, moved: Sequence[int]) -> Array:
    for d in moved:
        lengths = x.shape[d], sizes[d]
        known = not any(map(dims.is_symbolic, lengths))
        points: Any = np.arange if known else arange
        old, new = (number_of(n, _FLOAT32) for n in lengths)
        middles = points(sizes[d], dtype=np.float32) + np.float32(0.5)
        places = middles * old / new
        found = np.floor(places) if known else floor(places)
        x = take(x, found.astype(np.int32), d, mode="clip")
    return x


def _contracted(
    x: Array,
    sizes: Shape,
    places: Sequence[tuple[int, Any, Any]],
    weigh: "_Weights",
    precision: Any,
) -> Array:
    """Contract axis by axis: first those that shrink most; the last on the right."""
    names, new = list(range(x.ndim)), x.ndim
    for d, scale, move in sorted(places, key=lambda at: _growth(x, sizes, at[0])):
        weights = weigh.of(x.shape[d], sizes[d], scale, move).astype(x.dtype)
        out = [new if i == d else i for i in names]
        terms = [(weights, [d, new]), (x, names)]
        first, second = terms if d < x.ndim - 1 else terms[::-1]
        x = einsum(*first, *second, out, precision=precision)
    return x


def _growth(x: Array, sizes: Shape, d: int) -> float:
    """Return the factor of an axis; 1 if it is symbolic."""
    old, new = x.shape[d], sizes[d]
    return 1.0 if dims.is_symbolic(old) or dims.is_symbolic(new) else new / max(1, old)


class _Weights:
    """The weights of elements, by a method.

    Args:
        name: the public function, for errors.
        method: a method with a kernel.
        antialias: whether to widen the kernel if an axis shrinks.
    """

    def __init__(self, name: str, method: ResizeMethod, *, antialias: bool) -> None:
        if method is ResizeMethod.CUBIC_PYTORCH and antialias:
            method = ResizeMethod.CUBIC
        self._name = name
        self._method = method
        self._antialias = antialias

    def of(self, length: Any, count: int, scale: Any, move: Any) -> Array:
        """Return the matrix of weights, `[length, count]`."""
        old = dims.as_dim(length, self._name)
        dtype = dtypes.result_type(scale, move)
        by = 1.0 / scale
        middles = (arange(count, dtype=dtype) + 0.5) * by - move * by - 0.5
        if self._method is ResizeMethod.AREA:
            weights = _overlaps(old, count, by, move)
        else:
            weights = self._by_kernel(old, middles, scale)
        total = weights.sum(0, keepdims=True)
        known = abs(total) > _LEAST_TOTAL
        weights = where(known, weights / where(total != 0, total, 1), 0)
        if self._keeps_edges:
            return weights
        inside = (middles >= -0.5) & (middles <= as_operand(old) - 0.5)
        return where(inside[None, :], weights, 0)

    @property
    def _keeps_edges(self) -> bool:
        """Whether the last elements stand in for those beyond the border."""
        return self._method is ResizeMethod.CUBIC_PYTORCH

    def _by_kernel(self, old: int, middles: Array, scale: Any) -> Any:
        kernel = KERNELS[self._method]
        more = kernel.radius if self._keeps_edges else 0
        places = arange(-more, old + more, dtype=middles.dtype)
        wider = maximum(1.0 / scale, 1.0) if self._antialias else 1.0
        weights = kernel.weigh(abs(middles[None, :] - places[:, None]) / wider)
        if not more:
            return weights
        if old == 1:
            return weights.sum(0, keepdims=True)
        first = weights[: more + 1].sum(0, keepdims=True)
        last = weights[more + old - 1 :].sum(0, keepdims=True)
        return concatenate([first, weights[more + 1 : more + old - 1], last], 0)


def _overlaps(old: int, count: int, by: Any, move: Any) -> Any:
    """Return the overlap of each new element with each old one."""
    low = arange(count, dtype=dtypes.result_type(by, move)) * by - move * by
    start = arange(old, dtype=low.dtype)[:, None]
    return maximum(
        0.0, minimum((low + by)[None, :], start + 1.0) - maximum(low[None, :], start)
    )

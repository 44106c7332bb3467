"""Norms of vectors and matrices: norm, vector_norm, matrix_norm.

Matrix norms of order 2, -2 and "nuc" are norms of the singular values. The others are
sums and extremes. Without a trace, the norm of all elements is one NumPy call.
"""

from collections.abc import Hashable
from typing import Any, Final, TypeAlias

import numpy as np

from imprint._src import dtypes
from imprint._src.core.array import Array
from imprint._src.core.aval import ShapedArray, get_aval
from imprint._src.core.host_kernel import HostKernel
from imprint._src.eager.fusion import fuse_eager
from imprint._src.errors import ArgumentError
from imprint._src.numpy.elementwise.arithmetic import absolute
from imprint._src.numpy.elementwise.comparison import not_equal
from imprint._src.numpy.elementwise.exponential import power, sqrt
from imprint._src.numpy.elementwise.rounding import real
from imprint._src.numpy.linalg.operands import inexact_arrays
from imprint._src.numpy.promotion import ArrayLike
from imprint._src.numpy.reductions.reductions import max as max_
from imprint._src.numpy.reductions.reductions import min as min_
from imprint._src.numpy.reductions.reductions import sum as sum_
from imprint._src.numpy.shapes.reshape import expand_dims, moveaxis
from imprint._src.primitives.axes import canonical_axes
from imprint._src.primitives.core_ops import mul
from imprint._src.primitives.elementwise.complex import conj
from imprint._src.primitives.linalg.singular import svd

NDArray: TypeAlias = np.ndarray[Any, Any]
Order: TypeAlias = int | float | str | None


@fuse_eager
def norm(
    x: ArrayLike,
    ord: Order = None,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,  # noqa: FBT001, FBT002 - NumPy's signature
) -> Array:
    """Return the norm of vectors or of matrices.

    Args:
        x: an array.
        ord: the order; None for the root of the sum of squares.
        axis: one axis for vectors, two for matrices; None for all.
        keepdims: whether to keep the reduced axes with length 1.

    Returns:
        The norms, real, of the shape of `x` without the reduced axes; floats for
        integers.

    Raises:
        ArgumentError: `ord` is no order of such a norm, or the axes are neither one nor
            two.

    References:
        NumPy, `numpy.linalg.norm`.

    Example:
        >>> import imprint.numpy as np
        >>> np.linalg.norm(np.array([3.0, 4.0]))
        Array(5., dtype=float32)
    """
    (y,) = inexact_arrays("linalg.norm", x)
    if axis is None and ord is None:
        return _root_of_squares(y, tuple(range(y.ndim)), keepdims=keepdims)
    given = range(y.ndim) if axis is None else axis
    listed = given if isinstance(given, range | tuple | list) else (given,)
    axes = canonical_axes("linalg.norm", listed, y.ndim)
    if len(axes) == 1:
        return _vector_norm(y, 2 if ord is None else ord, axes, keepdims=keepdims)
    if len(axes) != 2:
        raise ArgumentError(
            f"linalg.norm: expected one axis for vectors or two for matrices, got {axes} "
            f"of {y.aval}. Name them, or leave out ord for the norm of all elements."
        )
    return _matrix_norm(y, ord, axes, keepdims=keepdims)


@fuse_eager
def vector_norm(
    x: ArrayLike,
    /,
    *,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
    ord: Order = 2,
) -> Array:
    """Return the norm of vectors.

    Args:
        x: an array.
        axis: the axes of the vectors; None for all.
        keepdims: whether to keep the reduced axes with length 1.
        ord: the power p of the sum; 0 counts nonzero elements, infinities are extremes.

    Returns:
        The norms, real, of the shape of `x` without the reduced axes; floats for
        integers.

    References:
        NumPy, `numpy.linalg.vector_norm`.

    Example:
        >>> import imprint.numpy as np
        >>> np.linalg.vector_norm(np.array([3.0, -4.0]), ord=1)
        Array(7., dtype=float32)
    """
    (y,) = inexact_arrays("linalg.vector_norm", x)
    given = range(y.ndim) if axis is None else axis
    listed = given if isinstance(given, range | tuple | list) else (given,)
    axes = canonical_axes("linalg.vector_norm", listed, y.ndim)
    return _vector_norm(y, 2 if ord is None else ord, axes, keepdims=keepdims)


@fuse_eager
def matrix_norm(
    x: ArrayLike, /, *, keepdims: bool = False, ord: Order = "fro"
) -> Array:
    """Return the norm of matrices along the last two axes.

    Args:
        x: an array of at least two axes.
        keepdims: whether to keep the reduced axes with length 1.
        ord: the order; "fro" for the root of the sum of squares.

    Returns:
        The norms, real, of the shape of `x` without the last two axes; floats for
        integers.

    References:
        NumPy, `numpy.linalg.matrix_norm`.

    Example:
        >>> import imprint.numpy as np
        >>> np.linalg.matrix_norm(np.array([[1.0, -2.0], [3.0, 4.0]]), ord=1)
        Array(6., dtype=float32)
    """
    (y,) = inexact_arrays("linalg.matrix_norm", x)
    axes = canonical_axes("linalg.matrix_norm", (-2, -1), y.ndim)
    return _matrix_norm(y, ord, axes, keepdims=keepdims)


# ---- vector norms ----


def _vector_norm(y: Any, order: Any, axes: tuple[int, ...], *, keepdims: bool) -> Any:
    over: dict[str, Any] = {"axis": axes, "keepdims": keepdims}
    if isinstance(order, str):
        raise ArgumentError(
            f"linalg.norm: expected a number as the order of a vector norm, got {order!r}. "
            "Write imprint.numpy.inf for the largest magnitude."
        )
    if order == 2:
        return _root_of_squares(y, axes, keepdims=keepdims)
    size = absolute(y)
    if order == np.inf:
        return max_(size, **over, initial=0)
    if order == -np.inf:
        return min_(size, **over)
    if order == 0:
        return sum_(not_equal(y, 0), **over, dtype=size.dtype)
    if order == 1:
        return sum_(size, **over)
    return power(sum_(power(size, order), **over), 1 / order)


def _root_of_squares(y: Any, axes: tuple[int, ...], *, keepdims: bool) -> Any:
    if _root_now.applies(y):
        return _root_now(y, axes=axes, keepdims=bool(keepdims))[0]
    is_complex = dtypes.is_complex(get_aval(y).dtype)
    squares = real(mul(y, conj(y))) if is_complex else mul(y, y)
    return sqrt(sum_(squares, axis=axes, keepdims=keepdims))


def _root_aval(
    x: ShapedArray, *, axes: tuple[int, ...], keepdims: bool
) -> tuple[ShapedArray]:
    sizes = ((1 if i in axes else n, i) for i, n in enumerate(x.shape))
    shape = tuple(n for n, i in sizes if keepdims or i not in axes)
    part = dtypes.real_part_dtype(x.dtype) if dtypes.is_complex(x.dtype) else x.dtype
    return (x.with_shape(shape).with_dtype(part, weak_type=x.weak_type),)


def _root_reference(x: NDArray, *, axes: tuple[int, ...], keepdims: bool) -> tuple[Any]:
    wide = x.astype(np.float32) if x.dtype.itemsize == 2 else x
    if len(axes) == x.ndim and not keepdims:
        flat = wide.ravel()
        total: Any = np.vdot(flat, flat)
        return (np.sqrt(total.real),)
    squares: Any = np.real(wide * np.conj(wide))
    return (np.sqrt(squares.sum(axes, keepdims=keepdims)),)


_root_now: Final = HostKernel("linalg.norm", _root_aval, _root_reference)

# ---- matrix norms ----

_EXTREMES: Final[dict[Any, tuple[int, Any]]] = {
    1: (0, max_),
    -1: (0, min_),
    np.inf: (1, max_),
    -np.inf: (1, min_),
}
"""By order: the axis of the two to sum along, and the extreme of the sums."""
_ORDERS: Final = frozenset((None, "f", "fro", "nuc", 2, -2, *_EXTREMES))


def _matrix_norm(y: Any, order: Any, axes: tuple[int, ...], *, keepdims: bool) -> Any:
    if not isinstance(order, Hashable) or order not in _ORDERS:
        raise ArgumentError(
            "linalg.norm: expected 'fro', 'nuc', 1, -1, 2, -2, inf or -inf as the order "
            f"of a matrix norm, got {order!r}. Name one axis for a norm of vectors."
        )
    if order in (None, "f", "fro"):
        return _root_of_squares(y, axes, keepdims=keepdims)
    if order in ("nuc", 2, -2):
        return _of_singular_values(y, order, axes, keepdims=keepdims)
    summed, extreme = _EXTREMES[order]
    sums = sum_(absolute(y), axis=axes[summed], keepdims=True)
    initial = {"initial": 0} if extreme is max_ else {}
    out = extreme(sums, axis=axes[1 - summed], keepdims=True, **initial)
    return out if keepdims else out.squeeze(axes)


def _of_singular_values(
    y: Any, order: Any, axes: tuple[int, ...], *, keepdims: bool
) -> Any:
    values: Any = svd(moveaxis(y, axes, (-2, -1)), compute_uv=False)
    if order == "nuc":
        out = sum_(values, axis=-1)
    else:
        out = max_(values, axis=-1, initial=0) if order == 2 else min_(values, axis=-1)
    return expand_dims(out, axes) if keepdims else out

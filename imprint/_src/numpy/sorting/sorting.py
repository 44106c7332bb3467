"""Arrays in order: sort, argsort and their relatives, and the largest elements.

NaN is last, -0.0 and 0.0 are equal, and complex numbers go by real part, then by imaginary
part. Equal elements keep their order unless it is said that they need not. Indices are
`int32`, or `int64` under `enable_x64`; those of `top_k` are `int32`. Orders by several
keys, and partial ones, are in `arranging`, which loads more.
"""

from typing import Any

from imprint._src import dtypes
from imprint._src.core.array import Array
from imprint._src.dtypes import DTypeLike
from imprint._src.eager.fusion import fuse_eager
from imprint._src.errors import ArgumentError
from imprint._src.numpy.promotion import ArrayLike, as_array, convert, refuse_complex
from imprint._src.numpy.shapes.reshape import ravel
from imprint._src.primitives.axes import canonical_axis
from imprint._src.primitives.core_ops import neg
from imprint._src.primitives.elementwise.bitwise import not_
from imprint._src.primitives.indexing import sorting
from imprint._src.primitives.shape import broadcasted_iota, rev


@fuse_eager
def sort(
    a: ArrayLike,
    axis: int | None = -1,
    *,
    kind: None = None,
    order: None = None,
    stable: bool = True,
    descending: bool = False,
) -> Array:
    """Return the elements in ascending order along an axis.

    Args:
        a: an array.
        axis: the axis; None flattens first.
        kind: None: say `stable` instead.
        order: None: there are no arrays of records.
        stable: whether equal elements keep their order.
        descending: whether the largest comes first.

    Example:
        >>> import imprint.numpy as np
        >>> np.sort(np.array([[3, 1, 2], [9, 7, 8]]))
        Array([[1, 2, 3],
               [7, 8, 9]], dtype=int32)
    """
    x, at = _along("sort", a, axis, kind, order)
    out = sorting.sort(x, at, stable)
    return rev(out, (at,)) if descending else out


@fuse_eager
def argsort(  # noqa: PLR0913 - JAX's signature
    a: ArrayLike,
    axis: int | None = -1,
    *,
    kind: None = None,
    order: None = None,
    stable: bool = True,
    descending: bool = False,
    dtype: DTypeLike | None = None,
) -> Array:
    """Return the indices that bring the elements in ascending order along an axis.

    Args:
        a: an array.
        axis: the axis; None flattens first.
        kind: None: say `stable` instead.
        order: None: there are no arrays of records.
        stable: whether indices of equal elements ascend.
        descending: whether the largest comes first.
        dtype: the dtype of the indices.

    Example:
        >>> import imprint.numpy as np
        >>> np.argsort(np.array([3, 1, 2]))
        Array([1, 2, 0], dtype=int32)
    """
    x, at = _along("argsort", a, axis, kind, order)
    wanted = (
        dtypes.default_int() if dtype is None else dtypes.requested(dtype, "argsort")
    )
    index = broadcasted_iota(wanted, x.shape, at)
    if descending and stable:  # so that indices of equal elements ascend in the end
        x, index = rev(x, (at,)), rev(index, (at,))
    _, out = sorting.sort_key_val(x, index, at, stable)
    return rev(out, (at,)) if descending else out


def _along(
    name: str, a: ArrayLike, axis: int | None, kind: object, order: object
) -> tuple[Array, int]:
    """Return what is sorted, and along which axis."""
    if kind is not None:
        raise ArgumentError(
            f"{name}: expected kind to be None, got {kind!r}. There is one algorithm: "
            "say stable=True or stable=False."
        )
    if order is not None:
        raise ArgumentError(
            f"{name}: expected order to be None, got {order!r}. There are no arrays of "
            "records: sort by several arrays with imprint.numpy.lexsort."
        )
    x = as_array(name, a)
    if axis is None:
        return ravel(x), 0
    return x, canonical_axis(name, axis, x.ndim)


@fuse_eager
def sort_complex(a: ArrayLike) -> Array:
    """Return the elements in order along the last axis, as complex numbers.

    Example:
        >>> import imprint.numpy as np
        >>> np.sort_complex(np.array([2 + 1j, 1 - 1j]))
        Array([1.-1.j, 2.+1.j], dtype=complex64)
    """
    out = sorting.sort(as_array("sort_complex", a))
    return convert("sort_complex", out, dtypes.to_complex(out.dtype))


# ---- the largest, and the smallest ----


@fuse_eager
def top_k(
    a: ArrayLike,
    k: int,
    /,
    *,
    axis: int = -1,
    mode: str = "largest",
    sorted: bool = True,
) -> tuple[Array, Array]:
    """Return the largest or smallest elements along an axis, and their indices.

    Args:
        a: an array of real numbers or booleans.
        k: how many.
        axis: the axis.
        mode: "largest" or "smallest".
        sorted: whether they come in order; they do in any case.

    Example:
        >>> import imprint.numpy as np
        >>> np.top_k(np.array([3, 9, 5]), 2, mode="smallest")[0]
        Array([3, 5], dtype=int32)
    """
    del sorted
    x = as_array("top_k", a)
    refuse_complex("top_k", x)
    if mode not in ("largest", "smallest"):
        raise ArgumentError(
            f"top_k: expected mode 'largest' or 'smallest', got {mode!r}."
            " Leave it out for the largest."
        )
    if mode == "largest":
        return sorting.top_k(x, k, axis=axis)
    values, index = sorting.top_k(backwards(x), k, axis=axis)
    return backwards(values), index


def backwards(x: Any) -> Any:
    """Return values in the opposite order; twice, the same again."""
    return neg(x) if dtypes.is_inexact(x.dtype) else not_(x)

"""Which elements are among others: isin.

Few are compared each with each. What searches among many, `hooks.numpy` loads for those.
"""

from typing import Final

from imprint._src import dtypes
from imprint._src.bootstrap import hooks
from imprint._src.core import dims
from imprint._src.core.array import Array
from imprint._src.eager.fusion import fuse_eager
from imprint._src.errors import ArgumentError
from imprint._src.numpy.creation import full
from imprint._src.numpy.promotion import (
    ArrayLike,
    as_array,
    match_shapes,
    promote_dtypes,
)
from imprint._src.numpy.reductions.reductions import any
from imprint._src.numpy.shapes.reshape import ravel
from imprint._src.primitives.elementwise.bitwise import not_
from imprint._src.primitives.elementwise.comparison import eq
from imprint._src.primitives.shape import expand_dims


@fuse_eager
def isin(
    element: ArrayLike,
    test_elements: ArrayLike,
    assume_unique: bool = False,  # noqa: FBT001, FBT002 - NumPy's signature
    invert: bool = False,  # noqa: FBT001, FBT002 - NumPy's signature
    *,
    method: str = "auto",
) -> Array:
    """Tell which elements are among others.

    Args:
        element: an array.
        test_elements: the others.
        assume_unique: whether no element comes twice; it makes no difference here.
        invert: whether to tell which are not.
        method: "compare_all" compares each with each; "binary_search" and "sort" bring the
            others in order; "auto" compares where they are few.

    Example:
        >>> import imprint.numpy as np
        >>> np.isin(np.array([1, 2, 3]), np.array([3, 1]))
        Array([ True, False,  True], dtype=bool)
    """
    del assume_unique
    x, among = as_array("isin", element), as_array("isin", test_elements)
    return is_in("isin", x, ravel(among), method, invert=invert)


_FEW: Final = 64
_SEARCHES: Final = {"binary_search": "scan", "sort": "sort"}


def is_in(name: str, x: Array, among: Array, method: str, *, invert: bool) -> Array:
    """Do what `isin` does, for the function `name`, among elements along one axis."""
    if method not in ("auto", "compare_all", *_SEARCHES):
        raise ArgumentError(
            f"{name}: expected method 'auto', 'compare_all', 'binary_search' or 'sort', "
            f"got {method!r}. Leave it out."
        )
    if dims.has_zero(among.shape):
        return full(x.shape, invert, dtypes.bool_)
    if method == "auto":
        few = not dims.is_surely_at_least(among.shape[0], _FEW)
        method = "compare_all" if few else "binary_search"
    x, among = promote_dtypes(name, (x, among))
    if method == "compare_all":
        each = match_shapes(name, (expand_dims(x, (x.ndim,)), among))
        found = any(eq(*each), -1)
    else:
        ordered = hooks.numpy.sort(among)
        place = hooks.numpy.searchsorted(ordered, x, method=_SEARCHES[method])
        found = eq(x, hooks.numpy.take(ordered, place, mode="clip"))
    return not_(found) if invert else found

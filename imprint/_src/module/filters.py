"""Filters: predicates of leaves, and trees split by a predicate.

A `filter_spec` is a prefix of the tree whose leaves are booleans or functions of one leaf.
Excluded leaves become `None`, or `replace`, so both parts keep the structure and `combine`
joins them again. NumPy arrays and scalars are arrays; Python numbers are array-likes.
Names and meanings are Equinox's.
"""

from collections.abc import Callable
from types import FunctionType
from typing import Any, Final, cast

import numpy as np
import optree

from imprint._src import dtypes
from imprint._src.core.array import Array, NumberArray
from imprint._src.core.aval import DType
from imprint._src.errors import ArgumentError
from imprint._src.tree import internal as tree
from imprint._src.tree.treedef import NAMESPACE

# ---- predicates of leaves ----

_ARRAYS: Final = (Array, np.ndarray, np.generic)
_ARRAY_LIKES: Final = (*_ARRAYS, bool, int, float, complex)
_NUMBERS: Final = (NumberArray, np.ndarray, np.generic)


def is_array(element: Any) -> bool:
    """Return whether a value is an array: imprint's, traced or not, or NumPy's.

    Args:
        element: any value.

    Returns:
        Whether it is one.

    Example:
        >>> import imprint.numpy as inp
        >>> from imprint.module import is_array
        >>> is_array(inp.ones(2)), is_array(2.0)
        (True, False)
    """
    return isinstance(element, _ARRAYS)


def is_array_like(element: Any) -> bool:
    """Return whether a value is an array or a Python number.

    Args:
        element: any value.

    Returns:
        Whether it is one.

    Example:
        >>> from imprint.module import is_array_like
        >>> is_array_like(2.0), is_array_like("2.0")
        (True, False)
    """
    return isinstance(element, _ARRAY_LIKES)


def is_inexact_array(element: Any) -> bool:
    """Return whether a value is an array of a floating or complex dtype.

    Args:
        element: any value.

    Returns:
        Whether it is one.

    Example:
        >>> import numpy as np
        >>> from imprint.module import is_inexact_array
        >>> is_inexact_array(np.ones(2)), is_inexact_array(np.arange(2))
        (True, False)
    """
    if not isinstance(element, _NUMBERS):
        return False
    dtype: DType = cast("Any", element).dtype
    return dtypes.is_inexact(dtype)


def is_inexact_array_like(element: Any) -> bool:
    """Return whether a value is a floating or complex array, or such a Python number.

    Args:
        element: any value.

    Returns:
        Whether it is one.

    Example:
        >>> from imprint.module import is_inexact_array_like
        >>> is_inexact_array_like(2.0), is_inexact_array_like(2)
        (True, False)
    """
    return isinstance(element, float | complex) or is_inexact_array(element)


# ---- trees in parts ----


def filter(  # noqa: A001 - Equinox's name
    pytree: tree.PyTree,
    filter_spec: tree.PyTree,
    inverse: bool = False,  # noqa: FBT001, FBT002 - Equinox's signature
    replace: Any = None,
    is_leaf: tree.IsLeaf | None = None,
) -> tree.PyTree:
    """Keep the leaves that satisfy a condition and replace the others.

    Args:
        pytree: any tree.
        filter_spec: a prefix of the tree; a leaf of it is True (keep the leaves below),
            False (replace them), or a predicate of each leaf below.
        inverse: whether to invert `filter_spec`.
        replace: the replacement of each excluded leaf.
        is_leaf: as in `imprint.tree.flatten`.

    Returns:
        A tree of the same structure.

    Raises:
        ArgumentError: `filter_spec` has another leaf.
        TreeError: `filter_spec` is no prefix of the tree.

    References:
        Equinox, `equinox.filter`.

    Example:
        >>> from imprint.module import filter, is_inexact_array_like
        >>> filter({"w": 2.0, "name": "first"}, is_inexact_array_like)
        {'name': None, 'w': 2.0}
    """
    leaves, treedef = tree.flatten(pytree, is_leaf)
    wanted = not inverse
    kept = [
        x if m == wanted else replace
        for m, x in zip(
            _mask(filter_spec, leaves, treedef, "filter"), leaves, strict=True
        )
    ]
    return treedef.unflatten(kept)


def partition(
    pytree: tree.PyTree,
    filter_spec: tree.PyTree,
    replace: Any = None,
    is_leaf: tree.IsLeaf | None = None,
) -> tuple[tree.PyTree, tree.PyTree]:
    """Split a tree in two: the leaves that `filter` keeps, and the others.

    Args:
        pytree: any tree.
        filter_spec: as in `filter`.
        replace: the value in one part in place of a leaf of the other.
        is_leaf: as in `imprint.tree.flatten`.

    Returns:
        Two trees of the same structure; `combine` is the way back.

    Raises:
        ArgumentError: `filter_spec` has another leaf.
        TreeError: `filter_spec` is no prefix of the tree.

    Example:
        >>> from imprint.module import is_inexact_array_like, partition
        >>> partition([1.0, "tanh", 2], is_inexact_array_like)
        ([1.0, None, None], [None, 'tanh', 2])
    """
    leaves, treedef = tree.flatten(pytree, is_leaf)
    mask = _mask(filter_spec, leaves, treedef, "partition")
    left = [x if m else replace for m, x in zip(mask, leaves, strict=True)]
    right = [replace if m else x for m, x in zip(mask, leaves, strict=True)]
    return treedef.unflatten(left), treedef.unflatten(right)


def combine(*pytrees: tree.PyTree, is_leaf: tree.IsLeaf | None = None) -> tree.PyTree:
    """Put trees together: at each place the first leaf that is not None.

    Args:
        *pytrees: trees of one structure, but for leaves that are None.
        is_leaf: as in `imprint.tree.flatten`; None is always a leaf here.

    Returns:
        A tree of this structure; None where all trees have None.

    Raises:
        TreeError: the structures differ.

    Example:
        >>> from imprint.module import combine
        >>> combine([None, 1, 2], [0, None, None])
        [0, 1, 2]
    """
    first, *rest = pytrees
    leaves, spec = optree.tree_flatten(
        first, is_leaf, none_is_leaf=True, namespace=NAMESPACE
    )
    try:
        columns: list[list[Any]] = [leaves, *map(spec.flatten_up_to, rest)]
    except ValueError:
        for other in rest:
            _check_structure(first, other, is_leaf)
        raise
    found = columns[-1]
    for column in columns[-2::-1]:
        found = [y if x is None else x for x, y in zip(column, found, strict=True)]
    return spec.unflatten(found)


def _check_structure(first: Any, other: Any, is_leaf: tree.IsLeaf | None) -> None:
    def stop(x: Any) -> bool:
        return x is None or (is_leaf is not None and is_leaf(x))

    tree.check_prefix(
        tree.structure(first, stop), tree.structure(other, stop), "combine"
    )


def is_none(x: object) -> bool:
    """Return whether a node is None; for trees in which None is a leaf."""
    return x is None


# ---- masks ----


def _mask(
    spec: Any, leaves: list[Any], treedef: tree.TreeDef, caller: str
) -> list[bool]:
    if type(spec) is FunctionType:  # the usual case
        return [bool(spec(x)) for x in leaves]
    specs = tree.flatten_axes(spec, treedef, f"{caller} filter_spec")
    return [_answer(s, x, caller) for s, x in zip(specs, leaves, strict=True)]


def _answer(spec: Any, leaf: Any, caller: str) -> bool:
    if isinstance(spec, bool):
        return spec
    if callable(spec):
        question: Callable[[Any], Any] = spec
        return bool(question(leaf))
    raise ArgumentError(
        f"{caller}: expected booleans and functions of a leaf in filter_spec, got "
        f"{type(spec).__name__} {spec!r}. Use True or False, or a function such as "
        "imprint.is_array."
    )

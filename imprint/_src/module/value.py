"""Value: when two modules are equal, and the hash that goes with it.

Equal modules are of one class, have one structure, static fields included, and equal
leaves; arrays are equal in dtype, shape and content. So a module without arrays can be
the key of a dict. Static values count little in the hash: equal ones, as functions of one
definition are, may have hashes that differ.
"""

from typing import Any, Final

import numpy as np

from imprint import tree
from imprint._src.core.array import Array
from imprint._src.tree.walk import fields_of

_ARRAYS: Final[Any] = (Array, np.ndarray, np.generic)
_STABLE: Final = frozenset({int, bool, str, bytes, type(None)})


def is_equal(a: Any, b: Any) -> bool:
    """Tell whether two pytrees are equal by value."""
    leaves, treedef = tree.flatten(a)
    others, other_treedef = tree.flatten(b)
    return treedef == other_treedef and all(map(_is_equal_leaf, leaves, others))


def _is_equal_leaf(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if isinstance(a, _ARRAYS) and isinstance(b, _ARRAYS):
        return a.dtype == b.dtype and np.array_equal(np.asarray(a), np.asarray(b))
    if isinstance(a, _ARRAYS) or isinstance(b, _ARRAYS):
        return False
    return bool(a == b)


def hash_of(module: Any) -> int:
    """Return a hash that equal modules share.

    Raises:
        TypeError: there is a leaf without a hash, as arrays are.
    """
    static: list[Any] = [getattr(module, name) for name in fields_of[type(module)].meta]
    found: list[object] = [x if type(x) in _STABLE else type(x) for x in static]
    for path, leaf in tree.leaves_with_path(module):
        try:
            found.append(hash(leaf))
        except TypeError:
            raise TypeError(
                f"hash: expected a module whose leaves can be hashed, got "
                f"{type(leaf).__name__} in {type(module).__name__}{tree.keystr(path)}. "
                "Compare modules by ==; for a key, take id(module)."
            ) from None
    return hash((module.__class__, *found))

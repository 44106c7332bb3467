"""Results: how the arrays that a program gives become what the function returned.

Under `jit` all leaves of a result are arrays. A `filter_jit` function may return other
things too (functions, texts, settings of a model): they are kept as they were while
tracing, and stand in the result of each call. So do arrays of float0. A size that has a
name is a number among the arrays.
"""

from collections.abc import Callable, Iterable
from typing import Any, final

from imprint import tree
from imprint._src.core.dims import is_symbolic
from imprint._src.core.tangents import is_float0
from imprint._src.primitives.shape import as_value


@final
class Results:
    """The structure of a result, with those of its leaves that are no arrays.

    Args:
        treedef: the tree of the whole result.
        static: the leaves that are no arrays, by place.
    """

    __slots__ = ("_static", "is_single", "treedef", "unflatten")

    def __init__(self, treedef: tree.TreeDef, static: dict[int, Any]) -> None:
        self.treedef: tree.TreeDef = treedef
        # A set, say, is returned anew by each call: what is done to one stays with it.
        self._static = {i: tree.detached(leaf) for i, leaf in static.items()}
        self.is_single: bool = treedef.is_leaf and not static
        """Whether the result is one array."""
        self.unflatten: Callable[[Iterable[Any]], Any] = treedef.unflatten
        """Returns the result with these arrays in it; hot."""
        if static:
            self.unflatten = self._join
        elif treedef.is_flat_tuple:  # put together by itself, 0.3 µs faster
            self.unflatten = tuple

    def names(self) -> list[str]:
        """Return the names of the arrays: `[0].weight`."""
        paths = enumerate(self.treedef.paths())
        return [tree.keystr(path) for i, path in paths if i not in self._static]

    def kept(self) -> dict[str, Any]:
        """Return the leaves that are no arrays, by name."""
        paths = self.treedef.paths() if self._static else []
        return {tree.keystr(paths[i]): leaf for i, leaf in self._static.items()}

    def _join(self, arrays: Iterable[Any]) -> Any:
        static, rest = self._static, iter(arrays)
        leaves = [
            tree.detached(static[i]) if i in static else next(rest)
            for i in range(self.treedef.num_leaves)
        ]
        return self.treedef.unflatten(leaves)


def split_result(
    result: Any, is_static: Callable[[object], bool]
) -> tuple[list[Any], Results]:
    """Return the arrays of what a function returned, and how to put them together."""
    leaves, treedef = tree.flatten(result)
    static = {
        i: leaf for i, leaf in enumerate(leaves) if is_static(leaf) or is_float0(leaf)
    }
    arrays = [
        as_value(leaf) if is_symbolic(leaf) else leaf
        for i, leaf in enumerate(leaves)
        if i not in static
    ]
    return arrays, Results(treedef, static)

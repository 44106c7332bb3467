"""How calls take the leaves of arguments and put results together, natively if possible.

The native core does this for trees of tuples, lists, and dictionaries whose keys are
strings: it walks a template, a tree of the same structure with numbers for leaves. All
others, and all without the core, have the functions of `tree`.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final

from imprint._src import native
from imprint._src.tree import internal as tree


def match_of(values: Any) -> Callable[[Any], list[Any]]:
    """Return a function that takes the leaves of trees like this one; see `tree.match_of`.

    Raises:
        KeyError: the tree has no match.
    """
    treedef = tree.structure(values)
    template = _template(treedef)
    if template is None:
        return tree.match_of(values)
    return native.core.Match(template, treedef.num_leaves)


def unflatten_of(treedef: tree.TreeDef) -> Callable[[Iterable[Any]], Any]:
    """Return a function that puts leaves into a structure, as `TreeDef.unflatten`."""
    template = _template(treedef)
    if template is None:
        return treedef.unflatten
    return native.core.Unflatten(template, treedef.num_leaves)


def _template(treedef: tree.TreeDef) -> Any:
    """Return a tree with the numbers of its leaves; None if the core cannot take it."""
    is_plain = not treedef.odd_keys and _CONTAINERS.issuperset(treedef.classes())
    if native.core is None or not is_plain:
        return None
    return treedef.unflatten(range(treedef.num_leaves))


_CONTAINERS: Final = frozenset({tuple, list, dict})

"""What may go into a traced function and come out of it: arrays and numbers.

Runs only when something is wrong, or once per trace; the messages name the argument by
its path and the remedy.
"""

from collections.abc import Sequence
from typing import Any

from imprint import tree
from imprint.core.aval import get_aval
from imprint.errors import ArgumentError
from imprint.jit.signature import Form


def check_leaves(
    name: str, form: Form, leaves: Sequence[Any], treedef: tree.TreeDef
) -> None:
    """Raise ArgumentError that names the first leaf that is not an array or a number."""
    for leaf_name, leaf in zip(form.leaf_names(treedef), leaves, strict=True):
        try:
            get_aval(leaf)
        except TypeError:
            root = leaf_name.split("[")[0].split(".")[0]
            raise ArgumentError(
                f"{name}: expected arrays and numbers, got {type(leaf).__name__} "
                f"{_short(leaf)} as argument {leaf_name}. To pass a Python value, mark "
                f"it static: jit(..., static_argnames={root!r})."
            ) from None


def check_results(name: str, outs: Sequence[Any], out_tree: tree.TreeDef) -> None:
    """Raise ArgumentError that names the first result that is not an array or number."""
    for i, out in enumerate(outs):
        try:
            get_aval(out)
        except TypeError:
            where = tree.keystr(out_tree.paths()[i])
            raise ArgumentError(
                f"{name}: expected to return arrays and numbers, got "
                f"{type(out).__name__} {_short(out)} as result{where}. "
                "Return only what the computation gives; keep Python values outside."
            ) from None


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."

"""What may go into a traced function and come out of it: arrays and numbers.

Runs only when something is wrong, or once per trace; the messages name the argument by
its path and the remedy.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from imprint import tree
from imprint.core.aval import checked_integer, get_aval
from imprint.core.shape_struct import ShapeDtypeStruct
from imprint.errors import ArgumentError, DTypeError
from imprint.jit.signature import Call, Form


def check_leaves(
    name: str, form: Form, leaves: Sequence[Any], treedef: tree.TreeDef
) -> None:
    """Raise an error that names the first leaf that is not an array or a number."""
    for leaf_name, leaf in zip(form.leaf_names(treedef), leaves, strict=True):
        try:
            aval = get_aval(leaf)
            if type(leaf) is int:
                checked_integer(leaf, aval.dtype)
        except (DTypeError, OverflowError) as err:
            dtype: Any = getattr(leaf, "dtype", None)
            if dtype is not None and dtype.kind in "OSUMmV":
                raise DTypeError(
                    f"{name}: expected arrays of numbers, got one of dtype {dtype} as "
                    f"argument {leaf_name}. Convert it to numbers first."
                ) from None
            raise type(err)(f"{name}: argument {leaf_name}: {err}") from None
        except TypeError as err:
            if isinstance(leaf, np.ndarray):
                raise ArgumentError(f"{name}: argument {leaf_name}: {err}") from None
            root = leaf_name.split("[")[0].split(".")[0]
            raise ArgumentError(
                f"{name}: expected arrays and numbers, got {type(leaf).__name__} "
                f"{_short(leaf)} as argument {leaf_name}. To pass a Python value, mark "
                f"it static: jit(..., static_argnames={root!r})."
            ) from None


def check_values(name: str, call: Call, leaves: Sequence[Any]) -> None:
    """Raise ArgumentError that names the first leaf that has a shape but no values."""
    for i, leaf in enumerate(leaves):
        if type(leaf) is ShapeDtypeStruct:
            leaf_name = call.form.leaf_names(tree.structure(call.dynamic))[i]
            raise ArgumentError(
                f"{name}: expected an array with values, got {leaf} as argument "
                f"{leaf_name}. Only lower, trace and eval_shape take a shape in the "
                "place of an array."
            )


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

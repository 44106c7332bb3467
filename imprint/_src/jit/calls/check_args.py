"""What may go into a traced function and come out of it: arrays and numbers.

Runs only when something is wrong, or once per trace; the messages name the argument by
its path and the remedy.
"""

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from types import FunctionType
from typing import Any, Final, cast

import numpy as np

from imprint import tree
from imprint._src.core.array_interop import conversion, shown
from imprint._src.core.aval import checked_integer, get_aval
from imprint._src.core.shape_struct import ShapeDtypeStruct
from imprint._src.core.trace import Tracer
from imprint._src.errors import ArgumentError, DTypeError
from imprint._src.jit.calls.results import Results
from imprint._src.jit.calls.signature import Call, Form


def check_leaves(
    name: str, form: Form, leaves: Sequence[Any], treedef: tree.TreeDef
) -> None:
    """Raise an error that names the first leaf that is not an array or a number."""
    for leaf_name, leaf in zip(form.leaf_names(treedef), leaves, strict=True):
        try:
            aval = get_aval(leaf)
            if isinstance(leaf, int) and aval.dtype.kind == "i":  # and no bool
                checked_integer(leaf, aval.dtype)
        except (DTypeError, OverflowError) as err:
            dtype: Any = getattr(leaf, "dtype", None)
            if dtype is not None and dtype.kind in "OSUMmV":
                raise DTypeError(
                    f"{name}: expected arrays of numbers, got one of dtype {dtype} as "
                    f"argument {leaf_name}. {_NUMBERS[dtype.kind].format(leaf_name)}"
                ) from None
            raise type(err)(f"{name}: argument {leaf_name}: {err}") from None
        except TypeError as err:
            if isinstance(leaf, np.ndarray):
                raise ArgumentError(f"{name}: argument {leaf_name}: {err}") from None
            raise ArgumentError(
                f"{name}: expected arrays and numbers, got {shown(leaf)} as argument "
                f"{leaf_name}. {conversion(leaf, leaf_name) or _remedy(leaf_name, form)}"
            ) from None


def _remedy(leaf_name: str, form: Form) -> str:
    """Say how a Python value can be passed as an argument, or inside one."""
    if leaf_name in form.names:
        root = leaf_name.split("[")[0]
        if root == "self":
            return (
                "Derive its class from imprint.Module, whose arrays are traced; or mark "
                "it static: jit(..., static_argnames='self')."
            )
        return (
            f"To pass a Python value, mark it static: jit(..., static_argnames={root!r})"
            ", or use imprint.filter_jit, which traces only arrays."
        )
    field = leaf_name.rpartition(".")[2]
    if field.isidentifier():
        return (
            "Use imprint.filter_jit, which traces only arrays, or mark the field static: "
            f"{field}: ... = field(static=True)."
        )
    return (
        "Use imprint.filter_jit, which traces only arrays, or pass it as an argument of "
        "its own that is static."
    )


def check_values(name: str, call: Call, leaves: Sequence[Any]) -> None:
    """Raise ArgumentError that names the first leaf that has a shape but no values."""
    for i, leaf in enumerate(leaves):
        if type(leaf) is ShapeDtypeStruct:
            given, treedef = tree.flatten(call.dynamic)
            leaf_name = call.form.leaf_names(treedef)[i]
            remedy = conversion(given[i], leaf_name)
            raise ArgumentError(
                f"{name}: expected an array with values, got {shown(given[i])} as argument "
                f"{leaf_name}. {remedy or _ONLY_TRACED}"
            )


def check_results(name: str, outs: Sequence[Any], results: Results) -> None:
    """Raise ArgumentError that names the first result that cannot be one.

    It is not an array or number; or it is kept as it is, and holds a traced array.
    """
    for i, out in enumerate(outs):
        try:
            get_aval(out)
        except TypeError:
            where = results.names()[i]
            raise ArgumentError(
                f"{name}: expected to return arrays and numbers, got {shown(out)} as "
                f"result{where}. {conversion(out, f'result{where}') or _KEEP}"
            ) from None

    for where, kept in results.kept().items():
        if _holds_tracer(kept):
            raise ArgumentError(
                f"{name}: expected results of which each array is a leaf, got "
                f"{shown(kept)} as result{where}, which holds a "
                "traced array and is no pytree. Return the array beside it, or make its "
                "class a node: a Module, or imprint.tree.register_dataclass."
            )


def _holds_tracer(value: Any, depth: int = 3) -> bool:
    """Tell whether there is a tracer in a function's closure, or an object's attributes."""
    if isinstance(value, Tracer) or depth == 0:
        return isinstance(value, Tracer)
    held: list[Any] = [*getattr(value, "__dict__", {}).values()]
    if isinstance(value, FunctionType):
        for cell in value.__closure__ or ():
            with suppress(ValueError):  # a variable without a value yet
                held.append(cell.cell_contents)
    elif isinstance(value, partial):
        held += [cast("Any", value).args, value.keywords]
    return any(_holds_tracer(x, depth - 1) for x in tree.leaves(held))


_ONLY_TRACED: Final = (
    "Only lower, trace and eval_shape take a shape in the place of an array."
)
_KEEP: Final = (
    "Return only what the computation gives; keep Python values outside, or use "
    "imprint.filter_jit, which returns them as they are."
)
# By the kind of a NumPy dtype that holds no numbers.
_NUMBERS: Final = {
    "O": "If each object is a number: {0}.astype('float32').",
    "S": "Encode the texts: numpy.unique({0}, return_inverse=True)[1].",
    "U": "Encode the texts: numpy.unique({0}, return_inverse=True)[1].",
    "M": "Convert it to a number of units: ({0} - start) / unit.",
    "m": "Convert it to a number of units: {0} / unit.",
    "V": "Take its fields one by one: {0}['field'].",
}

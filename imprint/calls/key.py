"""A call on its way to a version: its leaves, and the key of the version it needs.

The key of a call of flat arrays is only flags and avals, which the warm path can put
together by itself; any other call adds its form, its tree and its static values.
"""

from typing import Any, NamedTuple

from imprint import tree
from imprint.calls.leaves import check_leaves
from imprint.calls.signature import Call, Signature
from imprint.config import Settings, settings
from imprint.core.aval import ShapedArray, checked_integer, get_aval
from imprint.definition.wording import show
from imprint.errors import ArgumentError, DTypeError
from imprint.explain.explanation import Kind
from imprint.static.exact import static_token


class Pending(NamedTuple):
    """A call for which there is no version yet."""

    key: Any
    leaves: list[Any]
    call: Call


def pending_of(
    signature: Signature, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Pending:
    """Return a call in canonical form, with its key."""
    call = signature.call(args, kwargs)
    leaves, key = call_key(signature, call)
    return Pending(key, leaves, call)


def call_key(signature: Signature, call: Call) -> tuple[list[Any], Any]:
    """Return the leaves of a call and the key of the version that answers it."""
    leaves, treedef = tree.flatten(call.dynamic)
    try:
        avals = [get_aval(x) for x in leaves]
        for x, aval in zip(leaves, avals, strict=True):
            if type(x) is int:
                checked_integer(x, aval.dtype)
    except (ArgumentError, DTypeError, OverflowError):
        check_leaves(signature.function_name, call.form, leaves, treedef)
        raise
    whole = None if treedef.is_flat_tuple else treedef
    if call.form.plain and whole is None:
        return leaves, (settings(), *avals)
    static = static_tokens(signature, call)
    return leaves, (call.form, whole, static, settings(), *avals)


def static_tokens(signature: Signature, call: Call) -> tuple[Any, ...]:
    """Return the exact values of the static arguments of a call."""
    return tuple(
        static_token(value, name, signature.effects)
        for value, name in zip(call.static, call.form.static_names, strict=True)
    )


def kind_of(names: tuple[str, ...], treedef: tree.TreeDef, key: Any) -> Kind:
    """Return what kind of call a key stands for."""
    parts = list(key)
    at = next(i for i, part in enumerate(parts) if isinstance(part, Settings))
    avals: tuple[ShapedArray, ...] = tuple(parts[at + 1 :])
    static, tokens, whole = (), (), None
    if at:
        form, tokens = parts[0], parts[at - 1]
        shown = [show(token) for token in tokens]
        static = tuple(zip(form.static_names, shown, strict=True))
        whole = form.treedef
    return Kind(names, treedef, avals, static, parts[at], tokens, whole)

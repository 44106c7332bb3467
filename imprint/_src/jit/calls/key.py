"""The key of a call: what selects a version among those of one definition.

`CallKey` is the key in parts; a table of versions knows it `packed`, as one flat tuple,
which the warm path (`jitted.dispatch`) writes out by itself. A call of which every
argument is an array has no form, tree or static value to tell: its key is flags and
avals. A call inside a named axis, which only traces meet, has the axes first. What belongs to an argument (shape, dtype, weak type, sharding) is in its aval;
what belongs to the function is in its definition, whose table it is. A new part of the
key is a field of `CallKey`, a place in `packed` and `unpack`, and a name in `kind`.
"""

from typing import Any, NamedTuple, Self, TypeAlias

from imprint import tree
from imprint._src.config import Settings, key_settings
from imprint._src.core.aval import ShapedArray, checked_integer, get_aval
from imprint._src.core.shape_struct import described
from imprint._src.core.trace import NamedAxes, named_axes
from imprint._src.errors import ArgumentError, DTypeError
from imprint._src.jit.calls.check_args import check_leaves
from imprint._src.jit.calls.signature import Call, Form, Signature
from imprint._src.jit.explain.explanation import CallSignature
from imprint._src.jit.fingerprint.static_values import is_plain_value, static_token
from imprint._src.jit.fingerprint.wording import shortened, show

PackedKey: TypeAlias = tuple[Any, ...]
"""A `CallKey` as tables hold it: hashable, and compared part by part."""


class CallKey(NamedTuple):
    """What selects a version of a definition.

    Args:
        form: which parameters are dynamic and which static; None if all are arrays, in
            their order.
        treedef: the tree of the dynamic arguments; None if each is a leaf.
        static: the exact value of each static argument.
        settings: the flags that can change a program.
        avals: of the leaves.
        axes: the named axes that are mapped around the call.
    """

    form: Form | None
    treedef: tree.TreeDef | None
    static: tuple[Any, ...]
    settings: Settings
    avals: tuple[ShapedArray, ...]
    axes: NamedAxes = ()

    def packed(self) -> PackedKey:
        """Return the key as tables hold it."""
        whole: PackedKey = (self.form, self.treedef, self.static)
        head = whole if self.form is not None else ()
        packed = (*head, self.settings, *self.avals)
        return (self.axes, *packed) if self.axes else packed

    @classmethod
    def unpack(cls, packed: PackedKey) -> Self:
        """Return the parts of a key."""
        axes: NamedAxes = ()
        if type(packed[0]) is tuple:
            axes, *rest = packed
            packed = tuple(rest)
        if isinstance(packed[0], Settings):
            return cls(None, None, (), packed[0], packed[1:], axes)
        form, treedef, static, flags, *avals = packed
        return cls(form, treedef, static, flags, tuple(avals), axes)

    def kind(self, form: Form, treedef: tree.TreeDef) -> CallSignature:
        """Return the kind of call that the key stands for, named for its reader.

        Args:
            form: which parameters it is a call with.
            treedef: the tree of the dynamic arguments, a tuple.
        """
        pairs = zip(form.static_names, self.static, strict=True)
        return CallSignature(
            form.names,
            treedef,
            self.avals,
            tuple([(name, show(token)) for name, token in pairs]),
            self.settings,
            self.static,
            form.treedef,
            form.roots,
            {name: _default(value) for name, value in form.omitted.items()},
            axes=self.axes,
        )


def _default(value: object) -> str:
    """Return what stands for an argument that is not given, as it prints."""
    if value is None:
        return "None"
    return (
        f"its default {shortened(repr(value))}"
        if is_plain_value(value)
        else "its default"
    )


# ---- the key of a call ----


class Pending(NamedTuple):
    """A call on its way to a version, with the key of the version that it needs."""

    key: PackedKey
    leaves: list[Any]
    call: Call

    @property
    def kind(self) -> CallSignature:
        """What kind of call it is."""
        treedef = tree.structure(self.call.dynamic)
        return CallKey.unpack(self.key).kind(self.call.form, treedef)


def pending_of(
    signature: Signature, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Pending:
    """Return a call in canonical form, with its key.

    Raises:
        ArgumentError: the function cannot be called like this.
    """
    call = signature.call(args, kwargs)
    leaves, key = call_key(signature, call)
    return Pending(key.packed(), leaves, call)


def call_key(signature: Signature, call: Call) -> tuple[list[Any], CallKey]:
    """Return the leaves of a call and its key."""
    leaves, treedef = tree.flatten(call.dynamic)
    try:
        avals = tuple([get_aval(x) for x in leaves])
        for x, aval in zip(leaves, avals, strict=True):
            if isinstance(x, int) and aval.dtype.kind == "i":  # and no bool
                checked_integer(x, aval.dtype)
    except (ArgumentError, DTypeError, OverflowError):
        leaves = [described(x) for x in leaves]
        check_leaves(signature.function_name, call.form, leaves, treedef)
        avals = tuple([get_aval(x) for x in leaves])
    if call.form.plain and treedef.is_flat_tuple:
        return leaves, CallKey(None, None, (), key_settings(), avals, named_axes())
    whole = None if treedef.is_flat_tuple else treedef
    static, flags = static_tokens(call), key_settings()
    return leaves, CallKey(call.form, whole, static, flags, avals, named_axes())


def unplaced(key: PackedKey) -> PackedKey:
    """Return the key of what is the same wherever the arrays of a call are: its trace."""
    return tuple([x.unplaced() if type(x) is ShapedArray else x for x in key])


def static_tokens(call: Call) -> tuple[Any, ...]:
    """Return the exact values of the static arguments of a call."""
    return tuple(
        static_token(value, name)
        for value, name in zip(call.static, call.form.static_names, strict=True)
    )

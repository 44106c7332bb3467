"""The key of a call, which selects a version of one definition; checks of arguments.

`CallKey` has the parts of a key. Tables hold it `packed` into one flat tuple, which the
warm path (`dispatch`) builds itself. If all arguments are arrays, the key is only settings
and avals. Inside a named axis, which happens only during a trace, the axes come first.
The aval has the shape, dtype, weak type and sharding of an argument. Properties of the
function are not in the key: each definition has its own table. A new part of the key
needs a field, `packed`, `unpack` and `kind`.
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple, Self, TypeAlias

import numpy as np

from imprint._src.config import Settings, key_settings
from imprint._src.core.array_interop import conversion, shown
from imprint._src.core.aval import ShapedArray, checked_integer, get_aval
from imprint._src.core.shape_struct import ShapeDtypeStruct, described
from imprint._src.core.trace import NamedAxes, named_axes
from imprint._src.errors import ArgumentError, DTypeError
from imprint._src.jit.calls.signature import Call, CallSpec, Signature
from imprint._src.jit.explain.explanation import CallSignature
from imprint._src.jit.fingerprint.static_values import is_plain_value, static_token
from imprint._src.jit.fingerprint.wording import shortened, show
from imprint._src.tree import internal as tree

PackedKey: TypeAlias = tuple[Any, ...]
"""A `CallKey` as tables hold it: hashable, and compared part by part."""


class CallKey(NamedTuple):
    """The parts of a key.

    Args:
        spec: which parameters are dynamic and which static; None if all are arrays, in
            their order.
        treedef: the tree of the dynamic arguments; None if each is a leaf.
        static: the exact value of each static argument.
        settings: the flags that can change a program.
        avals: of the leaves.
        axes: the named axes that are mapped around the call.
    """

    spec: CallSpec | None
    treedef: tree.TreeDef | None
    static: tuple[Any, ...]
    settings: Settings
    avals: tuple[ShapedArray, ...]
    axes: NamedAxes = ()

    def packed(self) -> PackedKey:
        """Return the key as tables hold it."""
        whole: PackedKey = (self.spec, self.treedef, self.static)
        head = whole if self.spec is not None else ()
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
        spec, treedef, static, flags, *avals = packed
        return cls(spec, treedef, static, flags, tuple(avals), axes)

    def kind(self, spec: CallSpec, treedef: tree.TreeDef) -> CallSignature:
        """Return the call signature of the key with names, for explanations.

        Args:
            spec: the parameters of the call.
            treedef: the tree of the dynamic arguments, a tuple.
        """
        pairs = zip(spec.static_names, self.static, strict=True)
        return CallSignature(
            spec.names,
            treedef,
            self.avals,
            tuple([(name, show(token)) for name, token in pairs]),
            self.settings,
            self.static,
            spec.treedef,
            spec.roots,
            {name: _default(value) for name, value in spec.omitted.items()},
            axes=self.axes,
        )


def _default(value: object) -> str:
    """Return the text for an omitted argument."""
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
        """The call signature, for explanations."""
        treedef = tree.structure(self.call.dynamic)
        return CallKey.unpack(self.key).kind(self.call.spec, treedef)


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
        check_leaves(signature.function_name, call.spec, leaves, treedef)
        avals = tuple([get_aval(x) for x in leaves])
    if call.spec.plain and treedef.is_flat_tuple:
        return leaves, CallKey(None, None, (), key_settings(), avals, named_axes())
    whole = None if treedef.is_flat_tuple else treedef
    static, flags = static_tokens(call), key_settings()
    return leaves, CallKey(call.spec, whole, static, flags, avals, named_axes())


def unplaced(key: PackedKey) -> PackedKey:
    """Return a key without placements: the key of the trace."""
    return tuple([x.unplaced() if type(x) is ShapedArray else x for x in key])


def static_tokens(call: Call) -> tuple[Any, ...]:
    """Return the exact values of the static arguments of a call."""
    return tuple(
        static_token(value, name)
        for value, name in zip(call.static, call.spec.static_names, strict=True)
    )


# ---- checks of arguments ----


def check_leaves(
    name: str, spec: CallSpec, leaves: Sequence[Any], treedef: tree.TreeDef
) -> None:
    """Raise an error that names the first leaf that is not an array or a number."""
    for leaf_name, leaf in zip(spec.leaf_names(treedef), leaves, strict=True):
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
                f"{leaf_name}. {conversion(leaf, leaf_name) or _remedy(leaf_name, spec)}"
            ) from None


def _remedy(leaf_name: str, spec: CallSpec) -> str:
    """Say how a Python value can be passed as an argument, or inside one."""
    if leaf_name in spec.names:
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
            leaf_name = call.spec.leaf_names(treedef)[i]
            remedy = conversion(given[i], leaf_name)
            raise ArgumentError(
                f"{name}: expected an array with values, got {shown(given[i])} as argument "
                f"{leaf_name}. {remedy or _ONLY_TRACED}"
            )


_ONLY_TRACED: Final = (
    "Only lower, trace and eval_shape take a shape in the place of an array."
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

"""Named axes: the option `abstracted_axes`, and the sizes of a call.

A spec is a prefix of the arguments. A dict from axis to name, or a tuple of names and None,
names the axes of all arrays below it. Other tuples and dicts go one level down, the
outermost by position or by parameter name. A spec is parsed once into plain values, so
equal specs are equal options. A name has one size in a call.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias, cast, final

from imprint._src.core import dims
from imprint._src.core.aval import ShapedArray
from imprint._src.core.dims import Dim
from imprint._src.errors import ArgumentError, ShapeError, did_you_mean
from imprint._src.jit.calls.signature import Call, CallSpec, Signature
from imprint._src.tree import internal as tree

Axes: TypeAlias = tuple[tuple[int, str], ...]
"""Axes and their names."""


@final
class AxesNode(NamedTuple):
    """A tuple or dict in a spec that goes one level down.

    Args:
        parts: the nodes under each position or key.
        by_position: whether it is a tuple.
    """

    parts: tuple[tuple[Hashable, "Axes | AxesNode"], ...]
    by_position: bool


class AxisEntry(NamedTuple):
    """One axis of one array of a call that has a name."""

    leaf: int
    axis: int
    name: str


@final
class AxesSpec(NamedTuple):
    """A parsed `abstracted_axes`.

    Args:
        root: the spec of the tuple of arguments.
    """

    root: "Axes | AxesNode"

    def after(self, count: int) -> "AxesSpec":
        """Return the spec of arguments before which others are that it does not know."""
        if (
            not count
            or not isinstance(self.root, AxesNode)
            or not self.root.by_position
        ):
            return self
        parts = [(i + count, part) for i, (_, part) in enumerate(self.root.parts)]
        return AxesSpec(AxesNode(tuple(parts), by_position=True))

    def check(self, signature: Signature) -> None:
        """Raise ArgumentError if it names an argument that there is not, or a static one."""
        if not isinstance(self.root, AxesNode):
            return
        for key, part in self.root.parts:
            slot = signature.slot_of(cast("int | str", key))
            if slot is None:
                known = signature.parameters
                raise ArgumentError(
                    f"jit({signature.function_name}): expected abstracted_axes to be for "
                    f"the arguments {', '.join(known) or '(none)'}, got an entry for "
                    f"{key!r}.{did_you_mean(str(key), known)}"
                )
            if part and signature.is_static(slot):
                raise ArgumentError(
                    f"jit({signature.function_name}): expected abstracted_axes to name "
                    f"axes of arrays, got {_shown(part)} for the static argument "
                    f"{signature.slot_name(slot)}. Leave it out, or put None there."
                )

    def entries(self, call: Call, signature: Signature) -> tuple[AxisEntry, ...]:
        """Return the axes that have names among the traced arrays of a call."""
        spec, values, places = call.spec.whole_of(call)
        treedef = tree.structure(values)
        found: list[AxisEntry] = []
        used: set[int] = set()
        index = 0
        for i, path in enumerate(treedef.paths()):
            if i in places:
                continue
            slot = spec.dynamic[getattr(path[0], "idx", 0)]
            axes = self._at(signature, slot, path[1:], used)
            found += [AxisEntry(index, axis, name) for axis, name in axes]
            index += 1
        self._check_used(signature, spec, used)
        return tuple(found)

    def _at(
        self, signature: Signature, slot: int | str, path: tree.KeyPath, used: set[int]
    ) -> Axes:
        node = self.root
        if isinstance(node, AxesNode):
            same = [n for key, n in node.parts if signature.slot_of(key) == slot]
            node = same[-1] if same else ()
        for step, key in enumerate(path):
            if not isinstance(node, AxesNode):
                return node
            used.add(id(node))
            at = getattr(key, "idx", None) if node.by_position else _key_of(key)
            if at is None:
                where = signature.slot_name(slot) + tree.keystr(path[:step])
                raise _misfit(signature, node, where)
            node = dict(node.parts).get(at, ())
            used.add(id(node))
        if isinstance(node, AxesNode):
            raise _misfit(
                signature, node, signature.slot_name(slot) + tree.keystr(path)
            )
        return node

    def _check_used(self, signature: Signature, spec: CallSpec, used: set[int]) -> None:
        """Raise ArgumentError if a part of the spec matches no part of a given argument."""
        pending = [self.root]
        while pending:
            node = pending.pop()
            if not isinstance(node, AxesNode):
                continue
            for key, part in node.parts:
                if id(node) in used and part and id(part) not in used:
                    raise ArgumentError(
                        f"{signature.function_name}: expected each entry of "
                        f"abstracted_axes to stand for a part of an argument, got "
                        f"{key!r}: {_shown(part)}, which no argument has. Arguments: "
                        f"{', '.join(spec.names)}."
                    )
                pending.append(part)


def _key_of(key: Any) -> Hashable | None:
    """Return the key of a step in a dict of a spec: a dict key, or a field name."""
    found = getattr(key, "key", None)
    return getattr(key, "name", None) if found is None else found


def _misfit(signature: Signature, node: AxesNode, where: str) -> ArgumentError:
    kind = "a tuple" if node.by_position else "a dict"
    return ArgumentError(
        f"{signature.function_name}: expected abstracted_axes to be a prefix of the "
        f"arguments, got {kind} {_shown(node)} for {where}, which is none. Name axes as "
        "{0: 'n'}, or as ('n', None)."
    )


def _shown(node: Axes | AxesNode) -> str:
    if not isinstance(node, AxesNode):
        return repr(dict(node)) if node else "None"
    if node.by_position:
        parts = [_shown(part) for _, part in node.parts]
        return f"({', '.join(parts)}{',' * (len(parts) == 1)})"
    return f"{{{', '.join([f'{key!r}: {_shown(part)}' for key, part in node.parts])}}}"


# ---- reading a spec ----


def read_axes(given: Any) -> AxesSpec | None:
    """Return a parsed `abstracted_axes`; None if it names nothing.

    Raises:
        ArgumentError: it is not valid.
    """
    if given is None:
        return None
    return AxesSpec(_node(given, given))


def _node(part: Any, whole: Any) -> Axes | AxesNode:
    if part is None:
        return ()
    if isinstance(part, tuple | list):
        items = tuple(cast("list[Any]", part))
        if all(item is None or isinstance(item, str) for item in items):
            named = [(i, item) for i, item in enumerate(items) if item is not None]
            return tuple([(i, _name(item, whole)) for i, item in named])
        inner = [(i, _node(x, whole)) for i, x in enumerate(items)]
        return AxesNode(tuple(inner), by_position=True)
    if not isinstance(part, Mapping):
        raise _no_spec(part, whole)
    table = cast("Mapping[Any, Any]", part)
    if all(type(k) is int for k in table) and all(
        value is None or isinstance(value, str) for value in table.values()
    ):
        named = [(axis, name) for axis, name in table.items() if name is not None]
        return tuple([(axis, _name(name, whole)) for axis, name in named])
    if any(isinstance(value, str) for value in table.values()):
        raise _no_spec(part, whole)
    parts = [(key, _node(value, whole)) for key, value in table.items()]
    return AxesNode(tuple(parts), by_position=False)


def _name(name: str, whole: Any) -> str:
    if not name.isidentifier() or name in _OPERATIONS:
        raise _no_spec(name, whole)
    return name


_OPERATIONS: Final = ("floordiv", "max", "min", "mod")


def _no_spec(part: Any, whole: Any) -> ArgumentError:
    return ArgumentError(
        f"jit: expected abstracted_axes to say which axes have names, got {part!r} in "
        f"{whole!r}. Write {{0: 'n'}}, or ('n', None), for all arguments; a tuple of "
        "these, one for each argument; or {'batch': {0: 'n'}} by its name. A name is an "
        "identifier."
    )


# ---- the sizes of a call ----


def sizes_of(
    entries: Sequence[AxisEntry],
    avals: Sequence[ShapedArray],
    called: Callable[[int], str],
    function: str,
) -> dict[str, Dim]:
    """Return the size of each name in a call.

    Args:
        entries: the axes that have names.
        avals: of the leaves.
        called: returns the name of a leaf, for errors.
        function: its name.

    Raises:
        ShapeError: an array has no such axis, or a name has two sizes.
    """
    sizes: dict[str, Dim] = {}
    for leaf, axis, name in entries:
        try:
            size = avals[leaf].shape[axis]
        except IndexError:
            raise ShapeError(
                f"{function}: expected an array with an axis {axis}, which "
                f"abstracted_axes calls {name}, got {avals[leaf]} as argument "
                f"{called(leaf)}. Give the names for each argument by itself: "
                "{'x': {0: 'n'}}."
            ) from None
        known = sizes.setdefault(name, size)
        if size is not known and not dims.equal(size, known):
            first = next(entry for entry in entries if entry.name == name)
            raise ShapeError(
                f"{function}: expected one size for {name} of abstracted_axes, got "
                f"{known} in {called(first.leaf)} (axis {first.axis} of "
                f"{avals[first.leaf]}) and {size} in {called(leaf)} (axis {axis} of "
                f"{avals[leaf]}). Pass arrays of one length there, or give the axes two "
                "names."
            )
    return sizes


def named_shape(
    aval: ShapedArray, leaf: int, entries: Sequence[AxisEntry], sizes: Mapping[str, Any]
) -> ShapedArray:
    """Return the aval of a leaf with sizes in the place of its axes that have names."""
    at = {axis % aval.ndim: sizes[name] for i, axis, name in entries if i == leaf}
    if not at:
        return aval
    return aval.with_shape(tuple([at.get(i, n) for i, n in enumerate(aval.shape)]))

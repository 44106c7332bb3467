"""The nearest version to a call, and the differences.

Signatures of one structure have the same leaf names, so the nearest is found by counting
differing slots, and only its differences are named. A version of the call's structure is
always nearer than others, of which only the newest few are compared.
"""

import re
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any, Final

from imprint._src.core.aval import ShapedArray
from imprint._src.jit.explain.arrays import array_differences, count_differences, padded
from imprint._src.jit.explain.containers import (
    TreeDifference,
    TreePart,
    ancestors,
    tree_differences,
)
from imprint._src.jit.explain.explanation import CallSignature, Difference
from imprint._src.jit.explain.fingerprint_diff import disagreements
from imprint._src.jit.fingerprint.wording import distinguish, shortened

_STRUCTURES: Final = 8
"""Versions of other structures that are compared with a call."""


def nearest_of(
    call: CallSignature, versions: Sequence[CallSignature]
) -> tuple[int, tuple[Difference, ...]]:
    """Return the number of the version nearest to a call, and the differences.

    Of two equally near versions it is the newer.
    """
    numbered = list(enumerate(versions))
    alike = [(_slots(x, call), -i) for i, x in numbered if _is_alike(x, call)]
    if alike:
        nearest = -min(alike)[1]
        return nearest, tuple(differences(versions[nearest], call))
    others = [(i, differences(x, call)) for i, x in numbered[-_STRUCTURES:]]
    nearest, found = min(others, key=lambda other: (_distance(other[1]), -other[0]))
    return nearest, tuple(found)


def _is_alike(old: CallSignature, new: CallSignature) -> bool:
    """Return whether two signatures have the same structure."""
    return (old.names, old.treedef, old.whole) == (new.names, new.treedef, new.whole)


def _distance(found: list[Difference]) -> int:
    """Return the distance of a version of another structure."""
    return sum(_FAR if _SEPARATE in d.remedy.lower() else 1 for d in found)


_FAR: Final = 64
"""The weight of an object of another class."""
_SEPARATE: Final = "each class is compiled separately"


def _slots(old: CallSignature, new: CallSignature) -> int:
    """Return the number of slots that differ, for signatures of one structure."""
    count = len(_config(old, new)) + (old.axes != new.axes)
    was, now = _tokens(old), _tokens(new)
    count += sum(name not in was or was[name] != now.get(name) for name in now)
    for before, after in zip(old.avals, new.avals, strict=True):
        if before is not after:
            count += count_differences(before, after)
    return count


def differences(old: CallSignature, new: CallSignature) -> list[Difference]:
    """List the slots in which a call differs from a version."""
    flags = _config(old, new)
    found = [*_static(old, new), *flags, *_axes(old, new)]
    if _is_alike(old, new):
        for name, before, after in zip(
            new.leaf_names(), old.avals, new.avals, strict=True
        ):
            if before is not after:
                found += array_differences(name, before, after)
    else:
        found += _structure(old, new)
    return [_by_flag(difference, flags) for difference in found]


def _by_flag(difference: Difference, flags: list[Difference]) -> Difference:
    """Return a difference, with the remedy of the flag that causes it, if any."""
    for flag in flags:
        if _FOLLOWS.get(flag.slot) == difference.kind:
            return replace(difference, remedy=flag.remedy)
    return difference


_FOLLOWS: Final = {"config enable_x64": "dtype", "config default_device": "device"}


# ---- static values and flags ----


def _static(old: CallSignature, new: CallSignature) -> list[Difference]:
    """List the static arguments, or static leaves, that differ."""
    before, after = _tokens(old), _tokens(new)
    shown = dict(old.static), dict(new.static)
    found: list[Difference] = []
    for name in {**before, **after}:
        if name in before and name in after:
            if before[name] is after[name]:
                continue
            for change in disagreements(before[name], after[name], name):
                path = change.path.removeprefix("code in ")
                found.append(_static_difference(name, path, change.old, change.new))
        elif old.whole is None and new.whole is None:  # else the trees show it
            words = [texts.get(name, "not given") for texts in shown]
            found.append(_static_difference(name, name, *words))
    return found


def _tokens(kind: CallSignature) -> dict[str, Any]:
    """Return the exact value of each static argument by its name."""
    return dict(zip([name for name, _ in kind.static], kind.tokens, strict=True))


def _static_difference(name: str, path: str, old: str, new: str) -> Difference:
    remedy = f"Each value of {name} compiles: pass the same few."
    if new == f"another {old}" and _OBJECT.fullmatch(old):
        remedy = (
            f"Pass the same {name}, or give its class `==`: a frozen dataclass has it."
        )
    elif _are_numbers(old, new) or (_NUMBER.fullmatch(new) and path == name):
        remedy = (
            f"Each value of {path} compiles: pass it as an array if the program does "
            "not depend on it."
        )
    return Difference("static", f"static {path}", old, new, remedy)


def _are_numbers(old: str, new: str) -> bool:
    return all(_NUMBER.fullmatch(x) and x not in _FLAGS for x in (old, new))


_OBJECT: Final = re.compile(r"\w+( object|\(.*\))", re.DOTALL)
_FLAGS: Final = ("True", "False")
_NUMBER: Final = re.compile(r"(\w+\()?-?[\d.]+(e[-+]?\d+)?\)?|True|False")


def _config(old: CallSignature, new: CallSignature) -> list[Difference]:
    if old.settings is new.settings:
        return []
    return [
        Difference(
            "config",
            f"config {f.name}",
            repr(getattr(old.settings, f.name)),
            repr(getattr(new.settings, f.name)),
            f"Set {f.name} once, before the first call{_setter(f.name, new)}.",
        )
        for f in fields(old.settings)
        if getattr(old.settings, f.name) != getattr(new.settings, f.name)
    ]


def _axes(old: CallSignature, new: CallSignature) -> list[Difference]:
    """Return the difference of the named axes mapped around a call."""
    if old.axes == new.axes:
        return []
    was, now = (", ".join(map(str, kind.axes)) or "none" for kind in (old, new))
    remedy = (
        "It is traced for each set of named axes: leave axis_name out where nothing that "
        "is mapped uses it."
    )
    return [Difference("axes", "the named axes", was, now, remedy)]


def _setter(flag: str, kind: CallSignature) -> str:
    """Return the setter of a flag, to end a sentence."""
    setter = kind.setters.get(flag)
    return f": {setter} changed it" if setter else ""


# ---- structure ----


def _structure(old: CallSignature, new: CallSignature) -> list[Difference]:
    """List the differences of two argument trees, and of the leaves that both have."""
    found = tree_differences(
        old.arguments(), new.arguments(), (old.omitted, new.omitted)
    )
    replaced = {place.name for place in found if place.part is TreePart.CLASS}
    before, after = old.leaves(), new.leaves()
    is_static = dict(old.static), dict(new.static)
    listed = [_place(place, old, new) for place in found]
    for name in {**before, **after}:
        if name in replaced or any(above in replaced for above in ancestors(name)):
            continue
        was, now = before.get(name), after.get(name)
        if was is not None and now is not None:
            listed += [] if was is now else array_differences(name, was, now)
        elif was is not None and name in is_static[1]:
            listed.append(_moved(name, str(was), f"static {is_static[1][name]}"))
        elif now is not None and name in is_static[0]:
            listed.append(_moved(name, f"static {is_static[0][name]}", str(now)))
    return _by_field(listed) or [_trees(old, new)]


def _by_field(listed: list[Difference]) -> list[Difference]:
    """Return differences; inside a node, with the remedy of its static field that differs.

    Another width of a network causes the differences of its layers and their arrays.
    """
    fields_of: dict[str, Difference] = {}
    for d in listed:
        if d.kind == "static":
            fields_of.setdefault(d.slot.rpartition(".")[0], d)
    return [
        replace(d, remedy=fields_of[node].remedy) if node is not None else d
        for d in listed
        for node in (next((x for x in ancestors(d.slot) if x in fields_of), None),)
    ]


def _place(place: TreeDifference, old: CallSignature, new: CallSignature) -> Difference:
    name = place.name
    if place.part is TreePart.STATIC:
        name = name.removeprefix("code in ")
        remedy = f"Each value of {name} compiles, as it is static: pass the same few."
        if _are_numbers(place.old, place.new):
            remedy = (
                f"Each value of {name} compiles, as it is static: pass the same few, or "
                "make it an array if no shape depends on it."
            )
        return Difference("static", name, place.old, place.new, remedy)
    was, now = (text or _leaf(name, kind) for text, kind in _sides(place, old, new))
    if place.part is TreePart.KEYS:
        remedy = f"Pass {name} always with the same keys."
    elif place.part is TreePart.ORDER:
        remedy = f"Pass {name} always with its keys in one order."
    elif place.part is TreePart.LENGTH:
        remedy = _length(name, old, new)
    elif "None" in (was, now):
        remedy = f"None is compiled separately: pass {name} always, or never."
    elif "absent" in (was, now):
        remedy = f"Pass {name} always, or never."
    elif _DEFAULT in (was[: len(_DEFAULT)], now[: len(_DEFAULT)]):
        remedy = (
            f"A default is a constant of the program: pass {name} always as an array, "
            "or never."
        )
    elif place.new == f"another {place.old}":
        remedy = (
            f"The class {place.old} was defined again, and {_SEPARATE}: make {name} of "
            "the same class."
        )
    else:
        usual = place.old or "an array"
        remedy = f"{_SEPARATE.capitalize()}: pass {name} always as {usual}."
    return Difference("structure", name, was, now, remedy)


_DEFAULT: Final = "its default"


def _sides(
    place: TreeDifference, old: CallSignature, new: CallSignature
) -> tuple[tuple[str, CallSignature], ...]:
    return (place.old, old), (place.new, new)


def _leaf(name: str, kind: CallSignature) -> str:
    """Return a leaf as text: an array, or a static value."""
    found = kind.leaves().get(name)
    return f"static {dict(kind.static)[name]}" if found is None else str(found)


def _length(name: str, old: CallSignature, new: CallSignature) -> str:
    """Return the remedy for a list that grows: an array, if it can be one."""
    items = re.compile(rf"{re.escape(name)}\[\d+\]")
    counts: list[int] = []
    avals: set[ShapedArray] = set()
    for kind in (old, new):
        inside = {n: x for n, x in kind.leaves().items() if n.startswith(f"{name}[")}
        names = [*inside, *(n for n, _ in kind.static if n.startswith(f"{name}["))]
        if len(names) != len(inside) or not all(map(items.fullmatch, names)):
            return _PAD.format(name)
        counts.append(len(inside))
        avals.update(inside.values())
    if len(avals) != 1 or 0 in counts:
        return _PAD.format(name)
    (item,) = avals
    stacked = item.with_shape((counts[1], *item.shape))
    bucket, edit = padded(f"np.stack({name})", stacked, 0, counts[0])
    return (
        f"Each length of {name} compiles: stack it, padded to a multiple of {bucket}, "
        f"into one array: `{edit}`."
    )


_PAD: Final = "Each length of {} compiles: pad it to the same few."


def _moved(name: str, old: str, new: str) -> Difference:
    """Return the difference of an array that is static in the other signature."""
    remedy = f"Pass {name} always as an array, or never: only arrays are traced."
    return Difference("structure", name, old, new, remedy)


def _trees(old: CallSignature, new: CallSignature) -> Difference:
    before, after = old.whole or old.treedef, new.whole or new.treedef
    texts = distinguish(shortened(str(before)), shortened(str(after)))
    remedy = "Pass containers of one structure, with the same keys and lengths."
    return Difference("structure", "arguments", *texts, remedy)

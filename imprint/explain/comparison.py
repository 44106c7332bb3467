"""The comparison of a call with versions: which is the nearest, and what differs?

All kinds of one structure have leaves of the same names, so the nearest is found by
counting slots of avals, and only what differs from that one is named. A version of the
call's own structure is always nearer than one of another; of those, whose leaves have to
be named to be counted, the newest few are looked at.
"""

import re
from collections.abc import Sequence
from dataclasses import fields
from typing import Final

from imprint.core.aval import ShapedArray
from imprint.definition.wording import shortened, told_apart
from imprint.explain.containers import Replaced, replaced_containers
from imprint.explain.explanation import Difference, Kind
from imprint.explain.tokens import disagreements
from imprint.sharding.single import SingleDeviceSharding, Uncommitted

_STRUCTURES: Final = 8
"""Versions of other structures than the call's that are compared with it."""


def nearest_of(
    call: Kind, versions: Sequence[Kind]
) -> tuple[int, tuple[Difference, ...]]:
    """Return the number of the version nearest to a call, and what differs.

    Of two that are equally near it is the newer.
    """
    numbered = list(enumerate(versions))
    alike = [(_slots(x, call), -i) for i, x in numbered if _is_alike(x, call)]
    if not alike:
        numbered = numbered[-_STRUCTURES:]
        alike = [(len(differences(x, call)), -i) for i, x in numbered]
    nearest = -min(alike)[1]
    return nearest, tuple(differences(versions[nearest], call))


def _is_alike(old: Kind, new: Kind) -> bool:
    """Tell whether the leaves of two kinds have the same names."""
    return old.names == new.names and old.treedef == new.treedef


def _slots(old: Kind, new: Kind) -> int:
    """Return how many slots of kinds of one structure differ."""
    count = len(_static(old, new)) + len(_config(old, new))
    for before, after in zip(old.avals, new.avals, strict=True):
        if before is not after:
            count += _aval_slots(before, after)
    return count or _OTHER_TREE


def _aval_slots(old: ShapedArray, new: ShapedArray) -> int:
    """Return how many differences `_aval` lists."""
    count = old.dtype != new.dtype or old.weak_type != new.weak_type
    count += old.sharding != new.sharding
    if old.ndim != new.ndim:
        return 1 + count
    return count + sum(m != n for m, n in zip(old.shape, new.shape, strict=True))


_OTHER_TREE: Final = 1 << 20
"""Farther than any other difference: static leaves stand elsewhere."""


def differences(old: Kind, new: Kind) -> list[Difference]:
    """List the slots in which a call differs from what a version answers."""
    found = [*_static(old, new), *_config(old, new)]
    if not _is_alike(old, new):
        return [*found, *_structure(old, new)]
    if old.avals != new.avals:
        leaves = zip(new.leaf_names(), old.avals, new.avals, strict=True)
        for name, before, after in leaves:
            if before is not after:
                found += _aval(name, before, after)
    if not found and old.whole is not new.whole:
        return [_trees(old, new)]
    return found


def _static(old: Kind, new: Kind) -> list[Difference]:
    before, after = dict(old.static), dict(new.static)
    names = [name for name in {**before, **after} if not _is_array(name, old, new)]
    found: list[Difference] = []
    for name in names:
        was, now = before.get(name, "not given"), after.get(name, "not given")
        if was != now:
            found.append(_static_difference(name, name, was, now))
    if not found:  # what prints alike may be another, as functions are
        held = dict(zip(before, old.tokens, strict=True))
        given = dict(zip(after, new.tokens, strict=True))
        found = [
            _static_difference(name, d.path, d.old, d.new)
            for name in names
            for d in disagreements(held[name], given[name], name)
        ]
    return found


def _is_array(name: str, old: Kind, new: Kind) -> bool:
    """Tell whether a static leaf of one is an array of the other."""
    return None not in (old.whole, new.whole) and name in {*old.names, *new.names}


def _static_difference(name: str, path: str, old: str, new: str) -> Difference:
    remedy = f"Each value of {name} compiles: pass the same few."
    if new == f"another {old}" and _OBJECT.fullmatch(old):
        remedy = (
            f"Pass the same {name}, or give its class `==`: a frozen dataclass has it."
        )
    elif _NUMBER.fullmatch(new):
        remedy = (
            f"Each value of {name} compiles: pass it as an array if the program does "
            "not depend on it."
        )
    return Difference("static", f"static {path}", old, new, remedy)


_OBJECT: Final = re.compile(r"\w+( object|\(.*\))", re.DOTALL)
_NUMBER: Final = re.compile(r"-?[\d.]+(e[-+]?\d+)?|True|False")


def _config(old: Kind, new: Kind) -> list[Difference]:
    if old.settings is new.settings:
        return []
    return [
        Difference(
            "config",
            f"config {f.name}",
            repr(getattr(old.settings, f.name)),
            repr(getattr(new.settings, f.name)),
            f"Set {f.name} once, before the first call.",
        )
        for f in fields(old.settings)
        if getattr(old.settings, f.name) != getattr(new.settings, f.name)
    ]


def _structure(old: Kind, new: Kind) -> list[Difference]:
    before, after = old.leaves(), new.leaves()
    was_static, is_static = dict(old.static), dict(new.static)
    replaced = _replaced(old, new)
    told = {
        name
        for name in {**before, **after}
        if any(place.is_above(name) for place in replaced)
    }
    gone = [
        _moved(name, str(aval), is_static.get(name))
        for name, aval in before.items()
        if name not in after and name not in told
    ]
    come = [
        _moved(name, str(aval), was_static.get(name), back=True)
        for name, aval in after.items()
        if name not in before and name not in told
    ]
    changed = [_container(place, before, after) for place in replaced]
    for name, aval in after.items():
        if name in before and before[name] is not aval and name not in told:
            changed += _aval(name, before[name], aval)
    if not (gone or come or replaced):
        return [_trees(old, new), *changed]
    return [*gone, *come, *changed]


def _replaced(old: Kind, new: Kind) -> list[Replaced]:
    if old.whole is not None or new.whole is not None:  # arrays are among static leaves
        return []
    return replaced_containers(old.treedef, new.treedef, (old.names, new.names))


def _container(
    place: Replaced, before: dict[str, ShapedArray], after: dict[str, ShapedArray]
) -> Difference:
    name = place.name
    old, new = place.old or str(before[name]), place.new or str(after[name])
    remedy = _CONTAINERS
    if "None" in (old, new):
        remedy = f"None is compiled apart: pass {name} always, or never."
    return Difference("structure", name, old, new, remedy)


def _moved(
    name: str, aval: str, static: str | None, *, back: bool = False
) -> Difference:
    """Return the difference of an array that is absent, or static, on the other side."""
    other, remedy = "absent", _CONTAINERS
    if static is not None:
        other = f"static {static}"
        remedy = f"Pass {name} always as an array, or never: only arrays are traced."
    old, new = (other, aval) if back else (aval, other)
    return Difference("structure", name, old, new, remedy)


def _trees(old: Kind, new: Kind) -> Difference:
    before, after = old.whole or old.treedef, new.whole or new.treedef
    texts = told_apart(shortened(str(before)), shortened(str(after)))
    return Difference("structure", "arguments", *texts, _CONTAINERS)


_CONTAINERS = "Pass containers of one structure, with the same keys and lengths."


def _aval(name: str, old: ShapedArray, new: ShapedArray) -> list[Difference]:
    found: list[Difference] = []
    if old.ndim != new.ndim:
        remedy = f"Give {name} one rank, such as with `x[None]` or `x.reshape`."
        found.append(
            Difference("rank", f"{name}.shape", str(old.shape), str(new.shape), remedy)
        )
    else:
        for axis, (m, n) in enumerate(zip(old.shape, new.shape, strict=True)):
            if m != n:
                remedy = _padding(name, new, axis, _bucket(m, n))
                slot = f"{name}.shape[{axis}]"
                found.append(Difference("shape", slot, str(m), str(n), remedy))
    if old.dtype != new.dtype:
        remedy = _conversion(name, old, new)
        slot, before, after = f"{name}.dtype", old.dtype.name, new.dtype.name
        found.append(Difference("dtype", slot, before, after, remedy))
    elif old.weak_type != new.weak_type:
        words = {True: "weak (a Python number)", False: "strong (an array)"}
        remedy = f"Pass {name} always as a Python number or always as an array."
        before, after = words[old.weak_type], words[new.weak_type]
        found.append(Difference("weak type", f"{name}.dtype", before, after, remedy))
    if old.sharding != new.sharding:
        found.append(_device(name, old.sharding, new.sharding))
    return found


def _device(name: str, old: object, new: object) -> Difference:
    """Return the difference of where an array is, or of whether it must stay there."""
    before, after = _place(old), _place(new)
    held = "committed to "
    if before.startswith(held):
        after = after.removeprefix(held)
    remedy = (
        f"Put {name} on the same device before each call, with "
        f"`imprint.device_put({name}, device)`, or name none for any."
    )
    return Difference("device", name, before, after, remedy)


def _place(sharding: object) -> str:
    if isinstance(sharding, SingleDeviceSharding):
        return f"committed to {sharding.device}"
    if isinstance(sharding, Uncommitted):
        return f"uncommitted on {sharding.device}"
    return "uncommitted"


def _conversion(name: str, old: ShapedArray, new: ShapedArray) -> str:
    dtype = old.dtype.name
    is_bool = old.weak_type and new.shape == () and new.dtype.kind == "b"
    if not (new.weak_type or is_bool):  # True and False have no weak type
        return f"Convert {name} with `.astype('{dtype}')` before the call."
    if not old.weak_type:
        return f"Pass {name} always as an array: `np.array({name}, '{dtype}')`."
    if old.dtype.kind == new.dtype.kind:
        return "Set enable_x64 once, before the first call."
    kind = {"b": "bool", "i": "int", "f": "float"}.get(old.dtype.kind, "complex")
    return f"Pass {name} always as {kind}: `{kind}({name})`."


def _padding(name: str, aval: ShapedArray, axis: int, bucket: int) -> str:
    """Return the edit that gives an axis a length which other calls share."""
    text = f"Pad axis {axis} of {name} to a multiple of {bucket}"
    missing = -aval.shape[axis] % bucket
    if not missing:
        return f"{text}."
    widths = ", ".join(f"(0, {missing * (i == axis)})" for i in range(aval.ndim))
    return f"{text}: `np.pad({name}, [{widths}])`."


def _bucket(m: int, n: int) -> int:
    """Return the power of two to pad to: a quarter of the larger length, at most 64."""
    quarter = max(m, n) // 4
    return min(64, max(2, 1 << quarter.bit_length()))

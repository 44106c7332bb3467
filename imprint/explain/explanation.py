"""Explanations: why a call hit a version, or why it needs a new one.

A version answers one kind of call (`Kind`). A miss is explained by the nearest version
of the same function: the one with the fewest differences. Each `Difference` names its
slot as the user would, the old value, the new one, and what to do about it. Nothing
here is computed until somebody asks.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from html import escape
from typing import Any, Final

from imprint import tree
from imprint.config import Settings
from imprint.core.aval import ShapedArray
from imprint.core.source import Source
from imprint.definition.wording import shortened, told_apart
from imprint.explain.containers import Replaced, replaced_containers
from imprint.explain.tokens import disagreements


@dataclass(frozen=True, slots=True)
class Kind:
    """What kind of call a version answers.

    Args:
        names: the names of the dynamic arguments.
        treedef: the tree of the dynamic arguments, a tuple.
        avals: the avals of its leaves.
        static: name and value, as it prints, of each static argument.
        settings: the flags.
        tokens: the exact value of each static argument.
        whole: the tree of arrays and static leaves together, for `filter_jit`.
    """

    names: tuple[str, ...]
    treedef: tree.TreeDef
    avals: tuple[ShapedArray, ...]
    static: tuple[tuple[str, str], ...]
    settings: Settings
    tokens: tuple[Any, ...] = ()
    whole: tree.TreeDef | None = None

    def leaves(self) -> dict[str, ShapedArray]:
        """Return the aval of each leaf by its name."""
        paths = self.treedef.paths()
        return {
            self.names[getattr(path[0], "idx", 0)] + tree.keystr(path[1:]): aval
            for path, aval in zip(paths, self.avals, strict=True)
        }


@dataclass(frozen=True, slots=True)
class Difference:
    """One slot in which a call differs from a version.

    Args:
        kind: "shape", "rank", "dtype", "weak type", "structure", "static", "config",
            "global", "closure", "class", "function" (watched places of these kinds),
            "definition" (the function was made anew, and is another) or "evicted".
        slot: what differs, as the user would name it: `batch['mask'].shape[1]`.
        old: what the version has.
        new: what the call has.
        remedy: what to do about it.
    """

    kind: str
    slot: str
    old: str
    new: str
    remedy: str

    def __str__(self) -> str:
        if self.kind == "evicted":
            return f"{self.slot} {self.new}"
        return f"{self.slot}: {self.old} → {self.new}"


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a call hits a version or misses all of them.

    Args:
        function: the name of the function.
        hit: whether a version answers the call.
        versions: how many versions there are.
        nearest: the number of the version with the fewest differences, if any.
        differences: in what it differs from that version.
        seconds: what tracing, lowering and compiling took, if it has been done.
        site: where the call was made.
        advice: what jitting outside, inside or both would cost.
        defined: where the function is defined, as `file.py:12`; empty if unknown.
    """

    function: str
    hit: bool
    versions: int
    nearest: int | None
    differences: tuple[Difference, ...]
    seconds: float | None = None
    site: Source | None = None
    advice: str = ""
    defined: str = ""

    def __str__(self) -> str:
        where = f" at {self.site}" if self.site is not None else ""
        if self.hit:
            advice = f" {self.advice}" if self.advice else ""
            return (
                f"{self.function}{where} is answered by version {self.nearest}.{advice}"
            )
        cost = f" It took {self.seconds:.2f} s." if self.seconds is not None else ""
        if not self.differences:
            return f"{self.function}{where} compiles: it has no version yet.{cost}"
        listed = "; ".join(map(str, self.differences[:_SHOWN]))
        more = len(self.differences) - _SHOWN
        rest = f"; and {more} more" if more > 0 else ""
        remedies = dict.fromkeys(d.remedy for d in self.differences[:_SHOWN])
        return (
            f"{self.function}{where} compiles:{self._against} {listed}{rest}.{cost} "
            f"{' '.join(remedies)}"
        )

    @property
    def _against(self) -> str:
        if self.differences[0].kind == "evicted":
            return ""
        if self.nearest is None:
            return " it was made anew, with"
        return f" it differs from version {self.nearest} in"

    def as_dict(self) -> dict[str, Any]:
        """Return the explanation as plain data, for tools."""
        return {
            "function": self.function,
            "hit": self.hit,
            "versions": self.versions,
            "nearest": self.nearest,
            "differences": [
                {f.name: getattr(d, f.name) for f in fields(d)}
                for d in self.differences
            ],
            "seconds": self.seconds,
            "site": None if self.site is None else self.site.long(),
            "advice": self.advice,
            "defined": self.defined,
        }

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td><code>{escape(d.slot)}</code></td><td>{escape(d.old)}</td>"
            f"<td>{escape(d.new)}</td><td>{escape(d.remedy)}</td></tr>"
            for d in self.differences
        )
        head = "<tr><th>what</th><th>was</th><th>is</th><th>what to do</th></tr>"
        table = f"<table>{head}{rows}</table>" if rows else ""
        return f"<p>{escape(str(self))}</p>{table}"


_SHOWN = 3


def nearest_of(call: Kind, versions: Sequence[Kind]) -> tuple[int, list[Difference]]:
    """Return the number of the version nearest to a call, and what differs."""
    compared = [(differences(kind, call), i) for i, kind in enumerate(versions)]
    found, nearest = min(compared, key=lambda pair: (_distance(pair[0]), -pair[1]))
    return nearest, found


def _distance(found: list[Difference]) -> tuple[bool, int]:
    """Return how much differs; what has another structure is farthest."""
    return any(d.kind == "structure" for d in found), len(found)


def differences(old: Kind, new: Kind) -> list[Difference]:
    """List the slots in which a call differs from what a version answers."""
    found = [*_static(old, new), *_config(old, new)]
    if old.names != new.names or old.treedef != new.treedef:
        return [*found, *_structure(old, new)]
    leaves = zip(old.leaves().items(), new.avals, strict=True)
    for (name, before), after in leaves:
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
    return found


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

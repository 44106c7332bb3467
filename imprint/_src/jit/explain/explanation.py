"""Explanations: why a call hit a version, or why it needs a new one.

A version serves one call signature. A miss is explained by the nearest version of the same
function: the one with the fewest differences. Each `Difference` has its slot as the user
would name it, the old value, the new value, and a remedy. A miss only records its inputs
(`LazyComparison`); they are compared, by `comparison`, when the differences are first read.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from importlib import import_module
from typing import Any, Final, NamedTuple, final

from imprint._src.config import Settings
from imprint._src.core.aval import ShapedArray
from imprint._src.core.trace import NamedAxes
from imprint._src.diagnostics.source import Source
from imprint._src.tree import internal as tree


@dataclass(frozen=True, slots=True)
class CallSignature:
    """The signature of the calls that a version serves.

    Args:
        names: the names of the dynamic arguments.
        treedef: the tree of the dynamic arguments, a tuple.
        avals: the avals of its leaves.
        static: the name and printed value of each static argument.
        settings: the flags.
        tokens: the exact value of each static argument.
        whole: the tree of arrays and static leaves together, for `filter_jit`.
        roots: the names of the arguments in that tree; for `jit`, they are `names`.
        omitted: the defaults of omitted arguments.
        setters: how each changed flag was set.
        axes: the named axes that are mapped around it.
    """

    names: tuple[str, ...]
    treedef: tree.TreeDef
    avals: tuple[ShapedArray, ...]
    static: tuple[tuple[str, str], ...]
    settings: Settings
    tokens: tuple[Any, ...] = ()
    whole: tree.TreeDef | None = None
    roots: tuple[str, ...] = ()
    omitted: Mapping[str, str] = field(default_factory=dict[str, str])
    setters: Mapping[str, str] = field(default_factory=dict[str, str])
    axes: NamedAxes = ()

    def arguments(self) -> dict[str, tree.TreeDef]:
        """Return the tree of each argument by its name."""
        if self.whole is None:
            return dict(zip(self.names, self.treedef.children(), strict=True))
        return dict(zip(self.roots, self.whole.children(), strict=True))

    def leaf_names(self) -> list[str]:
        """Return the names of the leaves, which depend only on the structure."""
        return [
            self.names[getattr(path[0], "idx", 0)] + tree.keystr(path[1:])
            for path in self.treedef.paths()
        ]

    def leaves(self) -> dict[str, ShapedArray]:
        """Return the aval of each leaf by its name."""
        return dict(zip(self.leaf_names(), self.avals, strict=True))


@dataclass(frozen=True, slots=True)
class Difference:
    """One slot in which a call differs from a version.

    Args:
        kind: "shape", "rank", "dtype", "weak type", "device", "sharding", "structure",
            "static", "config", "axes" (the named ones), "global", "closure", "class",
            "function", "object" (guarded locations of these kinds), "definition" (a
            re-created function that differs), "state" (the function holds another
            value), "edited" (its code changed), "option", "evicted" (this version),
            "cleared" (all versions) or "disabled".
        slot: the differing part, as the user would name it: `batch['mask'].shape[1]`.
        old: the value of the version.
        new: the value of the call.
        remedy: how to avoid the miss.
    """

    kind: str
    slot: str
    old: str
    new: str
    remedy: str

    def __str__(self) -> str:
        if self.kind in ("evicted", "cleared"):
            return f"{self.slot} {self.new}"
        return f"{self.slot}: {self.old} → {self.new}"


class Comparison(NamedTuple):
    """The result of comparing a call with the existing versions.

    Args:
        nearest: the number of the version with the fewest differences, if any.
        differences: between the call and that version.
    """

    nearest: int | None
    differences: tuple[Difference, ...] = ()


@final
class LazyComparison:
    """A comparison that is computed when it is first read.

    Args:
        compare: computes it from the record of the miss. It may run twice, in
            simultaneous threads.
    """

    __slots__ = ("_compare", "_compared")

    def __init__(self, compare: Callable[[], Comparison]) -> None:
        self._compare: Callable[[], Comparison] | None = compare
        self._compared: Comparison | None = None

    def read(self) -> Comparison:
        """Return the comparison, and release its inputs."""
        compare = self._compare
        if compare is not None:
            self._compared = compare()
            self._compare = None
        assert self._compared is not None
        return self._compared


@dataclass(frozen=True, slots=True, repr=False)
class Explanation:
    """Why a call hits a version or misses all of them.

    Args:
        function: the name of the function.
        hit: whether a version serves the call.
        versions: how many versions there are.
        compared: the nearest version and the differences, perhaps computed later, which
            costs the miss nothing.
        seconds: the time of tracing, lowering and compiling, if it is known.
        site: the source line of the call.
        advice: the cost of jitting outside, inside or both, and Python loops that repeat
            equations; for a slow miss, only the latter.
        defined: the location of the function, as `file.py:12`; empty if unknown.
        jitted_at: where user code jits it.
        origin: for a miss, where its program is from: "compiled", "memory" or "disk";
            empty if it is unknown.
        is_needless: whether the new version has the same program as an old one, whose
            inputs have changed.
        watched: the guarded locations of the version that serves the call.
        disk: how a new process starts with the call, as a sentence; empty if unknown.
        is_kept: whether the disk cache has a program for the call.
    """

    function: str
    hit: bool
    versions: int
    compared: Comparison | LazyComparison
    seconds: float | None = None
    site: Source | None = None
    advice: str = ""
    defined: str = ""
    jitted_at: Source | None = None
    origin: str = ""
    is_needless: bool = False
    watched: tuple[str, ...] = ()
    disk: str = ""
    is_kept: bool = False

    @property
    def nearest(self) -> int | None:
        """The number of the version with the fewest differences, if any."""
        return self._read().nearest

    @property
    def differences(self) -> tuple[Difference, ...]:
        """The differences between the call and that version."""
        return self._read().differences

    def settle(self) -> None:
        """Compare now, and release the inputs."""
        self._read()

    def _read(self) -> Comparison:
        compared = self.compared
        return compared.read() if isinstance(compared, LazyComparison) else compared

    @property
    def is_edit(self) -> bool:
        """Whether the function was edited since the last version was compiled."""
        compared = self.compared  # a lazy one is of the same code
        found = compared.differences if isinstance(compared, Comparison) else ()
        return any(d.kind == "edited" for d in found)

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        where = f" at {self.site}" if self.site is not None else ""
        start = f"{self.function}{where}"
        more = "".join(f" {text}" for text in (self.advice, self.disk) if text)
        if self.hit:
            return f"{start} is answered by version {self.nearest}.{more}"
        if self.is_kept:
            return f"{start} starts warm: {self.disk}"
        if self.differences and self.differences[0].kind == "disabled":
            return (
                f"{start} runs as Python: jit is disabled. {self.differences[0].remedy}"
            )
        cost = f" It took {self.seconds:.2f} s." if self.seconds is not None else ""
        cost += more
        is_loaded = self.origin == "disk"
        start += " loads its program from the disk" if is_loaded else " compiles"
        if not self.differences:
            return f"{start}: it has no version yet.{cost}"
        listed, advice = summarize(self.differences)
        return f"{start}:{self._against} {listed}.{cost} {advice}"

    @property
    def _against(self) -> str:
        if self.nearest is None:
            kind = self.differences[0].kind
            return _SINCE.get(
                kind, " it differs from a version of an equal function in"
            )
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
            "jitted": None if self.jitted_at is None else self.jitted_at.long(),
            "origin": self.origin,
            "needless": self.is_needless,
            "disk": self.disk,
        }

    def _repr_html_(self) -> str:
        escape = import_module("html").escape  # 1.4 ms, for notebooks alone
        rows = "".join(
            f"<tr><td><code>{escape(d.slot)}</code></td><td>{escape(d.old)}</td>"
            f"<td>{escape(d.new)}</td><td>{escape(d.remedy)}</td></tr>"
            for d in self.differences
        )
        head = "<tr><th>what</th><th>was</th><th>is</th><th>what to do</th></tr>"
        table = f"<table>{head}{rows}</table>" if rows else ""
        return f"<p>{escape(str(self))}</p>{table}"


def summarize(differences: Sequence[Difference]) -> tuple[str, str]:
    """Return the first differences, and their remedies, each as a text.

    An equal difference of many arrays is listed once: a hundred parameters in float16.
    """
    groups: dict[tuple[str, ...], list[Difference]] = {}
    for d in differences:
        end = d.slot
        if d.kind in _ALIKE:  # the last name: `dtype`, `shape[0]`, `width`
            end = "" if d.kind in _WHOLE else d.slot.rpartition(".")[2]
        groups.setdefault((d.kind, end, d.old, d.new), []).append(d)
    shown = [*groups.values()][:_SHOWN]
    listed = [_listed(group) for group in shown]
    rest = len(differences) - sum(map(len, shown))
    if rest:
        listed.append(f"and {rest} more")
    remedies: dict[str, str] = {}  # by their text without the slot
    for d, *_ in shown:
        if d.remedy not in remedies.values():
            remedies.setdefault(d.remedy.replace(d.slot, ""), d.remedy)
    return "; ".join(listed), " ".join(remedies.values())


def _listed(group: list[Difference]) -> str:
    if len(group) == 1:
        return str(group[0])
    slots = ", ".join(d.slot for d in group[:_SHOWN])
    rest = f" and {len(group) - _SHOWN} more" if len(group) > _SHOWN else ""
    return f"{slots}{rest}: {group[0].old} → {group[0].new}"


_WHOLE: Final = ("weak type", "device", "structure")
_ALIKE: Final = ("shape", "rank", "dtype", "static", *_WHOLE)
_SHOWN: Final = 3
_SINCE: Final = {
    "definition": " it was re-created, with",
    "option": " it was jitted with other options:",
    "state": " it was changed, in",
    "edited": " it was edited, with",
    "evicted": "",
    "cleared": "",
}

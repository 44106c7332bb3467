"""What a user can ask of a compiled function's versions: which, why, and what they cost.

The warm path knows nothing of this; what is needed is read off the definition when
somebody asks, and nothing is compiled for it.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from imprint import tree
from imprint.compile.explain import Difference, Explanation, Kind, explain_miss
from imprint.compile.granularity import granularity
from imprint.compile.wording import show
from imprint.config import Settings
from imprint.core.aval import ShapedArray
from imprint.core.source import Source
from imprint.jit.definitions import Definition
from imprint.jit.pending import Pending
from imprint.jit.versions import Version


class CacheInfo(NamedTuple):
    """Counts of one definition: calls answered, versions, and their bytes, estimated."""

    hits: int
    misses: int
    versions: int
    nbytes: int


def cache_info(definition: Definition) -> CacheInfo:
    """Return the counts of a definition's versions."""
    versions = list(definition.versions)
    calls = sum(v.hits for v in versions)
    return CacheInfo(
        hits=calls - len(versions),
        misses=len(versions),
        versions=len(versions),
        nbytes=sum(v.program.nbytes for v in versions),
    )


def kind_of(names: Sequence[str], treedef: tree.TreeDef, key: Any) -> Kind:
    """Return what kind of call a key stands for."""
    parts = list(key)
    at = next(i for i, part in enumerate(parts) if isinstance(part, Settings))
    avals: tuple[ShapedArray, ...] = tuple(parts[at + 1 :])
    static = ()
    if at:
        form, tokens = parts[0], parts[at - 1]
        shown = [show(token) for token in tokens]
        static = tuple(zip(form.static_names, shown, strict=True))
    return Kind(tuple(names), treedef, avals, static, parts[at])


def explain(
    definition: Definition, pending: Pending, treedef: tree.TreeDef, site: Source | None
) -> Explanation:
    """Say whether a version answers a call, and if none does, why."""
    name = definition.signature.function_name
    kind = kind_of(pending.call.form.names, treedef, pending.key)
    versions = list(definition.versions)
    found = definition.versions.find(pending.key)
    if found is not None:
        number = [v is found for v in versions].index(True)
        traced = found.traced
        return Explanation(
            function=name,
            hit=True,
            versions=len(versions),
            nearest=number,
            differences=(),
            seconds=traced.seconds + found.program.compile_seconds,
            site=site,
            advice=str(granularity(traced.closed)),
        )
    stale = _stale(versions, definition, pending.key)
    if stale:
        return stale_explanation(name, versions, stale, site)
    kinds = [
        kind_of(v.traced.form.names, v.traced.in_tree, definition.versions.key_of(v))
        for v in versions
    ]
    return explain_miss(name, kind, kinds, site=site)


def stale_explanation(
    name: str,
    versions: Sequence[Version],
    stale: list[tuple[Version, list[Difference]]],
    site: Source | None,
) -> Explanation:
    """Explain a miss by what was rebound since a version of this kind was traced."""
    version, differences = min(stale, key=lambda pair: len(pair[1]))
    return Explanation(
        function=name,
        hit=False,
        versions=len(versions),
        nearest=[v is version for v in versions].index(True),
        differences=tuple(differences),
        site=site,
    )


def _stale(
    versions: Sequence[Version], definition: Definition, key: Any
) -> list[tuple[Version, list[Difference]]]:
    return [
        (
            version,
            [
                Difference(
                    change.kind,
                    f"{change.name} in {change.module}",
                    _short(change.old),
                    _short(change.new),
                    "A version is kept for each value; pass what changes often as an "
                    "argument.",
                )
                for change in version.traced.watch.changed()
            ],
        )
        for version in versions
        if definition.versions.key_of(version) == key
    ]


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."

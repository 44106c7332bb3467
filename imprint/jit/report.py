"""What a user can ask of a compiled function's versions: which, why, and what they cost.

The warm path knows nothing of this; what is needed is read off the definition when
somebody asks, and nothing is compiled for it. Why a call has no version, in this order:
it had one that was dropped; one of its kind read what has changed since; it is of
another kind than all of them; the function was made anew and is another.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from imprint import tree
from imprint.compile import difference
from imprint.compile.explain import Difference, Explanation, Kind, nearest_of
from imprint.compile.granularity import granularity
from imprint.compile.places import MISSING
from imprint.compile.seen import Unknown
from imprint.compile.walk import NO_EFFECTS, Walk
from imprint.compile.wording import show, told_apart
from imprint.core.source import current_source
from imprint.jit.definitions import DEFINITIONS, Definition
from imprint.jit.pending import Pending, kind_of
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
        nbytes=sum(v.nbytes for v in versions),
    )


def explain(
    fun: Callable[..., Any], definition: Definition, pending: Pending
) -> Explanation:
    """Say whether a version answers a call, and if none does, why."""
    versions = list(definition.versions)
    found = definition.versions.find(pending.key)
    family = DEFINITIONS.family_of(fun, definition)
    nearest, differences = None, ()
    if found is not None:
        nearest = [v is found for v in versions].index(True)
    else:
        treedef = tree.structure(pending.call.dynamic)
        kind = kind_of(pending.call.form.names, treedef, pending.key)
        others = family.others(definition)
        nearest, differences = _miss(definition, pending, kind, others)
    return Explanation(
        function=definition.signature.function_name,
        hit=found is not None,
        versions=len(versions),
        nearest=nearest,
        differences=tuple(differences),
        seconds=None if found is None else found.costs.total,
        site=current_source(),
        advice="" if found is None else str(granularity(found.jaxpr)),
        defined=family.defined,
    )


def _miss(
    definition: Definition, pending: Pending, kind: Kind, others: list[Definition]
) -> tuple[int | None, Sequence[Difference]]:
    versions = list(definition.versions)
    reason = definition.versions.why_gone(pending.key)
    if reason:
        return None, [_evicted(reason)]
    stale = [(_changes(v), i) for i, v in enumerate(versions) if v.at == pending.key]
    if stale:
        changes, nearest = min(stale, key=lambda pair: len(pair[0]))
        return nearest, changes
    if versions:
        return nearest_of(kind, [v.key for v in versions])
    if others and definition.last_miss is None:  # else it was compiled, and cleared
        found = [_made_anew(definition, other) for other in others]
        return None, min(found, key=len)
    return None, ()


# ---- the reasons ----


def _evicted(reason: str) -> Difference:
    remedy = next(text for start, text in _EVICTED.items() if reason.startswith(start))
    slot = "the version for this call"
    return Difference("evicted", slot, "compiled", f"was dropped by {reason}", remedy)


_EVICTED = {
    "the byte budget": "Raise it with imprint.cache.limit(bytes=...), or pin() versions.",
    "max_versions": "Raise the limit, or pin() the versions that are needed again.",
    "evict()": "Keep the versions that are needed again.",
}


def _changes(version: Version) -> list[Difference]:
    return [
        Difference(
            change.kind,
            f"{change.name} in {change.module}",
            *told_apart(_shown(change.old), _shown(change.new)),
            "A version is kept for each value; pass what changes often as an argument.",
        )
        for change in version.traced.watch.changed()
    ]


def _shown(value: Any) -> str:
    """Return a value as it prints; no `__repr__` of a user runs in a call."""
    if value is MISSING or type(value) is Unknown:
        return repr(value)
    return show(Walk(NO_EFFECTS).value(value))


def _made_anew(definition: Definition, other: Definition) -> list[Difference]:
    function = definition.signature.function_name
    return [
        Difference("definition", d.path, d.old, d.new, _remedy(d.path, function))
        for d in difference.difference(other.token, definition.token)
    ]


def _remedy(path: str, function: str) -> str:
    name = path.partition(" in ")[0]
    if name.startswith("closure variable "):
        name = name.removeprefix("closure variable ")
        return f"Make {name} an argument: `def {_identifier(function)}(..., {name})`."
    if name.startswith("default of "):
        name = name.removeprefix("default of ")
        return f"Keep one default, and pass {name} where it is another."
    if name.startswith(("code", "constant", "name read")):
        return "What was edited is compiled again."
    return f"Make {function} once, or pass what differs as an argument."


def _identifier(function: str) -> str:
    return function if function.isidentifier() else "f"

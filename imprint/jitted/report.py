"""What a user can ask of a compiled function's versions: which, why, and what they cost.

The warm path knows nothing of this; what is needed is read off the definition when
somebody asks, and nothing is compiled for it. Why a call has no version, in this order:
it had one that was dropped; one of its kind read what has changed since; it is of
another kind than all of them; the function was made anew and is another.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from imprint import tree
from imprint.calls.key import CallKey, Pending
from imprint.core.source import current_source
from imprint.definition.state import HASHED, StrictWalk
from imprint.definition.token import Token
from imprint.definition.walk import NO_EFFECTS, Walk
from imprint.definition.wording import show, told_apart
from imprint.explain.comparison import nearest_of
from imprint.explain.explanation import Compared, Difference, Explanation, Later
from imprint.explain.granularity import granularity
from imprint.explain.tokens import TOO_LARGE, Disagreement, disagreements
from imprint.versions.definitions import DEFINITIONS, Definition, Family
from imprint.versions.version import Version
from imprint.watch.places import MISSING
from imprint.watch.seen import Unknown


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
    found = definition.versions.find(pending.key)
    if found is None:
        return explain_miss(fun, definition, pending)
    versions = list(definition.versions)
    return Explanation(
        function=definition.signature.function_name,
        hit=True,
        versions=len(versions),
        compared=Compared([v is found for v in versions].index(True)),
        seconds=found.costs.total,
        site=current_source(),
        advice=str(granularity(found.jaxpr)),
        defined=DEFINITIONS.family_of(fun, definition).defined,
    )


def explain_miss(
    fun: Callable[..., Any], definition: Definition, pending: Pending
) -> Explanation:
    """Note why no version answers a call.

    What can change or be gone when the explanation is read is worked out now: values
    that are watched, captures of functions made anew. Kinds of calls are compared then.
    """
    versions = list(definition.versions)
    family = DEFINITIONS.family_of(fun, definition)
    return Explanation(
        function=definition.signature.function_name,
        hit=False,
        versions=len(versions),
        compared=_compared(definition, pending, versions, family),
        site=current_source(),
        defined=family.defined,
    )


def _compared(
    definition: Definition, pending: Pending, versions: list[Version], family: Family
) -> Compared | Later:
    reason = definition.versions.why_gone(pending.key)
    if reason:
        return Compared(None, (_evicted(reason),))
    stale = definition.versions.all_of(pending.key)
    if stale:
        return _stale(versions, stale[:_REMEMBERED])
    if versions:
        return _later(pending, versions)
    if definition.last_miss is None:  # else it was compiled, and cleared
        return _made_anew(definition, family.others(definition))
    return Compared(None)


_REMEMBERED: Final = 128
"""Versions, the newest, that a miss is compared with."""


def _later(pending: Pending, versions: list[Version]) -> Later:
    """Note the kinds of calls that are answered; the versions themselves may go."""
    first = max(0, len(versions) - _REMEMBERED)
    treedef = tree.structure(pending.call.dynamic)  # `pending` itself holds the arrays
    known = [(pending.key, (pending.call.form.names, treedef))]
    known += [(v.at, (v.traced.form.names, v.traced.in_tree)) for v in versions[first:]]

    def compare() -> Compared:
        new, *kinds = [CallKey.unpack(key).kind(*named) for key, named in known]
        nearest, found = nearest_of(new, kinds)
        return Compared(first + nearest, found)

    return Later(compare)


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


def _stale(versions: list[Version], stale: Sequence[Version]) -> Compared:
    """Return what changed since the nearest of the versions of this kind was traced."""
    nearest = min(stale, key=lambda v: v.traced.watch.count_changed())
    number = [v is nearest for v in versions].index(True)
    return Compared(number, tuple(_changes(nearest)))


def _changes(version: Version) -> list[Difference]:
    watch = version.traced.watch
    walk = StrictWalk if any(read.seen.strict for read in watch.reads) else Walk
    return [
        Difference(
            change.kind,
            f"{change.name} in {change.module}",
            *told_apart(_shown(change.old, walk), _shown(change.new, walk)),
            "A version is kept for each value; pass what changes often as an argument.",
        )
        for change in watch.changed()
    ]


def _shown(value: Any, walk: type[Walk]) -> str:
    """Return a value as it prints; no `__repr__` of a user runs in a call."""
    if value is MISSING or type(value) is Unknown:
        return repr(value)
    return show(walk(NO_EFFECTS).value(value))


def _made_anew(definition: Definition, others: Sequence[Token]) -> Compared:
    """Return in what a function that was made anew is another than the nearest before."""
    nearest: list[Disagreement] = []
    for other in others:
        found = disagreements(other, definition.token)
        if not nearest or len(found) < len(nearest):
            nearest = found
        if len(nearest) == 1:
            break
    function = definition.signature.function_name
    return Compared(
        None,
        tuple(
            Difference("definition", d.path, d.old, d.new, _remedy(d, function))
            for d in nearest
        ),
    )


def _remedy(change: Disagreement, function: str) -> str:
    place = change.path.partition(" in ")[0]
    edited = place in ("code", "constant", "name read")
    if change.new.startswith(_FUNCTIONS) or (edited and _is_held(change.path)):
        return f"{function} is compiled for each function that it holds: make few."
    if edited:
        return "What was edited is compiled again."
    why = ""
    if change.new.endswith(TOO_LARGE):
        why = (
            f"Captured arrays are compared up to {HASHED >> 20} MiB in all, so each "
            f"{function} that is made is traced. "
        )
    kind, _, name = place.rpartition(" ")
    if kind == "closure variable" and not change.new.endswith(" object"):
        signature = f"def {_identifier(function)}(..., {_last_name(name)})"
        return f"{why}Make {name} an argument: `{signature}`."
    if kind == "default of":
        return f"{why}Keep one default, and pass {name} where it is another."
    return f"{why}Make {function} once, or pass what differs as an argument."


_FUNCTIONS: Final = ("function ", "another function ", "method ", "another method ")


def _is_held(path: str) -> bool:
    """Tell whether a function holds what is at a path, in place of being it."""
    outermost = path.rpartition(" in ")[2]
    return outermost.startswith(("closure variable ", "arguments[", "keywords["))


def _last_name(path: str) -> str:
    """Return the last name in `model.rates['w'][0]`, for a parameter: `w`."""
    return re.findall(r"[^\W\d]\w*", path)[-1]


def _identifier(function: str) -> str:
    return function if function.isidentifier() else "f"

"""Explanations of hits and misses, and counts of versions.

They are computed from the definition when they are read; nothing is compiled, and the warm
path does no bookkeeping for them. The reason of a miss is the first of these:

1. The version of this call was dropped.
2. A guarded location has changed since it was traced.
3. All versions have other call signatures.
4. All versions were dropped.
5. The function was edited, captures another value, or was re-created differently.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import FunctionType
from typing import Any, Final, NamedTuple

from imprint._src.config import flag_setters, settings
from imprint._src.core.identity import type_name
from imprint._src.diagnostics import html
from imprint._src.diagnostics.source import current_source
from imprint._src.jit.calls.key import CallKey, Pending
from imprint._src.jit.calls.options import JitOptions
from imprint._src.jit.explain import (
    comparison,
    fingerprint_diff,
    granularity,
    unrolled_loops,
)
from imprint._src.jit.explain.explanation import (
    Comparison,
    Difference,
    Explanation,
    LazyComparison,
)
from imprint._src.jit.fingerprint.callables import definition_token
from imprint._src.jit.fingerprint.code import code_of
from imprint._src.jit.fingerprint.content import (
    HASHED,
    BoundedReader,
    ContentReader,
    StrictReader,
)
from imprint._src.jit.fingerprint.raw_access import GONE, MISSING, class_of, storage_of
from imprint._src.jit.fingerprint.token import Content, Token
from imprint._src.jit.fingerprint.wording import (
    distinguish,
    shortened,
    show,
    show_function,
)
from imprint._src.jit.guards.dependencies import is_captured
from imprint._src.jit.guards.guard import Change, DeadObject, changes_of
from imprint._src.jit.guards.locations import Contents
from imprint._src.jit.guards.values import Dependency
from imprint._src.jit.versions.definitions import (
    DEFINITIONS,
    Definition,
    FunctionState,
    Request,
    shared_version,
)
from imprint._src.jit.versions.version import Version
from imprint._src.passes import pass_report
from imprint._src.tree import internal as tree


class CacheInfo(NamedTuple):
    """Counts of one definition: calls answered, versions, and their bytes, estimated."""

    hits: int
    misses: int
    versions: int
    nbytes: int

    def _repr_html_(self) -> str:
        return html.fields("Cache", self._asdict())


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


def explain(request: Request) -> Explanation:
    """Return whether a version answers a call, and if none does, why."""
    fun, definition, pending = request
    if settings().disable_jit:
        return _disabled(fun, definition)
    lent, found = None, definition.versions.find(pending.key)
    if found is None:
        found = lent = shared_version(request)
    if found is None and definition.size_families is not None:
        found = _in_bucket(definition, pending)
    if found is None:
        return explain_miss(request)
    versions = list(definition.versions)
    advice = (
        str(granularity.granularity(found.jaxpr)),
        describe_loops(found),
        found.traced.note,
    )
    explanation = Explanation(
        function=definition.signature.function_name,
        hit=True,
        versions=len(versions),
        compared=Comparison([v is found for v in versions].index(True)),
        seconds=found.costs.total,
        site=current_source(),
        advice=" ".join(filter(None, advice)),
        defined=DEFINITIONS.definition_site_of(fun, definition).defined,
        jitted_at=definition.jitted_at,
        watched=found.watched,
    )
    if lent is not None:  # its captures are read at its first call
        definition.versions.drop(lent)
    return explanation


def _in_bucket(definition: Definition, pending: Pending) -> Version | None:
    """Return the version of a program for a bucket that answers a call."""
    from imprint._src.jit.bucketing.programs import known_call  # noqa: PLC0415 - few functions name axes

    found = known_call(definition, pending)
    return None if found is None else definition.versions.find(found.program.key)


def describe_loops(version: Version) -> str:
    """Return the text about the loops and repeated blocks of a version."""
    rolled = [
        f"{change}."
        for change in version.passes
        if isinstance(change, pass_report.Rolled)
    ]
    return (
        " ".join(rolled) if rolled else unrolled_loops.describe_repeats(version.jaxpr)
    )


def _disabled(fun: Callable[..., Any], definition: Definition) -> Explanation:
    """Say that a call would run the function itself."""
    setter = flag_setters().get("disable_jit", "")
    remedy = f"It was disabled by {setter}."
    return Explanation(
        function=definition.signature.function_name,
        hit=False,
        versions=len(definition.versions),
        compared=Comparison(
            None,
            (Difference("disabled", "disable_jit", "False", "True", remedy),),
        ),
        site=current_source(),
        defined=DEFINITIONS.definition_site_of(fun, definition).defined,
    )


def explain_miss(request: Request) -> Explanation:
    """Explain why no version answers a call.

    Values that may change are compared now: guarded locations, and captures of re-created
    functions. Call signatures are compared when the explanation is read.
    """
    definition = request.definition
    versions = list(definition.versions)
    site = DEFINITIONS.definition_site_of(request.fun, definition)
    return Explanation(
        function=definition.signature.function_name,
        hit=False,
        versions=len(versions),
        compared=_compared(request, versions),
        site=current_source(),
        defined=site.defined,
        jitted_at=definition.jitted_at,
    )


def _compared(request: Request, versions: list[Version]) -> Comparison | LazyComparison:
    fun, definition, pending = request
    reason = definition.versions.why_gone(pending.key)
    if reason:
        return Comparison(None, (_evicted(reason),))
    stale = definition.versions.all_of(pending.key)
    if stale:
        return _stale(versions, stale[:_REMEMBERED])
    if versions:
        return _later(definition, pending, versions)
    if definition.last_miss is not None:  # it was compiled
        return Comparison(None, (_CLEARED,))
    shared = definition.shared.versions
    if shared.all_of(pending.key):
        return _explain_recreated(request)
    others = list(shared)
    if others:
        return _later(definition, pending, others, is_own=False)
    return _explain_new_function(fun, definition)


_REMEMBERED: Final = 128
"""Versions, the newest, that a miss is compared with."""


def _later(
    definition: Definition,
    pending: Pending,
    versions: list[Version],
    *,
    is_own: bool = True,
) -> LazyComparison:
    """Compare call signatures later; this keeps signatures alive, but no versions.

    Args:
        definition: of the function.
        pending: the call.
        versions: the versions of other calls.
        is_own: whether they belong to this definition.
    """
    first = max(0, len(versions) - _REMEMBERED)
    treedef = tree.structure(pending.call.dynamic)  # `pending` itself holds the arrays
    known = [(pending.key, (pending.call.spec, treedef))]
    known += [(v.at, (v.traced.spec, v.traced.in_tree)) for v in versions[first:]]
    setters = flag_setters()  # of now: a `with` may end before the explanation is read
    why = _per_size(definition, pending)

    def compare() -> Comparison:
        new, *kinds = [CallKey.unpack(key).kind(*named) for key, named in known]
        nearest, found = comparison.nearest_of(replace(new, setters=setters), kinds)
        told = why()
        found = tuple(
            [
                replace(d, remedy=told[d.slot])
                if d.slot in told and d.new.isdecimal()
                else d
                for d in found
            ]
        )
        return Comparison(first + nearest if is_own else None, found)

    return LazyComparison(compare)


def _per_size(definition: Definition, pending: Pending) -> Callable[[], dict[str, str]]:
    """Return a function that returns why named lengths have their own programs."""
    if definition.options.abstracted_axes is None and definition.size_families is None:
        return dict
    from imprint._src.jit.bucketing.programs import reasons_by_slot  # noqa: PLC0415 - few functions name axes

    return reasons_by_slot(definition, pending)


# ---- the reasons ----


def _evicted(reason: str) -> Difference:
    remedy = next(text for start, text in _EVICTED.items() if reason.startswith(start))
    slot = "the version for this call"
    return Difference("evicted", slot, "compiled", f"was dropped by {reason}", remedy)


_CLEARED: Final = Difference(
    "cleared",
    "its versions",
    "compiled",
    "were dropped",
    "Call clear_cache() or clear_caches() only where the memory is needed.",
)
_EVICTED = {
    "the byte budget": "Raise it with imprint.cache.limit(bytes=...), or pin() versions.",
    "max_versions": "Raise the limit, or pin() the versions that are needed again.",
    "evict()": "Keep the versions that are needed again.",
    "an audit": "It was stale. Pass what changed as an argument.",
}


def _stale(versions: list[Version], stale: Sequence[Version]) -> Comparison:
    """Return the changes since the nearest version of this call signature was traced."""
    nearest = min(stale, key=lambda v: len(v.traced.dependencies.failing()))
    number = [v is nearest for v in versions].index(True)
    return Comparison(number, tuple(_changes(nearest)))


def _changes(version: Version) -> list[Difference]:
    """Return the changes; a change of both a dict and its item occurs once."""
    guard = version.traced.guard
    reads = guard.dependencies.reads
    walk = (
        StrictReader
        if any(r.location.is_strict for r in reads if isinstance(r.location, Contents))
        else ContentReader
    )
    found = (
        Difference(change.kind, *told, _guard_remedy(change, told))
        for change in guard.changes()
        for told in _change_details(change, walk)
    )
    return [*dict.fromkeys(found)]


def _guard_remedy(change: Change, told: "fingerprint_diff.Disagreement") -> str:
    """Return the remedy for a changed value at a guarded location."""
    if told.path.startswith(_CODE):
        return "What was edited is compiled again."
    if told.new.startswith(_FUNCTIONS):
        return (
            "A version is kept for each function; pass what changes often as a static "
            "argument."
        )
    name = _VARIABLE.match(told.path)
    if change.kind == "object" or name is not None:
        shown = told.path if name is None else name[1]
        return (
            f"A version is kept for each value; pass {shown} as an argument if it "
            "changes often."
        )
    return "A version is kept for each value; pass what changes often as an argument."


_VARIABLE: Final = re.compile(
    r"(?:global|closure variable|class attribute) (.+?)(?: (?:in|of) [^\]]*)?$"
)
"""A changed place, with the variable to pass instead."""


def _change_details(
    change: Change, walk: type[ContentReader]
) -> "list[fingerprint_diff.Disagreement]":
    """Return the old and new value of a guarded location; of edited code, where."""
    where = f" in {change.module}" if change.module else ""
    path = f"{change.name}{where}"
    both = _contents(change, walk)
    if both is not None:
        inside = fingerprint_diff.disagreements(*both, change.name)
        if inside:
            return [
                fingerprint_diff.Disagreement(f"{d.path}{where}", d.old, d.new)
                for d in inside
            ]
    old, new = _shown(change.old, walk), _shown(change.new, walk)
    if type(change.old) is DeadObject and type(change.new) is FunctionType:
        before, now = change.old.code, code_of(change.new.__code__)
        if before is not None and before.name == now.name:
            return fingerprint_diff.disagreements(before, now)
    if old == new and type(change.old) is type(change.new) is FunctionType:
        before, now = definition_token(change.old), definition_token(change.new)
        found = fingerprint_diff.disagreements(before, now)
        if found and all(d.path.startswith(_INSIDE) for d in found):
            return found
    return [fingerprint_diff.Disagreement(path, *distinguish(old, new))]


def _contents(
    change: Change, walk: type[ContentReader]
) -> tuple[Content, Content] | None:
    """Return the old and new content of a guarded location, if it has parts."""
    old, new = change.old, change.new
    if new is MISSING or new is GONE:
        return None
    kind = class_of(new)
    if class_of(old) is kind and (kind is str or storage_of(new) is not None):
        return walk().value(old), walk().value(new)
    return None


_CODE: Final = ("code", "constant", "name read")
_INSIDE: Final = ("constant in ", "name read in ")


def _shown(value: Any, walk: type[ContentReader]) -> str:
    """Return a value as it prints; no `__repr__` of a user runs in a call."""
    if value is MISSING or value is GONE:
        return repr(value)
    if type(value) is DeadObject and value.code is not None:
        return f"function {fingerprint_diff.show_code(value.code)}"
    if type(value) is DeadObject:
        return f"{type_name(value.cls)} object"
    if type(value) is FunctionType:  # equal functions share a token
        return show_function(value)
    return show(walk().value(value))


def _explain_recreated(request: Request) -> Comparison:
    """Return the differences from the nearest function created from the same code."""
    fun, definition, pending = request
    roots = request.roots
    kept = definition.shared.versions.all_of(pending.key)[:_REMEMBERED]
    every = [v.traced.dependencies for v in kept]
    nearest = min((each.differing(roots) for each in every), key=len)
    large = {read.location.key for read, _ in nearest if _is_large(read)}
    nearest = [
        (read, now)
        for read, now in nearest
        if not (read.location.parent and read.location.parent.key in large)
    ]
    is_known = DEFINITIONS.definition_site_of(fun, definition).knows(fun)
    kind = "state" if is_known else "definition"
    function = definition.signature.function_name
    found: list[Difference] = []
    for read, now in nearest:
        captured = is_captured(read.location)
        for change in changes_of(read, now):
            for told in (
                _change_details(change, ContentReader)
                if not _is_large(read)
                else _content_details(change)
            ):
                if captured:
                    found.append(Difference(kind, *told, _remedy(told, function)))
                else:
                    found.append(
                        Difference(change.kind, *told, _guard_remedy(change, told))
                    )
    return Comparison(None, tuple(dict.fromkeys(found)))


def _is_large(read: Dependency) -> bool:
    """Return whether there is more in captured arrays than is compared."""
    return read.seen.has_arrays and not read.seen.is_known


def _content_details(change: Change) -> "list[fingerprint_diff.Disagreement]":
    old, new = BoundedReader(0).value(change.old), BoundedReader(0).value(change.new)
    return fingerprint_diff.disagreements(old, new, change.name)


def _explain_new_function(
    fun: Callable[..., Any], definition: Definition
) -> Comparison:
    """Return the differences from the nearest earlier function of this definition site."""
    nearest: list[fingerprint_diff.Disagreement] | None = None
    kind = "definition"
    token = definition_token(fun)
    for made in DEFINITIONS.definition_site_of(fun, definition).before(fun, definition):
        found = _disagreements(made, token, definition.options)
        if nearest is None or len(found) < len(nearest):
            nearest = found
            kind = "state" if made.is_of(fun) else "definition"
            if made.token is token:
                kind = "option"
        if len(nearest) == 1:
            break
    function = definition.signature.function_name
    return Comparison(
        None,
        tuple(
            Difference(
                "edited" if _is_edit(d.path) else kind,
                d.path,
                d.old,
                d.new,
                _JIT_ONCE if kind == "option" else _remedy(d, function),
            )
            for d in nearest or ()
        ),
    )


_JIT_ONCE: Final = "Functions of other options share no versions: jit it once."


def _disagreements(
    made: FunctionState, token: Token, options: JitOptions
) -> "list[fingerprint_diff.Disagreement]":
    if made.token is token:
        before, now = made.options.as_given(), options.as_given()
        return [
            fingerprint_diff.Disagreement(
                name, shortened(repr(was)), shortened(repr(now[name]))
            )
            for name, was in before.items()
            if was != now[name]
        ]
    found = fingerprint_diff.disagreements(made.token, token)
    owners = tuple(f"{d.path}." for d in found if d.new == f"another {d.old}")
    inside = [d for d in found if d.path.startswith(owners)]
    return inside or found  # for another object, its differences


def _remedy(change: "fingerprint_diff.Disagreement", function: str) -> str:
    place = change.path.partition(" in ")[0]
    if _is_edit(change.path):
        return "What was edited is compiled again."
    if change.new.startswith(_FUNCTIONS) or place in _CODE:
        return f"{function} is compiled for each function that it holds: make few."
    why = ""
    if change.new.endswith(fingerprint_diff.TOO_LARGE):
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


def _is_edit(path: str) -> bool:
    """Return whether a path is in the code of the function, not in its captures."""
    outermost = path.rpartition(" in ")[2]
    is_held = outermost.startswith(("closure variable ", "arguments[", "keywords["))
    return path.partition(" in ")[0] in _CODE and not is_held


def _last_name(path: str) -> str:
    """Return the last name in `model.rates['w'][0]`, for a parameter: `w`."""
    return re.findall(r"[^\W\d]\w*", path)[-1]


def _identifier(function: str) -> str:
    return function if function.isidentifier() else "f"

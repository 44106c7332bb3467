"""Audits: compare cache hits with fresh traces.

While `config.audit` is on, a share of the hits is traced again, before the call donates
its arguments. The program is compared with that of the version, or under a trace with the
reused jaxpr. A difference drops the stale version and its traces, and raises an error that
names the unguarded reads. Audits run user code like any trace, but they are not counted
as traces and are not audited themselves.
"""

from collections.abc import Callable, Iterable
from itertools import count
from typing import Final

from imprint._src.config import settings
from imprint._src.errors import StaleVersionError
from imprint._src.jit.calls.key import unplaced
from imprint._src.jit.calls.tracing import TracedCall, divergence_of_traces
from imprint._src.jit.compilation.counters import COUNTERS
from imprint._src.jit.compile_steps import trace, trace_for_all, trace_for_sizes
from imprint._src.jit.explain import jaxpr_diff
from imprint._src.jit.fingerprint.wording import shortened, show
from imprint._src.jit.guards.locations import location_name
from imprint._src.jit.versions.definitions import (
    AuditTraces,
    Request,
    audit_scope,
    is_auditing,
    shared_version,
)

_GOLDEN: Final = 0.6180339887498949
_hits: Final = count()


def audit(request: Request) -> None:
    """Trace a call again if audits are on, a version answers it and it is in the share.

    Raises:
        StaleVersionError: the fresh trace gives another program, or fails.
    """
    share = settings().audit
    if not share:
        return
    versions = request.definition.versions
    version = versions.find(request.pending.key) or shared_version(request)
    if version is not None and _is_due(share):
        number = next((i for i, v in enumerate(versions) if v is version), 0)
        what = f"version {number}, which answers this call,"
        _compare(request, version.traced, what, trace_for_all)


def audit_in_bucket(request: Request) -> None:
    """Trace a call again, as `audit` does, that a program for a bucket answers."""
    share = settings().audit
    if share and _is_due(share):
        what = "the trace for all sizes, which answers this call,"
        _compare(request, trace_for_sizes(request), what, trace_for_sizes)


def audit_nested(request: Request) -> None:
    """Trace a call under a trace again, as `audit` does, if an earlier trace answers it."""
    share = settings().audit
    if not share:
        return
    traced = request.definition.traced.find(unplaced(request.pending.key))
    if traced is not None and _is_due(share):
        what = "its earlier trace, which stands for this call,"
        _compare(request, traced, what, trace)


def _compare(
    request: Request,
    traced: TracedCall,
    what: str,
    trace: Callable[[Request], TracedCall],
) -> None:
    """Compare with a fresh trace; drop stale versions and raise if they differ."""
    COUNTERS.audits += 1
    expected = f"{request.name}: expected {what} to be what a fresh trace gives, got"
    with audit_scope() as traces:
        try:
            fresh = trace(request)
        except Exception as err:
            _drop(traces)
            raise StaleVersionError(
                f"{expected} {type(err).__name__}.\n  {shortened(str(err))}\n{_remedy(request)}",
                cached=str(traced.closed),
            ) from err
    divergence = divergence_of_traces(traced, fresh)
    if divergence is not None:
        _drop(traces)
        raise StaleVersionError(
            f"{expected} another program.\n{_parts(divergence)}\n"
            f"  {_cause(traced, fresh, strict=request.options.strict)}\n{_remedy(request)}",
            cached=str(traced.closed),
            fresh=str(fresh.closed),
        )


def _is_due(share: float) -> bool:
    """Return whether this hit is in the audited share; never during an audit.

    The multiples of the golden ratio are evenly spread in [0, 1), and so is every n-th of
    them. So functions that are called in turn are all audited, in each run at the same calls.
    """
    return not is_auditing() and next(_hits) * _GOLDEN % 1.0 < share


def _drop(fresh: AuditTraces) -> None:
    """Drop the versions and traces of all traced functions that differ from the fresh ones.

    This includes nested functions: the next version must not be made from their traces.
    """
    for definition, traces in fresh.values():
        for old in list(definition.traced):
            if not _is_among(old, traces):
                definition.traced.drop(old)
        for version in list(definition.versions):
            if not _is_among(version.traced, traces):
                version.drop("an audit")
                definition.versions.drop(version, "an audit")
        definition.shared.clear()


def _is_among(old: TracedCall, traces: Iterable[TracedCall]) -> bool:
    return any(divergence_of_traces(old, new) is None for new in traces)


# ---- the error message ----

_SHOWN: Final = 3


def _remedy(request: Request) -> str:
    strict = "" if request.options.strict else ", or jit with strict=True"
    return (
        "  The version was dropped: the next call is traced. Pass what changed as an "
        f"argument{strict}; see `What is not tracked`."
    )


def _parts(divergence: "jaxpr_diff.Divergence") -> str:
    place, *texts = divergence.place, divergence.old, divergence.new
    old, new = (text.replace("\n", "\n    ") for text in texts)
    return f"  They part in {place}:\n    version: {old}\n    fresh:   {new}"


def _cause(old: TracedCall, fresh: TracedCall, *, strict: bool) -> str:
    """Return whether a guarded location changed, or none did."""
    known = frozenset(old.guard.names)
    changed = [str(location_name(read.location)) for read in old.dependencies.failing()]
    if changed:
        return (
            f"What it reads by name has changed, and its guard did not see it: "
            f"{_listed(changed)}. This is a bug of imprint: please report it."
        )
    shown = {id(at): str(location_name(at)) for at in fresh.dependencies.locations}
    more = [
        f"{shown[id(at)]}, now {shortened(show(seen.content))}"
        for at, seen in fresh.dependencies.reads
        if shown.get(id(at), "") not in known and id(at) in shown
    ]
    read = f" The fresh trace also read {_listed(more)}." if more else ""
    contents = "" if strict else _CONTENTS
    return (
        "Nothing that it reads by name has changed, so what differs is not tracked: "
        f"{contents}names computed at run time, what libraries read for themselves "
        "(settings, registries, random generators, files, the clock), objects that only "
        f"a library hands out, or what other threads write.{read}"
    )


_CONTENTS: Final = "the contents of arrays and larger containers, "


def _listed(texts: list[str]) -> str:
    rest = f"; and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else ""
    return f"{'; '.join(texts[:_SHOWN])}{rest}"

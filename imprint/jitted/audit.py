"""Audits: is a hit what a fresh trace gives?

While `config.audit` is on, a share of the calls that hit is traced again, before a call
donates what it was given, and the program is compared with the version's; under a trace,
with the jaxpr that stands for the call. A difference is an error which says what is not
watched; what is stale, and the traces that it is made of, is dropped first, so the next
call is traced. An audit runs the user's Python as any trace does, but is none of the
traces that are counted, and is not audited itself.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from typing import Any, Final

import numpy as np

from imprint.calls.key import unplaced
from imprint.calls.tracing import TracedCall
from imprint.config import settings
from imprint.definition.layout import layout_of
from imprint.definition.state import reads_state
from imprint.definition.wording import shortened, show
from imprint.errors import StaleVersionError
from imprint.explain import programs
from imprint.jitted.compiling import trace, trace_for_all, trace_for_sizes
from imprint.jitted.sameness import divergence_of_traces
from imprint.jitted.undisturbed import Request
from imprint.program.counters import COUNTERS
from imprint.static.exact import is_plain_value
from imprint.versions.fresh import FreshTraces, fresh_traces, is_fresh
from imprint.watch.captures import captured_reads
from imprint.watch.seen import Read

_GOLDEN: Final = 0.6180339887498949
_hits: Final = count()


def audit(request: Request) -> None:
    """Trace a call again if audits are on, a version answers it and its turn has come.

    Raises:
        StaleVersionError: the program is another, or there is none.
    """
    share = settings().audit
    if not share:
        return
    versions = request.definition.versions
    version = versions.find(request.pending.key)
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
    """Raise StaleVersionError, and drop what is stale, unless a fresh trace is the same."""
    COUNTERS.audits += 1
    expected = f"{request.name}: expected {what} to be what a fresh trace gives, got"
    with fresh_traces() as traces:
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
            f"  {_cause(request, traced, fresh)}\n{_remedy(request)}",
            cached=str(traced.closed),
            fresh=str(fresh.closed),
        )


def _is_due(share: float) -> bool:
    """Tell whether this hit is one of the share; in an audit none is.

    The multiples of the golden section lie evenly in [0, 1), also every n-th of them:
    functions that are called in turn are all met, and each run meets the same calls.
    """
    return not is_fresh() and next(_hits) * _GOLDEN % 1.0 < share


def _drop(fresh: FreshTraces) -> None:
    """Forget all of the functions that were traced, but what is as a fresh trace gave it.

    Nested functions are among them: what is made next must not be made of their traces.
    """
    for definition, traces in fresh.values():
        for old in list(definition.traced):
            if not _is_among(old, traces):
                definition.traced.drop(old)
        for version in list(definition.versions):
            if not _is_among(version.traced, traces):
                definition.versions.drop(version, "an audit")


def _is_among(old: TracedCall, traces: Iterable[TracedCall]) -> bool:
    return any(divergence_of_traces(old, new) is None for new in traces)


# ---- what the error says ----

_SHOWN: Final = 3


def _remedy(request: Request) -> str:
    strict = "" if request.options.strict else ", or jit with strict=True"
    return (
        "  The version was dropped: the next call is traced. Pass what changed as an "
        f"argument{strict}; see `What the cache cannot see`."
    )


def _parts(divergence: "programs.Divergence") -> str:
    place, *texts = divergence.place, divergence.old, divergence.new
    old, new = (text.replace("\n", "\n    ") for text in texts)
    return f"  They part in {place}:\n    version: {old}\n    fresh:   {new}"


def _cause(request: Request, old: TracedCall, fresh: TracedCall) -> str:
    """Say what the version does not watch."""
    missed = list(_missed(old, fresh))
    if missed:
        return (
            f"The fresh trace read what the version does not watch: {_listed(missed)}."
        )
    reads = (*fresh.watch.reads, *captured_reads(request.fun))
    written = list(_written(reads, old, fresh))
    if written:
        return f"It was written into, which is not watched: {_listed(written)}."
    objects = list(_objects(reads))
    held = f"the state of {_listed(objects)}, " if objects else ""
    return (
        f"Both traces read the same names. It may be {held}a computed name, a memo, "
        "a file, the time, or what the function itself wrote."
    )


def _missed(old: TracedCall, fresh: TracedCall) -> Iterator[str]:
    """Yield what the fresh trace read and the version does not watch, with its value.

    Places are told apart by name, as functions that a trace makes are other objects, of
    code that ran in both. What the fresh trace left, it wrote.
    """
    more = Counter(fresh.watch.names) - Counter(old.watch.names)
    ran = {id(code) for code, _ in old.findings.ran.codes}
    for read, name in zip(fresh.watch.reads, fresh.watch.names, strict=True):
        function: Any = getattr(read.place, "function", None)
        is_same = function is not None and id(function.__code__) in ran
        if name in more and not (is_same or read.seen.is_left):
            yield f"{name}, now {shortened(show(read.seen.content))}"


def _written(
    reads: Iterable[Read], old: TracedCall, fresh: TracedCall
) -> Iterator[str]:
    """Yield the arrays by name that the fresh trace captured with other values."""
    before = old.closed.consts
    new = [
        x
        for x in fresh.closed.consts
        if not any(programs.is_same_array(x, y) for y in before)
    ]
    for read in reads:
        value = read.place.get()
        if isinstance(value, np.ndarray) and any(
            programs.is_same_array(value.astype(x.dtype), x) for x in new
        ):
            yield f"{read.place} in {read.place.module}"


def _objects(reads: Iterable[Read]) -> Iterator[str]:
    """Yield the names of objects of which no more is watched than their attributes."""
    for read in reads:
        value = read.place.get()
        if read.seen.inside or is_plain_value(value) or type(value) is tuple:
            continue
        if reads_state(layout_of(value)):
            yield f"{read.place} in {read.place.module}"


def _listed(texts: list[str]) -> str:
    rest = f"; and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else ""
    return f"{'; '.join(texts[:_SHOWN])}{rest}"

"""Tracing while other threads run: until one trace sees one state.

What the code of a trace writes is an effect of it; what another thread writes meanwhile
makes the trace one of a state that never was as a whole, and it is made again. What no
code that ran can have written was another's; what it can have written may have been, if
another thread ran: then what each of two traces writes is their own.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from imprint.calls.key import Pending
from imprint.calls.options import JitOptions
from imprint.calls.signature import Call
from imprint.calls.tracing import TracedCall, trace_call
from imprint.core.aval import get_aval
from imprint.core.source import warn
from imprint.definition.share import (
    Snapshot,
    counts_of,
    effects_of,
    likewise,
    read_definition,
    written_places,
)
from imprint.definition.walk import NO_EFFECTS, Effects
from imprint.record import beside as threads_beside
from imprint.record import probe
from imprint.static.exact import read_static
from imprint.versions.definitions import Definition
from imprint.versions.fresh import count_trace
from imprint.watch.captures import captured_code, captured_names
from imprint.watch.places import Key, Place
from imprint.watch.written import written_by

_TRIES: Final = 4
_DISTURBED: Final = (
    "{name}: expected what it reads to stay as it is while it is traced, got {places} "
    f"changed by another thread in each of {_TRIES} traces. What was compiled may answer "
    "for a state that never was. Pass what changes as an argument, or trace before the "
    "thread starts: {name}.lower(...)."
)


class Request(NamedTuple):
    """A call that needs a trace or a version of a function."""

    fun: Callable[..., Any]
    options: JitOptions
    definition: Definition
    pending: Pending

    @property
    def name(self) -> str:
        """The name of the function."""
        return self.definition.signature.function_name


class Done(NamedTuple):
    """A trace, and what it did.

    Args:
        traced: the trace.
        effects: what it wrote into what the function captures, and each static argument.
        unread: the places that were probed and that it did not read.
        is_of_another: whether another thread changed what the function captures, which
            makes another function of it.
    """

    traced: TracedCall
    effects: list[Effects]
    unread: Mapping[Key, Place]
    is_of_another: bool


def trace_undisturbed(request: Request, places: list[Place], *, strict: bool) -> Done:
    """Trace a function until it sees one state, which no other thread changes meanwhile.

    What the code that ran cannot have changed, another thread did. What it can have
    changed may be another thread's too, if one ran: what each trace changes is its own.
    """
    fun, options, definition, (_, leaves, call) = request
    avals = [get_aval(x) for x in leaves]
    known, tries = written_by(fun), 0
    mark, changed = known.mark(), frozenset[Any]()
    first: list[Snapshot] = []
    earlier: list[Effects] = []
    code = captured_code(fun)
    while True:
        tries += 1
        count_trace()
        beside = threads_beside.Beside()
        held = _read(fun, call, strict=strict)
        names = captured_names(fun)  # of what it does not capture yet nobody else knows
        first = first or held
        earlier = earlier or [NO_EFFECTS] * len(held)
        with probe.Probes(places) as probes:
            traced = trace_call(
                *(fun, definition.signature, call, avals),
                "jit" if options.filtered is None else "filter_jit",
                strict=strict,
            )
        after = _read(fun, call, strict=strict)
        effects = [*map(effects_of, held, after)]
        disturbed = _disturbed(traced, effects, names)
        counts = [*map(counts_of, held, after)]
        before, changed = changed, _unsure(traced, effects, counts, names)
        is_quiet = not disturbed and (changed <= before or not beside.ran())
        if is_quiet or tries == _TRIES:
            if disturbed:
                warn(_DISTURBED.format(name=request.name, places=disturbed))
            ours = written_places(effects[0])
            moved = written_places(effects_of(first[0], after[0])) - ours
            is_same = not moved and (
                not traced.is_told_apart
                or [*map(id, captured_code(fun))] == [*map(id, code)]
            )
            done = [*map(likewise, earlier, effects)]
            return Done(traced, done, probes.unread, is_of_another=not is_same)
        earlier = [a | b for a, b in zip(earlier, effects, strict=True)]
        known.reset(mark)


def _disturbed(
    traced: TracedCall, effects: list[Effects], names: Mapping[int, set[str]]
) -> str:
    """Return which places something else than the trace changed meanwhile."""
    found = list(traced.findings.disturbed)
    writes = traced.findings.writes
    if not writes.may_change(effects[0], names):
        found.append("what it captures")
    if not all(writes.may_change(written, {}) for written in effects[1:]):
        found.append("a static argument")
    return ", ".join(found)


def _unsure(
    traced: TracedCall,
    effects: list[Effects],
    counts: list[Effects],
    names: Mapping[int, set[str]],
) -> frozenset[Any]:
    """Return what the trace may have changed, but for the counts that its code keeps.

    So functions that count their traces are traced once, whatever runs beside them.
    """
    findings = traced.findings
    sure = findings.writes.own_counts(frozenset[Any]().union(*counts), names)
    left = [written_places(written - sure) for written in effects]
    return findings.changed.union(*left)


def _read(fun: Callable[..., Any], call: Call, *, strict: bool) -> list[Snapshot]:
    """Read what a trace may write: the function, then its static arguments."""
    static = zip(call.static, call.form.static_names, strict=True)
    return [
        read_definition(fun, strict=strict),
        *(read_static(value, name) for value, name in static),
    ]

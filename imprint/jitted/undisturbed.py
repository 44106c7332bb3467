"""Tracing while other threads run: until one trace sees one state.

What the code of a trace writes is an effect of it; what another thread writes meanwhile
makes the trace one of a state that never was as a whole, and it is made again. What no
code that ran can have written was another's; what it can have written may have been, if
another thread ran: then what each of two traces writes is their own.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, final

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
from imprint.definition.token import Token
from imprint.definition.walk import NO_EFFECTS, Effects
from imprint.record import beside as threads_beside
from imprint.record import probe
from imprint.static.exact import read_static
from imprint.versions.definitions import DEFINITIONS, Definition
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


@final
class Asked:
    """What a function was when a call asked for its definition, and what the call wrote.

    A call may trace more than once: for all sizes and for its own, or to find out whether
    an old version still answers. All its traces are kept under that one definition.

    Args:
        token: the token of the function.
    """

    __slots__ = ("_code", "_first", "_is_late", "_ours", "_token")

    def __init__(self, token: Token | None) -> None:
        self._token: Token | None = token
        self._first: Snapshot | None = None
        self._code: tuple[object, ...] = ()
        self._ours: frozenset[Any] = frozenset()
        self._is_late: bool = False

    def begin(
        self, request: "Request", held: Snapshot, beside: "threads_beside.Beside"
    ) -> None:
        """Note, before the first trace, what the function captures.

        Args:
            request: the call.
            held: what it captures.
            beside: the other threads, of which one may have made it another since.
        """
        if self._first is not None:
            return
        self._first, self._code = held, captured_code(request.fun)
        if beside.are_any:
            strict = request.options.strict
            token = DEFINITIONS.token_of(request.fun, strict=strict)
            self._is_late = token is not self._token

    def is_another(
        self, fun: Callable[..., Any], after: Snapshot, own: Effects, *, code: bool
    ) -> bool:
        """Tell, after a trace, whether something else than traces made it another function.

        Args:
            fun: the function.
            after: what it captures now.
            own: what the trace wrote of it.
            code: whether what it captures to be called counts by identity.
        """
        self._ours |= written_places(own)
        if self._is_late or self._first is None:
            return True
        moved = written_places(effects_of(self._first, after)) - self._ours
        return bool(moved) or (code and not self._has_code_of(fun))

    def _has_code_of(self, fun: Callable[..., Any]) -> bool:
        return [*map(id, captured_code(fun))] == [*map(id, self._code)]


class Request(NamedTuple):
    """A call that needs a trace or a version of a function."""

    fun: Callable[..., Any]
    options: JitOptions
    definition: Definition
    pending: Pending
    asked: Asked

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
    fun, options, definition, (_, leaves, call), asked = request
    avals = [get_aval(x) for x in leaves]
    known, tries = written_by(fun), 0
    mark, changed = known.mark(), frozenset[Any]()
    earlier: list[Effects] = []
    while True:
        tries += 1
        count_trace()
        beside = threads_beside.Beside()
        held = _read(fun, call, strict=strict)
        asked.begin(request, held[0], beside)
        names = captured_names(fun)  # of what it does not capture yet nobody else knows
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
            done = [*map(likewise, earlier, effects)]
            is_another = asked.is_another(
                fun, after[0], effects[0], code=traced.is_told_apart
            )
            return Done(traced, done, probes.unread, is_of_another=is_another)
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

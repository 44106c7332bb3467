"""Warm start: a version that another process has traced and compiled.

1. Before a trace, the store is asked for what was kept of an equal call (`manifest`). If
   all that the trace read is as it was, the program is loaded, and nothing is traced.
2. After a trace, it is kept for other processes, or the version says why it cannot be.
3. While audits are on, what was found is traced all the same, and the programs compared.
A version that started warm watches what its trace watched. Its jaxpr and its text are
made when somebody asks for them.
"""

import time
import weakref
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final, NamedTuple, Protocol, final

from imprint.calls.home import Home, home_of_call
from imprint.calls.key import CallKey
from imprint.calls.options import JitOptions
from imprint.calls.results import Results
from imprint.calls.spread import layout_of_call, spread_home
from imprint.calls.tracing import TracedCall, trace_call
from imprint.config import config, settings
from imprint.core.aval import ShapedArray, get_aval
from imprint.core.jaxpr import ClosedJaxpr
from imprint.core.trace import current_trace
from imprint.errors import ArgumentError, StaleVersionError
from imprint.explain.explanation import Explanation
from imprint.jitted.undisturbed import Request
from imprint.manifest.late import LateJaxpr, LateProgram
from imprint.manifest.manifest import (
    Asked,
    Found,
    Plain,
    Question,
    ask,
    found,
    keep,
    noted,
)
from imprint.manifest.placed import spread_of
from imprint.manifest.refused import Refused
from imprint.program.layout import Layout
from imprint.program.lowered import LoweredProgram
from imprint.program.persisted import loaded_program, program_key
from imprint.program.program import Program, const_buffers
from imprint.runtime import CompileOptions, Place
from imprint.store.current import current
from imprint.store.store import Store
from imprint.versions.fresh import count_trace, fresh_traces, is_fresh
from imprint.versions.version import Version


class _Lower(Protocol):
    def __call__(
        self,
        traced: TracedCall,
        name: str,
        options: JitOptions,
        *,
        layout: Layout | None,
    ) -> LoweredProgram: ...


@final
class WarmStart:
    """One call that needs a version, and the store.

    Args:
        request: the call.
        trace: traces it.
        lower: lowers a trace.
    """

    def __init__(
        self, request: Request, trace: Callable[[Request], TracedCall], lower: _Lower
    ) -> None:
        self._request = request
        self._trace = trace
        self._lower = lower
        self._store: Store | None = None
        self._asked: Asked | None = None
        self._reason = "the store is off"
        self._why = ""
        self._is_noted = False
        self._noted: Plain | None = None
        try:
            self._ask()
        except Refused as err:
            self._reason: str = str(err)

    def _ask(self) -> None:
        request = self._request
        if not request.options.persist:
            self._reason = "its jit has persist=False"
            return
        if is_fresh() or current_trace() is not None:
            return
        if config.check_tracer_leaks:
            self._reason = "check_tracer_leaks is about traces"
            return
        self._store = store = current()
        key = CallKey.unpack(request.pending.key)
        if store is None or key.axes:
            return
        self._question = Question(
            *(request.fun, request.name, request.options, request.pending.call),
            *(key.form, key.settings, key.avals),
        )
        self._asked: Asked | None = ask(self._question)

    # ---- 1. before a trace ----

    def version(self) -> Version | None:
        """Return the version of what was kept; None if nothing fits."""
        store, asked = self._store, self._asked
        if store is None or asked is None:
            return None
        start = time.perf_counter()
        there = found(store, asked)
        version = None if there is None else self._made(store, asked, there, start)
        if version is not None and there is not None and settings().audit:
            self._audit(version, there)
        return version

    def _made(
        self, store: Store, asked: Asked, there: Found, start: float
    ) -> Version | None:
        name, options = self._request.name, self._request.options
        traced = self._traced(asked, there)
        module = self._module(traced, there)
        avals = self._avals()
        one: Home | None = None
        if module.spread is None:
            one = home_of_call(name, options, traced, avals, module.kept)
            place: Place = one.device
        else:
            place = module.spread.partition
        chosen = options.compile.over(module.options)
        key = bytes.fromhex(there.plain["program"])
        loaded = loaded_program(store, key, module.out_avals, chosen, place)
        if loaded is None:
            return None
        program = Program(
            *(loaded.executable, const_buffers(module, loaded.executable)),
            *(module.kept, module.out_avals, module, chosen),
            *(time.perf_counter() - start, "disk", loaded.stored, key),
        )
        version = Version(traced, program, name, one or spread_home(program, avals))
        version.restarts = "without a trace"
        return version

    def _avals(self) -> list[ShapedArray]:
        return [get_aval(x) for x in self._request.pending.leaves]

    def _module(self, traced: TracedCall, there: Found) -> LateProgram:
        """Return what was lowered, whose text is written when somebody asks."""
        plain, request = there.plain, self._request
        name, options, lower, avals = (
            *(request.name, request.options, self._lower, self._avals()),
        )
        known = LoweredProgram(
            *("", there.consts, tuple(plain["kept"]), there.avals("ins")),
            *(there.avals("outs"), tuple(plain["donated"]), (), None),
            *(CompileOptions.of(dict(plain["options"])), plain["equations"]),
            *(0.0, (), (), spread_of(plain["spread"])),
        )

        def written() -> LoweredProgram:
            layout = layout_of_call(name, options, traced, avals)
            return lower(traced, name, options, layout=layout)

        return LateProgram.of(known, written, plain["text_bytes"])

    def _traced(self, asked: Asked, there: Found) -> TracedCall:
        request, in_tree = self._request, asked.in_tree
        call = request.pending.call
        avals = tuple(aval.unplaced() for aval in self._avals())
        signature, name = request.definition.signature, request.name
        transform = "jit" if request.options.filtered is None else "filter_jit"
        fun = _weakly(request.fun)
        blank = call._replace(dynamic=in_tree.unflatten([0] * in_tree.num_leaves))

        def make() -> ClosedJaxpr:
            function, watched = fun(), traced()
            if function is None or watched is None or not watched.holds():
                raise ArgumentError(
                    f"{name}: expected what it reads to be as it was when it started "
                    "from the disk, got another: nobody has traced its program. Ask "
                    "before that changes, or with IMPRINT_CACHE=off."
                )
            count_trace()
            return trace_call(function, signature, blank, avals, transform).closed

        closed = LateJaxpr(
            make, avals, there.avals("outs"), there.plain["own_equations"]
        )
        made = TracedCall(
            *(closed, (in_tree, Results(there.out_tree, {}))),
            *(call.form, 0.0, there.findings),
        )
        traced = weakref.ref(made)
        return made

    def differs(self) -> str:
        """Return why nothing fits: the first difference, or why nothing is there."""
        store, asked = self._store, self._asked
        if store is None or asked is None:
            return self._reason
        from imprint.manifest.differs import difference  # noqa: PLC0415 - few ask why

        return difference(store, self._question, asked) or NOTHING

    def compare(self) -> None:
        """Work out why nothing fits, if somebody wants to know: a trace writes anew."""
        if STARTS:
            self._why = self.differs()

    def tell(self, version: Version) -> None:
        """Tell whoever wants to know how a version came about."""
        for listener in STARTS:
            listener(Start(version, self._request.fun, self._why))

    @property
    def is_there(self) -> bool:
        """Whether the disk has what answers the call, as far as was asked of it."""
        store, asked = self._store, self._asked
        return (
            store is not None and asked is not None and found(store, asked) is not None
        )

    # ---- 2. after a trace ----

    def keep(self, version: Version) -> None:
        """Keep what a version was made of, or let it say why not."""
        try:
            self._keep(version)
        except Refused as err:
            self._reason = str(err)
        version.restarts = (
            f"with a trace: {self._reason}" if self._reason else "without a trace"
        )

    def _keep(self, version: Version) -> None:
        store, asked, program = self._store, self._asked, version.program
        if store is None or asked is None:
            return
        unkept = self._unkept(store)
        if unkept:
            self._reason = unkept
            return
        if not program.stored.startswith(("stored", "another program")):
            self._reason = program.stored
            return
        if program.module.unusable:
            self._reason = "a donated argument has no result to take its memory"
            return
        if not program.key:
            key = program_key(program.module, program.options, version.home.device)
            program = program._replace(key=key)
        self._note(version.traced, program.module)
        if self._noted is not None:
            keep(store, self._question, asked, self._noted, program.key)
            self._reason = ""

    def note(self, traced: TracedCall, module: LoweredProgram) -> None:
        """Note what a trace read, as long as it is as it was, to be kept later."""
        try:
            self._note(traced, module)
        except Refused as err:
            self._reason = str(err)

    def _note(self, traced: TracedCall, module: LoweredProgram) -> None:
        store, asked = self._store, self._asked
        if store is None or asked is None or self._is_noted:
            return
        self._is_noted = True
        if not self._unkept(store):
            self._noted = noted(store, asked, traced, module)

    def _unkept(self, store: Store) -> str:
        """Return why nothing may be kept; "" if it may."""
        if not store.writes:
            return "the store is only read"
        if self._request.definition.signature.effects:
            return "tracing it writes into its static arguments"
        return ""

    # ---- 3. audits ----

    def _audit(self, version: Version, there: Found) -> None:
        """Raise StaleVersionError unless a fresh trace gives the program that was found."""
        request, program = self._request, version.program
        with fresh_traces():
            fresh = self._trace(request)
        name, options = request.name, request.options
        layout = layout_of_call(name, options, fresh, self._avals())
        module = self._lower(fresh, name, options, layout=layout)
        key = program_key(module, program.options, program.executable.device)
        if key != program.key:
            known = {read.place.key for read in there.reads}
            missed = [
                str(read.place)
                for read in fresh.watch.reads
                if read.place.key not in known
            ]
            listed = ", ".join(missed) or "nothing that the version does not watch"
            assumed = ", ".join(there.plain["declared"]["assumed"])
            report = (
                f"It was assumed of {assumed} that it reads its arguments alone: if that "
                "is not so, leave out assume_pure. Else please report it"
            )
            raise StaleVersionError(
                f"{request.name}: expected the program on the disk to be what a fresh "
                f"trace gives, got another.\n  The fresh trace read: {listed}.\n  "
                f"{report if assumed else 'Please report it'}; `imprint cache clear` lets "
                "go of what is on the disk.",
                cached=f"the program {program.key.hex()}",
                fresh=str(fresh.closed),
            )
        closed: Any = version.traced.closed
        closed.know(fresh.closed)


NOTHING: Final = "nothing of it is on the disk"


class Start(NamedTuple):
    """How a version came about.

    Args:
        version: the version.
        fun: its function.
        why: why it did not start warm; "" if it did.
    """

    version: Version
    fun: Callable[..., Any]
    why: str


STARTS: Final[list[Callable[[Start], None]]] = []
"""Who is told how each version came about; why costs a look through the store."""


def with_disk(
    told: Explanation, request: Request, answering: Version | None
) -> Explanation:
    """Return an explanation with how a new process would start with the call.

    Args:
        told: what is known of the versions in memory.
        request: the call.
        answering: the version that answers it.
    """
    if answering is not None:
        restarts = answering.restarts
        reason = restarts.removeprefix("with a trace: ")
        is_warm = reason == "without a trace"
        how = f"starts {reason}" if is_warm else f"traces it: {reason}"
        return replace(told, disk=f"A new process {how}.")
    nobody: Any = None  # traces: it is only looked for
    start = WarmStart(request, nobody, nobody)
    if start.is_there:
        return replace(told, disk="the disk has its program.", is_kept=True)
    return replace(told, disk=f"The disk does not answer it: {start.differs()}.")


def _weakly(fun: Any) -> Callable[[], Any]:
    """Return what gives a function as long as somebody has it."""
    try:
        return weakref.ref(fun)
    except TypeError:
        return lambda: fun

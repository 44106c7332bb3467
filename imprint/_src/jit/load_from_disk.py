"""Warm start: a version that another process has traced and compiled.

1. Before a trace, the store is asked for what was kept of an equal call (`manifest`). If
   all that the trace read is as it was, the program is loaded, and nothing is traced.
2. After a trace, it is kept for other processes, or the version says why it cannot be.
3. While audits are on, what was found is traced all the same, and the programs compared.
A version that started warm watches what its trace watched. Its jaxpr and its text are
made when somebody asks for them.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final, NamedTuple, final

from imprint._src.config import config, settings
from imprint._src.core.aval import get_aval
from imprint._src.core.trace import current_trace
from imprint._src.errors import StaleVersionError
from imprint._src.jit.calls.key import CallKey
from imprint._src.jit.calls.sharded_call import layout_of_call
from imprint._src.jit.calls.tracing import TracedCall
from imprint._src.jit.compilation.lowered import LoweredProgram
from imprint._src.jit.compilation.program_cache import program_key
from imprint._src.jit.disk_cache.current import current
from imprint._src.jit.disk_cache.store import Store
from imprint._src.jit.explain.explanation import Explanation
from imprint._src.jit.lazy_version import Lower, late_traced, loaded_version
from imprint._src.jit.manifest.not_cacheable import Refused
from imprint._src.jit.manifest.trace_manifest import (
    Asked,
    Bucket,
    Found,
    Plain,
    Question,
    ask,
    found,
    keep,
    noted,
)
from imprint._src.jit.request import Request
from imprint._src.jit.versions.audit_scope import fresh_traces, is_fresh
from imprint._src.jit.versions.version import Version


class There(NamedTuple):
    """What was kept of a call.

    Args:
        store: where it is.
        asked: the call.
        found: it.
    """

    store: Store
    asked: Asked
    found: Found


@final
class WarmStart:
    """One call that needs a version, and the store.

    Args:
        request: the call.
        trace: traces it.
        lower: lowers a trace.
        bucket: in which its sizes are, if they have names.
        fits: whether what was kept for the bucket is for its sizes.
    """

    def __init__(
        self,
        request: Request,
        trace: Callable[[Request], TracedCall],
        lower: Lower,
        bucket: Bucket | None = None,
        fits: Callable[[Plain], bool] = bool,
    ) -> None:
        self._request = request
        self._trace = trace
        self._lower = lower
        self._bucket = bucket
        self._fits = fits
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
        bucket = self._bucket
        avals = key.avals if bucket is None else bucket.avals
        self._question = Question(
            *(request.fun, request.name, request.options, request.pending.call),
            *(key.form, key.settings, avals, bucket),
        )
        self._asked: Asked | None = ask(self._question)

    # ---- 1. before a trace ----

    def version(self) -> Version | None:
        """Return the version of what was kept; None if nothing fits."""
        there = self.there()
        if there is None:
            return None
        store, asked, kept = there
        traced = late_traced(self._request, asked, kept)
        version = loaded_version(store, self._request, traced, kept, self._lower)
        if version is not None and settings().audit:
            self._audit(version, kept)
        return version

    def there(self) -> There | None:
        """Return what was kept that fits, and holds; None if nothing does."""
        store, asked = self._store, self._asked
        if store is None or asked is None:
            return None
        there = found(store, asked, self._fits)
        return None if there is None else There(store, asked, there)

    def has(self) -> bool:
        """Tell whether something that was kept fits."""
        return self.there() is not None

    def differs(self) -> str:
        """Return why nothing fits: the first difference, or why nothing is there."""
        store, asked = self._store, self._asked
        if store is None or asked is None:
            return self._reason
        from imprint._src.jit.manifest.diff import difference  # noqa: PLC0415 - few ask why

        return difference(store, self._question, asked) or NOTHING

    def compare(self) -> None:
        """Work out why nothing fits, if somebody wants to know: a trace writes anew."""
        if STARTS:
            self._why = self.differs()

    def tell(self, version: Version) -> None:
        """Tell whoever wants to know how a version came about."""
        for listener in STARTS:
            listener(Start(version, self._request.fun, self._why))

    # ---- 2. after a trace ----

    def keep(
        self, version: Version, more: Callable[[], Plain] = dict[str, Any]
    ) -> None:
        """Keep what a version was made of, or let it say why not.

        Args:
            version: the version.
            more: gives what else is to be kept, as plain data.
        """
        try:
            self._keep(version, more)
        except Refused as err:
            self._reason = str(err)
        version.restarts = (
            f"with a trace: {self._reason}" if self._reason else "without a trace"
        )

    def _keep(self, version: Version, more: Callable[[], Plain]) -> None:
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
            read = {**self._noted, **more()}
            keep(store, self._question, asked, read, program.key)
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
        return ""

    # ---- 3. audits ----

    def _audit(self, version: Version, there: Found) -> None:
        """Raise StaleVersionError unless a fresh trace gives the program that was found."""
        request, program = self._request, version.program
        with fresh_traces():
            fresh = self._trace(request)
        name, options = request.name, request.options
        avals = [get_aval(x) for x in request.pending.leaves]
        layout = layout_of_call(name, options, fresh, avals)
        module = self._lower(fresh, name, options, layout=layout)
        key = program_key(module, program.options, program.executable.device)
        if key != program.key:
            known = {read.location.key for read in there.dependencies.reads}
            missed = [
                str(read.location)
                for read in fresh.dependencies.reads
                if read.location.key not in known
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
    told: Explanation,
    request: Request,
    answering: Version | None,
    start: WarmStart | None = None,
) -> Explanation:
    """Return an explanation with how a new process would start with the call.

    Args:
        told: what is known of the versions in memory.
        request: the call.
        answering: the version that answers it.
        start: its question to the store, if it is one of its own.
    """
    if answering is not None:
        restarts = answering.restarts
        reason = restarts.removeprefix("with a trace: ")
        is_warm = reason == "without a trace"
        how = f"starts {reason}" if is_warm else f"traces it: {reason}"
        return replace(told, disk=f"A new process {how}.")
    nobody: Any = None  # traces: it is only looked for
    start = start or WarmStart(request, nobody, nobody)
    if start.there() is not None:
        return replace(told, disk="the disk has its program.", is_kept=True)
    return replace(told, disk=f"The disk does not answer it: {start.differs()}.")

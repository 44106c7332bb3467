"""Load a version that another process traced and compiled.

1. Before a trace, look up the entry of an equal call (`manifest`). If its guards hold, the
   program is loaded and nothing is traced.
2. After a trace, store an entry for other processes, or give the version the reason why
   there is none.
3. While audits are on, loaded calls are traced too, and the programs compared.
A loaded version has the guards of the original trace. Its jaxpr is traced and its text
written when they are read, which fails if a guarded location has changed by then.
"""

import time
import weakref
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final, NamedTuple, final

from imprint._src.config import config, settings
from imprint._src.core.aval import get_aval
from imprint._src.core.jaxpr import ClosedJaxpr
from imprint._src.core.trace import current_trace
from imprint._src.errors import ArgumentError, StaleVersionError
from imprint._src.jit.calls.device_assignment import (
    DeviceAssignment,
    call_assignment,
    layout_of_call,
    sharded_assignment,
)
from imprint._src.jit.calls.key import CallKey
from imprint._src.jit.calls.signature import Call
from imprint._src.jit.calls.tracing import Results, TracedCall, trace_call
from imprint._src.jit.compilation.lowered import LoweredProgram
from imprint._src.jit.compilation.program import Program, const_buffers
from imprint._src.jit.compilation.program_cache import loaded_program, program_key
from imprint._src.jit.compile_steps import lower_traced, trace
from imprint._src.jit.disk_cache.current import current
from imprint._src.jit.disk_cache.store import Store
from imprint._src.jit.explain.explanation import Explanation
from imprint._src.jit.manifest.lazy_program import LateJaxpr, LateProgram
from imprint._src.jit.manifest.not_cacheable import Refused
from imprint._src.jit.manifest.shardings import spread_of
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
from imprint._src.jit.versions.definitions import (
    Request,
    audit_scope,
    count_trace,
    is_auditing,
)
from imprint._src.jit.versions.version import Version
from imprint._src.runtime import CompileOptions, Place

# ---- versions that are loaded and not traced ----


class DiskMatch(NamedTuple):
    """The stored entry of a call.

    Args:
        store: where it is.
        asked: the call.
        found: the entry.
    """

    store: Store
    asked: Asked
    found: Found


def loaded_version(
    match: DiskMatch, request: Request, traced: TracedCall
) -> Version | None:
    """Return the version of a stored entry; None if its program is gone.

    Args:
        match: the stored entry.
        request: the call.
        traced: its trace, which is made when it is read.
    """
    store, _, found = match
    start = time.perf_counter()
    name, options = request.name, request.options
    module = _lazy_module(request, traced, found)
    avals = [get_aval(x) for x in request.pending.leaves]
    one: DeviceAssignment | None = None
    if module.spread is None:
        one = call_assignment(name, options, traced, avals, module.kept)
        place: Place = one.device
    else:
        place = module.spread.partition
    chosen = options.compile.over(module.options)
    key = bytes.fromhex(found.plain["program"])
    loaded = loaded_program(store, key, module.out_avals, chosen, place)
    if loaded is None:
        return None
    program = Program(
        *(loaded.executable, const_buffers(module, loaded.executable)),
        *(module.kept, module.out_avals, module, chosen),
        *(time.perf_counter() - start, "disk", loaded.stored, key),
    )
    version = Version(traced, program, name, one or sharded_assignment(program, avals))
    version.restarts = "without a trace"
    return version


def _lazy_module(request: Request, traced: TracedCall, found: Found) -> LateProgram:
    """Return the lowered program, whose text is written when it is read."""
    plain, name, options = found.plain, request.name, request.options
    avals = [get_aval(x) for x in request.pending.leaves]
    known = LoweredProgram(
        *("", found.consts, tuple(plain["kept"]), found.avals("ins")),
        *(found.avals("outs"), tuple(plain["donated"]), (), None),
        *(CompileOptions.of(dict(plain["options"])), plain["equations"]),
        *(0.0, (), (), spread_of(plain["spread"])),
    )

    def written() -> LoweredProgram:
        layout = layout_of_call(name, options, traced, avals)
        return lower_traced(traced, name, options, layout=layout)

    return LateProgram.of(known, written, plain["text_bytes"])


def lazy_traced_call(request: Request, asked: Asked, there: Found) -> TracedCall:
    """Return the trace of a call, which is made when its jaxpr is read."""
    avals = tuple(get_aval(x).unplaced() for x in request.pending.leaves)
    signature = request.definition.signature
    transform = "jit" if request.options.filtered is None else "filter_jit"
    blank = without_leaves(request.pending.call, asked)

    def trace(function: Callable[..., Any]) -> ClosedJaxpr:
        return trace_call(function, signature, blank, avals, transform).closed

    late = LazyTrace(request, trace)
    equations = there.plain["own_equations"]
    closed = LateJaxpr(late, avals, there.avals("outs"), equations)
    trees = asked.in_tree, Results(there.out_tree, {})
    made = TracedCall(closed, trees, blank.spec, 0.0, there.dependencies)
    late.traced = weakref.ref(made)
    return made


def without_leaves(call: Call, asked: Asked) -> Call:
    """Return a call that holds none of its arrays."""
    treedef = asked.in_tree
    return call._replace(dynamic=treedef.unflatten([0] * treedef.num_leaves))


class LazyTrace:
    """Trace a function when its jaxpr is read, as long as its guards hold.

    Args:
        request: a call.
        trace: traces it.

    Attributes:
        traced: a weak reference to the trace that has the jaxpr.
    """

    def __init__(
        self, request: Request, trace: Callable[[Callable[..., Any]], ClosedJaxpr]
    ) -> None:
        self._name = request.name
        self._fun = _weakly(request.fun)
        self._trace = trace
        self.traced: Callable[[], TracedCall | None] = lambda: None

    def __call__(self) -> ClosedJaxpr:
        """Return the jaxpr.

        Raises:
            ArgumentError: a guarded location has changed.
        """
        function, traced = self._fun(), self.traced()
        if function is None or traced is None or not traced.holds():
            raise ArgumentError(
                f"{self._name}: expected what it reads to be as it was when it started "
                "from the disk, got another: nobody has traced its program. Ask "
                "before that changes, or with IMPRINT_CACHE=off."
            )
        count_trace()
        return self._trace(function)


def _weakly(fun: Any) -> Callable[[], Any]:
    """Return a weak reference to a function, or a strong one if there is none."""
    try:
        return weakref.ref(fun)
    except TypeError:
        return lambda: fun


# ---- the disk ----


@final
class DiskLookup:
    """The lookup on disk for one call that needs a version.

    Args:
        request: the call.
        bucket: the bucket of its sizes, if they have names.
        fits: whether an entry for the bucket is for these sizes.

    Attributes:
        found: the loaded version, if there is one.
    """

    def __init__(
        self,
        request: Request,
        bucket: Bucket | None = None,
        fits: Callable[[Plain], bool] = bool,
    ) -> None:
        self._request = request
        self._bucket = bucket
        self._fits = fits
        self._store: Store | None = None
        self._asked: Asked | None = None
        self._reason = "the store is off"
        self._why = ""
        self._is_recorded = False
        self.found: Version | None = None
        self._recorded: Plain | None = None
        try:
            self._ask()
        except Refused as err:
            self._reason: str = str(err)

    def _ask(self) -> None:
        request = self._request
        if not request.options.persist:
            self._reason = "its jit has persist=False"
            return
        if is_auditing() or current_trace() is not None:
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
            *(key.spec, key.settings, avals, bucket),
        )
        self._asked: Asked | None = ask(self._question)

    # ---- 1. before a trace ----

    def version(self) -> Version | None:
        """Return the stored version; None if none fits."""
        match = self.match()
        if match is None:
            return None
        traced = lazy_traced_call(self._request, match.asked, match.found)
        self.found = loaded_version(match, self._request, traced)
        if self.found is not None and settings().audit:
            self._audit(self.found, match.found)
        return self.found

    def match(self) -> DiskMatch | None:
        """Return the entry that fits and whose guards hold; None if there is none."""
        store, asked = self._store, self._asked
        if store is None or asked is None:
            return None
        entry = found(store, asked, self._fits)
        return None if entry is None else DiskMatch(store, asked, entry)

    def difference(self) -> str:
        """Return the first difference from the entries, or why there is no entry."""
        store, asked = self._store, self._asked
        if store is None or asked is None:
            return self._reason
        from imprint._src.jit.manifest.diff import difference  # noqa: PLC0415 - few need it

        return difference(store, self._question, asked) or NOTHING

    def find_difference(self) -> None:
        """Find why no entry fits, if an observer needs it; a trace may overwrite it."""
        if ORIGIN_OBSERVERS:
            self._why = self.difference()

    def notify(self, version: Version) -> None:
        """Notify observers of the origin of a version."""
        for listener in ORIGIN_OBSERVERS:
            listener(VersionOrigin(version, self._request.fun, self._why))

    # ---- 2. after a trace ----

    def store(
        self, version: Version, more: Callable[[], Plain] = dict[str, Any]
    ) -> None:
        """Store how to load a version, or set the reason why not.

        Args:
            version: the version.
            more: returns more data for the entry.
        """
        try:
            self._store_entry(version, more)
        except Refused as err:
            self._reason = str(err)
        version.restarts = (
            f"with a trace: {self._reason}" if self._reason else "without a trace"
        )

    def _store_entry(self, version: Version, more: Callable[[], Plain]) -> None:
        store, asked, program = self._store, self._asked, version.program
        if store is None or asked is None:
            return
        unkept = self._why_read_only(store)
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
            key = program_key(
                program.module, program.options, version.assignment.device
            )
            program = program._replace(key=key)
        self._record_reads(version.traced, program.module)
        if self._recorded is not None:
            read = {**self._recorded, **more()}
            keep(store, self._question, asked, read, program.key)
            self._reason = ""

    def record_reads(self, traced: TracedCall, module: LoweredProgram) -> None:
        """Record the reads of a trace while they are unchanged, to be stored later."""
        try:
            self._record_reads(traced, module)
        except Refused as err:
            self._reason = str(err)

    def _record_reads(self, traced: TracedCall, module: LoweredProgram) -> None:
        store, asked = self._store, self._asked
        if store is None or asked is None or self._is_recorded:
            return
        self._is_recorded = True
        if not self._why_read_only(store):
            self._recorded = noted(store, asked, traced, module)

    def _why_read_only(self, store: Store) -> str:
        """Return why nothing may be stored; "" if it may."""
        if not store.writes:
            return "the store is only read"
        return ""

    # ---- 3. audits ----

    def _audit(self, version: Version, entry: Found) -> None:
        """Raise StaleVersionError unless a fresh trace gives the loaded program."""
        request, program = self._request, version.program
        with audit_scope():
            fresh = trace(request)
        name, options = request.name, request.options
        avals = [get_aval(x) for x in request.pending.leaves]
        layout = layout_of_call(name, options, fresh, avals)
        module = lower_traced(fresh, name, options, layout=layout)
        key = program_key(module, program.options, program.executable.device)
        if key != program.key:
            known = {read.location.key for read in entry.dependencies.reads}
            missed = [
                str(read.location)
                for read in fresh.dependencies.reads
                if read.location.key not in known
            ]
            listed = ", ".join(missed) or "nothing that the version does not watch"
            assumed = ", ".join(entry.plain["declared"]["assumed"])
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


class VersionOrigin(NamedTuple):
    """The origin of a version: loaded or traced.

    Args:
        version: the version.
        fun: its function.
        why: why it did not start warm; "" if it did.
    """

    version: Version
    fun: Callable[..., Any]
    why: str


ORIGIN_OBSERVERS: Final[list[Callable[[VersionOrigin], None]]] = []
"""Callbacks for the origin of each version; the reason costs a scan of the store."""


def add_disk_state(
    explanation: Explanation,
    request: Request,
    answering: Version | None,
    lookup: DiskLookup | None = None,
) -> Explanation:
    """Return an explanation with how a new process would start with the call.

    Args:
        explanation: of the versions in memory.
        request: the call.
        answering: the version that answers it.
        lookup: its lookup on disk; None makes one.
    """
    if answering is not None:
        restarts = answering.restarts
        reason = restarts.removeprefix("with a trace: ")
        is_warm = reason == "without a trace"
        how = f"starts {reason}" if is_warm else f"traces it: {reason}"
        return replace(explanation, disk=f"A new process {how}.")
    lookup = lookup or DiskLookup(request)
    if lookup.match() is not None:
        return replace(explanation, disk="the disk has its program.", is_kept=True)
    return replace(
        explanation, disk=f"The disk does not answer it: {lookup.difference()}."
    )

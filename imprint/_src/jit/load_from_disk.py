"""Warm start: a version that another process has traced and compiled.

1. Before a trace, the store is searched for a manifest of an equal call. If all that the
   trace read is unchanged, the program is loaded, and nothing is traced.
2. After a trace, it is kept for other processes, or the version says why it cannot be.
3. While audits are on, a call that was found is also traced, and the programs compared.
A version that started warm guards what its trace read. Its jaxpr and its text are made
when they are read.
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
from imprint._src.errors import StaleVersionError
from imprint._src.jit.calls.device_assignment import (
    DeviceAssignment,
    call_assignment,
    layout_of_call,
    sharded_assignment,
)
from imprint._src.jit.calls.key import CallKey
from imprint._src.jit.calls.signature import Call
from imprint._src.jit.calls.tracing import TracedCall, trace_call
from imprint._src.jit.compilation.lowered import LoweredProgram
from imprint._src.jit.compilation.program import Program, const_buffers
from imprint._src.jit.compilation.program_cache import load_program, program_key
from imprint._src.jit.compile_steps import lower_traced, trace
from imprint._src.jit.disk_cache.current import current
from imprint._src.jit.disk_cache.store import Store
from imprint._src.jit.explain.explanation import Explanation
from imprint._src.jit.lazy_program import LazyJaxpr, LazyProgram, Retrace
from imprint._src.jit.manifest.not_cacheable import NotCacheable
from imprint._src.jit.manifest.plain_data import deserialize_spread
from imprint._src.jit.manifest.trace_manifest import (
    BucketShape,
    KeyInputs,
    ManifestKey,
    Plain,
    StoredTrace,
    describe_trace,
    find_trace,
    manifest_key,
    write_manifest,
)
from imprint._src.jit.versions.definitions import Request, audit_scope, is_auditing
from imprint._src.jit.versions.version import Version
from imprint._src.runtime import CompileOptions, Place


@final
class DiskLookup:
    """The search for a call on the disk, and the manifest of its trace.

    Args:
        request: the call.
        bucket: the bucket of its sizes, if they have names.
        fits: whether a stored trace is for the sizes of the call.
        off: why the store is not used; "" if it is.

    Attributes:
        found: the version that was loaded.
    """

    def __init__(
        self,
        request: Request,
        bucket: BucketShape | None = None,
        fits: Callable[[Plain], bool] = bool,
        *,
        off: str = "",
    ) -> None:
        self.found: Version | None = None
        self._request = request
        self._fits = fits
        self._traced: TracedCall | None = None
        self._extra: Callable[[], Plain] = dict[str, Any]
        self._store: Store | None = None
        self._key: ManifestKey | None = None
        self._reason = off or "the store is off"
        self._why = ""
        self._trace_fields: Plain | None = None
        self._is_described = False
        if not off:
            try:
                self._open(bucket)
            except NotCacheable as err:
                self._reason = str(err)

    def _open(self, bucket: BucketShape | None) -> None:
        request = self._request
        if not request.options.persist:
            self._reason = "its jit has persist=False"
            return
        if is_auditing() or current_trace() is not None:
            return
        if config.check_tracer_leaks:
            self._reason = "check_tracer_leaks is about traces"
            return
        self._store = current()
        key = CallKey.unpack(request.pending.key)
        if self._store is None or key.axes:
            return
        self._inputs = KeyInputs(
            fun=request.fun,
            name=request.name,
            options=request.options,
            call=request.pending.call,
            form=key.spec,
            settings=key.settings,
            avals=key.avals if bucket is None else bucket.avals,
            bucket=bucket,
        )
        self._key = manifest_key(self._inputs)

    def for_bucket(
        self,
        inside: Request,
        traced: TracedCall,
        stored: StoredTrace | None,
        extra: Callable[[], Plain],
    ) -> "DiskLookup":
        """Return this for the program of a bucket.

        Args:
            inside: the call of the program.
            traced: its padded trace.
            stored: the stored trace of the bucket.
            extra: returns the fields of the bucket, as plain data.
        """
        self._request, self._traced, self._extra = inside, traced, extra
        self.find = lambda: stored
        return self

    # ---- 1. before a trace ----

    def find(self) -> StoredTrace | None:
        """Return the stored trace that fits and holds; None if there is none."""
        if self._store is None or self._key is None:
            return None
        return find_trace(self._store, self._key, self._fits)

    def version(self) -> Version | None:
        """Return the version of a stored trace; None if there is none."""
        stored = self.find()
        if stored is not None:
            traced = self._traced or lazy_trace(self._request, stored)
            self.found = self._load(traced, stored)
        if self.found is None:
            if ORIGIN_OBSERVERS:  # before the trace, which writes the manifest again
                self._why = self.difference()
            return None
        if settings().audit:
            self._audit(self.found, stored)
        return self.found

    def difference(self) -> str:
        """Return the first difference from stored traces, or why there are none."""
        if self._store is None or self._key is None:
            return self._reason
        from imprint._src.jit.manifest.diff import difference  # noqa: PLC0415 - few ask why

        return difference(self._store, self._inputs, self._key) or _NOTHING

    def notify(self, version: Version) -> None:
        """Report the start of a version, which is in its table, to the listeners."""
        for listener in ORIGIN_OBSERVERS:
            listener(VersionOrigin(version, self._request.fun, self._why))

    def _load(self, traced: TracedCall, stored: StoredTrace) -> Version | None:
        """Return the version of a stored trace; None if its program is gone."""
        start = time.perf_counter()
        request = self._request
        name, options = request.name, request.options
        avals = [get_aval(x) for x in request.pending.leaves]

        def lower() -> LoweredProgram:
            layout = layout_of_call(name, options, traced, avals)
            return lower_traced(traced, name, options, layout=layout)

        module = _lazy_program(stored, lower)
        assignment: DeviceAssignment | None = None
        if module.spread is None:
            assignment = call_assignment(name, options, traced, avals, module.kept)
            place: Place = assignment.device
        else:
            place = module.spread.partition
        chosen = options.compile.over(module.options)
        key = bytes.fromhex(stored.plain["program"])
        loaded = load_program(stored.store, key, module.out_avals, chosen, place)
        if loaded is None:
            return None
        program = Program(
            executable=loaded.executable,
            consts=const_buffers(module, loaded.executable),
            kept=module.kept,
            out_avals=module.out_avals,
            module=module,
            options=chosen,
            compile_seconds=time.perf_counter() - start,
            origin=loaded.origin,
            key=key,
        )
        version = Version(
            traced, program, name, assignment or sharded_assignment(program, avals)
        )
        version.trace_reason = ""
        return version

    # ---- 2. after a trace ----

    def describe(self, traced: TracedCall, module: LoweredProgram) -> None:
        """Serialize a trace now, while its dependencies hold, for a later `keep`."""
        try:
            self._describe(traced, module)
        except NotCacheable as err:
            self._reason = str(err)

    def keep(self, version: Version) -> None:
        """Write the manifest of a version, or let the version say why not."""
        if self.found is not None:
            version.trace_reason = self.found.trace_reason
            return
        try:
            self._keep(version)
        except NotCacheable as err:
            self._reason = str(err)
        version.trace_reason = self._reason

    def _describe(self, traced: TracedCall, module: LoweredProgram) -> None:
        store, key = self._store, self._key
        if store is None or key is None or self._is_described or not store.writes:
            return
        self._is_described = True
        self._trace_fields = describe_trace(store, key, traced, module)

    def _keep(self, version: Version) -> None:
        store, key, program = self._store, self._key, version.program
        if store is None or key is None:
            return
        if not store.writes:
            self._reason = "the store is only read"
        elif program.not_stored:
            self._reason = program.stored
        elif program.module.unusable:
            self._reason = "a donated argument has no result to take its memory"
        else:
            self._describe(version.traced, program.module)
            if self._trace_fields is not None:
                device = version.assignment.device
                program_id = program.key or program_key(
                    program.module, program.options, device
                )
                trace = {**self._trace_fields, **self._extra()}
                write_manifest(store, self._inputs, key, trace, program_id)
                self._reason = ""

    # ---- 3. audits ----

    def _audit(self, version: Version, stored: StoredTrace | None) -> None:
        """Raise StaleVersionError unless a fresh trace gives the program that was found."""
        assert stored is not None
        request, program = self._request, version.program
        with audit_scope():
            fresh = trace(request)
        name, options = request.name, request.options
        avals = [get_aval(x) for x in request.pending.leaves]
        layout = layout_of_call(name, options, fresh, avals)
        module = lower_traced(fresh, name, options, layout=layout)
        key = program_key(module, program.options, program.executable.device)
        if key != program.key:
            known = {read.location.key for read in stored.dependencies.reads}
            missed = [
                str(read.location)
                for read in fresh.dependencies.reads
                if read.location.key not in known
            ]
            listed = ", ".join(missed) or "nothing that the version does not watch"
            assumed = ", ".join(stored.plain["declared"]["assumed"])
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


_NOTHING: Final = "nothing of it is on the disk"


# ---- traces and programs that are made on demand ----


def lazy_trace(request: Request, stored: StoredTrace) -> TracedCall:
    """Return the trace of a call, which is made when its jaxpr is read."""
    avals = tuple(get_aval(x).unplaced() for x in request.pending.leaves)
    signature = request.definition.signature
    transform = "jit" if request.options.filtered is None else "filter_jit"
    blank = without_leaves(request.pending.call, stored)

    def trace(function: Callable[..., Any]) -> ClosedJaxpr:
        return trace_call(function, signature, blank, avals, transform).closed

    retrace = Retrace(request.name, request.fun, trace)
    equations = stored.plain["own_equations"]
    closed = LazyJaxpr(retrace, avals, stored.avals("outs"), equations)
    trees = stored.in_tree, stored.results
    made = TracedCall(closed, trees, blank.spec, 0.0, stored.dependencies)
    retrace.traced = weakref.ref(made)
    return made


def without_leaves(call: Call, stored: StoredTrace) -> Call:
    """Return a call that holds none of its arrays."""
    treedef = stored.in_tree
    return call._replace(dynamic=treedef.unflatten([0] * treedef.num_leaves))


def _lazy_program(
    stored: StoredTrace, lower: Callable[[], LoweredProgram]
) -> LazyProgram:
    """Return a lowered program, whose text is written when it is read."""
    plain = stored.plain
    known = LoweredProgram(
        text="",
        consts=stored.consts,
        kept=tuple(plain["kept"]),
        in_avals=stored.avals("ins"),
        out_avals=stored.avals("outs"),
        donated=tuple(plain["donated"]),
        unusable=(),
        sentinels=None,
        options=CompileOptions.of(dict(plain["options"])),
        equations=plain["equations"],
        seconds=0.0,
        callbacks=(),
        changes=(),
        spread=deserialize_spread(plain["spread"]),
    )
    return LazyProgram.of(known, lower, plain["text_bytes"])


# ---- reports ----


class VersionOrigin(NamedTuple):
    """The start of a version.

    Args:
        version: the version.
        fun: its function.
        why: why it did not start warm; "" if it did.
    """

    version: Version
    fun: Callable[..., Any]
    why: str


ORIGIN_OBSERVERS: Final[list[Callable[[VersionOrigin], None]]] = []
"""Listeners to the start of each version; `why` costs a search through the store."""


def explain_restart(
    explanation: Explanation,
    request: Request,
    answering: Version | None,
    start: DiskLookup | None = None,
) -> Explanation:
    """Return an explanation that says how a new process would start with the call.

    Args:
        explanation: the explanation of the versions in memory.
        request: the call.
        answering: the version that is a hit for it.
        start: the search for it, if it is in a bucket.
    """
    if answering is not None:
        reason = answering.trace_reason
        how = f"traces it: {reason}" if reason else "starts without a trace"
        return replace(explanation, disk=f"A new process {how}.")
    start = start or DiskLookup(request)
    if start.find() is not None:
        return replace(explanation, disk="the disk has its program.", is_kept=True)
    difference = start.difference()
    return replace(explanation, disk=f"The disk does not answer it: {difference}.")

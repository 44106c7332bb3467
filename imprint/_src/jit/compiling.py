"""The way from a call without a version to one that answers it.

1. The miss is noted and told to whoever watches, who may refuse it.
2. The function is traced, unless a trace of this kind of call still holds; what the
   trace wrote is learnt, so that it does not count as a change.
3. The jaxpr is lowered and compiled, with sentinels where flags ask for them.
"""

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Final, Protocol

from imprint import tree
from imprint._src.config import config, settings
from imprint._src.core.aval import ShapedArray, get_aval
from imprint._src.core.identity import identity
from imprint._src.core.trace import Tracer
from imprint._src.diagnostics.source import warn
from imprint._src.errors import ArgumentError, CaptureWarning, RecompileError
from imprint._src.jit.calls.device_assignment import Home, home_of_call
from imprint._src.jit.calls.key import PackedKey, Pending, unplaced
from imprint._src.jit.calls.options import JitOptions
from imprint._src.jit.calls.sharded_call import SpreadHome, layout_of_call, spread_home
from imprint._src.jit.calls.signature import Form
from imprint._src.jit.calls.tracing import TracedCall, trace_call
from imprint._src.jit.compilation.counters import COUNTERS
from imprint._src.jit.compilation.donation import Donation
from imprint._src.jit.compilation.layout import Layout
from imprint._src.jit.compilation.lowered import LoweredProgram, lower
from imprint._src.jit.compilation.program import Program, compile_module
from imprint._src.jit.explain.explanation import Explanation, summarize
from imprint._src.jit.fingerprint.content import StrictReader
from imprint._src.jit.fingerprint.static_values import check_equal_hashes
from imprint._src.jit.fingerprint.wording import show
from imprint._src.jit.guards import recording
from imprint._src.jit.manifest.lazy_program import LateJaxpr
from imprint._src.jit.report import explain_miss, loops_told
from imprint._src.jit.request import Request, answer_of_kin
from imprint._src.jit.trace_equality import is_needless
from imprint._src.jit.versions.audit_scope import count_trace, is_fresh, traces_of
from imprint._src.jit.versions.definitions import DEFINITIONS, Definition
from imprint._src.jit.versions.observers import OBSERVERS, Costs
from imprint._src.jit.versions.version import Version


class Starts(Protocol):
    """What looks on the disk for a version, and keeps one there."""

    def has(self) -> bool:
        """Tell whether something that was kept fits."""
        ...

    def version(self) -> Version | None:
        """Return the version of what was kept; None if nothing fits."""
        ...

    def compare(self) -> None:
        """Work out why nothing fits, if somebody wants to know."""
        ...

    def keep(self, version: Version, /) -> None:
        """Keep what a version was made of, or let it say why not."""
        ...

    def tell(self, version: Version, /) -> None:
        """Tell whoever wants to know how a version came about."""
        ...


def compile_version(request: Request, start: Starts | None = None) -> Version:
    """Trace, lower and compile a function for a call that no version answers.

    Args:
        request: the call.
        start: what looks on the disk; made here for all but programs for buckets.
    """
    definition, pending = request.definition, request.pending
    call = pending.call
    for value, name in zip(call.static, call.form.static_names, strict=True):
        check_equal_hashes(value, name)
    if not is_fresh():
        shared = answer_of_kin(request)
        if shared is not None:
            return shared
    miss = explain_miss(request.fun, definition, pending)
    try:
        for observer in list(OBSERVERS):
            observer.missed(miss)
        _check_limit(request, miss)
        version = _make(request, start)
    except BaseException:
        for observer in list(OBSERVERS):
            observer.failed(miss)
        raise
    of_its_key = definition.versions.all_of(pending.key)
    is_late = type(version.traced.closed) is LateJaxpr
    needless = not is_late and is_needless(of_its_key, version)
    costs = version.costs
    advice = loops_told(version) if costs.compile > _SLOW and not is_late else ""
    advice = f"{version.traced.note} {advice}".strip()
    miss = replace(miss, seconds=costs.total, is_needless=needless, advice=advice)
    _tell(request, miss, version, costs)
    if request.options.is_loop or is_late:
        return version
    _warn_captured(request, version.traced)
    if request.options.strict:
        _warn_opaque(request, version.traced)
    return version


_SLOW: Final = 0.25
"""Seconds of compiling after which somebody will want to know what takes so long."""


def _on_disk(request: Request) -> Starts:
    from imprint._src.jit.load_from_disk import WarmStart  # noqa: PLC0415 - with the store, 5 ms of an import

    return WarmStart(request, trace, lower_traced)


def _make(request: Request, start: Starts | None) -> Version:
    """Trace, lower and compile; the version is in its table when it is returned."""
    options, pending = request.options, request.pending
    start = start or _on_disk(request)
    version = start.version()
    if version is not None:
        _entered(request, version, pending.key)
        start.tell(version)
        return version
    start.compare()
    traced = trace_for_all(request)
    flags = settings()
    avals = [get_aval(x) for x in pending.leaves]
    module = lower_traced(
        *(traced, request.name, options),
        nans=flags.debug_nans,
        infinities=flags.debug_infs,
        layout=layout_of_call(request.name, options, traced, avals),
    )
    program, home = compile_lowered(module, request.name, options, traced, avals)
    version = Version(traced, program, request.name, home, module.sentinels)
    start.keep(version)
    _entered(request, version, pending.key)
    start.tell(version)
    return version


def _entered(request: Request, version: Version, key: PackedKey) -> None:
    """Put a version into its table, and let functions that are re-created find it."""
    definition, kin = request.definition, request.definition.kin
    version.stand_in(definition.versions, key)
    if is_fresh():
        return
    for old in (*definition.versions.all_of(key), *kin.versions.all_of(key)):
        if old is not version and old.is_lost():
            old.drop()
    kin.keep_version(version, key)


def _note_miss(definition: Definition, miss: Explanation) -> None:
    definition.last_miss = definition.kin.last_miss = miss
    COUNTERS.misses += 1
    COUNTERS.needless += miss.is_needless
    if config.explain_misses:
        _log("%s", miss)


def _tell(request: Request, miss: Explanation, version: Version, costs: Costs) -> None:
    """Tell whoever wants to know of a new version, which is in its table by now."""
    definition = request.definition
    if config.log_compiles:
        _log(_COMPILED, *version.figures())
    _note_miss(definition, miss)
    for observer in list(OBSERVERS):
        observer.compiled(miss, costs)
    family = DEFINITIONS.family_of(request.fun, definition)
    if not version.traced.hidden:  # buckets are few, and asked for
        family.note(request.fun, definition, miss)


def _log(text: str, *values: object) -> None:
    import logging  # noqa: PLC0415 - 2 ms of each import, and few processes log

    logging.getLogger("imprint").warning(text, *values)


_COMPILED: Final = (
    "compiled %s: %d equations, traced in %.3f s, lowered in %.3f s, compiled in %.3f s"
)


# ---- trace ----


def trace_for_all(request: Request) -> TracedCall:
    """Trace a function for a call; once for all sizes of axes that have names."""
    if request.options.abstracted_axes is None and request.definition.sized is None:
        return trace(request)
    from imprint._src.jit.bucketing.symbolic_traces import traced_at  # noqa: PLC0415 - few functions name axes

    def trace_at(pending: Pending) -> TracedCall:
        return trace(request._replace(pending=pending))

    return traced_at(request.fun, request.definition, request.pending, trace_at)


def trace_for_sizes(request: Request) -> TracedCall:
    """Return the trace of a call that a program for a bucket answers, at its sizes."""
    from imprint._src.jit.bucketing.symbolic_traces import traced_for_sizes  # noqa: PLC0415 - few functions name axes

    def trace_at(pending: Pending) -> TracedCall:
        return trace(request._replace(pending=pending))

    return traced_for_sizes(request.fun, request.definition, request.pending, trace_at)


def trace_nested(request: Request) -> TracedCall:
    """Trace a function for a call under a trace, whose sizes are the caller's."""
    if request.options.abstracted_axes is not None:
        from imprint._src.jit.bucketing.symbolic_traces import check  # noqa: PLC0415 - few functions name axes

        check(request.definition, request.pending)
    return trace(request)


def trace(request: Request) -> TracedCall:
    """Trace a function for a call, unless a trace of this call signature still holds."""
    fun, options, definition, (placed, leaves, call) = request
    strict = options.strict or recording.is_strict()
    kind = unplaced(placed)
    key: Hashable = kind if strict is options.strict else (kind, "strict")
    table = traces_of(definition)
    traced = table.find(key)
    if traced is not None and traced.dependencies.calls_static:
        roots = request.roots  # a key does not tell equal functions apart
        traced = traced if traced.dependencies.is_of(roots) else None
    if traced is None and not is_fresh():
        traced = definition.kin.trace(key, request.roots)
        if traced is not None:
            table.put(key, traced)
    if traced is not None:
        recording.include(traced.dependencies, request.roots)
        return traced
    count_trace()
    traced = trace_call(
        *(fun, definition.signature, call, [get_aval(x) for x in leaves]),
        "jit" if options.filtered is None else "filter_jit",
        strict=strict,
    )
    options.shardings_of_arguments(traced.in_tree)  # raises if it is no prefix of it
    options.shardings_of_results(traced.out_tree)
    definition.learn(traced.dependencies.written)
    if not any(isinstance(c, Tracer) for c in traced.closed.consts):
        for old in table.all_of(key):
            if old.dependencies.is_lost():
                table.drop(old)
        table.put(key, traced)
        if table is definition.traced:
            definition.kin.keep_trace(traced, key, table)
    return traced


# ---- lower ----


def lower_traced(
    traced: TracedCall,
    name: str,
    options: JitOptions,
    *,
    nans: bool = False,
    infinities: bool = False,
    layout: Layout | None = None,
) -> LoweredProgram:
    """Lower a traced call.

    Args:
        traced: the call.
        name: the function's.
        options: how it is compiled.
        nans: whether flags say where a NaN was made.
        infinities: whether they say where an infinity was made.
        layout: how it is spread over devices; None on one.
    """
    module = lower(
        traced.closed,
        f"jit_{name}",
        keep_unused=options.keep_unused,
        donated=donated_leaves(traced.form, traced.in_tree),
        nans=nans,
        infinities=infinities,
        layout=layout,
    )
    if layout is not None and module.callbacks:
        raise ArgumentError(
            f"{name}: expected a program without callbacks over several devices, got one "
            f"over {layout.mesh}. Call it on one device, or leave the callbacks out."
        )
    unusable = module.unusable
    quiet = options.filtered is not None and options.filtered.is_quiet
    if unusable and (options.strict or not quiet):
        report_unusable(name, traced.leaf_names(), unusable, strict=options.strict)
    return module


def compile_lowered(
    module: LoweredProgram,
    name: str,
    options: JitOptions,
    traced: TracedCall,
    avals: Sequence[ShapedArray],
) -> tuple[Program, Home | SpreadHome]:
    """Compile a lowered call; return where it runs, too.

    Args:
        module: the program.
        name: the function's.
        options: how it is compiled.
        traced: the call.
        avals: those of the leaves of the arguments, with their placements.
    """
    if module.spread is not None:
        program = compile_module(module, options.compile, persist=options.persist)
        return program, spread_home(program, avals)
    home = home_of_call(name, options, traced, avals, module.kept)
    device, persist = home.device, options.persist
    return compile_module(module, options.compile, device, persist=persist), home


def donated_leaves(form: Form, treedef: tree.TreeDef) -> Donation:
    """Return which leaves of a call's dynamic values are donated."""
    if not any(form.donated):
        return frozenset()
    donated: list[int] = []
    for i, path in enumerate(treedef.paths()):
        if form.donated[getattr(path[0], "idx", 0)]:
            donated.append(i)
    return frozenset(donated)


def report_unusable(
    name: str, names: list[str], unusable: tuple[tuple[int, str], ...], *, strict: bool
) -> None:
    """Warn about donated arguments whose memory no result can take."""
    listed = "; ".join(f"argument {names[i]} ({reason})" for i, reason in unusable)
    text = (
        f"{name}: expected each donated argument to have a result of its shape and "
        f"dtype, got none for {listed}. It is kept as it is; do not donate it."
    )
    if strict:
        raise ArgumentError(text)
    warn(text)


# ---- limits ----


def _warn_captured(request: Request, traced: TracedCall) -> None:
    """Warn about large captured arrays, once a function and place of use."""
    closed = traced.closed
    family = DEFINITIONS.family_of(request.fun, request.definition)
    for var in closed.jaxpr.constvars:
        aval = var.aval
        if aval.size * aval.dtype.itemsize < _LARGE:
            continue
        users = (e.source for e in closed.eqns if any(v is var for v in e.invars))
        site = next(users, None)
        if (site, aval) not in family.captured:
            family.captured.add((site, aval))
            used = "" if site is None else f", used at {site}, `{site.expression}`"
            warn(
                f"{request.name}: expected large arrays as arguments, got the captured "
                f"array {aval} ({aval.size * aval.dtype.itemsize / 2**20:.1f} MiB){used}. "
                "It was copied when the function was traced: what is written into it "
                "later has no effect. Pass it as an argument.",
                CaptureWarning,
            )


_LARGE: Final = 1 << 20  # bytes


def _warn_opaque(request: Request, traced: TracedCall) -> None:
    """Warn about what a strict function reads and could not be looked into, once."""
    reads = traced.dependencies.reads
    seen = [(str(read.location), read.location.get()) for read in reads]
    found: dict[str, None] = {}
    for place, value in (*seen, ("what it captures", request.fun)):
        walk = StrictReader()
        walk.value(value)
        found |= dict.fromkeys(f"{show(identity(x))} in {place}" for x in walk.opaque)
    family = DEFINITIONS.family_of(request.fun, request.definition)
    new = [text for text in found if text not in family.captured]
    family.captured.update(new)
    if new:
        warn(
            f"{request.name}: expected values that strict=True can look into, got "
            f"{', '.join(new)}. What changes in it will go unseen: pass what you need of "
            "it as an argument.",
            CaptureWarning,
        )


def _because(miss: Explanation) -> str:
    """Return the first differences of a miss, to stand in a sentence."""
    shown, _ = summarize(miss.differences)
    return f": {shown}" if shown else ""


def _check_limit(request: Request, miss: Explanation) -> None:
    limit = request.options.max_versions
    definition = request.definition
    versions = definition.versions
    if limit is None or len(versions) < limit:
        return
    text = (
        f"{request.name}: expected at most {limit} version{'s' * (limit != 1)} "
        f"(max_versions), got a call that needs one more{_because(miss)}. Make its "
        "arguments alike (shapes, dtypes, static values), or raise the limit."
    )
    if request.options.on_limit == "error":
        raise RecompileError(text, explanation=miss)
    oldest = next((v for v in versions if not v.pinned), None)
    if oldest is None:
        warn(f"{text} All are pinned, so none was dropped.")
        return
    warn(f"{text} The oldest version was dropped.")
    oldest.drop(f"max_versions={limit}")
    definition.traced.drop(oldest.traced)
    definition.kin.drop(oldest.traced)

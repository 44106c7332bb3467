"""The way from a call without a version to one that answers it.

1. The miss is noted and told to whoever watches, who may refuse it.
2. The function is traced, unless a trace of this kind of call still holds; what the
   trace wrote is learnt, so that it does not count as a change.
3. The jaxpr is lowered and compiled, with sentinels where flags ask for them.
"""

import time
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final, Protocol

from imprint import tree
from imprint.calls.home import Home, home_of_call
from imprint.calls.key import CallKey, PackedKey, Pending, static_tokens, unplaced
from imprint.calls.options import JitOptions
from imprint.calls.signature import Form
from imprint.calls.spread import SpreadHome, layout_of_call, spread_home
from imprint.calls.tracing import TracedCall, held_by
from imprint.config import config, settings
from imprint.core.aval import ShapedArray, get_aval
from imprint.core.identity import identity
from imprint.core.source import warn
from imprint.core.trace import Tracer
from imprint.definition.state import StrictWalk
from imprint.definition.walk import Effects
from imprint.definition.wording import show
from imprint.errors import ArgumentError, CaptureWarning, RecompileError
from imprint.explain.explanation import Compared, Explanation, told
from imprint.jitted.report import explain_miss, is_undecided, loops_told
from imprint.jitted.sameness import LATEST, divergence_of_traces, is_needless
from imprint.jitted.undisturbed import Request, trace_undisturbed
from imprint.manifest.late import LateJaxpr
from imprint.program.counters import COUNTERS
from imprint.program.donation import Donation
from imprint.program.layout import Layout
from imprint.program.lowered import LoweredProgram, lower
from imprint.program.program import Program, compile_module
from imprint.record import recorder
from imprint.static.exact import check_equal_hashes
from imprint.versions.budget import BUDGET
from imprint.versions.definitions import DEFINITIONS, Definition
from imprint.versions.fresh import traces_of
from imprint.versions.observers import OBSERVERS, Costs
from imprint.versions.table import Table
from imprint.versions.version import Version
from imprint.watch.places import Key, Place


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
    miss = explain_miss(request.fun, definition, pending)
    for value, name in zip(call.static, call.form.static_names, strict=True):
        check_equal_hashes(value, name)
    began = time.perf_counter()
    version, start = _renewed(request, start)
    if version is not None:
        _tell_renewed(request, miss, version, time.perf_counter() - began)
        return version
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
    if version.traced.has_drawn:
        _warn_drawn(request)
    if request.options.strict:
        _warn_opaque(request, version.traced)
    return version


_SLOW: Final = 0.25
"""Seconds of compiling after which somebody will want to know what takes so long."""


def _renewed(
    request: Request, start: Starts | None
) -> tuple[Version | None, Starts | None]:
    """Return the version that goes on answering, as what changed is not read.

    Whether it is read a trace tells, unless the disk has a version that holds.
    """
    old = request.definition.versions.all_of(request.pending.key)
    if not is_undecided(old):
        return None, start
    start = start or _on_disk(request)
    if start.has():
        return None, start
    traced = trace_for_all(request)
    return next((v for v in old if v.traced is traced and v.holds()), None), start


def _on_disk(request: Request) -> Starts:
    from imprint.jitted.warm_start import WarmStart  # noqa: PLC0415 - with the store, 5 ms of an import

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
    if traced.is_told_apart:
        request = _settled(request)
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
    if traces_of(request.definition).key_of(traced.whole) is None:
        return version  # another thread made it another function: for this call alone
    start.keep(version)
    _entered(request, version, _key_after(request))
    start.tell(version)
    return version


def _entered(request: Request, version: Version, key: PackedKey) -> None:
    """Put a version into its table."""
    definition = request.definition
    _let_go(definition.versions, key)
    version.at = key
    version.tables.add(definition.versions)
    BUDGET.add(definition.versions, version, version.nbytes)
    definition.versions.put(version.at, version)


def _key_after(request: Request) -> PackedKey:
    """Return the key of a call that was traced.

    The trace may have written into a static argument, or another thread meanwhile. The
    dynamic arguments are as they were: a trace gets them built anew.
    """
    pending = request.pending
    key = CallKey.unpack(pending.key)
    if key.form is None:
        return pending.key
    static = static_tokens(request.definition.signature, pending.call)
    return key._replace(static=static).packed()


def _tell_renewed(
    request: Request, miss: Explanation, version: Version, seconds: float
) -> None:
    """Tell whoever wants to know that a version goes on answering after a trace."""
    definition = request.definition
    every = enumerate(definition.versions)  # another thread may have dropped it
    number = next((i for i, v in every if v is version), None)
    differences = miss.differences if number == miss.nearest else ()
    found = Compared(number, differences)
    miss = replace(miss, hit=True, is_needless=True, compared=found, seconds=seconds)
    _note_miss(definition, miss)
    for observer in list(OBSERVERS):
        observer.renewed(miss)


def _note_miss(definition: Definition, miss: Explanation) -> None:
    definition.last_miss = miss
    COUNTERS.misses += 1
    COUNTERS.needless += miss.is_needless
    if config.explain_misses:
        _log("%s", miss)


def _tell(request: Request, miss: Explanation, version: Version, costs: Costs) -> None:
    """Tell whoever wants to know of a new version, which is in its table by now."""
    definition = request.definition
    if definition.owner is not None:
        DEFINITIONS.keep(version.executable)
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
    from imprint.dynamic.families import traced_at  # noqa: PLC0415 - few functions name axes

    def trace_at(pending: Pending) -> TracedCall:
        return trace(request._replace(pending=pending))

    return traced_at(request.fun, request.definition, request.pending, trace_at)


def trace_for_sizes(request: Request) -> TracedCall:
    """Return the trace of a call that a program for a bucket answers, at its sizes."""
    from imprint.dynamic.families import traced_for_sizes  # noqa: PLC0415 - few functions name axes

    def trace_at(pending: Pending) -> TracedCall:
        return trace(request._replace(pending=pending))

    return traced_for_sizes(request.fun, request.definition, request.pending, trace_at)


def trace_nested(request: Request) -> TracedCall:
    """Trace a function for a call under a trace, whose sizes are the caller's."""
    if request.options.abstracted_axes is not None:
        from imprint.dynamic.families import check  # noqa: PLC0415 - few functions name axes

        check(request.definition, request.pending)
    return trace(request)


def trace(request: Request) -> TracedCall:
    """Trace a function for a call, unless a trace of this kind of call still holds."""
    fun, options, definition, (placed, *_), _ = request
    strict = options.strict or recorder.is_strict()

    def at(packed: PackedKey) -> Hashable:
        kind = unplaced(packed)
        if strict is options.strict:
            return kind
        # What is traced inside a strict function: what it captures counts by content.
        return kind, DEFINITIONS.token_of(fun, strict=True)

    key = at(placed)
    table = traces_of(definition)
    traced = table.find(key)
    if traced is not None:
        held = partial(held_by, request.pending.call)
        recorder.contribute(traced.findings, fun, held)
        return traced
    done = trace_undisturbed(request, _loose(table, key), strict=strict)
    traced = done.traced
    options.shardings_of_arguments(traced.in_tree)  # raises if it is no prefix of it
    options.shardings_of_results(traced.out_tree)
    if done.is_of_another:
        return traced
    _learn(request, done.effects)
    if traced.is_told_apart:
        request = _settled(request)
        definition, table = request.definition, traces_of(request.definition)
    traced = _narrowed(request, traced, table.all_of(key), done.unread)
    if not any(isinstance(c, Tracer) for c in traced.closed.consts):
        if table is definition.traced and table.key_of(traced) is None:
            BUDGET.add(table, traced, traced.nbytes)
        key = at(_key_after(request))
        _let_go(table, key)
        table.put(key, traced)
    return traced


def _let_go(table: Table[Any], key: Hashable) -> None:
    """Drop what read an object that is gone: it never holds again."""
    for old in table.all_of(key):
        if old.is_gone():
            table.drop(old)


def _loose(table: Table[TracedCall], key: Hashable) -> list[Place]:
    """Return places that changed, or are known not to be read in other states."""
    # With names for sizes each trace has a key of its own.
    latest = table.all_of(key)[:LATEST] or [*table][-1:]
    found = {p.key: p for each in latest for p in each.failing()}
    for each in table:
        found |= each.unread
    return [*found.values()]


def _narrowed(
    request: Request,
    traced: TracedCall,
    old: Iterable[TracedCall],
    unread: Mapping[Key, Place],
) -> TracedCall:
    """Watch what a trace read; return an earlier one if it holds then, and is the same."""
    if not unread:
        return traced
    traced.forget(unread)
    for each in old:
        changed = [place.key for place in each.failing()]
        if unread.keys() >= {*changed} and divergence_of_traces(each, traced) is None:
            each.watch_as(traced)
            for version in request.definition.versions:
                if version.traced.whole is each:
                    version.traced.watch = each.watch
                    version.guard = each.watch.guard
            return each
    return traced


def _settled(request: Request) -> Request:
    """Return the request with the definition that the function has after a trace.

    What callbacks hold counts by identity from then on: functions that are equal but for
    that must not find what is compiled.
    """
    fun, options, definition, *_ = request
    if definition.owner is not None:
        return request
    token = DEFINITIONS.token_of(fun, strict=options.strict)
    key, content, owner = DEFINITIONS.identify(fun, token, options, definition)
    found = DEFINITIONS.find(key)
    if owner is not None:
        return request
    DEFINITIONS.holds(key)
    if found is definition:
        return request
    if found is None:
        made = Definition(content, definition.signature, options, None)
        made.family = definition.family
        found = DEFINITIONS.add(key, made)
    return request._replace(definition=found)


def _learn(request: Request, effects: list[Effects]) -> None:
    """Let state that the trace wrote not count from now on."""
    fun, options, definition, *_ = request
    own, *static = effects
    if any(static):
        signature = definition.signature
        signature.effects = signature.effects.union(*static)
    if own:
        DEFINITIONS.learn(fun, definition, options, own)


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


def _warn_drawn(request: Request) -> None:
    """Warn about random numbers of NumPy's in a program, once."""
    family = DEFINITIONS.family_of(request.fun, request.definition)
    if "numpy.random" not in family.captured:
        family.captured.add("numpy.random")
        warn(
            f"{request.name}: expected random numbers of a key, got those that "
            "numpy.random drew while the function was traced: they are constants, the "
            "same in each call. Write imprint.random.normal(key, shape), or the like, "
            "where the key is an argument.",
            CaptureWarning,
        )


def _warn_opaque(request: Request, traced: TracedCall) -> None:
    """Warn about what a strict function reads and could not be looked into, once."""
    seen = [(str(read.place), read.place.get()) for read in traced.watch.reads]
    found: dict[str, None] = {}
    for place, value in (*seen, ("what it captures", request.fun)):
        walk = StrictWalk()
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
    shown, _ = told(miss.differences)
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
    versions.drop(oldest, f"max_versions={limit}")
    definition.traced.drop(oldest.traced)

"""A cache miss: the steps from a call that no version answers to an executable.

`Jitted._cold` finds the definition (1. fingerprint) and computes the key (2. key). Then:
3. Shared versions: reuse the version of a function with an equal fingerprint.
4. Miss: explain it and notify observers; they, or `max_versions`, may refuse it.
5. Disk lookup: load the program of another process if its guards hold. Otherwise:
6. Trace: run the function on tracers; its reads become guards, except what it wrote.
7. Lower: run the passes, write StableHLO.  8. Compile: XLA, or the program cache on disk.
9. Insert: put the version into its table, and an entry on disk.
10. Report: log, count and notify observers; warn about large captured arrays.
"""

from dataclasses import replace
from typing import Final, Protocol

from imprint._src.config import config, settings
from imprint._src.core.aval import get_aval
from imprint._src.core.jaxpr import ClosedJaxpr
from imprint._src.diagnostics.source import warn
from imprint._src.errors import CaptureWarning, RecompileError
from imprint._src.jit.calls.device_assignment import (
    layout_of_call,
)
from imprint._src.jit.calls.tracing import TracedCall, divergence_of_traces
from imprint._src.jit.compilation.counters import COUNTERS
from imprint._src.jit.compilation.lowered import LoweredProgram
from imprint._src.jit.compile_steps import compile_lowered, lower_traced, trace_for_all
from imprint._src.jit.explain.explanation import Explanation, summarize
from imprint._src.jit.fingerprint.static_values import check_equal_hashes
from imprint._src.jit.lazy_program import LazyJaxpr
from imprint._src.jit.report import describe_loops, explain_miss
from imprint._src.jit.versions.definitions import (
    DEFINITIONS,
    Request,
    is_auditing,
    shared_version,
)
from imprint._src.jit.versions.version import OBSERVERS, Version


class VersionLookup(Protocol):
    """A lookup on disk for the version of one call; also stores a new one there."""

    def version(self) -> Version | None:
        """Return the stored version; None if none fits."""
        ...

    def keep(self, version: Version, /) -> None:
        """Store how to load a version, or set the reason why not."""
        ...

    def notify(self, version: Version, /) -> None:
        """Notify the observers of `ORIGIN_OBSERVERS`."""
        ...


def compile_version(request: Request, disk: VersionLookup | None = None) -> Version:
    """Trace, lower and compile a function for a call that no version answers.

    Args:
        request: the call, with its definition and key.
        disk: the lookup on disk; None makes the usual one.
    """
    call = request.pending.call
    for value, name in zip(call.static, call.spec.static_names, strict=True):
        check_equal_hashes(value, name)
    shared = None if is_auditing() else shared_version(request)  # 3.
    if shared is not None:
        return shared
    miss = explain_miss(request)  # 4.
    try:
        for observer in list(OBSERVERS):
            observer.missed(miss)
        _check_limit(request, miss)
        version = _load_or_compile(request, disk or _disk_lookup(request))  # 5. to 9.
    except BaseException:
        for observer in list(OBSERVERS):
            observer.failed(miss)
        raise
    _report(request, miss, version)  # 10.
    return version


def _disk_lookup(request: Request) -> VersionLookup:
    from imprint._src.jit.load_from_disk import DiskLookup  # noqa: PLC0415 - with the store, 5 ms of an import

    return DiskLookup(request)


def _load_or_compile(request: Request, disk: VersionLookup) -> Version:
    """Load a version from disk, or compile one, and insert it into its table."""
    version = disk.version()  # 5.
    if version is None:
        traced = trace_for_all(request)  # 6.
        module = _lower(request, traced)  # 7.
        version = _compile(request, traced, module)  # 8.
        disk.keep(version)  # 9.
    _insert(request, version)
    disk.notify(version)
    return version


def _lower(request: Request, traced: TracedCall) -> LoweredProgram:
    name, options, flags = request.name, request.options, settings()
    avals = [get_aval(x) for x in request.pending.leaves]
    return lower_traced(
        traced,
        name,
        options,
        nans=flags.debug_nans,
        infinities=flags.debug_infs,
        layout=layout_of_call(name, options, traced, avals),
    )


def _compile(request: Request, traced: TracedCall, module: LoweredProgram) -> Version:
    name, options = request.name, request.options
    avals = [get_aval(x) for x in request.pending.leaves]
    program, assignment = compile_lowered(module, name, options, traced, avals)
    return Version(traced, program, name, assignment, module.sentinels)


def _insert(request: Request, version: Version) -> None:
    """Put a version into its table, and let re-created functions find it."""
    definition, key = request.definition, request.pending.key
    shared = definition.shared
    version.insert_into(definition.versions, key)
    if is_auditing():
        return
    for old in (*definition.versions.all_of(key), *shared.versions.all_of(key)):
        if old is not version and old.is_lost():
            old.drop()
    shared.keep_version(version, key)


# ---- 10. report ----


def _report(request: Request, miss: Explanation, version: Version) -> None:
    """Log, count and notify observers of a new version, which is in its table by now."""
    definition, options, costs = request.definition, request.options, version.costs
    is_loaded = type(version.traced.closed) is LazyJaxpr
    advice = describe_loops(version) if costs.compile > _SLOW and not is_loaded else ""
    miss = replace(
        miss,
        seconds=costs.total,
        origin=version.program.origin,
        is_needless=not is_loaded and _is_redundant(request, version),
        advice=f"{version.traced.note} {advice}".strip(),
    )
    if config.log_compiles:
        _log(_LOADED if miss.origin == "disk" else _COMPILED, *version.figures())
    definition.last_miss = definition.shared.last_miss = miss
    COUNTERS.misses += 1
    COUNTERS.needless += miss.is_needless
    if config.explain_misses:
        _log("%s", miss)
    for observer in list(OBSERVERS):
        observer.compiled(miss, costs)
    site = DEFINITIONS.definition_site_of(request.fun, definition)
    if (
        not version.traced.hidden
    ):  # bucket programs are few, and the user asked for them
        site.note(request.fun, definition, miss)
    if options.is_loop or is_loaded:
        return
    _warn_captured(request, version.traced)


_SLOW: Final = 0.25
"""Seconds of compilation from which on the explanation of a miss names its loops."""


def _is_untraced(closed: ClosedJaxpr) -> bool:
    """Return whether a jaxpr was loaded from disk and never traced in this process."""
    return type(closed) is LazyJaxpr and not closed.is_known


def _is_redundant(request: Request, made: Version) -> bool:
    """Return whether a new version is the program of one whose guards failed.

    Then the changed location did not matter, and the miss is reported as redundant.
    """
    older = request.definition.versions.all_of(request.pending.key)[: _COMPARED + 1]
    return any(
        version is not made
        and not _is_untraced(version.traced.closed)
        and divergence_of_traces(version.traced, made.traced) is None
        for version in older
    )


_COMPARED: Final = 8
"""How many versions, the newest, a new version is compared with."""


def _log(text: str, *values: object) -> None:
    import logging  # noqa: PLC0415 - 2 ms of each import, and few processes log

    logging.getLogger("imprint").warning(text, *values)


_COMPILED: Final = (
    "compiled %s: %d equations, traced in %.3f s, lowered in %.3f s, compiled in %.3f s"
)
_LOADED: Final = _COMPILED.replace("compiled", "loaded")


# ---- limits ----


def _warn_captured(request: Request, traced: TracedCall) -> None:
    """Warn about large captured arrays, once a function and place of use."""
    closed = traced.closed
    definition_site = DEFINITIONS.definition_site_of(request.fun, request.definition)
    for var in closed.jaxpr.constvars:
        aval = var.aval
        if aval.size * aval.dtype.itemsize < _LARGE:
            continue
        users = (e.source for e in closed.eqns if any(v is var for v in e.invars))
        site = next(users, None)
        if (site, aval) not in definition_site.captured:
            definition_site.captured.add((site, aval))
            used = "" if site is None else f", used at {site}, `{site.expression}`"
            warn(
                f"{request.name}: expected large arrays as arguments, got the captured "
                f"array {aval} ({aval.size * aval.dtype.itemsize / 2**20:.1f} MiB){used}. "
                "It was copied when the function was traced: what is written into it "
                "later has no effect. Pass it as an argument.",
                CaptureWarning,
            )


_LARGE: Final = 1 << 20  # bytes


def _because(miss: Explanation) -> str:
    """Return the first differences of a miss as the end of a sentence."""
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
    definition.shared.drop(oldest.traced)

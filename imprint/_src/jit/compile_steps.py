"""The steps that turn a call into a program: trace, lower, compile.

`compile_version` puts them in order for a cache miss; `stages` calls them one by one.
Tracing returns an earlier trace of this call signature while its guard holds.
"""

from collections.abc import Hashable, Sequence
from typing import Any

from imprint._src.array import ArrayImpl
from imprint._src.core.aval import ShapedArray, get_aval
from imprint._src.core.trace import Tracer
from imprint._src.diagnostics.source import warn
from imprint._src.errors import ArgumentError
from imprint._src.jit.calls.device_assignment import (
    DeviceAssignment,
    ShardedAssignment,
    call_assignment,
    sharded_assignment,
)
from imprint._src.jit.calls.key import unplaced
from imprint._src.jit.calls.options import JitOptions
from imprint._src.jit.calls.signature import CallSpec
from imprint._src.jit.calls.tracing import (
    TracedCall,
    divergence_of_traces,
    has_callbacks,
    trace_call,
)
from imprint._src.jit.compilation.layout import Donation, Layout
from imprint._src.jit.compilation.lowered import LoweredProgram, lower
from imprint._src.jit.compilation.program import Program, compile_module
from imprint._src.jit.guards import recording
from imprint._src.jit.versions.definitions import (
    Request,
    count_trace,
    is_auditing,
    traces_of,
)
from imprint._src.tree import internal as tree

# ---- trace ----


def trace_for_all(request: Request) -> TracedCall:
    """Trace a function for a call; only once for all sizes of named axes."""
    if (
        request.options.abstracted_axes is None
        and request.definition.size_families is None
    ):
        return trace(request)
    from imprint._src.jit.bucketing.symbolic_traces import traced_at  # noqa: PLC0415 - few functions name axes

    return traced_at(request, trace)


def trace_for_sizes(request: Request) -> TracedCall:
    """Return the trace of a call that a bucket program answers, at its own sizes."""
    from imprint._src.jit.bucketing.symbolic_traces import traced_for_sizes  # noqa: PLC0415 - few functions name axes

    return traced_for_sizes(request, trace)


def trace_nested(request: Request) -> TracedCall:
    """Trace a function for a call inside a trace, whose sizes are those of the caller."""
    if request.options.abstracted_axes is not None:
        from imprint._src.jit.bucketing.symbolic_traces import check_sizes  # noqa: PLC0415 - few functions name axes

        check_sizes(request)
    return trace(request)


def trace(request: Request) -> TracedCall:
    """Trace a function for a call, unless a trace of this call signature still holds."""
    fun, definition, (placed, leaves, call) = request
    options = definition.options
    strict = options.strict or recording.is_strict()
    kind = unplaced(placed)
    key: Hashable = kind if strict is options.strict else (kind, "strict")
    table = traces_of(definition)
    traced = table.find(key)
    if traced is not None and traced.dependencies.calls_static:
        roots = request.roots  # equal static functions have equal keys
        traced = traced if traced.dependencies.is_of(roots) else None
    if traced is None and not is_auditing():
        traced = definition.shared.trace(key, request.roots)
        if traced is not None:
            table.put(key, traced)
    if traced is not None:
        recording.include(traced.dependencies, request.roots)
        return traced
    count_trace()
    traced = trace_call(
        fun,
        definition.signature,
        call,
        [get_aval(x) for x in leaves],
        "jit" if options.filtered is None else "filter_jit",
        strict=strict,
    )
    options.shardings_of_arguments(traced.in_tree)  # raises if it is no prefix of it
    options.shardings_of_results(traced.out_tree)
    _keep_derived(traced, table.all_of(key))
    definition.learn(traced.dependencies.written)
    if not any(isinstance(c, Tracer) for c in traced.closed.consts):
        for old in table.all_of(key):
            if old.dependencies.is_lost():
                table.drop(old)
        table.put(key, traced)
        if table is definition.traced:
            definition.shared.keep_trace(traced, key, table)
    return traced


def _keep_derived(traced: TracedCall, older: Sequence[TracedCall]) -> None:
    """Use the program of an older trace if it is equal, with what is derived from it.

    A rule that counts its calls changes what the function may read. The next call traces
    the function again, but the rule would run for another program only. A program that
    calls back keeps its own functions: equal ones may be edited later.
    """
    for old in older:
        consts = old.closed.consts
        if not old.closed.is_derived or any(map(_is_deleted, consts)):
            continue
        if divergence_of_traces(old, traced) is None:
            if not has_callbacks(old.closed.jaxpr):
                traced.closed = old.closed
            return


def _is_deleted(x: Any) -> bool:
    return type(x) is ArrayImpl and x.is_deleted()


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
        name: of the function.
        options: how it is compiled.
        nans: whether to check for NaN.
        infinities: whether to check for infinity.
        layout: its shardings over several devices; None on one.
    """
    module = lower(
        traced.closed,
        f"jit_{name}",
        keep_unused=options.keep_unused,
        donated=donated_leaves(traced.spec, traced.in_tree),
        nans=nans,
        infinities=infinities,
        layout=layout,
        is_plain=options.compile.is_plain,
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
) -> tuple[Program, DeviceAssignment | ShardedAssignment]:
    """Compile a lowered call; return where it runs, too.

    Args:
        module: the program.
        name: of the function.
        options: how it is compiled.
        traced: the call.
        avals: of the leaves of the arguments, with placements.
    """
    if module.spread is not None:
        program = compile_module(module, options.compile, persist=options.persist)
        return program, sharded_assignment(program, avals)
    assignment = call_assignment(name, options, traced, avals, module.kept)
    device, persist = assignment.device, options.persist
    return compile_module(module, options.compile, device, persist=persist), assignment


def donated_leaves(spec: CallSpec, treedef: tree.TreeDef) -> Donation:
    """Return which leaves of a call's dynamic values are donated."""
    if not any(spec.donated):
        return frozenset()
    donated: list[int] = []
    for i, path in enumerate(treedef.paths()):
        if spec.donated[getattr(path[0], "idx", 0)]:
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

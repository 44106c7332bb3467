"""Trace one call signature of a function to a jaxpr; the structure of its results.

The dynamic arguments are flattened, replaced by tracers and put back among the static
ones. The result is flattened and its leaves are checked. Under `jit` all leaves of a
result are arrays. A `filter_jit` function may return other objects too (functions,
strings, settings of a model): each call returns them as the trace did, like arrays of
float0. Symbolic sizes become arrays.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from types import FunctionType
from typing import Any, Final, cast, final, overload

import numpy as np

from imprint._src.array import ArrayImpl, captured_buffer
from imprint._src.config import settings
from imprint._src.core.array_interop import conversion, shown
from imprint._src.core.aval import ShapedArray, get_aval
from imprint._src.core.dims import is_symbolic
from imprint._src.core.identity import InternalObject, type_name
from imprint._src.core.jaxpr import ClosedJaxpr, Jaxpr, all_eqns
from imprint._src.core.tangents import is_float0, no_values
from imprint._src.core.trace import Tracer
from imprint._src.diagnostics.source import (
    Source,
    current_source,
    inner_source,
    is_library,
)
from imprint._src.errors import ArgumentError
from imprint._src.interpreters import trace_to_jaxpr
from imprint._src.jit.calls.native_trees import unflatten_of
from imprint._src.jit.calls.signature import Call, CallSpec, Signature
from imprint._src.jit.explain import jaxpr_diff
from imprint._src.jit.guards.dependencies import Dependencies
from imprint._src.jit.guards.guard import Guard
from imprint._src.jit.guards.recording import Recording
from imprint._src.primitives.shape import as_value
from imprint._src.tree import internal as tree

# ---- results ----


@final
class Results:
    """The structure of a result, with the leaves that are no arrays.

    Args:
        treedef: the tree of the whole result.
        static: the leaves that are no arrays, by place.
    """

    __slots__ = ("_static", "is_single", "treedef", "unflatten")

    def __init__(self, treedef: tree.TreeDef, static: dict[int, Any]) -> None:
        self.treedef: tree.TreeDef = treedef
        # Each call returns a new set, for example: a change to one is not seen in others.
        self._static = {i: tree.detached(leaf) for i, leaf in static.items()}
        self.is_single: bool = treedef.is_leaf and not static
        """Whether the result is one array."""
        self.unflatten: Callable[[Iterable[Any]], Any] = unflatten_of(treedef)
        """Returns the result with these arrays in it; hot."""
        if static:
            self.unflatten = self._join
        elif treedef.is_flat_tuple:  # put together by itself, 0.3 µs faster
            self.unflatten = tuple
        elif treedef.num_leaves and treedef is tree.structure([0] * treedef.num_leaves):
            self.unflatten = list

    def names(self) -> list[str]:
        """Return the names of the arrays: `[0].weight`."""
        paths = enumerate(self.treedef.paths())
        return [tree.keystr(path) for i, path in paths if i not in self._static]

    def static(self) -> dict[int, Any]:
        """Return the leaves that are no arrays, by place."""
        return self._static.copy()

    def kept(self) -> dict[str, Any]:
        """Return the leaves that are no arrays, by name."""
        paths = self.treedef.paths() if self._static else []
        return {tree.keystr(paths[i]): leaf for i, leaf in self._static.items()}

    def arrays(self, result: Any) -> list[Any]:
        """Return the arrays of a result."""
        leaves = enumerate(tree.leaves(result))
        return [leaf for i, leaf in leaves if i not in self._static]

    def _join(self, arrays: Iterable[Any]) -> Any:
        static, rest = self._static, iter(arrays)
        leaves = [
            tree.detached(static[i]) if i in static else next(rest)
            for i in range(self.treedef.num_leaves)
        ]
        return self.treedef.unflatten(leaves)


def split_result(
    result: Any, is_static: Callable[[object], bool]
) -> tuple[list[Any], Results]:
    """Return the arrays of a result, and its structure."""
    leaves, treedef = tree.flatten(result)
    static = {
        i: leaf for i, leaf in enumerate(leaves) if is_static(leaf) or is_float0(leaf)
    }
    arrays = [
        as_value(leaf) if is_symbolic(leaf) else leaf
        for i, leaf in enumerate(leaves)
        if i not in static
    ]
    return arrays, Results(treedef, static)


def check_results(name: str, outs: Sequence[Any], results: Results) -> None:
    """Raise ArgumentError that names the first invalid result.

    It is neither array nor number; or it is a static leaf that holds a traced array.
    """
    for i, out in enumerate(outs):
        try:
            get_aval(out)
        except TypeError:
            where = results.names()[i]
            raise ArgumentError(
                f"{name}: expected to return arrays and numbers, got {shown(out)} as "
                f"result{where}. {conversion(out, f'result{where}') or _KEEP}"
            ) from None

    for where, kept in results.kept().items():
        if _holds_tracer(kept):
            raise ArgumentError(
                f"{name}: expected results of which each array is a leaf, got "
                f"{shown(kept)} as result{where}, which holds a "
                "traced array and is no pytree. Return the array beside it, or make its "
                "class a node: a Module, or imprint.tree.register_dataclass."
            )


def _holds_tracer(value: Any, depth: int = 3) -> bool:
    """Return whether there is a tracer in a function's closure, or an object's attributes."""
    if isinstance(value, Tracer) or depth == 0:
        return isinstance(value, Tracer)
    held: list[Any] = [*getattr(value, "__dict__", {}).values()]
    if isinstance(value, FunctionType):
        for cell in value.__closure__ or ():
            with suppress(ValueError):  # a variable without a value yet
                held.append(cell.cell_contents)
    elif isinstance(value, partial):
        held += [cast("Any", value).args, value.keywords]
    return any(_holds_tracer(x, depth - 1) for x in tree.leaves(held))


_KEEP: Final = (
    "Return only what the computation gives; keep Python values outside, or use "
    "imprint.filter_jit, which returns them as they are."
)


# ---- a traced call ----


@final
class TracedCall(InternalObject):
    """A function traced for one call signature.

    Args:
        closed: the program.
        in_tree: the tree of the dynamic arguments, a tuple.
        results: the structure of the result.
        spec: which parameters are dynamic, and their names.
        seconds: the time of tracing.
        dependencies: the locations and values it read.

    Attributes:
        guard: the check that these are unchanged.
        conditions: the sizes for which it is valid; printed when needed.
        hidden: the names of its last arguments, which are sizes that imprint adds.
        note: why it is not valid for all sizes, if axes have names.
    """

    __slots__ = (
        *(
            "__weakref__",
            "_whole",
            "closed",
            "conditions",
            "finalizers",
            "spec",
            "guard",
        ),
        *("hidden", "in_tree", "note", "results", "seconds"),
    )

    def __init__(
        self,
        closed: ClosedJaxpr,
        trees: tuple[tree.TreeDef, Results],
        spec: CallSpec,
        seconds: float,
        dependencies: Dependencies,
        guard: Guard | None = None,
    ) -> None:
        self.closed = closed
        self.guard: Guard = Guard(dependencies) if guard is None else guard
        self._whole: TracedCall | None = None
        self.finalizers: object = None  # drops it when a captured array dies
        self.conditions: tuple[object, ...] = ()
        self.hidden: tuple[str, ...] = ()
        self.note: str = ""
        self.in_tree: tree.TreeDef
        self.results: Results
        self.in_tree, self.results = trees
        self.spec = spec
        self.seconds = seconds

    @property
    def dependencies(self) -> Dependencies:
        """The locations and values it read."""
        return self.guard.dependencies

    @property
    def out_tree(self) -> tree.TreeDef:
        """The tree of the result."""
        return self.results.treedef

    @property
    def whole(self) -> "TracedCall":
        """The trace for all sizes that this is at some of them, itself if it is none."""
        return self if self._whole is None else self._whole

    @property
    def given_names(self) -> list[str]:
        """The names of the arguments that users give."""
        return self.spec.leaf_names(self.in_tree)

    @property
    def given_avals(self) -> tuple[ShapedArray, ...]:
        """The avals of the arguments that users give."""
        return (self.whole if self.hidden else self).closed.in_avals

    @property
    def where(self) -> str:
        """The sizes for which it is valid, as a suffix of its description."""
        text = ", ".join(filter(None, map(str, self.conditions)))
        return f" where {text}" if text else ""

    @property
    def nbytes(self) -> int:
        """An estimate of the memory it takes: 2 KB, and 1 KB an equation."""
        return 2000 + 1000 * len(self.closed.eqns)

    def holds(self) -> bool:
        """Return whether the guard holds."""
        return self.guard.holds()

    def rebound(self, dependencies: Dependencies) -> "TracedCall":
        """Return the same trace with the dependencies of another function."""
        trees = self.in_tree, self.results
        made = TracedCall(self.closed, trees, self.spec, self.seconds, dependencies)
        made.conditions, made.hidden, made.note = (
            self.conditions,
            self.hidden,
            self.note,
        )
        return made

    def detached(self) -> "TracedCall":
        """Return the same trace for functions that are re-created; it keeps no array."""
        made = self.rebound(self.dependencies)
        if type(self.closed) is ClosedJaxpr:
            consts = [_detached(x) for x in self.closed.consts]
            made.closed = ClosedJaxpr(self.closed.jaxpr, consts)
        return made

    def at(self, closed: ClosedJaxpr, results: Results, seconds: float) -> "TracedCall":
        """Return this trace for all sizes at given sizes.

        Args:
            closed: its program at these sizes.
            results: the structure of its result.
            seconds: the time of making it.
        """
        trees = self.in_tree, results
        of_whole = self.dependencies, self.guard
        made = TracedCall(closed, trees, self.spec, seconds, *of_whole)
        made._whole = self
        made.conditions = self.conditions
        return made

    def leaf_names(self) -> list[str]:
        """Return the names of the arguments of the jaxpr."""
        return [*self.given_names, *self.hidden]


def divergence_of_traces(
    old: TracedCall, new: TracedCall
) -> "jaxpr_diff.Divergence | None":
    """Return where two traces of one call signature differ; None if they are equal."""
    found = jaxpr_diff.divergence_of(old.closed, new.closed)
    if found is not None:
        return found
    if old.out_tree != new.out_tree:
        return jaxpr_diff.Divergence("the result", str(old.out_tree), str(new.out_tree))
    ours, theirs = old.results.kept(), new.results.kept()
    for name in sorted(ours.keys() | theirs.keys()):
        a, b = ours.get(name, _ARRAY), theirs.get(name, _ARRAY)
        if not jaxpr_diff.is_same_value(a, b):
            return jaxpr_diff.Divergence(f"result{name}", repr(a), repr(b))
    return None


class _AnArray:
    """Stands where a result is an array."""

    def __repr__(self) -> str:
        return "an array"


_ARRAY: Final = _AnArray()


# ---- tracing ----


def trace_call(
    fun: Callable[..., Any],
    signature: Signature,
    call: Call,
    avals: Sequence[ShapedArray],
    transform: str = "jit",
    *,
    strict: bool = False,
) -> TracedCall:
    """Trace `fun` for one call signature.

    Args:
        fun: the function.
        signature: its parameters.
        call: the call, with its static values.
        avals: the avals of the leaves of its dynamic values.
        transform: the name of the transform, for messages.
        strict: whether contents of arrays and objects are guarded too.
    """
    start = time.perf_counter()
    treedef = tree.structure(call.dynamic)
    names = _LeafNames(lambda: call.spec.leaf_names(treedef))
    staged = trace_to_jaxpr.DebugInfo(
        transform, signature.function_name, names, current_source()
    )
    found: list[Results] = []

    def flat(*tracers: Any) -> list[Any]:
        leaves = [no_values(x.shape) if is_float0(x) else x for x in tracers]
        traced = Call(call.spec, treedef.unflatten(leaves), call.static)
        args, kwargs = signature.arguments(traced)
        arrays, results = split_result(fun(*args, **kwargs), signature.is_static_result)
        check_results(signature.function_name, arrays, results)
        found.append(results)
        return arrays

    held = held_by(call, treedef)
    if settings().guards == "off":
        closed = trace_to_jaxpr.stage(flat, avals, staged)
        dependencies = Dependencies.none((fun, *(value for _, value in held)))
    else:
        classes = (call.spec.treedef or treedef).classes()
        with Recording(fun, held, strict=strict, classes=classes) as recording:
            closed = trace_to_jaxpr.stage(flat, avals, staged)
        dependencies = recording.dependencies
        if staged.ended:
            del recording  # it holds objects of the trace, also tracers
    if _is_of_library(fun):
        _mark_inner(closed.jaxpr, staged.site)
    seconds = time.perf_counter() - start
    if has_callbacks(closed.jaxpr):
        dependencies.hold_functions()  # they are called when the program runs
    if staged.ended:
        trace_to_jaxpr.check_leaks_of(staged)
    return TracedCall(closed, (treedef, found[0]), call.spec, seconds, dependencies)


def _is_of_library(fun: Callable[..., Any]) -> bool:
    return type(fun) is FunctionType and is_library(fun.__code__.co_filename)


def _mark_inner(jaxpr: Jaxpr, source: Source | None) -> None:
    """Mark the equations that a function of this package stages by itself.

    Their source is the line of its call. Equations of user code that it calls have others.
    """
    if source is None:
        return
    inner = inner_source(source)
    for eqn in all_eqns(jaxpr):
        if eqn.source == source:
            eqn.source = inner


def has_callbacks(jaxpr: Jaxpr) -> bool:
    """Return whether a program, or one in it, calls back into Python."""
    return any("callback" in eqn.params for eqn in all_eqns(jaxpr))


def _detached(x: Any) -> Any:
    """Return an equal array that user code has no reference to."""
    if type(x) is ArrayImpl:
        return ArrayImpl(x.aval, captured_buffer(x, x.device))
    return x.copy() if type(x) is np.ndarray else x


def held_by(call: Call, treedef: tree.TreeDef | None = None) -> list[tuple[str, Any]]:
    """Return the static values of a call, each with a name.

    Args:
        call: the call.
        treedef: the structure of its dynamic values, if it is known.
    """
    treedef = call.spec.treedef or treedef or tree.structure(call.dynamic)
    held = [(type_name(type(x)), x) for x in treedef.static_data()]
    held += zip(call.spec.static_names, call.static, strict=True)
    return held


@final
class _LeafNames(Sequence[str]):
    """The names of the leaves of a call, computed when a message needs them."""

    def __init__(self, make: Callable[[], list[str]]) -> None:
        self._make = make

    def __len__(self) -> int:
        return len(self._make())

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...
    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        return self._make()[index]

"""Tracing one kind of call of a user's function to a jaxpr.

The dynamic arguments are flattened to leaves, replaced by tracers and put back among
the static ones; the result is flattened and its leaves checked.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any, final, overload

import numpy as np

from imprint import tree
from imprint._src.array import ArrayImpl, buffer_of
from imprint._src.config import settings
from imprint._src.core.aval import ShapedArray
from imprint._src.core.identity import Inner, type_name
from imprint._src.core.jaxpr import ClosedJaxpr, Jaxpr
from imprint._src.core.tangents import is_float0, no_values
from imprint._src.diagnostics.source import current_source
from imprint._src.interpreters import trace_to_jaxpr
from imprint._src.jit.calls.check_args import check_results
from imprint._src.jit.calls.results import Results, split_result
from imprint._src.jit.calls.signature import Call, Form, Signature
from imprint._src.jit.guards.dependencies import Dependencies
from imprint._src.jit.guards.guard import Guard
from imprint._src.jit.guards.recording import Recording


@final
class TracedCall(Inner):
    """A function traced for one kind of call.

    Args:
        closed: the program.
        in_tree: the tree of the dynamic arguments, a tuple.
        results: how its arrays become the result.
        form: which parameters are dynamic, and their names.
        seconds: what tracing took.
        dependencies: what it depends on.

    Attributes:
        guard: whether that is as it was.
        conditions: the sizes for which it is right; their text is made when needed.
        hidden: the names of its last arguments, which are sizes that no user gives.
        note: why it is not right for all sizes, if that was asked for.
    """

    __slots__ = (
        *("__weakref__", "_whole", "closed", "conditions", "ends", "form", "guard"),
        *("hidden", "in_tree", "note", "results", "seconds"),
    )

    def __init__(
        self,
        closed: ClosedJaxpr,
        trees: tuple[tree.TreeDef, Results],
        form: Form,
        seconds: float,
        dependencies: Dependencies,
        guard: Guard | None = None,
    ) -> None:
        self.closed = closed
        self.guard: Guard = Guard(dependencies) if guard is None else guard
        self._whole: TracedCall | None = None
        self.ends: object = None  # what drops it when an array that it was made of dies
        self.conditions: tuple[object, ...] = ()
        self.hidden: tuple[str, ...] = ()
        self.note: str = ""
        self.in_tree: tree.TreeDef
        self.results: Results
        self.in_tree, self.results = trees
        self.form = form
        self.seconds = seconds

    @property
    def dependencies(self) -> Dependencies:
        """What it depends on."""
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
        return self.form.leaf_names(self.in_tree)

    @property
    def given_avals(self) -> tuple[ShapedArray, ...]:
        """The avals of the arguments that users give."""
        return (self.whole if self.hidden else self).closed.in_avals

    @property
    def where(self) -> str:
        """For which sizes it is right, to stand after what it is."""
        text = ", ".join(filter(None, map(str, self.conditions)))
        return f" where {text}" if text else ""

    @property
    def nbytes(self) -> int:
        """An estimate of the memory it takes: 2 KB, and 1 KB an equation."""
        return 2000 + 1000 * len(self.closed.eqns)

    def holds(self) -> bool:
        """Return whether what the trace depends on is as it was."""
        return self.guard.holds()

    def rebound(self, dependencies: Dependencies) -> "TracedCall":
        """Return the same trace with the dependencies of another function."""
        trees = self.in_tree, self.results
        made = TracedCall(self.closed, trees, self.form, self.seconds, dependencies)
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
        """Return what this trace for all sizes is at some of them.

        Args:
            closed: its program at these sizes.
            results: what its arrays become.
            seconds: what making it took.
        """
        trees = self.in_tree, results
        of_whole = self.dependencies, self.guard
        made = TracedCall(closed, trees, self.form, seconds, *of_whole)
        made._whole = self
        made.conditions = self.conditions
        return made

    def leaf_names(self) -> list[str]:
        """Return the names of the arguments of the jaxpr."""
        return [*self.given_names, *self.hidden]


def trace_call(
    fun: Callable[..., Any],
    signature: Signature,
    call: Call,
    avals: Sequence[ShapedArray],
    transform: str = "jit",
    *,
    strict: bool = False,
) -> TracedCall:
    """Trace `fun` for one kind of call.

    Args:
        fun: the user's function.
        signature: its parameters.
        call: the call, whose static values are taken as they are.
        avals: the avals of the leaves of its dynamic values.
        transform: what traces, for messages.
        strict: whether contents of arrays and objects are watched too.
    """
    start = time.perf_counter()
    treedef = tree.structure(call.dynamic)
    names = _Names(lambda: call.form.leaf_names(treedef))
    staged = trace_to_jaxpr.DebugInfo(
        transform, signature.function_name, names, current_source()
    )
    found: list[Results] = []

    def flat(*tracers: Any) -> list[Any]:
        leaves = [no_values(x.shape) if is_float0(x) else x for x in tracers]
        traced = Call(call.form, treedef.unflatten(leaves), call.static)
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
        classes = treedef.classes()
        with Recording(fun, held, strict=strict, classes=classes) as recording:
            closed = trace_to_jaxpr.stage(flat, avals, staged)
        dependencies = recording.dependencies
        if staged.ended:
            del recording  # it holds what the function met, tracers too
    seconds = time.perf_counter() - start
    if _has_callbacks(closed.jaxpr):
        dependencies.hold_functions()  # they are called when the program runs
    if staged.ended:
        trace_to_jaxpr.check_leaks_of(staged)
    return TracedCall(closed, (treedef, found[0]), call.form, seconds, dependencies)


def _has_callbacks(jaxpr: Jaxpr) -> bool:
    """Return whether a program, or one in it, calls back into Python."""
    return any("callback" in eqn.params for eqn in jaxpr.eqns) or any(
        _has_callbacks(body.jaxpr) for body in jaxpr.bodies
    )


def _detached(x: Any) -> Any:
    """Return an equal array, which is no object of the user's."""
    if type(x) is ArrayImpl:
        return ArrayImpl(x.aval, buffer_of(x))
    return x.copy() if type(x) is np.ndarray else x


def held_by(call: Call, treedef: tree.TreeDef | None = None) -> list[tuple[str, Any]]:
    """Return the Python values that a call gives its function, each with a name.

    Args:
        call: it.
        treedef: the structure of its dynamic values, if it is known.
    """
    treedef = call.form.treedef or treedef or tree.structure(call.dynamic)
    held = [(type_name(type(x)), x) for x in treedef.static_data()]
    held += zip(call.form.static_names, call.static, strict=True)
    return held


@final
class _Names(Sequence[str]):
    """The names of a call's leaves, worked out when a message needs them."""

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

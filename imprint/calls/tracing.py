"""Tracing one kind of call of a user's function to a jaxpr.

The dynamic arguments are flattened to leaves, replaced by tracers and put back among
the static ones; the result is flattened and its leaves checked.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, final, overload

from imprint import tree
from imprint.calls.leaves import check_results
from imprint.calls.results import Results, split_result
from imprint.calls.signature import Call, Form, Signature
from imprint.core.aval import ShapedArray
from imprint.core.identity import Inner, type_name
from imprint.core.jaxpr import ClosedJaxpr
from imprint.core.source import current_source
from imprint.core.tangents import is_float0, no_values
from imprint.record import draws, holding, record, recorder
from imprint.transforms import staging
from imprint.watch.guard import Watch
from imprint.watch.places import Key, Place


@final
class TracedCall(Inner):
    """A function traced for one kind of call.

    Args:
        closed: the program.
        in_tree: the tree of the dynamic arguments, a tuple.
        results: how its arrays become the result.
        form: which parameters are dynamic, and their names.
        seconds: what tracing took.
        findings: what it read by name.
        watch: what tells whether that is as it was; None if it is to be made.

    Attributes:
        unread: places that are not watched, as a trace was heard not to read them.
        is_told_apart: whether functions equal to this one are others since it was
            traced: callbacks hold what it captures.
        has_drawn: whether NumPy drew random numbers for it, which are constants.
        conditions: for which sizes it is right; what they print is worked out when asked.
        hidden: the names of its last arguments, which are sizes that no user gives.
        note: why it is not right for all sizes, if somebody wanted it to be.
    """

    __slots__ = (
        *("__weakref__", "closed", "conditions", "findings", "form", "has_drawn"),
        "hidden",
        *("hits", "in_tree", "is_told_apart", "note", "results", "seconds", "unread"),
        *("_whole", "watch"),
    )

    def __init__(
        self,
        closed: ClosedJaxpr,
        trees: tuple[tree.TreeDef, Results],
        form: Form,
        seconds: float,
        findings: "record.Findings",
        watch: Watch | None = None,
    ) -> None:
        self.closed = closed
        self.findings: record.Findings = findings
        self.watch: Watch = Watch(findings.watched) if watch is None else watch
        self.unread: dict[Key, Place] = {}
        self.hits = 0
        self.is_told_apart = False
        self.has_drawn = False
        self._whole: TracedCall | None = None
        self.conditions: tuple[object, ...] = ()
        self.hidden: tuple[str, ...] = ()
        self.note: str = ""
        self.in_tree: tree.TreeDef
        self.results: Results
        self.in_tree, self.results = trees
        self.form = form
        self.seconds = seconds

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
        """Tell whether what the trace read is as it was."""
        return self.watch.holds()

    def is_gone(self) -> bool:
        """Tell whether an object that it read is not alive any more: it never holds."""
        return self.watch.is_gone()

    def failing(self) -> list[Place]:
        """List the watched places that are not as they were."""
        return [read.place for read in self.watch.failing()]

    def forget(self, unread: Mapping[Key, Place]) -> None:
        """Watch no more places that a trace does not read."""
        known = self.findings.reads
        reads = tuple(read for read in known if read.place.key not in unread)
        if len(reads) < len(known):
            self.unread = {**self.unread, **unread}
            self.findings = self.findings._replace(reads=reads)
            self.watch = Watch(self.findings.watched)

    def watch_as(self, other: "TracedCall") -> None:
        """Watch what another trace of the same program read, as things are by now."""
        self.unread = {**self.unread, **other.unread}
        self.findings = self.findings._replace(reads=other.findings.reads)
        self.watch = Watch(self.findings.watched)

    def at(self, closed: ClosedJaxpr, results: Results, seconds: float) -> "TracedCall":
        """Return what this trace for all sizes is at some of them.

        Args:
            closed: its program at these sizes.
            results: what its arrays become.
            seconds: what making it took.
        """
        trees = self.in_tree, results
        of_whole = self.findings, self.watch
        made = TracedCall(closed, trees, self.form, seconds, *of_whole)
        made.unread = self.unread
        made._whole = self
        made.conditions = self.conditions
        made.has_drawn = self.has_drawn
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
    staged = staging.Staged(transform, signature.function_name, names, current_source())
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
    drawn = draws.state_of_draws(fun)
    with recorder.Recording(fun, held, strict=strict) as recording:
        closed = staging.stage(flat, avals, staged)
    seconds = time.perf_counter() - start
    roots = fun, *(value for _, value in held)
    findings, is_told_apart = holding.hold(
        roots, closed.jaxpr, recording.findings, recording.record.codes
    )
    if staged.ended:
        del recording  # it holds what the function met, tracers too
        staging.check_leaks_of(staged)
    traced = TracedCall(closed, (treedef, found[0]), call.form, seconds, findings)
    traced.is_told_apart = is_told_apart
    traced.has_drawn = drawn is not None and draws.state_of_draws(fun) != drawn
    return traced


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

"""Traces with symbolic sizes, and the sizes for which each is valid.

Named axes have symbolic sizes in a trace. If the function branches on a condition of sizes,
the condition takes its value in the traced call, and the trace is valid for the sizes that
give the same values: a `SizeFamily`. Calls with other values make another family. If the
function cannot be traced with symbolic sizes, its family has the reason, and its calls are
traced at their own sizes; so are calls with a size of 0. Families of a definition are found
by the key of the call with names in place of sizes.
"""

import time
import weakref
from collections.abc import Callable, Hashable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from types import FunctionType
from typing import Any, NamedTuple, TypeAlias, cast, final

from imprint._src.config import config
from imprint._src.core.aval import ShapedArray
from imprint._src.core.dims import is_symbolic
from imprint._src.core.shape_struct import ShapeDtypeStruct
from imprint._src.diagnostics.source import Source, raised_source
from imprint._src.dynamic_shapes.decisions import Condition, Decisions, SizeComparison
from imprint._src.dynamic_shapes.expression import SizeScope
from imprint._src.dynamic_shapes.instantiate import instantiate
from imprint._src.errors import ShapeError
from imprint._src.jit.bucketing.infer_axes import LEAST, AxisNames
from imprint._src.jit.calls.axes import AxisEntry, named_shape, sizes_of
from imprint._src.jit.calls.key import CallKey, PackedKey, Pending, unplaced
from imprint._src.jit.calls.tracing import TracedCall
from imprint._src.jit.guards.recording import include
from imprint._src.jit.versions.definitions import (
    Definition,
    Request,
    is_auditing,
    traces_of,
)
from imprint._src.tree import internal as tree

Sizes: TypeAlias = Mapping[str, int]
Trace: TypeAlias = Callable[[Request], TracedCall]


class Refusal(NamedTuple):
    """Why calls are traced at their own sizes.

    Args:
        reason: the error of the trace for all sizes.
        source: the line of user code that raised it.
    """

    reason: str
    source: Source | None

    def __str__(self) -> str:
        line = "" if self.source is None else f"{self.source}, `{self.source.text}`: "
        return f"{line}{self.reason}"


@final
class SizeFamily:
    """The sizes for which one trace is valid.

    Args:
        names: the names, in order.
        asked: the conditions on sizes, with their values.
        key: the key of the trace.
        refusal: why there is no trace for all of them. It is valid while the guard of the
            trace at one size holds.
        most: the largest value of each name; infinite where none is known.

    Attributes:
        condition: for which sizes it is, as it prints: `n > 4`.
        instances: the trace at sizes that have versions of their own.
        is_tried: whether bucket programs may answer calls; False for inferred names until
            the result was compared with that of the program for the size.
        programs: the bucket programs, by bucket.
        unpadded: why there are no bucket programs.
        uneven: why sizes whose bucket devices cannot share have their own programs.
    """

    __slots__ = (
        "asked",
        "condition",
        "instances",
        "is_tried",
        "key",
        "most",
        "names",
        "programs",
        "refusal",
        "refused",
        "uneven",
        "unpadded",
    )

    def __init__(
        self,
        names: tuple[str, ...],
        asked: tuple[SizeComparison, ...],
        key: PackedKey,
        refusal: Refusal | None = None,
        *,
        most: Mapping[str, float],
    ) -> None:
        self.names: tuple[str, ...] = names
        self.asked: tuple[SizeComparison, ...] = asked
        self.condition: Condition = Condition(asked)
        self.key: PackedKey = key
        self.refusal: Refusal | None = refusal
        self.refused: Callable[[], TracedCall | None] = lambda: None
        self.instances: weakref.WeakValueDictionary[Any, TracedCall] = (
            weakref.WeakValueDictionary()
        )
        self.programs: dict[Hashable, Any] = {}
        self.unpadded: str = ""
        self.uneven: dict[tuple[int, ...], str] = {}
        self.is_tried: bool = True
        self.most: Mapping[str, float] = most

    def at_most(self, name: str, n: int) -> int:
        """Return a length, or the longest that a name can be in this family.

        The conditions of a family must be true of its buckets: if the function tested
        `n < 2`, the rules of primitives assume axes of one element.
        """
        return int(min(n, self.most[name]))

    @property
    def why_per_size(self) -> str:
        """Why calls are compiled for their sizes; empty if they are not."""
        return self.unpadded if self.refusal is None else str(self.refusal)

    def refuse(self, refusal: Refusal, plain: TracedCall) -> None:
        """Compile calls by size while the guard of a trace at one size holds."""
        self.refusal = refusal
        self.refused = weakref.ref(plain)

    def is_valid(self, definition: Definition) -> bool:
        """Return whether the guard of its trace, or of that at one size, holds."""
        if self.refusal is None:
            return traces_of(definition).find(self.key) is not None
        plain = self.refused()
        return plain is not None and plain.holds()

    def has(self, sizes: Sizes) -> bool:
        """Return whether its trace is right for some sizes."""
        return all(question.holds_at(sizes) for question in self.asked)


class SizedCall(NamedTuple):
    """A call whose axes have names.

    Args:
        entries: these axes.
        sizes: the size of each name.
        kind: its key with names in the place of sizes.
    """

    entries: tuple[AxisEntry, ...]
    sizes: dict[str, int]
    kind: Hashable


@final
class SizeFamilies:
    """The size families and axis names of one definition."""

    __slots__ = ("_entries", "_families", "_last", "axis_names", "known")

    def __init__(self) -> None:
        self.axis_names: AxisNames = AxisNames()
        self._entries: dict[Hashable, tuple[AxisEntry, ...]] = {}
        self._families: dict[Hashable, tuple[SizeFamily, ...]] = {}
        self._last: tuple[Any, SizedCall | None] = None, None
        self.known: tuple[Any, Any] = (
            None,
            None,
        )  # the last leaves, and their bucket call

    def sized(self, definition: Definition, pending: Pending) -> SizedCall | None:
        """Return a call with names for sizes; None if no axis has a name.

        Raises:
            ShapeError: a name would be two sizes.
        """
        last, sized = self._last
        if last is pending.leaves:
            return sized
        sized = self._sized(definition, pending)
        self._last = pending.leaves, sized
        return sized

    def _sized(self, definition: Definition, pending: Pending) -> SizedCall | None:
        entries = self.entries(definition, pending)
        if not entries:
            return None
        key = CallKey.unpack(pending.key)
        function = definition.signature.function_name

        def called(leaf: int) -> str:
            treedef = tree.structure(pending.call.dynamic)
            return pending.call.spec.leaf_names(treedef)[leaf]

        is_asked = definition.options.abstracted_axes is not None
        try:
            sizes = sizes_of(entries, key.avals, called, function)
        except ShapeError:
            if is_asked:
                raise
            return None  # axes that had the same size until now
        least = 1 if is_asked else LEAST
        if not all(type(n) is int and n >= least for n in sizes.values()):
            return None
        named = [aval.unplaced() for aval in key.avals]
        shapes: list[Hashable] = []
        for i, aval in enumerate(named):
            at = {axis % aval.ndim: name for leaf, axis, name in entries if leaf == i}
            shape = tuple([at.get(axis, n) for axis, n in enumerate(aval.shape)])
            shapes.append((shape, aval.dtype, aval.weak_type))
        kind = *key[:4], key.axes, *shapes
        return SizedCall(entries, sizes, kind)

    def forget(self) -> None:
        """Drop the arrays of the last call."""
        self._last = self.known = None, None

    def entries(
        self, definition: Definition, pending: Pending
    ) -> tuple[AxisEntry, ...]:
        """Return the axes of a call that have names."""
        axes_spec = definition.options.abstracted_axes
        if axes_spec is None:
            is_auto = config.generalise == "auto"
            return self.axis_names.of(pending.key) if is_auto else ()
        spec = pending.call.spec
        at = spec, spec.treedef or tree.structure(pending.call.dynamic)
        found = self._entries.get(at)
        if found is None:
            found = axes_spec.entries(pending.call, definition.signature)
            self._entries[at] = found
        return found

    def find(self, definition: Definition, sized: SizedCall) -> SizeFamily | None:
        """Return the family of a call whose trace holds, or that has none."""
        for family in self._families.get(sized.kind, ()):
            if family.has(sized.sizes) and family.is_valid(definition):
                return family
        return None

    def add(self, definition: Definition, sized: SizedCall, family: SizeFamily) -> None:
        """Keep a family, and forget those whose trace is gone."""
        if is_auditing():
            return
        kept = [
            x
            for x in self._families.get(sized.kind, ())
            if x.refused() or definition.traced.current.get(x.key) is not None
        ]
        self._families[sized.kind] = (family, *kept)

    def of_kind(self, kind: Hashable) -> tuple[SizeFamily, ...]:
        """Return the families of calls of a kind, the newest first."""
        return self._families.get(kind, ())

    def why_per_size(self, definition: Definition, sized: SizedCall | None) -> str:
        """Return why calls of a kind are compiled for their sizes; empty if they are not."""
        found = () if sized is None else self.of_kind(sized.kind)
        told = (
            x.why_per_size for x in found if x.why_per_size and x.is_valid(definition)
        )
        return next(told, "")

    def note_of(self, definition: Definition, sized: SizedCall | None) -> str:
        """Return why a call is compiled for its sizes, as a sentence; "" if it is not."""
        why = self.why_per_size(definition, sized)
        return f"It is traced and compiled for each size: {why}" if why else ""

    def program(self, key: PackedKey) -> Any:
        """Return the bucket program with this key; None if there is none."""
        for families in self._families.values():
            for family in families:
                for program in family.programs.values():
                    if program.key == key:
                        return program
        return None


def size_families(definition: Definition) -> SizeFamilies:
    """Return the size families of a definition."""
    if definition.size_families is None:
        definition.size_families = SizeFamilies()
    return definition.size_families


def check_sizes(request: Request) -> None:
    """Raise ShapeError if a name would be two sizes in a call."""
    size_families(request.definition).sized(request.definition, request.pending)


# ---- tracing ----


def traced_at(request: Request, trace: Trace) -> TracedCall:
    """Return the trace to compile for a call: one for all sizes if possible.

    Calls with unnamed axes are traced as they are, unless the key has a bucket.

    Args:
        request: the call.
        trace: traces a call as it is.
    """
    definition, pending = request.definition, request.pending
    families = size_families(definition)
    program = families.program(pending.key)
    if program is not None:
        return program.traced
    if definition.options.abstracted_axes is not None:
        return traced_for_sizes(request, trace)
    found = trace(request)
    sized = families.sized(definition, pending)
    found.note = families.note_of(definition, sized) or found.note
    return found


def traced_for_sizes(request: Request, trace: Trace) -> TracedCall:
    """Return the trace of a call at its sizes, which is one of all sizes if it can be.

    Args:
        request: the call.
        trace: traces a call as it is.
    """
    definition = request.definition
    sized = size_families(definition).sized(definition, request.pending)
    if sized is None:
        return trace(request)
    family, traced = trace_family(request, sized, trace)
    if traced is None:
        found = trace(request)
        found.conditions = (at_sizes(sized.sizes),)
        found.note = f"It is traced and compiled for each size: {family.refusal}"
        return found
    return instance(family, traced, sized.sizes)


def trace_family(
    request: Request, sized: SizedCall, trace: Trace
) -> tuple[SizeFamily, TracedCall | None]:
    """Return the family of a call and its trace for all sizes, None if there is none."""
    definition = request.definition
    families = size_families(definition)
    family = families.find(definition, sized)
    if family is not None and family.refusal is not None:
        return family, None
    traced = None if family is None else traces_of(definition).find(family.key)
    if family is not None and traced is not None:
        include(traced.dependencies)
        return family, traced
    family, traced = traced_by_names(
        request.pending, sized, lambda at: trace(request._replace(pending=at))
    )
    family.is_tried = definition.options.abstracted_axes is not None
    if family.refusal is not None:  # an error at these sizes too is raised here
        family.refuse(family.refusal, trace(request))
    families.add(definition, sized, family)
    return family, traced


def traced_by_names(
    pending: Pending, sized: SizedCall, trace: Callable[[Pending], TracedCall]
) -> tuple[SizeFamily, TracedCall | None]:
    """Trace a call with names for its sizes; return the family, and no trace if it fails.

    Args:
        pending: the call.
        sized: its sizes.
        trace: traces a call as it is.
    """
    scope = SizeScope()
    decisions = scope.decide = Decisions(scope, sized.sizes)
    packed, avals = key_by_names(pending, sized, scope)
    leaves = [ShapeDtypeStruct.of(aval) for aval in avals]
    refusal: Refusal | None = None
    traced: TracedCall | None = None
    try:
        traced = trace(Pending(packed, [*leaves], pending.call))
    except Exception as err:
        refusal = Refusal(f"{type(err).__name__}: {err}", raised_source(err))
    finally:
        scope.decide = None
    if traced is not None and _keeps_a_size(traced, pending):
        refusal = Refusal("the function returns a size in what is no array", None)
        traced = None
    asked = tuple(decisions.comparisons)
    most = {name: scope.most_of(name) for name in sized.sizes}
    family = SizeFamily(tuple(sized.sizes), asked, packed, refusal, most=most)
    if traced is not None:
        traced.conditions = (family.condition,)
    return family, traced


def key_by_names(
    pending: Pending, sized: SizedCall, scope: SizeScope
) -> tuple[PackedKey, tuple[ShapedArray, ...]]:
    """Return the key of a call with names for its sizes, and its avals."""
    named = {name: scope.name(name) for name in sized.sizes}
    key = CallKey.unpack(unplaced(pending.key))
    avals = tuple(
        [named_shape(a, i, sized.entries, named) for i, a in enumerate(key.avals)]
    )
    return key._replace(avals=avals).packed(), avals


def _keeps_a_size(traced: TracedCall, pending: Pending) -> bool:
    """Return whether a result has a symbolic size outside of its arrays."""
    given = {*map(id, pending.call.static)}
    kept = [x for x in traced.results.kept().values() if id(x) not in given]
    return any(map(holds_size, [*kept, *traced.results.treedef.static_data()]))


def instance(family: SizeFamily, traced: TracedCall, sizes: Sizes) -> TracedCall:
    """Return a trace for all sizes at some of them."""
    key = traced, *sizes.values()
    found = family.instances.get(key)
    if found is None:
        start = time.perf_counter()
        closed = instantiate(traced.closed, sizes)
        found = traced.at(closed, traced.results, time.perf_counter() - start)
        found.conditions = family.condition, at_sizes(sizes)
        why = family.unpadded or family.uneven.get(tuple(sizes.values()))
        if why:
            found.note = f"It is compiled for each size: {why}"
        family.instances[key] = found
    return found


def at_sizes(sizes: Sizes) -> str:
    """Return how sizes print: `n = 4, m = 3`."""
    return ", ".join([f"{name} = {n}" for name, n in sizes.items()])


# ---- sizes in results ----


def holds_size(value: Any, depth: int = 3) -> bool:
    """Return whether there is a size that has a name in a value."""
    if is_symbolic(value):
        return True
    return depth > 0 and any(holds_size(x, depth - 1) for x in _parts(value))


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, tuple | list | set | frozenset):
        return cast("Iterable[Any]", value)
    if isinstance(value, dict):
        return tree.leaves([*cast("dict[Any, Any]", value).items()])
    held: list[Any] = [*getattr(value, "__dict__", {}).values()]
    if isinstance(value, FunctionType):
        held += value.__defaults__ or ()
        for cell in value.__closure__ or ():
            with suppress(ValueError):  # a variable without a value yet
                held.append(cell.cell_contents)
    elif isinstance(value, partial):
        held += [value.args, value.keywords]
    return held

"""Batching: give a function one more axis, without running it more often.

A `BatchTracer` is a value with an axis that the function does not see. The batch rule of a
primitive locates the axis in its results. `batch_jaxpr` derives the batched jaxpr, which
control primitives need; a loop fixes the hidden axes of its carry with `out_dims`.
The axis may have a name; equations refer to it only by that name. The innermost trace of
the name eliminates it: collectives by their rule `collect`, a control primitive whose jaxprs
need it (`axis_names`) by `batch`, in which `batch_jaxpr` sees the name (`hidden_axis`).
"""

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any, Final, final

from imprint._src.config import config
from imprint._src.core.aval import ShapedArray, get_aval
from imprint._src.core.jaxpr import ClosedJaxpr, eval_jaxpr
from imprint._src.core.primitive import CollectivePrimitive, Dims, Primitive
from imprint._src.core.trace import (
    NamedAxes,
    NamedAxis,
    Trace,
    Tracer,
    current_trace,
    process_under,
    tracing,
)
from imprint._src.diagnostics.source import Source
from imprint._src.interpreters.trace_to_jaxpr import (
    DebugInfo,
    check_leaks_outside_jit,
    pvary_operands,
    stage,
)
from imprint._src.primitives.core_ops import broadcast_in_dim, moveaxis
from imprint._src.tree.treedef import register_leaf


@final
class BatchTracer(Tracer):
    """A value and the position of its hidden axis."""

    __slots__ = ("dim", "value")

    def __init__(self, trace: "BatchTrace", value: Any, dim: int) -> None:
        self.owner: Trace = trace
        self.value: Any = value
        self.dim: int = dim
        aval = get_aval(value)
        self.aval: ShapedArray = aval.with_shape(
            aval.shape[:dim] + aval.shape[dim + 1 :]
        )

    @property
    def tag(self) -> object:
        """The tag of its trace."""
        return self._batching().tag

    def origin(self) -> Source | None:
        """Return the source of the batched value."""
        return self.value.origin() if isinstance(self.value, Tracer) else None

    def provenance(self) -> str:
        """Describe that it is mapped, and the origin of the batched value."""
        mapped = f"It is mapped by vmap in {self._batching().name}."
        if isinstance(self.value, Tracer):
            return f"{mapped} {self.value.provenance()}"
        return mapped

    def static_advice(self) -> str:
        """Advise how it could be a Python value."""
        whole = "pass its argument whole (in_axes=None)"
        inner = self.value.static_advice() if isinstance(self.value, Tracer) else ""
        return f"{whole},\n  and {inner}" if inner else whole

    def _batching(self) -> "BatchTrace":
        assert isinstance(self.owner, BatchTrace)
        return self.owner


register_leaf(BatchTracer)


@final
class BatchTrace(Trace):
    """Runs batch rules under the parent trace."""

    __slots__ = ("axis", "name", "parent", "tag")

    def __init__(
        self,
        parent: Trace | None,
        name: str,
        axis: NamedAxis | None,
        tag: object | None = None,
    ) -> None:
        super().__init__()
        self.tag: object = tag or object()
        """What the traces of one hidden axis share: each takes the others' tracers."""
        self.parent: Trace | None = parent
        self.name: str = name
        self.axis: NamedAxis | None = axis
        if axis is not None:
            self.axes: NamedAxes = (
                *(a for a in self.axes if a.name != axis.name),
                axis,
            )

    def process(
        self, primitive: Primitive, operands: tuple[Any, ...], params: dict[str, Any]
    ) -> tuple[Any, ...]:
        """Apply the batch rule of `primitive`."""
        if self.is_checked:
            operands = pvary_operands(self, primitive, operands)
        values, dims = self.split(operands)
        named = self._named_by(primitive, params)
        if named is None and all(d is None for d in dims):
            return process_under(self.parent, primitive, values, params)
        with tracing(self.parent):
            if named is not None and type(primitive) is CollectivePrimitive:
                outs, out_dims = primitive.collect(named.size, values, dims, **params)
            elif self.axis is hidden_axis() and "rule" not in params:  # nearly always
                outs, out_dims = primitive.batch(values, dims, **params)
            else:
                outs, out_dims = _under_name(self, primitive, values, dims, params)
        return self.wrapped(outs, out_dims)

    def _named_by(
        self, primitive: Primitive, params: dict[str, Any]
    ) -> NamedAxis | None:
        named = self.axis
        if named is not None and named.name not in primitive.axis_names_of(params):
            return None
        return named

    def takes(
        self, primitive: Primitive, operands: Sequence[Any], params: dict[str, Any]
    ) -> bool:
        """Return whether an equation depends on the hidden axis."""
        if self._named_by(primitive, params) is not None:
            return True
        return any(d is not None for d in self.split(operands)[1])

    def wrapped(self, values: Sequence[Any], dims: Dims) -> tuple[Any, ...]:
        """Return values with their hidden axes as tracers of this trace."""
        return tuple(
            x if d is None else BatchTracer(self, x, d)
            for x, d in zip(values, dims, strict=True)
        )

    def split(self, values: Sequence[Any]) -> tuple[tuple[Any, ...], Dims]:
        """Return the values and hidden axes; a value of another trace has no hidden axis."""
        mine = [
            isinstance(x, BatchTracer) and (x.owner is self or x.tag is self.tag)
            for x in values
        ]
        return (
            tuple(x.value if m else x for x, m in zip(values, mine, strict=True)),
            tuple(x.dim if m else None for x, m in zip(values, mine, strict=True)),
        )

    def describe(self) -> str:
        """Describe the traced function."""
        return f"{self.name}, traced by vmap"

    def static_advice(self) -> str:
        """Advise how to keep an argument unbatched."""
        return "leave its argument unmapped (in_axes=None)"


_hidden: ContextVar[NamedAxis | None] = ContextVar("imprint_hidden", default=None)
hidden_axis: Final = _hidden.get
"""Return the name and size of the axis that the present `batch` rule hides, if named."""


_tag: ContextVar[object | None] = ContextVar("imprint_batch_tag", default=None)
hidden_tag: Final = _tag.get
"""Return the tag of the trace whose `batch` rule of a call with a rule runs at present."""


def _under_name(
    trace: BatchTrace,
    primitive: Primitive,
    values: Sequence[Any],
    dims: Dims,
    params: dict[str, Any],
) -> tuple[Sequence[Any], Dims]:
    """Batch an equation while `hidden_axis` returns the name of the axis."""
    token, tag_token = _hidden.set(trace.axis), _tag.set(trace.tag)
    try:
        return primitive.batch(values, dims, **params)
    finally:
        _hidden.reset(token)
        _tag.reset(tag_token)


def hidden_size(values: Sequence[Any], dims: Dims) -> int:
    """Return the length of the axis that the present `batch` rule hides.

    An equation that needs the name of the axis is batched even if no operand has it.
    """
    for x, d in zip(values, dims, strict=True):
        if d is not None:
            return get_aval(x).shape[d]
    axis = hidden_axis()
    assert axis is not None, "no operand is batched, and no name is needed"
    return axis.size


def batch_flat(
    fun: Callable[..., Sequence[Any]],
    args: Sequence[Any],
    dims: Dims,
    name: str = "<function>",
    axis: NamedAxis | None = None,
    tag: object | None = None,
) -> tuple[tuple[Any, ...], Dims]:
    """Run `fun` on flat arguments whose hidden axes are `dims`.

    Args:
        fun: takes and returns flat arrays.
        args: its arguments.
        dims: where the hidden axis of each is; None where it has none.
        name: the name of the function in user code, for messages.
        axis: the name of the hidden axis, if collectives may use it.
        tag: that of another trace of the hidden axis, whose tracers `fun` captures.

    Returns:
        The results and their hidden axes; None for a result without one.
    """
    trace = BatchTrace(current_trace(), name, axis, tag)
    tracers = [
        x if d is None else BatchTracer(trace, x, d)
        for x, d in zip(args, dims, strict=True)
    ]
    try:
        with tracing(trace):
            outs = fun(*tracers)
    finally:
        trace.ended = True
    found = trace.split(outs)
    if config.check_tracer_leaks:
        del tracers, outs
        check_leaks_outside_jit(trace)
    return found


def batch_jaxpr(
    closed: ClosedJaxpr, size: int, dims: Dims, *, out_dims: Dims | None = None
) -> tuple[ClosedJaxpr, Dims]:
    """Derive the jaxpr in which argument i has an axis of `size` at `dims[i]`.

    Args:
        closed: the jaxpr of one slice.
        size: the length of the hidden axis.
        dims: where the hidden axis of each argument is; None where it has none.
        out_dims: where the hidden axis of each result shall be, even if it depends on no
            batched argument; None for any position.

    Returns:
        The derived jaxpr and the hidden axis of each of its results.
    """
    demanded = out_dims or (None,) * len(closed.out_avals)
    axis = hidden_axis()

    def derive() -> tuple[ClosedJaxpr, Dims]:
        found: list[Dims] = []

        def run(*args: Any) -> Sequence[Any]:
            outs, came = batch_flat(
                lambda *xs: eval_jaxpr(closed.jaxpr, closed.consts, *xs),
                args,
                dims,
                axis=axis,
            )
            moved = zip(came, demanded, strict=True)
            found.append(tuple(d if to is None else to for d, to in moved))
            return [
                x if to is None else at_axis(x, d, to, size)
                for x, d, to in zip(outs, came, demanded, strict=True)
            ]

        avals = [
            _with_axis(a, size, d) for a, d in zip(closed.in_avals, dims, strict=True)
        ]
        derived = stage(run, avals, DebugInfo("vmap", closed.jaxpr.name))
        return derived, found[0]

    return closed.derived(("batch", size, dims, demanded, axis), derive)


def at_axis(x: Any, dim: int | None, to: int, size: int) -> Any:
    """Return a value with its hidden axis at `to`; one that has none is repeated."""
    if dim is not None:
        return moveaxis(x, dim, to)
    aval = get_aval(x)
    kept = tuple(i for i in range(aval.ndim + 1) if i != to)
    return broadcast_in_dim(x, _with_axis(aval, size, to).shape, kept)


def _with_axis(aval: ShapedArray, size: int, dim: int | None) -> ShapedArray:
    if dim is None:
        return aval
    return aval.with_shape((*aval.shape[:dim], size, *aval.shape[dim:]))

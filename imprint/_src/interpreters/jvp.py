"""Forward-mode differentiation: push tangents along with the computation.

A `JVPTracer` pairs a primal with its tangent. A primitive without a tangent operand runs
under the parent trace at no extra cost. `jvp_jaxpr` derives the jaxpr of primals and
tangents, which control primitives need.
A zero tangent is symbolic and free. But a loop takes back the results of its body, and
branches return the same results, so a derived jaxpr can be asked for zeros as values
(`instantiate`). The tangent of an integer has no values and stays symbolic.
"""

from collections.abc import Callable, Sequence
from typing import Any, final

from imprint._src.config import config
from imprint._src.core.aval import ShapedArray, get_aval
from imprint._src.core.jaxpr import ClosedJaxpr, eval_jaxpr
from imprint._src.core.primitive import Primitive
from imprint._src.core.tangents import Zero, is_zero, tangent_aval, zero_of
from imprint._src.core.trace import (
    Trace,
    Tracer,
    check_alive,
    current_trace,
    process_under,
    tracing,
)
from imprint._src.diagnostics.concretization_hints import current_construct
from imprint._src.diagnostics.source import Source, current_source
from imprint._src.dtypes import is_inexact
from imprint._src.errors import ConcretizationError
from imprint._src.interpreters.trace_to_jaxpr import (
    DebugInfo,
    check_leaks_outside_jit,
    pvary_operands,
    stage,
)
from imprint._src.primitives.core_ops import instantiate
from imprint._src.tree.treedef import register_leaf

Mask = bool | tuple[bool, ...]
"""One answer for each of several values, or the same for all of them."""


def mask_of(demand: Mask, avals: Sequence[ShapedArray]) -> tuple[bool, ...]:
    """Return for each aval whether its tangent is demanded, and has values."""
    every = demand if isinstance(demand, tuple) else (demand,) * len(avals)
    return tuple(
        on and is_inexact(aval.dtype) for on, aval in zip(every, avals, strict=True)
    )


def instantiated(tangents: Sequence[Any], demanded: Sequence[bool]) -> list[Any]:
    """Return the tangents, with values for the zeros that are demanded."""
    return [
        instantiate(t) if on else t for t, on in zip(tangents, demanded, strict=True)
    ]


class PrimalTracer(Tracer):
    """A primal and its tangent; the base of the tracers of differentiation."""

    __slots__ = ("primal", "tangent")

    def __init__(self, trace: Trace, primal: Any, tangent: Any) -> None:
        self.owner: Trace = trace
        self.primal: Any = primal
        self.tangent: Any = tangent
        self.aval: ShapedArray = get_aval(primal)

    def concrete_for(self, user: str, kind: str, remedy: str) -> Any:
        """Return the primal; raise if it is not known."""
        check_alive(self)
        if isinstance(self.primal, Tracer):
            return self.primal.concrete_for(user, kind, remedy)
        return self.primal

    def check_constant(self, user: str) -> None:
        """Raise: a result computed from the value alone would have no derivative."""
        here = current_source()
        text = f" ({here.expression})" if here is not None and here.expression else ""
        place = f" at {here}" if here is not None else ""
        construct = current_construct()
        by = user if construct is None else construct.name
        raise ConcretizationError(
            f"{by} loses the derivative: expected a value without a tangent, got "
            f"tracer {self.aval}{text}{place}.\n"
            f"  {self.provenance()}\n"
            "  Use the function of imprint.numpy (its exp for math.exp, its asarray for\n"
            "  numpy.asarray); if the derivative is not wanted, pass the value through\n"
            "  imprint.lax.stop_gradient first."
        )

    def origin(self) -> Source | None:
        """Return the place that made the primal."""
        return self.primal.origin() if isinstance(self.primal, Tracer) else None

    def provenance(self) -> str:
        """Describe the origin of the primal."""
        if isinstance(self.primal, Tracer):
            return self.primal.provenance()
        return super().provenance()

    def static_advice(self) -> str:
        """Say how the primal would be a value of Python's; empty if it is known."""
        return self.primal.static_advice() if isinstance(self.primal, Tracer) else ""


@final
class JVPTracer(PrimalTracer):
    """A primal and its tangent, both values."""

    __slots__ = ()


register_leaf(JVPTracer)


@final
class JVPTrace(Trace):
    """Evaluates primals and tangents under the parent trace."""

    __slots__ = ("name", "parent")

    def __init__(self, parent: Trace | None, name: str) -> None:
        super().__init__()
        self.parent: Trace | None = parent
        self.name: str = name

    def process(
        self, primitive: Primitive, operands: tuple[Any, ...], params: dict[str, Any]
    ) -> tuple[Any, ...]:
        """Apply the jvp rule of `primitive`."""
        if self.is_checked:
            operands = pvary_operands(self, primitive, operands)
        primals, tangents = self.split(operands)
        if all(map(is_zero, tangents)):
            return process_under(self.parent, primitive, primals, params)
        with tracing(self.parent):
            outs, out_tangents = primitive.jvp(primals, tangents, **params)
        return tuple(
            out if is_zero(t) else JVPTracer(self, out, t)
            for out, t in zip(outs, out_tangents, strict=True)
        )

    def split(self, values: Sequence[Any]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """Return primals and tangents of values that may be tracers of this trace."""
        mine = [isinstance(x, JVPTracer) and x.owner is self for x in values]
        return (
            tuple(x.primal if m else x for x, m in zip(values, mine, strict=True)),
            tuple(
                x.tangent if m else zero_of(get_aval(x))
                for x, m in zip(values, mine, strict=True)
            ),
        )

    def describe(self) -> str:
        """Describe the traced function."""
        return f"{self.name}, traced by jvp"


def jvp_flat(
    fun: Callable[..., Sequence[Any]],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    name: str = "<function>",
) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Run `fun` on flat primals and tangents (some `Zero`).

    Returns:
        The primals out and the tangents out; a tangent may be `Zero`.
    """
    trace = JVPTrace(current_trace(), name)
    args = [
        p if is_zero(t) else JVPTracer(trace, p, t)
        for p, t in zip(primals, tangents, strict=True)
    ]
    try:
        with tracing(trace):
            outs = fun(*args)
    finally:
        trace.ended = True
    found = trace.split(outs)
    if config.check_tracer_leaks:
        del args, outs
        check_leaks_outside_jit(trace)
    return found


def jvp_jaxpr(
    closed: ClosedJaxpr, nonzero: tuple[bool, ...], *, instantiate: Mask = False
) -> tuple[ClosedJaxpr, tuple[bool, ...]]:
    """Derive the jaxpr `(*primals, *nonzero tangents) -> (*outs, *nonzero tangents)`.

    Args:
        closed: the jaxpr of the primal computation.
        nonzero: for each argument, whether it has a tangent.
        instantiate: which results have a tangent even if it is zero; the tangent of an
            integer stays symbolic.

    Returns:
        The derived jaxpr and, for each result, whether it has a tangent.
    """
    demanded = mask_of(instantiate, closed.out_avals)

    def derive() -> tuple[ClosedJaxpr, tuple[bool, ...]]:
        in_avals = closed.in_avals
        out_nonzero: list[bool] = []

        def run(*args: Any) -> list[Any]:
            given = iter(args[len(in_avals) :])
            tangents = [
                next(given) if has else zero_of(a)
                for a, has in zip(in_avals, nonzero, strict=True)
            ]
            outs, symbolic = jvp_flat(
                lambda *xs: eval_jaxpr(closed.jaxpr, closed.consts, *xs),
                args[: len(in_avals)],
                tangents,
            )
            out_tangents = instantiated(symbolic, demanded)
            out_nonzero[:] = [not is_zero(t) for t in out_tangents]
            return [*outs, *(t for t in out_tangents if not is_zero(t))]

        tangent_avals = [
            tangent_aval(a) for a, has in zip(in_avals, nonzero, strict=True) if has
        ]
        debug_info = DebugInfo("jvp", closed.jaxpr.name)
        derived = stage(run, [*in_avals, *tangent_avals], debug_info)
        return derived, tuple(out_nonzero)

    return closed.derived(("jvp", nonzero, demanded), derive)


def merge_zeros(
    avals: Sequence[Any], nonzero: Sequence[bool], tangents: Sequence[Any]
) -> tuple[Any, ...]:
    """Put `Zero` where `nonzero` is False and the given tangents elsewhere."""
    given = iter(tangents)
    return tuple(
        next(given) if has else Zero(tangent_aval(aval))
        for aval, has in zip(avals, nonzero, strict=True)
    )

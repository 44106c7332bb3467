"""Control primitives: those that hold jaxprs, and the rules they have besides.

A `ControlPrimitive` is a `Primitive` that also says how it is split in two by
linearization, narrowed to the results that are used, run outside any trace, watched for
NaN and counted; and which params hold its jaxprs, one or a tuple in each. So a transform
or a pass asks the declaration, and nothing outside `control` knows one by name.
Jaxprs in params have no constants: what a body captured are operands. Shape rules are
cheap here and not remembered: a memo would keep the user's programs alive.
"""

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, NamedTuple, TypeAlias, final

from imprint._src.core.aval import ShapedArray
from imprint._src.core.effects import PURE, Effects
from imprint._src.core.fusion import UNFUSED
from imprint._src.core.jaxpr import ClosedJaxpr, Eqn, Jaxpr, Var
from imprint._src.core.primitive import (
    NO_NAMES,
    Absent,
    Avals,
    AxisNames,
    Params,
    Primitive,
    Rule,
)


class Eager(Enum):
    """How a control primitive runs outside any trace, unless a rule of its own says."""

    INTERPRETED = "by its reference, on the host"
    COMPILED = "as a program, compiled once for each jaxpr"


class Watched(Enum):
    """What `debug_nans` sees of a control primitive, unless a rule of its own says."""

    DISSOLVED = "each equation of its jaxpr, which is applied to the operands"
    AS_ONE = "its results, as those of one equation"


class Unit(Enum):
    """What the jaxprs of a control primitive are to whoever counts programs."""

    PART = "a function of the operands, which Python could call by itself"
    BODY = "pieces of the equation, compiled with it"
    INLINE = "equations of the caller, in its place"


class Narrowed(NamedTuple):
    """What is left of an equation if only some of its results are used.

    Args:
        operands: which operands it still needs.
        results: which results it still has: those that are used, and perhaps more.
        params: the params of what is left.
    """

    operands: tuple[bool, ...]
    results: tuple[bool, ...]
    params: Params


def _nothing(**_: Any) -> AxisNames:
    return NO_NAMES


EagerRule: TypeAlias = Eager | Callable[..., Any]
WatchRule: TypeAlias = Watched | Callable[..., Any]


@final
class ControlPrimitive(Primitive):
    """One operation that holds jaxprs, and all its rules."""

    __slots__ = (
        *("binds", "dce", "eager", "granularity", "held", "linearize", "sentinels"),
    )

    def __init__(  # noqa: PLR0913 - one parameter a rule, none with a default
        self,
        *,
        name: str,
        aval: Rule,
        reference: Rule,
        lower: Rule,
        jvp: Rule,
        linearize: Rule,
        transpose: Rule,
        batch: Rule,
        pad: Rule,
        dce: Rule,
        jaxprs: tuple[str, ...],
        eager: EagerRule,
        sentinels: WatchRule,
        granularity: Unit,
        binds: Callable[..., AxisNames] = _nothing,
    ) -> None:
        """Declare a control primitive; the rules of every primitive are `Primitive`'s.

        Args:
            name: as printed in jaxprs.
            aval: as for every primitive.
            reference: as for every primitive; `control.interpret` runs a body.
            lower: as for every primitive; `transforms.lowering` writes bodies.
            jvp: as for every primitive.
            linearize: `(tangent_trace, primals, tangents, **params) -> (primals_out,
                tangents_out)`: bind the primal, stage the tangent on `tangent_trace`.
            transpose: as for every primitive.
            batch: as for every primitive.
            pad: as for every primitive; `Bucket.body` pads a body.
            dce: `(used, **params) -> Narrowed`, for the results that are used.
            jaxprs: the names of the params that hold a jaxpr, or a tuple of them.
            eager: how it runs outside any trace, or `(*operands, **params) -> results`,
                which binds what is to run.
            sentinels: what `debug_nans` sees of it, or `(watch, eqn, operands)`, which
                returns each result with the index of its flag, as `watch.bind` does.
            granularity: what its jaxprs count as.
            binds: `(**params) -> names` of the axes that its jaxprs are given by it.
        """
        super().__init__(
            name=name,
            aval=aval,
            reference=reference,
            lower=lower,
            fusion=UNFUSED,
            makes_nan=True,
            jvp=jvp,
            transpose=transpose,
            batch=batch,
            pad=pad,
            samples=Absent("its laws draw equations from its guest in tests/laws"),
        )
        self.linearize: Rule = linearize
        self.dce: Rule = dce
        self.held: tuple[str, ...] = jaxprs
        self.eager: EagerRule = eager
        self.sentinels: WatchRule = sentinels
        self.granularity: Unit = granularity
        self.binds: Callable[..., AxisNames] = binds

    def out_avals(self, avals: Avals, params: Mapping[str, Any]) -> Avals:
        """Return the avals of the results."""
        return self.aval(*avals, **params)

    @property
    def is_call(self) -> bool:
        """Whether it does nothing but apply a jaxpr to its operands."""
        return self.granularity is Unit.PART

    def jaxprs(self, params: Mapping[str, Any]) -> tuple[ClosedJaxpr, ...]:
        """Return all jaxprs that the params hold, in the order of the declaration."""
        found: list[ClosedJaxpr] = []
        for name in self.held:
            value = params[name]
            found += (value,) if isinstance(value, ClosedJaxpr) else value
        return tuple(found)

    def effects_of(self, params: Mapping[str, Any]) -> Effects:
        """Return the effects of the jaxprs that the params hold."""
        return PURE.union(*(closed.jaxpr.effects for closed in self.jaxprs(params)))

    def axis_names_of(self, params: Mapping[str, Any]) -> AxisNames:
        """Return the named axes that the jaxprs need that the params hold."""
        held = self.jaxprs(params)
        names = NO_NAMES.union(*(closed.jaxpr.axis_names for closed in held))
        return names - self.binds(**params) if names else names

    def with_jaxprs(self, params: Params, jaxprs: tuple[ClosedJaxpr, ...]) -> Params:
        """Return the params with other jaxprs, which take and return the same avals.

        Args:
            params: those of an equation.
            jaxprs: one in the place of each that `jaxprs` returns.
        """
        rest = iter(jaxprs)
        changed: Params = {
            name: next(rest)
            if isinstance(params[name], ClosedJaxpr)
            else tuple(next(rest) for _ in params[name])
            for name in self.held
        }
        assert next(rest, None) is None, f"{self}: more jaxprs than it holds"
        return {**params, **changed}

    def options(self, params: Mapping[str, Any]) -> Params:
        """Return the params that hold no jaxpr."""
        return {k: value for k, value in params.items() if k not in self.held}

    def narrow(self, eqn: Eqn, used: tuple[bool, ...]) -> Eqn:
        """Return the equation without what only unused results need."""
        operands, results, params = self.dce(used, **eqn.params)
        if all(operands) and all(results) and self._same(params, eqn.params):
            return eqn
        return Eqn(
            [v for v, kept in zip(eqn.invars, operands, strict=True) if kept],
            [v for v, kept in zip(eqn.outvars, results, strict=True) if kept],
            self,
            params,
            eqn.source,
        )

    def _same(self, ours: Params, theirs: Params) -> bool:
        pairs = zip(self.jaxprs(ours), self.jaxprs(theirs), strict=True)
        return all(a is b for a, b in pairs)


def one_equation(
    primitive: Primitive, avals: tuple[ShapedArray, ...], params: Params
) -> ClosedJaxpr:
    """Return the program that is one equation on operands of `avals`."""
    outs = [Var(aval) for aval in primitive.out_avals(avals, params)]
    args = [Var(aval) for aval in avals]
    eqn = Eqn(args, outs, primitive, params)
    return ClosedJaxpr(Jaxpr((), args, outs, [eqn], primitive.name))

"""Control primitives: primitives that hold jaxprs, and their additional rules.

A `ControlPrimitive` also declares how it is linearized, narrowed to its used results,
run outside any trace, checked for NaN, and counted. It names the params that hold its
jaxprs, one or a tuple in each. So transforms and passes read the declaration, and
nothing outside `control_flow` names a control primitive. Jaxprs in params have no
constants: captured values are operands. Shape rules are cheap here and not memoized,
because a memo would keep user programs alive.
"""

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, NamedTuple, TypeAlias, final

from imprint._src.core.aval import ShapedArray
from imprint._src.core.fusion import UNFUSED
from imprint._src.core.jaxpr import ClosedJaxpr, Eqn, Jaxpr, Var
from imprint._src.core.primitive import (
    NO_NAMES,
    PURE,
    Absent,
    Avals,
    AxisNames,
    Effects,
    Params,
    Primitive,
    Rule,
)


class Eager(Enum):
    """How a control primitive runs outside any trace, unless it has a rule of its own."""

    INTERPRETED = "by its reference, on the host"
    COMPILED = "as a program, compiled once for each jaxpr"


class Watched(Enum):
    """The view of `debug_nans` on a control primitive, unless it has a rule of its own."""

    DISSOLVED = "each equation of its jaxpr, which is applied to the operands"
    AS_ONE = "its results, as those of one equation"


class Unit(Enum):
    """The role of the jaxprs of a control primitive when programs are counted."""

    PART = "a function of the operands, which Python could call by itself"
    BODY = "pieces of the equation, compiled with it"
    INLINE = "equations of the caller, in its place"


class Narrowed(NamedTuple):
    """The remainder of an equation of which only some results are used.

    Args:
        operands: which operands it still needs.
        results: which results it still has: the used ones, and perhaps more.
        params: the params of the remaining equation.
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
            reference: as for every primitive; `control_flow.interpret` runs a body.
            lower: as for every primitive; `interpreters.lowering` writes bodies.
            jvp: as for every primitive.
            linearize: `(tangent_trace, primals, tangents, **params) -> (primals_out,
                tangents_out)`: bind the primal, stage the tangent on `tangent_trace`.
            transpose: as for every primitive.
            batch: as for every primitive.
            pad: as for every primitive; `Bucket.body` pads a body.
            dce: `(used, **params) -> Narrowed`, for the results that are used.
            jaxprs: the names of the params that hold a jaxpr, or a tuple of them.
            eager: how it runs outside any trace, or `(*operands, **params) -> results`,
                which binds the primitive to run.
            sentinels: the view of `debug_nans` on it, or `(watch, eqn, operands)`,
                which returns each result with the index of its flag, as `watch.bind`
                does.
            granularity: the role of its jaxprs when programs are counted.
            binds: `(**params) -> names` of the axes that it binds for its jaxprs.
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
            multiple_results=True,
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
            params: the params of an equation.
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
        """Return the equation without the parts that only unused results need."""
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
    """Return a program with one equation on operands of `avals`."""
    outs = [Var(aval) for aval in primitive.out_avals(avals, params)]
    args = [Var(aval) for aval in avals]
    eqn = Eqn(args, outs, primitive, params)
    return ClosedJaxpr(Jaxpr((), args, outs, [eqn], primitive.name))


# ---- calls ----


class Inline(Enum):
    """The treatment of nested calls of a jitted function: `jit(inline=...)`.

    Example:
        >>> import imprint
        >>> @imprint.jit(inline=imprint.Inline.JAX_EARLY)
        ... def double(x):
        ...     return x * 2
        >>> print(imprint.make_jaxpr(lambda x: double(x) + 1)(1.0))
        { lambda ; a:f32[]. let
            b:f32[] = mul a 2.0:f32[]
            c:f32[] = add b 1.0:f32[]
          in (c,) }
    """

    JAX_EARLY = "jax_early"
    """They dissolve into the jaxpr around them."""
    JAX_LATE = "jax_late"
    """They are equations of the jaxpr, and dissolve where it is lowered; True says so."""
    XLA_EARLY = "xla_early"
    """They are calls in StableHLO that XLA inlines early."""
    XLA_LATE = "xla_late"
    """They are calls in StableHLO that XLA inlines late."""
    AUTO = "auto"
    """They are calls in StableHLO, and XLA decides; False says so."""

"""Calls of functions with a batch rule of their own (`custom_vmap`).

Such a call is one equation that holds the jaxpr of the function and the rule, which runs
only when the equation is batched; every other rule uses the jaxpr. Forward mode and the
tangent program derive another such equation, whose rule is the derivative of the rule;
its transpose uses the jaxpr alone.
A rule is flat: it takes leaves and gives leaves, those that are batched along axis 0.
Operands that the function closes over lead; the rule does not know them.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

from imprint._src.control_flow.call import (
    applied_aval,
    applied_eager,
    applied_pad,
    applied_reference,
    applied_transpose,
    lower_applied,
)
from imprint._src.core.aval import Shape, ShapedArray, get_aval
from imprint._src.core.control import ControlPrimitive, Narrowed, Unit, Watched
from imprint._src.core.jaxpr import ClosedJaxpr, eval_jaxpr
from imprint._src.core.primitive import Dims, Values
from imprint._src.core.tangents import is_zero, zero_of
from imprint._src.core.trace import current_trace, tracing
from imprint._src.errors import ArgumentError, UnexpectedTracerError
from imprint._src.interpreters.batching import at_axis, hidden_size
from imprint._src.interpreters.dce import narrow
from imprint._src.interpreters.jvp import jvp_flat, jvp_jaxpr, merge_zeros
from imprint._src.interpreters.trace_to_jaxpr import (
    DebugInfo,
    StagingTrace,
    hoist_consts,
    stage,
)
from imprint._src.primitives.core_ops import full, instantiate
from imprint._src.primitives.elementwise.convert import convert_element_type

Flat = Callable[..., Sequence[Any]]
Mask = tuple[bool, ...]


class BatchRule:
    """The batch rule of a flat function; compared by identity.

    Args:
        name: the name of the function in user code.
    """

    def __init__(self, name: str) -> None:
        self.name: str = name

    def batch(self, size: int, batched: Mask, args: Values) -> tuple[Values, Mask]:
        """Return the results, and which of them are batched; all along axis 0."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return self.name


def call_with_batch_rule(fun: Flat, rule: BatchRule, args: Values) -> Values:
    """Call a flat function with a rule under the current trace."""
    if current_trace() is None:
        return tuple(fun(*args))
    closed = stage(
        fun, [get_aval(x) for x in args], DebugInfo("custom_vmap", rule.name)
    )
    hoisted = closed.derived("hoisted", lambda: hoist_consts(closed))
    captured = len(closed.consts)
    return custom_vmap_call_p.bind_all(
        *closed.consts, *args, jaxpr=hoisted, rule=rule, captured=captured
    )


# ---- the rules of the primitive ----


def _jvp(
    primals: Values,
    tangents: Values,
    *,
    jaxpr: ClosedJaxpr,
    rule: BatchRule,
    captured: int,
) -> tuple[Values, Values]:
    nonzero = tuple(not is_zero(t) for t in tangents)
    derived, out_nonzero = jvp_jaxpr(jaxpr, nonzero, instantiate=True)
    own = len(primals) - captured
    given = [t for t in tangents if not is_zero(t)]
    ahead = sum(nonzero[:captured])
    if ahead:
        derived = _turned(derived, len(primals), ahead)
    results = custom_vmap_call_p.bind_all(
        *derived.consts,
        *given[:ahead],
        *primals,
        *given[ahead:],
        jaxpr=derived.derived("hoisted", lambda: hoist_consts(derived)),
        rule=_JvpBatchRule(rule, own, nonzero[captured:], out_nonzero),
        captured=len(derived.consts) + captured + ahead,
    )
    count = len(jaxpr.out_avals)
    return results[:count], merge_zeros(jaxpr.out_avals, out_nonzero, results[count:])


def _turned(derived: ClosedJaxpr, count: int, ahead: int) -> ClosedJaxpr:
    """Return the jaxpr that takes the first tangents before the primals."""

    def turn() -> ClosedJaxpr:
        def run(*args: Any) -> Sequence[Any]:
            first, primals, rest = (
                args[:ahead],
                args[ahead:][:count],
                args[ahead + count :],
            )
            return eval_jaxpr(derived.jaxpr, derived.consts, *primals, *first, *rest)

        avals = derived.in_avals
        given = [*avals[count : count + ahead], *avals[:count], *avals[count + ahead :]]
        return stage(run, given, DebugInfo("jvp", derived.jaxpr.name))

    return derived.derived(("turned", count, ahead), turn)


def _linearize(
    tangent_trace: StagingTrace, primals: Values, tangents: Values, **params: Any
) -> tuple[Values, Values]:
    """Call the function; the tangent program calls it again, with tangents."""
    outs = custom_vmap_call_p.bind_all(*primals, **params)
    with tracing(tangent_trace):
        _, out_tangents = _jvp(primals, tangents, **params)
    return outs, out_tangents


def _batch(
    args: Values, dims: Dims, *, jaxpr: ClosedJaxpr, rule: BatchRule, captured: int
) -> tuple[Values, Dims]:
    size = hidden_size(args, dims)
    if any(d is not None for d in dims[:captured]):
        raise UnexpectedTracerError(
            f"custom_vmap({rule}): expected to be batched by its arguments alone, got a "
            "batched value that it closes over. Its rule says nothing about such a "
            f"value: pass it to {rule} as an argument."
        )
    own = tuple(
        x if d is None else at_axis(x, d, 0, size)
        for x, d in zip(args[captured:], dims[captured:], strict=True)
    )
    flags = tuple(d is not None for d in dims[captured:])
    outs, batched = rule.batch(size, flags, own)
    fitting = [
        _fitting(x, aval, (size, *aval.shape) if on else aval.shape, rule)
        for x, on, aval in zip(outs, batched, jaxpr.out_avals, strict=True)
    ]
    return tuple(fitting), tuple(0 if on else None for on in batched)


def _fitting(x: Any, aval: ShapedArray, shape: Shape, rule: BatchRule) -> Any:
    """Return a result of the rule with the aval of the function's result, or raise."""
    came = get_aval(x)
    if (came.shape, came.dtype) != (shape, aval.dtype):
        raise ArgumentError(
            f"custom_vmap({rule}): expected its rule to return "
            f"{aval.with_shape(shape).strong()}, as the function returns "
            f"{aval.strong()}, got {came.strong()}. Return what the function returns, "
            "with the mapped axis in front of what out_batched says is batched."
        )
    if came.weak_type is aval.weak_type:
        return x
    return convert_element_type(x, aval.dtype, weak_type=aval.weak_type)


def _dce(used: Mask, *, jaxpr: ClosedJaxpr, rule: BatchRule, captured: int) -> Narrowed:
    every = (True,) * len(
        jaxpr.in_avals
    )  # the rule may use arguments that the function does not
    narrower, _ = narrow(jaxpr, used, keep=every)
    chosen = rule if all(used) else _NarrowedBatchRule(rule, used)
    return Narrowed(
        every, used, {"jaxpr": narrower, "rule": chosen, "captured": captured}
    )


# ---- derived rules ----


class _DerivedBatchRule(BatchRule):
    """A rule derived from another rule and plain data."""

    def __init__(self, rule: BatchRule, *how: Any) -> None:
        super().__init__(rule.name)
        self._rule = rule
        self._how = how

    def __imprint_token__(self) -> Any:
        """Return the token of this rule in the comparison of programs."""
        return type(self).__name__, self._rule, self._how


class _NarrowedBatchRule(_DerivedBatchRule):
    """The rule of a function with some results dropped."""

    def batch(self, size: int, batched: Mask, args: Values) -> tuple[Values, Mask]:
        """Return the used results."""
        (used,) = self._how
        outs, flags = self._rule.batch(size, batched, args)
        pairs = [
            p for p, on in zip(zip(outs, flags, strict=True), used, strict=True) if on
        ]
        return tuple(x for x, _ in pairs), tuple(on for _, on in pairs)


class ExtendedBatchRule(_DerivedBatchRule):
    """The rule of a function with results that the rule does not know.

    Args:
        rule: that of the function without it.
        added: the avals of these results; where the rule runs, they are 0.
    """

    def batch(self, size: int, batched: Mask, args: Values) -> tuple[Values, Mask]:
        """Return the results, and zeros."""
        (added,) = self._how
        outs, flags = self._rule.batch(size, batched, args)
        zeros = [full(aval.shape, 0, aval.dtype) for aval in added]
        return (*outs, *zeros), (*flags, *[False] * len(added))


class _JvpBatchRule(_DerivedBatchRule):
    """The rule of `(*primals, *tangents) -> (*results, *their tangents)`."""

    def batch(self, size: int, batched: Mask, args: Values) -> tuple[Values, Mask]:
        """Return the results and their tangents, which are batched alike."""
        count, nonzero, out_nonzero = self._how
        pairs = iter(zip(args[count:], batched[count:], strict=True))
        primals: list[Any] = []
        tangents: list[Any] = []
        flags: list[bool] = []
        own = zip(args[:count], batched[:count], nonzero, strict=True)
        for x, is_batched, has_tangent in own:
            t, also = next(pairs) if has_tangent else (None, is_batched)
            flags.append(is_batched or also)  # one that has no axis is repeated
            x = x if is_batched is flags[-1] else at_axis(x, None, 0, size)
            t = t if also is flags[-1] else at_axis(t, None, 0, size)
            primals.append(x)
            tangents.append(t if has_tangent else zero_of(get_aval(x)))
        found: list[Mask] = []

        def run(*xs: Any) -> Values:
            outs, out_flags = self._rule.batch(size, tuple(flags), xs)
            found.append(out_flags)
            return outs

        outs, out_tangents = jvp_flat(run, primals, tangents, self.name)
        (out_flags,) = found
        some = [i for i, on in enumerate(out_nonzero) if on]
        pushed = [instantiate(out_tangents[i]) for i in some]
        return (*outs, *pushed), (*out_flags, *(out_flags[i] for i in some))


custom_vmap_call_p: Final = ControlPrimitive(
    name="custom_vmap_call",
    aval=applied_aval,
    reference=applied_reference,
    lower=lower_applied,
    jvp=_jvp,
    linearize=_linearize,
    transpose=applied_transpose,
    batch=_batch,
    pad=applied_pad,
    dce=_dce,
    jaxprs=("jaxpr",),
    eager=applied_eager,
    sentinels=Watched.DISSOLVED,
    granularity=Unit.INLINE,
)

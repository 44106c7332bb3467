"""Calls of functions with a derivative rule: `custom_jvp` and `custom_vjp`.

While staging, such a call is one equation with the jaxpr of the function and the rule, which
runs only when the equation is differentiated. Otherwise the function runs as written, and
under differentiation only the rule: both see concrete values, so Python may branch on them.
A `DerivativeRule` maps leaves to leaves. Captured operands lead; the rule does not know
them, so they must not be differentiated.
The tangent of a `custom_vjp` is one equation of residuals and tangents, `custom_lin`. Its
transpose is the backward function; it has no forward evaluation, so forward mode raises.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, NoReturn

from imprint._src.control_flow.call import (
    applied_aval,
    applied_eager,
    applied_pad,
    applied_reference,
    applied_transpose,
    lower_applied,
)
from imprint._src.core.aval import ShapedArray, get_aval
from imprint._src.core.control import ControlPrimitive, Narrowed, Unit, Watched
from imprint._src.core.fusion import UNFUSED
from imprint._src.core.jaxpr import ClosedJaxpr, eval_jaxpr
from imprint._src.core.padding import PerSize
from imprint._src.core.primitive import Absent, Avals, Dims, Primitive, Values
from imprint._src.core.tangents import Zero, is_zero, tangent_aval, zero_of
from imprint._src.core.trace import Trace, current_trace, tracing
from imprint._src.dtypes import is_inexact
from imprint._src.errors import NotDifferentiableError, UnexpectedTracerError
from imprint._src.interpreters.batching import (
    BatchTrace,
    at_axis,
    batch_flat,
    batch_jaxpr,
    hidden_axis,
    hidden_size,
    hidden_tag,
)
from imprint._src.interpreters.dce import narrow
from imprint._src.interpreters.jvp import JVPTrace, JVPTracer
from imprint._src.interpreters.linearize import (
    LinearizeTrace,
    LinearizeTracer,
    SplitTrace,
)
from imprint._src.interpreters.trace_to_jaxpr import (
    DebugInfo,
    JitTracer,
    StagingTrace,
    hoist_consts,
    stage,
)
from imprint._src.primitives.core_ops import full, moveaxis, reduce_sum
from imprint._src.primitives.elementwise.convert import convert_element_type

Flat = Callable[..., Sequence[Any]]


class DerivativeRule:
    """The derivative rule of a flat function; compared by identity.

    Args:
        primitive: of whose equations it is a param.
        name: the name of the function in user code.
    """

    def __init__(self, primitive: ControlPrimitive, name: str) -> None:
        self.primitive: ControlPrimitive = primitive
        self.name: str = name
        self.functions: tuple[Any, ...] = ()

    def tangents(self, primals: Values, tangents: Values) -> tuple[Values, Values]:
        """Return the results and their tangents; a tangent may be `Zero` both ways."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return self.name


def call_with_rule(fun: Flat, rule: DerivativeRule, args: Values) -> Values:
    """Call a flat function with a rule under the current trace."""
    trace = current_trace()
    if trace is None:
        return tuple(fun(*args))
    if isinstance(trace, JVPTrace):
        primals, tangents = trace.split(args)
        found = _differentiate(fun, rule, (trace, trace.parent), primals, tangents)
        return tuple(_traced(trace, JVPTracer, *pair) for pair in found)
    if isinstance(trace, LinearizeTrace):
        pairs = [trace.unpack(x) for x in args]
        primals, tangents = tuple(p for p, _ in pairs), tuple(t for _, t in pairs)
        found = _differentiate(fun, rule, (trace, trace.split), primals, tangents)
        return tuple(_traced(trace, LinearizeTracer, *pair) for pair in found)
    if isinstance(trace, SplitTrace):
        if any(_is_of(x, trace.tangent_trace) for x in args):
            return tuple(fun(*args))  # a linear program is only transposed
        with tracing(trace.parent):
            return call_with_rule(fun, rule, args)
    if isinstance(trace, BatchTrace) and _sees_values(trace, args):
        return _call_unbatched(trace, fun, rule, args)
    closed = stage(fun, [get_aval(x) for x in args], DebugInfo("custom", rule.name))
    hoisted = closed.derived("hoisted", lambda: hoist_consts(closed))
    params = {"jaxpr": hoisted, "rule": rule, "captured": len(closed.consts)}
    operands = (*closed.consts, *args)
    if isinstance(trace, BatchTrace) and not trace.takes(
        rule.primitive, operands, params
    ):
        staged = partial(eval_jaxpr, closed.jaxpr, closed.consts)
        return _call_unbatched(trace, staged, rule, args)
    return trace.process(rule.primitive, operands, params)


def _sees_values(trace: BatchTrace, args: Values) -> bool:
    """Return whether a function of these arguments may branch on them."""
    if any(dim is not None for dim in trace.split(args)[1]):
        return False
    below = trace.parent
    while isinstance(below, BatchTrace | JVPTrace | LinearizeTrace | SplitTrace):
        below = below.parent
    return below is None


def _call_unbatched(
    trace: BatchTrace, fun: Flat, rule: DerivativeRule, args: Values
) -> Values:
    """Call a function of values without the hidden axis; it and its rule may capture some."""
    late = _CapturingRule(fun, rule, trace)
    try:
        with tracing(trace.parent):
            outs = call_with_rule(late.call, late, args)
    finally:
        dims = late.finish()
    return trace.wrapped(outs, dims)


def _differentiate(
    fun: Flat,
    rule: DerivativeRule,
    traces: tuple[Trace, Trace | None],
    primals: Values,
    tangents: Values,
) -> list[tuple[Any, Any]]:
    """Return results and tangents of a call under differentiation by the first trace."""
    own, below = traces
    own.ended = True  # a captured value has no tangent here
    try:
        with tracing(below):
            if all(map(is_zero, tangents)):
                outs = call_with_rule(fun, rule, primals)
                return [(x, zero_of(get_aval(x))) for x in outs]
            return list(zip(*rule.tangents(primals, tangents), strict=True))
    except UnexpectedTracerError as err:
        raise _closes_over(rule) from err
    finally:
        own.ended = False


def _closes_over(rule: DerivativeRule) -> UnexpectedTracerError:
    who = rule.primitive.name.removesuffix("_call")
    return UnexpectedTracerError(
        f"{who}({rule}): expected to be differentiated by its arguments alone, got a value "
        "that it or its rule closes over. A rule says nothing about such a value: pass it "
        f"to {rule} as an argument, or through imprint.lax.stop_gradient first."
    )


def _traced(trace: Any, kind: Any, out: Any, tangent: Any) -> Any:
    return out if is_zero(tangent) else kind(trace, out, tangent)


def _is_of(x: Any, trace: Trace) -> bool:
    return type(x) is JitTracer and x.owner is trace


# ---- the rules of the primitives ----


def _jvp(
    primals: Values,
    tangents: Values,
    *,
    jaxpr: ClosedJaxpr,
    rule: DerivativeRule,
    captured: int,
) -> tuple[Values, Values]:
    if not all(map(is_zero, tangents[:captured])):
        raise _closes_over(rule)
    outs, out_tangents = rule.tangents(primals[captured:], tangents[captured:])
    avals = jaxpr.out_avals
    return (
        tuple(map(_fitting, outs, avals)),
        tuple(map(_fitting, out_tangents, map(tangent_aval, avals))),
    )


def _fitting(x: Any, aval: ShapedArray) -> Any:
    """Return a result of a rule with the weak type of the function's result."""
    if is_zero(x):
        return Zero(aval)
    if get_aval(x).weak_type is aval.weak_type:
        return x
    return convert_element_type(x, aval.dtype, weak_type=aval.weak_type)


def _linearize(
    tangent_trace: StagingTrace, primals: Values, tangents: Values, **params: Any
) -> tuple[Values, Values]:
    with tracing(SplitTrace(current_trace(), tangent_trace)):
        return _jvp(primals, tangents, **params)


def _batch(
    args: Values, dims: Dims, *, jaxpr: ClosedJaxpr, rule: DerivativeRule, captured: int
) -> tuple[Values, Dims]:
    size = hidden_size(args, dims)
    _, came = batch_jaxpr(jaxpr, size, dims)
    out_dims = tuple(0 if d is None else d for d in came)  # a tangent may have the axis
    derived, _ = batch_jaxpr(jaxpr, size, dims, out_dims=out_dims)
    hoisted = derived.derived("hoisted", lambda: hoist_consts(derived))
    batched = _BatchedRule(rule, size, dims[captured:], out_dims, hidden_axis())
    batched.tag = hidden_tag()
    more = len(derived.consts)
    outs = rule.primitive.bind_all(
        *derived.consts, *args, jaxpr=hoisted, rule=batched, captured=more + captured
    )
    return outs, out_dims


def _dce(
    used: tuple[bool, ...], *, jaxpr: ClosedJaxpr, rule: DerivativeRule, captured: int
) -> Narrowed:
    every = (True,) * len(
        jaxpr.in_avals
    )  # the rule may use arguments that the function does not
    narrower, _ = narrow(jaxpr, used, keep=every)
    if all(used):
        params = {"jaxpr": narrower, "rule": rule, "captured": captured}
    else:
        chosen = _NarrowedRule(rule, used)
        params = {"jaxpr": narrower, "rule": chosen, "captured": captured}
    return Narrowed(every, used, params)


# ---- derived rules ----


class _DerivedRule(DerivativeRule):
    """A rule derived from another rule and plain data."""

    def __init__(self, rule: DerivativeRule, *how: Any) -> None:
        super().__init__(rule.primitive, rule.name)
        self._rule = rule
        self._how = how

    def __imprint_token__(self) -> Any:
        """Return the token of this rule in the comparison of programs."""
        return type(self).__name__, self._rule, self._how


class _NarrowedRule(_DerivedRule):
    """The rule of a function with some results dropped."""

    def tangents(self, primals: Values, tangents: Values) -> tuple[Values, Values]:
        """Return the used results and their tangents."""
        (used,) = self._how
        outs, out_tangents = self._rule.tangents(primals, tangents)
        return _where(used, outs), _where(used, out_tangents)


def _where(used: Sequence[bool], values: Values) -> Values:
    return tuple(x for x, on in zip(values, used, strict=True) if on)


class ExtendedRule(_DerivedRule):
    """The rule of a function with results that the rule does not know.

    Args:
        rule: that of the function without it.
        added: the avals of these results; where the rule runs, they are 0.
    """

    def tangents(self, primals: Values, tangents: Values) -> tuple[Values, Values]:
        """Return the results and their tangents."""
        (added,) = self._how
        outs, out_tangents = self._rule.tangents(primals, tangents)
        zeros = [full(aval.shape, 0, aval.dtype) for aval in added]
        return (*outs, *zeros), (*out_tangents, *map(zero_of, added))


class _BatchedRule(_DerivedRule):
    """The rule of a function that has one more axis.

    Attributes:
        tag: that of the trace of the axis; the rule may capture its tracers.
    """

    tag: object | None = None

    def tangents(self, primals: Values, tangents: Values) -> tuple[Values, Values]:
        """Return results and tangents, with the hidden axis at its demanded position."""
        size, dims, out_dims, axis = self._how
        given = [t for t in tangents if not is_zero(t)]
        given_dims = [d for t, d in zip(tangents, dims, strict=True) if not is_zero(t)]
        zeros: list[Any] = []

        def one(*xs: Any) -> list[Any]:
            some = iter(xs[len(primals) :])
            own = xs[: len(primals)]
            outs, out_tangents = self._rule.tangents(
                own,
                tuple(
                    zero_of(get_aval(x)) if is_zero(t) else next(some)
                    for x, t in zip(own, tangents, strict=True)
                ),
            )
            zeros[:] = [t if is_zero(t) else None for t in out_tangents]
            return [*outs, *(t for t in out_tangents if not is_zero(t))]

        found, came = batch_flat(
            one, (*primals, *given), (*dims, *given_dims), self.name, axis, self.tag
        )
        count = len(out_dims)
        outs = tuple(
            at_axis(x, d, to, size)
            for x, d, to in zip(found[:count], came[:count], out_dims, strict=True)
        )
        rest = iter(zip(found[count:], came[count:], strict=True))
        return outs, tuple(
            zero_of(get_aval(out))
            if zero is not None
            else at_axis(*next(rest), to, size)
            for out, zero, to in zip(outs, zeros, out_dims, strict=True)
        )


class _CapturingRule(_DerivedRule):
    """The rule of a function that a batching trace calls on values without its axis.

    While that trace runs, the function and its rule may capture its tracers: then results
    have the axis.
    """

    def __init__(self, fun: Flat, rule: DerivativeRule, trace: BatchTrace) -> None:
        super().__init__(rule)
        self._fun = fun
        self._trace: BatchTrace | None = trace
        self._dims: Dims = ()

    def finish(self) -> Dims:
        """Return where the axis of each result is; the trace goes on."""
        self._trace = None
        return self._dims

    def call(self, *args: Any) -> Values:
        """Return the results of the function, with the axis where it gives it to them."""
        trace = self._trace
        if trace is None:
            return tuple(self._fun(*args))
        run = partial(self._fun, *args)
        found, came = batch_flat(run, (), (), self.name, trace.axis, trace.tag)
        self._dims = tuple(None if dim is None else 0 for dim in came)
        return tuple(
            x if dim is None else moveaxis(x, dim, 0)
            for x, dim in zip(found, came, strict=True)
        )

    def tangents(self, primals: Values, tangents: Values) -> tuple[Values, Values]:
        """Return results and tangents, with the axis where the rule gives it to them."""
        trace = self._trace
        if trace is None:
            return self._rule.tangents(primals, tangents)
        zeros: list[Any] = []

        def run(*_: Any) -> list[Any]:
            outs, out_tangents = self._rule.tangents(primals, tangents)
            zeros[:] = [t if is_zero(t) else None for t in out_tangents]
            return [*outs, *(t for t in out_tangents if not is_zero(t))]

        found, came = batch_flat(run, (), (), self.name, trace.axis, trace.tag)
        count = len(zeros)
        rest = iter(zip(found[count:], came[count:], strict=True))
        pairs = [(zero, None) if zero is not None else next(rest) for zero in zeros]
        each = zip(found[:count], came[:count], pairs, strict=True)
        placed = [_at_front((x, d), pair) for x, d, pair in each]
        self._dims = tuple(d for _, _, d in placed)
        return tuple(x for x, _, _ in placed), tuple(t for _, t, _ in placed)


def _at_front(
    out: tuple[Any, int | None], tangent: tuple[Any, int | None]
) -> tuple[Any, Any, int | None]:
    """Return a result and its tangent, with the hidden axis first if either has it."""
    (x, dim), (t, t_dim) = out, tangent
    if dim is None and t_dim is None:
        return x, t, None
    whole, axis = (t, t_dim or 0) if dim is None else (x, dim)
    size = get_aval(whole).shape[axis]
    x = at_axis(x, dim, 0, size)
    t = zero_of(get_aval(x)) if is_zero(t) else at_axis(t, t_dim, 0, size)
    return x, t, 0


# ---- the primitives ----


_RULES: Final[dict[str, Any]] = {
    "aval": applied_aval,
    "reference": applied_reference,
    "lower": lower_applied,
    "jvp": _jvp,
    "linearize": _linearize,
    "transpose": applied_transpose,
    "batch": _batch,
    "pad": applied_pad,
    "dce": _dce,
    "jaxprs": ("jaxpr",),
    "eager": applied_eager,
    "sentinels": Watched.DISSOLVED,
    "granularity": Unit.INLINE,
}
custom_jvp_call_p: Final = ControlPrimitive(name="custom_jvp_call", **_RULES)
custom_vjp_call_p: Final = ControlPrimitive(name="custom_vjp_call", **_RULES)


class ForwardRule(DerivativeRule):
    """A rule given by a function of primals and tangents."""

    def __init__(self, name: str) -> None:
        super().__init__(custom_jvp_call_p, name)


# ---- custom_lin, the tangent of a custom_vjp ----


class Pull:
    """The backward function of one call; compared by identity.

    Args:
        name: the name of the function in user code.
        pull: `(residuals, cotangents) -> cotangents`, those of the differentiated
            arguments; one may be `Zero` both ways.
    """

    def __init__(
        self, name: str, pull: Callable[[Values, Values], Sequence[Any]]
    ) -> None:
        self.name: str = name
        self.pull: Callable[[Values, Values], Sequence[Any]] = pull

    def __repr__(self) -> str:
        return self.name


class BackwardRule(DerivativeRule):
    """A rule given by its forward and backward functions."""

    def __init__(self, name: str) -> None:
        super().__init__(custom_vjp_call_p, name)

    def forward(
        self, primals: Values, perturbed: tuple[bool, ...]
    ) -> tuple[Values, Values, Pull]:
        """Return the results, the residuals and the backward function.

        Args:
            primals: the arguments.
            perturbed: which of them are differentiated.
        """
        raise NotImplementedError

    def tangents(self, primals: Values, tangents: Values) -> tuple[Values, Values]:
        """Return the results, and tangents that can only be transposed."""
        perturbed = tuple(not is_zero(t) for t in tangents)
        outs, residuals, pull = self.forward(primals, perturbed)
        given = [t for t in tangents if not is_zero(t)]
        avals = tuple([get_aval(x).unplaced() for x in outs])
        found = iter(
            custom_lin_p.bind_all(
                *residuals, *given, pull=pull, known=len(residuals), results=avals
            )
        )
        return tuple(outs), tuple(
            next(found) if is_inexact(aval.dtype) else zero_of(aval) for aval in avals
        )


def _lin_aval(
    *avals: ShapedArray, pull: Pull, known: int, results: tuple[ShapedArray, ...]
) -> Avals:
    return tuple(aval for aval in results if is_inexact(aval.dtype))


def _forward_mode(*_: Any, pull: Pull, **__: Any) -> NoReturn:
    raise NotDifferentiableError(
        f"custom_vjp({pull.name}): expected reverse mode, got forward mode (jvp, jacfwd or the result "
        "of linearize): a custom_vjp function says only how cotangents are pulled back. "
        "Use imprint.grad, vjp or jacrev, or give it a rule with imprint.custom_jvp, "
        "which serves both."
    )


def _lin_transpose(
    cts: Values,
    operands: Values,
    *,
    pull: Pull,
    known: int,
    results: tuple[ShapedArray, ...],
) -> Values:
    found = pull.pull(tuple(operands[:known]), tuple(cts))
    return (*[None] * known, *found)


def _lin_batch(
    args: Values,
    dims: Dims,
    *,
    pull: Pull,
    known: int,
    results: tuple[ShapedArray, ...],
) -> tuple[Values, Dims]:
    size = hidden_size(args, dims)
    batched = _lin_batched(pull, size, dims[:known], dims[known:])
    avals = tuple(aval.with_shape((size, *aval.shape)) for aval in results)
    outs = custom_lin_p.bind_all(*args, pull=batched, known=known, results=avals)
    return outs, (0,) * len(outs)


def _lin_batched(pull: Pull, size: int, known_dims: Dims, dims: Dims) -> Pull:
    """Return the backward function of slices, whose cotangents have the axis in front."""
    axis = hidden_axis()

    def pulled(residuals: Values, cts: Values) -> list[Any]:
        given = [ct for ct in cts if not is_zero(ct)]
        zeros: list[Any] = []

        def one(*xs: Any) -> list[Any]:
            some = iter(xs[len(residuals) :])
            own = tuple(
                Zero(ct.aval.with_shape(ct.aval.shape[1:]))
                if is_zero(ct)
                else next(some)
                for ct in cts
            )
            found = pull.pull(xs[: len(residuals)], own)
            zeros[:] = [ct if is_zero(ct) else None for ct in found]
            return [ct for ct in found if not is_zero(ct)]

        given_dims = (*known_dims, *[0] * len(given))
        values = (*residuals, *given)
        found, came = batch_flat(one, values, given_dims, pull.name, axis)
        rest = iter(zip(found, came, strict=True))
        return [
            _zero_with_axis(zero, d, size)
            if zero is not None
            else _of_argument(*next(rest), d, size)
            for zero, d in zip(zeros, dims, strict=True)
        ]

    return Pull(pull.name, pulled)


def _zero_with_axis(zero: Zero, dim: int | None, size: int) -> Zero:
    if dim is None:
        return zero
    shape = zero.aval.shape
    return Zero(zero.aval.with_shape((*shape[:dim], size, *shape[dim:])))


def _of_argument(ct: Any, came: int | None, dim: int | None, size: int) -> Any:
    """Return a cotangent with the axis of its argument; sum if that has none."""
    if dim is not None:
        return at_axis(ct, came, dim, size)
    return ct if came is None else reduce_sum(ct, (came,))


custom_lin_p: Final = Primitive(
    name="custom_lin",
    multiple_results=True,
    aval=_lin_aval,
    reference=_forward_mode,
    lower=_forward_mode,
    fusion=UNFUSED,
    makes_nan=True,
    jvp=_forward_mode,
    transpose=_lin_transpose,
    batch=_lin_batch,
    pad=PerSize("it cannot be evaluated forwards"),
    samples=Absent("it cannot be evaluated forwards"),
)

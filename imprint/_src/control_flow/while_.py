"""`while`: a loop that runs while its condition holds, evaluated before each step.

Condition and step are jaxprs of the same carry, each after its captured values. The number
of steps is known only at run time, so nothing can be saved per step: forward mode and
batching derive another loop, and reverse mode has no rule. In a batch each example stops by
itself, and the loop when all have.
"""

from collections.abc import Sequence
from typing import Any, Final, NoReturn

from imprint._src.control_flow.interpret import interpret
from imprint._src.control_flow.loop_nan_flags import ADDED, run_with_nan_flags
from imprint._src.control_flow.operand_lists import (
    Mask,
    as_values,
    either,
    in_front,
    interleaved,
    nonzeros,
    one_by_one,
    pick,
    reordered,
    split,
)
from imprint._src.core.aval import ShapedArray, get_aval
from imprint._src.core.control import ControlPrimitive, Eager, Narrowed, Unit
from imprint._src.core.jaxpr import (
    Atom,
    ClosedJaxpr,
    Eqn,
    Jaxpr,
    Literal,
    Var,
    eval_jaxpr,
)
from imprint._src.core.padding import PadContext, PaddedValue
from imprint._src.core.primitive import Avals, Dims, Params, Values
from imprint._src.core.tangents import tangent_aval
from imprint._src.core.trace import tracing
from imprint._src.dtypes import is_integer
from imprint._src.errors import NotDifferentiableError
from imprint._src.interpreters.batching import batch_jaxpr, hidden_size
from imprint._src.interpreters.dce import narrow
from imprint._src.interpreters.jvp import jvp_jaxpr, merge_zeros
from imprint._src.interpreters.lowering import lower_body, ordered_effects
from imprint._src.interpreters.trace_to_jaxpr import (
    DebugInfo,
    StagingTrace,
    hoist_consts,
    stage,
)
from imprint._src.primitives.core_ops import add_p, broadcast_in_dim
from imprint._src.primitives.elementwise.select import select_n
from imprint._src.primitives.reductions import reduce_or
from imprint._src.stablehlo import Builder, Value


def while_loop(
    condition: ClosedJaxpr,
    step: ClosedJaxpr,
    captured: tuple[Sequence[Any], Sequence[Any]],
    carry: Sequence[Any],
) -> list[Any]:
    """Bind a loop, without the carries that its step only forwards.

    Args:
        condition: `(*captured, *carry) -> (bool,)`; constants of its own come first.
        step: `(*captured, *carry) -> carry`, likewise.
        captured: the constants, of the condition and of the step.
        carry: the initial carry.
    """
    of_condition = [*condition.consts, *captured[0]]
    of_step = [*step.consts, *captured[1]]
    condition, step = map(_hoisted, (condition, step))
    pairs = list(
        zip(step.jaxpr.invars[len(of_step) :], step.jaxpr.outvars, strict=True)
    )
    stays = tuple(v is out for v, out in pairs)
    if any(stays):
        moving = tuple(not s for s in stays)
        order = _order(len(of_condition), stays)
        condition = reordered(condition, order)
        outputs = [i for i, moves in enumerate(moving) if moves]
        step = reordered(step, _order(len(of_step), stays), outputs)
        fixed = pick(carry, stays)
        outs = while_loop(
            condition,
            step,
            ([*of_condition, *fixed], [*of_step, *fixed]),
            pick(carry, moving),
        )
        following = iter(outs)
        return [x if s else next(following) for x, s in zip(carry, stays, strict=True)]
    outs = while_p.bind_all(
        *of_condition,
        *of_step,
        *carry,
        cond_jaxpr=condition,
        body_jaxpr=step,
        cond_nconsts=len(of_condition),
        body_nconsts=len(of_step),
    )
    return [*outs]


def _hoisted(closed: ClosedJaxpr) -> ClosedJaxpr:
    if not closed.consts:
        return closed
    return closed.derived("hoisted", lambda: hoist_consts(closed))


def _order(consts: int, stays: Mask) -> list[int]:
    """Return the order in which forwarded carries follow the constants."""
    carry = range(consts, consts + len(stays))
    moving = [not s for s in stays]
    return [*range(consts), *pick(carry, stays), *pick(carry, moving)]


# ---- the rules ----


def _aval(*avals: ShapedArray, body_jaxpr: ClosedJaxpr, **_: Any) -> Avals:
    return body_jaxpr.out_avals


def _reference(
    *arrays: Any,
    cond_jaxpr: ClosedJaxpr,
    body_jaxpr: ClosedJaxpr,
    cond_nconsts: int,
    body_nconsts: int,
) -> Values:
    of_condition, of_step, carry = split(arrays, cond_nconsts, body_nconsts)
    while interpret(cond_jaxpr.jaxpr, (*of_condition, *carry))[0]:
        carry = [*interpret(body_jaxpr.jaxpr, (*of_step, *carry))]
    return tuple(carry)


def _lower(
    b: Builder,
    *values: Value,
    cond_jaxpr: ClosedJaxpr,
    body_jaxpr: ClosedJaxpr,
    cond_nconsts: int,
    body_nconsts: int,
) -> tuple[Value, ...]:
    of_condition, of_step, carry = split(values, cond_nconsts, body_nconsts)
    # A condition cannot return a token: one with ordered effects runs in the step.
    is_asked_before = bool(ordered_effects(cond_jaxpr.jaxpr))
    ordered = ordered_effects(cond_jaxpr.jaxpr, body_jaxpr.jaxpr)
    located = bool(b.module.locations)

    def ask(inner: Builder, tokens: list[Value], carry: Sequence[Value]) -> list[Value]:
        values = [*tokens, *of_condition, *carry]
        outs = lower_body(inner, cond_jaxpr.jaxpr, values, ordered, locations=located)
        return [outs[-1], *outs[:-1]]

    def condition(inner: Builder, values: tuple[Value, ...]) -> list[Value]:
        if is_asked_before:
            return [values[0]]
        tokens, carry = split(values, len(ordered))
        return ask(inner, tokens, carry)[:1]

    def body(inner: Builder, values: tuple[Value, ...]) -> list[Value]:
        tokens, carry = split(values[is_asked_before:], len(ordered))
        given = [*tokens, *of_step, *carry]
        outs = lower_body(inner, body_jaxpr.jaxpr, given, ordered, locations=located)
        tokens, carry = split(outs, len(ordered))
        if is_asked_before:
            pred, *tokens = ask(inner, tokens, carry)
            return [pred, *tokens, *carry]
        return outs

    carry = _hidden(b, body_jaxpr.jaxpr, carry)
    state = [*(b.tokens[e] for e in ordered), *carry]
    if is_asked_before:
        state = [*ask(b, state[: len(ordered)], carry), *carry]
    outs = b.while_loop(state, condition, body)[is_asked_before:]
    tokens, results = split(outs, len(ordered))
    b.tokens.update(zip(ordered, tokens, strict=True))
    return tuple(results)


def _hidden(b: Builder, step: Jaxpr, carry: Sequence[Value]) -> list[Value]:
    """Return a carry whose integers XLA does not know, except those counted by ones.

    From `i < 1`, 0 and `i + 2` XLA infers that there is no step, and from `i < 4`, 5
    and `i + 2` that there is one: it rounds the wrong way (jaxlib 0.10 to 0.12).
    """
    made: dict[Atom, Eqn] = {v: eqn for eqn in step.eqns for v in eqn.outvars}
    given = step.invars[len(step.invars) - len(carry) :]
    pairs = zip(given, step.outvars, strict=True)
    at = [
        i
        for i, (before, after) in enumerate(pairs)
        if not before.aval.shape
        and is_integer(before.aval.dtype)
        and not _is_counted(before, after, made.get(after))
    ]
    found = [*carry]
    for i, value in zip(
        at, b.optimization_barrier([carry[i] for i in at]), strict=True
    ):
        found[i] = value
    return found


def _is_counted(before: Var, after: Atom, made: Eqn | None) -> bool:
    """Return whether a step keeps a number or adds one to it."""
    if after is before:
        return True
    if made is None or made.primitive is not add_p or made.invars[0] is not before:
        return False
    by = made.invars[1]
    return isinstance(by, Literal) and by.value == 1


def _jvp(
    primals: Values,
    tangents: Values,
    *,
    cond_jaxpr: ClosedJaxpr,
    body_jaxpr: ClosedJaxpr,
    cond_nconsts: int,
    body_nconsts: int,
) -> tuple[Values, Values]:
    of_condition, of_step, carry = split(primals, cond_nconsts, body_nconsts)
    _, step_ts, carry_ts = split(tangents, cond_nconsts, body_nconsts)
    on_step, on_carry = nonzeros(step_ts), nonzeros(carry_ts)
    while True:
        derived, came = jvp_jaxpr(
            body_jaxpr, (*on_step, *on_carry), instantiate=on_carry
        )
        if came == on_carry:
            break
        on_carry = either(came, on_carry)
    order = interleaved((body_nconsts, len(carry)), (sum(on_step), sum(on_carry)))
    step = reordered(derived, order)
    ts = as_values(carry_ts, on_carry)
    condition = cond_jaxpr.derived(
        ("with tangents", on_carry), lambda: _with_tangents(cond_jaxpr, on_carry)
    )
    outs = while_loop(
        condition,
        step,
        (of_condition, [*derived.consts, *of_step, *as_values(step_ts, on_step)]),
        [*carry, *ts],
    )
    results, out_ts = split(outs, len(carry))
    return tuple(results), merge_zeros(body_jaxpr.out_avals, on_carry, out_ts)


def _with_tangents(condition: ClosedJaxpr, on_carry: Mask) -> ClosedJaxpr:
    """Return a condition that takes and ignores the tangents of the carry."""
    old = condition.jaxpr
    carry = old.invars[len(old.invars) - len(on_carry) :]
    more = [Var(tangent_aval(v.aval)) for v in pick(carry, on_carry)]
    args = (*old.invars, *more)
    return ClosedJaxpr(Jaxpr((), args, old.outvars, old.eqns, old.name))


def _linearize(
    tangent_trace: StagingTrace, primals: Values, tangents: Values, **params: Any
) -> tuple[Values, Values]:
    """Run the loop; the tangent program runs it again, with tangents."""
    outs = while_p.bind_all(*primals, **params)
    with tracing(tangent_trace):
        _, out_tangents = _jvp(primals, tangents, **params)
    return outs, out_tangents


def _transpose(*_: Any, **__: Any) -> NoReturn:
    raise NotDifferentiableError(
        "while_loop: expected a derivative in forward mode, got reverse mode (grad, vjp, "
        "jacrev), which needs every step again: how many there are is known only when "
        "the program runs. Use imprint.lax.scan, or imprint.lax.fori_loop with bounds "
        "that are known while tracing; imprint.lax.custom_root if the loop finds a root; "
        "or forward mode (jvp, jacfwd)."
    )


def _batch(
    args: Values,
    dims: Dims,
    *,
    cond_jaxpr: ClosedJaxpr,
    body_jaxpr: ClosedJaxpr,
    cond_nconsts: int,
    body_nconsts: int,
) -> tuple[Values, Dims]:
    size = hidden_size(args, dims)
    of_condition, of_step, carry = split(args, cond_nconsts, body_nconsts)
    at_condition, at_step, at_carry = split(dims, cond_nconsts, body_nconsts)
    fronts: Dims = tuple(None if d is None else 0 for d in at_carry)
    while True:
        condition, (alone,) = batch_jaxpr(cond_jaxpr, size, (*at_condition, *fronts))
        step, came = batch_jaxpr(body_jaxpr, size, (*at_step, *fronts), out_dims=fronts)
        is_each = alone is not None  # then each example has its own number of steps
        after: Dims = tuple(None if d is None and not is_each else 0 for d in came)
        if after == fronts:
            break
        fronts = after
    carried = [
        x if to is None else in_front(x, d, size)
        for x, d, to in zip(carry, at_carry, fronts, strict=True)
    ]
    if not is_each:
        outs = while_loop(condition, step, (of_condition, of_step), carried)
        return tuple(outs), fronts
    if cond_jaxpr.jaxpr.effects or body_jaxpr.jaxpr.effects:
        params = {"cond_jaxpr": cond_jaxpr, "body_jaxpr": body_jaxpr}
        counts = {"cond_nconsts": cond_nconsts, "body_nconsts": body_nconsts}
        return one_by_one(while_p, args, dims, {**params, **counts})
    condition, _ = batch_jaxpr(
        cond_jaxpr, size, (*at_condition, *fronts), out_dims=(0,)
    )
    first = eval_jaxpr(condition.jaxpr, condition.consts, *of_condition, *carried)
    each, some = step.derived(
        ("each", condition), lambda: _each_by_itself(condition, step, len(carry))
    )
    captured = [*of_condition, *of_step]
    _, *outs = while_loop(some, each, ((), captured), [*first, *carried])
    return tuple(outs), fronts


def _each_by_itself(
    condition: ClosedJaxpr, step: ClosedJaxpr, num_carry: int
) -> tuple[ClosedJaxpr, ClosedJaxpr]:
    """Return the step that each running example takes, and the condition that any runs."""
    asked = condition.in_avals[: len(condition.in_avals) - num_carry]
    captured, carry = split(step.in_avals, len(step.in_avals) - num_carry)
    (runs,) = condition.out_avals

    def each(*args: Any) -> list[Any]:
        of_condition, of_step, (running,), before = split(
            args, len(asked), len(captured), 1
        )
        after = eval_jaxpr(step.jaxpr, step.consts, *of_step, *before)
        chosen = [
            select_n(broadcast_in_dim(running, get_aval(new).shape, (0,)), old, new)
            for old, new in zip(before, after, strict=True)
        ]
        now = eval_jaxpr(condition.jaxpr, condition.consts, *of_condition, *chosen)
        return [*now, *chosen]

    def some(running: Any, *_: Any) -> list[Any]:
        return [reduce_or(running, (0,))]

    return (
        stage(
            each, (*asked, *captured, runs, *carry), DebugInfo("vmap", step.jaxpr.name)
        ),
        stage(some, (runs, *carry), DebugInfo("vmap", condition.jaxpr.name)),
    )


def _pad(
    bucket: PadContext,
    *operands: PaddedValue,
    cond_jaxpr: ClosedJaxpr,
    body_jaxpr: ClosedJaxpr,
    cond_nconsts: int,
    body_nconsts: int,
) -> Values:
    of_condition, of_step, carry = split(operands, cond_nconsts, body_nconsts)
    sizes = bucket.sizes
    return bucket.bind_all(
        *sizes,
        *of_condition,
        *sizes,
        *of_step,
        *carry,
        cond_jaxpr=bucket.body(cond_jaxpr),
        body_jaxpr=bucket.body(body_jaxpr),
        cond_nconsts=len(sizes) + cond_nconsts,
        body_nconsts=len(sizes) + body_nconsts,
    )


def _dce(
    used: Mask,
    *,
    cond_jaxpr: ClosedJaxpr,
    body_jaxpr: ClosedJaxpr,
    cond_nconsts: int,
    body_nconsts: int,
) -> Narrowed:
    none = (False,) * cond_nconsts, (False,) * body_nconsts
    _, asked = narrow(cond_jaxpr, (True,))
    carry = either(used, asked[cond_nconsts:])
    while True:
        step, of_step = narrow(body_jaxpr, carry, keep=none[1] + carry)
        if of_step[body_nconsts:] == carry:
            break
        carry = of_step[body_nconsts:]
    condition, of_condition = narrow(cond_jaxpr, (True,), keep=none[0] + carry)
    params = {
        "cond_jaxpr": condition,
        "body_jaxpr": step,
        "cond_nconsts": sum(of_condition[:cond_nconsts]),
        "body_nconsts": sum(of_step[:body_nconsts]),
    }
    operands = (*of_condition[:cond_nconsts], *of_step)
    return Narrowed(operands, carry, params)


def _sentinels(
    watch: Any, eqn: Eqn, operands: Sequence[tuple[Any, int]]
) -> list[tuple[Any, int]]:
    params = eqn.params
    condition, step = params["cond_jaxpr"], params["body_jaxpr"]
    asked, consts = params["cond_nconsts"], params["body_nconsts"]

    def params_of(step: ClosedJaxpr) -> Params:
        old = condition.jaxpr
        more = [Var(aval) for aval in step.out_avals[-ADDED:]]
        args = (*old.invars, *more)
        wider = ClosedJaxpr(Jaxpr((), args, old.outvars, old.eqns, old.name))
        return {**params, "cond_jaxpr": wider, "body_jaxpr": step}

    counts = asked, consts, len(step.out_avals)
    return run_with_nan_flags(watch, eqn, operands, step, counts, params_of)


while_p: Final = ControlPrimitive(
    name="while",
    aval=_aval,
    reference=_reference,
    lower=_lower,
    jvp=_jvp,
    linearize=_linearize,
    transpose=_transpose,
    batch=_batch,
    pad=_pad,
    dce=_dce,
    jaxprs=("cond_jaxpr", "body_jaxpr"),
    eager=Eager.COMPILED,
    sentinels=_sentinels,
    granularity=Unit.BODY,
)

"""`scan`: a loop of known length, whose step is a jaxpr.

The step takes captured values, the carry and one slice of each scanned operand, and returns
the next carry and one slice of each stacked result. Every rule derives another step and
binds another scan; jvp and batching iterate to a fixed point over the carry.
A value that a step only forwards is taken out of the loop first (`without_forwarded`): an
unchanged carry is a constant, a returned slice is its operand, a stacked constant is
repeated outside, and a value stacked twice is stacked once.
It lowers to a `while` that counts and writes each slice in place.
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from imprint._src.control_flow.interpret import interpret
from imprint._src.control_flow.loop_nan_flags import ADDED, run_with_nan_flags
from imprint._src.control_flow.operand_lists import (
    Mask,
    as_values,
    dependent,
    either,
    in_front,
    interleaved,
    nonzeros,
    pick,
    put_back,
    reordered,
    repeated,
    split,
)
from imprint._src.control_flow.scan_derivatives import (
    known_carry,
    split_residuals,
    transpose_step,
)
from imprint._src.control_flow.while_ import while_loop
from imprint._src.core import dims
from imprint._src.core.aval import ShapedArray, get_aval
from imprint._src.core.control import ControlPrimitive, Eager, Narrowed, Unit
from imprint._src.core.dims import Dim
from imprint._src.core.jaxpr import Atom, ClosedJaxpr, Eqn, Jaxpr, Var, eval_jaxpr
from imprint._src.core.padding import PadContext, PaddedValue, value_of
from imprint._src.core.primitive import Avals, Dims, Params, Values
from imprint._src.core.tangents import UndefinedPrimal, Zero, is_zero
from imprint._src.core.trace import tracing
from imprint._src.diagnostics.source import Source
from imprint._src.interpreters.batching import batch_jaxpr, hidden_size
from imprint._src.interpreters.dce import narrow
from imprint._src.interpreters.jvp import jvp_jaxpr, merge_zeros
from imprint._src.interpreters.linearize import linearize_jaxpr
from imprint._src.interpreters.lowering import lower_call, ordered_effects
from imprint._src.interpreters.trace_to_jaxpr import (
    DebugInfo,
    StagingTrace,
    hoist_consts,
    stage,
)
from imprint._src.primitives.core_ops import (
    add,
    broadcast_in_dim,
    full,
    instantiate,
    moveaxis,
    sub,
)
from imprint._src.primitives.elementwise.comparison import lt
from imprint._src.primitives.indexing.dynamic_slicing import (
    dynamic_slice_p,
    dynamic_update_slice_p,
)
from imprint._src.primitives.shape import squeeze
from imprint._src.stablehlo import Builder, Value, indexed


def scan(
    step: ClosedJaxpr,
    consts: Sequence[Any],
    carry: Sequence[Any],
    xs: Sequence[Any],
    **loop: Any,
) -> list[Any]:
    """Bind a scan, without the values that its step only forwards.

    Args:
        step: `(*consts, *carry, *slices) -> (*carry, *slices)`; constants of its own come
            before `consts`.
        consts: the constants of the loop.
        carry: the initial carry.
        xs: the scanned operands, along axis 0.
        loop: `length`, how many steps there are; `reverse`, whether the last slice is the
            first; `unroll`, how many steps one iteration of the compiled loop runs.
    """
    operands = [*step.consts, *consts, *carry, *xs]
    if step.consts:
        step = step.derived("hoisted", lambda: hoist_consts(step))
    counts = len(operands) - len(carry) - len(xs), len(carry)
    plan = step.derived(("plan", counts), lambda: without_forwarded(step, *counts))
    outs = scan_p.bind_all(
        *(operands[i] for i in plan.operands),
        jaxpr=plan.jaxpr or step,
        num_consts=plan.num_consts,
        num_carry=plan.num_carry,
        **loop,
    )
    results: list[Any] = []
    for at, is_operand, is_repeated in plan.results:
        x = operands[at] if is_operand else outs[at]
        results.append(repeated(x, loop["length"]) if is_repeated else x)
    return results


def scan_equation(
    step: ClosedJaxpr,
    operands: tuple[Sequence[Atom], Sequence[Atom], Sequence[Atom]],
    lasts: Sequence[Var],
    *,
    length: int,
    reverse: bool,
    source: Source | None,
) -> Eqn:
    """Return a scan as an equation, with given variables for its last carry.

    Args:
        step: as in `scan`, without constants.
        operands: the constants, the initial carry, the scanned operands.
        lasts: the variables of the last carry; those of stacked results follow them.
        length: how many steps there are.
        reverse: whether the last slice is the first.
        source: where the user wrote it.
    """
    consts, carry, xs = operands
    _, stacked = split(step.out_avals, len(carry))
    outs = [*lasts, *(Var(y.with_shape((length, *y.shape))) for y in stacked)]
    params: Params = {
        "jaxpr": step,
        "length": length,
        "reverse": reverse,
        "unroll": 1,
        "num_consts": len(consts),
        "num_carry": len(carry),
    }
    return Eqn([*consts, *carry, *xs], outs, scan_p, params, source)


# ---- the rules ----


def _aval(
    *avals: ShapedArray, jaxpr: ClosedJaxpr, length: int, num_carry: int, **_: Any
) -> Avals:
    outs, ys = split(jaxpr.out_avals, num_carry)
    return (*outs, *(y.with_shape((length, *y.shape)) for y in ys))


def _reference(
    *arrays: Any,
    jaxpr: ClosedJaxpr,
    length: int,
    num_consts: int,
    num_carry: int,
    **loop: Any,
) -> Values:
    consts, carry, xs = split(arrays, num_consts, num_carry)
    _, stacked = split(jaxpr.out_avals, num_carry)
    ys = [np.zeros((length, *a.shape), a.dtype) for a in stacked]
    order = range(length)
    for i in reversed(order) if loop["reverse"] else order:
        outs = interpret(jaxpr.jaxpr, (*consts, *carry, *(x[i] for x in xs)))
        carry, slices = split(outs, num_carry)
        for y, part in zip(ys, slices, strict=True):
            y[i] = part
    return (*carry, *ys)


def _lower(
    b: Builder, *values: Value, jaxpr: ClosedJaxpr, **params: Any
) -> tuple[Value, ...]:
    return lower_scan(b, values, jaxpr, **params)


def _jvp(
    primals: Values,
    tangents: Values,
    *,
    jaxpr: ClosedJaxpr,
    num_consts: int,
    num_carry: int,
    **loop: Any,
) -> tuple[Values, Values]:
    counts = num_consts, num_carry
    in_consts, carry, in_xs = map(tuple, split(nonzeros(tangents), *counts))
    others = (False,) * (len(jaxpr.out_avals) - num_carry)
    while True:
        active = (*in_consts, *carry, *in_xs)
        derived, came = jvp_jaxpr(jaxpr, active, instantiate=(*carry, *others))
        if came[:num_carry] == carry:
            break
        carry = either(came[:num_carry], carry)
    out_ys = came[num_carry:]
    sizes = num_consts, num_carry, len(in_xs)
    step = reordered(
        derived,
        interleaved(sizes, (sum(in_consts), sum(carry), sum(in_xs))),
        interleaved((num_carry, len(out_ys)), (sum(carry), sum(out_ys))),
    )
    groups = zip(
        split(primals, *counts),
        split(tangents, *counts),
        (in_consts, carry, in_xs),
        strict=True,
    )
    consts, carried, xs = [[*ps, *as_values(ts, on)] for ps, ts, on in groups]
    outs = scan(step, [*derived.consts, *consts], carried, xs, **loop)
    firsts, first_ts, ys, ys_ts = split(outs, num_carry, sum(carry), len(out_ys))
    results = (*firsts, *ys)
    avals = tuple(map(get_aval, results))
    return results, merge_zeros(avals, came, [*first_ts, *ys_ts])


def _linearize(
    tangent_trace: StagingTrace,
    primals: Values,
    tangents: Values,
    *,
    jaxpr: ClosedJaxpr,
    num_consts: int,
    num_carry: int,
    **loop: Any,
) -> tuple[Values, Values]:
    counts = num_consts, num_carry
    on_consts, on_carry, on_xs = map(tuple, split(nonzeros(tangents), *counts))
    others = (False,) * (len(jaxpr.out_avals) - num_carry)
    while True:
        active = (*on_consts, *on_carry, *on_xs)
        lin = linearize_jaxpr(jaxpr, active, instantiate=(*on_carry, *others))
        came = lin.nonzero[:num_carry]
        if came == on_carry:
            break
        on_carry = either(came, on_carry)
    parted = lin.primal.derived(
        ("parted", counts, lin.residuals), lambda: split_residuals(lin, *counts)
    )
    consts, carry, xs = split(primals, *counts)
    fixed: list[Any] = [*lin.primal.consts, *consts]
    fixed += eval_jaxpr(parted.before, (), *fixed)
    outs = scan(parted.step, fixed, carry, xs, **loop)
    results, stacked = split(outs, len(jaxpr.out_avals))
    scanned = [*xs, *results[num_carry:], *stacked]
    out_tangents: list[Any] = []
    if any(lin.nonzero) or lin.tangent.eqns:
        groups = zip(
            split(tangents, *counts), (on_consts, on_carry, on_xs), strict=True
        )
        with tracing(tangent_trace):
            ts = [as_values(group, on) for group, on in groups]
            out_tangents = scan(
                reordered(lin.tangent, parted.order(*map(len, ts))),
                [*(fixed[i] for i in parted.fixed), *ts[0]],
                ts[1],
                [*(scanned[i] for i in parted.scanned), *ts[2]],
                **loop,
            )
    avals = tuple(map(get_aval, results))
    return tuple(results), merge_zeros(avals, lin.nonzero, out_tangents)


def _transpose(
    cts: Values,
    operands: Values,
    *,
    jaxpr: ClosedJaxpr,
    num_consts: int,
    num_carry: int,
    **loop: Any,
) -> Values:
    counts = num_consts, num_carry
    consts, carry, xs = split(operands, *counts)
    in_consts, carried, in_xs = (
        [type(x) is UndefinedPrimal for x in g] for g in (consts, carry, xs)
    )
    while (
        True
    ):  # a carry that begins as a known value, such as zeros, may be linear too
        linear = (*in_consts, *carried, *in_xs)
        after = either(dependent(jaxpr.jaxpr, linear)[:num_carry], carried)
        if after == tuple(carried):
            break
        carried = after
    if not all(carried):
        return _transpose_rest(cts, operands, tuple(carried), (jaxpr, *counts), loop)
    weak = tuple(None if is_zero(ct) else get_aval(ct).weak_type for ct in cts)
    back = jaxpr.derived(
        ("backward", linear, weak, counts),
        lambda: transpose_step(jaxpr, linear, weak, num_carry, num_consts),
    )
    targets = pick([x for x in consts if type(x) is UndefinedPrimal], back.consts)
    outs = scan(
        back.step,
        [x for x in consts if type(x) is not UndefinedPrimal],
        [
            *(instantiate(Zero(x.aval)) for x in targets),
            *as_values(cts[:num_carry], back.carry),
        ],
        [
            *(x for x in xs if type(x) is not UndefinedPrimal),
            *(ct for ct in cts[num_carry:] if not is_zero(ct)),
        ],
        **{**loop, "reverse": not loop["reverse"]},
    )
    sums, of_carry, of_xs = split(outs, len(targets), sum(back.carry))
    return (
        *put_back(put_back(sums, back.consts), in_consts),
        *put_back(of_carry, back.carry),
        *put_back(put_back(of_xs, back.xs), in_xs),
    )


def _transpose_rest(
    cts: Values,
    operands: Values,
    carried: Mask,
    step: tuple[ClosedJaxpr, int, int],
    loop: dict[str, Any],
) -> Values:
    """Transpose a scan with a known carry: compute that first, then scan over it."""
    jaxpr, num_consts, num_carry = step
    known = jaxpr.derived(
        ("known", carried, num_consts), lambda: known_carry(jaxpr, carried, num_consts)
    )
    groups = zip(
        split(operands, num_consts, num_carry),
        split(known.operands, num_consts, num_carry),
        strict=True,
    )
    outs = scan(known.step, *(pick(xs, on) for xs, on in groups), **loop)
    _, stacked = split(outs, num_carry - sum(carried))
    consts, carry, xs = split(operands, num_consts, num_carry)
    came = _transpose(
        (*pick(cts[:num_carry], carried), *cts[num_carry:]),
        (*consts, *pick(carry, carried), *stacked, *xs),
        jaxpr=known.rest,
        num_consts=num_consts,
        num_carry=sum(carried),
        **loop,
    )
    of_consts, of_carry, _, of_xs = split(came, num_consts, sum(carried), len(stacked))
    return (*of_consts, *put_back(of_carry, carried), *of_xs)


def _batch(
    args: Values,
    dims: Dims,
    *,
    jaxpr: ClosedJaxpr,
    num_consts: int,
    num_carry: int,
    **loop: Any,
) -> tuple[Values, Dims]:
    size = hidden_size(args, dims)
    consts, carry, xs = split(args, num_consts, num_carry)
    at_consts, at_carry, at_xs = split(dims, num_consts, num_carry)
    # The axis that is scanned over stays in front.
    xs = [moveaxis(x, 0, 1) if d == 0 else x for x, d in zip(xs, at_xs, strict=True)]
    at_slices = [None if d is None else max(d - 1, 0) for d in at_xs]
    others: Dims = (None,) * (len(jaxpr.out_avals) - num_carry)
    fronts: Dims = tuple(None if d is None else 0 for d in at_carry)
    while True:
        given = (*at_consts, *fronts, *at_slices)
        derived, came = batch_jaxpr(jaxpr, size, given, out_dims=(*fronts, *others))
        after: Dims = tuple(None if d is None else 0 for d in came[:num_carry])
        if after == fronts:
            break
        fronts = after
    carried = [
        x if to is None else in_front(x, d, size)
        for x, d, to in zip(carry, at_carry, fronts, strict=True)
    ]
    outs = scan(derived, consts, carried, xs, **loop)
    stacked = (None if d is None else d + 1 for d in came[num_carry:])
    return tuple(outs), (*fronts, *stacked)


def _dce(
    used: tuple[bool, ...],
    *,
    jaxpr: ClosedJaxpr,
    num_consts: int,
    num_carry: int,
    **loop: Any,
) -> Narrowed:
    carry, ys = used[:num_carry], used[num_carry:]
    xs = (False,) * (len(jaxpr.in_avals) - num_consts - num_carry)
    while True:
        keep = ((False,) * num_consts) + carry + xs
        step, needed = narrow(jaxpr, carry + ys, keep=keep)
        following = needed[num_consts : num_consts + num_carry]
        if following == carry:
            break
        carry = following
    params = {
        "jaxpr": step,
        "num_consts": sum(needed[:num_consts]),
        "num_carry": sum(carry),
        **loop,
    }
    return Narrowed(needed, carry + ys, params)


# ---- padding ----


def _pad(
    bucket: PadContext,
    *operands: PaddedValue,
    jaxpr: ClosedJaxpr,
    length: Dim,
    num_consts: int,
    num_carry: int,
    **loop: Any,
) -> Values:
    sizes = bucket.sizes
    step = bucket.body(jaxpr)
    if dims.is_symbolic(length):
        values = split([*map(value_of, operands)], num_consts, num_carry)
        return _turns(bucket, step, *values, length=length, reverse=loop["reverse"])
    return bucket.bind_all(
        *sizes,
        *operands,
        jaxpr=step,
        length=length,
        num_consts=len(sizes) + num_consts,
        num_carry=num_carry,
        **loop,
    )


def _turns(  # noqa: PLR0913 - the three kinds of operands of a scan
    bucket: PadContext,
    step: ClosedJaxpr,
    consts: Sequence[Any],
    carry: Sequence[Any],
    xs: Sequence[Any],
    *,
    length: Dim,
    reverse: bool,
) -> Values:
    """Run as many steps as the true length: a step on padding might not terminate."""
    count = len(carry)
    n = bucket.number(length)
    ys = [full(bucket.bound(y.shape), 0, y.dtype) for y in bucket.outs[count:]]
    given = [n, *bucket.sizes, *consts, *xs]
    one = np.int32(1)

    def turn(*args: Any) -> list[Any]:
        (n, *same), (i, *state) = split(args, len(given))
        own, scanned = split(same, len(same) - len(xs))
        at = sub(sub(n, i), one) if reverse else i
        slices = [_element(x, at) for x in scanned]
        old, stacked = split(state, count)
        new, out = split(eval_jaxpr(step.jaxpr, (), *own, *old, *slices), count)
        put = [_with_element(y, x, at) for y, x in zip(stacked, out, strict=True)]
        return [add(i, one), *new, *put]

    def is_left(n: Any, i: Any, *_: Any) -> list[Any]:
        return [lt(i, n)]

    state = [np.int32(0), *carry, *ys]
    avals = [get_aval(x) for x in state]
    body = stage(turn, [*map(get_aval, given), *avals], DebugInfo("scan", "padded"))
    asked = stage(is_left, [get_aval(n), *avals], DebugInfo("scan", "padded"))
    return tuple(while_loop(asked, body, ([n], given), state)[1:])


def _element(x: Any, at: Any) -> Any:
    shape = get_aval(x).shape
    starts = (at, *(np.int32(0),) * (len(shape) - 1))
    row = dynamic_slice_p.bind1(x, *starts, slice_sizes=(1, *shape[1:]))
    return squeeze(row, (0,))


def _with_element(y: Any, x: Any, at: Any) -> Any:
    shape = get_aval(x).shape
    starts = (at, *(np.int32(0),) * len(shape))
    row = broadcast_in_dim(x, (1, *shape), tuple(range(1, len(shape) + 1)))
    return dynamic_update_slice_p.bind1(y, row, *starts)


def _sentinels(
    watch: Any, eqn: Eqn, operands: Sequence[tuple[Any, int]]
) -> list[tuple[Any, int]]:
    params = eqn.params
    carried = params["num_carry"]

    def params_of(step: ClosedJaxpr) -> Params:
        return {**params, "jaxpr": step, "num_carry": carried + ADDED}

    counts = 0, params["num_consts"], carried
    return run_with_nan_flags(watch, eqn, operands, params["jaxpr"], counts, params_of)


scan_p: Final = ControlPrimitive(
    name="scan",
    aval=_aval,
    reference=_reference,
    lower=_lower,
    jvp=_jvp,
    linearize=_linearize,
    transpose=_transpose,
    batch=_batch,
    pad=_pad,
    dce=_dce,
    jaxprs=("jaxpr",),
    eager=Eager.COMPILED,
    sentinels=_sentinels,
    granularity=Unit.BODY,
)


# ---- forwarded values ----


class ForwardingPlan(NamedTuple):
    """A scan without the values that its step only forwards.

    Args:
        jaxpr: the step; None if it is as it was.
        num_consts: how many operands stay as they are.
        num_carry: how many go from step to step.
        operands: which of the given operands it takes.
        results: for each given result where it is, whether that is an operand, and
            whether it is repeated once for each step.
    """

    jaxpr: ClosedJaxpr | None
    num_consts: int
    num_carry: int
    operands: tuple[int, ...]
    results: tuple[tuple[int, bool, bool], ...]


def without_forwarded(
    step: ClosedJaxpr, num_consts: int, num_carry: int
) -> ForwardingPlan:
    """Take forwarded values and duplicate stacked results out of a loop."""
    jaxpr = step.jaxpr
    consts, carry, xs = split(jaxpr.invars, num_consts, num_carry)
    outs, ys = split(jaxpr.outvars, num_carry)
    pairs = list(zip(carry, outs, strict=True))
    fixed = [*consts, *(v for v, out in pairs if v is out)]
    moving = [v for v, out in pairs if v is not out]
    kept: list[Atom] = [out for v, out in pairs if v is not out]
    place = {v: i for i, v in enumerate(jaxpr.invars)}
    results: list[tuple[int, bool, bool]] = []
    following = iter(range(len(kept)))
    for v, out in pairs:
        results.append(
            (place[v], True, False) if v is out else (next(following), False, False)
        )
    for y in ys:
        if y in xs or y in fixed:
            results.append((place[y], True, y in fixed))
            continue
        if y not in kept[len(moving) :]:
            kept.append(y)
        results.append((kept.index(y, len(moving)), False, False))
    invars = [*fixed, *moving, *xs]
    operands = tuple(place[v] for v in invars)
    changed: ClosedJaxpr | None = None
    if len(kept) < len(jaxpr.outvars):
        changed = ClosedJaxpr(Jaxpr((), invars, kept, jaxpr.eqns, jaxpr.name))
    return ForwardingPlan(changed, len(fixed), len(moving), operands, tuple(results))


# ---- lowering ----


def lower_scan(
    b: Builder,
    values: Sequence[Value],
    jaxpr: ClosedJaxpr,
    *,
    length: Dim,
    unroll: int,
    **walk: Any,
) -> tuple[Value, ...]:
    """Write a scan.

    Args:
        b: the builder of the function or the region.
        values: the operands.
        jaxpr: the step.
        length: how many steps there are.
        unroll: how many steps an iteration runs.
        walk: `num_consts`, `num_carry` and `reverse`.
    """
    num_carry = walk["num_carry"]
    consts, carry, xs = split(values, walk["num_consts"], num_carry)
    last = length - 1 if walk["reverse"] else None
    steps = _StepWriter(jaxpr, consts, xs, last, num_carry)
    _, stacked = split(jaxpr.out_avals, num_carry)
    state = [*carry, *(b.full((length, *a.shape), 0, a.dtype) for a in stacked)]
    if dims.is_symbolic(length):
        zero = b.constant(0, np.dtype(np.int32))
        return tuple(_lowered_loop(b, steps, state, zero, (length, 1)))
    dtype = np.dtype(np.int32 if length < 2**31 else np.int64)
    turns = length // unroll
    done = turns * unroll if turns > 1 else 0
    if done:
        state = _lowered_loop(b, steps, state, b.constant(0, dtype), (done, unroll))
    for i in range(done, length):
        state = steps.write(b, b.constant(i, dtype), state)
    return tuple(state)


def _lowered_loop(
    b: Builder,
    steps: "_StepWriter",
    state: list[Value],
    first: Value,
    counts: tuple[Dim, int],
) -> list[Value]:
    """Write the loop over the first `counts[0]` steps, `counts[1]` in each iteration."""
    done, unroll = counts
    ordered = ordered_effects(steps.jaxpr.jaxpr)

    def condition(inner: Builder, values: tuple[Value, ...]) -> list[Value]:
        return [inner.compare(values[0], inner.constant(done, first.dtype), "LT")]

    def body(inner: Builder, values: tuple[Value, ...]) -> list[Value]:
        (at,), tokens, now = split(values, 1, len(ordered))
        inner.tokens.update(zip(ordered, tokens, strict=True))
        for _ in range(unroll):
            now = steps.write(inner, at, now)
            at = inner.add(at, inner.constant(1, at.dtype))
        return [at, *(inner.tokens[e] for e in ordered), *now]

    taken = [first, *(b.tokens[e] for e in ordered), *state]
    _, tokens, state = split(b.while_loop(taken, condition, body), 1, len(ordered))
    b.tokens.update(zip(ordered, tokens, strict=True))
    return state


class _StepWriter(NamedTuple):
    """Writes single steps of a scan.

    Args:
        jaxpr: the step.
        consts: the constants.
        xs: the scanned operands.
        last: the index of the last slice if the walk begins there.
        num_carry: how many results go on to the next step.
    """

    jaxpr: ClosedJaxpr
    consts: list[Value]
    xs: list[Value]
    last: Dim | None
    num_carry: int

    def write(self, b: Builder, at: Value, state: Sequence[Value]) -> list[Value]:
        """Write step `at` on the carry and the stacked results so far."""
        if self.last is not None:
            at = b.subtract(b.constant(self.last, at.dtype), at)
        zero = b.constant(0, at.dtype)
        carry, ys = split(state, self.num_carry)
        slices: list[Value] = []
        for x in self.xs:
            part = indexed.dynamic_slice(
                b, x, _slice_starts(at, zero, x), (1, *x.shape[1:])
            )
            slices.append(b.reshape(part, x.shape[1:]))
        name = self.jaxpr.jaxpr.name or "step"
        outs = lower_call(b, self.jaxpr, [*self.consts, *carry, *slices], name)
        carry, parts = split(outs, self.num_carry)
        for i, part in enumerate(parts):
            row = b.reshape(part, (1, *part.shape))
            ys[i] = indexed.dynamic_update_slice(
                b, ys[i], row, _slice_starts(at, zero, ys[i])
            )
        return [*carry, *ys]


def _slice_starts(at: Value, zero: Value, x: Value) -> list[Value]:
    return [at, *[zero] * (x.ndim - 1)]

"""The lowering of `scan`: a `while` that counts, and writes each step's slices in place.

Each turn calls the function of the step `unroll` times; what is left over follows the
loop, and so does everything if there would be one turn only.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from imprint._src.control_flow.operand_lists import split
from imprint._src.core import dims
from imprint._src.core.dims import Dim
from imprint._src.core.jaxpr import ClosedJaxpr
from imprint._src.interpreters.lowering import lower_call, ordered_effects
from imprint._src.stablehlo import Builder, Value, indexed


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
        unroll: how many steps one turn takes.
        walk: `num_consts`, `num_carry` and `reverse`.
    """
    num_carry = walk["num_carry"]
    consts, carry, xs = split(values, walk["num_consts"], num_carry)
    last = length - 1 if walk["reverse"] else None
    steps = _Steps(jaxpr, consts, xs, last, num_carry)
    _, stacked = split(jaxpr.out_avals, num_carry)
    state = [*carry, *(b.full((length, *a.shape), 0, a.dtype) for a in stacked)]
    if dims.is_symbolic(length):
        zero = b.constant(0, np.dtype(np.int32))
        return tuple(_turns(b, steps, state, zero, (length, 1)))
    dtype = np.dtype(np.int32 if length < 2**31 else np.int64)
    turns = length // unroll
    done = turns * unroll if turns > 1 else 0
    if done:
        state = _turns(b, steps, state, b.constant(0, dtype), (done, unroll))
    for i in range(done, length):
        state = steps.write(b, b.constant(i, dtype), state)
    return tuple(state)


def _turns(
    b: Builder,
    steps: "_Steps",
    state: list[Value],
    first: Value,
    counts: tuple[Dim, int],
) -> list[Value]:
    """Write the loop over the first `counts[0]` steps, `counts[1]` in each turn."""
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


class _Steps(NamedTuple):
    """Writes single steps of a scan.

    Args:
        jaxpr: the step.
        consts: what stays as it is.
        xs: what is walked over.
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
            part = indexed.dynamic_slice(b, x, _starts(at, zero, x), (1, *x.shape[1:]))
            slices.append(b.reshape(part, x.shape[1:]))
        name = self.jaxpr.jaxpr.name or "step"
        outs = lower_call(b, self.jaxpr, [*self.consts, *carry, *slices], name)
        carry, parts = split(outs, self.num_carry)
        for i, part in enumerate(parts):
            row = b.reshape(part, (1, *part.shape))
            ys[i] = indexed.dynamic_update_slice(
                b, ys[i], row, _starts(at, zero, ys[i])
            )
        return [*carry, *ys]


def _starts(at: Value, zero: Value, x: Value) -> list[Value]:
    return [at, *[zero] * (x.ndim - 1)]

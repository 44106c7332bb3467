"""NaN flags of loops: the iteration in which a NaN was made.

Under `debug_nans` the flags of a step are part of the loop's carry: the flags of the first
iteration with a raised result, and the number of that iteration plus one. So a loop of any
length has the flags of one step, which reach equations inside as flags outside do. A step
without a float result stays as it is.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from imprint._src.control_flow.operand_lists import split
from imprint._src.core.aval import ShapedArray
from imprint._src.core.jaxpr import ClosedJaxpr, Eqn, eval_jaxpr
from imprint._src.core.primitive import Params
from imprint._src.diagnostics.source import reset_replayed_source, set_replayed_source
from imprint._src.interpreters.trace_to_jaxpr import DebugInfo, stage
from imprint._src.primitives.core_ops import add, broadcast_in_dim
from imprint._src.primitives.elementwise.bitwise import and_
from imprint._src.primitives.elementwise.comparison import eq, ne
from imprint._src.primitives.elementwise.select import select_n
from imprint._src.primitives.indexing.slicing import concatenate, slice_in_dim
from imprint._src.primitives.reductions import reduce_or

ADDED: Final = 3
"""How many values the carry has more."""
NOT_RAISED: Final = np.zeros((), np.int32)[()]
"""A flag that is not raised; flags are integers, as some hold the iteration of a loop."""
_ONE: Final = np.ones((), np.int32)[()]


def run_with_nan_flags(
    watch: Any,
    eqn: Eqn,
    operands: Sequence[tuple[Any, int]],
    step: ClosedJaxpr,
    counts: tuple[int, int, int],
    params_of: Callable[[ClosedJaxpr], Params],
) -> list[tuple[Any, int]]:
    """Run a loop with the flags of its step; return its results with their flags.

    Args:
        watch: the interpreter of `debug_nans`, as for every rule `sentinels`.
        eqn: the loop.
        operands: its operands with their flags: those of the condition, the constants of
            the step, the carry, the scanned operands.
        step: `(*consts, *carry, *slices) -> (*carry, *slices)`.
        counts: how many operands its condition and each step take, and the carry has.
        params_of: returns the params of the loop with a step whose carry has `ADDED` more
            values at its end.
    """
    asked, consts, carried = counts
    body = watch.body(step)
    if all(flag < 0 for flag in body.results):
        return watch.bind(eqn, operands)
    size = len(body.origins)
    token = set_replayed_source(eqn.source)
    try:
        first, last = split([x for x, _ in operands], asked + consts + carried)
        start = NOT_RAISED, NOT_RAISED, broadcast_in_dim(NOT_RAISED, (size,), ())
        params = params_of(_with_turns(body, step, consts, carried))
        outs = eqn.primitive.bind_all(*first, *start, *last, **params)
        carry, (_, turn, flags), ys = split(outs, carried, ADDED)
        given = [flag for _, flag in operands]
        made = watch.adopt(flags, body, eqn, given[asked:], turn)
        name, source = eqn.primitive.name, eqn.source
        causes = [flag for flag in (*made, *given) if flag >= 0]
        return [
            (x, watch.add(x, name, source, (*[m] * (m >= 0), *causes)))
            for x, m in zip((*carry, *ys), made, strict=True)
        ]
    finally:
        reset_replayed_source(token)


def _with_turns(body: Any, step: ClosedJaxpr, consts: int, carried: int) -> ClosedJaxpr:
    """Return the step of a loop that also carries the iteration and the first raised flags."""
    raised = [flag for flag in body.results if flag >= 0]
    size = len(body.origins)
    number = ShapedArray((), np.dtype(np.int32))
    added = number, number, number.with_shape((size,))

    def run(*args: Any) -> list[Any]:
        before, (turn, when, seen), xs = split(args, consts + carried, ADDED)
        closed = body.closed
        *outs, flags = eval_jaxpr(closed.jaxpr, closed.consts, *before, *xs)
        of_results = [slice_in_dim(flags, i, i + 1) for i in raised]
        calm = broadcast_in_dim(NOT_RAISED, (len(raised),), ())
        is_raised = reduce_or(ne(concatenate(of_results, 0), calm), (0,))
        is_first = and_(is_raised, eq(when, NOT_RAISED))
        turn = add(turn, _ONE)
        when = select_n(is_first, when, turn)
        seen = select_n(broadcast_in_dim(is_first, (size,), ()), seen, flags)
        carry, ys = split(outs, carried)
        return [*carry, turn, when, seen, *ys]

    avals = [*step.in_avals]
    at = consts + carried
    avals[at:at] = added
    return stage(run, avals, DebugInfo("debug_nans", step.jaxpr.name))

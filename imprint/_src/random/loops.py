"""Loops of samplers: rejection, and sequences of draws.

Both take and return pytrees; no step changes their types.
"""

from collections.abc import Callable
from typing import Any

from imprint._src.control_flow.scan import scan
from imprint._src.control_flow.trace_body import TracedBody, trace_body
from imprint._src.control_flow.while_ import while_loop
from imprint._src.core.aval import ShapedArray, get_aval
from imprint._src.tree import internal as tree


def repeat_while(
    condition: Callable[..., Any], step: Callable[..., Any], *carry: Any
) -> Any:
    """Return the carry once the condition is false.

    Args:
        condition: a function of the carry.
        step: a function from the carry to the next one, a tuple.
        carry: the initial carry.
    """
    asked, stepped = (_closed(f, *carry) for f in (condition, step))
    outs = while_loop(
        asked.jaxpr,
        stepped.jaxpr,
        (asked.captured, stepped.captured),
        tree.leaves(carry),
    )
    return stepped.out_tree.unflatten(outs)


def walk(
    step: Callable[..., Any], carry: Any, xs: Any, length: Any, unroll: int
) -> Any:
    """Scan the first axis of arrays; return the last carry, and results stacked.

    Args:
        step: a function of the carry and a slice; returns carry and result.
        carry: the initial carry.
        xs: the arrays.
        length: the number of slices.
        unroll: the number of slices in an iteration of the compiled loop.
    """
    closed = _closed(step, carry, tree.map(_of_one, xs))
    outs = scan(
        closed.jaxpr,
        closed.captured,
        tree.leaves(carry),
        tree.leaves(xs),
        length=length,
        reverse=False,
        unroll=unroll,
    )
    return closed.out_tree.unflatten(outs)


def _of_one(x: Any) -> ShapedArray:
    aval = get_aval(x)
    return aval.with_shape(aval.shape[1:])


def _closed(function: Callable[..., Any], *args: Any) -> TracedBody:
    leaves, treedef = tree.flatten(args)
    avals = [x if hasattr(x, "with_shape") else get_aval(x).unplaced() for x in leaves]
    return trace_body(function, treedef, avals, "imprint.random")

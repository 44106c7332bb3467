"""Loops of draws: what repeats until it is accepted, and what is drawn one after another.

Both take and return pytrees, whose types no step changes.
"""

from collections.abc import Callable
from typing import Any

from imprint import tree
from imprint._src.control_flow.scan import scan
from imprint._src.control_flow.trace_body import TracedBody, trace_body
from imprint._src.control_flow.while_ import while_loop
from imprint._src.core.aval import ShapedArray, get_aval


def repeat_while(
    condition: Callable[..., Any], step: Callable[..., Any], *carry: Any
) -> Any:
    """Return what the carry is when the condition holds no more.

    Args:
        condition: takes the carry.
        step: takes the carry and returns the next one, a tuple.
        carry: what goes from step to step.
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
    """Walk over the first axis of arrays; return the last carry, and results stacked.

    Args:
        step: takes the carry and what there is at one place; returns carry and result.
        carry: what goes from step to step.
        xs: the arrays.
        length: how many places there are.
        unroll: how many of them one turn of the compiled loop takes.
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

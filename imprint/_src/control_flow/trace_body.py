"""Closing: how the function of a branch or of a loop's step becomes a jaxpr.

A user's body takes and returns pytrees and may capture anything; what a control primitive
holds takes and returns flat arrays and has no constants. So a body is staged at the
avals of its arguments, its results are checked as those of a jitted function are, and
what it captured becomes leading arguments, tracers of enclosing traces among them. A
captured number stays a literal. The branches of one conditional take the same operands,
so what any of them captured becomes an argument of all (`unite`).
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from imprint import tree
from imprint._src.core.aval import ShapedArray, get_aval
from imprint._src.core.functions import copy_leaf, name_of, result_leaves
from imprint._src.core.jaxpr import ClosedJaxpr, Jaxpr, Var
from imprint._src.diagnostics.source import current_source
from imprint._src.interpreters.trace_to_jaxpr import (
    Staged,
    check_leaks_of,
    hoist_consts,
    stage_with_origins,
)


class Closed(NamedTuple):
    """A body as a jaxpr.

    Args:
        jaxpr: `(*captured, *arguments) -> results`, without constants.
        captured: the values of its leading arguments: operands of who binds it.
        origins: the objects of the user's that they stand for; a NumPy array is copied
            when it is captured.
        out_tree: the tree of what the body returned.
    """

    jaxpr: ClosedJaxpr
    captured: tuple[Any, ...]
    origins: tuple[Any, ...]
    out_tree: tree.TreeDef


def close(
    fun: Callable[..., Any],
    in_tree: tree.TreeDef,
    avals: Sequence[ShapedArray],
    caller: str,
    arg_names: Sequence[str] = (),
) -> Closed:
    """Stage a user's body.

    Args:
        fun: the body.
        in_tree: the tree of its positional arguments, a tuple.
        avals: those of the leaves of `in_tree`; weak types stay.
        caller: what the body was given to, such as `cond`, for messages.
        arg_names: names of the leaves, for messages.
    """
    name = name_of(fun)
    staged = Staged(caller, name, arg_names, current_source(), is_body=True)
    trees: list[tree.TreeDef] = []

    def flat(*tracers: Any) -> list[Any]:
        result = fun(*in_tree.unflatten(tracers))
        leaves, out_tree = result_leaves(result, f"{caller}({name})", REMEDY)
        trees.append(out_tree)
        return leaves

    staging, origins = stage_with_origins(flat, avals, staged)
    if staged.ended:
        check_leaks_of(staged)
    # An array's alias is for traces that outlive it; here it is bound at once.
    captured = tuple(
        copy if type(x) is np.ndarray else x
        for copy, x in zip(staging.consts, origins, strict=True)
    )
    return Closed(hoist_consts(staging), captured, tuple(origins), trees[0])


REMEDY: Final = "Return only what the computation gives; keep Python values outside."


def unite(bodies: Sequence[Closed]) -> tuple[tuple[ClosedJaxpr, ...], tuple[Any, ...]]:
    """Return bodies with the same leading arguments, and their values: each once.

    A body that is given twice is one jaxpr twice.
    """
    return _united([(body.jaxpr, body.origins, body.captured) for body in bodies])


def unite_consts(
    jaxprs: Sequence[ClosedJaxpr],
) -> tuple[tuple[ClosedJaxpr, ...], tuple[Any, ...]]:
    """Return jaxprs in which the constants of all are leading arguments, and those."""
    return _united([(hoist_consts(j), j.consts, j.consts) for j in jaxprs])


def _united(
    bodies: Sequence[tuple[ClosedJaxpr, Sequence[Any], Sequence[Any]]],
) -> tuple[tuple[ClosedJaxpr, ...], tuple[Any, ...]]:
    found: list[tuple[Any, Any]] = []
    places = [
        [_place(found, *pair) for pair in zip(origins, values, strict=True)]
        for _, origins, values in bodies
    ]
    captured = tuple(value for _, value in found)
    widened = {
        hoisted: _widened(hoisted.jaxpr, at, captured)
        for (hoisted, _, _), at in zip(bodies, places, strict=True)
    }
    return tuple(widened[hoisted] for hoisted, _, _ in bodies), captured


def _place(found: list[tuple[Any, Any]], origin: Any, value: Any) -> int:
    """Return where a captured value stands among those of all bodies."""
    for i, (other, known) in enumerate(found):
        # The first body may have written into an array that the second captures.
        if origin is other and (known is value or np.array_equal(known, value)):
            return i
    found.append((origin, value))
    return len(found) - 1


def _widened(jaxpr: Jaxpr, places: list[int], captured: tuple[Any, ...]) -> ClosedJaxpr:
    leading = [Var(get_aval(x).unplaced()) for x in captured]
    for i, place in enumerate(places):
        leading[place] = jaxpr.invars[i]
    rest = jaxpr.invars[len(places) :]
    return ClosedJaxpr(
        Jaxpr((), (*leading, *rest), jaxpr.outvars, jaxpr.eqns, jaxpr.name)
    )


def own_leaves(
    value: Any, caller: str, name: str
) -> tuple[list[Any], tree.TreeDef, list[str]]:
    """Take operands apart into arrays and numbers that nobody can change.

    Args:
        value: a pytree.
        caller: what it was given to, for messages.
        name: how messages call the value; a leaf is called by its path in it.

    Returns:
        The leaves, the tree and the names of the leaves.
    """
    leaves, treedef = tree.flatten(value)
    names = [f"{name}{tree.keystr(path)}" for path in treedef.paths()]
    owned = [
        copy_leaf(x, caller, n, _OF_MODELS if callable(x) else _OF_VALUES)
        for x, n in zip(leaves, names, strict=True)
    ]
    return owned, treedef, names


_OF_VALUES: Final = "Close over it in the function instead."
_OF_MODELS: Final = (
    f"{_OF_VALUES} Of a model: arrays, rest = imprint.partition(model, imprint.is_array), "
    "give the arrays, and in the function imprint.combine(arrays, rest) is the model."
)

"""Bodies as jaxprs: staging the function of a branch or of a loop's step.

A body takes and returns pytrees and may capture anything; a control primitive needs flat
arrays and no constants. So a body is staged at the avals of its arguments, its results are
checked like those of a jitted function, and captured values become leading arguments, also
tracers of enclosing traces. A captured number stays a literal. The branches of a conditional
take the same operands, so a value that one captures is an argument of all (`unite`).
Branches return the same tree, dtypes and shapes, and so does a step as it takes; weak types
may differ. `first_mismatch` locates a difference, for messages.
"""

from collections.abc import Callable, Sequence
from enum import Enum
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from imprint._src import dtypes
from imprint._src.core.aval import ShapedArray, get_aval
from imprint._src.core.functions import copy_leaf, name_of, result_leaves
from imprint._src.core.jaxpr import ClosedJaxpr, Jaxpr, Var
from imprint._src.diagnostics.source import current_source
from imprint._src.errors import ArgumentError
from imprint._src.interpreters.trace_to_jaxpr import (
    DebugInfo,
    check_leaks_of,
    hoist_consts,
    stage_with_origins,
)
from imprint._src.tree import internal as tree
from imprint._src.tree.prefix import first_difference

# ---- mismatches of types ----

_LONGEST = 300


class Returned(NamedTuple):
    """The arguments or results of a body: their tree, and the avals of its leaves."""

    treedef: tree.TreeDef
    avals: Sequence[ShapedArray]

    def __str__(self) -> str:
        """Return the tree with the types of its leaves, as in user code."""
        leaves = [_Word(aval.strong()) for aval in self.avals]
        try:
            text = repr(self.treedef.unflatten(leaves))
        except Exception:  # a user class that takes only arrays
            text = str(self.treedef)
        return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


class MismatchKind(Enum):
    """The kind of a mismatch: of the trees, or of two leaves."""

    TREE = "tree"
    DTYPE = "dtype"
    SHAPE = "shape"


class TypeMismatch(NamedTuple):
    """The first mismatch of two trees of avals.

    Args:
        kind: the kind of the mismatch.
        where: the path, such as `['a'][0]`; empty for the whole.
        expected: the first side there.
        got: the second side there.
        dtype: the name of the common dtype, if the dtypes differ.
    """

    kind: MismatchKind
    where: str
    expected: str
    got: str
    dtype: str = ""


def first_mismatch(expected: Returned, got: Returned) -> TypeMismatch | None:
    """Return the first mismatch; None if there is none."""
    found = first_difference(expected.treedef, got.treedef)
    if found is not None:
        return TypeMismatch(MismatchKind.TREE, *found)
    paths = expected.treedef.paths()
    for path, ours, theirs in zip(paths, expected.avals, got.avals, strict=True):
        words = tree.keystr(path), str(ours.strong()), str(theirs.strong())
        if ours.dtype != theirs.dtype:
            pair = (ours.dtype, ours.weak_type), (theirs.dtype, theirs.weak_type)
            common, _ = dtypes.promote(pair)
            return TypeMismatch(MismatchKind.DTYPE, *words, common.name)
        if ours.shape != theirs.shape:
            return TypeMismatch(MismatchKind.SHAPE, *words)
    return None


def defined(function: Any) -> str:
    """Return the name of a function and its definition line."""
    code = getattr(function, "__code__", None)
    name = name_of(function)
    if code is None:
        return name
    return f"{name} at {Path(code.co_filename).name}:{code.co_firstlineno}"


class _Word:
    """A leaf that prints as its type."""

    def __init__(self, aval: ShapedArray) -> None:
        self._text = str(aval)

    def __repr__(self) -> str:
        return self._text


# ---- bodies ----


class TracedBody(NamedTuple):
    """A body as a jaxpr.

    Args:
        jaxpr: `(*captured, *arguments) -> results`, without constants.
        captured: the values of its leading arguments: operands of the equation.
        origins: the captured objects themselves; a NumPy array is copied when it is
            captured.
        out_tree: the tree of the body's result.
    """

    jaxpr: ClosedJaxpr
    captured: tuple[Any, ...]
    origins: tuple[Any, ...]
    out_tree: tree.TreeDef


def trace_body(
    fun: Callable[..., Any],
    in_tree: tree.TreeDef,
    avals: Sequence[ShapedArray],
    caller: str,
    arg_names: Sequence[str] = (),
) -> TracedBody:
    """Stage a body.

    Args:
        fun: the body.
        in_tree: the tree of its positional arguments, a tuple.
        avals: those of the leaves of `in_tree`; weak types stay.
        caller: the public function, such as `cond`, for messages.
        arg_names: names of the leaves, for messages.
    """
    name = name_of(fun)
    debug_info = DebugInfo(caller, name, arg_names, current_source(), is_body=True)
    trees: list[tree.TreeDef] = []

    def flat(*tracers: Any) -> list[Any]:
        result = fun(*in_tree.unflatten(tracers))
        leaves, out_tree = result_leaves(result, f"{caller}({name})", REMEDY)
        trees.append(out_tree)
        return leaves

    staging, origins = stage_with_origins(flat, avals, debug_info)
    if debug_info.ended:
        check_leaks_of(debug_info)
    # An array's alias is for traces that outlive it; here it is bound at once.
    captured = tuple(
        copy if type(x) is np.ndarray else x
        for copy, x in zip(staging.consts, origins, strict=True)
    )
    return TracedBody(hoist_consts(staging), captured, tuple(origins), trees[0])


REMEDY: Final = "Return only what the computation gives; keep Python values outside."


def unite(
    bodies: Sequence[TracedBody],
) -> tuple[tuple[ClosedJaxpr, ...], tuple[Any, ...]]:
    """Give bodies the same leading arguments; return the bodies and the values, each once.

    A body that is given twice is one jaxpr twice.
    """
    return _united([(body.jaxpr, body.origins, body.captured) for body in bodies])


def unite_consts(
    jaxprs: Sequence[ClosedJaxpr],
) -> tuple[tuple[ClosedJaxpr, ...], tuple[Any, ...]]:
    """Make the constants of all jaxprs leading arguments of each; return both."""
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
    """Return the index of a captured value among those of all bodies."""
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
    """Flatten operands into arrays and numbers that cannot be mutated.

    Args:
        value: a pytree.
        caller: the public function, for messages.
        name: how messages call the value; a leaf is called by its path in it.

    Returns:
        The leaves, the tree and the names of the leaves.
    """
    leaves, treedef = own_values(value, caller, name)
    return leaves, treedef, leaf_names(treedef, name)


def own_values(value: Any, caller: str, name: str) -> tuple[list[Any], tree.TreeDef]:
    """Flatten operands as `own_leaves` does, without the names of the leaves."""
    leaves, treedef = tree.flatten(value)
    owned: list[Any] = []
    for x in leaves:
        try:
            owned.append(copy_leaf(x, caller, ""))
        except ArgumentError:
            leaf_name = leaf_names(treedef, name)[len(owned)]
            copy_leaf(x, caller, leaf_name, _OF_MODELS if callable(x) else _OF_VALUES)
    return owned, treedef


def leaf_names(treedef: tree.TreeDef, name: str) -> list[str]:
    """Return the names of the leaves of a value by their paths in it."""
    return [f"{name}{tree.keystr(path)}" for path in treedef.paths()]


_OF_VALUES: Final = "Close over it in the function instead."
_OF_MODELS: Final = (
    f"{_OF_VALUES} Of a model: arrays, rest = imprint.partition(model, imprint.is_array), "
    "give the arrays, and in the function imprint.combine(arrays, rest) is the model."
)

"""The linear functions that `vjp` and `linearize` return, as nodes of pytrees.

Each is a `tree.Partial`: its children are the residuals, and its static part is the tangent
program with the trees that it takes and gives. So it can be an argument or a result of a
transformed function. A program is the same only as itself.
"""

import itertools
from collections.abc import Sequence
from typing import Any, Final, cast, final

import numpy as np

from imprint import tree
from imprint._src import dtypes
from imprint._src.core.aval import ShapedArray, get_aval
from imprint._src.core.functions import as_result, copy_leaf
from imprint._src.core.jaxpr import eval_jaxpr
from imprint._src.core.tangents import (
    UndefinedPrimal,
    Zero,
    is_float0,
    is_zero,
    no_values,
    tangent_aval,
    zero_of,
)
from imprint._src.diagnostics.traceback_filter import filter_traceback
from imprint._src.errors import ArgumentError, TreeError
from imprint._src.interpreters.jvp import merge_zeros
from imprint._src.interpreters.linearize import Linearized
from imprint._src.interpreters.trace_to_jaxpr import lift_scalars
from imprint._src.interpreters.transpose import backward_pass
from imprint._src.primitives.core_ops import instantiate


class LinearProgram:
    """A tangent program, without its residuals, and what it is for.

    Args:
        lin: what was linearized; its first results are those of `out_tree`.
        primals: where; like the results, they may be avals.
        in_tree: the structure of the primals.
        out_tree: the structure of the results.
    """

    __slots__ = (
        "__weakref__",
        "_count",
        "_in_avals",
        "_in_tree",
        "_jaxpr",
        "_nonzero",
        "_number",
        "_out_avals",
        "_out_tree",
    )

    def __init__(
        self,
        lin: Linearized,
        primals: Sequence[Any],
        in_tree: tree.TreeDef,
        out_tree: tree.TreeDef,
    ) -> None:
        self._jaxpr = lin.tangent.jaxpr
        self._nonzero = lin.nonzero
        self._in_avals = [*map(_aval_of, primals)]
        self._out_avals = [*map(_aval_of, lin.outs)]
        self._in_tree = in_tree
        self._out_tree = out_tree
        self._count: int = cast("Any", out_tree).num_leaves
        self._number = next(_numbers)

    def __imprint_token__(self) -> int:
        """Return what tells this program from all others."""
        return self._number

    def pull(self, residuals: Sequence[Any], cts: Sequence[Any]) -> list[Any]:
        """Return the cotangents of all primals at cotangents of the results."""
        others = self._out_avals[len(cts) :]
        given = [*cts, *map(zero_of, others)]
        wanted = [ct for ct, has in zip(given, self._nonzero, strict=True) if has]
        holes = [UndefinedPrimal(v.aval) for v in self._jaxpr.invars]
        found = iter(backward_pass(self._jaxpr, residuals, holes, wanted))
        return [_cotangent(aval, found) for aval in self._in_avals]

    def push(self, residuals: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        """Return the tangents of all results at tangents of the primals."""
        avals = zip(self._in_avals, tangents, strict=True)
        used = [t for aval, t in avals if dtypes.is_inexact(aval.dtype)]
        found = eval_jaxpr(self._jaxpr, residuals, *used)
        return [*merge_zeros(self._out_avals, self._nonzero, found)]


_numbers: Final = itertools.count()


def _aval_of(x: Any) -> ShapedArray:
    return x if isinstance(x, ShapedArray) else get_aval(x).unplaced()


def _cotangent(aval: ShapedArray, found: Any) -> Any:
    if not dtypes.is_inexact(aval.dtype):
        return no_values(aval.shape)
    ct = next(found)
    return as_result(instantiate(Zero(aval) if is_zero(ct) else ct))


@final
class _Pullback(LinearProgram):
    """The program of the function that `vjp` returns."""

    __slots__ = ()

    @filter_traceback
    def __call__(self, residuals: Sequence[Any], cotangent: Any, /) -> tuple[Any, ...]:
        avals = self._out_avals[: self._count]
        cts = check_like(cotangent, self._out_tree, avals, "vjp", "cotangent")
        return tuple(self._in_tree.unflatten(self.pull(residuals, cts)))


@final
class _Pushforward(LinearProgram):
    """The program of the function that `linearize` returns."""

    __slots__ = ()

    @filter_traceback
    def __call__(self, residuals: Sequence[Any], /, *tangents: Any) -> Any:
        avals = [tangent_aval(aval) for aval in self._in_avals]
        given = check_like(list(tangents), self._in_tree, avals, "linearize", "tangent")
        found = self.push(residuals, given)[: self._count]
        return self._out_tree.unflatten(map(tangent_result, found))


def pullback(
    lin: Linearized, primals: Sequence[Any], in_tree: tree.TreeDef, out_tree: Any
) -> Any:
    """Return the function from a cotangent to those of the primals, as a node."""
    return _node(_Pullback, lin, primals, in_tree, out_tree)


def pushforward(
    lin: Linearized, primals: Sequence[Any], in_tree: tree.TreeDef, out_tree: Any
) -> Any:
    """Return the function from tangents to that of the result, as a node."""
    return _node(_Pushforward, lin, primals, in_tree, out_tree)


def _node(kind: type[LinearProgram], lin: Linearized, *rest: Any) -> Any:
    lin = lin._replace(tangent=lift_scalars(lin.tangent))
    program: Any = kind(lin, *rest)
    return tree.Partial(program, lin.tangent.consts)


# ---- what they and `jvp` take and give ----


def check_like(
    given: Any, treedef: tree.TreeDef, avals: Sequence[ShapedArray], who: str, what: str
) -> list[Any]:
    """Return the leaves of tangents or cotangents; raise unless they fit.

    Args:
        given: the tree of them.
        treedef: the structure that they have to have.
        avals: what each of them has to be.
        who: the name of the transform.
        what: the word for what is given.
    """
    leaves, given_tree = tree.flatten(given)
    if given_tree != treedef:
        raise TreeError(
            f"{who}: expected a {what} of structure {treedef}, got {given_tree}. "
            f"Give the {what} the structure of the value it belongs to."
        )
    for x, aval in zip(leaves, avals, strict=True):
        came = get_aval(x)
        fits = is_float0(x) and not dtypes.is_inexact(aval.dtype)
        if came.shape != aval.shape or not (fits or came.dtype == aval.dtype):
            raise ArgumentError(
                f"{who}: expected a {what} {aval.strong()}, got {came}. "
                f"Convert it to the shape and dtype of the value it belongs to."
            )
    return [x if is_float0(x) else float_array(copy_leaf(x, who, what)) for x in leaves]


def float_array(x: Any) -> Any:
    """Return a number of a floating dtype as an array, which keeps it if flags change."""
    is_number = isinstance(x, float | complex | np.inexact)
    return as_result(x) if is_number else x


def tangent_result(t: Any) -> Any:
    """Return a tangent, perhaps symbolic, as an array."""
    if is_zero(t) and is_float0(t.aval):
        return no_values(t.aval.shape)
    return as_result(instantiate(t))

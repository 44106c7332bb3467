"""The linear functions of `vjp`, `linearize` and `linear_transpose`, as nodes of pytrees.

Each is a `tree.Partial`: its children are the residuals, and its static part is the tangent
program with its input and output trees. So it can be an argument or a result of a
transformed function. Programs compare by identity.
`linear_transpose` does not evaluate its function: shapes and dtypes are enough.
"""

import itertools
from collections.abc import Callable, Sequence
from typing import Any, Final, cast, final

import numpy as np

from imprint._src import dtypes
from imprint._src.core.aval import ShapedArray, get_aval
from imprint._src.core.functions import (
    as_result,
    check_function,
    check_no_axes,
    copy_leaf,
    name_of,
    result_leaves,
)
from imprint._src.core.jaxpr import ClosedJaxpr, eval_jaxpr
from imprint._src.core.shape_struct import ShapeDtypeStruct
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
from imprint._src.errors import ArgumentError, NotDifferentiableError, TreeError
from imprint._src.interpreters.dce import dce
from imprint._src.interpreters.jvp import merge_zeros
from imprint._src.interpreters.linearize import Linearized
from imprint._src.interpreters.trace_to_jaxpr import DebugInfo, lift_scalars, stage
from imprint._src.interpreters.transpose import backward_pass
from imprint._src.primitives.core_ops import instantiate
from imprint._src.tree import internal as tree
from imprint._src.tree.functions import tree_flatten
from imprint._src.tree.treedef import opaque_types


class LinearProgram:
    """A tangent program, without its residuals, and its signature.

    Args:
        lin: the linearized function; its first results are those of `out_tree`.
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
        """Return a token that identifies this program."""
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


# ---- tangents and cotangents ----


def check_like(
    given: Any, treedef: tree.TreeDef, avals: Sequence[ShapedArray], who: str, what: str
) -> list[Any]:
    """Return the leaves of tangents or cotangents; raise unless they fit.

    Args:
        given: the tree of them.
        treedef: the expected structure.
        avals: the expected avals.
        who: the name of the transform.
        what: "tangent" or "cotangent".
    """
    leaves, given_tree = tree.flatten(given)
    opened = None if given_tree.agrees(treedef) else _with_opaque(given, treedef, avals)
    if opened is not None:
        leaves = opened
    elif not given_tree.agrees(treedef):
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


def _with_opaque(
    given: Any, treedef: tree.TreeDef, avals: Sequence[ShapedArray]
) -> list[Any] | None:
    """Return the leaves of tangents in which keys have one without values, or None."""
    places, expected = tree_flatten(treedef.unflatten(range(treedef.num_leaves)))
    leaves, given_tree = tree_flatten(given)
    if not given_tree.agrees(expected):
        return None
    return [
        _no_words(x, avals, place) if type(place) in opaque_types else x
        for place, x in zip(places, leaves, strict=True)
    ]


def _no_words(x: Any, avals: Sequence[ShapedArray], place: Any) -> Any:
    """Return the tangent of the raw data of keys for that of the keys at a place."""
    i: int = tree.leaves(place)[0]
    return no_values(avals[i].shape) if is_float0(x) else x


def float_array(x: Any) -> Any:
    """Return a number of a floating dtype as an array, which keeps it if flags change."""
    is_number = isinstance(x, float | complex | np.inexact)
    return as_result(x) if is_number else x


def tangent_result(t: Any) -> Any:
    """Return a tangent, perhaps symbolic, as an array."""
    if is_zero(t) and is_float0(t.aval):
        return no_values(t.aval.shape)
    return as_result(instantiate(t))


@filter_traceback
def linear_transpose(
    fun: Callable[..., Any], *primals: Any, reduce_axes: Sequence[Any] = ()
) -> Callable[..., Any]:
    """Return the transpose of a linear function.

    Args:
        fun: a function that is linear in its arguments; from floats to floats, or from
            integers to integers.
        primals: arguments like those it takes; of a `ShapeDtypeStruct`, an aval or an
            array only shape and dtype count.
        reduce_axes: as in `grad`.

    Returns:
        A function of a cotangent of the result, which returns a tuple with a cotangent
        for each argument. It is a node of pytrees, as the pullback of `vjp` is.

    Raises:
        ArgumentError: `fun` is not a function, or `reduce_axes` is not empty.
        NotDifferentiableError: dtypes are mixed or boolean.
        AbsentRuleError: an operation is not linear.

    References:
        JAX, `jax.linear_transpose`.

    Example:
        >>> import imprint
        >>> import imprint.numpy as np
        >>> transposed = imprint.linear_transpose(lambda x: 2.0 * x.sum(), np.ones(3))
        >>> transposed(np.float32(5.0))
        (Array([10., 10., 10.], dtype=float32),)
    """
    check_function(fun, "linear_transpose")
    check_no_axes("linear_transpose", reduce_axes)
    name = name_of(fun)
    leaves, in_tree = tree.flatten(tuple(primals))
    avals = [_aval(x, i) for i, x in enumerate(leaves)]
    found: list[tree.TreeDef] = []

    def flat(*xs: Any) -> list[Any]:
        outs, out_tree = result_leaves(fun(*in_tree.unflatten(xs)), name)
        found.append(out_tree)
        return outs

    closed = lift_scalars(dce(stage(flat, avals, DebugInfo("linear_transpose", name))))
    _check_dtypes([*avals, *closed.out_avals], closed, len(avals), name)
    nonzero = (True,) * len(closed.out_avals)
    lin = Linearized(closed.out_avals, closed, nonzero)
    program: Any = _Transposed(lin, avals, in_tree, found[0])
    return tree.Partial(program, closed.consts)


def _aval(x: Any, i: int) -> ShapedArray:
    if isinstance(x, ShapedArray):
        return x.unplaced()
    if isinstance(x, ShapeDtypeStruct):
        return get_aval(x).unplaced()
    return get_aval(copy_leaf(x, "linear_transpose", f"argument {i}")).unplaced()


def _check_dtypes(
    avals: Sequence[ShapedArray], closed: ClosedJaxpr, count: int, name: str
) -> None:
    kinds = {dtypes.is_inexact(aval.dtype) for aval in avals}
    if len(kinds) > 1 or any(aval.dtype == bool for aval in avals):
        came, gave = (
            ", ".join(map(str, some)) for some in (avals[:count], closed.out_avals)
        )
        raise NotDifferentiableError(
            f"linear_transpose({name}): expected a function from floats to floats, or "
            f"from integers to integers, got one from ({came}) to ({gave}). Convert the "
            "arguments, or close over those that are not transposed."
        )


@final
class _Transposed(LinearProgram):
    """The program of the function that `linear_transpose` returns."""

    __slots__ = ()

    @filter_traceback
    def __call__(self, residuals: Sequence[Any], cotangent: Any, /) -> tuple[Any, ...]:
        who = "linear_transpose", "cotangent"
        cts = check_like(cotangent, self._out_tree, self._out_avals, *who)
        holes = [UndefinedPrimal(v.aval) for v in self._jaxpr.invars]
        found = backward_pass(self._jaxpr, residuals, holes, cts)
        return self._in_tree.unflatten([as_result(instantiate(ct)) for ct in found])

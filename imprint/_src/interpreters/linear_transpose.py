"""`linear_transpose`: the transpose of a function that is linear as it is written.

`vjp` differentiates a function and transposes what it gets; a linear function needs no
derivative, so it is not evaluated: the shapes and dtypes of its arguments are enough.
"""

from collections.abc import Callable, Sequence
from typing import Any, final

from imprint import tree
from imprint._src import dtypes
from imprint._src.core.aval import ShapedArray, get_aval
from imprint._src.core.functions import (
    as_result,
    check_function,
    name_of,
    own_leaf,
    result_leaves,
)
from imprint._src.core.jaxpr import ClosedJaxpr
from imprint._src.core.shape_struct import ShapeDtypeStruct
from imprint._src.core.tangents import Linear
from imprint._src.diagnostics.traceback_filter import folding
from imprint._src.errors import NotDifferentiableError
from imprint._src.interpreters.dce import dce
from imprint._src.interpreters.linear_maps import LinearProgram, check_like
from imprint._src.interpreters.linearize import Linearized
from imprint._src.interpreters.trace_to_jaxpr import DebugInfo, lift_scalars, stage
from imprint._src.interpreters.transpose import backward_pass
from imprint._src.primitives.core_ops import instantiate


@folding
def linear_transpose(fun: Callable[..., Any], *primals: Any) -> Callable[..., Any]:
    """Return the transpose of a linear function.

    Args:
        fun: a function that is linear in its arguments; from floats to floats, or from
            integers to integers.
        primals: arguments like those it takes; of a `ShapeDtypeStruct` or an array only
            shape and dtype count.

    Returns:
        A function of a cotangent of the result, which returns a tuple with a cotangent
        for each argument. It is a node of pytrees, as the pullback of `vjp` is.

    Example:
        >>> import imprint
        >>> import imprint.numpy as np
        >>> transposed = imprint.linear_transpose(lambda x: 2.0 * x.sum(), np.ones(3))
        >>> transposed(np.float32(5.0))
        (Array([10., 10., 10.], dtype=float32),)
    """
    check_function(fun, "linear_transpose")
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
    if isinstance(x, ShapeDtypeStruct):
        return get_aval(x).unplaced()
    return get_aval(own_leaf(x, "linear_transpose", f"argument {i}")).unplaced()


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

    @folding
    def __call__(self, residuals: Sequence[Any], cotangent: Any, /) -> tuple[Any, ...]:
        who = "linear_transpose", "cotangent"
        cts = check_like(cotangent, self._out_tree, self._out_avals, *who)
        holes = [Linear(v.aval) for v in self._jaxpr.invars]
        found = backward_pass(self._jaxpr, residuals, holes, cts)
        return self._in_tree.unflatten([as_result(instantiate(ct)) for ct in found])

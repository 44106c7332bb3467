"""A choice that `vmap` maps: every branch runs on the whole batch, elements are selected.

A branch also computes slices that another one was chosen for, and what it gives there is
dropped; but a derivative that is infinite there would become NaN, since it is multiplied
by the zero cotangent of what was dropped. So no gradient goes back into such slices
(`_cut_off`), which costs nothing when the program runs. An operand that all slices share
has no slices, and repeating a large one would cost more than the branch: then the slices
of the others are replaced by one that the branch was chosen for, where its derivative is
what the user asked for (`_replaced`).
"""

from typing import Any, Final

import numpy as np

from imprint._src.core.aval import get_aval
from imprint._src.core.jaxpr import ClosedJaxpr, eval_jaxpr
from imprint._src.core.primitive import Dims, Values
from imprint._src.dtypes import is_inexact
from imprint._src.interpreters.batching import batch_jaxpr
from imprint._src.primitives.arg_reductions import argmax
from imprint._src.primitives.barrier import stop_gradient
from imprint._src.primitives.core_ops import broadcast_in_dim, moveaxis
from imprint._src.primitives.elementwise.comparison import eq
from imprint._src.primitives.elementwise.convert import convert_element_type
from imprint._src.primitives.elementwise.select import select_n
from imprint._src.primitives.indexing.dynamic_slicing import dynamic_slice
from imprint._src.primitives.reductions import reduce_or

_LARGE: Final = 256
"""How many elements a shared operand has, from which on it is not repeated."""


def select_branches(
    args: Values, dims: Dims, size: int, branches: tuple[ClosedJaxpr, ...]
) -> tuple[Values, Dims]:
    """Run every branch on the batch, and select by the index, which is operand 0."""
    index = moveaxis(args[0], dims[0] or 0, 0)
    count = len(branches[0].out_avals)
    operands = [
        x if d is None else moveaxis(x, d, 0)
        for x, d in zip(args[1:], dims[1:], strict=True)
    ]
    mapped = [d is not None for d in dims[1:]]
    if not any(map(_is_large, operands, mapped)):
        guard = _cut_off
        operands = [
            _repeated(x, size) if not on and _moves(x) else x
            for x, on in zip(operands, mapped, strict=True)
        ]
        mapped = [on or _moves(x) for x, on in zip(operands, mapped, strict=True)]
    else:
        guard = _replaced
    where = tuple(0 if on else None for on in mapped)
    columns: list[list[Any]] = []
    for number, branch in enumerate(branches):
        guarded = guard(eq(index, np.int32(number)), operands, mapped)
        derived, _ = batch_jaxpr(branch, size, where, out_dims=(0,) * count)
        columns.append(eval_jaxpr(derived.jaxpr, derived.consts, *guarded))
    outs = [
        select_n(_along(index, cases[0]), *cases)
        for cases in zip(*columns, strict=True)
    ]
    return tuple(outs), (0,) * count


def _moves(x: Any) -> bool:
    """Tell whether a value can have a gradient."""
    return is_inexact(get_aval(x).dtype)


def _is_large(x: Any, on: bool) -> bool:  # noqa: FBT001 - a column of a table
    return not on and _moves(x) and get_aval(x).size >= _LARGE


def _repeated(x: Any, size: int) -> Any:
    shape = get_aval(x).shape
    return broadcast_in_dim(x, (size, *shape), tuple(range(1, len(shape) + 1)))


def _along(x: Any, like: Any) -> Any:
    """Repeat a vector along all axes but the first."""
    shape = get_aval(like).shape
    return x if len(shape) == 1 else broadcast_in_dim(x, shape, (0,))


def _cut_off(runs: Any, operands: list[Any], mapped: list[bool]) -> list[Any]:
    """Return operands whose slices have a gradient only where the branch runs."""
    return [
        select_n(_along(runs, x), stop_gradient(x), x) if _moves(x) else x
        for x in operands
    ]


def _replaced(runs: Any, operands: list[Any], mapped: list[bool]) -> list[Any]:
    """Return operands in which one slice stands for all where the branch does not run.

    It is the first where it runs. If there is none, the shared ones have no gradient.
    """
    if get_aval(runs).size == 0:
        return operands
    runs_at_all = reduce_or(runs, (0,))
    first = argmax(convert_element_type(runs, np.int32), 0, np.int32)

    def replaced(x: Any, on: bool) -> Any:  # noqa: FBT001 - a column of a table
        if not on:
            return select_n(runs_at_all, stop_gradient(x), x) if _moves(x) else x
        shape = get_aval(x).shape
        starts = (first, *(np.int32(0) for _ in shape[1:]))
        one = stop_gradient(dynamic_slice(x, starts, (1, *shape[1:])))
        every = broadcast_in_dim(one, shape, tuple(range(len(shape))))
        return select_n(_along(runs, x), every, x)

    return [replaced(x, on) for x, on in zip(operands, mapped, strict=True)]

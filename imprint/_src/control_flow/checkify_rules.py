"""What can fail in an equation of each primitive: the rules of `checkify`.

`RULES` is the one table of them.

A primitive that is not there is run as it is, and its float results are looked at for NaN,
unless it is one of `KEEPS_NAN`: those give one only of an operand that holds one. A control
primitive that is not there is such an equation as well: what it holds is not looked into.
"""

from collections.abc import Sequence
from typing import Any, Final, final

import numpy as np

from imprint._src import dtypes
from imprint._src.control_flow.call import jit_p
from imprint._src.control_flow.checkify import (
    NO_ERROR,
    Category,
    Checked,
    Checks,
    Rule,
    Walk,
    first_of,
    none_of,
    shifted,
)
from imprint._src.control_flow.checkpoint import checkpoint_p
from imprint._src.control_flow.cond import cond_p
from imprint._src.control_flow.custom import (
    Longer,
    custom_jvp_call_p,
    custom_vjp_call_p,
)
from imprint._src.control_flow.custom_vmap import LongerBatch, custom_vmap_call_p
from imprint._src.control_flow.operand_lists import split
from imprint._src.control_flow.scan import scan_p
from imprint._src.control_flow.while_ import while_p
from imprint._src.core import dims
from imprint._src.core.aval import get_aval
from imprint._src.core.jaxpr import ClosedJaxpr, Eqn, Jaxpr, Var, eval_jaxpr
from imprint._src.core.primitive import Primitive
from imprint._src.interpreters.trace_to_jaxpr import Staged, stage
from imprint._src.primitives.arg_reductions import argmax
from imprint._src.primitives.checks import Failure, When, check_p
from imprint._src.primitives.elementwise.arithmetic import div_p
from imprint._src.primitives.elementwise.bitwise import or_
from imprint._src.primitives.elementwise.comparison import eq, gt, lt, ne
from imprint._src.primitives.elementwise.convert import convert_element_type
from imprint._src.primitives.elementwise.select import select_n
from imprint._src.primitives.indexing.dynamic_slicing import (
    dynamic_slice,
    dynamic_slice_p,
    dynamic_update_slice_p,
)
from imprint._src.primitives.indexing.gather import gather_p, scatter_add_p
from imprint._src.primitives.indexing.scatter import (
    scatter_max_p,
    scatter_min_p,
    scatter_mul_p,
    scatter_p,
    scatter_sub_p,
)
from imprint._src.primitives.reductions import reduce_or
from imprint._src.primitives.shape import reshape
from imprint._src.primitives.windows.gather_dims import sizes_of

# ---- operations ----


def run(walk: Walk, eqn: Eqn, operands: Sequence[Any]) -> Sequence[Any]:
    """Run an equation as it is; a result that is NaN is an error."""
    outs = eqn.primitive.bind(*operands, **eqn.params)
    if Category.NAN in walk.errors and eqn.primitive.makes_nan:
        found = [_any(ne(x, x)) for x in outs if dtypes.is_inexact(get_aval(x).dtype)]
        if found:
            fails, *others = found
            for other in others:
                fails = or_(fails, other)
            walk.fail_if(fails, _Nan(eqn.primitive.name))
    return outs


def _divide(walk: Walk, eqn: Eqn, operands: Sequence[Any]) -> Sequence[Any]:
    if Category.DIV in walk.errors:
        divisor = operands[1]
        zero = np.zeros((), get_aval(divisor).dtype)[()]
        walk.fail_if(_any(eq(divisor, zero)), _Div())
    return run(walk, eqn, operands)


def _take(walk: Walk, eqn: Eqn, operands: Sequence[Any]) -> Sequence[Any]:
    x, *starts = operands
    _look_at(walk, get_aval(x).shape, eqn.params["slice_sizes"], starts)
    return run(walk, eqn, operands)


def _put(walk: Walk, eqn: Eqn, operands: Sequence[Any]) -> Sequence[Any]:
    x, update, *starts = operands
    _look_at(walk, get_aval(x).shape, get_aval(update).shape, starts)
    return run(walk, eqn, operands)


def _look_at(walk: Walk, shape: Any, sizes: Any, starts: Sequence[Any]) -> None:
    """Note a start from which a part would leave the array."""
    if Category.OOB not in walk.errors or not starts:
        return
    fails, index, at = np.False_, np.int32(0), np.int32(0)
    rows = list(enumerate(zip(starts, shape, sizes, strict=True)))
    for axis, (start, length, size) in reversed(rows):  # the first one is told
        outside = _is_outside(start, length - size)
        index = select_n(outside, index, convert_element_type(start, np.int32))
        at = select_n(outside, at, np.int32(axis))
        fails = or_(fails, outside)
    walk.fail_if(fails, _Oob(shape), (index, at))


def _gather(walk: Walk, eqn: Eqn, operands: Sequence[Any]) -> Sequence[Any]:
    x, indices = operands
    axes = eqn.params["dimension_numbers"].start_index_map
    _look_at_vectors(walk, get_aval(x).shape, eqn.params["slice_sizes"], indices, axes)
    return eqn.primitive.bind(*operands, **eqn.params)  # NaN for what is outside


def _scatter(walk: Walk, eqn: Eqn, operands: Sequence[Any]) -> Sequence[Any]:
    x, indices, updates = operands
    numbers = eqn.params["dimension_numbers"]
    sizes = sizes_of(get_aval(x).shape, get_aval(updates).shape, numbers)
    axes = numbers.scatter_dims_to_operand_dims
    _look_at_vectors(walk, get_aval(x).shape, sizes, indices, axes)
    return run(walk, eqn, operands)


def _look_at_vectors(
    walk: Walk, shape: Any, sizes: Any, indices: Any, axes: tuple[int, ...]
) -> None:
    """Note the first index, of vectors along the last axis, that leaves the array."""
    aval = get_aval(indices)
    if Category.OOB not in walk.errors or dims.has_zero(aval.shape):
        return
    greatest = int(np.iinfo(aval.dtype).max)
    last = [min(shape[axis] - sizes[axis], greatest) for axis in axes]
    limits = np.broadcast_to(np.asarray(last, aval.dtype), aval.shape)
    outside = gt(indices, limits)
    if not dtypes.is_unsigned(aval.dtype):
        outside = or_(lt(indices, np.zeros(aval.shape, aval.dtype)), outside)
    flat = reshape(outside, (dims.product(aval.shape),))
    first = argmax(flat, 0, np.int32)
    index = dynamic_slice(reshape(indices, flat.shape), [first], [1])
    of = np.broadcast_to(np.asarray(axes, np.int32), aval.shape).ravel()
    at = dynamic_slice(of, [first], [1])
    walk.fail_if(
        _any(outside),
        _Oob(shape),
        (reshape(convert_element_type(index, np.int32), ()), reshape(at, ())),
    )


def _is_outside(start: Any, last: int) -> Any:
    dtype = get_aval(start).dtype
    beyond: Any = np.False_
    if last < int(np.iinfo(dtype).max):
        beyond = gt(start, dtype.type(last))
    if dtypes.is_unsigned(dtype):
        return beyond
    return or_(lt(start, dtype.type(0)), beyond)


def _any(x: Any) -> Any:
    ndim = get_aval(x).ndim
    return reduce_or(x, tuple(range(ndim))) if ndim else x


def _check(walk: Walk, eqn: Eqn, operands: Sequence[Any]) -> Sequence[Any]:
    if Category.USER not in walk.errors:
        is_dropped = eqn.params["when"] is not When.ALWAYS
        return () if is_dropped else run(walk, eqn, operands)
    pred, *values = operands
    walk.fail_if(eq(pred, np.False_), eqn.params["callback"], values)
    return ()


# ---- what holds jaxprs ----


def _applied(walk: Walk, eqn: Eqn, operands: Sequence[Any]) -> Sequence[Any]:
    body = walk.body(eqn.params["jaxpr"])
    return _bind(walk, body.checks, eqn, operands, jaxpr=body.closed)


def _with_rule(walk: Walk, eqn: Eqn, operands: Sequence[Any]) -> Sequence[Any]:
    """Run a call of a function that has a rule, which is not looked into."""
    body = walk.body(eqn.params["jaxpr"])
    if not body.checks.each:
        return _bind(walk, body.checks, eqn, operands, jaxpr=body.closed)
    longer: Any = LongerBatch if eqn.primitive is custom_vmap_call_p else Longer
    rule = longer(eqn.params["rule"], body.added)
    return _bind(walk, body.checks, eqn, operands, jaxpr=body.closed, rule=rule)


def _bind(
    walk: Walk, checks: Checks, eqn: Eqn, operands: Sequence[Any], **changed: Any
) -> Sequence[Any]:
    """Run an equation whose last results are an error, if there are checks."""
    outs = eqn.primitive.bind(*operands, **{**eqn.params, **changed})
    results, error = split(outs, len(eqn.outvars))
    if checks.each:
        walk.adopt(checks, error)
    return results


def _cond(walk: Walk, eqn: Eqn, operands: Sequence[Any]) -> Sequence[Any]:
    bodies = [walk.body(branch) for branch in eqn.params["branches"]]
    checks = Checks(tuple(check for body in bodies for check in body.checks.each))
    if not checks.each:
        plain = tuple(body.closed for body in bodies)
        return _bind(walk, checks, eqn, operands, branches=plain)
    before = 0
    branches: list[ClosedJaxpr] = []
    for body in bodies:
        branches.append(_branch(body, checks, before))
        before += len(body.checks.each)
    return _bind(walk, checks, eqn, operands, branches=tuple(branches))


def _branch(body: Checked, checks: Checks, before: int) -> ClosedJaxpr:
    """Return a branch with the error of all: its checks follow others."""
    own = body.checks
    count = len(body.closed.out_avals) - len(body.added)

    def run(*args: Any) -> list[Any]:
        outs = eval_jaxpr(body.closed.jaxpr, (), *args)
        results, error = split(outs, count)
        number, *arrays = error or [NO_ERROR]
        given = iter(arrays)
        found = {slot: [next(given) for _ in slot] for slot in own.slots}
        filled = [found.get(slot) or none_of(slot) for slot in checks.slots]
        return [*results, shifted(number, before), *(x for xs in filled for x in xs)]

    staged = Staged("checkify", body.closed.jaxpr.name)
    return body.closed.derived(
        ("branch", checks, before), lambda: stage(run, body.closed.in_avals, staged)
    )


def _scan(walk: Walk, eqn: Eqn, operands: Sequence[Any]) -> Sequence[Any]:
    params = eqn.params
    consts, carried = params["num_consts"], params["num_carry"]
    body = walk.body(params["jaxpr"])
    if not body.checks.each:
        return _bind(walk, body.checks, eqn, operands, jaxpr=body.closed)
    count = len(body.added)
    first, xs = split(operands, consts + carried)
    step = body.closed.derived(
        ("step", consts + carried, carried),
        lambda: _step(body, consts + carried, carried),
    )
    outs = scan_p.bind(
        *(*first, *none_of(body.added), *xs),
        **{**params, "jaxpr": step, "num_carry": carried + count},
    )
    carry, error, ys = split(outs, carried, count)
    walk.adopt(body.checks, error)
    return [*carry, *ys]


def _step(body: Checked, taken: int, carried: int) -> ClosedJaxpr:
    """Return the step of a loop that also carries the first error.

    Args:
        body: the step.
        taken: how many arguments come before the error.
        carried: how many results do.
    """
    count = len(body.added)

    def run(*args: Any) -> list[Any]:
        before, error, xs = split(args, taken, count)
        outs = eval_jaxpr(body.closed.jaxpr, (), *before, *xs)
        results, found = split(outs, len(outs) - count)
        carry, ys = split(results, carried)
        return [*carry, *first_of(error, found), *ys]

    avals = [*body.closed.in_avals]
    avals[taken:taken] = body.added
    return stage(run, avals, Staged("checkify", body.closed.jaxpr.name))


def _while(walk: Walk, eqn: Eqn, operands: Sequence[Any]) -> Sequence[Any]:
    """Run a loop; its condition is asked before it, and again in each step."""
    condition, step = eqn.params["cond_jaxpr"], eqn.params["body_jaxpr"]
    asked, taken = eqn.params["cond_nconsts"], eqn.params["body_nconsts"]
    of_condition, of_step, carry = split(operands, asked, taken)
    asking = walk.body(condition)
    if asking.checks.each:
        _, *error = eval_jaxpr(asking.closed.jaxpr, (), *of_condition, *carry)
        walk.adopt(asking.checks, error)
        step = condition.derived(
            ("asked in", step, taken), lambda: _asked_in(condition, step, taken)
        )
        of_step = [*of_condition, *of_step]
    body = walk.body(step)
    if not body.checks.each:
        plain = {"cond_jaxpr": asking.closed, "body_jaxpr": body.closed}
        return _bind(walk, body.checks, eqn, operands, **plain)
    before, carried = len(of_step) + len(carry), len(carry)
    outs = while_p.bind(
        *(*of_condition, *of_step, *carry, *none_of(body.added)),
        cond_jaxpr=asking.closed.derived(
            ("without error", body.added), lambda: _without_error(asking, body)
        ),
        body_jaxpr=body.closed.derived(
            ("step", before, carried), lambda: _step(body, before, carried)
        ),
        cond_nconsts=asked,
        body_nconsts=len(of_step),
    )
    results, error = split(outs, len(carry))
    walk.adopt(body.checks, error)
    return results


def _asked_in(condition: ClosedJaxpr, step: ClosedJaxpr, taken: int) -> ClosedJaxpr:
    """Return the step that asks the condition of what it gives: it may fail there."""
    carried = len(step.out_avals)
    asked = len(condition.in_avals) - carried

    def run(*args: Any) -> list[Any]:
        of_condition, rest = split(args, asked)
        outs = eval_jaxpr(step.jaxpr, (), *rest)
        eval_jaxpr(condition.jaxpr, (), *of_condition, *outs)
        return outs

    avals = [*condition.in_avals[:asked], *step.in_avals]
    return stage(run, avals, Staged("checkify", step.jaxpr.name))


def _without_error(asking: Checked, body: Checked) -> ClosedJaxpr:
    """Return a condition that takes the error of the step for nothing, and gives none."""
    old = asking.closed.jaxpr
    args = (*old.invars, *map(Var, body.added))
    return ClosedJaxpr(Jaxpr((), args, old.outvars[:1], old.eqns, old.name))


RULES: Final[dict[Primitive, Rule]] = {
    check_p: _check,
    div_p: _divide,
    dynamic_slice_p: _take,
    dynamic_update_slice_p: _put,
    gather_p: _gather,
    scatter_p: _scatter,
    scatter_add_p: _scatter,
    scatter_sub_p: _scatter,
    scatter_mul_p: _scatter,
    scatter_min_p: _scatter,
    scatter_max_p: _scatter,
    jit_p: _applied,
    checkpoint_p: _applied,
    custom_jvp_call_p: _with_rule,
    custom_vjp_call_p: _with_rule,
    custom_vmap_call_p: _with_rule,
    cond_p: _cond,
    scan_p: _scan,
    while_p: _while,
}


# ---- what they say: JAX's words ----


@final
class _Nan(Failure):
    def __init__(self, primitive: str) -> None:
        super().__init__()
        self._primitive = primitive

    def message(self, *arrays: Any) -> str:
        """Return which primitive gave it."""
        return f"nan generated by primitive: {self._primitive}."

    def __imprint_token__(self) -> Any:
        """Return what stands for it in a comparison of programs."""
        return "nan", self._primitive


@final
class _Div(Failure):
    def message(self, *arrays: Any) -> str:
        """Return the words."""
        return "division by zero"

    def __imprint_token__(self) -> Any:
        """Return what stands for it in a comparison of programs."""
        return "division"


@final
class _Oob(Failure):
    def __init__(self, shape: tuple[int, ...]) -> None:
        super().__init__()
        self._shape = shape

    def message(self, *arrays: Any) -> str:
        """Return which index is outside of which axis."""
        index, axis = map(int, arrays)
        return (
            f"out-of-bounds indexing for array of shape {self._shape}: index {index} is "
            f"out of bounds for axis {axis} with size {self._shape[axis]}."
        )

    def __imprint_token__(self) -> Any:
        """Return what stands for it in a comparison of programs."""
        return "index", self._shape

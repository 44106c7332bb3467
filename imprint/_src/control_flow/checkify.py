"""checkify: an interpreter that returns the first error of a jaxpr with its results.

`RULES` runs equations that can fail or hold jaxprs. Every other equation runs as it is; its
results are checked for NaN if its primitive `makes_nan`, also if it holds jaxprs.
An error is a number, 0 for none, and the arrays of its message; the first error stays.
A jaxpr of an equation is rewritten once for each set of categories (`body`). It returns its
own error, which the interpreter around it adopts (`adopt`). So a body without checks
stays as it is, and only loops pass an error into one.
"""

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, Final, NamedTuple, TypeAlias, final

import numpy as np

from imprint._src import dtypes
from imprint._src.control_flow.call import jit_p
from imprint._src.control_flow.checkpoint import checkpoint_p
from imprint._src.control_flow.cond import cond_p
from imprint._src.control_flow.custom import (
    ExtendedRule,
    custom_jvp_call_p,
    custom_vjp_call_p,
)
from imprint._src.control_flow.custom_vmap import ExtendedBatchRule, custom_vmap_call_p
from imprint._src.control_flow.operand_lists import split
from imprint._src.control_flow.scan import scan_p
from imprint._src.control_flow.while_ import while_p
from imprint._src.core import dims
from imprint._src.core.aval import ShapedArray, get_aval
from imprint._src.core.jaxpr import ClosedJaxpr, Eqn, Jaxpr, Literal, Var, eval_jaxpr
from imprint._src.core.primitive import Avals, Primitive
from imprint._src.diagnostics.source import (
    replayed_source,
    reset_replayed_source,
    set_replayed_source,
)
from imprint._src.interpreters.trace_to_jaxpr import DebugInfo, stage
from imprint._src.primitives.arg_reductions import argmax
from imprint._src.primitives.checks import Failure, When, check_p
from imprint._src.primitives.core_ops import add, full
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

NO_ERROR: Final = np.zeros((), np.int32)[()]


class Check(NamedTuple):
    """One of the checks of a program.

    Args:
        failure: its message.
        avals: the avals of the arrays of the message.
    """

    failure: Failure
    avals: Avals


class Checks(NamedTuple):
    """The checks of a program in the order of its equations; the first is number 1."""

    each: tuple[Check, ...] = ()

    @property
    def slots(self) -> tuple[Avals, ...]:
        """The avals of the arrays of messages: checks of equal avals share them."""
        return tuple(dict.fromkeys(check.avals for check in self.each if check.avals))


NO_CHECKS: Final = Checks()


class Category(Enum):
    """A category of errors that `checkify` detects."""

    USER = "a check in user code"
    NAN = "a result that is NaN"
    DIV = "a division by zero"
    OOB = "an index outside of its axis"


Categories: TypeAlias = frozenset[Category]
CheckifyRule: TypeAlias = (
    "Callable[[CheckifyInterpreter, Eqn, Sequence[Any]], Sequence[Any]]"
)


class Checked(NamedTuple):
    """A jaxpr with its error.

    Args:
        closed: `(*args) -> (*results, number, *arrays)`; without the error if there are
            no checks.
        checks: the checks that the number refers to.
    """

    closed: ClosedJaxpr
    checks: Checks

    @property
    def added(self) -> Avals:
        """The avals of the error."""
        if not self.checks.each:
            return ()
        arrays = (aval for slot in self.checks.slots for aval in slot)
        return ShapedArray((), np.dtype(np.int32)), *arrays


@final
class CheckifyInterpreter:
    """Runs a jaxpr and records its first error.

    Args:
        errors: the categories to detect.
    """

    def __init__(self, errors: Categories) -> None:
        self.errors: Categories = errors
        self._each: list[Check] = []
        self._number: Any = NO_ERROR
        self._arrays: dict[Avals, list[Any]] = {}

    def run(
        self, jaxpr: Jaxpr, consts: Sequence[Any], args: Sequence[Any]
    ) -> list[Any]:
        """Return the results of a jaxpr."""
        env: dict[Var, Any] = dict(zip(jaxpr.constvars, consts, strict=True))
        env.update(zip(jaxpr.invars, args, strict=True))
        for eqn in jaxpr.eqns:
            operands = [v.read() if type(v) is Literal else env[v] for v in eqn.invars]
            rule = RULES.get(eqn.primitive, _run)
            token = set_replayed_source(eqn.source or replayed_source())
            try:
                outs = rule(self, eqn, operands)
            finally:
                reset_replayed_source(token)
            env.update(zip(eqn.outvars, outs, strict=True))
        return [v.read() if isinstance(v, Literal) else env[v] for v in jaxpr.outvars]

    def error(self) -> tuple[Any, list[list[Any]], Checks]:
        """Return the first error: its number, its arrays, and the possible checks."""
        checks = Checks(tuple(self._each))
        return self._number, [self._arrays[s] for s in checks.slots], checks

    def fail_if(self, fails: Any, failure: Failure, values: Sequence[Any] = ()) -> None:
        """Record an error.

        Args:
            fails: a bool.
            failure: its message.
            values: the values in the message.
        """
        arrays = [_strong(x) for x in values]
        avals = tuple(get_aval(x).unplaced() for x in arrays)
        self._each.append(Check(failure, avals))
        number = select_n(fails, NO_ERROR, np.int32(len(self._each)))
        self._join(number, {avals: arrays} if avals else {})

    def adopt(self, checks: Checks, error: Sequence[Any]) -> None:
        """Record the error of a jaxpr that an equation holds.

        Args:
            checks: the checks of the jaxpr.
            error: its number and its arrays.
        """
        number, *rest = error
        before = len(self._each)
        self._each += checks.each
        given = iter(rest)
        arrays = {slot: [next(given) for _ in slot] for slot in checks.slots}
        self._join(shifted(number, before), arrays)

    def _join(self, number: Any, arrays: dict[Avals, list[Any]]) -> None:
        if self._number is NO_ERROR:
            self._number = number
            self._arrays = arrays
            return
        happened = ne(self._number, NO_ERROR)
        self._number = select_n(happened, number, self._number)
        for slot, new in arrays.items():
            old = self._arrays.get(slot, new)
            self._arrays[slot] = [
                select_n(happened, x, y) for x, y in zip(new, old, strict=True)
            ]

    def body(self, closed: ClosedJaxpr) -> Checked:
        """Return a jaxpr that an equation holds, with its error."""
        found: list[Checks] = []

        def run(*args: Any) -> list[Any]:
            inner = CheckifyInterpreter(self.errors)
            outs = inner.run(closed.jaxpr, (), args)
            number, arrays, checks = inner.error()
            found.append(checks)
            if not checks.each:
                return outs
            return [*outs, number, *(x for slot in arrays for x in slot)]

        def derive() -> tuple[ClosedJaxpr | None, Checks]:
            debug_info = DebugInfo("checkify", closed.jaxpr.name)
            checked = stage(run, closed.in_avals, debug_info)
            assert not checked.consts, "a rule of checkify made a constant"
            is_same = checked.jaxpr.effects == closed.jaxpr.effects
            if is_same and not found[0].each:
                return None, found[0]  # itself would be a cycle
            return checked, found[0]

        checked, checks = closed.derived(("checkify", self.errors), derive)
        return Checked(checked or closed, checks)


def shifted(number: Any, by: int) -> Any:
    """Return the number of a check after `by` others."""
    if not by:
        return number
    return select_n(ne(number, NO_ERROR), number, add(number, np.int32(by)))


def first_of(before: Sequence[Any], after: Sequence[Any]) -> list[Any]:
    """Return the first of two errors of the same checks."""
    happened = ne(before[0], NO_ERROR)
    return [select_n(happened, y, x) for x, y in zip(before, after, strict=True)]


def none_of(added: Avals) -> list[Any]:
    """Return the error of these avals that means none."""
    return [full(aval.shape, 0, aval.dtype) for aval in added]


def _strong(x: Any) -> Any:
    aval = get_aval(x)
    return convert_element_type(x, aval.dtype, weak_type=False) if aval.weak_type else x


# ---- operations ----


def _run(walk: CheckifyInterpreter, eqn: Eqn, operands: Sequence[Any]) -> Sequence[Any]:
    """Run an equation as it is; a NaN result is an error."""
    outs = eqn.primitive.bind_all(*operands, **eqn.params)
    if Category.NAN in walk.errors and eqn.primitive.makes_nan:
        found = [_any(ne(x, x)) for x in outs if dtypes.is_inexact(get_aval(x).dtype)]
        if found:
            fails, *others = found
            for other in others:
                fails = or_(fails, other)
            walk.fail_if(fails, _Nan(eqn.primitive.name))
    return outs


def _divide(
    walk: CheckifyInterpreter, eqn: Eqn, operands: Sequence[Any]
) -> Sequence[Any]:
    if Category.DIV in walk.errors:
        divisor = operands[1]
        zero = np.zeros((), get_aval(divisor).dtype)[()]
        walk.fail_if(_any(eq(divisor, zero)), _Div())
    return _run(walk, eqn, operands)


def _dynamic_slice(
    walk: CheckifyInterpreter, eqn: Eqn, operands: Sequence[Any]
) -> Sequence[Any]:
    x, *starts = operands
    _check_starts(walk, get_aval(x).shape, eqn.params["slice_sizes"], starts)
    return _run(walk, eqn, operands)


def _dynamic_update_slice(
    walk: CheckifyInterpreter, eqn: Eqn, operands: Sequence[Any]
) -> Sequence[Any]:
    x, update, *starts = operands
    _check_starts(walk, get_aval(x).shape, get_aval(update).shape, starts)
    return _run(walk, eqn, operands)


def _check_starts(
    walk: CheckifyInterpreter, shape: Any, sizes: Any, starts: Sequence[Any]
) -> None:
    """Record a start from which a slice leaves the array."""
    if Category.OOB not in walk.errors or not starts:
        return
    fails, index, at = np.False_, np.int32(0), np.int32(0)
    rows = list(enumerate(zip(starts, shape, sizes, strict=True)))
    for axis, (start, length, size) in reversed(rows):  # the first one is reported
        outside = _is_outside(start, length - size)
        index = select_n(outside, index, convert_element_type(start, np.int32))
        at = select_n(outside, at, np.int32(axis))
        fails = or_(fails, outside)
    walk.fail_if(fails, _Oob(shape), (index, at))


def _gather(
    walk: CheckifyInterpreter, eqn: Eqn, operands: Sequence[Any]
) -> Sequence[Any]:
    x, indices = operands
    axes = eqn.params["dimension_numbers"].start_index_map
    _check_index_vectors(
        walk, get_aval(x).shape, eqn.params["slice_sizes"], indices, axes
    )
    return eqn.primitive.bind_all(*operands, **eqn.params)  # NaN for indices outside


def _scatter(
    walk: CheckifyInterpreter, eqn: Eqn, operands: Sequence[Any]
) -> Sequence[Any]:
    x, indices, updates = operands
    numbers = eqn.params["dimension_numbers"]
    sizes = sizes_of(get_aval(x).shape, get_aval(updates).shape, numbers)
    axes = numbers.scatter_dims_to_operand_dims
    _check_index_vectors(walk, get_aval(x).shape, sizes, indices, axes)
    return _run(walk, eqn, operands)


def _check_index_vectors(
    walk: CheckifyInterpreter,
    shape: Any,
    sizes: Any,
    indices: Any,
    axes: tuple[int, ...],
) -> None:
    """Record the first index, of vectors along the last axis, that leaves the array."""
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


def _check(
    walk: CheckifyInterpreter, eqn: Eqn, operands: Sequence[Any]
) -> Sequence[Any]:
    if Category.USER not in walk.errors:
        is_dropped = eqn.params["when"] is not When.ALWAYS
        return () if is_dropped else _run(walk, eqn, operands)
    pred, *values = operands
    walk.fail_if(eq(pred, np.False_), eqn.params["callback"], values)
    return ()


# ---- equations that hold jaxprs ----


def _call(
    walk: CheckifyInterpreter, eqn: Eqn, operands: Sequence[Any]
) -> Sequence[Any]:
    body = walk.body(eqn.params["jaxpr"])
    return _bind(walk, body.checks, eqn, operands, jaxpr=body.closed)


def _with_rule(
    walk: CheckifyInterpreter, eqn: Eqn, operands: Sequence[Any]
) -> Sequence[Any]:
    """Run a call of a function that has a rule; the rule is not checked."""
    body = walk.body(eqn.params["jaxpr"])
    if not body.checks.each:
        return _bind(walk, body.checks, eqn, operands, jaxpr=body.closed)
    longer: Any = (
        ExtendedBatchRule if eqn.primitive is custom_vmap_call_p else ExtendedRule
    )
    rule = longer(eqn.params["rule"], body.added)
    return _bind(walk, body.checks, eqn, operands, jaxpr=body.closed, rule=rule)


def _bind(
    walk: CheckifyInterpreter,
    checks: Checks,
    eqn: Eqn,
    operands: Sequence[Any],
    **changed: Any,
) -> Sequence[Any]:
    """Run an equation whose last results are an error, if there are checks."""
    outs = eqn.primitive.bind_all(*operands, **{**eqn.params, **changed})
    results, error = split(outs, len(eqn.outvars))
    if checks.each:
        walk.adopt(checks, error)
    return results


def _cond(
    walk: CheckifyInterpreter, eqn: Eqn, operands: Sequence[Any]
) -> Sequence[Any]:
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
    """Return a branch that returns the error of all branches."""
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

    debug_info = DebugInfo("checkify", body.closed.jaxpr.name)
    return body.closed.derived(
        ("branch", checks, before), lambda: stage(run, body.closed.in_avals, debug_info)
    )


def _scan(
    walk: CheckifyInterpreter, eqn: Eqn, operands: Sequence[Any]
) -> Sequence[Any]:
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
    outs = scan_p.bind_all(
        *first,
        *none_of(body.added),
        *xs,
        **{**params, "jaxpr": step, "num_carry": carried + count},
    )
    carry, error, ys = split(outs, carried, count)
    walk.adopt(body.checks, error)
    return [*carry, *ys]


def _step(body: Checked, taken: int, carried: int) -> ClosedJaxpr:
    """Return the step of a loop that also carries the first error.

    Args:
        body: the step.
        taken: how many arguments precede the error.
        carried: how many results precede it.
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
    return stage(run, avals, DebugInfo("checkify", body.closed.jaxpr.name))


def _while(
    walk: CheckifyInterpreter, eqn: Eqn, operands: Sequence[Any]
) -> Sequence[Any]:
    """Run a loop; its condition is checked before the loop and in each step."""
    condition, step = eqn.params["cond_jaxpr"], eqn.params["body_jaxpr"]
    asked, taken = eqn.params["cond_nconsts"], eqn.params["body_nconsts"]
    of_condition, of_step, carry = split(operands, asked, taken)
    asking = walk.body(condition)
    if asking.checks.each:
        _, *error = eval_jaxpr(asking.closed.jaxpr, (), *of_condition, *carry)
        walk.adopt(asking.checks, error)
        step = condition.derived(
            ("with condition", step, taken),
            lambda: _with_condition(condition, step, taken),
        )
        of_step = [*of_condition, *of_step]
    body = walk.body(step)
    if not body.checks.each:
        plain = {"cond_jaxpr": asking.closed, "body_jaxpr": body.closed}
        return _bind(walk, body.checks, eqn, operands, **plain)
    before, carried = len(of_step) + len(carry), len(carry)
    outs = while_p.bind_all(
        *of_condition,
        *of_step,
        *carry,
        *none_of(body.added),
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


def _with_condition(
    condition: ClosedJaxpr, step: ClosedJaxpr, taken: int
) -> ClosedJaxpr:
    """Return the step that also evaluates the condition on its results."""
    carried = len(step.out_avals)
    asked = len(condition.in_avals) - carried

    def run(*args: Any) -> list[Any]:
        of_condition, rest = split(args, asked)
        outs = eval_jaxpr(step.jaxpr, (), *rest)
        eval_jaxpr(condition.jaxpr, (), *of_condition, *outs)
        return outs

    avals = [*condition.in_avals[:asked], *step.in_avals]
    return stage(run, avals, DebugInfo("checkify", step.jaxpr.name))


def _without_error(asking: Checked, body: Checked) -> ClosedJaxpr:
    """Return a condition that takes and ignores the error of the step."""
    old = asking.closed.jaxpr
    args = (*old.invars, *map(Var, body.added))
    return ClosedJaxpr(Jaxpr((), args, old.outvars[:1], old.eqns, old.name))


RULES: Final[dict[Primitive, CheckifyRule]] = {
    check_p: _check,
    div_p: _divide,
    dynamic_slice_p: _dynamic_slice,
    dynamic_update_slice_p: _dynamic_update_slice,
    gather_p: _gather,
    scatter_p: _scatter,
    scatter_add_p: _scatter,
    scatter_sub_p: _scatter,
    scatter_mul_p: _scatter,
    scatter_min_p: _scatter,
    scatter_max_p: _scatter,
    jit_p: _call,
    checkpoint_p: _call,
    custom_jvp_call_p: _with_rule,
    custom_vjp_call_p: _with_rule,
    custom_vmap_call_p: _with_rule,
    cond_p: _cond,
    scan_p: _scan,
    while_p: _while,
}


# ---- messages: those of JAX ----


@final
class _Nan(Failure):
    def __init__(self, primitive: str) -> None:
        super().__init__()
        self._primitive = primitive

    def message(self, *arrays: Any) -> str:
        """Return the message with the primitive."""
        return f"nan generated by primitive: {self._primitive}."

    def __imprint_token__(self) -> Any:
        """Return its token in the comparison of programs."""
        return "nan", self._primitive


@final
class _Div(Failure):
    def message(self, *arrays: Any) -> str:
        """Return the message."""
        return "division by zero"

    def __imprint_token__(self) -> Any:
        """Return its token in the comparison of programs."""
        return "division"


@final
class _Oob(Failure):
    def __init__(self, shape: tuple[int, ...]) -> None:
        super().__init__()
        self._shape = shape

    def message(self, *arrays: Any) -> str:
        """Return the message with the index and the axis."""
        index, axis = map(int, arrays)
        return (
            f"out-of-bounds indexing for array of shape {self._shape}: index {index} is "
            f"out of bounds for axis {axis} with size {self._shape[axis]}."
        )

    def __imprint_token__(self) -> Any:
        """Return its token in the comparison of programs."""
        return "index", self._shape

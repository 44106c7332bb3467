"""What `checkify` walks a jaxpr with: an error beside its values.

Each equation is run by the rule of its primitive (`checked_rules`): what can fail there.
An error is a number, 0 if there is none, and arrays that its message is formatted with.
The first error stays: once there is one, others do not count. What an equation holds is
walked by itself, once for each set of errors (`Walk.body`): it has an error of its own
among its results, numbered by itself, which the walk around it takes over (`adopt`). So a
body without checks is what it was, and nothing is passed into one but by a loop.
"""

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any, Final, NamedTuple, TypeAlias, final

import numpy as np

from imprint._src.core.aval import ShapedArray, get_aval
from imprint._src.core.jaxpr import ClosedJaxpr, Eqn, Jaxpr, Literal, Var
from imprint._src.core.primitive import Avals, Primitive
from imprint._src.diagnostics.source import (
    replayed_source,
    reset_replayed_source,
    set_replayed_source,
)
from imprint._src.interpreters.trace_to_jaxpr import Staged, stage
from imprint._src.primitives.checks import Failure
from imprint._src.primitives.core_ops import add, full
from imprint._src.primitives.elementwise.comparison import ne
from imprint._src.primitives.elementwise.convert import convert_element_type
from imprint._src.primitives.elementwise.select import select_n

NO_ERROR: Final = np.zeros((), np.int32)[()]


class Check(NamedTuple):
    """One of the checks of a program.

    Args:
        failure: what it says.
        avals: those of the arrays that it says it of.
    """

    failure: Failure
    avals: Avals


class Checks(NamedTuple):
    """The checks of a program in the order of its equations; the first is number 1."""

    each: tuple[Check, ...] = ()

    @property
    def slots(self) -> tuple[Avals, ...]:
        """The avals of the arrays beside the number: checks of equal ones share them."""
        return tuple(dict.fromkeys(check.avals for check in self.each if check.avals))


NO_CHECKS: Final = Checks()


class Category(Enum):
    """A kind of error that `checkify` looks for."""

    USER = "a check of the user's"
    NAN = "a result that is NaN"
    DIV = "a division by zero"
    OOB = "an index outside of its axis"


Categories: TypeAlias = frozenset[Category]
Rule: TypeAlias = "Callable[[Walk, Eqn, Sequence[Any]], Sequence[Any]]"


class Checked(NamedTuple):
    """A jaxpr with its error.

    Args:
        closed: `(*args) -> (*results, number, *arrays)`; without the error if there are
            no checks.
        checks: what the number means.
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
class Walk:
    """Runs a jaxpr and notes its first error.

    Args:
        errors: what counts as one.
        rules: what runs equations of a primitive.
        otherwise: what runs those of other primitives.
    """

    def __init__(
        self, errors: Categories, rules: Mapping[Primitive, Rule], otherwise: Rule
    ) -> None:
        self.errors: Categories = errors
        self._rules = rules
        self._otherwise = otherwise
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
            rule = self._rules.get(eqn.primitive, self._otherwise)
            token = set_replayed_source(eqn.source or replayed_source())
            try:
                outs = rule(self, eqn, operands)
            finally:
                reset_replayed_source(token)
            env.update(zip(eqn.outvars, outs, strict=True))
        return [v.read() if isinstance(v, Literal) else env[v] for v in jaxpr.outvars]

    def error(self) -> tuple[Any, list[list[Any]], Checks]:
        """Return the first error of what ran: number, arrays and what it may say."""
        checks = Checks(tuple(self._each))
        return self._number, [self._arrays[s] for s in checks.slots], checks

    def fail_if(self, fails: Any, failure: Failure, values: Sequence[Any] = ()) -> None:
        """Note an error.

        Args:
            fails: a bool.
            failure: what it says.
            values: of what.
        """
        arrays = [_strong(x) for x in values]
        avals = tuple(get_aval(x).unplaced() for x in arrays)
        self._each.append(Check(failure, avals))
        number = select_n(fails, NO_ERROR, np.int32(len(self._each)))
        self._join(number, {avals: arrays} if avals else {})

    def adopt(self, checks: Checks, error: Sequence[Any]) -> None:
        """Note the error of what an equation holds.

        Args:
            checks: what its number means.
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
            inner = Walk(self.errors, self._rules, self._otherwise)
            outs = inner.run(closed.jaxpr, (), args)
            number, arrays, checks = inner.error()
            found.append(checks)
            if not checks.each:
                return outs
            return [*outs, number, *(x for slot in arrays for x in slot)]

        def derive() -> tuple[ClosedJaxpr | None, Checks]:
            staged = Staged("checkify", closed.jaxpr.name)
            checked = stage(run, closed.in_avals, staged)
            assert not checked.consts, "a rule of checkify made a constant"
            is_same = checked.jaxpr.effects == closed.jaxpr.effects
            if is_same and not found[0].each:
                return None, found[0]  # itself would be a cycle
            return checked, found[0]

        checked, checks = closed.derived(("checkify", self.errors), derive)
        return Checked(checked or closed, checks)


def shifted(number: Any, by: int) -> Any:
    """Return the number of a check that follows `by` others."""
    if not by:
        return number
    return select_n(ne(number, NO_ERROR), number, add(number, np.int32(by)))


def first_of(before: Sequence[Any], after: Sequence[Any]) -> list[Any]:
    """Return the first of two errors of the same checks."""
    happened = ne(before[0], NO_ERROR)
    return [select_n(happened, y, x) for x, y in zip(before, after, strict=True)]


def none_of(added: Avals) -> list[Any]:
    """Return an error of these avals that says that there is none."""
    return [full(aval.shape, 0, aval.dtype) for aval in added]


def _strong(x: Any) -> Any:
    aval = get_aval(x)
    return convert_element_type(x, aval.dtype, weak_type=False) if aval.weak_type else x

"""The error of a checkified function.

It is the number of the failed check, 0 if none failed, and the arrays of its message. The
list of checks is static: a `Check` has the format, and the avals of its values. Checks with
equal avals share their arrays, as only one of them is reported. Under `vmap` the number and
the arrays have the mapped axes in front.
"""

from collections.abc import Sequence
from typing import Any, Self, final

import numpy as np

from imprint._src.control_flow.checkify import NO_CHECKS, NO_ERROR, Checks
from imprint._src.core.aval import get_aval
from imprint._src.errors import CheckError
from imprint._src.primitives.checks import Failure, When, check_p, failed, first_failed
from imprint._src.primitives.elementwise.comparison import eq
from imprint._src.tree import internal as tree
from imprint.numpy import reshape, zeros_like


@final
@tree.register_pytree_node_class
class Error:
    """The first failed check and its message; a result of a checkified function.

    Args:
        number: the number of the first failed check; 0 if none failed.
        values: the arrays of each slot of the checks.
        checks: all checks.
    """

    __slots__ = ("checks", "number", "values")

    def __init__(
        self,
        number: Any = NO_ERROR,
        values: Sequence[Sequence[Any]] = (),
        checks: Checks = NO_CHECKS,
    ) -> None:
        self.number: Any = number
        self.values: tuple[tuple[Any, ...], ...] = tuple(map(tuple, values))
        self.checks: Checks = checks

    def get(self) -> str | None:
        """Return the message of the first failed check; None if none failed.

        Under `vmap` it has a line for each element with a failed check.

        Example:
            >>> import imprint
            >>> from imprint.experimental import checkify
            >>> def f(x):
            ...     checkify.check(x > 0, "{} is not positive", x)
            >>> error, _ = checkify.checkify(f)(-1.0)
            >>> error.get()
            '-1.0 is not positive (`check` failed)'
        """
        numbers = np.asarray(self.number)
        if not numbers.any():
            return None
        if not numbers.ndim:
            return self._said(int(numbers), self.values)
        return "\n".join(
            f"at mapped index {', '.join(map(str, at))}: {self._said_at(at)}"
            for at in np.ndindex(numbers.shape)
            if numbers[at]
        )

    def get_exception(self) -> CheckError | None:
        """Return the exception with that message; None if no check failed."""
        message = self.get()
        if message is None:
            return None
        first = int(next(n for n in np.ravel(np.asarray(self.number)) if n))
        return failed(message, self.checks.each[first - 1].failure.site)

    def throw(self) -> None:
        """Raise `CheckError` if a check failed; while tracing, when the program runs."""
        if not self.checks.each:
            return
        number, values = self.number, [x for slot in self.values for x in slot]
        mapped = get_aval(number).ndim
        if not mapped:
            is_fine = eq(number, NO_ERROR)
        else:
            number, *values = (
                reshape(x, (-1, *get_aval(x).shape[mapped:])) for x in (number, *values)
            )
            if not get_aval(number).shape[0]:
                return
            fine = eq(number, zeros_like(number))
            is_fine, (number, *values) = first_failed(fine, [number, *values])
        check_p.bind_all(
            is_fine,
            number,
            *values,
            callback=_CheckFailure(self.checks),
            when=When.ENABLED,
        )

    def tree_flatten(self) -> tuple[Any, Any]:
        """Return the arrays and the checks."""
        return (self.number, self.values), self.checks

    @classmethod
    def tree_unflatten(cls, aux_data: Checks, children: Any) -> Self:
        """Return the error with these arrays."""
        number, values = children
        return cls(number, values, aux_data)

    def __repr__(self) -> str:
        return f"Error({self.get()})"

    def _said_at(self, at: tuple[int, ...]) -> str:
        number = int(np.asarray(self.number)[at])
        return self._said(
            number, [[np.asarray(x)[at] for x in slot] for slot in self.values]
        )

    def _said(self, number: int, values: Sequence[Sequence[Any]]) -> str:
        return check_message(self.checks, number, values)


def check_message(checks: Checks, number: int, values: Sequence[Sequence[Any]]) -> str:
    """Return the message of a check.

    Args:
        checks: all checks.
        number: its number; the first is 1.
        values: the arrays of each slot of the checks.
    """
    failure, avals = checks.each[number - 1]
    arrays = values[checks.slots.index(avals)] if avals else ()
    return failure.message(*arrays)


@final
class _CheckFailure(Failure):
    """A failure with the message of an error."""

    def __init__(self, checks: Checks) -> None:
        super().__init__()
        self._checks = checks

    def message(self, *arrays: Any) -> str:
        """Return the message of the failed check."""
        number, *rest = arrays
        given = iter(rest)
        values = [[next(given) for _ in slot] for slot in self._checks.slots]
        return check_message(self._checks, int(number), values)

    def __imprint_token__(self) -> Any:
        """Return the key of the check in a comparison of programs."""
        return "error", self._checks

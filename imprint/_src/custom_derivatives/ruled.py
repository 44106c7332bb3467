"""Functions with a rule of the user's: what `custom_jvp`, `custom_vjp`, `custom_vmap` share.

Such a function shows what it wraps. Its rule is defined after it, and kept in a dict that
stays the same: whoever captures the function watches this dict, so a rule that is defined
anew is seen. Which rules there are, and what a call does with them, is in the subclasses.
"""

from collections.abc import Callable, Iterable
from functools import update_wrapper
from typing import Any, ClassVar, Generic, ParamSpec, TypeVar, cast

from imprint._src.core.functions import check_function, name_of
from imprint._src.custom_derivatives.flat import positions
from imprint._src.errors import UndefinedRuleError

P = ParamSpec("P")
R = TypeVar("R")


class Ruled(Generic[P, R]):
    """A function with a rule.

    Args:
        fun: the function.
        nondiff_argnums: positions of arguments that are no part of the derivative.
        nondiff_argnames: their names.
    """

    _definition: ClassVar[str]  # how the rule is defined, for messages

    __wrapped__: Callable[P, R]

    def __init__(
        self,
        fun: Callable[P, R],
        nondiff_argnums: int | Iterable[int] = (),
        nondiff_argnames: str | Iterable[str] = (),
    ) -> None:
        transform = type(self).__name__
        check_function(fun, transform)
        update_wrapper(cast("Any", self), fun)
        self.fun = fun
        self._name = name_of(fun)
        self._who = f"{transform}({self._name})"
        self.nondiff_argnums: tuple[int, ...] = positions(
            fun, nondiff_argnums, nondiff_argnames, self._who
        )
        self._rule: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        if name in {"__wrapped__", "fun"}:  # while a copy or a pickle is made
            raise AttributeError(name)
        return getattr(self.fun, name)

    def _undefined(self) -> UndefinedRuleError:
        return UndefinedRuleError(
            f"{self._who}: expected a rule to be defined before the first call, got none. "
            f"Define one: {self._name}.{self._definition}."
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.fun!r}>"

    def __imprint_token__(self) -> Any:
        """Return what stands for this function in the token of one that captures it."""
        return type(self).__name__, self.fun, self._rule, self.nondiff_argnums

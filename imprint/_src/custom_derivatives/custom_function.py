"""Functions with a user rule (`custom_jvp`, `custom_vjp`, `custom_vmap`), called on leaves.

Such a function wraps the original. Its rule is defined later and kept in a dict that stays
the same object: functions that capture it depend on this dict, so a new rule is observed.
Arguments are bound to their positions, as a rule takes them; those without a derivative
(`nondiff_argnums`) stay as they are. The function or its rule, whichever runs first, records
the structure of the result; the other must return the same structure.
"""

import inspect
from collections.abc import Callable, Iterable, Sequence
from functools import partial, update_wrapper
from types import FunctionType
from typing import Any, ClassVar, Generic, ParamSpec, TypeVar, cast, final

from imprint._src.control_flow.custom import DerivativeRule, call_with_rule
from imprint._src.core.aval import ShapedArray, get_aval
from imprint._src.core.functions import (
    check_function,
    copy_leaf,
    name_of,
    result_leaves,
)
from imprint._src.core.trace import current_trace
from imprint._src.errors import ArgumentError, TreeError, UndefinedRuleError
from imprint._src.jit.guards.recording import expect
from imprint._src.tree import internal as tree


@final
class Arguments:
    """The arguments of one call.

    Args:
        args: all of them, by position.
        nondiff: the positions of those without a derivative.
        who: the transform and the function, for messages.
    """

    __slots__ = ("_count", "leaves", "nondiff", "treedef", "values")

    def __init__(self, args: Sequence[Any], nondiff: Iterable[int], who: str) -> None:
        self._count = len(args)
        self.nondiff: tuple[int, ...] = tuple(i for i in nondiff if i < len(args))
        self.values: tuple[Any, ...] = tuple(args[i] for i in self.nondiff)
        kept = tuple(x for i, x in enumerate(args) if i not in self.nondiff)
        self.treedef: tree.TreeDef
        leaves, self.treedef = tree.flatten(kept)
        paths = None
        owned: list[Any] = []
        for i, x in enumerate(leaves):
            try:
                owned.append(copy_leaf(x, who, ""))
            except ArgumentError:
                paths = paths or self.treedef.paths()
                copy_leaf(x, who, f"argument{tree.keystr(paths[i])}")
        self.leaves: tuple[Any, ...] = tuple(owned)

    def detached(self) -> "Arguments":
        """Return these arguments without the leaves, for the rule."""
        copy = object.__new__(Arguments)
        copy._count, copy.nondiff = self._count, self.nondiff
        copy.values, copy.treedef, copy.leaves = self.values, self.treedef, ()
        return copy

    def merged(self, leaves: Iterable[Any]) -> list[Any]:
        """Return all arguments, with other leaves."""
        others = iter(self.treedef.unflatten(leaves))
        fixed = dict(zip(self.nondiff, self.values, strict=True))
        return [fixed[i] if i in fixed else next(others) for i in range(self._count)]


@final
class Outcome:
    """The structure and the avals of the result, of the function or its rule."""

    __slots__ = ("avals", "treedef")

    def __init__(self) -> None:
        self.treedef: tree.TreeDef | None = None
        self.avals: list[ShapedArray] = []

    def note(self, result: Any, name: str) -> list[Any]:
        """Return the leaves of the function's result."""
        leaves, self.treedef = result_leaves(result, name)
        self.avals = [get_aval(x) for x in leaves]
        return leaves

    def check(self, result: Any, who: str, name: str) -> list[Any]:
        """Return the leaves of a rule's result; raise unless they fit.

        Args:
            result: it.
            who: the rule, for messages.
            name: the function's name.
        """
        if self.treedef is None:
            return self.note(result, who)
        leaves, treedef = result_leaves(result, who)
        if not treedef.agrees(self.treedef):
            raise TreeError(
                f"{who}: expected the result of {name} as the first of the pair, of "
                f"structure {self.treedef}, got {treedef}. Return what {name} returns."
            )
        for x, aval in zip(leaves, self.avals, strict=True):
            came = get_aval(x)
            if (came.shape, came.dtype) != (aval.shape, aval.dtype):
                raise ArgumentError(
                    f"{who}: expected the result of {name} as the first of the pair, "
                    f"{aval.strong()}, got {came.strong()}. Return what {name} returns."
                )
        return leaves


def call_flat(
    fun: Callable[..., Any],
    arguments: Arguments,
    rule: DerivativeRule,
    outcome: Outcome,
) -> Any:
    """Call a function that has a rule.

    Args:
        fun: the function.
        arguments: the call.
        rule: how it is differentiated.
        outcome: records the structure of the result.
    """

    def flat(*leaves: Any) -> list[Any]:
        return outcome.note(fun(*arguments.merged(leaves)), rule.name)

    expect(rule.functions, arguments.values)
    outs = call_with_rule(flat, rule, arguments.leaves)
    assert outcome.treedef is not None
    return outcome.treedef.unflatten(outs)


def is_traced() -> bool:
    """Return whether anything is traced; otherwise the function is simply called."""
    return current_trace() is not None


def positions(
    fun: Callable[..., Any],
    argnums: int | Iterable[int],
    argnames: str | Iterable[str],
    who: str,
) -> tuple[int, ...]:
    """Return the positions of the arguments without a derivative, in order."""
    found = {argnums} if isinstance(argnums, int) else {*argnums}
    names = (argnames,) if isinstance(argnames, str) else tuple(argnames)
    if names:
        known = [*inspect.signature(fun).parameters]
        for name in names:
            if name not in known:
                raise ArgumentError(
                    f"{who}: expected names of parameters in nondiff_argnames, got "
                    f"{name!r}. The function has {', '.join(known)}."
                )
            found.add(known.index(name))
    return tuple(sorted(found))


def by_position(
    fun: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], who: str
) -> tuple[Any, ...]:
    """Return the arguments of a call by position, with defaults."""
    if not kwargs and type(fun) is FunctionType:
        code = fun.__code__
        if code.co_argcount == len(args) and not code.co_kwonlyargcount:
            return args
    if not kwargs and isinstance(fun, partial):
        return args  # what it holds by keyword is no argument
    try:
        bound = inspect.signature(fun).bind(*args, **kwargs)
    except TypeError as err:
        raise ArgumentError(
            f"{who}: expected arguments that fit its signature, got others: {err}. A rule "
            "is given arguments by position."
        ) from err
    bound.apply_defaults()
    if bound.kwargs:
        raise ArgumentError(
            f"{who}: expected arguments that have a position, as a rule is given them by "
            f"position, got {', '.join(bound.kwargs)} by keyword alone. Make them "
            "parameters before the `*`."
        )
    return bound.args


def pair_of(result: Any, who: str, first: str, second: str) -> tuple[Any, Any]:
    """Return the two parts of the result of a rule."""
    if not isinstance(result, tuple | list) or len(result) != 2:  # pyright: ignore[reportUnknownArgumentType] - of anything
        raise ArgumentError(
            f"{who}: expected a pair ({first}, {second}), got "
            f"{type(result).__name__}. Return exactly two things."  # pyright: ignore[reportUnknownArgumentType] - of anything
        )
    return result[0], result[1]  # pyright: ignore[reportUnknownVariableType] - of anything


P = ParamSpec("P")
R = TypeVar("R")


class CustomFunction(Generic[P, R]):
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
        """Return the token of this function in the token of one that captures it."""
        return type(self).__name__, self.fun, self._rule, self.nondiff_argnums

"""`custom_vmap`: a function with a user rule for `vmap`.

The rule is called with the size of the mapped axis, which arguments are batched, and the
arguments by position, with the axis in front of those that are. It returns the result and
which parts of it are batched, as trees of one structure.
"""

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast, final

from imprint._src.control_flow.custom_vmap import BatchRule, Mask, call_with_batch_rule
from imprint._src.core.functions import check_function, result_leaves
from imprint._src.core.primitive import Values
from imprint._src.custom_derivatives.custom_function import (
    Arguments,
    CustomFunction,
    Outcome,
    by_position,
    pair_of,
)
from imprint._src.diagnostics.traceback_filter import filter_traceback
from imprint._src.errors import TreeError
from imprint._src.jit.guards.recording import expect, run_rule
from imprint._src.tree import internal as tree
from imprint.lax import map as lax_map

__all__ = ["custom_vmap", "sequential_vmap"]

P = ParamSpec("P")
R = TypeVar("R")


@final
class custom_vmap(CustomFunction[P, R]):  # noqa: N801 - JAX's name
    """A function that `vmap` batches by a rule.

    Args:
        fun: the function.

    Example:
        >>> import imprint
        >>> import imprint.numpy as np
        >>> from imprint.custom_batching import custom_vmap
        >>> @custom_vmap
        ... def double(x):
        ...     return 2.0 * x
        >>> @double.def_vmap
        ... def _(axis_size, in_batched, x):
        ...     return x + x, in_batched[0]
        >>> imprint.vmap(double)(np.ones(3))
        Array([2., 2., 2.], dtype=float32)
    """

    _definition = "def_vmap(rule)"

    def __init__(self, fun: Callable[P, R]) -> None:
        super().__init__(fun)

    @property
    def vmap_rule(self) -> Callable[..., Any] | None:
        """The rule; None before one is defined."""
        return self._rule.get("vmap")

    def def_vmap(
        self, vmap_rule: Callable[..., tuple[Any, Any]]
    ) -> Callable[..., tuple[Any, Any]]:
        """Define the rule, which is returned, so that this can decorate it.

        Args:
            vmap_rule: `(axis_size, in_batched, *args) -> (result, out_batched)`:
                `in_batched` is a list with a tree of bools for each argument.
        """
        check_function(vmap_rule, "custom_vmap")
        self._rule.update(vmap=vmap_rule)  # in place
        return vmap_rule

    @filter_traceback
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function; where it is batched, by its rule."""
        if not self._rule:
            raise self._undefined()
        arguments = Arguments(
            by_position(self.fun, args, kwargs, self._who), (), self._who
        )
        outcome = Outcome()

        def flat(*leaves: Any) -> list[Any]:
            return outcome.note(self.fun(*arguments.merged(leaves)), self._name)  # pyright: ignore[reportCallIssue] - those of a call

        rule = _Rule(self._name, self._rule, arguments.detached(), outcome)
        expect((self.vmap_rule,))
        outs = call_with_batch_rule(flat, rule, arguments.leaves)
        assert outcome.treedef is not None
        return outcome.treedef.unflatten(outs)


@final
class _Rule(BatchRule):
    """The rule of one call.

    Args:
        name: the function's.
        rule: the user rule, as it was at the call.
        arguments: the call, without leaves.
        outcome: the result of the function.
    """

    def __init__(
        self, name: str, rule: dict[str, Any], arguments: Arguments, outcome: Outcome
    ) -> None:
        super().__init__(name)
        self._rule: Callable[..., Any] = rule["vmap"]
        self._arguments = arguments
        self._outcome = outcome

    def batch(self, size: int, batched: Mask, args: Values) -> tuple[Values, Mask]:
        """Return the results of the user rule, and which of them are batched."""
        who = f"the rule of custom_vmap({self.name})"
        flags = self._arguments.merged(batched)
        values = self._arguments.merged(args)
        result = run_rule(lambda: self._rule(size, flags, *values), (self._rule,))
        out, out_batched = pair_of(result, who, "result", "which are batched")
        outs, treedef = result_leaves(out, who)
        if not treedef.agrees(self._outcome.treedef):
            raise TreeError(
                f"{who}: expected a result of structure {self._outcome.treedef}, as "
                f"{self.name} returns, got {treedef}. Return what {self.name} returns."
            )
        marks, marked = tree.flatten(out_batched)
        if marked != treedef:
            raise TreeError(
                f"{who}: expected a bool for each part of the result, of structure "
                f"{treedef}, got {marked}. Return True where the mapped axis is in front."
            )
        return tuple(outs), tuple([bool(on) for on in marks])

    def __imprint_token__(self) -> Any:
        """Return the token of this rule in the comparison of programs."""
        return "custom_vmap", self.name, self._rule


def sequential_vmap(f: Callable[P, R]) -> custom_vmap[P, R]:
    """Return the function that `vmap` applies to one slice after the other.

    Args:
        f: the function.

    Returns:
        A function of the same arguments, with the same result.

    Example:
        >>> import imprint
        >>> import imprint.numpy as np
        >>> from imprint.custom_batching import sequential_vmap
        >>> imprint.vmap(sequential_vmap(lambda x: x * 2))(np.ones(3))
        Array([2., 2., 2.], dtype=float32)
    """
    made = custom_vmap(f)
    call = cast("Callable[..., Any]", made)

    @made.def_vmap
    def rule(axis_size: int, in_batched: Any, *args: Any) -> tuple[Any, Any]:
        leaves, treedef = tree.flatten(args)
        flags = tree.leaves(in_batched)

        def one(mapped: list[Any]) -> Any:
            rest = iter(mapped)
            pairs = zip(leaves, flags, strict=True)
            given = [next(rest) if on else x for x, on in pairs]
            return call(*treedef.unflatten(given))

        out = lax_map(one, [x for x, on in zip(leaves, flags, strict=True) if on])
        return out, tree.map(_true, out)

    return made


def _true(_: Any) -> bool:
    return True

"""`custom_jvp`: a function with a rule for its tangents.

The rule serves forward mode as it is, and reverse mode by its transpose, as it is linear in
the tangents. It is called with the arguments that have no derivative, then the primals and
the tangents, each a tuple like the other arguments.
"""

from collections.abc import Callable
from functools import reduce
from typing import Any, ParamSpec, TypeVar, final

from imprint._src.control_flow.custom import ForwardRule
from imprint._src.core.aval import get_aval
from imprint._src.core.functions import check_function, name_of
from imprint._src.core.primitive import Values
from imprint._src.core.tangents import Zero, is_zero, tangent_aval, zero_of
from imprint._src.core.trace import Tracer
from imprint._src.custom_derivatives.custom_function import (
    Arguments,
    CustomFunction,
    Outcome,
    by_position,
    call_flat,
    is_traced,
    pair_of,
)
from imprint._src.custom_derivatives.zeros import SymbolicZero, from_rule, to_rule
from imprint._src.diagnostics.traceback_filter import filter_traceback
from imprint._src.errors import ArgumentError, TreeError
from imprint._src.jit.guards.recording import run_rule
from imprint._src.primitives.barrier import stop_gradient
from imprint._src.primitives.core_ops import add_tangents
from imprint._src.tree import internal as tree

P = ParamSpec("P")
R = TypeVar("R")


@final
class custom_jvp(CustomFunction[P, R]):  # noqa: N801 - JAX's name
    """A function whose derivative is defined by a rule for its tangents.

    Args:
        fun: the function.
        nondiff_argnums: positions of arguments that are no part of the derivative; they
            may be anything, and are given to the rule first.
        nondiff_argnames: their names.

    Example:
        >>> import imprint
        >>> import imprint.numpy as np
        >>> @imprint.custom_jvp
        ... def log1pexp(x):
        ...     return np.log(1.0 + np.exp(x))
        >>> @log1pexp.defjvp
        ... def _(primals, tangents):
        ...     (x,), (t,) = primals, tangents
        ...     return log1pexp(x), (1.0 - 1.0 / (1.0 + np.exp(x))) * t
        >>> imprint.grad(log1pexp)(100.0)
        Array(1., dtype=float32, weak_type=True)
    """

    _definition = "defjvp(rule)"

    @property
    def jvp(self) -> Callable[..., Any] | None:
        """The rule; None before one is defined."""
        return self._rule.get("jvp")

    @property
    def symbolic_zeros(self) -> bool:
        """Whether the rule takes `SymbolicZero`."""
        return self._rule.get("symbolic_zeros", False)

    def defjvp(
        self,
        jvp: Callable[..., tuple[Any, Any]],
        symbolic_zeros: bool = False,  # noqa: FBT001, FBT002 - JAX's signature
    ) -> Callable[..., tuple[Any, Any]]:
        """Define the rule, which is returned, so that this can decorate it.

        Args:
            jvp: `(*nondiff, primals, tangents) -> (result, tangent of the result)`,
                linear in the tangents.
            symbolic_zeros: whether tangents that are known to be zero are given as
                `SymbolicZero`, not as arrays; the rule may return such ones.
        """
        check_function(jvp, "custom_jvp")
        self._rule.update(jvp=jvp, symbolic_zeros=bool(symbolic_zeros))  # in place
        return jvp

    def defjvps(self, *jvps: Callable[..., Any] | None) -> None:
        """Define the rule by one function for each argument.

        Args:
            jvps: for each argument `(tangent, result, *primals) -> tangent of the
                result`, or None where there is no derivative.

        Example:
            >>> import imprint
            >>> @imprint.custom_jvp
            ... def scaled(x, by):
            ...     return x * by
            >>> scaled.defjvps(lambda t, result, x, by: t * by, None)
            >>> imprint.grad(scaled, argnums=(0, 1))(2.0, 5.0)[0]
            Array(5., dtype=float32, weak_type=True)
        """
        if self.nondiff_argnums:
            raise ArgumentError(
                f"{self._who}: expected no nondiff_argnums together with "
                f"defjvps, got {self.nondiff_argnums}. Use defjvp."
            )
        self.defjvp(_ByArgument(self, jvps))

    @filter_traceback
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function; where it is differentiated, by its rule."""
        if not self._rule:
            raise self._undefined()
        if not is_traced():
            return self.fun(*args, **kwargs)
        every = by_position(self.fun, args, kwargs, self._who)
        arguments = Arguments(every, self.nondiff_argnums, self._who)
        arguments.values = tuple(map(_without_tangent, arguments.values))
        outcome = Outcome()
        rule = _JvpRule(self._name, self._rule, arguments.detached(), outcome)
        return call_flat(self.fun, arguments, rule, outcome)


def _without_tangent(value: Any) -> Any:
    """Return a `nondiff` argument in which traced values have no derivative."""
    if not any(isinstance(x, Tracer) for x in tree.leaves(value)):
        return value
    return tree.map(_stopped, value)


def _stopped(x: Any) -> Any:
    return stop_gradient(x) if isinstance(x, Tracer) else x


@final
class _ByArgument:
    """The rule that is the sum of one for each argument."""

    def __init__(
        self, fun: custom_jvp[Any, Any], jvps: tuple[Callable[..., Any] | None, ...]
    ) -> None:
        self._fun = fun
        self.jvps = jvps
        self.__name__ = "jvp"

    def __call__(self, primals: Any, tangents: Any) -> tuple[Any, Any]:
        """Return the result and the sum of its tangents."""
        out = self._fun(*primals)
        count = min(len(tangents), len(self.jvps))
        found = [
            jvp(t, out, *primals)
            for t, jvp in zip(tangents[:count], self.jvps[:count], strict=True)
            if jvp is not None
        ]
        if not found:
            return out, tree.map(_zeros, out)
        return out, tree.map(lambda *ts: reduce(add_tangents, ts), *found)

    def __imprint_token__(self) -> Any:
        """Return the token of this rule: its parts."""
        return self.jvps


def _zeros(x: Any) -> Any:
    return to_rule(zero_of(get_aval(x)), symbolic=False)


@final
class _JvpRule(ForwardRule):
    """The rule of one call.

    Args:
        name: the function's.
        rule: the user rule, and whether it takes symbolic zeros.
        arguments: the call, without leaves.
        outcome: the result of the function.
    """

    def __init__(
        self, name: str, rule: dict[str, Any], arguments: Arguments, outcome: Outcome
    ) -> None:
        super().__init__(name)
        self._jvp, self._symbolic = rule.values()
        each = getattr(self._jvp, "jvps", (self._jvp,))
        self.functions = tuple(f for f in each if f)
        self._arguments = arguments
        self._outcome = outcome

    def __imprint_token__(self) -> Any:
        """Return the token of this rule in the comparison of programs."""
        values = self._arguments.values
        return self.name, self._jvp, self._symbolic, values

    def tangents(self, primals: Values, tangents: Values) -> tuple[Values, Values]:
        """Return the results and their tangents, by the user rule."""
        who = f"rule {name_of(self._jvp)} of custom_jvp({self.name})"
        treedef, symbolic = self._arguments.treedef, self._symbolic
        values = self._arguments.values

        def run() -> Any:
            return self._jvp(
                *values,
                treedef.unflatten(primals),
                treedef.unflatten([to_rule(t, symbolic=symbolic) for t in tangents]),
            )

        result = run_rule(run, (self._jvp, *values))
        out, tangent = pair_of(result, who, "result", "tangent")
        outs = self._outcome.check(out, who, self.name)
        leaves, tangent_tree = tree.flatten(tangent)
        if not tangent_tree.agrees(self._outcome.treedef):
            raise TreeError(
                f"{who}: expected a tangent of the structure of the result, "
                f"{self._outcome.treedef}, got {tangent_tree}. Give each part of the "
                "result its tangent."
            )
        avals = [tangent_aval(get_aval(x)) for x in outs]
        pairs = zip(leaves, avals, strict=True)
        return tuple(outs), tuple([_checked(t, aval, who) for t, aval in pairs])


def _checked(tangent: Any, aval: Any, who: str) -> Any:
    came = tangent.aval if type(tangent) is SymbolicZero else get_aval(tangent)
    if (came.shape, came.dtype) != (aval.shape, aval.dtype):
        raise ArgumentError(
            f"{who}: expected a tangent {aval.strong()}, as the result it belongs to, got "
            f"{came.strong()}. Convert it to the shape and dtype of the result."
        )
    found = from_rule(tangent)
    return Zero(aval) if is_zero(found) else found

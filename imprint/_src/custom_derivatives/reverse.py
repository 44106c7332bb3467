"""`custom_vjp`: a function with a rule for its cotangents.

The rule is two functions: `fwd` takes the arguments and returns the result and the residuals;
`bwd` takes the arguments that have no derivative, the residuals and the cotangent of the
result, and returns a cotangent for each other argument.
"""

from collections.abc import Callable, Iterable
from typing import Any, ParamSpec, TypeVar, cast, final

from imprint._src.control_flow.custom import BackwardRule, Pull
from imprint._src.core.array_interop import shown
from imprint._src.core.aval import ShapedArray, get_aval
from imprint._src.core.functions import check_function, name_of
from imprint._src.core.primitive import Values
from imprint._src.core.tangents import Zero, is_float0, is_zero, tangent_aval
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
from imprint._src.custom_derivatives.zeros import CustomVJPPrimal, from_rule, to_rule
from imprint._src.diagnostics.traceback_filter import filter_traceback
from imprint._src.dtypes import is_floating, is_inexact
from imprint._src.errors import ArgumentError, TreeError, UnexpectedTracerError
from imprint._src.jit.guards.recording import run_rule
from imprint._src.primitives.elementwise.convert import convert_element_type
from imprint._src.tree import internal as tree

P = ParamSpec("P")
R = TypeVar("R")


@final
class custom_vjp(CustomFunction[P, R]):  # noqa: N801 - JAX's name
    """A function whose derivative is defined by a rule for its cotangents.

    Such a function has reverse mode only: `grad`, `vjp`, `jacrev`.

    Args:
        fun: the function.
        nondiff_argnums: positions of arguments that are no part of the derivative; they
            may be anything but tracers, and are given to `bwd` first.
        nondiff_argnames: their names.

    Example:
        >>> import imprint
        >>> import imprint.numpy as np
        >>> @imprint.custom_vjp
        ... def clipped(x):
        ...     return x
        >>> def fwd(x):
        ...     return clipped(x), None
        >>> def bwd(_, ct):
        ...     return (np.clip(ct, -1.0, 1.0),)
        >>> clipped.defvjp(fwd, bwd)
        >>> imprint.grad(lambda x: 10.0 * clipped(x))(2.0)
        Array(1., dtype=float32, weak_type=True)
    """

    _definition = "defvjp(fwd, bwd)"

    optimize_remat: bool = False

    @property
    def fwd(self) -> Callable[..., Any] | None:
        """The forward function; None before the rule is defined."""
        return self._rule.get("fwd")

    @property
    def bwd(self) -> Callable[..., Any] | None:
        """The backward function; None before the rule is defined."""
        return self._rule.get("bwd")

    @property
    def symbolic_zeros(self) -> bool:
        """Whether the rule takes `SymbolicZero`."""
        return self._rule.get("symbolic_zeros", False)

    def defvjp(
        self,
        fwd: Callable[..., tuple[Any, Any]],
        bwd: Callable[..., Any],
        symbolic_zeros: bool = False,  # noqa: FBT001, FBT002 - JAX's signature
        optimize_remat: bool = False,  # noqa: FBT001, FBT002 - JAX's signature
    ) -> None:
        """Define the rule.

        Args:
            fwd: `(*args) -> (result, residuals)`, with all arguments of the function.
            bwd: `(*nondiff, residuals, cotangent) -> cotangents`, a tuple with one for
                each argument that is no `nondiff` one; None for one that is zero.
            symbolic_zeros: whether `fwd` receives which arguments are differentiated, as
                leaves `CustomVJPPrimal`, and `bwd` is given a `SymbolicZero` for each
                cotangent that is known to be zero.
            optimize_remat: accepted as JAX does; nothing needs it here.
        """
        check_function(fwd, "custom_vjp")
        check_function(bwd, "custom_vjp")
        self.optimize_remat = bool(optimize_remat)
        self._rule.update(fwd=fwd, bwd=bwd, symbolic_zeros=bool(symbolic_zeros))

    @filter_traceback
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function; where it is differentiated, by its rule."""
        if not self._rule:
            raise self._undefined()
        if not is_traced():
            return self.fun(*args, **kwargs)
        every = by_position(self.fun, args, kwargs, self._who)
        arguments = Arguments(every, self.nondiff_argnums, self._who)
        for i, value in zip(arguments.nondiff, arguments.values, strict=True):
            _check_untraced(value, i, self._who)
        outcome = Outcome()
        rule = _VjpRule(self._name, self._rule, arguments.detached(), outcome)
        return call_flat(self.fun, arguments, rule, outcome)


def _check_untraced(value: Any, position: int, who: str) -> None:
    for x in tree.leaves(value):
        if isinstance(x, Tracer):
            raise UnexpectedTracerError(
                f"{who}: expected no traced value in nondiff_argnums, got tracer "
                f"{x.aval} in argument {position}. Such an argument is held until the "
                "backward pass, when the trace is over: leave it out of nondiff_argnums "
                "and return None for its cotangent."
            )


@final
class _VjpRule(BackwardRule):
    """The rule of one call.

    Args:
        name: the function's.
        rule: the user functions, and whether they take symbolic zeros.
        arguments: the call, without leaves.
        outcome: the result of the function.
    """

    def __init__(
        self, name: str, rule: dict[str, Any], arguments: Arguments, outcome: Outcome
    ) -> None:
        super().__init__(name)
        self.fwd: Callable[..., Any]
        self.bwd: Callable[..., Any]
        self.symbolic: bool
        self.fwd, self.bwd, self.symbolic = rule.values()
        self.functions = self.fwd, self.bwd
        self.arguments = arguments
        self.outcome = outcome

    def __imprint_token__(self) -> Any:
        """Return the token of this rule in the comparison of programs."""
        values = self.arguments.values
        return self.name, self.fwd, self.bwd, self.symbolic, values

    def forward(
        self, primals: Values, perturbed: tuple[bool, ...]
    ) -> tuple[Values, Values, Pull]:
        """Return the results, the residuals and the backward function."""
        who = f"fwd {name_of(self.fwd)} of custom_vjp({self.name})"
        leaves: Iterable[Any] = primals
        if self.symbolic:
            leaves = map(CustomVJPPrimal, primals, perturbed)
        result = run_rule(
            lambda: self.fwd(*self.arguments.merged(leaves)),
            (self.fwd, *self.arguments.values),
        )
        out, remembered = pair_of(result, who, "result", "residuals")
        outs = self.outcome.check(out, who, self.name)
        residuals, residual_tree = tree.flatten(remembered)
        for i, x in enumerate(residuals):
            _check_residual(x, residual_tree, i, who)
        pull = _Backward(
            self, residual_tree, [get_aval(x) for x in primals], perturbed, outs
        )
        return tuple(outs), tuple(residuals), Pull(self.name, pull)


def _check_residual(x: Any, treedef: tree.TreeDef, i: int, who: str) -> None:
    try:
        get_aval(x)
    except TypeError:
        path = tree.keystr(treedef.paths()[i])
        raise ArgumentError(
            f"{who}: expected arrays and numbers as residuals, got {shown(x)} as "
            f"residuals{path}. Pass Python values by nondiff_argnums."
        ) from None


@final
class _Backward:
    """The backward function of one call of the forward function."""

    def __init__(
        self,
        rule: _VjpRule,
        residual_tree: tree.TreeDef,
        avals: list[ShapedArray],
        perturbed: tuple[bool, ...],
        outs: list[Any],
    ) -> None:
        self._rule = rule
        self._residual_tree = residual_tree
        self._avals = [aval.unplaced() for aval in avals]
        self._perturbed = perturbed
        self._out_avals = [get_aval(x).unplaced() for x in outs]

    def __call__(self, residuals: Values, cts: Values) -> list[Any]:
        rule = self._rule
        some = iter(cts)
        leaves = [
            to_rule(
                next(some) if is_inexact(aval.dtype) else Zero(tangent_aval(aval)),
                symbolic=rule.symbolic,
            )
            for aval in self._out_avals
        ]
        treedef: Any = rule.outcome.treedef
        values = rule.arguments.values

        def run() -> Any:
            return rule.bwd(
                *values,
                self._residual_tree.unflatten(residuals),
                treedef.unflatten(leaves),
            )

        result = run_rule(run, (rule.bwd, *values))
        found = self._cotangents(result)
        return [ct for ct, on in zip(found, self._perturbed, strict=True) if on]

    def _cotangents(self, result: Any) -> list[Any]:
        """Return the cotangents of a user rule, one for each leaf; None is zero."""
        rule, treedef = self._rule, self._rule.arguments.treedef
        who = f"bwd {name_of(rule.bwd)} of custom_vjp({rule.name})"
        children = treedef.children()
        if type(result) is list and len(cast("list[Any]", result)) == len(children):
            result = tuple(cast("list[Any]", result))
        if not isinstance(result, tuple):
            raise TreeError(
                f"{who}: expected a tuple with one cotangent for each of the "
                f"{len(children)} arguments, of structure {treedef}, got "
                f"{shown(result)}. For one argument return `(ct,)`."
            )
        leaves = _spread(result, treedef, who)
        names = [tree.keystr(path) for path in treedef.paths()]
        return [
            _checked(*each, who)
            for each in zip(leaves, self._avals, names, strict=True)
        ]


def _spread(result: Any, treedef: tree.TreeDef, who: str) -> list[Any]:
    """Return a cotangent, or None, for each leaf of the arguments."""
    whole = treedef.unflatten([0] * treedef.num_leaves)
    try:
        spread = tree.broadcast_prefix(result, whole, is_leaf=_is_none)
    except ValueError:
        raise TreeError(
            f"{who}: expected cotangents of the structure of the arguments, {treedef}, got "
            f"{tree.structure(result)}. Return a tuple with one cotangent for each "
            "argument, of its structure; None for one that is zero."
        ) from None
    places = tree.leaves(whole, is_leaf=_is_none)  # an argument may hold None, too
    return [ct for ct, x in zip(spread, places, strict=True) if x is not None]


def _is_none(x: Any) -> bool:
    return x is None


def _checked(ct: Any, aval: ShapedArray, path: str, who: str) -> Any:
    zero = Zero(tangent_aval(aval))
    if ct is None or is_float0(zero.aval):
        return zero
    found = from_rule(ct)
    came = found.aval if is_zero(found) else get_aval(found)
    if came.shape != aval.shape:
        raise ArgumentError(
            f"{who}: expected a cotangent {aval.strong()} as result{path}, as the "
            f"argument it belongs to, got {came.strong()}. Sum or reshape it to the shape "
            "of the argument."
        )
    if is_zero(found):
        return zero
    if came.dtype == aval.dtype or (
        is_floating(came.dtype) and is_floating(aval.dtype)
    ):
        return found
    return convert_element_type(found, aval.dtype)

"""Functions and their captured values: `custom_gradient` and `closure_convert`.

A rule knows only arguments. `closure_convert` makes arguments of the captured values that
may be differentiated. `custom_gradient` takes a function that returns its result and its
pullback, which captures the residuals.
"""

from collections.abc import Callable, Sequence
from functools import update_wrapper
from typing import Any, TypeVar, cast, final

from imprint._src.core.aval import get_aval
from imprint._src.core.functions import (
    as_result,
    check_function,
    copy_leaf,
    name_of,
    result_leaves,
)
from imprint._src.core.jaxpr import ClosedJaxpr, eval_jaxpr
from imprint._src.core.trace import Tracer
from imprint._src.custom_derivatives.custom_function import pair_of
from imprint._src.custom_derivatives.reverse import custom_vjp
from imprint._src.diagnostics.traceback_filter import filter_traceback
from imprint._src.dtypes import is_inexact
from imprint._src.errors import TreeError
from imprint._src.interpreters.trace_to_jaxpr import DebugInfo, lift_scalars, stage
from imprint._src.tree import internal as tree

R = TypeVar("R")


@filter_traceback
def closure_convert(
    fun: Callable[..., Any], *example_args: Any
) -> tuple[Callable[..., Any], list[Any]]:
    """Return `fun` with its captured values as further arguments, and these values.

    Args:
        fun: a pure function of arrays.
        example_args: arguments like those it will be called with.

    Returns:
        A function that takes the arguments, then the values; and the list of values:
        those in the closure that may be differentiated.

    Raises:
        ArgumentError: `fun` is not a function.

    References:
        JAX, `jax.closure_convert`.

    Example:
        >>> import imprint
        >>> def outer(scale):
        ...     fun, values = imprint.closure_convert(lambda x: scale * x, 1.0)
        ...     return fun(3.0, *values), len(values)
        >>> imprint.grad(outer, has_aux=True)(2.0)
        (Array(3., dtype=float32, weak_type=True), 1)
    """
    check_function(fun, "closure_convert")
    program = _TracedFunction(fun, example_args)
    moved = [x for x in program.closed.consts if _may_be_differentiated(x)]
    return _ConvertedClosure(program), moved


def _may_be_differentiated(x: Any) -> bool:
    return isinstance(x, Tracer) and is_inexact(x.aval.dtype)


@final
class _TracedFunction:
    """A function of trees, traced once at example arguments."""

    def __init__(self, fun: Callable[..., Any], args: Sequence[Any]) -> None:
        self.name: str = name_of(fun)
        leaves, self.in_tree = tree.flatten(tuple(args))
        owned = [
            copy_leaf(x, "closure_convert", f"argument {i}")
            for i, x in enumerate(leaves)
        ]
        found: list[tree.TreeDef] = []

        def flat(*xs: Any) -> list[Any]:
            outs, out_tree = result_leaves(fun(*self.in_tree.unflatten(xs)), self.name)
            found.append(out_tree)
            return outs

        avals = [get_aval(x) for x in owned]
        closed = stage(flat, avals, DebugInfo("closure_convert", self.name))
        self.closed: ClosedJaxpr = lift_scalars(closed)
        (self.out_tree,) = found

    def run(self, consts: Sequence[Any], args: Sequence[Any]) -> Any:
        """Evaluate it at arguments, with these captured values."""
        leaves, treedef = tree.flatten(tuple(args))
        if not treedef.agrees(self.in_tree):
            raise TreeError(
                f"closure_convert({self.name}): expected arguments of structure "
                f"{self.in_tree}, as the examples had, got {treedef}. Convert it again "
                "for other arguments."
            )
        outs = eval_jaxpr(self.closed.jaxpr, consts, *leaves)
        return self.out_tree.unflatten(map(as_result, outs))


@final
class _ConvertedClosure:
    """A function that takes captured values after its arguments."""

    def __init__(self, program: _TracedFunction) -> None:
        self.__name__: str = program.name
        consts = program.closed.consts
        self._program = program
        self._fixed = [None if _may_be_differentiated(x) else x for x in consts]
        self._count = sum(map(_may_be_differentiated, consts))

    @filter_traceback
    def __call__(self, *args: Any) -> Any:
        end = len(args) - self._count
        moved = iter(args[end:])
        consts = [next(moved) if x is None else x for x in self._fixed]
        return self._program.run(consts, args[:end])


@final
class _GradientPullback:
    """The program of a pullback, as static data of its residuals."""

    def __init__(self, program: _TracedFunction) -> None:
        self._program = program

    def __call__(self, consts: Any, *cts: Any) -> Any:
        return self._program.run(consts, cts)


def custom_gradient(fun: Callable[..., tuple[R, Any]]) -> custom_vjp[..., R]:
    """Return a function that defines its own gradient.

    Args:
        fun: a function that returns its result and a function of the cotangent of the
            result, which returns the cotangent of the argument, or a tuple of them.

    Returns:
        A function of the same arguments that returns the result alone.

    Raises:
        ArgumentError: `fun` cannot be called.

    Example:
        >>> import imprint
        >>> @imprint.custom_gradient
        ... def square(x):
        ...     return x**2, lambda ct: 100.0 * ct * x
        >>> square(3.0), imprint.grad(square)(3.0)
        (9.0, Array(300., dtype=float32, weak_type=True))
    """
    check_function(fun, "custom_gradient")
    who = f"custom_gradient({name_of(fun)})"

    def primal(*args: Any, **kwargs: Any) -> Any:
        result, _ = pair_of(fun(*args, **kwargs), who, "result", "function")
        return result

    def fwd(*args: Any, **kwargs: Any) -> Any:
        result, back = pair_of(fun(*args, **kwargs), who, "result", "function")
        check_function(back, "custom_gradient")
        program = _TracedFunction(back, (result,))
        return result, tree.Partial(_GradientPullback(program), program.closed.consts)

    def bwd(back: Any, ct: Any) -> Any:
        found = back(ct)
        return cast("Any", found if isinstance(found, tuple | list) else (found,))

    defined = custom_vjp(update_wrapper(primal, fun))
    defined.defvjp(fwd, bwd)
    return defined

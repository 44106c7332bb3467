"""Filtered derivatives: with respect to inexact arrays, None for all other leaves.

Each transform partitions its arguments with `is_inexact_array`, differentiates with respect
to the arrays and closes over the rest, so a model may hold functions, strings and integers.
Derivatives have the structure of the arguments, with None where there is none. Results and
auxiliary data may be anything.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any, Final, ParamSpec, TypeVar, cast, overload

from imprint._src.core.functions import check_function, name_of
from imprint._src.core.trace import current_trace
from imprint._src.diagnostics.traceback_filter import filter_traceback
from imprint._src.errors import ArgumentError, did_you_mean
from imprint._src.interpreters.derivatives import jvp, value_and_grad, vjp
from imprint._src.interpreters.jacobians import jacfwd, jacrev
from imprint._src.interpreters.jvp import JVPTracer
from imprint._src.module.callables import Wrapper
from imprint._src.module.fields import field
from imprint._src.module.filters import (
    combine,
    is_array,
    is_inexact_array,
    is_none,
    partition,
)
from imprint._src.tree import internal as tree

P = ParamSpec("P")
R = TypeVar("R")

# ---- gradients ----


@overload
def filter_value_and_grad(
    fun: Callable[P, R], *, has_aux: bool = False, **gradkwargs: Any
) -> Callable[P, tuple[R, Any]]: ...
@overload
def filter_value_and_grad(
    fun: None = None, *, has_aux: bool = False, **gradkwargs: Any
) -> Callable[[Callable[P, R]], Callable[P, tuple[R, Any]]]: ...
def filter_value_and_grad(
    fun: Callable[..., Any] | None = None,
    *,
    has_aux: bool = False,
    **gradkwargs: Any,
) -> Callable[..., Any]:
    """Return the function that evaluates both `fun` and its gradient; see `filter_grad`.

    Args:
        fun: a function with a scalar result. Leave it out to decorate with options.
        has_aux: whether `fun` returns `(result, auxiliary data)`.
        gradkwargs: options of `imprint.value_and_grad`, such as `holomorphic`.

    Returns:
        A function of the same arguments that returns `(result, gradient)`, or
        `((result, aux), gradient)`.

    References:
        Equinox, `equinox.filter_value_and_grad`.

    Example:
        >>> import imprint.numpy as inp
        >>> from imprint.module import filter_value_and_grad
        >>> model = {"w": inp.ones(2), "name": "linear"}
        >>> value, grads = filter_value_and_grad(lambda m: (m["w"] ** 2).sum())(model)
        >>> print(value, grads)
        2.0 {'name': None, 'w': Array([2., 2.], dtype=float32)}
    """
    return _wrapped(fun, gradkwargs, has_aux=has_aux, with_value=True)


@overload
def filter_grad(
    fun: Callable[P, Any], *, has_aux: bool = False, **gradkwargs: Any
) -> Callable[P, Any]: ...
@overload
def filter_grad(
    fun: None = None, *, has_aux: bool = False, **gradkwargs: Any
) -> Callable[[Callable[P, Any]], Callable[P, Any]]: ...
def filter_grad(
    fun: Callable[..., Any] | None = None,
    *,
    has_aux: bool = False,
    **gradkwargs: Any,
) -> Callable[..., Any]:
    """Return the function that evaluates the gradient of `fun`.

    The gradient is with respect to the floating arrays in the first argument; for several
    arguments, pass them as one tuple.

    Args:
        fun: a function with a scalar result. Leave it out to decorate with options.
        has_aux: whether `fun` returns `(result, auxiliary data)`.
        gradkwargs: options of `imprint.grad`, such as `holomorphic`.

    Returns:
        A function of the same arguments that returns the gradient, or `(gradient, aux)`.
        It has the structure of the first argument, with None at leaves without one.

    Raises:
        ArgumentError: `argnums` was given, or `fun` cannot be traced.

    References:
        Equinox, `equinox.filter_grad`.

    Example:
        >>> import imprint.numpy as inp
        >>> from imprint.module import filter_grad
        >>> filter_grad(lambda m: (m["w"] ** 2).sum())({"w": inp.ones(2), "n": 3})
        {'n': None, 'w': Array([2., 2.], dtype=float32)}
    """
    return _wrapped(fun, gradkwargs, has_aux=has_aux, with_value=False)


def _wrapped(
    fun: Callable[..., Any] | None,
    gradkwargs: dict[str, Any],
    *,
    has_aux: bool,
    with_value: bool,
) -> Callable[..., Any]:
    if "argnums" in gradkwargs:
        raise ArgumentError(
            f"filter_grad: expected no argnums, got {gradkwargs['argnums']!r}: the first "
            "argument is differentiated. Pass several as one tuple."
        )
    unknown = sorted(gradkwargs.keys() - _OPTIONS)
    if unknown:
        raise ArgumentError(
            f"filter_grad: expected options among {', '.join(_OPTIONS)}, got "
            f"{', '.join(unknown)}.{did_you_mean(unknown[0], _OPTIONS)} Keywords of the "
            "function belong to the call."
        )
    options = tuple(sorted(gradkwargs.items()))

    def decorate(fun: Callable[..., Any]) -> _Gradient:
        check_function(fun, "filter_grad")
        return _Gradient(fun, has_aux, with_value, options)

    return decorate if fun is None else decorate(fun)


_OPTIONS: Final = ("has_aux", "holomorphic", "allow_int")


class _Gradient(Wrapper):
    """A function whose gradient is asked for."""

    has_aux: bool = field(static=True)
    with_value: bool = field(static=True)
    options: tuple[tuple[str, Any], ...] = field(static=True)

    @filter_traceback
    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if not args:
            raise ArgumentError(
                f"filter_grad({name_of(self.fun)}): expected a first argument by "
                f"position, which is differentiated, got {_listed(kwargs)}."
            )
        first, *rest = args
        moving, kept = partition(first, is_inexact_array)
        others: list[Any] = []

        def inner(moving: Any, *rest: Any, **kwargs: Any) -> Any:
            out = self.fun(combine(moving, kept), *rest, **kwargs)
            return _keep_aux(out, others) if self.has_aux else out

        inner.__name__ = name_of(self.fun)
        both = value_and_grad(inner, has_aux=self.has_aux, **dict(self.options))
        value, grads = both(moving, *rest, **kwargs)
        if not self.has_aux:
            return (value, grads) if self.with_value else grads
        aux = combine(value[1], *others)
        return ((value[0], aux), grads) if self.with_value else (grads, aux)


def _listed(kwargs: dict[str, Any]) -> str:
    return f"only the keywords {', '.join(kwargs)}" if kwargs else "no argument"


def _keep_aux(out: Any, others: list[Any]) -> Any:
    """Return `(result, arrays of aux)`, and store the other leaves of aux."""
    if not _is_pair(out):
        return out  # the transform raises the error
    result, aux = out
    arrays, rest = partition(aux, is_array)
    others[:] = [rest]
    return result, arrays


def _is_pair(out: Any) -> bool:
    return isinstance(out, tuple | list) and len(cast("Sequence[Any]", out)) == 2


# ---- Jacobians ----


@overload
def filter_jacfwd(
    fun: Callable[P, Any], *, has_aux: bool = False
) -> Callable[P, Any]: ...
@overload
def filter_jacfwd(
    fun: None = None, *, has_aux: bool = False
) -> Callable[[Callable[P, Any]], Callable[P, Any]]: ...
def filter_jacfwd(
    fun: Callable[..., Any] | None = None, *, has_aux: bool = False
) -> Callable[..., Any]:
    """Return the function that evaluates the Jacobian of `fun`, column by column.

    It is with respect to the floating arrays in the first argument.

    Args:
        fun: a function whose result is a tree of arrays. Leave it out to decorate with
            options.
        has_aux: whether `fun` returns `(result, auxiliary data)`.

    Returns:
        A function of the same arguments that returns the Jacobian, or `(Jacobian, aux)`:
        a tree like the result, with one like the first argument at each leaf, and in
        that None at leaves without a derivative.

    References:
        Equinox, `equinox.filter_jacfwd`.

    Example:
        >>> import imprint.numpy as inp
        >>> from imprint.module import filter_jacfwd
        >>> filter_jacfwd(lambda m: m["w"] ** m["n"])(
        ...     {"w": inp.array([1.0, 2.0]), "n": 2}
        ... )
        {'n': None, 'w': Array([[2., 0.],
               [0., 4.]], dtype=float32)}
    """
    return _jacobian(fun, jacfwd, has_aux=has_aux)


@overload
def filter_jacrev(
    fun: Callable[P, Any], *, has_aux: bool = False
) -> Callable[P, Any]: ...
@overload
def filter_jacrev(
    fun: None = None, *, has_aux: bool = False
) -> Callable[[Callable[P, Any]], Callable[P, Any]]: ...
def filter_jacrev(
    fun: Callable[..., Any] | None = None, *, has_aux: bool = False
) -> Callable[..., Any]:
    """Return the function that evaluates the Jacobian of `fun`, row by row.

    Args:
        fun: as in `filter_jacfwd`.
        has_aux: whether `fun` returns `(result, auxiliary data)`.

    Returns:
        A function of the same arguments, with the result of that of `filter_jacfwd`.

    Example:
        >>> import imprint.numpy as inp
        >>> from imprint.module import filter_jacrev
        >>> filter_jacrev(lambda m: m["w"].sum())({"w": inp.ones(2), "name": "linear"})
        {'name': None, 'w': Array([1., 1.], dtype=float32)}
    """
    return _jacobian(fun, jacrev, has_aux=has_aux)


@overload
def filter_hessian(
    fun: Callable[P, Any], *, has_aux: bool = False
) -> Callable[P, Any]: ...
@overload
def filter_hessian(
    fun: None = None, *, has_aux: bool = False
) -> Callable[[Callable[P, Any]], Callable[P, Any]]: ...
def filter_hessian(
    fun: Callable[..., Any] | None = None, *, has_aux: bool = False
) -> Callable[..., Any]:
    """Return the function that evaluates the Hessian of `fun`.

    Args:
        fun: as in `filter_jacfwd`.
        has_aux: whether `fun` returns `(result, auxiliary data)`.

    Returns:
        A function of the same arguments that returns the Hessian, or `(Hessian, aux)`: a
        tree like the result, at each leaf one like the first argument, and at each leaf of
        that another.

    Example:
        >>> import imprint.numpy as inp
        >>> from imprint.module import filter_hessian
        >>> filter_hessian(lambda w, n: (w**n).sum())(inp.array([1.0, 2.0]), 3)
        Array([[ 6.,  0.],
               [ 0., 12.]], dtype=float32)
    """
    if fun is None:
        return functools.partial(filter_hessian, has_aux=has_aux)
    return filter_jacfwd(filter_jacrev(fun, has_aux=has_aux), has_aux=has_aux)


def _jacobian(
    fun: Callable[..., Any] | None, transform: Callable[..., Any], *, has_aux: bool
) -> Callable[..., Any]:
    def decorate(fun: Callable[..., Any]) -> _Jacobian:
        check_function(fun, f"filter_{transform.__name__}")
        return _Jacobian(fun, has_aux, transform)

    return decorate if fun is None else decorate(fun)


class _Jacobian(Wrapper):
    """A function whose Jacobian is asked for."""

    has_aux: bool = field(static=True)
    transform: Callable[..., Any] = field(static=True)

    @filter_traceback
    def __call__(self, first: Any, /, *args: Any, **kwargs: Any) -> Any:
        moving, kept = partition(first, is_inexact_array)
        others: list[Any] = []

        def inner(moving: Any) -> Any:
            out = self.fun(combine(moving, kept), *args, **kwargs)
            return _keep_aux(out, others) if self.has_aux else out

        inner.__name__ = name_of(self.fun)
        found = self.transform(inner, has_aux=self.has_aux)(moving)
        return (found[0], combine(found[1], *others)) if self.has_aux else found


# ---- products with the Jacobian ----


@filter_traceback
def filter_jvp(
    fn: Callable[..., Any],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    **kwargs: Any,
) -> tuple[Any, Any]:
    """Evaluate a function and its derivative in a direction.

    Args:
        fn: a function of any arguments, with any result.
        primals: its positional arguments.
        tangents: the direction, of the structure of `primals`; None at leaves that do
            not move, which is needed at all that are no floating numbers.
        kwargs: its keyword arguments, which do not move.

    Returns:
        The result and its tangent, of the same structure, with None at leaves that do
        not depend on differentiated inputs.

    Raises:
        TreeError: the structures of primals and tangents differ.

    References:
        Equinox, `equinox.filter_jvp`.

    Example:
        >>> from imprint.module import filter_jvp
        >>> filter_jvp(lambda x, n: (x**n, n), (3.0, 2), (1.0, None))[1]
        (Array(6., dtype=float32, weak_type=True), None)
    """
    check_function(fn, "filter_jvp")
    treedef = tree.structure(tuple(primals), is_none)
    given = tree.structure(tuple(tangents), is_none)
    tree.check_structure(treedef, given, "filter_jvp tangents")
    still = tree.map(is_none, tuple(tangents), is_leaf=is_none)
    kept, dynamic = partition(tuple(primals), still, is_leaf=is_none)
    found: list[Any] = []

    def inner(*dynamic: Any) -> Any:
        out = fn(*combine(dynamic, kept), **kwargs)
        trace = current_trace()

        def moves(x: Any) -> bool:
            return isinstance(x, JVPTracer) and x.owner is trace

        moved, rest = partition(out, moves)
        arrays, others = partition(rest, is_array)
        found[:] = [others]
        return moved, arrays

    inner.__name__ = name_of(fn)
    moved, tangent, arrays = jvp(inner, dynamic, tuple(tangents), has_aux=True)
    return combine(moved, arrays, *found), tangent


@filter_traceback
def filter_vjp(
    fun: Callable[..., Any], *primals: Any, has_aux: bool = False
) -> tuple[Any, ...]:
    """Evaluate a function and return its result with the function that pulls back.

    Args:
        fun: a function of any arguments, with any result.
        primals: its arguments; their floating arrays are differentiated.
        has_aux: whether `fun` returns `(result, auxiliary data)`.

    Returns:
        `(result, pullback)` or `(result, pullback, aux)`. The pullback takes a cotangent
        of the structure of the result, with None at leaves that are no floating arrays,
        and returns a tuple with one cotangent for each argument, with None likewise.

    References:
        Equinox, `equinox.filter_vjp`.

    Example:
        >>> import imprint.numpy as inp
        >>> from imprint.module import filter_vjp
        >>> out, pullback = filter_vjp(lambda x, n: x**n, inp.array([3.0]), 2)
        >>> pullback(inp.array([1.0]))
        (Array([6.], dtype=float32), None)
    """
    check_function(fun, "filter_vjp")
    moving, kept = partition(primals, is_inexact_array)
    found: list[Any] = []

    def inner(*moving: Any) -> Any:
        out = fun(*combine(moving, kept))
        aux = None
        if has_aux:
            out, aux = _checked_pair(out, name_of(fun))
        inexact, rest = partition(out, is_inexact_array)
        arrays, others = partition((rest, aux), is_array)
        found[:] = [others]
        return inexact, arrays

    inner.__name__ = name_of(fun)
    inexact, pullback, arrays = vjp(inner, *moving, has_aux=True)
    rest, aux = combine(arrays, *found)
    out = combine(inexact, rest)
    return (out, pullback, aux) if has_aux else (out, pullback)


def _checked_pair(out: Any, name: str) -> tuple[Any, Any]:
    if _is_pair(out):
        return out[0], out[1]
    raise ArgumentError(
        f"{name} with has_aux=True: expected a pair (result, aux), got "
        f"{type(out).__name__}. Return exactly two things."
    )

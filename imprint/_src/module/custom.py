"""Custom derivatives of functions of models, and `filter_checkpoint`.

Each transform partitions its arguments with `is_array`: other leaves have no derivative,
and rules get them unchanged. In rules None is an absent or zero derivative.
"""

import functools
from collections.abc import Callable
from typing import Any, Generic, ParamSpec, TypeVar, cast, final, overload

from imprint._src.ad_checkpoint.checkpoint import checkpoint
from imprint._src.core.aval import get_aval
from imprint._src.core.functions import check_function, name_of
from imprint._src.custom_derivatives.forward import custom_jvp
from imprint._src.custom_derivatives.reverse import custom_vjp
from imprint._src.custom_derivatives.zeros import (
    CustomVJPPrimal,
    SymbolicZero,
    custom_vjp_primal_tree_values,
    zero_from_primal,
)
from imprint._src.diagnostics.traceback_filter import filter_traceback
from imprint._src.dtypes import is_inexact
from imprint._src.errors import NotDifferentiableError, TreeError, UndefinedRuleError
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

# ---- checkpoint ----


@overload
def filter_checkpoint(
    fun: Callable[P, R],
    *,
    prevent_cse: bool = True,
    policy: Callable[..., Any] | None = None,
) -> Callable[P, R]: ...
@overload
def filter_checkpoint(
    fun: None = None,
    *,
    prevent_cse: bool = True,
    policy: Callable[..., Any] | None = None,
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def filter_checkpoint(
    fun: Callable[..., Any] | None = None,
    *,
    prevent_cse: bool = True,
    policy: Callable[..., Any] | None = None,
) -> Callable[..., Any]:
    """Return the same function of models, which remembers little; see `checkpoint`.

    Args:
        fun: a function of any arguments, with any result, or a model that can be called.
            Leave it out to decorate with options.
        prevent_cse: as of `imprint.checkpoint`.
        policy: likewise.

    Returns:
        A function with the arguments and results of `fun`.

    References:
        Equinox, `equinox.filter_checkpoint`.

    Example:
        >>> import imprint.numpy as inp
        >>> from imprint.module import filter_checkpoint, filter_grad
        >>> layer = filter_checkpoint(lambda m, x: inp.sin(m["w"] * x).sum())
        >>> filter_grad(layer)({"w": inp.zeros(2), "name": "layer"}, inp.ones(2))
        {'name': None, 'w': Array([1., 1.], dtype=float32)}
    """

    def decorate(fun: Callable[..., Any]) -> _Checkpoint:
        check_function(fun, "filter_checkpoint")
        return _Checkpoint(fun, prevent_cse, policy)

    return decorate if fun is None else decorate(fun)


class _Checkpoint(Wrapper):
    """A function that remembers little for its backward pass."""

    fun: Callable[..., Any]
    prevent_cse: bool = field(static=True)
    policy: Any = field(static=True)

    @filter_traceback
    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        arrays, rest = partition((self.fun, args, kwargs), is_array)
        found: list[Any] = []

        def inner(arrays: Any) -> Any:
            fun, args, kwargs = combine(arrays, rest)
            outs, others = partition(fun(*args, **kwargs), is_array)
            found[:] = [others]
            return outs

        inner.__name__ = name_of(self.fun)
        remembering = checkpoint(
            inner, prevent_cse=self.prevent_cse, policy=self.policy
        )
        outs = remembering(arrays)
        return combine(outs, found[0])


# ---- a rule for tangents ----


@final
class filter_custom_jvp(Generic[P, R]):  # noqa: N801 - Equinox's name
    """A function of models whose derivative is defined by a rule for its tangents.

    Args:
        fn: a function of any arguments; its result is a tree of arrays.

    Example:
        >>> import imprint
        >>> from imprint.module import filter_custom_jvp, filter_grad
        >>> @filter_custom_jvp
        ... def apply(x, fn):
        ...     return fn(x)
        >>> @apply.def_jvp
        ... def rule(primals, tangents):
        ...     x, fn = primals
        ...     t, _ = tangents
        ...     return apply(x, fn), 100.0 * t
        >>> filter_grad(apply)(imprint.numpy.float32(2.0), imprint.numpy.sin)
        Array(100., dtype=float32)
    """

    def __init__(self, fn: Callable[P, R]) -> None:
        check_function(fn, "filter_custom_jvp")
        functools.update_wrapper(cast("Any", self), fn)

        @functools.wraps(fn)
        def inner(rest: Any, arrays: Any) -> Any:
            args, kwargs = combine(arrays, rest)
            return fn(*args, **kwargs)  # pyright: ignore[reportCallIssue] - those of a call

        self._inner = custom_jvp(
            cast("Callable[..., Any]", inner), nondiff_argnums=(0,)
        )

    def def_jvp(self, fn_jvp: Callable[..., Any]) -> Callable[..., Any]:
        """Define the rule, which is returned, so that this can decorate it.

        Args:
            fn_jvp: `(primals, tangents, **kwargs) -> (result, tangent of the result)`;
                a tangent is None where there is none.
        """
        check_function(fn_jvp, "filter_custom_jvp")

        @functools.wraps(fn_jvp)
        def rule(rest: Any, primals: Any, tangents: Any) -> Any:
            (arrays,), (moving,) = primals, tangents
            args_t, kwargs_t = tree.map(_or_none, moving)
            if tree.leaves(kwargs_t):
                raise NotDifferentiableError(
                    f"filter_custom_jvp({name_of(fn_jvp)}): expected no derivative by "
                    "keyword arguments, got one. Pass what is differentiated by position."
                )
            args, kwargs = combine(arrays, rest)
            out, tangent = fn_jvp(args, args_t, **kwargs)
            return out, tree.map(_or_zero, tangent, out, is_leaf=is_none)

        self._inner.defjvp(rule, symbolic_zeros=True)
        return fn_jvp

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function; where it is differentiated, by its rule."""
        arrays, rest = partition((args, kwargs), is_array)
        return self._inner(rest, arrays)

    def __imprint_token__(self) -> Any:
        """Return the token of this function inside others."""
        return "filter_custom_jvp", self._inner


def _or_none(t: Any) -> Any:
    """Return a tangent, None if it is zero or of integers."""
    is_zero = type(t) is SymbolicZero or not is_inexact(get_aval(t).dtype)
    return None if is_zero else t


def _or_zero(t: Any, x: Any) -> Any:
    return t if t is not None or x is None else zero_from_primal(x)


# ---- a rule for cotangents ----


@final
class filter_custom_vjp(Generic[P, R]):  # noqa: N801 - Equinox's name
    """A function of models whose derivative is defined by a rule for its cotangents.

    Only the first argument is differentiated.

    Args:
        fn: a function of any arguments, with any result.

    Example:
        >>> import imprint
        >>> from imprint.module import filter_custom_vjp, filter_grad
        >>> @filter_custom_vjp
        ... def scaled(x, by):
        ...     return x * by
        >>> @scaled.def_fwd
        ... def fwd(perturbed, x, by):
        ...     return scaled(x, by), None
        >>> @scaled.def_bwd
        ... def bwd(residuals, ct, perturbed, x, by):
        ...     return 100.0 * ct
        >>> filter_grad(scaled)(imprint.numpy.float32(2.0), 3)
        Array(100., dtype=float32)
    """

    def __init__(self, fn: Callable[P, R]) -> None:
        check_function(fn, "filter_custom_vjp")
        functools.update_wrapper(cast("Any", self), fn)
        self._fn: Callable[..., Any] = fn
        self._rule: dict[
            str, Callable[..., Any]
        ] = {}  # watched: it is the dict that stays

    def def_fwd(self, fn_fwd: Callable[..., Any]) -> Callable[..., Any]:
        """Define the forward function, which is returned.

        Args:
            fn_fwd: `(perturbed, *args, **kwargs) -> (result, residuals)`; `perturbed` has
                the structure of the first argument, with True at differentiated leaves.
        """
        check_function(fn_fwd, "filter_custom_vjp")
        self._rule["fwd"] = fn_fwd
        return fn_fwd

    def def_bwd(self, fn_bwd: Callable[..., Any]) -> Callable[..., Any]:
        """Define the backward function, which is returned.

        Args:
            fn_bwd: `(residuals, cotangent, perturbed, *args, **kwargs) -> cotangent of the
                first argument`; None is an absent one, in both.
        """
        check_function(fn_bwd, "filter_custom_vjp")
        self._rule["bwd"] = fn_bwd
        return fn_bwd

    @filter_traceback
    def __call__(self, vjp_arg: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Call the function; where it is differentiated, by its rule."""
        name = name_of(self._fn)
        missing = [word for word in ("fwd", "bwd") if word not in self._rule]
        if missing:
            raise UndefinedRuleError(
                f"filter_custom_vjp({name}): expected def_fwd and def_bwd before the first "
                f"call, got no {missing[0]}. Define one: {name}.def_{missing[0]}(rule)."
            )
        arrays, rest = partition((vjp_arg, args, kwargs), is_array)
        moving, fixed = partition(arrays[0], is_inexact_array)
        call = _VjpCall(self._fn, self._rule["fwd"], self._rule["bwd"])
        outs, others = call.function()(rest, moving, (fixed, *arrays[1:]))
        return combine(outs, others, call.found[0])

    def __imprint_token__(self) -> Any:
        """Return the token of this function inside others."""
        return "filter_custom_vjp", self._fn, self._rule


@final
class _VjpCall:
    """One call of a `filter_custom_vjp` function.

    Attributes:
        found: the leaves of the result that are no arrays.
    """

    def __init__(
        self, fn: Callable[..., Any], fwd: Callable[..., Any], bwd: Callable[..., Any]
    ) -> None:
        self._fn = fn
        self._fwd = fwd
        self._bwd = bwd
        self.found: list[Any] = []

    def function(self) -> Callable[..., Any]:
        """Return the function of `(rest, moving arrays, other arrays)`."""

        @functools.wraps(self._fn)
        def primal(rest: Any, moving: Any, others: Any) -> Any:
            first, args, kwargs = self._whole(rest, moving, others)
            return self._parted(self._fn(first, *args, **kwargs))

        @functools.wraps(self._fwd)
        def fwd(rest: Any, moving: Any, others: Any) -> Any:
            perturbed = tree.map(_is_perturbed, moving)
            if any(map(_is_perturbed, tree.leaves(others))):
                raise NotDifferentiableError(
                    f"filter_custom_vjp({name_of(self._fn)}): expected a derivative by the "
                    "first argument alone, got one by others. Pack what is differentiated "
                    "into the first, such as in a tuple."
                )
            moving, others = custom_vjp_primal_tree_values((moving, others))
            first, args, kwargs = self._whole(rest, moving, others)
            others_marks = tree.map(_false, partition(first, is_inexact_array)[1])
            marks = combine(perturbed, others_marks)
            out, residuals = self._fwd(marks, first, *args, **kwargs)
            kept, remembered = partition(residuals, is_array)
            known = _constant((remembered, marks))
            return self._parted(out), (kept, moving, others, known)

        @functools.wraps(self._bwd)
        def bwd(rest: Any, residuals: Any, cts: Any) -> Any:
            kept, moving, others, known = residuals
            remembered, marks = known()
            first, args, kwargs = self._whole(rest, moving, others)
            ct = tree.map(_or_none, cts[0])
            whole = combine(kept, remembered)
            found = self._bwd(whole, ct, marks, first, *args, **kwargs)
            return self._checked(found, moving), None

        defined = custom_vjp(primal, nondiff_argnums=(0,))
        defined.defvjp(fwd, bwd, symbolic_zeros=True)
        return cast("Callable[..., Any]", defined)

    def _whole(self, rest: Any, moving: Any, others: Any) -> Any:
        fixed, args, kwargs = others
        first = combine(rest[0], moving, fixed)
        return first, *combine((args, kwargs), rest[1:])

    def _parted(self, out: Any) -> Any:
        """Return the inexact and the other arrays of a result; keep its other leaves."""
        arrays, rest = partition(out, is_array)
        self.found[:] = [rest]
        return partition(arrays, is_inexact_array)

    def _checked(self, found: Any, moving: Any) -> Any:
        expected = tree.structure(moving, is_none)
        if tree.structure(found, is_none) != expected:
            raise TreeError(
                f"bwd {name_of(self._bwd)} of filter_custom_vjp({name_of(self._fn)}): "
                "expected a cotangent of the structure of "
                f"filter(first argument, is_inexact_array), {expected}, got "
                f"{tree.structure(found, is_none)}. Put None where there is no derivative."
            )
        return tree.map(_or_zero, found, moving, is_leaf=is_none)


def _is_perturbed(x: CustomVJPPrimal) -> bool:
    return x.perturbed


def _false(_: Any) -> bool:
    return False


def _constant(value: Any) -> Any:
    """Return a node without leaves, of one run of a forward function, that gives a value."""
    return tree.Partial(lambda: value)

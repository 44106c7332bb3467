"""`minimize`: which method finds the least value of a function, and what it gives.

The function and its gradient are traced once, in the body of a loop of `imprint.lax`. So it
works under `jit` and `vmap`, and what is found outside of them is compiled once.
"""

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, NamedTuple

from imprint._src.core.array import Array
from imprint._src.core.aval import get_aval
from imprint._src.core.functions import check_function
from imprint._src.dtypes import is_complex, to_inexact
from imprint._src.errors import ArgumentError, DTypeError, ShapeError
from imprint._src.numpy.promotion import ArrayLike, as_array, promote_dtypes
from imprint._src.scipy.optimize import bfgs, lbfgs

_LIMITED = "l-bfgs-experimental-do-not-rely-on-this"


class OptimizeResults(NamedTuple):
    """What a method found, and what that cost.

    Attributes:
        x: where the function is least.
        success: whether the method converged.
        status: 0 if it did, 1 if that took too many steps, 3 if no interval got narrow
            around a good step, 5 if no step was far enough; of L-BFGS, 2 and 3 if that took
            too many evaluations, 4 if a step gained too little, 5 if there was no good step.
        fun: the value there.
        jac: the gradient there.
        hess_inv: the estimate of the inverse Hessian; None of L-BFGS.
        nfev: how many values were computed.
        njev: how many gradients were computed.
        nit: how many steps were taken.
    """

    x: Array
    success: Any
    status: Any
    fun: Array
    jac: Array
    hess_inv: Array | None
    nfev: Any
    njev: Any
    nit: Any


def minimize(
    fun: Callable[..., Any],
    x0: ArrayLike,
    args: tuple[Any, ...] = (),
    *,
    method: str,
    tol: float | None = None,
    options: Mapping[str, Any] | None = None,
) -> OptimizeResults:
    """Return where a function of a vector is least, by its values and gradients.

    Args:
        fun: `fun(x, *args)`, a real number.
        x0: where to begin, of one axis.
        args: what else the function takes.
        method: "BFGS", in any case; or JAX's experimental name of L-BFGS,
            "l-bfgs-experimental-do-not-rely-on-this".
        tol: the option `gtol`, and of L-BFGS `ftol`, where these are not given.
        options: of BFGS `maxiter` (200 for each number), `gtol`, a bound of the `norm` of
            the gradient (the largest number), and `line_search_maxiter`; of L-BFGS `maxls`
            instead of the last, `ftol`, `maxfun`, `maxgrad`, and `maxcor`, how many steps
            are kept.

    Raises:
        ArgumentError: there is no such method or option.
        ShapeError: `x0` has not one axis, or what `fun` returns has any.
        DTypeError: `x0` is complex.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint.scipy.optimize import minimize
        >>> found = minimize(lambda x: ((x - 3) ** 2).sum(), np.zeros(2), method="BFGS")
        >>> np.round(found.x, 3), found.success
        (Array([3., 3.], dtype=float32), Array(True, dtype=bool))
    """
    check_function(fun, "minimize", "fun")
    if not isinstance(args, tuple):  # pyright: ignore[reportUnnecessaryIsInstance] - from the user
        raise ArgumentError(
            f"minimize: expected a tuple as args, got {args!r}. Write args=({args!r},)."
        )
    (promoted,) = promote_dtypes("minimize", (x0,), to_inexact)
    x = as_array("minimize", promoted)
    if is_complex(x.dtype):
        raise DTypeError(
            f"minimize: expected real numbers as x0, got {x.aval}. Pass real and "
            "imaginary parts, and put them together in the function."
        )
    if x.ndim != 1:
        raise ShapeError(
            f"minimize: expected a vector as x0, got {x.aval}. Pass x0.ravel(), and "
            "reshape in the function; of trees, imprint.flatten_util.ravel_pytree."
        )
    x, given = x.astype(x.dtype), dict(options or {})
    if method.lower() == "bfgs":
        end = bfgs.minimize_bfgs(
            _number_of(fun, args), x, _options(bfgs.BfgsOptions, given, tol)
        )
    elif method.lower() == _LIMITED:
        end = lbfgs.minimize_lbfgs(
            _number_of(fun, args), x, _options(lbfgs.LbfgsOptions, given, tol)
        )
    else:
        raise ArgumentError(
            f"minimize: expected a method of BFGS or {_LIMITED}, got {method!r}."
        )
    return OptimizeResults(
        x=end.x,
        success=end.converged & ~end.failed,
        status=end.status,
        fun=end.value,
        jac=end.gradient,
        hess_inv=getattr(end, "inverse", None),
        nfev=end.evaluations,
        njev=end.evaluations,
        nit=end.steps,
    )


def _number_of(
    fun: Callable[..., Any], args: tuple[Any, ...]
) -> Callable[[Array], Any]:
    """Return the function of the vector alone, which checks that it returns a number."""

    def value(x: Array) -> Any:
        out = fun(x, *args)
        if getattr(out, "shape", ()) != ():
            raise ShapeError(
                f"minimize: expected fun to return a number, got {get_aval(out)}. Reduce "
                "it, `.sum()` or `.mean()`."
            )
        return out

    return value


def _options(kind: type[Any], given: dict[str, Any], tol: float | None) -> Any:
    known = [field.name for field in fields(kind)]
    unknown = [name for name in given if name not in known]
    if unknown:
        raise ArgumentError(
            f"minimize: expected options of {', '.join(known)}, got {unknown[0]!r}."
        )
    by_tol = {} if tol is None else {"gtol": tol, "ftol": tol}
    return kind(**{name: by_tol[name] for name in known if name in by_tol} | given)

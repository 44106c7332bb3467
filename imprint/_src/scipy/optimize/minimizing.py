"""`minimize`: the choice of method, its options and its result.

The function and its gradient are traced once, in the body of a `imprint.lax` loop. So
it works under `jit` and `vmap`, and otherwise compiles once.
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
    """The result of `minimize`.

    Attributes:
        x: the minimum.
        success: whether the method converged.
        status: 0 for success, 1 if the iterations ran out; for BFGS, 3 if the line
            search did not converge, 5 if no step was long enough; for L-BFGS, 2 and 3
            if the evaluations ran out, 4 if a step gained too little, 5 if the line
            search failed.
        fun: the value at the minimum.
        jac: the gradient at the minimum.
        hess_inv: the estimate of the inverse Hessian; None for L-BFGS.
        nfev: the number of evaluations of the function.
        njev: the number of evaluations of the gradient.
        nit: the number of iterations.
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
    """Minimize a function of a vector, by its values and gradients.

    Args:
        fun: `fun(x, *args)`, a real number.
        x0: the starting point, with one axis.
        args: further arguments of the function.
        method: "BFGS", in any case; or JAX's experimental name of L-BFGS,
            "l-bfgs-experimental-do-not-rely-on-this".
        tol: the default of the option `gtol`, and for L-BFGS of `ftol`.
        options: for BFGS `maxiter` (200 times the size of `x0`), `gtol`, the bound of
            the gradient's `norm` (the maximum norm), and `line_search_maxiter`; for
            L-BFGS `maxls` instead of the last, `ftol`, `maxfun`, `maxgrad`, and
            `maxcor`, the length of the history.

    Returns:
        The minimum, with the value, the gradient and the counts: see `OptimizeResults`.

    Raises:
        ArgumentError: the method or an option is unknown.
        ShapeError: `x0` does not have one axis, or the result of `fun` has any.
        DTypeError: `x0` is complex.

    References:
        SciPy, `scipy.optimize.minimize`; Nocedal and Wright 2006, chapters 3, 6 and 7.

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
    """Return the function of the vector alone, which checks its result."""

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

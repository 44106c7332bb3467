"""`fwd_and_bwd`: a function and its pullback as two compiled functions.

The first also returns the residuals that the second needs. So both compile once and may
run at different times.
"""

from collections.abc import Callable, Sequence
from typing import Any

from imprint._src.core.functions import check_function, name_of, wraps
from imprint._src.interpreters import derivatives
from imprint._src.jit.api import jit


def fwd_and_bwd(
    fun: Callable[..., Any],
    argnums: int | Sequence[int],
    has_aux: bool = False,  # noqa: FBT001, FBT002 - JAX's signature
    jitted: bool = True,  # noqa: FBT001, FBT002 - JAX's signature
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return a function that evaluates `fun`, and one that pulls cotangents back.

    Args:
        fun: a function of arrays.
        argnums: which positional arguments to differentiate.
        has_aux: whether `fun` returns `(result, auxiliary data)`.
        jitted: whether both are compiled.

    Returns:
        `fwd`, which takes the arguments of `fun` and returns `(result, residuals)`, and
        the aux if there is one; and `bwd`, which takes the residuals and a cotangent of
        the result and returns the cotangent of the argument, or a tuple of them if
        `argnums` is a sequence.

    Raises:
        ArgumentError: `fun` is not a function, or `argnums` names no argument of the
            call.

    References:
        JAX, `jax.fwd_and_bwd`.

    Example:
        >>> import imprint
        >>> fwd, bwd = imprint.fwd_and_bwd(lambda x, y: x * y, argnums=(0, 1))
        >>> result, residuals = fwd(2.0, 5.0)
        >>> bwd(residuals, 1.0)
        (Array(5., dtype=float32, weak_type=True), Array(2., dtype=float32, weak_type=True))
    """
    check_function(fun, "fwd_and_bwd")
    name = f"fwd_and_bwd({name_of(fun)})"

    @wraps(fun)
    def fwd(*args: Any) -> Any:
        nums = derivatives.check_argnums(argnums, len(args), name)

        def chosen(*dynamic: Any) -> Any:
            whole = dict(enumerate(args)) | dict(zip(nums, dynamic, strict=True))
            return fun(*whole.values())

        return derivatives.vjp(chosen, *[args[i] for i in nums], has_aux=has_aux)

    def bwd(residuals: Any, cotangent: Any) -> Any:
        cotangents = residuals(cotangent)
        return cotangents[0] if derivatives.is_one(argnums) else cotangents

    return (jit(fwd), jit(bwd)) if jitted else (fwd, bwd)

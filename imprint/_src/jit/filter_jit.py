"""`filter_jit`: `jit` for functions of models, settings and functions.

It is `jit` with one more option: the leaves of the arguments that are no arrays are
static. How a call is split is in `filtering`; the rest is `jit`'s own.
"""

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, Unpack, overload

from imprint._src.core.functions import check_function
from imprint._src.diagnostics.source import current_source
from imprint._src.jit.api import JittedFunction
from imprint._src.jit.bound_method import BoundJitted, unbind
from imprint._src.jit.calls.options import (
    FilterJitKeywords,
    checked_options,
    signature_with,
)
from imprint._src.jit.dispatch import Jitted

P = ParamSpec("P")
R = TypeVar("R")


@overload
def filter_jit(
    fun: Callable[P, R], /, **options: Unpack[FilterJitKeywords]
) -> JittedFunction[P, R]: ...
@overload
def filter_jit(
    fun: None = None, /, **options: Unpack[FilterJitKeywords]
) -> Callable[[Callable[P, R]], JittedFunction[P, R]]: ...
def filter_jit(
    fun: Callable[..., Any] | None = None, /, **options: Unpack[FilterJitKeywords]
) -> Any:
    """Compile a function of any pytrees: arrays are traced, everything else is static.

    A leaf of the arguments that is no array (a number, a string, a function, a setting of
    a model) is static: it has a version for each exact value, so `2` and `2.0` are two.
    Functions are compared by their code, so a model that is re-created with an equal
    function needs no new version. Results may be anything.

    Args:
        fun: a pure function, a method, or a callable pytree such as a `Module`. Leave it
            out to use `filter_jit(...)` as a decorator with options.
        donate: the arguments whose arrays' memory the results may take: "all",
            "all-except-first" or "none". They cannot be used afterwards. "warn" and
            "warn-except-first" also warn about unused donations.
        max_versions: the largest number of versions at a time.
        on_limit: at the limit, "warn" drops the oldest version, "error" raises.
        strict: as in `jit`.
        persist: as in `jit`.
        abstracted_axes: as in `jit`; a bound model is not an argument.
        buckets: as in `jit`.

    Returns:
        A callable with the signature of `fun`, like that of `jit`.

    Raises:
        ArgumentError: `fun` cannot be traced, or an option is not among those above.

    References:
        Equinox, `equinox.filter_jit`.

    Example:
        >>> import imprint
        >>> import imprint.numpy as np
        >>> @imprint.filter_jit
        ... def layer(params, activation, x):
        ...     return activation(params["w"] @ x)
        >>> layer({"w": np.ones((2, 2))}, np.sin, np.ones(2)).shape
        (2,)
        >>> (
        ...     layer({"w": np.ones((2, 2))}, lambda x: x * 2, np.ones(2)),
        ...     layer._cache_size(),
        ... )
        (Array([4., 4.], dtype=float32), 2)
    """
    checked = checked_options("filter_jit", options)

    def decorate(fun: Callable[..., Any]) -> Any:
        check_function(fun, "filter_jit")
        found = unbind(fun)
        if found is None:
            return Jitted(fun, checked, current_source())
        inner, first = found
        bound = checked.after_bound_argument()
        return BoundJitted(Jitted(inner, bound, current_source()), first)

    return decorate if fun is None else decorate(fun)


vars(filter_jit)["__signature__"] = signature_with(FilterJitKeywords)

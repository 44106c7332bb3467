"""The jaxpr, the shapes and the StableHLO of a function, without running it.

All three trace at each call; they compile nothing and keep no versions.
"""

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Literal, TypeAlias, overload

from imprint._src.core.aval import get_aval
from imprint._src.core.functions import check_function, wraps
from imprint._src.core.jaxpr import ClosedJaxpr
from imprint._src.core.shape_struct import described
from imprint._src.core.trace import within_axes
from imprint._src.diagnostics.traceback_filter import filter_traceback
from imprint._src.jit.api import jit
from imprint._src.jit.bound_method import BoundJitted
from imprint._src.jit.calls.signature import Signature
from imprint._src.jit.calls.tracing import TracedCall, trace_call
from imprint._src.jit.compiled_stages import Lowered, shape_tree_of
from imprint._src.jit.dispatch import Jitted
from imprint._src.jit.versions.definitions import count_trace
from imprint._src.tree import internal as tree

AxisEnv: TypeAlias = Sequence[tuple[Hashable, int]]


@overload
def make_jaxpr(
    fun: Callable[..., Any],
    static_argnums: int | Sequence[int] = (),
    axis_env: AxisEnv | None = None,
    *,
    return_shape: Literal[False] = False,
) -> Callable[..., ClosedJaxpr]: ...
@overload
def make_jaxpr(
    fun: Callable[..., Any],
    static_argnums: int | Sequence[int] = (),
    axis_env: AxisEnv | None = None,
    *,
    return_shape: Literal[True],
) -> Callable[..., tuple[ClosedJaxpr, Any]]: ...
@overload
def make_jaxpr(
    fun: Callable[..., Any],
    static_argnums: int | Sequence[int] = (),
    axis_env: AxisEnv | None = None,
    *,
    return_shape: bool,
) -> Callable[..., Any]: ...
def make_jaxpr(
    fun: Callable[..., Any],
    static_argnums: int | Sequence[int] = (),
    axis_env: AxisEnv | None = None,
    *,
    return_shape: bool = False,
) -> Callable[..., Any]:
    """Return a function that returns the jaxpr of `fun` at its arguments.

    Args:
        fun: a function of arrays, numbers and containers of them.
        static_argnums: positions of arguments that it takes as Python values.
        axis_env: names and sizes of axes that are mapped around it, for collectives.
        return_shape: whether to return the shapes of the result, too.

    Returns:
        A function with the arguments of `fun` that returns a `ClosedJaxpr`, or a pair
        of it and a tree of `ShapeDtypeStruct`.

    Raises:
        ArgumentError: `fun` is not a function.

    References:
        JAX, `jax.make_jaxpr`.

    Example:
        >>> import imprint
        >>> print(imprint.make_jaxpr(lambda x: x + 1)(2.0))
        { lambda ; a:f32[]. let b:f32[] = add a 1.0:f32[] in (b,) }
    """
    check_function(fun, "make_jaxpr")
    signature = Signature(fun, (static_argnums, None))

    @wraps(fun)
    @filter_traceback
    def jaxpr_of(*args: Any, **kwargs: Any) -> Any:
        with within_axes(axis_env or (), "make_jaxpr"):
            traced = _traced(fun, signature, args, kwargs, "make_jaxpr")
        if return_shape:
            return traced.closed, shape_tree_of(traced)
        return traced.closed

    return jaxpr_of


@filter_traceback
def eval_shape(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Return the shapes and dtypes of what a call would return, without computing it.

    Args:
        fun: a function of arrays, numbers and containers of them; a jitted one takes
            its static arguments as they are.
        args: its arguments; a `ShapeDtypeStruct`, or any object with a shape and a dtype,
            is taken as an array.
        kwargs: its keyword arguments.

    Returns:
        A tree like the result, with a `ShapeDtypeStruct` for each array.

    Raises:
        ArgumentError: `fun` is not a function.

    References:
        JAX, `jax.eval_shape`.

    Example:
        >>> import imprint
        >>> import imprint.numpy as np
        >>> imprint.eval_shape(lambda x: x.sum(0), np.ones((2, 3)))
        ShapeDtypeStruct(shape=(3,), dtype=float32)
    """
    if isinstance(fun, Jitted | BoundJitted):  # which knows its static arguments
        return fun.eval_shape(*args, **kwargs)
    check_function(fun, "eval_shape")
    signature = Signature(fun, ((), None))
    return shape_tree_of(_traced(fun, signature, args, kwargs, "eval_shape"))


def _traced(
    fun: Callable[..., Any],
    signature: Signature,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    transform: str,
) -> TracedCall:
    call = signature.call(args, kwargs)
    avals = [get_aval(described(x)) for x in tree.leaves(call.dynamic)]
    count_trace()
    return trace_call(fun, signature, call, avals, transform)


def xla_computation(
    fun: Callable[..., Any], static_argnums: int | Sequence[int] = ()
) -> Callable[..., Lowered]:
    """Return the function that lowers `fun` at its arguments: `jit(fun).lower`.

    Args:
        fun: a function of arrays, numbers and containers of them.
        static_argnums: positions of arguments that it takes as Python values.

    Returns:
        A function with the arguments of `fun` that returns a `Lowered`.

    Raises:
        ArgumentError: `fun` is not a function.

    Example:
        >>> import imprint
        >>> "stablehlo.add" in imprint.xla_computation(lambda x: x + 1)(2.0).as_text()
        True
    """
    return jit(fun, static_argnums=static_argnums).lower

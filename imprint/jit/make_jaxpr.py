"""`make_jaxpr`: look at the program that tracing a function gives."""

from collections.abc import Callable, Sequence
from typing import Any

from imprint import tree
from imprint.core.aval import get_aval
from imprint.core.folding import folding
from imprint.core.functions import check_function, wraps
from imprint.jit.signature import Signature
from imprint.jit.tracing import trace_call


def make_jaxpr(
    fun: Callable[..., Any], static_argnums: int | Sequence[int] = ()
) -> Callable[..., Any]:
    """Return the function that gives the jaxpr of `fun` at its arguments.

    Args:
        fun: a function of arrays, numbers and containers of them.
        static_argnums: positions of arguments that it takes as Python values.

    >>> import imprint
    >>> print(imprint.make_jaxpr(lambda x: x + 1)(2.0))
    { lambda ; a:f32[]. let b:f32[] = add a 1.0:f32[] in (b,) }
    """
    check_function(fun, "make_jaxpr")
    signature = Signature(fun, static_argnums)

    @wraps(fun)
    @folding
    def jaxpr_of(*args: Any, **kwargs: Any) -> Any:
        signature.check_call(args, kwargs)
        split = signature.split(args, kwargs)
        leaves = tree.leaves((split.args, split.kwargs))
        avals = [get_aval(x) for x in leaves]
        return trace_call(fun, signature, split, avals, "make_jaxpr").closed

    return jaxpr_of

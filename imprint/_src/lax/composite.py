"""`composite`: a named operation that is composed of others.

It is a nested call with that name. Compilers of other devices may know the operation.
"""

from collections.abc import Callable
from functools import partial, wraps
from typing import Any

from imprint._src.core.functions import check_function
from imprint._src.jit.api import jit


def composite(
    decomposition: Callable[..., Any], name: str, version: int = 0
) -> Callable[..., Any]:
    """Return a function that programs call under a name.

    Compilers of other devices replace operations that they know by their names; XLA:CPU
    knows none, so it compiles the decomposition. It is differentiated and mapped as its
    parts are.

    Args:
        decomposition: a function of arrays; keywords are static.
        name: the name of the call in jaxprs and in StableHLO.
        version: the number of the meaning of the name.

    Returns:
        A function with the arguments and results of `decomposition`.

    Raises:
        ArgumentError: `decomposition` is not a function.

    References:
        StableHLO, `composite`.

    Example:
        >>> import imprint
        >>> from imprint import lax
        >>> tangent = lax.composite(lambda x: lax.sin(x) / lax.cos(x), "my.tangent")
        >>> tangent(0.0), str(imprint.make_jaxpr(tangent)(0.0)).count("my.tangent")
        (Array(0., dtype=float32, weak_type=True), 1)
    """
    check_function(decomposition, "composite")
    del version

    @wraps(decomposition)
    def call(*args: Any, **attributes: Any) -> Any:
        bound = partial(decomposition, **attributes)

        def composed(*args: Any) -> Any:
            return bound(*args)

        composed.__name__ = composed.__qualname__ = name
        return jit(composed)(*args)

    return call

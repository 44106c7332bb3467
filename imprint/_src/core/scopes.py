"""Named scopes: user names for parts of a program.

A name is added to the sources of the equations staged in the scope, in jaxprs and in
the metadata of XLA, where profilers show it. It changes no value and is part of no key:
programs that differ only in names are the same program. A function that is traced by
itself begins without a scope, so that it is the same wherever it is called.
"""

from collections.abc import Callable
from contextvars import Token
from functools import wraps
from typing import Any, ParamSpec, TypeVar, final

from imprint._src.core.array_interop import shown
from imprint._src.core.functions import check_function, name_of
from imprint._src.diagnostics.source import (
    ScopePath,
    replayed_source,
    reset_replayed_source,
    set_replayed_source,
)
from imprint._src.errors import ArgumentError

P = ParamSpec("P")
R = TypeVar("R")


@final
class named_scope:  # noqa: N801 - JAX's name
    """Name the computation inside the `with` block, or of a function.

    The names of scopes within scopes are joined: `layer/attention`. They are found in
    the `scope` of the sources of a jaxpr, and in the metadata of the compiled program.

    Example:
        >>> import imprint
        >>> import imprint.numpy as np
        >>> def f(x):
        ...     with imprint.named_scope("wave"):
        ...         return np.sin(x)
        >>> [eqn.source.scope for eqn in imprint.make_jaxpr(f)(1.0).eqns]
        ['wave']
    """

    def __init__(self, name: str) -> None:
        if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance] - users may give anything
            raise ArgumentError(
                f"named_scope: expected a name as a string, got {shown(name)}. Write it "
                "as text, such as 'attention'."
            )
        self._name = name
        self._tokens: list[Token[Any]] = []

    def __enter__(self) -> None:
        around = replayed_source()
        path = around.path if type(around) is ScopePath else ""
        scope = ScopePath(f"{path}/{self._name}" if path else self._name)
        self._tokens.append(set_replayed_source(scope))

    def __exit__(self, *_: object) -> None:
        reset_replayed_source(self._tokens.pop())

    def __call__(self, fun: Callable[P, R]) -> Callable[P, R]:
        """Return the function whose computation has the name."""

        @wraps(fun)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            with named_scope(self._name):
                return fun(*args, **kwargs)

        return call


def named_call(fun: Callable[P, R], *, name: str | None = None) -> Callable[P, R]:
    """Return the function whose computation has a name, by default its own.

    Args:
        fun: any function.
        name: as for `named_scope`.

    Returns:
        A function with the arguments and results of `fun`.

    References:
        JAX, `jax.named_call`.

    Example:
        >>> import imprint
        >>> import imprint.numpy as np
        >>> wave = imprint.named_call(np.sin, name="wave")
        >>> [eqn.source.scope for eqn in imprint.make_jaxpr(wave)(1.0).eqns]
        ['wave']
    """
    check_function(fun, "named_call")
    return named_scope(name_of(fun) if name is None else name)(fun)


@final
class outside_scopes:  # noqa: N801 - used as a `with`
    """Start a separate trace without a scope."""

    __slots__ = ("_token",)

    def __enter__(self) -> None:
        in_scope = type(replayed_source()) is ScopePath
        self._token = set_replayed_source(None) if in_scope else None

    def __exit__(self, *_: object) -> None:
        if self._token is not None:
            reset_replayed_source(self._token)

"""`error_if`: errors that depend on values, raised when a compiled program runs.

`error_if` returns its tree, so it can be part of an expression, as in Equinox. It is a
`debug.check`: an effect of the program, which no pass removes.
"""

from collections.abc import Sequence
from typing import Any, Final, Literal, TypeAlias, TypeVar, final

import numpy as np

from imprint._src import dtypes
from imprint._src.core.aval import get_aval
from imprint._src.core.trace import Tracer
from imprint._src.debug.checks import check_predicate
from imprint._src.errors import ArgumentError
from imprint._src.module.filters import is_array
from imprint._src.primitives.checks import Failure, When, check_p
from imprint._src.tree import internal as tree
from imprint.numpy import any as any_of
from imprint.numpy import full_like, logical_not, where

T = TypeVar("T")
OnError: TypeAlias = Literal["default", "raise", "breakpoint", "nan", "off"]

_ANSWERS: Final = ("default", "raise", "nan", "off")


def error_if(x: T, pred: Any, msg: str, *, on_error: OnError = "default") -> T:
    """Return the tree `x`; raise `CheckError` if `pred` is true when the program runs.

    Args:
        x: a tree with at least one array.
        pred: a bool, or an array of them, none of which may be true.
        msg: the message.
        on_error: "nan" to go on with NaN in the place of `x`, "off" for no check; else
            it raises.

    Returns:
        `x`: use it instead, so that the check is part of the program.

    Raises:
        ArgumentError: `on_error` is unknown, or `x` has no array.
        DTypeError: `pred` is no bool.

    Example:
        >>> import imprint
        >>> @imprint.jit
        ... def root(x):
        ...     x = imprint.error_if(x, x < 0, "x must not be negative")
        ...     return x**0.5
        >>> root(4.0)
        Array(2., dtype=float32, weak_type=True)
        >>> root(-1.0)
        Traceback (most recent call last):
        ...
        imprint.errors.CheckError: x must not be negative
        ...
    """
    return branched_error_if(x, pred, 0, [msg], on_error=on_error)


def branched_error_if(
    x: T, pred: Any, index: Any, msgs: Sequence[str], *, on_error: OnError = "default"
) -> T:
    """Return the tree `x`; raise one of several messages if `pred` is true.

    Args:
        x: a tree with at least one array.
        pred: a bool, or an array of them, none of which may be true.
        index: the index of the message.
        msgs: the messages.
        on_error: as for `error_if`.

    Returns:
        `x`: use it instead, so that the check is part of the program.

    Raises:
        ArgumentError: `on_error` is unknown, or `x` has no array.
        DTypeError: `pred` is no bool.

    Example:
        >>> import imprint
        >>> imprint.branched_error_if(
        ...     imprint.numpy.ones(1), True, 1, ["first", "second"]
        ... )
        Traceback (most recent call last):
        ...
        imprint.errors.CheckError: second
        ...
    """
    if on_error not in _ANSWERS:
        raise ArgumentError(
            f"error_if: expected on_error to be one of {_ANSWERS}, got {on_error!r}. To "
            "stop there, write imprint.debug.breakpoint."
        )
    leaves, treedef = tree.flatten(x)
    if not any(map(is_array, leaves)):
        raise ArgumentError(
            f"error_if: expected a tree with an array, got {x!r}. What it returns has to "
            "be used: pass what is computed with."
        )
    check_predicate("error_if", pred)
    if on_error == "off":
        return x
    if on_error == "nan":
        found = any_of(pred)
        return treedef.unflatten([_or_nan(leaf, found) for leaf in leaves])
    failure = _IndexedFailure(msgs)
    if not (isinstance(pred, Tracer) or isinstance(index, Tracer)):
        if np.any(pred):
            failure(index)
    else:
        found = any_of(pred) if get_aval(pred).ndim else pred
        check_p.bind_all(logical_not(found), index, callback=failure, when=When.ALWAYS)
    return x


@final
class _IndexedFailure(Failure):
    """A failure with one of several messages."""

    def __init__(self, msgs: Sequence[str]) -> None:
        super().__init__()
        self._msgs = tuple(msgs)

    def message(self, *arrays: Any) -> str:
        """Return the message with this index."""
        (index,) = arrays
        return self._msgs[int(index)]

    def __imprint_token__(self) -> Any:
        """Return the key of the check in a comparison of programs."""
        return "error_if", self._msgs

    def __repr__(self) -> str:
        return "error_if"


def _or_nan(x: Any, found: Any) -> Any:
    """Return an array, with its least plausible value wherever a check failed."""
    if not is_array(x):
        return x
    dtype = get_aval(x).dtype
    worst: Any = True
    if dtypes.is_inexact(dtype):
        worst = np.nan
    elif not dtypes.is_bool(dtype):
        worst = int(dtypes.iinfo(dtype).max)
    return where(found, full_like(x, worst), x)

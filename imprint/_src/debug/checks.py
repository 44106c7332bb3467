"""`debug.check`: user errors that a program raises when it runs.

A check is a primitive (`primitives.checks`) that raises at the caller of the program.
`checkify` returns the error as a value instead; both use the formats of this file.
"""

from typing import Any, final

from imprint._src.callbacks import TreeCallback, flattened
from imprint._src.core.aval import get_aval
from imprint._src.debug.printing import FORMAT
from imprint._src.dtypes import is_bool
from imprint._src.errors import DTypeError
from imprint._src.primitives.checks import Failure, When, check_p
from imprint.numpy import all as all_of


def check(pred: Any, fmt: str, *args: Any, **kwargs: Any) -> None:
    """Raise `CheckError` at the caller of the program if `pred` is false when it runs.

    It is an effect: it happens even if no result depends on it, and ends the program.
    Under `vmap` each element is checked.

    Args:
        pred: a bool, or an array of them, all of which have to be true.
        fmt: the message, as for `str.format`.
        *args: its values.
        **kwargs: its named values.

    Returns:
        None.

    Raises:
        DTypeError: `pred` is no bool.

    Example:
        >>> import imprint
        >>> @imprint.jit
        ... def root(x):
        ...     imprint.debug.check(x >= 0, "no root of {x}", x=x)
        ...     return x**0.5
        >>> root(4.0)
        Array(2., dtype=float32, weak_type=True)
        >>> root(-1.0)
        Traceback (most recent call last):
        ...
        imprint.errors.CheckError: no root of -1.0
        checked at ..., `imprint.debug.check(x >= 0, "no root of {x}", x=x)`
    """
    check_that("debug.check", pred, fmt, args, kwargs)


def check_that(
    name: str,
    pred: Any,
    fmt: str,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    *,
    when: When = When.ALWAYS,
) -> None:
    """Bind a check with the message `fmt`.

    Args:
        name: the public function, for messages.
        pred: a bool, or an array of them, all of which have to be true.
        fmt: the message, as for `str.format`.
        args: its values.
        kwargs: its named values.
        when: the contexts in which it is active.
    """
    check_predicate(name, pred)
    FORMAT.vformat(fmt, args, kwargs)
    text, arrays = flattened(fmt.format, args, kwargs)
    whole = all_of(pred) if get_aval(pred).ndim else pred
    check_p.bind_all(whole, *arrays, callback=_FormattedFailure(fmt, text), when=when)


def check_predicate(name: str, pred: Any) -> None:
    """Raise unless a predicate has the dtype bool."""
    aval = get_aval(pred)
    if not is_bool(aval.dtype):
        raise DTypeError(
            f"{name}: expected a bool, or an array of them, got {aval}. Compare it, such "
            "as with `> 0`."
        )


@final
class _FormattedFailure(Failure):
    """A failure with a formatted message.

    Args:
        fmt: the format.
        text: the format as a function of flat arrays.
    """

    def __init__(self, fmt: str, text: TreeCallback) -> None:
        super().__init__()
        self._fmt = fmt
        self._text = text

    def message(self, *arrays: Any) -> str:
        """Return the formatted message."""
        (message,) = self._text(*arrays)
        return message

    def __imprint_token__(self) -> Any:
        """Return the key of the check in a comparison of programs."""
        return "check", self._fmt, self._text.treedef, (*self._text.static.items(),)

    def __repr__(self) -> str:
        return f"check({self._fmt!r})"

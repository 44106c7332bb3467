"""`debug.print` and `debug.callback`: effects of a running program.

They happen even if no result depends on them, under every transform, and on cache hits. A
format that does not fit its arguments is an error while tracing, at its line.
"""

import string
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple, final

from imprint._src.callbacks import tell
from imprint._src.errors import ArgumentError


def print(  # noqa: A001 - JAX's name; used as `debug.print`
    fmt: str | None = None,
    *args: Any,
    ordered: bool = False,
    partitioned: bool = False,
    skip_format_check: bool = False,
    **kwargs: Any,
) -> Any:
    """Print values when the program runs, also if it is compiled.

    The format is applied at run time, so do not use an f-string. Under `vmap` it prints
    for each element, under derivatives the values and not the tangents.

    Args:
        fmt: as for `str.format`. Without it, return the function that takes it, with
            these options.
        *args: the values: trees of arrays, or anything else.
        ordered: whether it keeps the order of the program among ordered callbacks.
        partitioned: accepted as JAX does; an array is on one device.
        skip_format_check: whether values without a place in `fmt` are printed after it.
        **kwargs: named values.

    Returns:
        None; without a format, the function that takes it.

    Raises:
        ArgumentError: an argument has no place in the format, or there are arguments but no
            format.

    Example:
        >>> import imprint
        >>> @imprint.jit
        ... def f(x):
        ...     imprint.debug.print("x is {x}", x=x)
        ...     return x + 1
        >>> _ = f(1.0), f(2.0)
        x is 1.0
        x is 2.0
    """
    options = _PrintOptions(ordered=ordered, is_loose=skip_format_check)
    if fmt is None:
        _check_no_arguments("print", args, kwargs)
        return partial(_print, options)
    return _print(options, fmt, *args, **kwargs)


class _PrintOptions(NamedTuple):
    """The options of a print."""

    ordered: bool
    is_loose: bool


def _print(options: _PrintOptions, fmt: str, /, *args: Any, **kwargs: Any) -> None:
    if not options.is_loose:
        FORMAT.vformat(fmt, args, kwargs)
    tell(
        _PrintCallback(fmt, is_loose=options.is_loose),
        args,
        kwargs,
        ordered=options.ordered,
    )


def callback(
    callback: Callable[..., Any] | None = None,
    *args: Any,
    ordered: bool = False,
    partitioned: bool = False,
    **kwargs: Any,
) -> Any:
    """Call a Python function with the values when the program runs.

    Args:
        callback: takes the arguments, with concrete arrays; its result is ignored.
            Without it, return the function that takes it and its arguments.
        *args: its arguments: trees of arrays, or anything else.
        ordered: whether it keeps the order of the program among ordered callbacks.
        partitioned: accepted as JAX does; an array is on one device.
        **kwargs: its keyword arguments.

    Returns:
        None; without a callback, the function that takes it.

    Raises:
        ArgumentError: there are arguments but no callback.

    Example:
        >>> import imprint
        >>> losses = []
        >>> @imprint.jit
        ... def step(x):
        ...     imprint.debug.callback(lambda x: losses.append(float(x)), x * x)
        ...     return x / 2
        >>> _ = step(step(1.0))
        >>> losses
        [1.0, 0.25]
    """
    if callback is None:
        _check_no_arguments("callback", args, kwargs)
        return partial(_call_back, ordered)
    return _call_back(ordered, callback, *args, **kwargs)


def _call_back(
    ordered: bool,  # noqa: FBT001 - a keyword would be taken from the callback's
    callback: Callable[..., Any],
    /,
    *args: Any,
    **kwargs: Any,
) -> None:
    if not callable(callback):
        raise ArgumentError(
            f"debug.callback: expected a function first, got {callback!r}. Its arguments "
            "follow it."
        )
    tell(callback, args, kwargs, ordered=ordered)


def _check_no_arguments(
    name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    if args or kwargs:
        raise ArgumentError(
            f"debug.{name}: expected what to call before its arguments, got the "
            f"arguments {(*args, *kwargs)} alone. Pass it first."
        )


@final
class _PrintCallback:
    """A callback that prints its formatted arguments."""

    __slots__ = ("_fmt", "_is_loose")

    def __init__(self, fmt: str, *, is_loose: bool) -> None:
        self._fmt = fmt
        self._is_loose = is_loose

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        """Write one line."""
        text = self._fmt.format(*args, **kwargs)
        if self._is_loose and text == self._fmt:
            text = " ".join([text, *map(str, args)])
        sys.stdout.write(f"{text}\n")

    def __imprint_token__(self) -> Any:
        """Return the key of the print in a comparison of programs."""
        return "print", self._fmt, self._is_loose

    @property
    def __name__(self) -> str:
        return f"print({self._fmt!r})"


# ---- formats ----


@final
class _FormatChecker(string.Formatter):
    """A formatter that only checks that each argument has a place in a format."""

    def format_field(self, value: Any, format_spec: str) -> str:
        """Return an empty string: the values are unknown while tracing."""
        return ""

    def convert_field(self, value: Any, conversion: Any) -> Any:
        """Return the value unchanged."""
        return value

    def get_value(
        self, key: int | str, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> Any:
        """Return the value of a place, or raise if there is none."""
        if isinstance(key, str):
            if key in kwargs:
                return kwargs[key]
            came = ", ".join(f"{name}=" for name in kwargs) or "none by name"
            raise KeyError(
                f"debug.print: expected a value for {{{key}}} in the format, got {came}. "
                f"Pass {key}=..., or write {{{{{key}}}}} for the text itself."
            )
        if key < len(args):
            return args[key]
        raise IndexError(
            f"debug.print: expected a value for each {{}} in the format, got {len(args)} "
            f"and a place for one more. Pass it, or write {{{{}}}} for the text itself."
        )

    def check_unused_args(
        self, used_args: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> None:
        """Raise if an argument has no place."""
        unused = [f"argument {i}" for i in range(len(args)) if i not in used_args]
        unused += [f"{name}=" for name in kwargs if name not in used_args]
        if unused:
            raise ArgumentError(
                f"debug.print: expected a place for each argument in the format, got "
                f"none for {', '.join(unused)}. Write {{}} or {{name}} there; an "
                "f-string is formatted too early."
            )


FORMAT: Final = _FormatChecker()

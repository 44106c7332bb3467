"""What is seen of programs that run, and counts of what this process has compiled.

`print` and `callback` show values while a program runs: they are effects of it, so they
happen whatever uses its results, under every transform, and from the cache. Replays come
from `jit(f).replay(...)`; their classes are here to write types with.
Counts only grow, so the difference of two readings is what happened between them. They
count events, not objects: a version that was dropped was compiled all the same.
"""

import string
import sys
from bdb import BdbQuit
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from types import FunctionType
from typing import Any, Final, NamedTuple, final

import numpy as np

from imprint.callbacks import tell
from imprint.core import missing
from imprint.core.aval import get_aval
from imprint.core.source import Source, current_source
from imprint.dtypes import is_bool
from imprint.errors import ArgumentError, CheckError, DTypeError
from imprint.explain.replay import Parting as Parting
from imprint.explain.replay import Replay as Replay
from imprint.explain.steps import Entered as Entered
from imprint.explain.steps import Step as Step
from imprint.program.counters import COUNTERS
from imprint.versions.version import calls_answered

__all__ = [
    "Counts",
    "Entered",
    "Parting",
    "Replay",
    "Step",
    "breakpoint",
    "callback",
    "check",
    "counters",
    "print",
]


def print(  # noqa: A001 - JAX's name; used as `debug.print`
    fmt: str | None = None,
    *args: Any,
    ordered: bool = False,
    partitioned: bool = False,
    skip_format_check: bool = False,
    **kwargs: Any,
) -> Any:
    """Print values when the program runs, also if it is compiled.

    The text is formatted then, so it is no f-string. Under `vmap` it prints for each
    element, under derivatives the values and not the tangents.

    Args:
        fmt: as for `str.format`. Without one, the function that takes it, with the
            options given here.
        *args: what is printed: trees of arrays, or anything else.
        ordered: whether it keeps the order of the program among ordered callbacks.
        partitioned: accepted as JAX does; an array is on one device.
        skip_format_check: whether values without a place in `fmt` are printed after it.
        **kwargs: what is printed, by name.

    >>> import imprint
    >>> @imprint.jit
    ... def f(x):
    ...     imprint.debug.print("x is {x}", x=x)
    ...     return x + 1
    >>> _ = f(1.0), f(2.0)
    x is 1.0
    x is 2.0
    """
    how = _How(ordered=ordered, is_loose=skip_format_check)
    if fmt is None:
        _check_no_arguments("print", args, kwargs)
        return partial(_print, how)
    return _print(how, fmt, *args, **kwargs)


class _How(NamedTuple):
    """The options of a print."""

    ordered: bool
    is_loose: bool


def _print(how: _How, fmt: str, /, *args: Any, **kwargs: Any) -> None:
    if not how.is_loose:
        _FORMAT.vformat(fmt, args, kwargs)
    tell(_Print(fmt, is_loose=how.is_loose), args, kwargs, ordered=how.ordered)


def callback(
    callback: Callable[..., Any] | None = None,
    *args: Any,
    ordered: bool = False,
    partitioned: bool = False,
    **kwargs: Any,
) -> Any:
    """Call a Python function with the values when the program runs.

    Args:
        callback: takes the arguments, its arrays concrete; what it returns does not
            count. Without one, the function that takes it and its arguments.
        *args: its arguments: trees of arrays, or anything else.
        ordered: whether it keeps the order of the program among ordered callbacks.
        partitioned: accepted as JAX does; an array is on one device.
        **kwargs: its keyword arguments.

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


def breakpoint(  # noqa: A001 - JAX's name; used as `debug.breakpoint`
    *,
    backend: str | None = None,
    filter_frames: bool = True,
    num_frames: int | None = None,
    ordered: bool = False,
    token: Any = None,
    **kwargs: Any,
) -> Any:
    r"""Stop in pdb when the program runs here, with the values of the local variables.

    All that only looks works: `p`, `pp`, `list`, `where`, any expression. `continue` goes
    on to the end or the next stop, `quit` ends the call with `bdb.BdbQuit`.

    Args:
        backend: accepted as JAX does: it is pdb.
        filter_frames: accepted as JAX does.
        num_frames: accepted as JAX does: there is one frame, the caller's.
        ordered: whether it keeps the order of the program among ordered callbacks.
        token: what is returned as it is.
        **kwargs: for `pdb.Pdb`, such as stdin and stdout.

    >>> import io
    >>> import imprint
    >>> shown = io.StringIO()
    >>> @imprint.jit
    ... def f(x):
    ...     y = x * 2
    ...     imprint.debug.breakpoint(stdin=io.StringIO("p y\nc\n"), stdout=shown)
    ...     return y
    >>> _ = f(1.0)
    >>> print(shown.getvalue().splitlines()[-2])
    (Pdb) Array(2., dtype=float32)
    """
    frame: Any = sys._getframe(1)  # pyright: ignore[reportPrivateUsage] - no other way
    stop = _Stop(frame, kwargs)
    tell(stop, (), dict(frame.f_locals), ordered=ordered)
    return token


def check(pred: Any, fmt: str, *args: Any, **kwargs: Any) -> None:
    """Raise `CheckError` at the caller of the program if `pred` is false when it runs.

    It is an effect: it happens whatever uses the results, and ends the program. Under
    `vmap` each element is checked.

    Args:
        pred: a bool, or an array of them, all of which have to be true.
        fmt: the message, as for `str.format`.
        *args: what stands in it.
        **kwargs: what stands in it, by name.

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
    check_predicate("debug.check", pred)
    _FORMAT.vformat(fmt, args, kwargs)
    tell(_Check(fmt), (pred, args, kwargs), {}, ordered=False)


def check_predicate(name: str, pred: Any) -> None:
    """Raise unless a predicate is of bools."""
    aval = get_aval(pred)
    if not is_bool(aval.dtype):
        raise DTypeError(
            f"{name}: expected a bool, or an array of them, got {aval}. Compare it, such "
            "as with `> 0`."
        )


def failure(message: str, site: Source | None) -> CheckError:
    """Return the error of a check that stands at a place of the user's program."""
    error = CheckError(message)
    if site is not None:
        error.add_note(f"checked at {site}, `{site.expression}`")
    return error


@final
class _Check:
    """Raises a message unless all is true."""

    __slots__ = ("_fmt", "_site")

    def __init__(self, fmt: str) -> None:
        self._fmt = fmt
        self._site = current_source()

    def __call__(self, pred: Any, args: Any, kwargs: Any) -> None:
        """Raise CheckError with the message unless `pred` is true."""
        if np.all(pred):
            return
        raise failure(self._fmt.format(*args, **kwargs), self._site)

    def __imprint_token__(self) -> Any:
        """Return what stands for this function in a comparison of programs."""
        return "check", self._fmt

    @property
    def __name__(self) -> str:
        return f"check({self._fmt!r})"


@final
class _Stop:
    """Opens pdb where a frame was when the program was traced.

    Args:
        frame: of the user's function.
        options: for `pdb.Pdb`.
    """

    __slots__ = ("_code", "_globals", "_options")

    def __init__(self, frame: Any, options: dict[str, Any]) -> None:
        text = "\n" * (frame.f_lineno - 1) + "__imprint_stop__()"
        code = compile(text, frame.f_code.co_filename, "exec")
        self._code = code.replace(co_name=frame.f_code.co_name)
        self._globals = frame.f_globals
        self._options = options

    def __call__(self, **values: Any) -> None:
        """Open it in a frame of that name and line, whose variables are `values`."""
        Pdb: Any = import_module("pdb").Pdb  # noqa: N806 - 20 ms, and few stop
        debugger = Pdb(nosigint=True, **self._options)

        def stop() -> None:
            debugger.reset()
            debugger.interaction(sys._getframe(1), None)  # pyright: ignore[reportPrivateUsage] - pdb wants it

        names = {**self._globals, **values, "__imprint_stop__": stop}
        FunctionType(self._code, names)()
        if debugger.quitting:
            raise BdbQuit

    def __imprint_token__(self) -> Any:
        """Return what stands for this function in a comparison of programs."""
        return "breakpoint", self._code.co_filename, self._code.co_name

    @property
    def __name__(self) -> str:
        return "breakpoint"


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
class _Print:
    """Prints its arguments as a format says."""

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
        """Return what stands for it in a comparison of programs."""
        return "print", self._fmt, self._is_loose

    @property
    def __name__(self) -> str:
        return f"print({self._fmt!r})"


@final
class _Format(string.Formatter):
    """Checks that each argument has a place in a format, and formats nothing."""

    def format_field(self, value: Any, format_spec: str) -> str:
        """Return nothing: the values are not there yet."""
        return ""

    def convert_field(self, value: Any, conversion: Any) -> Any:
        """Return the value as it is."""
        return value

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


_FORMAT: Final = _Format()


class Counts(NamedTuple):
    """How often something was done since the process started. They only grow.

    Args:
        traces: functions traced by `jit`.
        lowerings: programs written as StableHLO.
        compiles: programs compiled by XLA, those of single operations too.
        compile_seconds: what that took.
        hits: calls of jitted functions that a version answered.
        misses: calls that needed a new version.
        evictions: versions and traces dropped to stay within the byte budget.
        needless: misses whose version has the program of one that did not hold any more.
        audits: hits that `audit` traced again; these are no traces here.
    """

    traces: int
    lowerings: int
    compiles: int
    compile_seconds: float
    hits: int
    misses: int
    evictions: int
    needless: int
    audits: int


def counters() -> Counts:
    """Return the counts of this process.

    A test takes the difference of two readings. Counting costs a warm call nothing: each
    version counts its own calls.

    Example:
        >>> import imprint
        >>> f = imprint.jit(lambda x: x + 1)
        >>> before = imprint.debug.counters()
        >>> _ = f(1.0), f(2.0), f(3.0)
        >>> after = imprint.debug.counters()
        >>> after.misses - before.misses, after.hits - before.hits
        (1, 2)
    """
    return Counts(
        traces=COUNTERS.traces,
        lowerings=COUNTERS.lowerings,
        compiles=COUNTERS.compiles,
        compile_seconds=COUNTERS.compile_seconds,
        hits=max(0, calls_answered() - COUNTERS.misses),
        misses=COUNTERS.misses,
        evictions=COUNTERS.evictions,
        needless=COUNTERS.needless,
        audits=COUNTERS.audits,
    )


missing.explain_missing(__name__)

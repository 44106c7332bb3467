"""`debug.breakpoint`: pdb while a program runs.

The values of the local variables are operands of a callback, which opens pdb in a frame of
the same name and line.
"""

import sys
from bdb import BdbQuit
from importlib import import_module
from types import FunctionType
from typing import Any, final

from imprint._src.callbacks import tell


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

    Commands that only read work: `p`, `pp`, `list`, `where`, any expression. `continue`
    goes on to the end or the next stop, `quit` ends the call with `bdb.BdbQuit`.

    Args:
        backend: accepted as JAX does: it is pdb.
        filter_frames: accepted as JAX does.
        num_frames: accepted as JAX does: there is one frame, the caller's.
        ordered: whether it keeps the order of the program among ordered callbacks.
        token: returned unchanged.
        **kwargs: for `pdb.Pdb`, such as stdin and stdout.

    Returns:
        `token`.

    Example:
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


@final
class _Stop:
    """A callback that opens pdb at the line of a traced frame.

    Args:
        frame: the frame of the user function.
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
        """Open pdb in a frame of that name and line, with `values` as its variables."""
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
        """Return the key of this function in a comparison of programs."""
        return "breakpoint", self._code.co_filename, self._code.co_name

    @property
    def __name__(self) -> str:
        return "breakpoint"

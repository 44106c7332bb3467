"""Tracebacks without the frames of this package and of NumPy.

A public entry point that runs the user's function folds the traceback of what comes out
of it, so that it ends at the user's line. Bugs of ours (InternalError) keep all frames,
and so does everything while `traceback_filtering` is off.
"""

from collections.abc import Callable
from functools import wraps
from types import TracebackType
from typing import ParamSpec, TypeVar

from imprint.config import config
from imprint.core.source import is_inner
from imprint.errors import InternalError

_P = ParamSpec("_P")
_R = TypeVar("_R")


def folding(fun: Callable[_P, _R]) -> Callable[_P, _R]:
    """Let exceptions that pass through `fun` lose the frames below it that are not the user's."""

    @wraps(fun)
    def folded(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            return fun(*args, **kwargs)
        except Exception as err:
            fold(err)
            raise

    return folded


def fold(err: Exception) -> None:
    """Leave only the user's frames in the traceback of `err`."""
    if config.traceback_filtering and not isinstance(err, InternalError):
        frames: list[TracebackType] = []
        tb = err.__traceback__
        while tb is not None:
            if not is_inner(tb.tb_frame.f_code.co_filename):
                frames.append(tb)
            tb = tb.tb_next
        kept: TracebackType | None = None
        for tb in reversed(frames):
            kept = TracebackType(kept, tb.tb_frame, tb.tb_lasti, tb.tb_lineno)
        err.__traceback__ = kept

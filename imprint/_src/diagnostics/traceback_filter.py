"""Tracebacks without the frames of this package and of NumPy.

A public entry point that runs user code removes them from exceptions, so that the
traceback ends at the user's line. Internal errors (InternalError) keep all frames, and
so does every error while `traceback_filtering` is off.
"""

from collections.abc import Callable
from functools import wraps
from types import TracebackType
from typing import Final, ParamSpec, TypeVar

from imprint._src.config import config
from imprint._src.diagnostics.source import is_inner, is_library
from imprint._src.errors import ConcretizationError, InternalError

_P = ParamSpec("_P")
_R = TypeVar("_R")


def filter_traceback(fun: Callable[_P, _R]) -> Callable[_P, _R]:
    """Remove internal frames from exceptions that pass through `fun`."""

    @wraps(fun)
    def folded(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            return fun(*args, **kwargs)
        except ValueError as err:
            if isinstance(err.__cause__, ConcretizationError) and _NUMPYS in str(err):
                drop_internal_frames(err.__cause__)
                raise err.__cause__ from None
            drop_internal_frames(err)
            raise
        except Exception as err:
            drop_internal_frames(err)
            raise

    return folded


_NUMPYS: Final = "setting an array element with a sequence"
"""The message of NumPy for `a[0] = x` after `float(x)` raised."""


def unlink(err: BaseException) -> None:
    """Remove internal frames from a traceback whose first frame is referenced.

    Errors that need them keep them: errors raised here that are none of imprint's
    classes.
    """
    seen: set[int] = set()
    link: BaseException | None = err
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        tb = link.__traceback__
        while tb is not None and _is_for_the_user(link):
            while tb.tb_next is not None and _is_inner(tb.tb_next):
                tb.tb_next = tb.tb_next.tb_next
            tb = tb.tb_next
        link = link.__cause__ or link.__context__


def _is_for_the_user(err: BaseException) -> bool:
    if not config.traceback_filtering or isinstance(err, InternalError):
        return False
    if type(err).__module__ == InternalError.__module__:
        return True
    tb = err.__traceback__
    while tb is not None and tb.tb_next is not None:
        tb = tb.tb_next
    return tb is not None and not is_library(tb.tb_frame.f_code.co_filename)


def _is_inner(tb: TracebackType) -> bool:
    return is_inner(tb.tb_frame.f_code.co_filename)


def drop_internal_frames(err: Exception) -> None:
    """Leave only user frames in the traceback of `err`."""
    if config.traceback_filtering and not isinstance(err, InternalError):
        frames: list[TracebackType] = []
        tb = err.__traceback__
        while tb is not None:
            if not _is_inner(tb):
                frames.append(tb)
            tb = tb.tb_next
        kept: TracebackType | None = None
        for tb in reversed(frames):
            kept = TracebackType(kept, tb.tb_frame, tb.tb_lasti, tb.tb_lineno)
        err.__traceback__ = kept

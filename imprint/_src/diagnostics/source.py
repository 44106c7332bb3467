"""Source locations: where in user code an equation came from.

A source is taken for every staged equation, which is hot, so it is only a triple (code
object, instruction offset, named scope). File, line and text are computed on demand. A
frame is user code if its file is outside this package, NumPy and the standard library.
While a transform replays a jaxpr, new equations inherit the source of the original
equation. `called_source` adds the callers, which costs more, for a few equations. A
`ScopePath` in the place of the replayed source gives sources the name of `named_scope`.
"""

import linecache
import os
import sys
import warnings
from collections.abc import Callable
from contextvars import ContextVar
from opcode import opmap
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final, NamedTuple, Self, cast, final

import numpy as np

_PACKAGE: Final = str(Path(__file__).resolve().parents[2]) + "/"
_NUMPY: Final = str(Path(np.__file__).resolve().parent) + "/"
_STANDARD: Final = str(Path(os.__file__).resolve().parent) + "/"
_INSTALLED: Final = _STANDARD + "site-packages/"
_CACHE: Final = opmap.get("CACHE", -1)


class Source(NamedTuple):
    """A location in user code."""

    code: CodeType
    offset: int
    scope: str = ""
    """The names of the scopes around it, the outermost first: `layer/attention`."""

    @property
    def callers(self) -> "tuple[Source, ...]":
        """The places that were being executed around it, outermost first, if noted."""
        return ()

    @property
    def is_inner(self) -> bool:
        """Whether a jitted function of this package staged the equation, not user code."""
        return False

    @property
    def instruction(self) -> int:
        """Where its instruction begins: one that was specialized calls from its cache.

        So the first turn of a loop may have another offset than the others.
        """
        raw, start = self.code.co_code, self.offset
        while start > 0 and raw[start] == _CACHE:
            start -= 2
        return start

    @property
    def file(self) -> str:
        """The file name."""
        return self.code.co_filename

    @property
    def line(self) -> int:
        """The line number, counted from 1; 0 when unknown."""
        line = 0
        for start, end, number in self.code.co_lines():
            if start <= self.offset < end:
                line = number or line
                break
        return line

    @property
    def text(self) -> str:
        """The text of the line, stripped; empty when the file cannot be read."""
        return linecache.getline(self.file, self.line).strip()

    @property
    def expression(self) -> str:
        """The part of the line that the instruction computes; the line if unknown."""
        positions = list(self.code.co_positions())
        first, last, start, end = positions[self.offset // 2]
        if first is None or first != last or start is None or end is None:
            return self.text
        line = linecache.getline(self.file, first).encode()  # columns count bytes
        return line[start:end].decode(errors="replace")

    def __str__(self) -> str:
        return f"{Path(self.file).name}:{self.line}"

    @property
    def where(self) -> str:
        """The whole path and the line: `/path/file.py:12`."""
        return f"{self.file}:{self.line}"

    def long(self) -> str:
        """Return `file:line (function)` with the whole path."""
        return f"{self.where} ({self.code.co_name})"


class _CalledSource(Source):
    """A place of which is known from where it was reached; equal to one without."""

    _callers: tuple[Source, ...]

    def __new__(cls, source: Source, callers: tuple[Source, ...]) -> Self:
        made = super().__new__(cls, *source)
        made._callers = callers
        return made

    @property
    def callers(self) -> tuple[Source, ...]:
        """The places that were being executed around it, outermost first."""
        return self._callers


class _InnerSource(Source):
    """A location of user code that calls a jitted function of this package."""

    @property
    def is_inner(self) -> bool:
        """Whether a jitted function of this package staged the equation."""
        return True


def inner_source(source: Source) -> Source:
    """Return an equal location for equations that this package stages by itself."""
    return _InnerSource(*source)


@final
class ScopePath(NamedTuple):
    """The named scopes in which new equations are; it has a source for each of them."""

    path: str


# 150 ns less than the class's own.
_new: Final = cast("Callable[..., Source]", tuple[Any, ...].__new__)
_replayed: ContextVar[Source | ScopePath | None] = ContextVar(
    "imprint_source", default=None
)
replayed_source: Final = _replayed.get
set_replayed_source: Final = _replayed.set
reset_replayed_source: Final = _replayed.reset


def current_source() -> Source | None:
    """Return the innermost place outside this package that runs now."""
    scope = ""
    inherited = replayed_source()
    if inherited is not None:
        if type(inherited) is not ScopePath:
            return inherited
        scope = inherited.path
    frame: FrameType | None = sys._getframe(1)  # pyright: ignore[reportPrivateUsage] - 20x cheaper than inspect
    passed = _passed
    while frame is not None:
        code = frame.f_code
        if not passed[code.co_filename]:
            return _new(Source, (code, frame.f_lasti, scope))
        frame = frame.f_back
    return None


def called_source(source: Source, top: str) -> Source:
    """Return a location that runs now, with the user locations that called it.

    Args:
        source: the result of `current_source`.
        top: the file whose innermost frame around it is where the user calls begin.
    """
    found: list[Source] = []
    frame: FrameType | None = sys._getframe(1)  # pyright: ignore[reportPrivateUsage] - 20x cheaper than inspect
    while frame is not None:
        code = frame.f_code
        if found and code.co_filename == top:
            break
        if not _passed[code.co_filename]:
            found.append(_new(Source, (code, frame.f_lasti)))
        frame = frame.f_back
    return _CalledSource(source, tuple(found[:0:-1]))  # the first is the place itself


def raised_source(err: BaseException) -> Source | None:
    """Return the innermost user location that an error passed."""
    found, step = None, err.__traceback__
    while step is not None:
        code = step.tb_frame.f_code
        if not _passed[code.co_filename]:
            found = _new(Source, (code, step.tb_lasti, ""))
        step = step.tb_next
    return found


def user_frame() -> FrameType | None:
    """Return the innermost frame of user code."""
    frame: FrameType | None = sys._getframe(1)  # pyright: ignore[reportPrivateUsage] - 20x cheaper than inspect
    while frame is not None and _passed[frame.f_code.co_filename]:
        frame = frame.f_back
    return frame


def warn(text: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the innermost place outside this package that runs now."""
    level = 2
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage] - 20x cheaper than inspect
    while is_library(frame.f_code.co_filename) and frame.f_back is not None:
        level += 1
        frame = frame.f_back
    warnings.warn(text, category, stacklevel=level)


def is_library(filename: str) -> bool:
    """Return whether a file belongs to this package."""
    return filename.startswith(_PACKAGE)


def is_inner(filename: str) -> bool:
    """Return whether a file belongs to this package or NumPy, so is not user code."""
    return is_library(filename) or filename.startswith(_NUMPY)


class _Passed(dict[str, bool]):
    """Whether frames of a file are skipped, by file name.

    A subscript is the cheapest lookup.
    """

    def __missing__(self, filename: str) -> bool:
        is_standard = filename.startswith(_STANDARD)
        is_installed = filename.startswith(_INSTALLED)
        passed = is_inner(filename) or (is_standard and not is_installed)
        self[filename] = passed
        return passed


_passed: Final = _Passed()

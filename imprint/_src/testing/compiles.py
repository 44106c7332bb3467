"""`max_compiles`: a limit on the versions that the process makes while a block is open.

One observer serves all open blocks. A miss reserves a place in every open block or in none,
under one lock, so concurrent misses cannot exceed a limit. The place becomes a compile when
the version is made, and is released if that fails.
"""

import functools
import inspect
import operator
import threading
from collections.abc import Callable, Generator
from types import TracebackType
from typing import Any, Final, final

from imprint._src.diagnostics.source import current_source, is_library
from imprint._src.errors import ArgumentError, RecompileError
from imprint._src.jit.explain.explanation import Explanation
from imprint._src.jit.versions.version import OBSERVERS, VersionCosts

_LISTED = 5


def max_compiles(n: int) -> "Limit":
    """Return a `with` block in which at most `n` versions are made, in all threads.

    A call that needs one more raises before it is traced; outside the block it compiles.
    If the call was in another thread, the end of the block raises too. Use
    `max_compiles(0)` for a warm program. It also decorates a function or coroutine
    function: then each call is a block.

    Each new version of a jitted function that is called outside of traced code counts,
    even if XLA has compiled an equal program before. Equal functions share versions, which
    count once. Calls outside `jit`, `f.lower(x).compile()` and functions that imprint jits
    itself (random numbers of a new shape) do not count.

    Args:
        n: the limit.

    Returns:
        A context manager whose value has the `count` and `explanations` of new versions.

    Raises:
        RecompileError: the block needs another version; `explanation` says why.

    Example:
        >>> import imprint
        >>> import imprint.numpy as np
        >>> from imprint.testing import max_compiles
        >>> total = imprint.jit(lambda x: x.sum())
        >>> with max_compiles(1) as made:
        ...     _ = total(np.ones(3)), total(np.zeros(3))
        >>> made.count
        1
        >>> with max_compiles(0):
        ...     total(np.ones(4))
        Traceback (most recent call last):
        imprint.errors.RecompileError: max_compiles(0): expected no compile in the block ...
    """
    return Limit(n, "max_compiles", f"the block at {current_source()}")


@final
class Compiles:
    """The compiles of one block so far.

    Args:
        limit: the limit.
        who: the name that the user typed, for messages.
        where: the block, for messages.
    """

    def __init__(self, limit: int, who: str, where: str) -> None:
        self._limit = limit
        self._who = who
        self._where = where
        self._opener = threading.get_ident()
        self._places = 0
        self._made: list[Explanation] = []
        self._refused: list[tuple[int, RecompileError]] = []

    @property
    def count(self) -> int:
        """The number of new versions."""
        return len(self._made)

    @property
    def explanations(self) -> tuple[Explanation, ...]:
        """The reason and the seconds of each."""
        return tuple(self._made)

    def __repr__(self) -> str:
        return f"<{self.count} of {self._limit} compiles in {self._where}>"

    # ---- for the observer, under its lock ----

    def is_full(self) -> bool:
        """Return whether the limit is reached."""
        return len(self._made) + self._places >= self._limit

    def take_place(self) -> None:
        """Reserve a place for a version."""
        self._places += 1

    def leave_place(self, made: Explanation | None) -> None:
        """Count a new version, or release the place if it failed."""
        self._places -= 1
        if made is not None:
            self._made.append(made)

    def refuse(self, miss: Explanation) -> RecompileError:
        """Return the error of a call that needs one more version."""
        n = self._limit
        most = f"at most {n} compile{'s' * (n > 1)}" if n else "no compile"
        text = (
            f"{self._who}({n}): expected {most} in {self._where}, "
            f"got {'one more' if n else 'one'}. {str(miss).rstrip()}\n"
        )
        if self._made:
            shown = [f"{m.function} at {m.site}" for m in self._made[:_LISTED]]
            more = len(self._made) - _LISTED
            rest = f"; and {more} more" if more > 0 else ""
            text += f"  Compiled there before: {'; '.join(shown)}{rest}.\n"
        text += (
            f"  Make such a call before, or allow it: {self._who}({self._limit + 1})."
        )
        error = RecompileError(text, explanation=miss)
        self._refused.append((threading.get_ident(), error))
        return error

    # ---- for the block ----

    def is_opened_here(self) -> bool:
        """Return whether this thread opened the block."""
        return self._opener == threading.get_ident()

    def check_other_threads(self) -> None:
        """Raise the error of another thread, which may have been lost there."""
        for thread, error in self._refused:
            if thread != threading.get_ident():
                message = str(error)
                raise RecompileError(message, explanation=error.explanation) from error


@final
class Limit:
    """The context manager and decorator that `max_compiles` returns.

    Args:
        n: the limit of a block.
        who: the name that the user typed, for messages.
        where: the block, for messages.
    """

    def __init__(self, n: int, who: str, where: str) -> None:
        self._n = _checked(n, who)
        self._who = who
        self._where = where
        self._entered: list[Compiles] = []

    def __enter__(self) -> Compiles:
        block = Compiles(self._n, self._who, self._where)
        self._entered.append(block)
        _OBSERVER.open(block)
        return block

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        # Many threads may enter one object, and another thread may close it.
        own = [block for block in self._entered if block.is_opened_here()]
        block = (own or self._entered)[-1]
        self._entered.remove(block)
        _OBSERVER.close(block)
        if error is None:
            block.check_other_threads()

    def __call__(self, fun: Callable[..., Any]) -> Callable[..., Any]:
        """Return `fun` with a block around each of its calls."""
        if not callable(fun) or inspect.isasyncgenfunction(fun):
            raise ArgumentError(
                f"{self._who}: expected a function or coroutine function to decorate, "
                f"got {fun!r}. Write `with {self._who}({self._n}):` inside it."
            )
        n, who = self._n, self._who
        name = getattr(fun, "__qualname__", repr(fun))
        where = self._where.replace("the block", f"a call of {name}, limited", 1)

        @functools.wraps(fun)
        async def limited_coroutine(*args: Any, **kwargs: Any) -> Any:
            with Limit(n, who, where):
                return await fun(*args, **kwargs)

        @functools.wraps(fun)
        def limited_generator(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
            generator: Generator[Any, Any, Any] = fun(*args, **kwargs)
            with Limit(n, who, where):
                return (yield from generator)

        @functools.wraps(fun)
        def limited(*args: Any, **kwargs: Any) -> Any:
            with Limit(n, who, where):
                return fun(*args, **kwargs)

        if inspect.iscoroutinefunction(fun):
            return limited_coroutine
        return limited_generator if inspect.isgeneratorfunction(fun) else limited


def _checked(n: Any, who: str) -> int:
    try:
        limit = -1 if isinstance(n, bool) else operator.index(n)
    except TypeError:
        limit = -1
    if limit < 0:
        raise ArgumentError(
            f"{who}: expected the number of compiles to allow, an integer of at least "
            f"0, got {n!r}. Write {who}(0) where all is compiled already."
        )
    return limit


@final
class _CompileObserver:
    """The observer of all open blocks."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: list[Compiles] = []
        # By thread: the blocks with a place for the version that it makes now.
        self._places: dict[int, list[Compiles]] = {}

    def open(self, block: Compiles) -> None:
        """Open a block."""
        with self._lock:
            if not self._open:
                OBSERVERS.append(self)
            self._open.append(block)

    def close(self, block: Compiles) -> None:
        """Close a block."""
        with self._lock:
            self._open.remove(block)
            for blocks in self._places.values():
                if block in blocks:
                    blocks.remove(block)
            if not self._open:
                OBSERVERS.remove(self)

    def missed(self, miss: Explanation) -> None:
        """Reserve a place in each open block, or raise the error of the innermost full one."""
        if is_library(miss.defined):
            return
        with self._lock:
            full = [block for block in self._open if block.is_full()]
            if not full:
                for block in self._open:
                    block.take_place()
                self._places[threading.get_ident()] = [*self._open]
                return
            error = full[-1].refuse(miss)
        raise error

    def compiled(self, miss: Explanation, costs: VersionCosts) -> None:
        """Count a version in the blocks that were open at its miss."""
        with self._lock:
            self._leave(miss)

    def failed(self, miss: Explanation) -> None:
        """Release the places of a version that failed."""
        with self._lock:
            self._leave(None)

    def _leave(self, made: Explanation | None) -> None:
        for block in self._places.pop(threading.get_ident(), ()):
            block.leave_place(made)


_OBSERVER: Final = _CompileObserver()

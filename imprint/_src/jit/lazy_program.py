"""The jaxpr and the text of a program that was loaded, made when they are read.

They are made by a retrace, which raises if dependencies changed since the load.
"""

import weakref
from collections.abc import Callable
from typing import Any, final

from imprint._src.core.aval import ShapedArray
from imprint._src.core.jaxpr import ClosedJaxpr
from imprint._src.errors import ArgumentError
from imprint._src.jit.calls.tracing import TracedCall
from imprint._src.jit.compilation.lowered import LoweredProgram
from imprint._src.jit.versions.definitions import count_trace


@final
class Retrace:
    """A trace of a function on demand, while its dependencies hold.

    Args:
        name: the name of the function.
        fun: the function, which is held weakly.
        trace: traces it.

    Attributes:
        traced: a weak reference to the trace that the jaxpr belongs to.
    """

    def __init__(
        self, name: str, fun: Any, trace: Callable[[Callable[..., Any]], ClosedJaxpr]
    ) -> None:
        self._name = name
        try:
            self._fun: Callable[[], Any] = weakref.ref(fun)
        except TypeError:
            self._fun = lambda: None
        self._trace = trace
        self.traced: Callable[[], TracedCall | None] = lambda: None

    def __call__(self) -> ClosedJaxpr:
        """Return the jaxpr.

        Raises:
            ArgumentError: the dependencies changed.
        """
        function, traced = self._fun(), self.traced()
        if function is None or traced is None or not traced.holds():
            raise ArgumentError(
                f"{self._name}: expected what it reads to be as it was when it started "
                "from the disk, got another: nobody has traced its program. Ask "
                "before that changes, or with IMPRINT_CACHE=off."
            )
        count_trace()
        return self._trace(function)


@final
class LazyJaxpr(ClosedJaxpr):
    """A jaxpr that is traced when it is read.

    Args:
        make: traces it.
        in_avals: the avals of its arguments.
        out_avals: those of its results.
        equations: the number of its equations.
    """

    __slots__ = ("_found", "_ins", "_make", "_outs", "equations")

    def __init__(  # its base has a jaxpr at once
        self,
        make: Callable[[], ClosedJaxpr],
        in_avals: tuple[ShapedArray, ...],
        out_avals: tuple[ShapedArray, ...],
        equations: int,
    ) -> None:
        self._found: ClosedJaxpr | None = None
        self._make = make
        self._ins = in_avals
        self._outs = out_avals
        self._memo: dict[Any, Any] = {}
        self.equations: int = equations

    @property
    def is_known(self) -> bool:
        """Whether it was traced."""
        return self._found is not None

    @property
    def in_avals(self) -> tuple[ShapedArray, ...]:
        """The avals of the arguments."""
        return self._ins

    @property
    def out_avals(self) -> tuple[ShapedArray, ...]:
        """The avals of the results."""
        return self._outs

    @property
    def jaxpr(self) -> Any:  # pyright: ignore[reportIncompatibleVariableOverride] - as it is read
        """The jaxpr."""
        return self._now().jaxpr

    @property
    def consts(self) -> Any:  # pyright: ignore[reportIncompatibleVariableOverride] - as it is read
        """The constants."""
        return self._now().consts

    def know(self, closed: ClosedJaxpr) -> None:
        """Set the jaxpr, which an audit has traced."""
        self._found = closed

    def _now(self) -> ClosedJaxpr:
        if self._found is None:
            self._found = self._make()
        return self._found


@final
class LazyProgram(LoweredProgram):
    """A lowered program whose text is written when it is read."""

    _lower: Callable[[], LoweredProgram]
    _found: LoweredProgram | None = None
    _text_bytes = 0

    @classmethod
    def of(
        cls, known: LoweredProgram, lower: Callable[[], LoweredProgram], text_bytes: int
    ) -> "LazyProgram":
        """Return a program without text and changes, which `lower` makes."""
        made = cls(*known)
        made._lower, made._text_bytes = lower, text_bytes
        return made

    def _now(self) -> LoweredProgram:
        if self._found is None:
            self._found = self._lower()
        return self._found

    @property
    def text(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride] - as it is read
        """StableHLO."""
        return self._now().text

    @property
    def changes(self) -> Any:  # pyright: ignore[reportIncompatibleVariableOverride] - as it is read
        """The changes that the passes made."""
        return self._now().changes

    @property
    def text_bytes(self) -> int:
        """The length of the text."""
        return self._text_bytes

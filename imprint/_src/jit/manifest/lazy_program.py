"""The jaxpr and the text of a program that was loaded, made when they are read.

They are computed by a retrace, which raises if dependencies changed since the load.
"""

from collections.abc import Callable
from typing import Any, final

from imprint._src.core.aval import ShapedArray
from imprint._src.core.jaxpr import ClosedJaxpr
from imprint._src.jit.compilation.lowered import LoweredProgram


@final
class LateJaxpr(ClosedJaxpr):
    """A jaxpr that is traced when it is read.

    Args:
        make: traces it.
        in_avals: the avals of its arguments.
        out_avals: those of its results.
        equations: how many it has.
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
        """Take in the jaxpr: an audit has traced it."""
        self._found = closed

    def _now(self) -> ClosedJaxpr:
        if self._found is None:
            self._found = self._make()
        return self._found


@final
class LateProgram(LoweredProgram):
    """A lowered program whose text is written when it is read."""

    _lower: Callable[[], LoweredProgram]
    _found: LoweredProgram | None = None
    _text_bytes = 0

    @classmethod
    def of(
        cls, known: LoweredProgram, make: Callable[[], LoweredProgram], text_bytes: int
    ) -> "LateProgram":
        """Return a program without text and changes, and what makes these."""
        made = cls(*known)
        made._lower, made._text_bytes = make, text_bytes
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
        """What the passes did to it."""
        return self._now().changes

    @property
    def text_bytes(self) -> int:
        """How long the text is."""
        return self._text_bytes

"""What the recorder of a trace need not hear: rules of imprint's own, among themselves.

On 3.11 it hears of functions by the interpreter's profiler, which also tells of each that
is not the user's: 300 ns a call, the half of what a trace takes. So what runs long and
cannot come to the user's code is `unheard`. From 3.12 that costs nothing, and is heard.
A profiler of the user's is told of everything.
"""

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from types import FunctionType
from typing import Any, Final, final

from imprint.core.jaxpr import Jaxpr
from imprint.core.primitive import Primitive

LISTENERS: Final[set[FunctionType]] = set()
"""The profilers that need not hear what is `unheard`."""
PAUSES: Final = sys.version_info < (3, 12)
"""Whether `pause` may do anything; to ask it first costs least."""
_OWN: Final = ("imprint.primitives.", "imprint.core.")


def pause() -> FunctionType | None:
    """Let the recorder hear nothing more; return what `go_on` is to be given, if any."""
    told: Any = sys.getprofile()
    if type(told) is not FunctionType or told not in LISTENERS:
        return None
    sys.setprofile(None)
    return told


go_on: Final[Callable[[Any], None]] = sys.setprofile


def while_running(jaxpr: Jaxpr) -> AbstractContextManager[None]:
    """Return in what to run the rules of a jaxpr: a rule of the user's is heard."""
    if not PAUSES or not _is_plain(jaxpr):
        return nullcontext()
    return _Unheard()


def _is_plain(jaxpr: Jaxpr) -> bool:
    return all(map(_is_ours, {eqn.primitive for eqn in jaxpr.eqns}))


def _is_ours(primitive: Primitive) -> bool:
    """Tell whether its rules are imprint's own, and call none of the user's."""
    rule: Any = primitive.transpose
    return type(primitive) is Primitive and rule.__module__.startswith(_OWN)


@final
class _Unheard:
    __slots__ = ("_told",)

    def __enter__(self) -> None:
        self._told = pause()

    def __exit__(self, *_: object) -> None:
        if self._told is not None:
            go_on(self._told)

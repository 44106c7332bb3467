"""What the recorder of a trace need not hear: rules of imprint's own, among themselves.

On 3.11 it hears of functions by the interpreter's profiler, which also tells of each that
is not the user's: 300 ns a call, the half of what a trace takes. So what runs long and
cannot come to the user's code is `unheard`. From 3.12 that costs nothing, and is heard.
A profiler of the user's is told of everything.
"""

import sys
from contextlib import AbstractContextManager, nullcontext
from types import CodeType
from typing import Any, Final, final

from imprint.core.jaxpr import Jaxpr
from imprint.core.primitive import Primitive

LISTENERS: Final[set[CodeType]] = set()
"""The code of profilers that need not hear what is `unheard`."""
_OWN: Final = ("imprint.primitives.", "imprint.core.")


def while_running(jaxpr: Jaxpr) -> AbstractContextManager[None]:
    """Return in what to run the rules of a jaxpr: a rule of the user's is heard."""
    if sys.version_info >= (3, 12) or not _is_plain(jaxpr):
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
        told: Any = sys.getprofile()
        self._told = told if getattr(told, "__code__", None) in LISTENERS else None
        if self._told is not None:
            sys.setprofile(None)

    def __exit__(self, *_: object) -> None:
        if self._told is not None:
            sys.setprofile(self._told)

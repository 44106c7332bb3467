"""Binding: the definition of a function that is jitted, found at its first call.

It is found again if the function was edited meanwhile, or the config changed.
"""

from collections.abc import Callable
from typing import Any

from imprint._src.core.identity import InternalObject
from imprint._src.core.user_code import adopt
from imprint._src.jit.calls.filtering import FilteredSignature
from imprint._src.jit.calls.options import JitOptions
from imprint._src.jit.calls.signature import Signature
from imprint._src.jit.versions.definitions import DEFINITIONS, Definition, parts_of


class Binding(InternalObject):
    """A function with its definition.

    Args:
        fun: the user's function.
        options: how it is compiled.
    """

    def __init__(self, fun: Callable[..., Any], options: JitOptions) -> None:
        self.__wrapped__ = self._fun = fun
        self.__doc__ = fun.__doc__
        self.__module__ = getattr(fun, "__module__", "")
        self._options = options
        self.is_filtered: bool = options.filtered is not None
        """Whether it is a `filter_jit` function, which binds as a node of pytrees."""
        self._definition: Definition | None = None
        self._parts: tuple[Any, ...] = ()
        adopt(fun)
        if options.names_arguments:  # those that are missing are reported now
            self._bind()

    def _bound(self) -> Definition:
        """Return the definition of the function as it is now."""
        known = self._definition
        if known is not None and self._parts == parts_of(self._fun):
            return known
        return self._bind()

    def _bind(self) -> Definition:
        self._parts = parts_of(self._fun)
        definition = DEFINITIONS.of(
            self._fun, self._options, lambda: _signature(self._fun, self._options)
        )
        self._definition = definition
        self._current = definition.versions.current
        return definition


def _signature(fun: Callable[..., Any], options: JitOptions) -> Signature:
    if options.filtered is not None:
        signature: Signature = FilteredSignature(fun, options.filtered)
    else:
        signature = Signature(fun, options.static, options.donate)
    if options.abstracted_axes is not None:
        options.abstracted_axes.check(signature)
    return signature

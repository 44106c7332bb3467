"""`jax.experimental.hijax`, so far as libraries define classes with it.

imprint has no types of programs but arrays: binding a `HiPrimitive` is an error.
"""

from collections.abc import Callable
from typing import Any, Final, NoReturn


class AbstractValue:
    """The base class of types of programs."""


class HiType(AbstractValue):
    """A type that a library defines."""


class MutableHiType(HiType):
    """A mutable type that a library defines."""


class AvalQDD:
    """A type with its quasi-dynamic data."""


class AvalMutableQDD:
    """A mutable type with its quasi-dynamic data."""


class HiPrimitive:
    """A primitive on values of such types."""

    def __init__(self, name: str) -> None:
        self.name: str = name

    def bind(self, *_: Any, **__: Any) -> NoReturn:
        """Raise: imprint has no such types."""
        raise NotImplementedError(
            f"expected arrays, and {self.name} is a primitive on a type of a library "
            "(jax.experimental.hijax), which imprint does not have. For flax, leave "
            "flax_hijax_variable off."
        )


class aval_method:  # noqa: N801 - JAX's name
    """A method of values of such a type, found through the type."""

    def __init__(self, fun: Callable[..., Any]) -> None:
        self.fun: Callable[..., Any] = fun


class aval_property:  # noqa: N801 - JAX's name
    """A property of values of such a type, found through the type."""

    def __init__(self, fget: Callable[..., Any]) -> None:
        self.fget: Callable[..., Any] = fget


class _EffectTypes:
    """The types of effects that control flow allows."""

    def add_type(self, effect: type) -> None:
        """Allow a type."""


control_flow_allowed_effects: Final = _EffectTypes()


def register_hitype(kind: type, typeof: Callable[[Any], Any]) -> None:
    """Register the type of the instances of a class."""

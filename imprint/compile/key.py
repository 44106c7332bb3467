"""Exact values: how cache keys compare what is known before tracing.

`1`, `1.0` and `True` are three values at every depth, so are `0.0` and `-0.0`, and NaN
equals NaN. `static_token` turns a static argument into a hashable value that compares
like this. What has no content that it understands counts by its class's own `__eq__`
and `__hash__`; what has neither is refused with the remedy.
"""

from collections.abc import Hashable
from dataclasses import fields, is_dataclass
from typing import Any, Final, cast

import numpy as np

from imprint.core.array import Array
from imprint.errors import ArgumentError

_PARAMS: Final = "__dataclass_params__"
_EXACT: Final = frozenset({int, bool, str, bytes, type(None), type(Ellipsis)})
_PLAIN: Final = _EXACT | {float, complex}


def is_plain_value(value: Any) -> bool:
    """Tell whether `same_value` compares values of this one's type."""
    return type(value) in _PLAIN


def same_value(value: Any, plain: Any) -> bool:
    """Tell whether `value` is exactly the plain value: type, bits, sign of zero."""
    if type(value) is not type(plain):
        return False
    return static_token(value, "") == static_token(plain, "")


def static_token(value: Any, name: str) -> Hashable:
    """Return the exact value of a static argument as a hashable token.

    Args:
        value: the static argument.
        name: what the user calls it, for messages.

    Raises:
        ArgumentError: the value is an array, or cannot be hashed.
    """
    kind = cast("type[Any]", type(value))
    if kind in _EXACT:
        return kind, value
    if kind is float:
        return kind, value.hex()
    if kind is complex:
        return kind, value.real.hex(), value.imag.hex()
    if isinstance(value, tuple):
        return kind, *(static_token(item, name) for item in value)  # pyright: ignore[reportUnknownVariableType] - items of any type
    if isinstance(value, frozenset):
        return kind, frozenset(static_token(item, name) for item in value)  # pyright: ignore[reportUnknownVariableType] - items of any type
    if is_dataclass(kind) and getattr(kind, _PARAMS).frozen:
        parts = (
            static_token(getattr(value, f.name), f"{name}.{f.name}")
            for f in fields(kind)
        )
        return kind, *parts
    if isinstance(value, Array | np.ndarray):
        raise ArgumentError(
            f"static argument {name}: expected a value known before tracing, got an "
            f"array {value!r}. Pass it as an ordinary (traced) argument."
        )
    return kind, _hashable(value, kind, name)


def _hashable(value: Any, kind: type, name: str) -> Any:
    try:
        hash(value)
    except TypeError:
        raise ArgumentError(
            f"static argument {name}: expected a hashable value, got {kind.__name__}. "
            f"{_REMEDY.get(kind, 'Make its class a frozen dataclass.')}"
        ) from None
    return value


_REMEDY: Final[dict[type, str]] = {
    list: "Pass a tuple.",
    dict: "Pass a frozen dataclass, or a tuple of pairs.",
    set: "Pass a frozenset.",
    bytearray: "Pass bytes.",
}

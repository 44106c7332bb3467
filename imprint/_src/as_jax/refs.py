"""`jax.new_ref`: a mutable array, as an object that holds an immutable one.

A reference is used where it was made: in Python, or within one traced function. It is no
argument of a jitted function.
"""

from typing import Any

import imprint.numpy as np


class Ref:
    """A mutable array: `ref[...]` reads it, `ref[index] = value` writes."""

    def __init__(self, value: Any) -> None:
        self._value = np.asarray(value)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array."""
        return self._value.shape

    @property
    def dtype(self) -> Any:
        """The dtype of the array."""
        return self._value.dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self._value.ndim

    def __getitem__(self, index: Any) -> Any:
        return self._value[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self._value = self._value.at[index].set(value)

    def __repr__(self) -> str:
        return f"Ref({self._value!r})"


def new_ref(value: Any, **_: Any) -> Ref:
    """Return a reference to a copy of an array."""
    return Ref(value)


def freeze(ref: Ref) -> Any:
    """Return the array that a reference holds."""
    return ref[...]

"""Axes and sizes as params: how public functions normalize them, how rules shift them.

Params are tuples of Python ints, so that equal params are equal keys. A function under
JAX's name counts axes from the end where JAX's does; the primitives never do.
"""

import operator
from collections.abc import Iterable
from typing import Any

from imprint._src.core.array_interop import shown
from imprint._src.core.aval import ShapedArray
from imprint._src.errors import (
    ArgumentError,
    AxisError,
    ConcretizationError,
    ShapeError,
)


def int_tuple(values: Iterable[Any]) -> tuple[int, ...]:
    """Return `values` as Python ints; a tracer among them raises, as it must."""
    try:
        return tuple(map(operator.index, values))
    except TypeError as err:
        if isinstance(err, ConcretizationError):
            raise
        raise ArgumentError(
            f"expected a sequence of whole numbers, got {shown(values)}. Write them as "
            "Python ints, in a tuple."
        ) from None


def is_several(value: Any) -> bool:
    """Return whether a value stands for several lengths or axes, in an order."""
    unordered = issubclass(type(value), set | frozenset | dict | str | bytes)
    is_iterable = hasattr(value, "__iter__") and not unordered
    return is_iterable and getattr(value, "ndim", 1) != 0


def int_of(value: Any) -> int:
    """Return a value as a Python int, as `int_tuple` does several."""
    return int_tuple((value,))[0]


def whole(name: str, what: str, value: Any) -> int:
    """Return an integer as a Python int; `name` and `what` begin the error."""
    try:
        return operator.index(value)
    except TypeError as err:
        if isinstance(err, ConcretizationError):
            raise  # its message has the remedy
        raise ArgumentError(
            f"{name}: expected {what} to be a whole number, got {shown(value)}. Write it "
            "as a Python int."
        ) from None


def canonical_axis(name: str, axis: Any, ndim: int) -> int:
    """Return `axis` counted from 0; the caller's `name` begins the error."""
    at = whole(name, "an axis", axis)
    if not -ndim <= at < ndim:
        raise AxisError(
            f"{name}: expected an axis in [{-ndim}, {ndim}), got {at}. "
            f"The array has {ndim} {'axis' if ndim == 1 else 'axes'}."
        )
    return at + ndim if at < 0 else at


def canonical_axes(name: str, axes: Iterable[Any], ndim: int) -> tuple[int, ...]:
    """Return distinct `axes` counted from 0, in the order given."""
    found = tuple(canonical_axis(name, axis, ndim) for axis in axes)
    if len(set(found)) != len(found):
        raise ShapeError(
            f"{name}: expected distinct axes, got {tuple(axes)}, which is {found} "
            "counted from 0. Name each axis once."
        )
    return found


def insert(values: tuple[Any, ...], at: int, value: Any) -> tuple[Any, ...]:
    """Return `values` with one more entry at position `at`."""
    return (*values[:at], value, *values[at:])


def push(axes: Iterable[int], at: int) -> tuple[int, ...]:
    """Return `axes` in an array that has one more axis, at position `at`."""
    return tuple(axis + (axis >= at) for axis in axes)


def check_axes(name: str, x: ShapedArray, axes: tuple[int, ...]) -> None:
    """Raise ShapeError unless `axes` are distinct axes of `x`, counted from 0."""
    if any(not 0 <= a < x.ndim for a in axes) or len(set(axes)) != len(axes):
        raise ShapeError(
            f"{name}: expected distinct axes in [0, {x.ndim}) for operand {x}, "
            f"got axes={axes}. To count from the end, call imprint.numpy."
        )


def reduced(x: ShapedArray, axes: tuple[int, ...]) -> ShapedArray:
    """Return the aval of `x` without `axes`."""
    return x.with_shape(tuple(n for i, n in enumerate(x.shape) if i not in axes))


def inverse(permutation: tuple[int, ...]) -> tuple[int, ...]:
    """Return the permutation that undoes another."""
    return tuple(sorted(range(len(permutation)), key=permutation.__getitem__))

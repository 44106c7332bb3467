"""Promotion and checks of arguments of special functions.

Arguments broadcast and become floats of one dtype. Whether results for Python numbers
are weak is as in JAX, where it depends on the function.
"""

from collections.abc import Callable
from typing import Any

from imprint._src import dtypes
from imprint._src.core.array import Array
from imprint._src.core.aval import get_aval
from imprint._src.errors import ArgumentError
from imprint._src.numpy.creation import asarray
from imprint._src.numpy.promotion import (
    convert,
    promote,
    promote_dtypes,
    refuse_complex,
)
from imprint.custom_derivatives import SymbolicZero


def floats(name: str, *args: Any) -> list[Any]:
    """Return real numbers as floats of their common dtype, weak if all of them are.

    Args:
        name: the public function, for errors.
        args: arrays and numbers.
    """
    refuse_complex(name, *args)
    return promote(name, args, dtypes.to_inexact)


def strong_floats(name: str, *args: Any) -> list[Any]:
    """Return real numbers as strong floats of their common dtype."""
    found = floats(name, *args)
    return [convert(name, x, get_aval(x).dtype) for x in found]


def arrays(name: str, *args: Any) -> list[Array]:
    """Return real numbers as arrays of their common float dtype, of any shapes."""
    refuse_complex(name, *args)
    return [asarray(x) for x in promote_dtypes(name, args, dtypes.to_inexact)]


def sum_of_terms(*terms: tuple[Any, Callable[[], Any]]) -> Any:
    """Return the tangent of a rule with symbolic zeros.

    A slope may be infinite where its argument is constant: it takes no part.

    Args:
        terms: for each argument its tangent, and a function that returns the slope.
    """
    moved = [t * slope() for t, slope in terms if not isinstance(t, SymbolicZero)]
    return sum(moved[1:], moved[0]) if moved else terms[0][0]


def concrete_integer(name: str, argument: str, value: Any) -> int:
    """Return an integer that must be concrete."""
    try:
        return value.__index__()
    except (AttributeError, TypeError):
        raise ArgumentError(
            f"{name}: expected an integer {argument} that is known while tracing, got "
            f"{value!r}."
        ) from None

"""Kernels of resizing: what an element weighs at a distance, by the method.

Distances are at least 0, in elements of what is coarser. A kernel is 0 beyond its radius.
"""

import enum
import math
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from imprint._src.core.array_interop import shown
from imprint._src.errors import ArgumentError, did_you_mean
from imprint._src.numpy.elementwise.arithmetic import maximum
from imprint._src.numpy.elementwise.comparison import where
from imprint._src.numpy.elementwise.trigonometric import sin


class ResizeMethod(enum.Enum):
    """How elements between those of an image are made of these."""

    NEAREST = 0
    LINEAR = 1
    LANCZOS3 = 2
    LANCZOS5 = 3
    CUBIC = 4
    CUBIC_PYTORCH = 5
    AREA = 6

    @staticmethod
    def from_string(s: str) -> "ResizeMethod":
        """Return the method of a name.

        Example:
            >>> import imprint
            >>> imprint.image.ResizeMethod.from_string("bilinear").name
            'LINEAR'
        """
        return method_of("ResizeMethod.from_string", s)


_NAMES: Final = {
    "nearest": ResizeMethod.NEAREST,
    "linear": ResizeMethod.LINEAR,
    "bilinear": ResizeMethod.LINEAR,
    "trilinear": ResizeMethod.LINEAR,
    "triangle": ResizeMethod.LINEAR,
    "lanczos3": ResizeMethod.LANCZOS3,
    "lanczos5": ResizeMethod.LANCZOS5,
    "cubic": ResizeMethod.CUBIC,
    "bicubic": ResizeMethod.CUBIC,
    "tricubic": ResizeMethod.CUBIC,
    "cubic-pytorch": ResizeMethod.CUBIC_PYTORCH,
    "bicubic-pytorch": ResizeMethod.CUBIC_PYTORCH,
    "area": ResizeMethod.AREA,
}


def method_of(name: str, given: Any) -> ResizeMethod:
    """Return the method that the function `name` was given, itself or by its name."""
    if isinstance(given, ResizeMethod):
        return given
    if isinstance(given, str) and given in _NAMES:
        return _NAMES[given]
    raise ArgumentError(
        f"{name}: expected method to be a ResizeMethod or one of {list(_NAMES)}, got "
        f"{shown(given)}.{did_you_mean(str(given), _NAMES)}"
    )


class Kernel(NamedTuple):
    """A function of distances, and beyond which it is 0."""

    radius: int
    weigh: Callable[[Any], Any]


def _triangle(x: Any) -> Any:
    return maximum(0, 1 - abs(x))


def _lanczos(radius: float) -> Callable[[Any], Any]:
    def weigh(x: Any) -> Any:
        wave = radius * sin(math.pi * x) * sin(math.pi * x / radius)
        square = where(x != 0, math.pi**2 * x**2, 1)
        return where(x > radius, 0.0, where(x > 1e-3, wave / square, 1))

    return weigh


def _cubic(a: float) -> Callable[[Any], Any]:
    """Return the cubic of Keys, whose slope is `a` at distance 1."""

    def weigh(x: Any) -> Any:
        near = ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0
        far = ((a * x - 5.0 * a) * x + 8.0 * a) * x - 4.0 * a
        return where(x >= 2.0, 0.0, where(x >= 1.0, far, near))

    return weigh


KERNELS: Final = {
    ResizeMethod.LINEAR: Kernel(1, _triangle),
    ResizeMethod.LANCZOS3: Kernel(3, _lanczos(3.0)),
    ResizeMethod.LANCZOS5: Kernel(5, _lanczos(5.0)),
    ResizeMethod.CUBIC: Kernel(2, _cubic(-0.5)),
    ResizeMethod.CUBIC_PYTORCH: Kernel(2, _cubic(-0.75)),
}
"""The kernel of each method that has one."""

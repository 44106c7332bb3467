"""Elementwise functions of two operands, as in `jax.lax`.

Operands of one rank broadcast along axes of length 1. The primitives accept only equal
shapes or rank 0, which keeps them simple; dtypes must be equal in both.
"""

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from imprint._src.core import dims
from imprint._src.core.aval import get_aval
from imprint._src.core.functions import wraps
from imprint._src.primitives import core_ops
from imprint._src.primitives.elementwise import (
    arithmetic,
    bitwise,
    comparison,
    power,
    trigonometric,
)
from imprint._src.primitives.elementwise import complex as complexes

Binary: TypeAlias = Callable[[Any, Any], Any]


def _repeating(name: str, function: Binary) -> Binary:
    """Return a function that broadcasts operands along axes of length 1."""

    @wraps(function)
    def apply(x: Any, y: Any) -> Any:
        a, b = get_aval(x).shape, get_aval(y).shape
        if len(a) == len(b) and not dims.is_same_shape(a, b):
            shape = dims.broadcast_shapes((a, b))
            if shape is not None:  # else the primitive raises
                axes = tuple(range(len(shape)))
                x = core_ops.broadcast_in_dim(x, shape, axes)
                y = core_ops.broadcast_in_dim(y, shape, axes)
        return function(x, y)

    apply.__name__ = apply.__qualname__ = name
    apply.__module__ = __name__  # for pickle
    return apply


add: Final = _repeating("add", core_ops.add)
atan2: Final = _repeating("atan2", trigonometric.atan2)
bitwise_and: Final = _repeating("bitwise_and", bitwise.and_)
bitwise_or: Final = _repeating("bitwise_or", bitwise.or_)
bitwise_xor: Final = _repeating("bitwise_xor", bitwise.xor)
complex: Final = _repeating("complex", complexes.complex_)
div: Final = _repeating("div", arithmetic.div)
eq: Final = _repeating("eq", comparison.eq)
ge: Final = _repeating("ge", comparison.ge)
gt: Final = _repeating("gt", comparison.gt)
le: Final = _repeating("le", comparison.le)
lt: Final = _repeating("lt", comparison.lt)
max: Final = _repeating("max", arithmetic.max_)
min: Final = _repeating("min", arithmetic.min_)
mul: Final = _repeating("mul", core_ops.mul)
ne: Final = _repeating("ne", comparison.ne)
nextafter: Final = _repeating("nextafter", arithmetic.nextafter)
pow: Final = _repeating("pow", power.pow_)
rem: Final = _repeating("rem", arithmetic.rem)
shift_left: Final = _repeating("shift_left", bitwise.shift_left)
shift_right_arithmetic: Final = _repeating(
    "shift_right_arithmetic", bitwise.shift_right_arithmetic
)
shift_right_logical: Final = _repeating(
    "shift_right_logical", bitwise.shift_right_logical
)
sub: Final = _repeating("sub", core_ops.sub)

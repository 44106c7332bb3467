"""The length of the hypotenuse, and its direction, elementwise.

Both are computed relative to the longer operand, so that no square over- or underflows. The
direction, `x / hypot(x, y)`, is the derivative of the length, and its own derivative
is a product of directions: nothing cancels. At the origin it is 1/2, by convention.
"""

from typing import Any, Final

import numpy as np

from imprint._src.core.fusion import DIVISION
from imprint._src.core.primitive import Primitive, Samples
from imprint._src.primitives.core_ops import FLOATS, mul, neg
from imprint._src.primitives.elementwise.arithmetic import div
from imprint._src.primitives.families import FLOATING, Factor, binary
from imprint._src.primitives.special.closed_forms import in_program, on_host


def _scaled(f: Any, x: Any, y: Any) -> tuple[Any, Any, Any]:
    """Return the longer operand's magnitude, and both operands relative to it."""
    size, other = f.abs(x), f.abs(y)
    longer = f.where(size > other, size, f.where(other >= size, other, x + y))
    no_end = f.equal(size, np.inf) | f.equal(other, np.inf)
    scale = f.where(no_end | f.equal(longer, 0.0), 1.0, longer)
    x, y = (f.where(no_end, _infinite(f, v), v) / scale for v in (x, y))
    return f.where(no_end, np.inf, longer), x, y


def _infinite(f: Any, x: Any) -> Any:
    """Return the sign of an infinity, and 0 for other numbers."""
    return f.where(f.equal(f.abs(x), np.inf), f.sign(x), 0.0)


def _length(f: Any, x: Any, y: Any) -> Any:
    longer, x, y = _scaled(f, x, y)
    return f.where(f.equal(longer, 0.0), longer, longer * f.sqrt(x * x + y * y))


def _direction(f: Any, x: Any, y: Any) -> Any:
    longer, x, y = _scaled(f, x, y)
    at_origin = f.equal(longer, 0.0)
    root = f.sqrt(f.where(at_origin, 1.0, x * x + y * y))
    return f.where(at_origin, 0.5, x / root)


def _formula(name: str, formula: Any, derivatives: tuple[Factor, Factor]) -> Primitive:
    return binary(
        name,
        dtypes=FLOATING,
        reference=lambda x, y: on_host(formula, *np.broadcast_arrays(x, y)),
        lower=lambda b, x, y: in_program(formula, b, x, y),
        fusion=DIVISION,
        makes_nan=False,
        derivatives=derivatives,
        samples=Samples(FLOATS, arity=2, operand_domains=((-4.0, 4.0), (0.5, 4.0))),
    )


def _turn(x: Any, y: Any, part: Any) -> Any:
    """Return how fast a part of the direction turns; no square is formed."""
    return mul(part, div(direction(y, x), hypot(x, y)))


direction_p: Final = _formula(
    "direction",
    _direction,
    (
        lambda x, y, _: _turn(x, y, direction(y, x)),
        lambda x, y, out: neg(_turn(x, y, out)),
    ),
)


def direction(x: Any, y: Any) -> Any:
    """Return `x / hypot(x, y)`, elementwise."""
    return direction_p.bind1(x, y)


hypot_p: Final = _formula(
    "hypot",
    _length,
    (lambda x, y, _: direction(x, y), lambda x, y, _: direction(y, x)),
)


def hypot(x: Any, y: Any) -> Any:
    """Return `sqrt(x * x + y * y)`, elementwise."""
    return hypot_p.bind1(x, y)

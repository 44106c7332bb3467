"""The width of vectors that suits a program.

A CPU with AVX-512 has vectors of 512 bits, of which XLA uses half. An operation with
vector code is up to twice as fast with all of them. Without vector code each lane is a
scalar call, and more lanes make machine code that is larger, slower, and twice as slow to
compile. So costs are added: each equation has the time that wide vectors cost (or save, if
negative) for an element of its result, and each argument and result has its own cost, as
memory is no faster. The figures are measured, see below. `compiler_options` of the user
take precedence.
"""

from typing import Final, NamedTuple

from imprint._src import dtypes
from imprint._src.core.jaxpr import ClosedJaxpr, Eqn, Jaxpr
from imprint._src.runtime import CompileOptions, has_wide_vectors

_WIDE: Final = CompileOptions.of({"xla_cpu_prefer_vector_width": 512})
_DEFAULT: Final = CompileOptions()


def preferred_options(jaxpr: Jaxpr) -> CompileOptions:
    """Return the options of XLA that suit a program on this CPU."""
    return _WIDE if has_wide_vectors() and gains_from_width(jaxpr) else _DEFAULT


def gains_from_width(jaxpr: Jaxpr) -> bool:
    """Return whether vectors of 512 bits make a program faster than those of 256."""
    moved = sum(v.aval.size for v in (*jaxpr.invars, *jaxpr.outvars))
    tally = _count(jaxpr, {})
    return (
        _MOVED * moved + tally.time < 0
        and tally.scalar <= _MOST_SCALAR
        and tally.equations <= _MOST_EQUATIONS
    )


class _Tally(NamedTuple):
    """The costs of a jaxpr.

    Args:
        time: picoseconds that wide vectors cost its equations.
        scalar: the number of equations of several elements that become scalar calls.
        equations: their number; those of a body count for each of its calls.
    """

    time: int
    scalar: int
    equations: int


def _count(jaxpr: Jaxpr, bodies: dict[ClosedJaxpr, _Tally]) -> _Tally:
    time = scalar = 0
    equations = len(jaxpr.eqns)
    for eqn in jaxpr.eqns:
        cost = _cost(eqn)
        if cost:  # it is elementwise: its result has every element
            size = eqn.outvars[0].aval.size
            time += cost * size
            scalar += cost > 0 and size > 1
    for body in jaxpr.bodies:
        if body not in bodies:
            bodies[body] = _count(body.jaxpr, bodies)
        inner = bodies[body]
        time += inner.time
        scalar += inner.scalar
        equations += inner.equations
    return _Tally(time, scalar, equations)


def _cost(eqn: Eqn) -> int:
    """Return picoseconds an element."""
    name = eqn.primitive.name
    if name in _ARITHMETIC:
        return _COST_OF_ARITHMETIC
    costs = _COSTS.get(name)
    if costs is None:
        return 0
    column = _COLUMNS.get(eqn.invars[0].aval.dtype)
    return 0 if column is None else costs[column]


# ---- the figures ----
#
# Picoseconds an element that a width of 512 costs over one of 256: on a Xeon of 2.6 GHz
# with AMX, one thread, the worse of jaxlib 0.10.2 and 0.12. A negative cost is a gain.

_MOVED: Final = 20  # `maximum(x, 0)` of 100,000 floats: 13.6 µs become 14.8
_COST_OF_ARITHMETIC: Final = -4  # 10 equations: no change; 16: 21.2 µs become 15.9
_MOST_SCALAR: Final = 3  # sin: 4 compile no slower, 10 by 17 %, 100 by 77 %
_MOST_EQUATIONS: Final = 3_000  # 9,000 compile 9 to 20 % slower, run up to 5 % faster
_COLUMNS: Final = {dtypes.float32: 0, dtypes.float64: 1}  # the rest does not change
_COSTS: Final = {
    # `p(x) * x + 1` of 100,000 elements, less the cost without `p`; unlisted: below 5 %.
    "acos": (1270, 2280),
    "acosh": (0, 1790),
    "asin": (1500, 2960),
    "asinh": (0, 3600),
    "atan2": (1350, 1960),
    "atanh": (0, 5000),
    "cos": (870, 1190),
    "cosh": (-350, -780),
    "digamma": (1000, 6300),
    "erf": (-90, 0),
    "erf_inv": (0, -590),
    "erfc": (-310, -360),
    "exp": (-180, -400),
    "exp2": (800, 1240),
    "expm1": (-240, -570),
    "lgamma": (0, 4200),
    "log": (-110, 900),
    "log1p": (0, 2300),
    "logistic": (-145, -265),
    "pow": (1120, 3500),
    "rem": (650, 650),
    "rsqrt": (-65, -110),
    "sin": (1190, 1150),
    "sinh": (-490, -1220),
    "tan": (2000, 1660),
    "tanh": (-65, -290),
}
_ARITHMETIC: Final = frozenset(
    {
        *("abs", "add", "and", "ceil", "clamp", "convert_element_type", "div", "eq"),
        *("floor", "ge", "gt", "integer_pow", "is_finite", "le", "lt", "max", "min"),
        *("mul", "ne", "neg", "not", "or", "round", "select_n", "shift_left"),
        *("shift_right_arithmetic", "shift_right_logical", "sign", "sqrt", "square"),
        *("sub", "xor"),
    }
)

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
    fusion = eqn.primitive.fusion
    if fusion is None:
        return 0
    wide = fusion.wide
    if isinstance(wide, int):
        return wide
    column = _COLUMNS.get(eqn.invars[0].aval.dtype)
    return 0 if column is None else wide[column]


# ---- the figures ----
#
# Picoseconds an element that a width of 512 costs over one of 256: on a Xeon of 2.6 GHz
# with AMX, one thread, the worse of jaxlib 0.10.2 and 0.12. A negative cost is a gain.
# Those of an operation are a field of its primitive (`Fusion.wide`): `p(x) * x + 1` of
# 100,000 elements, less the cost without `p`, and 0 below 5 %.

_MOVED: Final = 20  # `maximum(x, 0)` of 100,000 floats: 13.6 µs become 14.8
_MOST_SCALAR: Final = 3  # sin: 4 compile no slower, 10 by 17 %, 100 by 77 %
_MOST_EQUATIONS: Final = 3_000  # 9,000 compile 9 to 20 % slower, run up to 5 % faster
_COLUMNS: Final = {dtypes.float32: 0, dtypes.float64: 1}  # the rest does not change

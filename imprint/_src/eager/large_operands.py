"""Eager operations on large operands: which run as programs, like compiled functions.

A reference is one function of NumPy, in one thread, and most of those of one number are
scalar code. For a function of several primitives each writes a large array. A program
takes ten milliseconds to compile, once for the shapes, and is on the disk for the next
process. The decision rests on shapes and primitives only, so equal calls give equal bits.
"""

from collections.abc import Iterable
from typing import Final

from imprint._src.core.jaxpr import Eqn
from imprint._src.core.primitive import Primitive, ThreadedPrimitive
from imprint._src.dtypes import is_inexact

FEWEST: Final = 1 << 12
"""Elements of the first operand up to which no primitive runs as a program for its cost."""
LARGE: Final = 1 << 13
"""Elements of an argument from which on a function may run as a program."""
_LONG: Final = 150_000.0
"""Nanoseconds of NumPy that are worth a program: ten times its call."""
_PASS: Final = 0.4
"""Nanoseconds an element of a reference that is one loop over memory."""

_BY_TIME: Final = {
    0.6: "max min",
    1.0: "reduce_prod sign population_count",
    1.4: "shift_left shift_right_arithmetic shift_right_logical",
    2.5: "exp exp2 tanh logistic log log2 mulhi",
    5.0: "acosh clz erf erfc nextafter",
    20.0: "acos asin atan atan2 expm1 log1p tan ndtri",
    40.0: "asinh atanh cbrt cosh dawsn erfcx log_ndtr sinh spence",
    80.0: "bessel_i0e bessel_i1e digamma direction erf_inv hypot",
    200.0: "exp1 expi igamma owens_t",
    1000.0: "igamma_grad_a igammac random_gamma_grad",
}
NANOSECONDS: Final = {
    name: time for time, names in _BY_TIME.items() for name in names.split()
}
"""Nanoseconds an element of references that take 1.5 to 100 times as long as a program,
at a million elements of float32 or int32. Of sin, cos, pow, lgamma and others it is less."""

_A_RESULT: Final = {"gather": 3.0, "searchsorted": 30.0}
"""Nanoseconds a result of references whose first operand does not tell their time."""

_UNFUSED: Final = {"iota": 0.5, "scatter-add": 5.0, **_A_RESULT}
"""Nanoseconds a result of references that XLA does not fuse, in a function of others."""

_FLUSHING: Final = frozenset({"add", "sub", "mul", "div"})
"""Arithmetic that takes subnormal floats for 0 in a program."""


def program_pays(primitive: Primitive, size: int, results: int) -> bool:
    """Return whether one primitive takes less time as a program.

    Args:
        primitive: the primitive.
        size: the elements of its first operand.
        results: the elements of its first result.
    """
    name = primitive.name
    nanoseconds = NANOSECONDS.get(name, 0.0) * size + _A_RESULT.get(name, 0.0) * results
    return nanoseconds >= _LONG


def function_pays(equations: Iterable[Eqn]) -> bool:
    """Return whether a function of primitives takes less time as one program.

    It does if it has several loops over much memory, or one of a slow reference, and
    nothing that NumPy may do faster, such as sorting. XLA reduces combinations of slices
    by scalar code, so a function with slices and a reduction does not. Nor does one of
    bits and of arithmetic of floats: programs flush subnormal numbers.

    Args:
        equations: the equations of the function, and of functions that it calls.
    """
    nanoseconds, loops, is_slow = 0.0, 0, False
    has_slice = has_reduction = has_bits = has_arithmetic = False
    for eqn in equations:
        size = max([v.aval.size for v in (*eqn.invars, *eqn.outvars)], default=0)
        if size < LARGE:
            continue
        name, fusion = eqn.primitive.name, eqn.primitive.fusion
        loops += 1
        has_slice |= name == "slice"
        has_reduction |= fusion is not None and fusion.reduces
        has_bits |= name == "bitcast_convert_type"
        has_arithmetic |= name in _FLUSHING and is_inexact(eqn.outvars[0].aval.dtype)
        if name in NANOSECONDS:
            is_slow = True
            nanoseconds += NANOSECONDS[name] * size
        elif name in _UNFUSED:
            nanoseconds += _UNFUSED[name] * eqn.outvars[0].aval.size
        elif type(eqn.primitive) is ThreadedPrimitive:
            nanoseconds += _PASS * size
        elif fusion is None:
            return False
        elif fusion.work >= 1.0 or fusion.is_expensive:
            nanoseconds += _PASS * size
        else:
            loops -= 1
    if (has_slice and has_reduction) or (has_bits and has_arithmetic):
        return False
    return nanoseconds >= _LONG and (is_slow or loops > 1)

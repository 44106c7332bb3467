"""The functions of the sweeps: each primitive and each public function, by introspection.

`functions` finds what is elementwise in one or two float arrays, once for each program;
`grid` are their arguments: powers of ten to the ends of a dtype, branch points, NaN.
"""

from functools import cache
from types import ModuleType

import ml_dtypes
import numpy as np

import imprint
import imprint.lax
import imprint.nn
import imprint.numpy
import imprint.scipy.special
from imprint import dtypes
from imprint._src.config import enable_x64
from imprint._src.core.primitive import Absent
from imprint._src.primitives import ALL

PUBLIC = (imprint.numpy, imprint.lax, imprint.nn, imprint.scipy.special)

# ---- functions ----


class Function:
    """An elementwise function, with its program on float64 scalars.

    Attributes:
        name: of a primitive (`sin_p`), or with its module (`numpy.sinc`).
        call: the function.
        arity: how many arrays it takes, one or two.
        program: its jaxpr on scalars of float64.
    """

    def __init__(self, name, call, arity, program):
        self.name, self.call, self.arity, self.program = name, call, arity, program

    def __repr__(self):
        return self.name

    def takes(self, dtype):
        """Return whether it computes arrays of a dtype."""
        try:
            out = self.call(*[np.ones(2, dtype)] * self.arity)
        except (TypeError, imprint.errors.DTypeError):
            return False
        return dtypes.is_inexact(out.dtype)


@cache
def functions():
    """Return the functions of one or two arrays that have different programs."""
    found = {}
    with enable_x64(True), np.errstate(all="ignore"):
        for name, call, arities in _candidates():
            for arity in arities:
                if not _is_elementwise(call, arity):
                    continue
                program = _program(call, arity)
                if program is not None:
                    found.setdefault(str(program), Function(name, call, arity, program))
                    break
    return tuple(found.values())


def _candidates():
    for module in PUBLIC:
        short = module.__name__.removeprefix("imprint.")
        for name in sorted(dir(module)):
            value = getattr(module, name)
            is_function = callable(value) and not isinstance(value, type | ModuleType)
            if is_function and not name.startswith("_"):
                yield f"{short}.{name}", value, (1, 2)
    for p in ALL:
        if not isinstance(p.samples, Absent) and p.samples.arity in (1, 2):
            yield f"{p.name}_p", _bound(p), (p.samples.arity,)


def _bound(primitive):
    return lambda *xs: primitive.bind1(*xs)


def _is_elementwise(call, arity):
    """Return whether the result for some elements is that for them alone."""
    drawn = [np.array([0.3, -0.6, 0.9, 0.8], np.float32) - i / 8 for i in range(arity)]
    try:
        out = np.asarray(call(*drawn))
        part = np.asarray(call(*[x[[3, 1]] for x in drawn]))
        square = np.asarray(call(*[x.reshape(2, 2) for x in drawn]))
    except Exception:
        return False
    if not dtypes.is_inexact(out.dtype) or out.shape != (4,):
        return False
    pairs = ((out[[3, 1]], part), (out.reshape(2, 2), square))
    return all(
        a.shape == b.shape and np.allclose(a, b, 1e-2, 1e-3, equal_nan=True)
        for a, b in pairs
    )


def _program(call, arity):
    try:
        closed = imprint.make_jaxpr(call)(*[np.float64(0.4)] * arity)
    except Exception:
        return None
    (out,) = closed.out_avals if len(closed.out_avals) == 1 else (None,)
    used = {v for eqn in closed.jaxpr.eqns for v in eqn.invars}
    is_constant = not used & set(closed.jaxpr.invars)
    if out is None or out.shape or is_constant or not dtypes.is_inexact(out.dtype):
        return None
    return closed


# ---- arguments ----

BRANCH_POINTS = (0.25, 0.5, 0.75, 1, 1.5, 2, 2.5, 3, 5, 8, 10.5, 17, 40, 88)
SPECIAL = (0.0, -0.0, np.inf, -np.inf, np.nan)


def grid(dtype, step=1):
    """Return arguments: plus and minus powers of ten, and numbers near branch points."""
    info = ml_dtypes.finfo(dtype)
    low, high = (int(np.log10(float(x))) for x in (info.smallest_normal, info.max))
    tens = [10.0**k for k in range(low + 1, high + 1, step)]
    near = [b * (1 + s * float(info.eps)) for b in BRANCH_POINTS[1::2] for s in (-2, 2)]
    positive = [*tens, *BRANCH_POINTS, *near]
    positive += [1 + 1e-5, 2 + 1e-5, np.pi / 2, 0.99, 1.01]
    # In the least precise dtype, so that all dtypes compute at the same places.
    values = sorted({float(np.asarray(x, dtype)) for x in positive})
    return np.array([-x for x in reversed(values)] + [0.0] + values, np.float64)


def pairs(dtype, step=6):
    """Return pairs of arguments, as two arrays."""
    info = ml_dtypes.finfo(dtype)
    low, high = (int(np.log10(float(x))) for x in (info.smallest_normal, info.max))
    tens = [10.0**k for k in (*range(low + 1, -2, step), -1, 3, *range(6, high, step))]
    values = [*tens, 0.5, 1, 2, 3.25, 17, 10.0**high]
    both = np.array([-x for x in values[::2]] + [0.0] + values, np.float64)
    both = both.astype(dtype).astype(np.float64)
    x, y = np.meshgrid(both, both)
    return x.ravel(), y.ravel()


def named(name):
    """Return the public function of this name, without a search."""
    module, _, last = name.rpartition(".")
    module = next(m for m in PUBLIC if m.__name__ == f"imprint.{module}")
    call = getattr(module, last)
    with enable_x64(True):
        arity = next(n for n in (1, 2) if _is_elementwise(call, n))
        return Function(name, call, arity, _program(call, arity))

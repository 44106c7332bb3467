"""Formulas that are written once, for NumPy and for StableHLO.

A formula is a function of a `HostMath` or a `BuilderMath`, which has the functions, and of its
operands, which have the operators. On the host it is computed in float64; in a program in
the dtype of its operands, but 16 bits in 32. `loop` repeats a step until no element goes on.
"""

from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from typing import Any, Final, cast

import numpy as np

from imprint._src import dtypes as dt
from imprint._src.stablehlo import Builder, Value
from imprint._src.stablehlo.builder import Comparison

Formula = Callable[..., Any]
Step = Callable[..., tuple[Any, ...]]


@cache
def scipy_special() -> Any:
    """Return `scipy.special`, which takes 0.2 s to load."""
    return import_module("scipy.special")


def on_host(formula: Formula, *operands: Any) -> Any:
    """Compute a formula of NumPy arrays, in float64, and round once."""
    wide = [np.asarray(x, np.float64) for x in operands]
    return np.asarray(formula(HostMath(), *wide)).astype(operands[0].dtype)


def in_program(formula: Formula, b: Builder, *operands: Value) -> Value:
    """Write a formula of values of one shape."""
    dtype = operands[0].dtype
    short = dtype.itemsize < 4
    if short:
        operands = tuple(b.convert(x, np.float32) for x in operands)
    f = BuilderMath(b, operands[0])
    out: Value = formula(f, *[Term(f, x) for x in operands]).value
    return b.convert(out, dtype) if short else out


@cache
def _lgamma_series(eps: float) -> list[float]:
    """Return the coefficients of the log of gamma at 2 from the first power on.

    DLMF 5.7.3; up to a half from 2 they are as precise as a dtype of this `eps`.
    """
    terms = [1 - np.euler_gamma]
    while abs(terms[-1]) * 0.5 ** len(terms) > eps / 16:
        k = len(terms) + 1
        terms.append((-1) ** k * float(scipy_special().zeta(k, 2)) / k)
    return terms


class HostMath:
    """The functions of formulas, on NumPy arrays."""

    eps: Final = float(np.finfo(np.float64).eps)
    tiny: Final = float(np.finfo(np.float64).tiny)
    abs: Final = staticmethod(np.abs)
    cos: Final = staticmethod(np.cos)
    equal: Final = staticmethod(np.equal)
    exp: Final = staticmethod(np.exp)
    floor: Final = staticmethod(np.floor)
    log: Final = staticmethod(np.log)
    log1p: Final = staticmethod(np.log1p)
    minimum: Final = staticmethod(np.minimum)
    sign: Final = staticmethod(np.sign)
    sin: Final = staticmethod(np.sin)
    sqrt: Final = staticmethod(np.sqrt)
    where: Final = staticmethod(np.where)

    def digamma(self, x: Any) -> Any:
        """Return the derivative of `lgamma`."""
        return scipy_special().psi(x)

    def erfc(self, x: Any) -> Any:
        """Return 1 less the error function."""
        return scipy_special().erfc(x)

    def lgamma(self, x: Any) -> Any:
        """Return the logarithm of the gamma function."""
        return scipy_special().gammaln(x)

    def loop(self, limit: int, step: Step, *carry: Any) -> Sequence[Any]:
        """Repeat `step(n, *carry)`, n = 1, 2, …, which returns which elements go on and a carry."""
        held: Sequence[Any] = carry
        for n in range(1, limit + 1):
            going, *held = step(float(n), *held)
            if not np.any(going):
                break
        return held


class BuilderMath:
    """The functions of formulas, on terms; `b` is the current builder."""

    def __init__(self, b: Builder, like: Value) -> None:
        self.b: Builder = b
        self.like: Value = like
        info = cast("Any", dt.finfo(like.dtype))
        self.eps: float = float(info.eps)
        self.tiny: float = float(info.tiny)

    def term(self, x: Any) -> "Term":
        """Return a number or a term as a term."""
        if isinstance(x, Term):
            return x
        return Term(self, self.b.full(self.like.shape, x, self.like.dtype))

    def abs(self, x: "Term") -> "Term":
        """Return the magnitude."""
        return Term(self, self.b.abs(x.value))

    def cos(self, x: "Term") -> "Term":
        """Return the cosine."""
        return Term(self, self.b.cosine(x.value))

    def digamma(self, x: "Term") -> "Term":
        """Return the derivative of `lgamma`."""
        return Term(self, self.b.digamma(x.value))

    def erfc(self, x: "Term") -> "Term":
        """Return 1 less the error function."""
        return Term(self, self.b.erfc(x.value))

    def exp(self, x: "Term") -> "Term":
        """Return the exponential."""
        return Term(self, self.b.exponential(x.value))

    def floor(self, x: "Term") -> "Term":
        """Return the largest whole number that is not above."""
        return Term(self, self.b.floor(x.value))

    def lgamma(self, x: "Term") -> "Term":
        """Return the logarithm of the gamma function, precisely also near 1 and 2."""
        first = self.where(x < 1.5, 1.0, 2.0)
        rest = x - first
        near = (x > 0.5) & (x < 2.5)
        z = self.where(near, rest, 0.0)
        total: Any = 0.0
        for c in reversed(_lgamma_series(self.eps)):
            total = total * z + c
        series = total * z - self.where(x < 1.5, self.log1p(z), 0.0)
        return self.where(near, series, Term(self, self.b.lgamma(x.value)))

    def log(self, x: "Term") -> "Term":
        """Return the logarithm."""
        return Term(self, self.b.log(x.value))

    def log1p(self, x: "Term") -> "Term":
        """Return the logarithm of 1 + x."""
        return Term(self, self.b.log_plus_one(x.value))

    def sign(self, x: "Term") -> "Term":
        """Return the sign."""
        return Term(self, self.b.sign(x.value))

    def sin(self, x: "Term") -> "Term":
        """Return the sine."""
        return Term(self, self.b.sine(x.value))

    def sqrt(self, x: "Term") -> "Term":
        """Return the root."""
        return Term(self, self.b.sqrt(x.value))

    def equal(self, x: "Term", y: Any) -> "Term":
        """Return where two are equal."""
        return x.compared(y, "EQ")

    def minimum(self, x: "Term", y: Any) -> "Term":
        """Return the smaller one."""
        return Term(self, self.b.minimum(x.value, self.term(y).value))

    def where(self, which: "Term", x: Any, y: Any) -> "Term":
        """Return `x` where a condition holds, else `y`."""
        first, second = self.term(x).value, self.term(y).value
        return Term(self, self.b.select(which.value, first, second))

    def loop(self, limit: int, step: Step, *carry: Any) -> Sequence[Any]:
        """Repeat `step(n, *carry)`, n = 1, 2, …, which returns which elements go on and a carry."""
        outside, shape, dtype = self.b, self.like.shape, self.like.dtype

        def condition(b: Builder, values: tuple[Value, ...]) -> tuple[Value, ...]:
            remain = b.compare(values[0], b.constant(limit, dtype), "LT")
            return (b.and_(remain, values[1]),)

        def body(b: Builder, values: tuple[Value, ...]) -> tuple[Value, ...]:
            self.b = b
            n = b.add(values[0], b.constant(1, dtype))
            number = Term(self, b.broadcast_in_dim(n, shape, ()))
            going, *held = step(number, *[Term(self, x) for x in values[2:]])
            nobody = b.constant(array=False)
            some = b.reduce(going.value, nobody, "or", tuple(range(len(shape))))
            self.b = outside
            return (n, some, *[x.value for x in held])

        first = [self.term(x).value for x in carry]
        counter, go = self.b.constant(0, dtype), self.b.constant(array=True)
        values = self.b.while_loop((counter, go, *first), condition, body)
        return [Term(self, x) for x in values[2:]]


class Term:
    """A value of a program with Python's operators; numbers become constants."""

    __slots__ = ("f", "value")

    def __init__(self, f: BuilderMath, value: Value) -> None:
        self.f: BuilderMath = f
        self.value: Value = value

    def compared(self, other: Any, direction: Comparison) -> "Term":
        """Return how it compares with a term or a number."""
        y = self.f.term(other).value
        return Term(self.f, self.f.b.compare(self.value, y, direction))

    def __add__(self, other: Any) -> "Term":
        return Term(self.f, self.f.b.add(self.value, self.f.term(other).value))

    def __radd__(self, other: Any) -> "Term":
        return Term(self.f, self.f.b.add(self.f.term(other).value, self.value))

    def __sub__(self, other: Any) -> "Term":
        return Term(self.f, self.f.b.subtract(self.value, self.f.term(other).value))

    def __rsub__(self, other: Any) -> "Term":
        return Term(self.f, self.f.b.subtract(self.f.term(other).value, self.value))

    def __mul__(self, other: Any) -> "Term":
        return Term(self.f, self.f.b.multiply(self.value, self.f.term(other).value))

    def __rmul__(self, other: Any) -> "Term":
        return Term(self.f, self.f.b.multiply(self.f.term(other).value, self.value))

    def __truediv__(self, other: Any) -> "Term":
        return Term(self.f, self.f.b.divide(self.value, self.f.term(other).value))

    def __rtruediv__(self, other: Any) -> "Term":
        return Term(self.f, self.f.b.divide(self.f.term(other).value, self.value))

    def __neg__(self) -> "Term":
        return Term(self.f, self.f.b.negate(self.value))

    def __lt__(self, other: Any) -> "Term":
        return self.compared(other, "LT")

    def __le__(self, other: Any) -> "Term":
        return self.compared(other, "LE")

    def __gt__(self, other: Any) -> "Term":
        return self.compared(other, "GT")

    def __ge__(self, other: Any) -> "Term":
        return self.compared(other, "GE")

    def __and__(self, other: "Term") -> "Term":
        return Term(self.f, self.f.b.and_(self.value, other.value))

    def __or__(self, other: "Term") -> "Term":
        return Term(self.f, self.f.b.or_(self.value, other.value))

    def __invert__(self) -> "Term":
        return Term(self.f, self.f.b.not_(self.value))

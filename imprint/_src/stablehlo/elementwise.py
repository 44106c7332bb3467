"""Elementwise operations of StableHLO and CHLO, one short method each.

CHLO is StableHLO's companion for functions that the engine expands itself (`erf_inv`,
`lgamma`); the parser takes both. Operands of a binary method have one type. Comparison and
choice are among them.
"""

from abc import abstractmethod
from typing import Literal

import numpy as np

from imprint._src.stablehlo.types import TensorType, Value, signature, tensor

Comparison = Literal["EQ", "NE", "LT", "LE", "GT", "GE"]

_BOOL = np.dtype(bool)


class Elementwise:
    """The elementwise part of `Builder`."""

    @abstractmethod
    def op(self, text: str, result: TensorType, signature: str | None = None) -> Value:
        """Append one operation; see `Builder`."""

    def unary(self, name: str, x: Value) -> Value:
        """Append `name x`, result of the operand's type."""
        return self.op(f"{name} {x.name}", x.type)

    def binary(self, name: str, x: Value, y: Value) -> Value:
        """Append `name x, y`, all of one type."""
        return self.op(f"{name} {x.name}, {y.name}", x.type)

    def abs(self, x: Value) -> Value:
        """`stablehlo.abs`: real also for a complex operand."""
        if x.dtype.kind == "c":
            return self._part("stablehlo.abs", x)
        return self.unary("stablehlo.abs", x)

    def cbrt(self, x: Value) -> Value:
        """`stablehlo.cbrt`."""
        return self.unary("stablehlo.cbrt", x)

    def ceil(self, x: Value) -> Value:
        """`stablehlo.ceil`."""
        return self.unary("stablehlo.ceil", x)

    def cosine(self, x: Value) -> Value:
        """`stablehlo.cosine`."""
        return self.unary("stablehlo.cosine", x)

    def count_leading_zeros(self, x: Value) -> Value:
        """`stablehlo.count_leading_zeros`."""
        return self.unary("stablehlo.count_leading_zeros", x)

    def exponential(self, x: Value) -> Value:
        """`stablehlo.exponential`."""
        return self.unary("stablehlo.exponential", x)

    def exponential_minus_one(self, x: Value) -> Value:
        """`stablehlo.exponential_minus_one`."""
        return self.unary("stablehlo.exponential_minus_one", x)

    def floor(self, x: Value) -> Value:
        """`stablehlo.floor`."""
        return self.unary("stablehlo.floor", x)

    def log(self, x: Value) -> Value:
        """`stablehlo.log`."""
        return self.unary("stablehlo.log", x)

    def log_plus_one(self, x: Value) -> Value:
        """`stablehlo.log_plus_one`."""
        return self.unary("stablehlo.log_plus_one", x)

    def logistic(self, x: Value) -> Value:
        """`stablehlo.logistic`."""
        return self.unary("stablehlo.logistic", x)

    def negate(self, x: Value) -> Value:
        """`stablehlo.negate`."""
        return self.unary("stablehlo.negate", x)

    def not_(self, x: Value) -> Value:
        """`stablehlo.not`."""
        return self.unary("stablehlo.not", x)

    def popcnt(self, x: Value) -> Value:
        """`stablehlo.popcnt`."""
        return self.unary("stablehlo.popcnt", x)

    def round_nearest_even(self, x: Value) -> Value:
        """`stablehlo.round_nearest_even`."""
        return self.unary("stablehlo.round_nearest_even", x)

    def round_nearest_afz(self, x: Value) -> Value:
        """`stablehlo.round_nearest_afz`."""
        return self.unary("stablehlo.round_nearest_afz", x)

    def rsqrt(self, x: Value) -> Value:
        """`stablehlo.rsqrt`."""
        return self.unary("stablehlo.rsqrt", x)

    def sign(self, x: Value) -> Value:
        """`stablehlo.sign`."""
        return self.unary("stablehlo.sign", x)

    def sine(self, x: Value) -> Value:
        """`stablehlo.sine`."""
        return self.unary("stablehlo.sine", x)

    def sqrt(self, x: Value) -> Value:
        """`stablehlo.sqrt`."""
        return self.unary("stablehlo.sqrt", x)

    def tan(self, x: Value) -> Value:
        """`stablehlo.tan`."""
        return self.unary("stablehlo.tan", x)

    def tanh(self, x: Value) -> Value:
        """`stablehlo.tanh`."""
        return self.unary("stablehlo.tanh", x)

    def real(self, x: Value) -> Value:
        """`stablehlo.real`: the result is real."""
        return self._part("stablehlo.real", x)

    def imag(self, x: Value) -> Value:
        """`stablehlo.imag`: the result is real."""
        return self._part("stablehlo.imag", x)

    def is_finite(self, x: Value) -> Value:
        """`stablehlo.is_finite`: the result is boolean."""
        out = tensor(x.shape, np.dtype(bool))
        return self.op(f"stablehlo.is_finite {x.name}", out, f"({x.type}) -> {out}")

    def complex(self, real: Value, imag: Value) -> Value:
        """`stablehlo.complex`: join real and imaginary part."""
        dtype = np.dtype(f"c{2 * real.dtype.itemsize}")
        out = tensor(real.shape, dtype)
        return self.op(
            f"stablehlo.complex {real.name}, {imag.name}",
            out,
            f"({real.type}, {imag.type}) -> {out}",
        )

    def acos(self, x: Value) -> Value:
        """`chlo.acos`."""
        return self._chlo("acos", x)

    def acosh(self, x: Value) -> Value:
        """`chlo.acosh`."""
        return self._chlo("acosh", x)

    def asin(self, x: Value) -> Value:
        """`chlo.asin`."""
        return self._chlo("asin", x)

    def asinh(self, x: Value) -> Value:
        """`chlo.asinh`."""
        return self._chlo("asinh", x)

    def atan(self, x: Value) -> Value:
        """`chlo.atan`."""
        return self._chlo("atan", x)

    def atanh(self, x: Value) -> Value:
        """`chlo.atanh`."""
        return self._chlo("atanh", x)

    def cosh(self, x: Value) -> Value:
        """`chlo.cosh`."""
        return self._chlo("cosh", x)

    def sinh(self, x: Value) -> Value:
        """`chlo.sinh`."""
        return self._chlo("sinh", x)

    def bessel_i1e(self, x: Value) -> Value:
        """`chlo.bessel_i1e`."""
        return self._chlo("bessel_i1e", x)

    def digamma(self, x: Value) -> Value:
        """`chlo.digamma`."""
        return self._chlo("digamma", x)

    def erf(self, x: Value) -> Value:
        """`chlo.erf`."""
        return self._chlo("erf", x)

    def erf_inv(self, x: Value) -> Value:
        """`chlo.erf_inv`."""
        return self._chlo("erf_inv", x)

    def erfc(self, x: Value) -> Value:
        """`chlo.erfc`."""
        return self._chlo("erfc", x)

    def lgamma(self, x: Value) -> Value:
        """`chlo.lgamma`."""
        return self._chlo("lgamma", x)

    def add(self, x: Value, y: Value) -> Value:
        """`stablehlo.add`."""
        return self.binary("stablehlo.add", x, y)

    def and_(self, x: Value, y: Value) -> Value:
        """`stablehlo.and`."""
        return self.binary("stablehlo.and", x, y)

    def atan2(self, x: Value, y: Value) -> Value:
        """`stablehlo.atan2`."""
        return self.binary("stablehlo.atan2", x, y)

    def divide(self, x: Value, y: Value) -> Value:
        """`stablehlo.divide`."""
        return self.binary("stablehlo.divide", x, y)

    def maximum(self, x: Value, y: Value) -> Value:
        """`stablehlo.maximum`."""
        return self.binary("stablehlo.maximum", x, y)

    def minimum(self, x: Value, y: Value) -> Value:
        """`stablehlo.minimum`."""
        return self.binary("stablehlo.minimum", x, y)

    def multiply(self, x: Value, y: Value) -> Value:
        """`stablehlo.multiply`."""
        return self.binary("stablehlo.multiply", x, y)

    def or_(self, x: Value, y: Value) -> Value:
        """`stablehlo.or`."""
        return self.binary("stablehlo.or", x, y)

    def power(self, x: Value, y: Value) -> Value:
        """`stablehlo.power`."""
        return self.binary("stablehlo.power", x, y)

    def remainder(self, x: Value, y: Value) -> Value:
        """`stablehlo.remainder`."""
        return self.binary("stablehlo.remainder", x, y)

    def shift_left(self, x: Value, y: Value) -> Value:
        """`stablehlo.shift_left`."""
        return self.binary("stablehlo.shift_left", x, y)

    def shift_right_arithmetic(self, x: Value, y: Value) -> Value:
        """`stablehlo.shift_right_arithmetic`."""
        return self.binary("stablehlo.shift_right_arithmetic", x, y)

    def shift_right_logical(self, x: Value, y: Value) -> Value:
        """`stablehlo.shift_right_logical`."""
        return self.binary("stablehlo.shift_right_logical", x, y)

    def subtract(self, x: Value, y: Value) -> Value:
        """`stablehlo.subtract`."""
        return self.binary("stablehlo.subtract", x, y)

    def xor(self, x: Value, y: Value) -> Value:
        """`stablehlo.xor`."""
        return self.binary("stablehlo.xor", x, y)

    def next_after(self, x: Value, y: Value) -> Value:
        """`chlo.next_after`."""
        return self._chlo_binary("next_after", x, y)

    def polygamma(self, x: Value, y: Value) -> Value:
        """`chlo.polygamma`: derivative number `x` of digamma at `y`."""
        return self._chlo_binary("polygamma", x, y)

    def mulhi(self, x: Value, y: Value) -> Value:
        """`chlo.mulhi`: the upper half of the bits of the product."""
        return self._chlo_binary("mulhi", x, y)

    def zeta(self, x: Value, q: Value) -> Value:
        """`chlo.zeta`."""
        return self._chlo_binary("zeta", x, q)

    def _chlo_binary(self, name: str, x: Value, y: Value) -> Value:
        return self.op(
            f"chlo.{name} {x.name}, {y.name}",
            x.type,
            f"{x.type}, {y.type} -> {x.type}",
        )

    def _chlo(self, name: str, x: Value) -> Value:
        return self.op(f"chlo.{name} {x.name}", x.type, f"{x.type} -> {x.type}")

    # ---- comparison and choice ----

    def compare(
        self, x: Value, y: Value, direction: Comparison, *, total: bool = False
    ) -> Value:
        """Compare elementwise; floats as IEEE says, complex only for equality.

        If `total`, floats compare by their bits: -NaN, -inf, -0.0, 0.0, inf, NaN.
        """
        kind = "TOTALORDER" if total else "FLOAT"
        if x.dtype.kind in "bu" or x.dtype.name.startswith("uint"):
            kind = "UNSIGNED"
        elif x.dtype.kind == "i" or x.dtype.name.startswith("int"):
            kind = "SIGNED"
        out = tensor(x.shape, _BOOL)
        return self.op(
            f"stablehlo.compare {direction}, {x.name}, {y.name}, {kind}",
            out,
            signature((x, y), (out,)),
        )

    def select(self, pred: Value, on_true: Value, on_false: Value) -> Value:
        """Choose elementwise; `pred` has the shape of the others or rank 0."""
        return self.op(
            f"stablehlo.select {pred.name}, {on_true.name}, {on_false.name}",
            on_true.type,
            f"{pred.type}, {on_true.type}",
        )

    def clamp(self, low: Value, x: Value, high: Value) -> Value:
        """Limit `x`; the limits have its shape or rank 0."""
        return self.op(
            f"stablehlo.clamp {low.name}, {x.name}, {high.name}",
            x.type,
            signature((low, x, high), (x.type,)),
        )

    def _part(self, name: str, x: Value) -> Value:
        out = tensor(x.shape, np.dtype(f"f{x.dtype.itemsize // 2}"))
        return self.op(f"{name} {x.name}", out, f"({x.type}) -> {out}")

"""reduce_precision: round floats to fewer bits, and keep their dtype.

The result fits a format with `exponent_bits` and `mantissa_bits`: the mantissa is rounded to
even, too large numbers become infinite, subnormal ones zero with their sign; NaN stays NaN.
The reference does this on the bits, as the engine does. As in JAX, a tangent is rounded like
the value.
"""

from typing import Any, Final, cast

import numpy as np

from imprint._src import dtypes as dt
from imprint._src.core.aval import DType, ShapedArray
from imprint._src.core.fusion import PARTS
from imprint._src.core.padding import ELEMENTWISE
from imprint._src.core.primitive import Avals, Case, Dims, Primitive, Samples, Values
from imprint._src.errors import ArgumentError
from imprint._src.primitives.core_ops import FLOATS
from imprint._src.primitives.families import FLOATING
from imprint._src.stablehlo import Builder, Value

NDArray = np.ndarray[Any, Any]


def _reduce_precision_aval(
    x: ShapedArray, *, exponent_bits: int, mantissa_bits: int
) -> Avals:
    FLOATING.check("reduce_precision", (x,))
    if exponent_bits < 1 or mantissa_bits < 0:
        raise ArgumentError(
            "reduce_precision: expected exponent_bits of at least 1 and mantissa_bits "
            f"of at least 0, got {exponent_bits} and {mantissa_bits}. "
            "float16 has 5 and 10, bfloat16 has 8 and 7."
        )
    return (x,)


def _reduce_precision_reference(
    x: NDArray, *, exponent_bits: int, mantissa_bits: int
) -> Values:
    if x.dtype.itemsize == 1:  # whose formats differ in more than their widths
        wide = x.astype(np.float32 if _format(x.dtype)[1] > 5 else np.float16)
        params = {"exponent_bits": exponent_bits, "mantissa_bits": mantissa_bits}
        return (_reduce_precision_reference(wide, **params)[0].astype(x.dtype),)
    mantissa, exponent = _format(x.dtype)
    dropped = mantissa - mantissa_bits
    bits = x.view(np.dtype(f"u{x.dtype.itemsize}"))
    one = bits.dtype.type(1)
    if dropped > 0:
        last = one << dropped
        is_odd = (bits >> dropped) & one
        bits = (bits + is_odd + ((last >> one) - one)) & ~(last - one)
    if exponent_bits < exponent:
        bits = _limited(bits, exponent, mantissa, exponent_bits)
    return (np.where(np.isnan(x), x, bits.view(x.dtype)),)


def _format(dtype: DType) -> tuple[int, int]:
    """Return how many bits of mantissa and of exponent a float dtype has."""
    info = cast("Any", dt.finfo(dtype))  # it has no types
    return int(info.nmant), int(info.nexp)


def _limited(bits: NDArray, width: int, mantissa: int, exponent_bits: int) -> NDArray:
    """Put infinity and zero where an exponent of `width` bits needs more than given."""
    unsigned = bits.dtype.type
    sign = bits & unsigned(1 << (width + mantissa))
    mask = unsigned(((1 << width) - 1) << mantissa)
    bias, reach = (1 << (width - 1)) - 1, (1 << (exponent_bits - 1)) - 1
    exponent = bits & mask
    bits = np.where(exponent > unsigned((bias + reach) << mantissa), sign | mask, bits)
    return np.where(exponent <= unsigned((bias - reach) << mantissa), sign, bits)


def _reduce_precision_lower(
    b: Builder, x: Value, *, exponent_bits: int, mantissa_bits: int
) -> tuple[Value, ...]:
    return (b.reduce_precision(x, exponent_bits, mantissa_bits),)


def _reduce_precision_jvp(primals: Values, tangents: Values, **params: Any) -> Any:
    return (
        reduce_precision_p.bind_all(*primals, **params),
        reduce_precision_p.bind_all(*tangents, **params),
    )


def _reduce_precision_transpose(cts: Values, operands: Values, **params: Any) -> Values:
    return reduce_precision_p.bind_all(*cts, **params)


def _reduce_precision_batch(args: Values, dims: Dims, **params: Any) -> Any:
    return reduce_precision_p.bind_all(*args, **params), dims


reduce_precision_p: Final = Primitive(
    name="reduce_precision",
    aval=_reduce_precision_aval,
    reference=_reduce_precision_reference,
    lower=_reduce_precision_lower,
    fusion=PARTS,
    makes_nan=False,
    jvp=_reduce_precision_jvp,
    transpose=_reduce_precision_transpose,
    batch=_reduce_precision_batch,
    pad=ELEMENTWISE,
    samples=Samples(
        FLOATS,
        cases=tuple(
            Case(((16,),), {"exponent_bits": exponent, "mantissa_bits": mantissa})
            for exponent, mantissa in ((5, 10), (8, 7), (4, 3), (1, 0), (8, 23))
        ),
        edges=(65504.0, 65520.0, 6.0e-5, 5.9e-8, 1.0 + 2**-8, 1.0 + 3 * 2**-8, 3.4e38),
        conventional=True,
        ulps=0,
    ),
)


def reduce_precision(operand: Any, exponent_bits: int, mantissa_bits: int) -> Any:
    """Round `operand` to a float format of fewer bits, elementwise; its dtype stays.

    Args:
        operand: an array of floats.
        exponent_bits: the bits of the exponent, at least 1; larger numbers become
            infinite.
        mantissa_bits: the bits after the leading one, rounded to nearest, ties to even.

    Returns:
        An array of the same dtype and shape.

    References:
        StableHLO, `reduce_precision`.
    """
    return reduce_precision_p.bind1(
        operand, exponent_bits=exponent_bits, mantissa_bits=mantissa_bits
    )

"""Complex numbers and their parts, elementwise: complex, real, imag, conj.

All are linear, in the sense that their transposes pair by `Re Σ a b`, without conjugation,
as JAX's do: the transpose of `imag` has a minus, that of `conj` is `conj`. `conj` also takes
real operands and returns complex results; its param records the operand's dtype for the
transpose.
"""

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from imprint._src import dtypes as dt
from imprint._src.core.aval import DType, ShapedArray, get_aval
from imprint._src.core.fusion import PARTS
from imprint._src.core.padding import ELEMENTWISE
from imprint._src.core.primitive import Avals, Case, Dims, Primitive, Samples, Values
from imprint._src.core.tangents import UndefinedPrimal
from imprint._src.errors import DTypeError
from imprint._src.primitives.core_ops import (
    COMPLEXES,
    elementwise_batch,
    instantiate,
    neg,
    scalar_like,
    unbroadcast,
)
from imprint._src.primitives.elementwise.elementwise import elementwise_aval, repeated
from imprint._src.primitives.families import COMPLEX, DTypeClass
from imprint._src.stablehlo import Builder, Value

NDArray = np.ndarray[Any, Any]

_PART = DTypeClass(lambda d: d in (dt.float32, dt.float64), "float32 or float64")

# ---- complex ----


def _complex_aval(x: ShapedArray, y: ShapedArray) -> Avals:
    _PART.check("complex", (x, y))
    out = elementwise_aval("complex", (x, y))
    return (out.with_dtype(dt.to_complex(out.dtype), weak_type=out.weak_type),)


def _complex_reference(x: NDArray, y: NDArray) -> Values:
    shape = np.broadcast_shapes(x.shape, y.shape)
    out = np.empty(shape, dt.to_complex(x.dtype))
    out.real, out.imag = x, y
    return (out,)


def _complex_jvp(primals: Values, tangents: Values) -> Any:
    out = complex_(*primals)
    t = complex_(*map(instantiate, tangents))
    return (out,), (t,)


def _complex_transpose(cts: Values, operands: Values) -> Values:
    (ct,), (x, y) = cts, operands
    return (
        unbroadcast(real(ct), x.aval) if isinstance(x, UndefinedPrimal) else None,
        unbroadcast(neg(imag(ct)), y.aval) if isinstance(y, UndefinedPrimal) else None,
    )


def _complex_lower(b: Builder, x: Value, y: Value) -> tuple[Value, ...]:
    return (b.complex(*repeated(b, (x, y))),)


def _complex_batch(args: Values, at: Dims) -> Any:
    return elementwise_batch(complex_p, args, at, {})


complex_p: Final = Primitive(
    name="complex",
    aval=_complex_aval,
    reference=_complex_reference,
    lower=_complex_lower,
    fusion=PARTS,
    makes_nan=False,
    jvp=_complex_jvp,
    transpose=_complex_transpose,
    batch=_complex_batch,
    pad=ELEMENTWISE,
    samples=Samples(("float32", "float64"), arity=2),
)


def complex_(x: Any, y: Any) -> Any:
    """Return `x + i y`, elementwise.

    Args:
        x: the real parts, in float32 or float64.
        y: the imaginary parts, of the dtype of `x`; rank 0 and axes of length 1 are
            repeated.

    Returns:
        An array of complex64 or complex128, of the common shape.

    References:
        StableHLO, `complex`.
    """
    return complex_p.bind1(x, y)


# ---- real, imag ----


def _part(
    name: str,
    reference: Callable[[NDArray], NDArray],
    lower: Callable[[Builder, Value], Value],
    transpose: Callable[[Any], Any],
) -> Primitive:
    """Declare a primitive that takes a part of complex numbers."""

    def aval(x: ShapedArray) -> Avals:
        COMPLEX.check(name, (x,))
        return (x.with_dtype(dt.real_part_dtype(x.dtype), weak_type=x.weak_type),)

    def referenced(x: NDArray) -> Values:
        return (reference(x),)

    def lowered(b: Builder, x: Value) -> tuple[Value, ...]:
        return (lower(b, x),)

    def jvp(primals: Values, tangents: Values) -> Any:
        return primitive.bind_all(*primals), primitive.bind_all(*tangents)

    def transposed(cts: Values, _: Values) -> Values:
        return (transpose(cts[0]),)

    def batch(args: Values, at: Dims) -> Any:
        return primitive.bind_all(*args), at

    primitive = Primitive(
        name=name,
        aval=aval,
        reference=referenced,
        lower=lowered,
        fusion=PARTS,
        makes_nan=False,
        jvp=jvp,
        transpose=transposed,
        batch=batch,
        pad=ELEMENTWISE,
        samples=Samples(COMPLEXES, arity=1),
    )
    return primitive


real_p: Final = _part(
    "real",
    reference=np.real,
    lower=lambda b, x: b.real(x),
    transpose=lambda ct: complex_(ct, scalar_like(ct, 0)),
)


def real(x: Any) -> Any:
    """Return the real part of complex `x`, elementwise.

    Args:
        x: complex numbers.

    Returns:
        An array of floats of half the width, of the same shape.

    References:
        StableHLO, `real`.
    """
    return real_p.bind1(x)


imag_p: Final = _part(
    "imag",
    reference=np.imag,
    lower=lambda b, x: b.imag(x),
    transpose=lambda ct: complex_(scalar_like(ct, 0), neg(ct)),
)


def imag(x: Any) -> Any:
    """Return the imaginary part of complex `x`, elementwise.

    Args:
        x: complex numbers.

    Returns:
        An array of floats of half the width, of the same shape.

    References:
        StableHLO, `imag`.
    """
    return imag_p.bind1(x)


# ---- conj ----


def _conj_aval(x: ShapedArray, *, input_dtype: DType) -> Avals:
    if x.dtype != input_dtype:
        raise DTypeError(
            f"conj: expected input_dtype={x.dtype.name} for operand {x}, got "
            f"{input_dtype.name}. Call conj(x), which fills it in."
        )
    if dt.is_complex(x.dtype):
        return (x,)
    _PART.check("conj", (x,))
    return (x.with_dtype(dt.to_complex(x.dtype), weak_type=x.weak_type),)


def _conj_reference(x: NDArray, *, input_dtype: DType) -> Values:
    return (np.conj(x).astype(dt.to_complex(input_dtype), copy=False),)


def _conj_lower(b: Builder, x: Value, *, input_dtype: DType) -> tuple[Value, ...]:
    if dt.is_complex(input_dtype):
        return (b.complex(b.real(x), b.negate(b.imag(x))),)
    return (b.complex(x, b.full(x.shape, 0, x.dtype)),)


def _conj_jvp(primals: Values, tangents: Values, *, input_dtype: DType) -> Any:
    return (conj(primals[0]),), (conj(tangents[0]),)


def _conj_transpose(cts: Values, _: Values, *, input_dtype: DType) -> Values:
    (ct,) = cts
    return (conj(ct) if dt.is_complex(input_dtype) else real(ct),)


def _conj_batch(args: Values, at: Dims, *, input_dtype: DType) -> Any:
    return (conj(args[0]),), at


conj_p: Final = Primitive(
    name="conj",
    aval=_conj_aval,
    reference=_conj_reference,
    lower=_conj_lower,
    fusion=PARTS,
    makes_nan=False,
    jvp=_conj_jvp,
    transpose=_conj_transpose,
    batch=_conj_batch,
    pad=ELEMENTWISE,
    samples=Samples(
        COMPLEXES,
        cases=tuple(
            Case((shape,), {"input_dtype": np.dtype(name)}, (name,))
            for name in ("complex64", "complex128", "float32", "float64")
            for shape in ((8,), ())
        ),
    ),
)


def conj(x: Any) -> Any:
    """Return the complex conjugate of `x`, elementwise; complex also for real `x`.

    Args:
        x: complex numbers, or floats in float32 or float64.

    Returns:
        A complex array of the same precision and shape.

    References:
        CHLO, `conj`.
    """
    return conj_p.bind1(x, input_dtype=get_aval(x).dtype)

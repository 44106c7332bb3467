"""Families: the shared rules of elementwise primitives, given once for each arity.

A member declares only its own part: dtypes, NumPy meaning, lowering, fusion, derivative,
samples. `unary` and `binary` are differentiable by a factor for each operand; a factor of
None is a derivative that is zero everywhere. A member that is linear in its operand has its
own transpose, and is declared in full in its file.
"""

from collections.abc import Callable
from typing import Any, Final, ParamSpec

import numpy as np

from imprint._src import dtypes as dt
from imprint._src.core.aval import DType, ShapedArray, get_aval
from imprint._src.core.fusion import Fusion
from imprint._src.core.padding import ELEMENTWISE
from imprint._src.core.primitive import Absent, Avals, Dims, Primitive, Samples, Values
from imprint._src.core.tangents import is_zero, zero_of
from imprint._src.errors import DTypeError
from imprint._src.primitives.core_ops import (
    NOT_LINEAR,
    add_tangents,
    broadcast_to,
    elementwise_batch,
    mul,
    not_differentiable,
)
from imprint._src.primitives.elementwise.convert import convert_element_type
from imprint._src.primitives.elementwise.elementwise import elementwise_aval, repeated
from imprint._src.stablehlo import Builder, Value

P = ParamSpec("P")


class DTypeClass:
    """The dtypes that a primitive accepts, and their description in errors."""

    __slots__ = ("accepts", "words")

    def __init__(self, accepts: Callable[[DType], bool], words: str) -> None:
        self.accepts: Callable[[DType], bool] = accepts
        self.words: str = words

    def check(self, name: str, avals: Avals) -> None:
        """Raise DTypeError unless every aval has a dtype of this kind."""
        for aval in avals:
            if not self.accepts(aval.dtype):
                raise DTypeError(
                    f"{name}: expected {self.words}, got {aval}. Convert it with "
                    "`.astype(...)`, or call imprint.numpy, which promotes."
                )


INEXACT: Final = DTypeClass(dt.is_inexact, "a float or complex dtype")
FLOATING: Final = DTypeClass(dt.is_floating, "a float dtype")
COMPLEX: Final = DTypeClass(dt.is_complex, "a complex dtype")
INTEGER: Final = DTypeClass(dt.is_integer, "an integer dtype")
BITS: Final = DTypeClass(
    lambda d: dt.is_integer(d) or dt.is_bool(d), "an integer or bool"
)
NUMBER: Final = DTypeClass(lambda d: not dt.is_bool(d), "a number")
ORDERED: Final = DTypeClass(lambda d: not dt.is_complex(d), "a real or bool dtype")
ANY: Final = DTypeClass(lambda _: True, "any dtype")

ResultDType = Callable[[DType], DType]


def bool_result(_: DType) -> DType:
    """Give the result dtype of predicates."""
    return np.dtype(bool)


def wide(function: Callable[P, Any]) -> Callable[P, Any]:
    """Evaluate floats of fewer bits in float32, as the engine does, and round once."""
    compute: Callable[..., Any] = function

    def computed(*arrays: Any, **params: Any) -> Any:
        dtype = arrays[0].dtype
        if dtype.itemsize > 2 or not dt.is_floating(dtype):
            return compute(*arrays, **params)
        up = [np.asarray(x, np.float32) for x in arrays]
        out = np.asarray(compute(*up, **params))
        return out.astype(dtype) if out.dtype == np.float32 else out

    return computed


def wide_slope(
    slope: Callable[[Any, Any], Any], function: Callable[[Any], Any], x: Any, out: Any
) -> Any:
    """Compute a factor of tangents, in which digits cancel, in float32 for fewer bits.

    Args:
        slope: `(x, out)` → the factor.
        function: the function, which computes `out` in float32.
        x: its operand.
        out: its result.
    """
    dtype = get_aval(x).dtype
    if dtype.itemsize > 2:
        return slope(x, out)
    x = convert_element_type(x, dt.float32)
    return convert_element_type(slope(x, function(x)), dtype)


def unsigned_zeros(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Evaluate complex operands with 0.0 for -0.0, as the engine does on branch cuts."""
    return lambda x: function(x + 0 if dt.is_complex(x.dtype) else x)


def unary(  # noqa: PLR0913 - one parameter a rule
    name: str,
    *,
    dtypes: DTypeClass,
    reference: Callable[[Any], Any],
    lower: Callable[[Builder, Value], Value],
    fusion: Fusion | None,
    makes_nan: bool,
    derivative: Callable[[Any, Any], Any] | None,
    samples: Samples | Absent,
    result: ResultDType | None = None,
    tangent: Callable[[Any, Any, Any], Any] | None = None,
) -> Primitive:
    """Declare an elementwise primitive of one operand.

    Args:
        name: as printed in jaxprs.
        dtypes: the dtypes it takes.
        reference: its meaning, on a NumPy array.
        lower: its StableHLO.
        fusion: how XLA fuses it.
        makes_nan: whether it makes a NaN of numbers.
        derivative: `(x, out)` → the factor of the tangent; None: zero everywhere.
        samples: operands and params of the laws.
        result: the dtype of the result, where it is not that of the operand.
        tangent: `(t, x, out)` → the tangent, where it is no multiple of `t`.
    """

    def aval(x: ShapedArray) -> Avals:
        dtypes.check(name, (x,))
        if result is None:
            return (x,)
        return (x.with_dtype(result(x.dtype), weak_type=x.weak_type),)

    def jvp(primals: Values, tangents: Values) -> Any:
        (x,), (t,) = primals, tangents
        if tangent is not None:
            out = primitive.bind1(x)
            return (out,), (tangent(t, x, out),)
        if derivative is None:
            return not_differentiable(primitive, primals)
        out = primitive.bind1(x)
        return (out,), (mul(t, derivative(x, out)),)

    def referenced(x: Any) -> Values:
        return (reference(x),)

    def lowered(b: Builder, x: Value) -> tuple[Value, ...]:
        return (lower(b, x),)

    def batch(xs: Values, dims: Dims) -> Any:
        return primitive.bind_all(*xs), dims

    primitive = Primitive(
        name=name,
        aval=aval,
        reference=referenced,
        lower=lowered,
        fusion=fusion,
        makes_nan=makes_nan,
        jvp=jvp,
        transpose=NOT_LINEAR,
        batch=batch,
        pad=ELEMENTWISE,
        samples=samples,
    )
    return primitive


Factor = Callable[[Any, Any, Any], Any]


def binary(  # noqa: PLR0913 - one parameter a rule
    name: str,
    *,
    dtypes: DTypeClass,
    reference: Callable[[Any, Any], Any],
    lower: Callable[[Builder, Value, Value], Value],
    fusion: Fusion | None,
    makes_nan: bool,
    derivatives: tuple[Factor | None, Factor | None] | Absent | None,
    samples: Samples | Absent,
    result: ResultDType | None = None,
) -> Primitive:
    """Declare an elementwise primitive of two operands of one dtype.

    Args:
        name: as printed in jaxprs.
        dtypes: the dtypes it takes.
        reference: its meaning, on NumPy arrays.
        lower: its StableHLO, on values of one shape.
        fusion: how XLA fuses it.
        makes_nan: whether it makes a NaN of numbers.
        derivatives: for each operand `(x, y, out)` → the factor of its tangent; None:
            zero everywhere.
        samples: operands and params of the laws.
        result: the dtype of the result, where it is not that of the operands.
    """

    def aval(x: ShapedArray, y: ShapedArray) -> Avals:
        dtypes.check(name, (x, y))
        out = elementwise_aval(name, (x, y))
        if result is None:
            return (out,)
        return (out.with_dtype(result(out.dtype), weak_type=out.weak_type),)

    def jvp(primals: Values, tangents: Values) -> Any:
        if derivatives is None:
            return not_differentiable(primitive, primals)
        if isinstance(derivatives, Absent):
            derivatives()
        out = primitive.bind1(*primals)
        return (out,), (_sum_of_terms(derivatives, primals, tangents, out),)

    def batch(xs: Values, dims: Dims) -> Any:
        return elementwise_batch(primitive, xs, dims, {})

    def referenced(x: Any, y: Any) -> Values:
        return (reference(x, y),)

    def lowered(b: Builder, x: Value, y: Value) -> tuple[Value, ...]:
        x, y = repeated(b, (x, y))
        return (lower(b, x, y),)

    primitive = Primitive(
        name=name,
        aval=aval,
        reference=referenced,
        lower=lowered,
        fusion=fusion,
        makes_nan=makes_nan,
        jvp=jvp,
        transpose=NOT_LINEAR,
        batch=batch,
        pad=ELEMENTWISE,
        samples=samples,
    )
    return primitive


def _sum_of_terms(
    derivatives: tuple[Factor | None, Factor | None],
    primals: Values,
    tangents: Values,
    out: Any,
) -> Any:
    """Return the tangent of the result: for each operand, tangent times derivative."""
    x, y = primals
    total: Any = zero_of(get_aval(out))
    for t, factor in zip(tangents, derivatives, strict=True):
        if not is_zero(t) and factor is not None:
            term = mul(t, factor(x, y, out))
            total = add_tangents(total, broadcast_to(term, get_aval(out).shape))
    return total

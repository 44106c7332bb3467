"""Dtypes and properties of arrays: names, kinds, promotion, astype, constants.

The name of a dtype (`np.float32`) is a class, as in NumPy: it is accepted as a dtype,
equals the dtype, and converts to it when called, tracers too. A metaclass makes its
instances NumPy's scalars: no array is one. 64-bit dtypes become 32-bit ones unless
`enable_x64`.
"""

import math
from typing import Any, Final, final

import numpy as np

from imprint._src import dtypes
from imprint._src.core import dims
from imprint._src.core.array import Array, plain
from imprint._src.core.aval import DType, Shape, get_aval
from imprint._src.dtypes import DTypeLike
from imprint._src.eager.device_put import DeviceLike, placed
from imprint._src.numpy.creation import asarray
from imprint._src.numpy.promotion import ArrayLike, as_array, convert, is_operand
from imprint._src.primitives.axes import canonical_axes
from imprint._src.primitives.copying import copy_p
from imprint._src.primitives.core_ops import scalar_like
from imprint._src.primitives.elementwise.comparison import ne
from imprint._src.primitives.elementwise.complex import real

pi: Final = math.pi
e: Final = math.e
euler_gamma: Final = 0.5772156649015329
inf: Final = math.inf
nan: Final = math.nan
newaxis: Final = None

finfo = dtypes.finfo
iinfo = dtypes.iinfo
isdtype: Final = dtypes.isdtype
promote_types: Final = dtypes.promote_types
dtype = np.dtype
ndarray = Array
ComplexWarning: Final = np.exceptions.ComplexWarning
"""NumPy's warning about a discarded imaginary part."""


def result_type(*args: Any) -> dtypes.DType:
    """Return the dtype of an operation on these values and dtypes.

    Args:
        args: arrays, numbers and dtypes; `int`, `float` and `complex` count as weak.

    Returns:
        The promoted dtype.

    References:
        NumPy, `numpy.result_type`.

    Example:
        >>> import imprint.numpy as np
        >>> np.result_type("int8", 1.0)
        dtype('float32')
    """
    return dtypes.result_type(*args)


def issubdtype(arg1: Any, arg2: Any) -> bool:
    """Return whether a dtype is at or below another in NumPy's type hierarchy.

    Args:
        arg1: the dtype, or a value that has one.
        arg2: the other, or one of NumPy's abstract types.

    Returns:
        Whether it is.

    References:
        NumPy, `numpy.issubdtype`.

    Example:
        >>> import imprint.numpy as np
        >>> np.issubdtype(np.bfloat16, np.floating), np.issubdtype("int8", np.inexact)
        (True, False)
    """
    return dtypes.issubdtype(arg1, arg2)


# ---- names of dtypes ----


@final
class ScalarType(type):
    """The class of dtype names; calling a name converts to the dtype.

    Example:
        >>> import numpy
        >>> import imprint.numpy as np
        >>> np.float32(1), np.zeros(1).dtype == np.float32
        (Array(1., dtype=float32), True)
        >>> isinstance(numpy.float32(1), np.float32), np.float32.__name__
        (True, 'float32')
    """

    dtype: DType

    def __new__(cls, dtype: DType) -> "ScalarType":
        """Return the name of a dtype."""
        doc = (
            f"The name of `{dtype.name}`; called with a value, it makes an array of it."
        )
        body = {"dtype": dtype, "__module__": "imprint.numpy", "__doc__": doc}
        return super().__new__(cls, dtype.name, (), body)

    def __init__(cls, dtype: DType) -> None:
        super().__init__(dtype.name, (), {})

    @property
    def __numpy_dtype__(cls) -> DType:
        return cls.dtype

    def __call__(cls, x: Any) -> Array:
        """Convert `x` to an array of this dtype."""
        if isinstance(x, str):  # as NumPy's scalars do, and its arrays of text
            x = cls.dtype.type(x)
        return asarray(x, dtype=cls.dtype)

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, cls.dtype.type)

    def __eq__(cls, other: object) -> bool:
        return cls.dtype == (other.dtype if isinstance(other, ScalarType) else other)

    def __hash__(cls) -> int:
        return hash(cls.dtype.type)  # as in JAX: it equals NumPy's class in sets, too

    def __repr__(cls) -> str:
        return f"imprint.numpy.{cls.dtype.name}"


bool_: ScalarType = ScalarType(dtypes.bool_)
int2: ScalarType = ScalarType(dtypes.int2)
int4: ScalarType = ScalarType(dtypes.int4)
int8: ScalarType = ScalarType(dtypes.int8)
int16: ScalarType = ScalarType(dtypes.int16)
int32: ScalarType = ScalarType(dtypes.int32)
int64: ScalarType = ScalarType(dtypes.int64)
uint2: ScalarType = ScalarType(dtypes.uint2)
uint4: ScalarType = ScalarType(dtypes.uint4)
uint8: ScalarType = ScalarType(dtypes.uint8)
uint16: ScalarType = ScalarType(dtypes.uint16)
uint32: ScalarType = ScalarType(dtypes.uint32)
uint64: ScalarType = ScalarType(dtypes.uint64)
float4_e2m1fn: ScalarType = ScalarType(dtypes.float4_e2m1fn)
float6_e2m3fn: ScalarType = ScalarType(dtypes.float6_e2m3fn)
float6_e3m2fn: ScalarType = ScalarType(dtypes.float6_e3m2fn)
float8_e3m4: ScalarType = ScalarType(dtypes.float8_e3m4)
float8_e4m3: ScalarType = ScalarType(dtypes.float8_e4m3)
float8_e8m0fnu: ScalarType = ScalarType(dtypes.float8_e8m0fnu)
float8_e4m3b11fnuz: ScalarType = ScalarType(dtypes.float8_e4m3b11fnuz)
float8_e4m3fn: ScalarType = ScalarType(dtypes.float8_e4m3fn)
float8_e4m3fnuz: ScalarType = ScalarType(dtypes.float8_e4m3fnuz)
float8_e5m2: ScalarType = ScalarType(dtypes.float8_e5m2)
float8_e5m2fnuz: ScalarType = ScalarType(dtypes.float8_e5m2fnuz)
bfloat16: ScalarType = ScalarType(dtypes.bfloat16)
float16: ScalarType = ScalarType(dtypes.float16)
float32: ScalarType = ScalarType(dtypes.float32)
float64: ScalarType = ScalarType(dtypes.float64)
complex64: ScalarType = ScalarType(dtypes.complex64)
complex128: ScalarType = ScalarType(dtypes.complex128)
half: ScalarType = float16
single: ScalarType = float32
double: ScalarType = float64
csingle: ScalarType = complex64
cdouble: ScalarType = complex128
int_: ScalarType = int64
uint: ScalarType = uint64
float_: ScalarType = float64
complex_: ScalarType = complex128

# NumPy's abstract kinds, for issubdtype.
generic = np.generic
number = np.number
inexact = np.inexact
floating = np.floating
integer = np.integer
signedinteger = np.signedinteger
unsignedinteger = np.unsignedinteger
complexfloating = np.complexfloating
character = np.character
object_ = np.object_
flexible = np.flexible

# ---- conversion ----


def astype(
    x: ArrayLike,
    dtype: DTypeLike | None,
    /,
    *,
    copy: bool = False,
    device: DeviceLike | None = None,
) -> Array:
    """Convert an array to a dtype.

    Args:
        x: an array.
        dtype: the dtype; None for the default float.
        copy: whether the result has memory of its own if the dtype is the same.
        device: where it is to be, as in `imprint.device_put`.

    Returns:
        An array of the shape of `x`, in the dtype. Complex numbers lose their imaginary
        parts in a real dtype; booleans are whether they are nonzero.

    References:
        NumPy, `numpy.astype`.

    Example:
        >>> import imprint.numpy as np
        >>> np.astype(np.array([1.7, -1.7]), "int32")
        Array([ 1, -1], dtype=int32)
    """
    array = as_array("astype", x)
    wanted = (
        dtypes.default_float() if dtype is None else dtypes.requested(dtype, "astype")
    )
    if dtypes.is_complex(array.dtype) and not dtypes.is_complex(wanted):
        if dtypes.is_bool(wanted):
            return placed("astype", ne(array, scalar_like(array, 0)), device)
        array = real(array)
    converted = convert("astype", array, wanted)
    if copy and converted is array:
        converted = copy_p.bind1(array)
    return placed("astype", converted, device)


def can_cast(from_: DTypeLike, to: DTypeLike, casting: str = "safe") -> bool:
    """Return whether NumPy's rule allows a cast from one dtype to another.

    Args:
        from_: a dtype.
        to: a dtype.
        casting: "no", "equiv", "safe", "same_kind" or "unsafe".

    Returns:
        Whether the rule allows it.

    References:
        NumPy, `numpy.can_cast`.

    Example:
        >>> import imprint.numpy as np
        >>> np.can_cast("int32", "int8")
        False
    """
    return np.can_cast(dtypes.as_dtype(from_), dtypes.as_dtype(to), casting)  # pyright: ignore[reportArgumentType] - NumPy checks `casting`


# ---- properties of arrays ----


def shape(a: Any) -> Shape:
    """Return the lengths of the axes.

    Args:
        a: an array, number or nested sequence.

    Returns:
        A tuple of integers; of dimensions, where a length is symbolic.

    References:
        NumPy, `numpy.shape`.

    Example:
        >>> import imprint.numpy as np
        >>> np.shape(np.zeros((2, 3)))
        (2, 3)
    """
    return a.shape if hasattr(a, "shape") else np.shape(plain(a))


def ndim(a: Any) -> int:
    """Return the number of axes.

    Args:
        a: an array, number or nested sequence.

    Returns:
        The number, an integer.

    References:
        NumPy, `numpy.ndim`.

    Example:
        >>> import imprint.numpy as np
        >>> np.ndim(np.zeros((2, 3)))
        2
    """
    return len(shape(a))


def size(a: Any, axis: int | tuple[int, ...] | None = None) -> int:
    """Return the number of elements, or the length along axes.

    Args:
        a: an array, number or nested sequence.
        axis: an axis or several; None for all.

    Returns:
        The product of the lengths, an integer.

    References:
        NumPy, `numpy.size`.

    Example:
        >>> import imprint.numpy as np
        >>> np.size(np.zeros((2, 3)))
        6
    """
    lengths = shape(a)
    if axis is None:
        return dims.product(lengths)
    axes = canonical_axes(
        "size", (axis,) if isinstance(axis, int) else axis, len(lengths)
    )
    return dims.product(lengths[i] for i in axes)


def isscalar(element: Any) -> bool:
    """Return whether an object is a number or an array of rank 0.

    Args:
        element: any object.

    Returns:
        Whether it is.

    References:
        NumPy, `numpy.isscalar`.

    Example:
        >>> import imprint.numpy as np
        >>> np.isscalar(1.5), np.isscalar(np.ones(1))
        (True, False)
    """
    return is_operand(element) and get_aval(element).ndim == 0


def iscomplexobj(x: Any) -> bool:
    """Return whether an object has a complex dtype.

    Args:
        x: an array, number, nested sequence or `numpy.dtype`.

    Returns:
        Whether it has.

    References:
        NumPy, `numpy.iscomplexobj`.

    Example:
        >>> import imprint.numpy as np
        >>> np.iscomplexobj(np.array([1j]))
        True
    """
    return not dtypes.is_of_keys(x) and dtypes.is_complex(_dtype_of(x))


def _dtype_of(x: Any) -> Any:
    """Return the dtype of an array, of a struct that stands for one, or of a dtype."""
    given: Any = x
    if isinstance(x, (type, np.dtype)):
        return dtypes.as_dtype(given)
    found = getattr(x, "dtype", None)
    return asarray(x).dtype if found is None else dtypes.as_dtype(found)


def isrealobj(x: Any) -> bool:
    """Return whether an object has a dtype that is not complex.

    Args:
        x: an array, number, nested sequence or `numpy.dtype`.

    Returns:
        Whether it has.

    References:
        NumPy, `numpy.isrealobj`.

    Example:
        >>> import imprint.numpy as np
        >>> np.isrealobj(np.array([1j]))
        False
    """
    return not iscomplexobj(x)

"""The base class of arrays and tracers: operators and methods.

`isinstance(x, imprint.Array)` is true of concrete arrays, tracers and key arrays, so a
traced function can be annotated with it. Each operator and method is the function of
`imprint.numpy` with that name, reached through `hooks`. So is a NumPy function applied
to an array, which lets NumPy code be traced (`imprint._src.numpy.array_function`).
Other uses by NumPy and its libraries get a read-only view of the values. A tracer has
no values, and its `__array__` raises. Primitives take a `NumberArray`, whose subclasses
have `aval` and the conversions to Python and NumPy values.
"""

from collections.abc import Iterator
from typing import Any, ClassVar, Final

import numpy as np

from imprint._src.bootstrap import hooks
from imprint._src.bootstrap.attribute_errors import unsupported_methods
from imprint._src.core import dims
from imprint._src.core.aval import DType, Shape, ShapedArray
from imprint._src.diagnostics.traceback_filter import drop_internal_frames
from imprint._src.dtypes import number_type
from imprint._src.errors import ArgumentError

API_VERSIONS: Final = ("2024.12",)
"""The versions of the array API standard that `imprint.numpy` follows."""


class Array:
    """An array, concrete or traced; immutable."""

    __slots__ = ("__weakref__",)
    __array_priority__ = 100
    __hash__: ClassVar[None] = None  # pyright: ignore[reportIncompatibleMethodOverride] - `==` is elementwise
    aval: ShapedArray

    def __imprint_alias__(self, *, follows: bool = False) -> "Array":
        """Return an array with the same values that is another object, if need be."""
        return self

    # ---- shape and dtype ----

    @property
    def shape(self) -> Shape:
        """The length of each axis."""
        return self.aval.shape

    @property
    def dtype(self) -> DType:
        """The NumPy dtype of the elements."""
        return self.aval.dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self.aval.ndim

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.aval.size

    @property
    def weak_type(self) -> bool:
        """Whether promotion prefers the other operand's dtype, as for Python scalars."""
        return self.aval.weak_type

    @property
    def itemsize(self) -> int:
        """The number of bytes of an element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """The number of bytes of all elements."""
        return self.size * self.dtype.itemsize

    def __dir__(self) -> list[str]:
        names = object.__dir__(self)
        return [name for name in names if name[0] != "_" or name.endswith("__")]

    def __len__(self) -> int:
        if not self.aval.shape:
            raise TypeError(
                f"len() needs an array with an axis, got {self.aval}. "
                "Use `.size` for the number of elements."
            )
        return dims.concrete(self.aval.shape[0], "len()")

    def __iter__(self) -> "Iterator[Array]":
        if not self.aval.shape:
            raise TypeError(
                f"iteration needs an array with an axis, got {self.aval}. "
                "Use `.reshape(-1)` to make one."
            )
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index: Any) -> "Array":
        try:
            return hooks.numpy.getitem(self, index)
        except Exception as err:
            drop_internal_frames(err)
            raise

    def __setitem__(self, index: Any, value: Any) -> None:
        raise _assigned(self, index)

    # ---- arithmetic ----

    def __add__(self, other: Any) -> "Array":
        return _binary("add", self, other)

    def __radd__(self, other: Any) -> "Array":
        return _binary("add", other, self)

    def __sub__(self, other: Any) -> "Array":
        return _binary("subtract", self, other)

    def __rsub__(self, other: Any) -> "Array":
        return _binary("subtract", other, self)

    def __mul__(self, other: Any) -> "Array":
        return _binary("multiply", self, other)

    def __rmul__(self, other: Any) -> "Array":
        return _binary("multiply", other, self)

    def __truediv__(self, other: Any) -> "Array":
        return _binary("true_divide", self, other)

    def __rtruediv__(self, other: Any) -> "Array":
        return _binary("true_divide", other, self)

    def __floordiv__(self, other: Any) -> "Array":
        return _binary("floor_divide", self, other)

    def __rfloordiv__(self, other: Any) -> "Array":
        return _binary("floor_divide", other, self)

    def __mod__(self, other: Any) -> "Array":
        return _binary("remainder", self, other)

    def __rmod__(self, other: Any) -> "Array":
        return _binary("remainder", other, self)

    def __pow__(self, other: Any) -> "Array":
        return _binary("power", self, other)

    def __rpow__(self, other: Any) -> "Array":
        return _binary("power", other, self)

    def __matmul__(self, other: Any) -> "Array":
        return _binary("matmul", self, other)

    def __rmatmul__(self, other: Any) -> "Array":
        return _binary("matmul", other, self)

    def __and__(self, other: Any) -> "Array":
        return _binary("bitwise_and", self, other)

    def __rand__(self, other: Any) -> "Array":
        return _binary("bitwise_and", other, self)

    def __or__(self, other: Any) -> "Array":
        return _binary("bitwise_or", self, other)

    def __ror__(self, other: Any) -> "Array":
        return _binary("bitwise_or", other, self)

    def __xor__(self, other: Any) -> "Array":
        return _binary("bitwise_xor", self, other)

    def __rxor__(self, other: Any) -> "Array":
        return _binary("bitwise_xor", other, self)

    def __lshift__(self, other: Any) -> "Array":
        return _binary("left_shift", self, other)

    def __rlshift__(self, other: Any) -> "Array":
        return _binary("left_shift", other, self)

    def __rshift__(self, other: Any) -> "Array":
        return _binary("right_shift", self, other)

    def __rrshift__(self, other: Any) -> "Array":
        return _binary("right_shift", other, self)

    def __divmod__(self, other: Any) -> "tuple[Array, Array]":
        return _binary("divmod", self, other)

    def __rdivmod__(self, other: Any) -> "tuple[Array, Array]":
        return _binary("divmod", other, self)

    def __eq__(self, other: Any) -> "Array":  # pyright: ignore[reportIncompatibleMethodOverride] - elementwise
        return _binary("equal", self, other)

    def __ne__(self, other: Any) -> "Array":  # pyright: ignore[reportIncompatibleMethodOverride] - elementwise
        return _binary("not_equal", self, other)

    def __lt__(self, other: Any) -> "Array":
        return _binary("less", self, other)

    def __le__(self, other: Any) -> "Array":
        return _binary("less_equal", self, other)

    def __gt__(self, other: Any) -> "Array":
        return _binary("greater", self, other)

    def __ge__(self, other: Any) -> "Array":
        return _binary("greater_equal", self, other)

    def __neg__(self) -> "Array":
        return hooks.numpy.negative(self)

    def __pos__(self) -> "Array":
        return hooks.numpy.positive(self)

    def __abs__(self) -> "Array":
        return hooks.numpy.abs(self)

    def __invert__(self) -> "Array":
        return hooks.numpy.invert(self)

    def __round__(self, ndigits: int | None = None) -> "Array":
        rounded = hooks.numpy.round(self, ndigits or 0)
        return rounded.astype(int) if ndigits is None else rounded

    # ---- methods: the functions of imprint.numpy with these names ----

    @property
    def T(self) -> "Array":  # noqa: N802 - NumPy's name
        """The array with its axes in reverse order."""
        return hooks.numpy.transpose(self)

    @property
    def mT(self) -> "Array":  # noqa: N802 - NumPy's name
        """The array with its last two axes exchanged."""
        return hooks.numpy.matrix_transpose(self)

    @property
    def real(self) -> "Array":
        """The real part."""
        return hooks.numpy.real(self)

    @property
    def imag(self) -> "Array":
        """The imaginary part."""
        return hooks.numpy.imag(self)

    def astype(self, dtype: Any, copy: bool = False, device: Any = None) -> "Array":  # noqa: FBT001, FBT002 - NumPy's signature
        """Return the array converted to `dtype`, on a device if one is given."""
        return hooks.numpy.astype(self, dtype, copy=copy, device=device)

    def to_device(self, device: Any, /, *, stream: None = None) -> "Array":
        """Return the array on a device; see `imprint.device_put`."""
        if stream is not None:
            raise ArgumentError(
                f"to_device: expected stream to be None, got {stream!r}. Leave it out: "
                "what uses the array waits until it is there."
            )
        return hooks.numpy.asarray(self, device=device)

    def reshape(
        self, *shape: Any, order: str = "C", out_sharding: Any = None
    ) -> "Array":
        """Return the array with another shape; one length may be -1."""
        sizes = shape[0] if len(shape) == 1 else shape
        return hooks.numpy.reshape(self, sizes, order, out_sharding=out_sharding)

    def transpose(self, *axes: Any) -> "Array":
        """Return the array with its axes permuted; reversed without arguments."""
        given = axes[0] if len(axes) == 1 else axes or None
        return hooks.numpy.transpose(self, given)

    def sum(self, *args: Any, **kwargs: Any) -> "Array":
        """Sum over `axis`; see `imprint.numpy.sum`."""
        return _method("sum", self, args, kwargs)

    def prod(self, *args: Any, **kwargs: Any) -> "Array":
        """Multiply over `axis`; see `imprint.numpy.prod`."""
        return _method("prod", self, args, kwargs)

    def mean(self, *args: Any, **kwargs: Any) -> "Array":
        """Average over `axis`; see `imprint.numpy.mean`."""
        return _method("mean", self, args, kwargs)

    def var(self, *args: Any, **kwargs: Any) -> "Array":
        """Variance over `axis`; see `imprint.numpy.var`."""
        return _method("var", self, args, kwargs)

    def std(self, *args: Any, **kwargs: Any) -> "Array":
        """Give the standard deviation over `axis`; see `imprint.numpy.std`."""
        return _method("std", self, args, kwargs)

    def min(self, *args: Any, **kwargs: Any) -> "Array":
        """Minimum over `axis`; see `imprint.numpy.min`."""
        return _method("min", self, args, kwargs)

    def max(self, *args: Any, **kwargs: Any) -> "Array":
        """Maximum over `axis`; see `imprint.numpy.max`."""
        return _method("max", self, args, kwargs)

    def ptp(self, *args: Any, **kwargs: Any) -> "Array":
        """Distance from minimum to maximum over `axis`; see `imprint.numpy.ptp`."""
        return _method("ptp", self, args, kwargs)

    def argmin(self, *args: Any, **kwargs: Any) -> "Array":
        """Index of the minimum along `axis`; see `imprint.numpy.argmin`."""
        return _method("argmin", self, args, kwargs)

    def argmax(self, *args: Any, **kwargs: Any) -> "Array":
        """Index of the maximum along `axis`; see `imprint.numpy.argmax`."""
        return _method("argmax", self, args, kwargs)

    def any(self, *args: Any, **kwargs: Any) -> "Array":
        """Whether any element over `axis` is true; see `imprint.numpy.any`."""
        return _method("any", self, args, kwargs)

    def all(self, *args: Any, **kwargs: Any) -> "Array":
        """Whether all elements over `axis` are true; see `imprint.numpy.all`."""
        return _method("all", self, args, kwargs)

    def cumsum(self, *args: Any, **kwargs: Any) -> "Array":
        """Add up all prefixes of `axis`; see `imprint.numpy.cumsum`."""
        return _method("cumsum", self, args, kwargs)

    def cumprod(self, *args: Any, **kwargs: Any) -> "Array":
        """Multiply all prefixes of `axis`; see `imprint.numpy.cumprod`."""
        return _method("cumprod", self, args, kwargs)

    def ravel(self, *args: Any, **kwargs: Any) -> "Array":
        """Flatten to one axis; see `imprint.numpy.ravel`."""
        return _method("ravel", self, args, kwargs)

    flatten = ravel

    def squeeze(self, *args: Any, **kwargs: Any) -> "Array":
        """Drop axes of length 1; see `imprint.numpy.squeeze`."""
        return _method("squeeze", self, args, kwargs)

    def swapaxes(self, *args: Any, **kwargs: Any) -> "Array":
        """Exchange two axes; see `imprint.numpy.swapaxes`."""
        return _method("swapaxes", self, args, kwargs)

    def repeat(self, *args: Any, **kwargs: Any) -> "Array":
        """Repeat each element; see `imprint.numpy.repeat`."""
        return _method("repeat", self, args, kwargs)

    def diagonal(self, *args: Any, **kwargs: Any) -> "Array":
        """Take a diagonal of matrices; see `imprint.numpy.diagonal`."""
        return _method("diagonal", self, args, kwargs)

    def trace(self, *args: Any, **kwargs: Any) -> "Array":
        """Sum a diagonal of matrices; see `imprint.numpy.trace`."""
        return _method("trace", self, args, kwargs)

    def clip(self, *args: Any, **kwargs: Any) -> "Array":
        """Limit the values to an interval; see `imprint.numpy.clip`."""
        return _method("clip", self, args, kwargs)

    def conj(self, *args: Any, **kwargs: Any) -> "Array":
        """Complex conjugate; see `imprint.numpy.conj`."""
        return _method("conj", self, args, kwargs)

    def conjugate(self, *args: Any, **kwargs: Any) -> "Array":
        """Complex conjugate; see `imprint.numpy.conjugate`."""
        return _method("conjugate", self, args, kwargs)

    def round(self, *args: Any, **kwargs: Any) -> "Array":
        """Round to the given number of decimals; see `imprint.numpy.round`."""
        return _method("round", self, args, kwargs)

    def dot(self, *args: Any, **kwargs: Any) -> "Array":
        """Dot product; see `imprint.numpy.dot`."""
        return _method("dot", self, args, kwargs)

    def view(self, dtype: Any = None, type: None = None) -> "Array":  # noqa: A002 - NumPy's name
        """Return the bits as elements of another dtype, which is another array."""
        return hooks.numpy.view(self, dtype, type)

    def byteswap(self) -> "Array":
        """Return the elements with their bytes in reverse order."""
        return hooks.numpy.byteswap(self)

    def copy(self, *args: Any, **kwargs: Any) -> "Array":
        """Copy; see `imprint.numpy.copy`."""
        return _method("copy", self, args, kwargs)

    def __copy__(self) -> "Array":
        return hooks.numpy.copy(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> "Array":
        return hooks.numpy.copy(self)

    # ---- order, and elements at an index ----

    @property
    def at(self) -> Any:
        """Other values at an index: `x.at[i].set(v)`, `.add(v)` and so on, another array."""
        return hooks.numpy.At(self)

    def sort(self, *args: Any, **kwargs: Any) -> "Array":
        """Sort along `axis`; see `imprint.numpy.sort`."""
        return _method("sort", self, args, kwargs)

    def argsort(self, *args: Any, **kwargs: Any) -> "Array":
        """Find the order along `axis`; see `imprint.numpy.argsort`."""
        return _method("argsort", self, args, kwargs)

    def argpartition(self, *args: Any, **kwargs: Any) -> "Array":
        """Find where the smallest are; see `imprint.numpy.argpartition`."""
        return _method("argpartition", self, args, kwargs)

    def searchsorted(self, *args: Any, **kwargs: Any) -> "Array":
        """Find where elements belong; see `imprint.numpy.searchsorted`."""
        return _method("searchsorted", self, args, kwargs)

    def take(self, *args: Any, **kwargs: Any) -> "Array":
        """Take elements along `axis`; see `imprint.numpy.take`."""
        return _method("take", self, args, kwargs)

    def nonzero(self, *args: Any, **kwargs: Any) -> Any:
        """Find where elements are not zero; see `imprint.numpy.nonzero`."""
        return _method("nonzero", self, args, kwargs)

    def choose(self, *args: Any, **kwargs: Any) -> "Array":
        """Choose by the numbers that are the elements; see `imprint.numpy.choose`."""
        return _method("choose", self, args, kwargs)

    def compress(self, condition: Any, *args: Any, **kwargs: Any) -> "Array":
        """Keep slices for which a condition holds; see `imprint.numpy.compress`."""
        return _method("compress", condition, (self, *args), kwargs)

    # ---- protocols of Python and NumPy ----

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any
    ) -> Any:
        """Answer `np.sin(x)` with `imprint.numpy.sin(x)`; see `imprint._src.numpy.array_function`."""
        try:
            if method == "__call__" and not kwargs and all(map(is_operand, inputs)):
                name = ufunc.__name__
                if getattr(np, name, None) is ufunc:
                    function = getattr(hooks.numpy, name, None)
                    if function is not None:
                        return function(*inputs)
            return hooks.numpy.numpy_ufunc(ufunc, method, inputs, kwargs)
        except Exception as err:
            drop_internal_frames(err)
            raise

    def __array_function__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        """Answer `np.where(…)` with `imprint.numpy.where(…)`; see `of_numpy` there."""
        if not all(issubclass(kind, (Array, np.ndarray)) for kind in types):
            return NotImplemented
        try:
            return hooks.numpy.numpy_function(func, args, kwargs)
        except Exception as err:
            drop_internal_frames(err)
            raise

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        """Return `imprint.numpy`, which follows the array API standard."""
        if api_version is None or api_version in API_VERSIONS:
            return hooks.numpy
        raise ArgumentError(
            f"__array_namespace__: expected api_version to be one of {API_VERSIONS}, "
            f"got {api_version!r}. Leave it out for the newest."
        )

    def __contains__(self, value: Any) -> bool:
        return bool(hooks.numpy.any(self == value))

    def __buffer__(self, flags: int, /) -> memoryview:
        array: Any = self  # not by NumPy, which requests the buffer first
        return memoryview(array.__array__())  # from Python 3.12 on

    def __dlpack__(
        self,
        *,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[Any, int] | None = None,
        copy: bool | None = None,
        stream: Any = None,
    ) -> Any:
        values: Any = np.asarray(self)
        if values.dtype.kind == "V" or values.dtype.isbuiltin != 1:
            raise BufferError(
                f"expected a dtype that NumPy hands to other libraries, got {values.dtype}. "
                "Hand over its bits, `x.view('uint16')` or 'uint8', and view them there."
            )
        if dl_device not in (None, values.__dlpack_device__()):
            raise BufferError(
                f"expected the host as the device of DLPack, (1, 0), got {dl_device}. Copy "
                "from there with the other library."
            )
        if max_version is None or max_version < (1, 0):  # which cannot say "read-only"
            return values.copy().__dlpack__(stream=stream)
        return values.__dlpack__(
            stream=stream, max_version=max_version, dl_device=dl_device, copy=copy
        )

    def __dlpack_device__(self) -> tuple[Any, Any]:
        return np.asarray(self).__dlpack_device__()

    def tobytes(self, order: Any = "C") -> bytes:
        """Return the bytes of the elements; needs a concrete array."""
        return np.asarray(self).tobytes(order)


class NumberArray(Array):
    """An array of numbers, which has an aval; an array of keys is none."""

    __slots__ = ()


def is_operand(x: Any) -> bool:
    """Return whether an operator takes `x`; its class is looked up from then on."""
    kind: Any = type(x)  # pyright: ignore[reportUnknownVariableType] - `cast` takes 40 ns
    return kind in OPERANDS or _is_array(kind) or number_type(kind) is not None


def plain(x: Any) -> Any:
    """Return the array or plain number that an operand represents.

    An instance of a subclass of `int` becomes an `int`, and so on; an object with
    `__jax_array__` becomes its result.
    """
    kind: Any = type(x)  # pyright: ignore[reportUnknownVariableType] - `cast` takes 40 ns
    if kind in OPERANDS or _is_array(kind):
        return x
    number: Any = number_type(kind)
    if number is not None:
        return number(x)
    return x.__jax_array__() if hasattr(kind, "__jax_array__") else x


def _is_array(kind: type[Any]) -> bool:
    if not issubclass(kind, _ARRAYS):
        return False
    OPERANDS.add(kind)
    return True


_ARRAYS: Final[tuple[type, ...]] = (NumberArray, np.ndarray, np.generic)
OPERANDS: Final[set[type]] = {bool, int, float, complex}
"""Classes that `is_operand` takes: 100 ns faster than isinstance."""


def _method(name: str, self: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a function of `imprint.numpy`; NumPy's `np.sum(x)` calls the method, too."""
    if kwargs.get("out", self) is None:
        del kwargs["out"]  # NumPy's functions pass it to the method
    try:
        return getattr(hooks.numpy, name)(self, *args, **kwargs)
    except Exception as err:
        drop_internal_frames(err)
        raise


def _assigned(x: Array, index: Any) -> TypeError:
    """Return the error of `x[index] = ...`, which says how to get another array."""
    place = _written(index)
    write = f"`x = x.at[{place}].set(...)`"
    if place == "mask":
        write = "`x = imprint.numpy.where(mask, ..., x)`"
    return TypeError(
        f"expected no assignment: arrays are immutable, got `x[{place}] = ...` on "
        f"{x.aval}. Write {write}, which returns another."
    )


def _written(index: Any) -> str:
    """Return an index as source text; an array by its kind."""
    one: Any = index  # which no check below narrows
    if isinstance(index, tuple) and one:
        return ", ".join(map(_written, one))
    if isinstance(index, slice):
        texts = [
            "" if x is None else _written(x) for x in (one.start, one.stop, one.step)
        ]
        return ":".join(texts if texts[2] else texts[:2])
    if getattr(one, "shape", ()):
        return "mask" if str(one.dtype) == "bool" else "index"
    return "..." if one is Ellipsis else repr(one)


def _binary(name: str, x: Any, y: Any) -> Any:
    """Apply a binary operator, or leave it to the other operand's class; hot."""
    if not (x.__class__ in OPERANDS and y.__class__ in OPERANDS):
        x, y = plain(x), plain(y)
        if not all(is_operand(v) or isinstance(v, _REFUSED) for v in (x, y)):
            return NotImplemented
        if not is_operand(y) and _answers(y, _REFLECTED[name]):
            return NotImplemented
    try:
        return hooks.operators[name](x, y)
    except Exception as err:
        drop_internal_frames(err)
        raise


def _answers(x: Any, method: str) -> bool:
    """Return whether the class of a container has a method of its own."""
    own = getattr(x.__class__, method, None)
    return own is not None and all(
        own is not getattr(k, method, None) for k in _REFUSED
    )


_REFLECTED: Final = {
    "add": "__radd__",
    "subtract": "__rsub__",
    "multiply": "__rmul__",
    "true_divide": "__rtruediv__",
    "floor_divide": "__rfloordiv__",
    "remainder": "__rmod__",
    "power": "__rpow__",
    "matmul": "__rmatmul__",
    "bitwise_and": "__rand__",
    "bitwise_or": "__ror__",
    "bitwise_xor": "__rxor__",
    "left_shift": "__rlshift__",
    "right_shift": "__rrshift__",
    "divmod": "__rdivmod__",
    "equal": "__eq__",
    "not_equal": "__ne__",
    "less": "__gt__",
    "less_equal": "__ge__",
    "greater": "__lt__",
    "greater_equal": "__le__",
}
_REFUSED: Final = (Array, list, tuple, set, dict)
"""Operands for which an operator raises: else `==` would be False, and `*` repeat a list."""

unsupported_methods(Array, "flat")

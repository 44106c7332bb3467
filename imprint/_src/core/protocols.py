"""What Python and NumPy ask of arrays: ufuncs, buffers, DLPack, the array API.

A function of NumPy's that `imprint.numpy` has is that function, so NumPy code can be
traced; how, is in `imprint._src.numpy.array_function`. Everything else that NumPy, or a library on
it, does to an array needs its values: it gets a read-only view of them and gives NumPy's
result. A tracer has no values, and `__array__` says so.
"""

from typing import Any, Final

import numpy as np

from imprint._src.bootstrap import hooks
from imprint._src.diagnostics.traceback_filter import fold
from imprint._src.dtypes import number_type
from imprint._src.errors import ArgumentError

API_VERSIONS: Final = ("2024.12",)
"""The versions of the array API standard that `imprint.numpy` follows."""


class Protocols:
    """What arrays and tracers answer to others than imprint; needs `__array__`."""

    __slots__ = ()
    __array_priority__ = 100

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
            fold(err)
            raise

    def __array_function__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        """Answer `np.where(…)` with `imprint.numpy.where(…)`; see `of_numpy` there."""
        if not all(issubclass(kind, _TAKEN) for kind in types):
            return NotImplemented
        try:
            return hooks.numpy.numpy_function(func, args, kwargs)
        except Exception as err:
            fold(err)
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
        array: Any = self  # not by NumPy, which asks for the buffer first
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


class Operand:
    """Marks the arrays that operators take: those of numbers, not those of keys."""

    __slots__ = ()


def is_operand(x: Any) -> bool:
    """Tell whether an operator takes `x`; its class is looked up from then on."""
    kind: Any = type(x)  # pyright: ignore[reportUnknownVariableType] - `cast` takes 40 ns
    return kind in OPERANDS or _is_array(kind) or number_type(kind) is not None


def plain(x: Any) -> Any:
    """Return the array or plain number that an operand stands for, if it is neither.

    An instance of a subclass of `int` becomes an `int`, and so on; an object with
    `__jax_array__` becomes what that returns.
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


_TAKEN: Final = (Protocols, np.ndarray)
_ARRAYS: Final[tuple[type, ...]] = (Operand, np.ndarray, np.generic)
OPERANDS: Final[set[type]] = {bool, int, float, complex}
"""Classes that `is_operand` takes: 100 ns faster than isinstance."""

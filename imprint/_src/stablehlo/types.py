"""Types and values of StableHLO text.

A `TensorType` is interned and knows its text, in which a size that is a name is a `?`.
A `Value` is an SSA name with its type. `literal` writes a NumPy array as the body of
`dense<...>`, exact to the last bit.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final, TypeGuard, cast, final

import numpy as np

DType = np.dtype[Any]

_ELEMENT: Final[dict[str, str]] = {
    "bool": "i1",
    "int2": "i2",
    "int4": "i4",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "uint2": "ui2",
    "uint4": "ui4",
    "uint8": "ui8",
    "uint16": "ui16",
    "uint32": "ui32",
    "uint64": "ui64",
    "bfloat16": "bf16",
    "float16": "f16",
    "float32": "f32",
    "float64": "f64",
    "complex64": "complex<f32>",
    "complex128": "complex<f64>",
    "float4_e2m1fn": "f4E2M1FN",
    "float8_e3m4": "f8E3M4",
    "float8_e4m3": "f8E4M3",
    "float8_e4m3b11fnuz": "f8E4M3B11FNUZ",
    "float8_e4m3fn": "f8E4M3FN",
    "float8_e4m3fnuz": "f8E4M3FNUZ",
    "float8_e5m2": "f8E5M2",
    "float8_e5m2fnuz": "f8E5M2FNUZ",
    "float8_e8m0fnu": "f8E8M0FNU",
}


@final
class TensorType:
    """The type of a tensor; make it with `tensor`, compare it with `is`."""

    __slots__ = ("dtype", "is_static", "shape", "text")

    def __init__(self, shape: tuple[int, ...], dtype: DType) -> None:
        numbers = [type(n) is int for n in shape]
        dims = "".join(
            f"{n}x" if known else "?x" for n, known in zip(shape, numbers, strict=True)
        )
        self.shape: tuple[int, ...] = shape
        self.dtype: DType = dtype
        self.is_static: bool = all(numbers)
        self.text: str = f"tensor<{dims}{_ELEMENT[dtype.name]}>"

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__


@final
class _TokenType:
    """The type of tokens, which order operations that have effects."""

    __slots__ = ()
    text = "!stablehlo.token"

    def __str__(self) -> str:
        return self.text


# A token takes the place of a value, and its shape is never read.
TOKEN: Final = cast("TensorType", _TokenType())


@lru_cache(maxsize=8192)
def tensor(shape: tuple[int, ...], dtype: DType) -> TensorType:
    """Return the interned type of tensors of this shape and dtype."""
    return TensorType(shape, dtype)


SIZE: Final = tensor((), np.dtype(np.int32))
"""The type of a size as a value."""


def is_named(n: Any) -> TypeGuard[Any]:
    """Return whether a size is an expression of names: it can be computed from them."""
    return type(n) is not int and hasattr(n, "computed")


@final
class Value:
    """An SSA value: `%3` or `%arg0`, and its type."""

    __slots__ = ("name", "type")

    def __init__(self, name: str, type: TensorType) -> None:  # noqa: A002 - MLIR's word
        self.name: str = name
        self.type: TensorType = type

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the tensor."""
        return self.type.shape

    @property
    def dtype(self) -> DType:
        """The dtype of the elements."""
        return self.type.dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.type.shape)

    def __repr__(self) -> str:
        return f"{self.name}: {self.type}"


def signature(operands: Sequence[Value], results: Sequence[TensorType]) -> str:
    """Return `(types) -> types`."""
    args = ", ".join([x.type.text for x in operands])
    outs = ", ".join([t.text for t in results])
    return f"({args}) -> {outs}" if len(results) == 1 else f"({args}) -> ({outs})"


def names_of(values: Sequence[Value]) -> str:
    """Return names of values with commas between."""
    return ", ".join([v.name for v in values])


def list_text(items: Sequence[object]) -> str:
    """Return `[0, 1]`."""
    return f"[{', '.join(map(str, items))}]"


def drop_axes(shape: Sequence[int], dimensions: Sequence[int]) -> tuple[int, ...]:
    """Return a shape without some of its axes."""
    return tuple(n for i, n in enumerate(shape) if i not in dimensions)


def literal(array: np.ndarray[Any, Any]) -> str:
    """Return an array as the text of `dense<...>` for its own dtype."""
    if array.size == 0:
        return "dense<>"
    first = array.reshape(-1)[:1]
    if array.ndim == 0 or array.tobytes() == first.tobytes() * array.size:
        return f"dense<{_scalar(first[0], array.dtype)}>"
    if array.dtype.kind in "iufc" and array.dtype.itemsize * 8 == _bits(array.dtype):
        return f'dense<"0x{np.ascontiguousarray(array).tobytes().hex().upper()}">'
    return f"dense<{_elements(array)}>"


def _bits(dtype: DType) -> int:
    return {"int2": 2, "uint2": 2, "int4": 4, "uint4": 4}.get(
        dtype.name, dtype.itemsize * 8
    )


def _elements(array: np.ndarray[Any, Any]) -> str:
    if array.ndim == 0:
        return _scalar(array[()], array.dtype)
    return f"[{', '.join(_elements(row) for row in array)}]"


def _scalar(x: Any, dtype: DType) -> str:
    if dtype.kind == "b":
        return "true" if x else "false"
    if dtype.kind in "iu" or "int" in dtype.name:
        return str(int(x))
    if dtype.kind == "c":
        part = np.dtype(f"f{dtype.itemsize // 2}")
        return f"({_scalar(x.real, part)}, {_scalar(x.imag, part)})"
    return _float(x, dtype)


def _float(x: Any, dtype: DType) -> str:
    value = float(x)
    if np.isfinite(value):
        short = f"{value:e}"
        if dtype.type(float(short)) == x:
            return short
        return f"{value:.17e}"
    bits = np.asarray(x, dtype).view(f"u{dtype.itemsize}")
    return f"0x{int(bits):0{2 * dtype.itemsize}X}"

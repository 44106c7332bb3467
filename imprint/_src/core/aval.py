"""Abstract values: the shape, dtype, weak type and sharding of an array.

`ShapedArray` is interned: equal avals are the same object, so a cache key compares
identities and an aval hashes as fast as a pointer. The intern table holds weak
references. `get_aval` returns the aval of any operand of a primitive. `host_aval` is the
fast path for arguments of a call. It looks avals of NumPy up by (dtype, shape) and returns
None where the value needs the slow path: foreign byte order, a large integer, no array.
"""

import weakref
from _weakref import (
    _remove_dead_weakref as drop_dead,  # pyright: ignore[reportAttributeAccessIssue, reportUnknownVariableType] - atomic, as nothing public is
)
from collections.abc import Hashable, Sequence
from typing import Any, Final, TypeAlias, cast, final

import numpy as np

from imprint._src import dtypes
from imprint._src.bootstrap import hooks
from imprint._src.config import Settings, enable_x64, settings
from imprint._src.core import dims
from imprint._src.core.dims import Dim, Shape
from imprint._src.errors import ArgumentError
from imprint._src.sharding.varying import Varying, along

DType = np.dtype[Any]
NDArray = np.ndarray[Any, Any]
NO_AXES: Final[frozenset[str]] = frozenset()


@final
class ShapedArray:
    """The abstract value of an array; interned, so compare with `is`.

    Args:
        shape: the size of each axis.
        dtype: the dtype of the elements.
        weak_type: whether promotion prefers the other operand's dtype.
        sharding: the sharding of the values, or None if it is not fixed.
    """

    __slots__ = (
        *("__weakref__", "dtype", "ndim", "shape", "sharding", "size", "weak_type"),
    )
    shape: Shape
    dtype: DType
    weak_type: bool
    sharding: Hashable
    ndim: int
    size: Dim

    def __new__(
        cls,
        shape: Shape,
        dtype: DType,
        weak_type: bool = False,  # noqa: FBT001, FBT002 - positional: the hottest constructor
        sharding: Hashable = None,
    ) -> "ShapedArray":
        """Return the one aval with these fields."""
        ref = _interned.get((shape, dtype, weak_type, sharding))
        aval = None if ref is None else ref()
        if aval is None:
            aval = _intern(shape, dtype, weak_type, sharding)
        return aval

    def update(self, **changes: Any) -> "ShapedArray":
        """Return this aval with other fields, such as `shape=` or `dtype=`."""
        fields = ("shape", "dtype", "weak_type", "sharding")
        values: list[Any] = [changes.pop(n, getattr(self, n)) for n in fields]
        if changes:
            raise TypeError(
                f"update: expected fields of an aval, {', '.join(fields)}, got "
                f"{', '.join(changes)}."
            )
        return ShapedArray(*values)

    def str_short(self, short_dtypes: bool = False) -> str:  # noqa: FBT001, FBT002 - JAX's signature
        """Return the text `float32[3,4]`, or `f32[3,4]` with short names of dtypes."""
        if short_dtypes:
            return self.short()
        return f"{dtypes.full_name(self.dtype)}{_brackets(self.shape)}"

    @property
    def itemsize(self) -> int:
        """The number of bytes of an element."""
        return self.dtype.itemsize

    def with_shape(self, shape: Shape) -> "ShapedArray":
        """Return this aval with another shape, and no placement."""
        sharding = self.sharding
        if sharding is not None and sharding.__class__ is not Varying:
            sharding = None
        return ShapedArray(shape, self.dtype, self.weak_type, sharding)

    def with_dtype(self, dtype: DType, *, weak_type: bool = False) -> "ShapedArray":
        """Return this aval with another dtype; strong unless said otherwise."""
        return ShapedArray(self.shape, dtype, weak_type, self.sharding)

    def with_sharding(self, sharding: Hashable) -> "ShapedArray":
        """Return this aval with another sharding."""
        return ShapedArray(self.shape, self.dtype, self.weak_type, sharding)

    def unplaced(self) -> "ShapedArray":
        """Return this aval without a placement, as programs have it."""
        sharding = self.sharding
        if sharding is None or sharding.__class__ is Varying:
            return self
        return self.with_sharding(None)

    @property
    def vma(self) -> frozenset[str]:
        """The axes of the mesh along which it may differ, inside `shard_map`."""
        sharding = self.sharding
        return sharding.axes if isinstance(sharding, Varying) else NO_AXES

    def varying(self, axes: frozenset[str]) -> "ShapedArray":
        """Return this aval for values that differ along exactly these mesh axes."""
        return self.with_sharding(along(axes))

    def strong(self) -> "ShapedArray":
        """Return this aval without its weak type."""
        return self.with_dtype(self.dtype) if self.weak_type else self

    def strip_weak_type(self) -> "ShapedArray":
        """Return this aval without its weak type; JAX's name of `strong`."""
        return self.strong()

    def to_tangent_aval(self) -> "ShapedArray":
        """Return the aval of the tangents of these values."""
        if dtypes.is_inexact(self.dtype):
            return self
        return ShapedArray(self.shape, dtypes.float0)

    def at_least_vspace(self) -> "ShapedArray":
        """Return the aval of the tangents; JAX's older name of `to_tangent_aval`."""
        return self.to_tangent_aval()

    def short(self) -> str:
        """Return the form that jaxprs print: `f32[3,4]`."""
        return f"{dtypes.short_name(self.dtype)}{_brackets(self.shape)}"

    def __str__(self) -> str:
        return f"{'~' if self.weak_type else ''}{self.str_short()}"

    def __repr__(self) -> str:
        weak = ", weak_type=True" if self.weak_type else ""
        place = "" if self.sharding is None else f", sharding={self.sharding}"
        return f"ShapedArray({dtypes.full_name(self.dtype)}{_brackets(self.shape)}{weak}{place})"

    def __reduce__(self) -> tuple[Any, ...]:
        return ShapedArray, (self.shape, self.dtype, self.weak_type, self.sharding)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"ShapedArray is immutable; cannot set {name!r}")


def get_aval(x: Any) -> ShapedArray:
    """Return the aval of an array, a tracer, a NumPy value or a Python scalar.

    Args:
        x: a value; its type decides.

    Returns:
        The aval; that of a Python number has a weak type.
    """
    aval: Any = getattr(x, "aval", None)  # a third of the price of an AttributeError
    if aval.__class__ is ShapedArray:  # a JAX array has a JAX aval
        return aval
    known = _of_scalar.get((x.__class__, settings()))
    return _new_aval(x) if known is None else known


def typeof(x: Any) -> ShapedArray:
    """Return the aval of an array, a tracer, an array of keys, or a number.

    Args:
        x: an array, a tracer, an array of keys, or a number.

    Returns:
        The aval, with `shape`, `dtype` and `weak_type`.

    References:
        JAX, `jax.typeof`.

    Example:
        >>> import imprint
        >>> import imprint.numpy as np
        >>> print(imprint.typeof(np.ones((2, 3))), imprint.typeof(1.0))
        float32[2,3] ~float32[]
    """
    if hasattr(getattr(x, "dtype", None), "words"):
        return ShapedArray(x.shape, x.dtype)
    return get_aval(x)


def _new_aval(x: Any) -> ShapedArray:
    """Return the aval of a NumPy or Python value; memoize those of scalars."""
    array: Any = x
    if isinstance(x, np.ndarray):
        if hasattr(array, "mask"):
            raise ArgumentError(
                f"expected an array without a mask, got a {type(array).__name__}. Masks have "
                "no meaning here: pass x.filled(value), and the mask beside it."
            )
        return ShapedArray(array.shape, dtypes.canonicalize(array.dtype))
    kind = cast("type[object]", type(x))
    if isinstance(x, np.generic):
        aval = ShapedArray((), dtypes.canonicalize(array.dtype))
    elif (number := dtypes.number_type(kind)) is not None:
        aval = ShapedArray((), dtypes.scalar_type_dtype(number), number is not bool)
        if number is not kind:
            return aval  # a user class, which the table must not keep alive
    else:
        raise ArgumentError(
            f"expected an array or a number, got {kind.__name__} {x!r}. "
            "Only arrays and numbers take part in array operations."
        )
    _of_scalar[kind, settings()] = aval
    return aval


def number_of(x: Any, dtype: DType) -> Any:
    """Return a number in the `dtype` it had when it was staged, under any `enable_x64`."""
    if get_aval(x).dtype == dtype:
        return x
    with enable_x64(not settings().enable_x64):
        return hooks.numpy.asarray(x)


def checked_integer(x: int, dtype: DType) -> DType:
    """Return `dtype`; raise OverflowError if the integer does not fit it."""
    info = np.iinfo(dtype)
    if not info.min <= x <= info.max:
        raise OverflowError(
            f"expected an integer in [{info.min}, {info.max}], got {x}. "
            "For 64-bit integers set imprint.config.update('enable_x64', True)."
        )
    return dtype


def shape_str(shape: Sequence[Dim]) -> str:
    """Return a shape as error messages print it: `[3,4]`."""
    return _brackets(shape)


_of_scalar: Final[dict[tuple[type, Settings], ShapedArray]] = {}
_Fields: TypeAlias = tuple[Shape, DType, bool, Hashable]
_interned: Final[dict[_Fields, weakref.ref[ShapedArray]]] = {}


def _intern(
    shape: Shape,
    dtype: DType,
    weak_type: bool,  # noqa: FBT001 - the hot constructor passes it on
    sharding: Hashable,
) -> ShapedArray:
    if isinstance(cast("object", dtype), str | type):
        return ShapedArray(shape, dtypes.as_dtype(dtype), weak_type, sharding)
    aval = object.__new__(ShapedArray)
    fields = dims.as_shape(shape)
    put = object.__setattr__
    put(aval, "shape", fields)
    put(aval, "dtype", dtype)
    put(aval, "weak_type", bool(weak_type))
    put(aval, "sharding", sharding)
    put(aval, "ndim", len(fields))
    put(aval, "size", dims.product(fields))
    key = (fields, dtype, bool(weak_type), sharding)

    def drop(_: object, *, drop_dead: Any = drop_dead, table: Any = _interned) -> None:
        drop_dead(table, key)  # by defaults: also at exit

    ref = weakref.ref(aval, drop)
    while True:  # two threads may make the same aval: the first in the table wins
        winner = _interned.setdefault(key, ref)
        found = winner()
        if found is not None:
            return found
        drop_dead(_interned, key)


def _brackets(shape: Sequence[Dim]) -> str:
    return f"[{','.join(map(str, shape))}]"


# ---- host values; hot ----


_LIMIT: Final = 4096
_KnownAvals = dict[tuple[Any, ...], ShapedArray]
_arrays: Final[tuple[_KnownAvals, _KnownAvals]] = ({}, {})  # without and with x64


def host_aval(x: Any) -> ShapedArray | None:
    """Return the aval of a host value as an argument, or None if it is no plain one."""
    kind: Any = x.__class__
    if kind is float or kind is bool or kind is complex:
        return ShapedArray((), dtypes.scalar_type_dtype(kind), kind is not bool)
    if kind is int:
        aval = ShapedArray((), dtypes.scalar_type_dtype(int), True)  # noqa: FBT003 - by position, it is hot
        bits = 8 * aval.dtype.itemsize - 1
        return aval if -(1 << bits) <= x < 1 << bits else None
    if kind is not np.ndarray and not issubclass(kind, np.generic):
        return None
    wide = settings().enable_x64
    known = _arrays[wide].get((x.dtype, x.shape))
    return _array_aval(x, wide) if known is None else known


def _array_aval(x: np.ndarray[Any, Any], wide: bool) -> ShapedArray | None:  # noqa: FBT001 - by position, it is hot
    known = _arrays[wide]
    if (x.dtype.kind in "OSUMmV" and x.dtype not in dtypes.ALL) or not x.dtype.isnative:
        return None
    if len(known) >= _LIMIT:
        known.clear()
    aval = ShapedArray(x.shape, dtypes.canonicalize(x.dtype))
    return known.setdefault((x.dtype, x.shape), aval)

"""Create arrays from Python and NumPy values, or filled with one value.

`array` and `asarray` copy NumPy arrays, so a later change of the original has no
effect. Python numbers give weak arrays of rank 0, lists of them strong ones. Ranges are
in `ranges`, matrices with a pattern in `matrices`.
"""

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from imprint._src import dtypes
from imprint._src.array import ArrayImpl, from_host, to_array
from imprint._src.core.array import Array, NumberArray, plain
from imprint._src.core.array_interop import shown
from imprint._src.core.aval import DType, ShapedArray, get_aval
from imprint._src.core.tangents import is_float0, no_values
from imprint._src.dtypes import DTypeLike
from imprint._src.eager.device_put import DeviceLike, placed
from imprint._src.eager.spread import spread
from imprint._src.errors import ArgumentError, DTypeError, ShapeError
from imprint._src.interpreters.keys import accepts_keys
from imprint._src.numpy.promotion import (
    ArrayLike,
    as_array,
    broadcast,
    convert,
    is_operand,
)
from imprint._src.numpy.shapes.concatenate import stack
from imprint._src.numpy.shapes.reshape import (
    ShapeLike,
    broadcast_to,
    expand_dims,
    shape_of,
)
from imprint._src.primitives import core_ops
from imprint._src.primitives.copying import copy_p
from imprint._src.tree import internal as tree


def array(  # noqa: PLR0913 - JAX's signature
    object: Any,
    dtype: DTypeLike | None = None,
    *,
    copy: bool = True,
    order: str | None = "K",
    ndmin: int = 0,
    device: DeviceLike | None = None,
    out_sharding: Any = None,
) -> Array:
    """Create an array.

    Args:
        object: a number, an array, or nested sequences of these.
        dtype: the dtype; None for the common dtype of the values.
        copy: whether to copy an array, so that it outlives a donation of the original.
            NumPy arrays are always copied.
        order: None or "K"; arrays have one memory order.
        ndmin: the minimum number of axes; new ones come first.
        device: where it is to be, as in `imprint.device_put`.
        out_sharding: how the result is spread, as in `imprint.lax.with_sharding_constraint`.

    Returns:
        An array of the shape of the nesting, with `ndmin` axes at least. A Python
        `int`, `float` or `complex` alone is weakly typed unless `dtype` is given.

    References:
        NumPy, `numpy.array`.

    Example:
        >>> import imprint.numpy as np
        >>> np.array([[1, 2], [3, 4.5]])
        Array([[1. , 2. ],
               [3. , 4.5]], dtype=float32)
    """
    if out_sharding is not None:
        return spread(
            array(object, dtype, copy=copy, order=order, ndmin=ndmin, device=device),
            out_sharding,
        )
    _check_order("array", order)
    wanted = None if dtype is None else dtypes.requested(dtype, "array")
    x = _convert(object, wanted, copy)
    x = expand_dims(x, tuple(range(ndmin - x.ndim))) if x.ndim < ndmin else x
    return placed("array", x, device)


def asarray(
    a: Any,
    dtype: DTypeLike | None = None,
    order: str | None = None,
    *,
    copy: bool | None = None,
    device: DeviceLike | None = None,
    out_sharding: Any = None,
) -> Array:
    """Convert to an array; an array is returned unchanged.

    Args:
        a: a number, an array, or nested sequences of these.
        dtype: the dtype; None for the common dtype of the values.
        order: as in `array`.
        copy: whether to copy an array too.
        device: where it is to be, as in `imprint.device_put`.
        out_sharding: how the result is spread, as in `imprint.lax.with_sharding_constraint`.

    Returns:
        An array of the shape of `a`. A Python `int`, `float` or `complex` alone is
        weakly typed unless `dtype` is given.

    References:
        NumPy, `numpy.asarray`.

    Example:
        >>> import imprint.numpy as np
        >>> np.asarray([True, 2])
        Array([1, 2], dtype=int32)
    """
    if out_sharding is not None:
        return spread(asarray(a, dtype, order, copy=copy, device=device), out_sharding)
    _check_order("asarray", order)
    wanted = None if dtype is None else dtypes.requested(dtype, "asarray")
    is_made = isinstance(a, Array) and dtype is None and not copy
    x = a if is_made else _convert(a, wanted, copy)
    return placed("asarray", x, device)


@accepts_keys(0)
def copy(a: ArrayLike, order: str | None = None) -> Array:
    """Return a copy of an array, which outlives a donation of the original.

    Args:
        a: an array.
        order: as in `array`.

    Returns:
        An array of the shape, dtype and values of `a`.

    References:
        NumPy, `numpy.copy`.

    Example:
        >>> import imprint.numpy as np
        >>> np.copy(np.arange(3))
        Array([0, 1, 2], dtype=int32)
    """
    _check_order("copy", order)
    return copy_p.bind1(as_array("copy", a))


def from_dlpack(
    x: Any, /, *, device: DeviceLike | None = None, copy: bool | None = None
) -> Array:
    """Create an array from an array of another library, by DLPack.

    Args:
        x: an object with `__dlpack__` and `__dlpack_device__`, in host memory.
        device: where it is to be, as in `imprint.device_put`.
        copy: True or None copies, because another library may write to its memory.
            False shares the memory, if the dtype allows; a later write to it may or may
            not change the array.

    Returns:
        An array of the shape and dtype of `x`.

    Raises:
        ArgumentError: `x` has no `__dlpack__`.
        DTypeError: NumPy lacks the dtype.

    References:
        NumPy, `numpy.from_dlpack`.

    Example:
        >>> import numpy
        >>> import imprint.numpy as np
        >>> np.from_dlpack(numpy.arange(3.0, dtype="float32"))
        Array([0., 1., 2.], dtype=float32)
    """
    if not hasattr(x, "__dlpack__"):
        raise ArgumentError(
            f"from_dlpack: expected an array with `__dlpack__`, got {shown(x)}. "
            "For numbers and sequences call imprint.numpy.asarray."
        )
    try:
        values = np.from_dlpack(x)
    except RuntimeError as err:  # NumPy lacks these dtypes
        raise DTypeError(
            "from_dlpack: expected a dtype that NumPy takes from other libraries, got "
            f"{getattr(x, 'dtype', 'another')}: {err} Hand over its bits, such as "
            "`x.view(torch.uint16)`, and view them here, `.view('bfloat16')`."
        ) from None
    if copy is False:
        return _sharing(values, device)
    return placed("from_dlpack", asarray(values), device)


def is_supported_dtype(dtype: Any) -> bool:
    """Return whether arrays of a dtype can be handed over by DLPack, as in JAX.

    Args:
        dtype: a dtype, or its name.

    Returns:
        Whether they can.

    Raises:
        ArgumentError: `dtype` is None.

    References:
        JAX, `jax.dlpack.is_supported_dtype`.

    Example:
        >>> import imprint
        >>> imprint.dlpack.is_supported_dtype("float32")
        True
        >>> imprint.dlpack.is_supported_dtype("int4")
        False
    """
    if dtype is None:
        raise ArgumentError(
            "is_supported_dtype: expected a dtype, got None. Name one, such as 'float32'."
        )
    known = dtypes.as_dtype(dtype)
    is_narrow = known in dtypes.NARROW_FLOATS or dtypes.bit_width(known) < 8
    return known == dtypes.bfloat16 or not is_narrow


def _sharing(values: Any, device: DeviceLike | None) -> Array:
    """Return an array that shares the memory of another library's array."""
    if dtypes.canonicalize(values.dtype) != values.dtype:
        raise ArgumentError(
            "from_dlpack: expected copy to be None or True for what is converted, got "
            f"False for {values.dtype}, which becomes {dtypes.canonicalize(values.dtype)}. "
            "Leave copy out, or set enable_x64."
        )
    values.flags.writeable = False
    array = from_host(get_aval(values), values)
    moved = placed("from_dlpack", array, device)
    if isinstance(moved, ArrayImpl) and moved.device is not array.device:
        raise ArgumentError(
            "from_dlpack: expected copy to be None or True for another device, got False "
            f"for {moved.device}. Leave copy out."
        )
    return moved


def _check_order(name: str, order: str | None) -> None:
    if order not in (None, "K"):
        raise NotImplementedError(
            f"{name}: expected order to be None or 'K', got {order!r}. Arrays have no "
            "order in memory to choose: leave it out, or call transpose."
        )


@accepts_keys(0)
def _convert(value: Any, dtype: DType | None, copy: bool | None) -> Array:  # noqa: FBT001 - passed on by `accepts_keys`
    if is_float0(value) and dtype in (None, dtypes.float0):
        return value
    x = _from_value(value, dtype)
    return copy_p.bind1(x) if copy and x is value else x


def _from_value(value: Any, dtype: DType | None) -> Array:
    value = plain(value)
    if is_operand(value):
        return _from_operand(value, dtype)
    if isinstance(value, str | bytes) or value is None:
        raise ArgumentError(
            f"array: expected numbers or arrays, got {shown(value)}. Convert it to a "
            "number first."
        )
    if isinstance(value, memoryview | bytearray) or (
        not isinstance(value, list | tuple)
        and (hasattr(value, "__array__") or hasattr(value, "__array_interface__"))
    ):
        return _from_operand(np.asarray(value), dtype)
    if not isinstance(value, Sequence):
        raise ArgumentError(
            f"array: expected numbers, arrays or sequences of them, got {shown(value)}. "
            "Make a list of it first."
        )
    known = isinstance(value, list | tuple)  # others are leaves
    return _from_sequence(value if known else [*cast("Sequence[Any]", value)], dtype)


def _from_operand(value: Any, dtype: DType | None) -> Array:
    if dtype is None:
        return as_array("array", value)
    if type(value) is int and not dtypes.is_integer(dtype):
        return to_array(dtype.type(value))
    if isinstance(value, np.ndarray | np.generic):  # one conversion, of all bits
        shape = get_aval(value).shape
        with np.errstate(all="ignore"):
            values = np.array(value, dtype, order="C")
        return from_host(ShapedArray(shape, dtype), values)
    converted = convert("array", value, dtype)
    return converted if isinstance(converted, NumberArray) else to_array(converted)


def _from_sequence(value: Any, dtype: DType | None) -> Array:
    leaves = [plain(x) for x in tree.leaves(value, is_leaf=_is_element)]
    if range in map(type, leaves):
        spelled = tree.map(_without_range, value, is_leaf=_is_element)
        return _from_sequence(spelled, dtype)
    if any(isinstance(leaf, NumberArray) for leaf in leaves):
        common = dtype or dtypes.result_type(*leaves)
        return stack([_from_value(part, common) for part in value])
    wanted = dtype or (
        dtypes.result_type(*leaves) if leaves else dtypes.default_float()
    )
    try:
        values = np.array(value) if leaves else np.empty(np.shape(value))
    except ValueError as err:
        raise ShapeError(
            f"array: expected nested sequences of equal lengths, got {value!r:.120}. "
            "Pad the shorter ones."
        ) from err
    if values.dtype.kind == "O" and dtypes.is_integer(wanted):
        raise OverflowError(
            f"array: expected integers that fit {wanted}, got {value!r:.120}. "
            "For 64-bit integers set imprint.config.update('enable_x64', True)."
        )
    return _narrowed(values, wanted)


def _is_element(x: Any) -> bool:
    """Return whether a leaf of nested sequences was found; raise for other objects."""
    if isinstance(x, list | tuple | range):
        return False
    if not is_operand(plain(x)):
        raise ArgumentError(
            f"array: expected numbers or arrays in the sequence, got {shown(x)}. Convert "
            "it to a number first."
        )
    return True


def _without_range(x: Any) -> Any:
    return [*x] if type(x) is range else x


def _narrowed(values: Any, dtype: DType) -> Array:
    """Return new NumPy values in a dtype; raise if an integer does not fit."""
    if values.dtype.kind in "iu" and dtypes.is_integer(dtype) and values.size:
        info = dtypes.iinfo(dtype)
        if values.min() < info.min or values.max() > info.max:
            raise OverflowError(
                f"array: expected integers between {info.min} and {info.max} for "
                f"{dtype}, got {values.min()} to {values.max()}. For 64-bit integers "
                "set imprint.config.update('enable_x64', True)."
            )
    with np.errstate(all="ignore"):
        narrow = values.astype(dtype, copy=False)
    return from_host(ShapedArray(narrow.shape, dtype), narrow)


# ---- filled with one value ----


def zeros(
    shape: ShapeLike,
    dtype: DTypeLike | None = None,
    *,
    device: DeviceLike | None = None,
    out_sharding: Any = None,
) -> Array:
    """Return an array of zeros.

    Args:
        shape: the lengths of the axes: an integer or a tuple.
        dtype: the dtype; None for the default float.
        device: where it is to be, as in `imprint.device_put`.
        out_sharding: how the result is spread, as in
            `imprint.lax.with_sharding_constraint`.

    Returns:
        An array of this shape and dtype.

    Raises:
        DTypeError: `dtype` is an integer, so probably a part of the shape.

    References:
        NumPy, `numpy.zeros`.

    Example:
        >>> import imprint.numpy as np
        >>> np.zeros((2, 2))
        Array([[0., 0.],
               [0., 0.]], dtype=float32)
    """
    if out_sharding is not None:
        return spread(zeros(shape, dtype, device=device), out_sharding)
    _check_shape_tuple("zeros", shape, dtype)
    wanted = dtypes.requested(float if dtype is None else dtype, "zeros")
    return placed("zeros", _filled("zeros", shape, 0, wanted), device)


def ones(
    shape: ShapeLike,
    dtype: DTypeLike | None = None,
    *,
    device: DeviceLike | None = None,
    out_sharding: Any = None,
) -> Array:
    """Return an array of ones.

    Args:
        shape: the lengths of the axes: an integer or a tuple.
        dtype: the dtype; None for the default float.
        device: where it is to be, as in `imprint.device_put`.
        out_sharding: how the result is spread, as in
            `imprint.lax.with_sharding_constraint`.

    Returns:
        An array of this shape and dtype.

    Raises:
        DTypeError: `dtype` is an integer, so probably a part of the shape.

    References:
        NumPy, `numpy.ones`.

    Example:
        >>> import imprint.numpy as np
        >>> np.ones(3, dtype="int32")
        Array([1, 1, 1], dtype=int32)
    """
    if out_sharding is not None:
        return spread(ones(shape, dtype, device=device), out_sharding)
    _check_shape_tuple("ones", shape, dtype)
    wanted = dtypes.requested(float if dtype is None else dtype, "ones")
    return placed("ones", _filled("ones", shape, 1, wanted), device)


def empty(
    shape: ShapeLike,
    dtype: DTypeLike | None = None,
    *,
    device: DeviceLike | None = None,
    out_sharding: Any = None,
) -> Array:
    """Return an array of unspecified values (zeros).

    Args:
        shape: the lengths of the axes: an integer or a tuple.
        dtype: the dtype; None for the default float.
        device: where it is to be, as in `imprint.device_put`.
        out_sharding: how the result is spread, as in
            `imprint.lax.with_sharding_constraint`.

    Returns:
        An array of this shape and dtype.

    Raises:
        DTypeError: `dtype` is an integer, so probably a part of the shape.

    References:
        NumPy, `numpy.empty`.

    Example:
        >>> import imprint.numpy as np
        >>> np.empty((2, 3)).shape
        (2, 3)
    """
    if out_sharding is not None:
        return spread(empty(shape, dtype, device=device), out_sharding)
    _check_shape_tuple("empty", shape, dtype)
    wanted = dtypes.requested(float if dtype is None else dtype, "empty")
    return placed("empty", _filled("empty", shape, 0, wanted), device)


def full(
    shape: ShapeLike,
    fill_value: ArrayLike,
    dtype: DTypeLike | None = None,
    *,
    device: DeviceLike | None = None,
    out_sharding: Any = None,
) -> Array:
    """Return an array filled with a value.

    Args:
        shape: the lengths of the axes.
        fill_value: a number, or an array that broadcasts to `shape`.
        dtype: the dtype; None for that of the value.
        device: where it is to be, as in `imprint.device_put`.
        out_sharding: how the result is spread, as in `imprint.lax.with_sharding_constraint`.

    Returns:
        An array of this shape, weakly typed if the value is a number and `dtype` is
        None.

    References:
        NumPy, `numpy.full`.

    Example:
        >>> import imprint.numpy as np
        >>> np.full(2, 7)
        Array([7, 7], dtype=int32, weak_type=True)
    """
    if out_sharding is not None:
        return spread(full(shape, fill_value, dtype, device=device), out_sharding)
    wanted = None if dtype is None else dtypes.requested(dtype, "full")
    value = as_array("full", fill_value) if wanted is None else None
    if value is None:
        value = _from_operand(fill_value, wanted)
    return placed("full", broadcast_to(value, shape_of("full", shape)), device)


def zeros_like(
    a: Any,
    dtype: DTypeLike | None = None,
    shape: ShapeLike | None = None,
    *,
    device: DeviceLike | None = None,
    out_sharding: Any = None,
) -> Array:
    """Return zeros with the shape and dtype of an array, unless given.

    Args:
        a: an array, a number, or an object with a shape and a dtype.
        dtype: the dtype; None for that of `a`.
        shape: the lengths of the axes; None for those of `a`.
        device: where it is to be; None for the place of `a`, if that is committed to
            one.
        out_sharding: how the result is spread, as in
            `imprint.lax.with_sharding_constraint`.

    Returns:
        An array of this shape and dtype, as weakly typed as `a` if `dtype` is None.

    References:
        NumPy, `numpy.zeros_like`.

    Example:
        >>> import imprint.numpy as np
        >>> np.zeros_like(np.arange(3), dtype="float32")
        Array([0., 0., 0.], dtype=float32)
    """
    if out_sharding is not None:
        return spread(zeros_like(a, dtype, shape, device=device), out_sharding)
    wanted = None if dtype is None else dtypes.requested(dtype, "zeros_like")
    return _placed_like(
        "zeros_like", a, _like("zeros_like", a, 0, wanted, shape), device
    )


def ones_like(
    a: Any,
    dtype: DTypeLike | None = None,
    shape: ShapeLike | None = None,
    *,
    device: DeviceLike | None = None,
    out_sharding: Any = None,
) -> Array:
    """Return ones with the shape and dtype of an array, unless given.

    Args:
        a: an array, a number, or an object with a shape and a dtype.
        dtype: the dtype; None for that of `a`.
        shape: the lengths of the axes; None for those of `a`.
        device: where it is to be; None for the place of `a`, if that is committed to
            one.
        out_sharding: how the result is spread, as in
            `imprint.lax.with_sharding_constraint`.

    Returns:
        An array of this shape and dtype, as weakly typed as `a` if `dtype` is None.

    References:
        NumPy, `numpy.ones_like`.

    Example:
        >>> import imprint.numpy as np
        >>> np.ones_like(np.arange(3))
        Array([1, 1, 1], dtype=int32)
    """
    if out_sharding is not None:
        return spread(ones_like(a, dtype, shape, device=device), out_sharding)
    wanted = None if dtype is None else dtypes.requested(dtype, "ones_like")
    return _placed_like("ones_like", a, _like("ones_like", a, 1, wanted, shape), device)


def empty_like(
    prototype: Any,
    dtype: DTypeLike | None = None,
    shape: ShapeLike | None = None,
    *,
    device: DeviceLike | None = None,
) -> Array:
    """Return unspecified values (zeros) with the shape and dtype of an array.

    Args:
        prototype: an array, a number, or an object with a shape and a dtype.
        dtype: the dtype; None for that of the prototype.
        shape: the lengths of the axes; None for those of the prototype.
        device: where it is to be; None for the place of a committed prototype.

    Returns:
        An array of this shape and dtype, as weakly typed as the prototype if `dtype` is
        None.

    References:
        NumPy, `numpy.empty_like`.

    Example:
        >>> import imprint.numpy as np
        >>> np.empty_like(np.arange(3)).dtype
        dtype('int32')
    """
    wanted = None if dtype is None else dtypes.requested(dtype, "empty_like")
    return _placed_like(
        "empty_like",
        prototype,
        _like("empty_like", prototype, 0, wanted, shape),
        device,
    )


def full_like(
    a: Any,
    fill_value: ArrayLike,
    dtype: DTypeLike | None = None,
    shape: ShapeLike | None = None,
    *,
    device: DeviceLike | None = None,
    out_sharding: Any = None,
) -> Array:
    """Return an array filled with a value, with the shape and dtype of another.

    Args:
        a: an array, a number, or an object with a shape and a dtype.
        fill_value: a number, or an array that broadcasts to the shape.
        dtype: the dtype; None for that of `a`.
        shape: the lengths of the axes; None for those of `a`.
        device: where it is to be; None for the place of `a`, if that is committed to
            one.
        out_sharding: how the result is spread, as in
            `imprint.lax.with_sharding_constraint`.

    Returns:
        An array of this shape and dtype, as weakly typed as `a` if `dtype` is None.

    References:
        NumPy, `numpy.full_like`.

    Example:
        >>> import imprint.numpy as np
        >>> np.full_like(np.arange(3), 2.5)
        Array([2, 2, 2], dtype=int32)
    """
    if out_sharding is not None:
        return spread(
            full_like(a, fill_value, dtype, shape, device=device), out_sharding
        )
    wanted = None if dtype is None else dtypes.requested(dtype, "full_like")
    filled = _like("full_like", a, fill_value, wanted, shape)
    return _placed_like("full_like", a, filled, device)


def _like(
    name: str, a: Any, value: ArrayLike, dtype: DType | None, shape: ShapeLike | None
) -> Array:
    a = plain(a)
    own = a if hasattr(a, "shape") and hasattr(a, "dtype") else get_aval(a)
    weak = dtype is None and bool(
        getattr(get_aval(a) if is_operand(a) else own, "weak_type", False)
    )
    wanted = dtypes.canonicalize(own.dtype) if dtype is None else dtype
    sizes = own.shape if shape is None else shape_of(name, shape)
    if wanted == dtypes.float0:
        return cast("Any", no_values(sizes))
    filler = convert(name, as_array(name, value), wanted, weak_type=weak)
    return broadcast(filler, sizes)


def _placed_like(name: str, like: Any, x: Array, device: DeviceLike | None) -> Array:
    """Return an array on the given device, or on that of a committed array."""
    if device is None and isinstance(like, ArrayImpl) and like.committed:
        device = like.sharding
    return placed(name, x, device)


def _filled(name: str, shape: ShapeLike, value: int, dtype: DType) -> Array:
    sizes = shape_of(name, shape)
    if dtype == dtypes.float0:
        return cast("Any", no_values(sizes))
    if sizes:
        return core_ops.full(sizes, value, dtype)
    return to_array(dtype.type(value))


def _check_shape_tuple(name: str, shape: Any, dtype: Any) -> None:
    if isinstance(shape, int) and isinstance(dtype, int):
        raise DTypeError(
            f"{name}: expected a dtype as second argument, got {dtype}. "
            f"A shape is one argument: {name}(({shape}, {dtype}))."
        )

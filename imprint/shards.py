"""Arrays over several devices, made of their parts.

Each function takes the sharding that the array is to have. Where a part is made by a
function of the user's, it is asked once for each part, however many devices have it.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from imprint import runtime
from imprint.array import ArrayImpl, buffer_of, from_host, to_array
from imprint.core.aval import ShapedArray
from imprint.dtypes import canonicalize
from imprint.errors import ArgumentError, DTypeError, ShapeError
from imprint.sharding.context import resolved
from imprint.sharding.named import Index, NamedSharding
from imprint.sharding.single import SingleDeviceSharding


def make_array_from_callback(
    shape: Sequence[int],
    sharding: Any,
    data_callback: Callable[[Index], Any],
    dtype: Any = None,
) -> ArrayImpl:
    """Return an array whose parts a function gives.

    Args:
        shape: that of the whole array.
        sharding: how it is spread over devices.
        data_callback: takes an index, which is a slice of each axis, and returns that
            part of the array.
        dtype: of the elements; by default that of the first part.

    Raises:
        ArgumentError: `sharding` is none.
        ShapeError: a part has another shape, or the array cannot be spread like this.
        DTypeError: a part has another dtype than the first.

    >>> import imprint, numpy
    >>> rows = imprint.NamedSharding(
    ...     imprint.make_mesh((1,), ("data",)), imprint.P("data")
    ... )
    >>> values = numpy.arange(4)
    >>> imprint.make_array_from_callback((4,), rows, lambda index: values[index])
    Array([0, 1, 2, 3], dtype=int32)
    """
    name = "make_array_from_callback"
    shape = tuple(shape)
    over = _sharding(name, sharding, shape)
    parts = over.devices_indices_map(shape)
    made: dict[Any, Any] = {}
    for index in parts.values():
        at = _bounds(index)
        if at not in made:
            part = np.asarray(data_callback(index))
            wanted = (
                dtype if dtype is not None else next(iter(made.values()), part).dtype
            )
            made[at] = _part(name, part, over.shard_shape(shape), canonicalize(wanted))
    pieces = [made[_bounds(index)] for index in parts.values()]
    return _assembled(shape, over, pieces)


def make_array_from_single_device_arrays(
    shape: Sequence[int],
    sharding: Any,
    arrays: Sequence[Any],
    *,
    dtype: Any = None,
) -> ArrayImpl:
    """Return an array of which each device has its part already; nothing is copied.

    Args:
        shape: that of the whole array.
        sharding: how it is spread over devices.
        arrays: the parts, one on each device, in any order.
        dtype: of the elements, where there are no arrays.

    Raises:
        ArgumentError: a device has no part, or two.
        ShapeError: a part has another shape than the sharding says.
        DTypeError: the parts differ in dtype.

    >>> import imprint
    >>> one = imprint.NamedSharding(
    ...     imprint.make_mesh((1,), ("data",)), imprint.P("data")
    ... )
    >>> part = imprint.device_put(imprint.numpy.ones(2), imprint.devices()[0])
    >>> imprint.make_array_from_single_device_arrays((2,), one, [part])
    Array([1., 1.], dtype=float32)
    """
    name = "make_array_from_single_device_arrays"
    shape = tuple(shape)
    over = _sharding(name, sharding, shape)
    given = [to_array(x) for x in arrays]
    there = {x.device: x for x in given}
    if len(given) != over.num_devices or there.keys() != over.device_set:
        raise ArgumentError(
            f"{name}: expected one array on each of {len(over.device_set)} devices of "
            f"{over.mesh!r}, got arrays on {[str(x.device) for x in given]}. Put each "
            "part on its device with imprint.device_put."
        )
    first = given[0].dtype if dtype is None else canonicalize(dtype)
    pieces: list[Any] = []
    for device in over.flat_devices:
        part = there[device]
        _check_part(name, part, over.shard_shape(shape), first)
        pieces.append(buffer_of(part))
    return _assembled(shape, over, pieces, first)


def make_array_from_process_local_data(
    sharding: Any, local_data: Any, global_shape: Sequence[int] | None = None
) -> ArrayImpl:
    """Return an array of what each process has of it: here one process has all.

    Args:
        sharding: how it is spread over devices.
        local_data: what this process has.
        global_shape: the shape of the whole array; by default that of `local_data`.

    Raises:
        ShapeError: the data has another shape, or cannot be spread like this.

    >>> import imprint, numpy
    >>> rows = imprint.NamedSharding(
    ...     imprint.make_mesh((1,), ("data",)), imprint.P("data")
    ... )
    >>> imprint.make_array_from_process_local_data(rows, numpy.ones(2, "float32"))
    Array([1., 1.], dtype=float32)
    """
    name = "make_array_from_process_local_data"
    values = np.array(local_data, canonicalize(np.asarray(local_data).dtype))
    shape = values.shape if global_shape is None else tuple(global_shape)
    if shape != values.shape:
        raise ShapeError(
            f"{name}: expected local_data of the global_shape {shape}, as there is one "
            f"process, got the shape {values.shape}. Give all of the array."
        )
    over = _sharding(name, sharding, shape)
    return from_host(ShapedArray(shape, values.dtype, False, over), values)  # noqa: FBT003 - hot constructor


def _sharding(name: str, given: Any, shape: tuple[int, ...]) -> NamedSharding:
    over = resolved(name, given)
    if isinstance(over, SingleDeviceSharding):
        raise ArgumentError(
            f"{name}: expected a NamedSharding, got {over!r}. For one device write "
            "imprint.device_put(x, device)."
        )
    if not isinstance(over, NamedSharding):
        raise ArgumentError(
            f"{name}: expected a NamedSharding, got {over!r}. Write "
            "imprint.NamedSharding(mesh, imprint.P('data'))."
        )
    over.check_shape(name, shape)
    return over


def _bounds(index: Index) -> tuple[Any, ...]:
    return tuple([(s.start, s.stop) for s in index])


def _part(name: str, part: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    given = canonicalize(part.dtype)
    own = np.array(part, dtype if given == dtype else part.dtype, order="C")
    _check_part(name, own, shape, dtype)
    return own


def _check_part(name: str, part: Any, shape: tuple[int, ...], dtype: Any) -> None:
    if part.shape != shape:
        raise ShapeError(
            f"{name}: expected parts of the shape {shape}, got one of {part.shape}. Each "
            "device has what sharding.devices_indices_map says."
        )
    if part.dtype != dtype:
        raise DTypeError(
            f"{name}: expected parts of dtype {dtype.name}, got one of {part.dtype.name}. "
            "Convert it with .astype."
        )


def _assembled(
    shape: tuple[int, ...], over: NamedSharding, pieces: list[Any], dtype: Any = None
) -> ArrayImpl:
    aval = ShapedArray(shape, dtype or pieces[0].dtype, False, over)  # noqa: FBT003 - hot constructor
    return ArrayImpl(aval, runtime.put_shards(pieces, aval, over))

"""Arrays over several devices, assembled from their parts.

Each function takes the sharding of the array, and the parts for the devices of this
process; other processes supply theirs. A user function that makes parts is called once
for each part, however many devices have it.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from imprint._src import runtime
from imprint._src.array import ArrayImpl, buffer_of, to_array, with_placement
from imprint._src.core.aval import ShapedArray
from imprint._src.core.trace import Tracer
from imprint._src.dtypes import canonicalize
from imprint._src.errors import ArgumentError, DTypeError, ShapeError
from imprint._src.sharding.context import resolve_sharding
from imprint._src.sharding.mesh import Mesh
from imprint._src.sharding.named import Index, NamedSharding
from imprint._src.sharding.single import SingleDeviceSharding
from imprint._src.sharding.spec import PartitionSpec
from imprint._src.tree import internal as tree


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
            part of the array; it is called for the parts of this process.
        dtype: of the elements; by default that of the first part.

    Returns:
        An array of that shape and sharding.

    Raises:
        ArgumentError: `sharding` is none.
        ShapeError: a part has another shape, or the array cannot be spread like this.
        DTypeError: a part has another dtype than the first.

    References:
        JAX, `jax.make_array_from_callback`.

    Example:
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
    for device, index in parts.items():
        at = _bounds(index)
        if device.is_here and at not in made:
            part = np.asarray(data_callback(index))
            wanted = (
                dtype if dtype is not None else next(iter(made.values()), part).dtype
            )
            made[at] = _part(name, part, over.shard_shape(shape), canonicalize(wanted))
    pieces = [
        made[_bounds(index)] if device.is_here else None
        for device, index in parts.items()
    ]
    first, *_ = made.values()
    return _assembled(shape, over, pieces, first.dtype, sharding)


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
        arrays: the parts, one on each device of this process, in any order.
        dtype: of the elements, where there are no arrays.

    Returns:
        An array of that shape and sharding.

    Raises:
        ArgumentError: a device has no part, or two.
        ShapeError: a part has another shape than the sharding says.
        DTypeError: the parts differ in dtype.

    References:
        JAX, `jax.make_array_from_single_device_arrays`.

    Example:
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
    for x in arrays:
        if isinstance(x, Tracer):
            raise ArgumentError(
                f"{name}: expected arrays with values, got tracer {x.aval}. Call it "
                "outside of traced functions, and pass them the array."
            )
    given = [to_array(x) for x in arrays]
    there = {x.device: x for x in given}
    here = over.addressable_devices
    if len(given) != len(here) or there.keys() != here:
        whose = "" if over.is_fully_addressable else " of this process"
        raise ArgumentError(
            f"{name}: expected one array on each of {len(here)} devices{whose} of "
            f"{over.mesh!r}, got arrays on {[str(x.device) for x in given]}. Put each "
            "part on its device with imprint.device_put."
        )
    first = given[0].dtype if dtype is None else canonicalize(dtype)
    for part in given:
        _check_part(name, part, over.shard_shape(shape), first)
    pieces = [
        buffer_of(there[device]) if device in there else None
        for device in over.flat_devices
    ]
    return _assembled(shape, over, pieces, first, sharding)


def make_array_from_process_local_data(
    sharding: Any, local_data: Any, global_shape: Any = None
) -> Any:
    """Return an array of which each process supplies its part.

    Along an axis that the processes split between them, each gives its own parts, one
    behind the other; along any other axis, all.

    Args:
        sharding: how the array is spread over devices.
        local_data: the data of this process; or a tree of such arrays, and then the
            others are prefixes of that tree.
        global_shape: the shape of the whole array. Where it is as long as `local_data`,
            that is all of the axis. By default each process has different parts.

    Returns:
        An array of the global shape, or a tree of them like `local_data`.

    Raises:
        ArgumentError: processes have no equal shares, and no `global_shape` is given.
        ShapeError: the data has another shape, or cannot be spread like this.

    References:
        JAX, `jax.make_array_from_process_local_data`.

    Example:
        >>> import imprint, numpy
        >>> rows = imprint.NamedSharding(
        ...     imprint.make_mesh((1,), ("data",)), imprint.P("data")
        ... )
        >>> imprint.make_array_from_process_local_data(rows, numpy.ones(2, "float32"))
        Array([1., 1.], dtype=float32)
    """
    leaves, treedef = tree.flatten(local_data)
    triples = zip(
        leaves,
        tree.broadcast_prefix(sharding, local_data),
        tree.broadcast_prefix(global_shape, local_data, _is_shape),
        strict=True,
    )
    return treedef.unflatten([_of_local_data(*triple) for triple in triples])


def _is_shape(given: Any) -> bool:
    if not isinstance(given, tuple | list):
        return given is None
    return all(isinstance(n, int) for n in cast("list[Any]", given))


class _Axis(NamedTuple):
    """The parts of processes along an axis of an array.

    Args:
        own: the indices of the parts of this process, in order.
        total: the number of parts.
        groups: the number of processes among which the parts are distributed, where
            those with the same parts count once; None if their shares are not equal.
    """

    own: list[int]
    total: int
    groups: int | None

    def whole(self, length: int) -> int | None:
        """Return how long the axis is if `length` of it are in this process."""
        return None if self.groups is None else length * self.groups

    def local(self, length: int) -> int:
        """Return how much of an axis is in this process."""
        return length // self.total * len(self.own)

    def found(self, part: slice, length: int) -> slice:
        """Return the position of a part among the parts of this process."""
        size = length // self.total
        start = self.own.index((part.start or 0) // size) * size
        return slice(start, start + size)


def _axis(over: NamedSharding, axis: int) -> _Axis:
    held: dict[int, set[int]] = {}
    for device, place in zip(over.flat_devices, over.places(axis + 1), strict=True):
        held.setdefault(device.process_index, set()).add(place[axis])
    dealt = {frozenset(parts) for parts in held.values()}
    total = over.tiling(axis + 1)[axis]
    is_even = len({*map(len, dealt)}) == 1 and sum(map(len, dealt)) == total
    own = held[next(iter(over.addressable_devices)).process_index]
    return _Axis(sorted(own), total, len(dealt) if is_even else None)


def _of_local_data(leaf: Any, sharding: Any, global_shape: Any) -> ArrayImpl:
    """Return an array of which this process has the parts of its devices, or all."""
    name = "make_array_from_process_local_data"
    values = np.asarray(leaf)
    over = _named(name, sharding)
    axes = [_axis(over, i) for i in range(values.ndim)]
    shape: Any = global_shape
    if shape is None:
        shape = [a.whole(n) for a, n in zip(axes, values.shape, strict=True)]
        if None in shape:
            raise ArgumentError(
                f"{name}: expected global_shape, as processes have no equal shares of axis "
                f"{shape.index(None)} in {over!r}, got None. Give the shape of the whole "
                "array."
            )
    over.check_shape(name, shape)
    shape = tuple(shape)
    is_rank = len(shape) == values.ndim
    pairs = zip(axes, shape, strict=True) if is_rank else ()
    local = tuple([axis.local(n) for axis, n in pairs]) or shape
    if not is_rank or not all(
        n in both for n, *both in zip(values.shape, local, shape, strict=True)
    ):
        or_parts = "" if local == shape else f", or of its parts here, {local}"
        raise ShapeError(
            f"{name}: expected local_data of the global_shape {shape}{or_parts}, along "
            f"each axis, got the shape {values.shape}. Give what the devices of this "
            "process have, or all of the array."
        )

    def part(index: Index) -> Any:
        triples = zip(index, axes, values.shape, shape, strict=True)
        return values[
            tuple([s if n == all_ else a.found(s, all_) for s, a, n, all_ in triples])
        ]

    return make_array_from_callback(shape, sharding, part, values.dtype)


def _sharding(name: str, given: Any, shape: tuple[int, ...]) -> NamedSharding:
    over = _named(name, given)
    over.check_shape(name, shape)
    return over


def _named(name: str, given: Any) -> NamedSharding:
    over = resolve_sharding(name, given)
    if isinstance(over, SingleDeviceSharding):
        over = NamedSharding(Mesh([over.device], "all"), PartitionSpec())
    if not isinstance(over, NamedSharding):
        raise ArgumentError(
            f"{name}: expected a NamedSharding, got {over!r}. Write "
            "imprint.NamedSharding(mesh, imprint.P('data'))."
        )
    if not over.addressable_devices:
        raise ArgumentError(
            f"{name}: expected a sharding over devices of this process, "
            f"{[*map(str, runtime.local_devices())]}, got {over!r}. Leave the call to the "
            "processes whose devices it has."
        )
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
    shape: tuple[int, ...],
    over: NamedSharding,
    pieces: list[Any],
    dtype: Any,
    asked: Any,
) -> ArrayImpl:
    aval = ShapedArray(shape, dtype, False, over)  # noqa: FBT003 - hot constructor
    made = ArrayImpl(aval, runtime.put_shards(pieces, aval, over))
    on_one = isinstance(asked, SingleDeviceSharding)
    return with_placement(made, asked) if on_one else made

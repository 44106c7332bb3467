"""Concrete arrays: a device buffer, or a NumPy array that becomes one when needed.

`ArrayImpl` is the class of users' arrays. Results of executables have a buffer. Results
of eager evaluation have a host array, and get a buffer (without a copy) when an
executable takes them. An unset slot raises AttributeError: so the warm path of a call
notices, at no cost, that an argument has no buffer yet. The sharding of the aval
determines the device of the buffer (`imprint._src.sharding.single`), so it is part of
each key.
"""

# The functions of this file belong to its class: its slots are theirs.
# pyright: reportPrivateUsage=false

import weakref
from collections.abc import Hashable
from typing import Any, Final, Self, cast, final

import numpy as np

from imprint._src import runtime
from imprint._src.config import settings
from imprint._src.core.array import NumberArray
from imprint._src.core.aval import (
    DType,
    NDArray,
    Shape,
    ShapedArray,
    checked_integer,
    get_aval,
)
from imprint._src.core.trace import Tracer, check_alive
from imprint._src.diagnostics.source import Source, current_source
from imprint._src.errors import ArgumentError, DeletedArrayError, UnexpectedTracerError
from imprint._src.sharding.named import Index, NamedSharding
from imprint._src.sharding.shard import Shard
from imprint._src.sharding.single import Sharding, SingleDeviceSharding, Uncommitted
from imprint._src.tree.treedef import register_leaf

_KEPT: Final = 4096
"""Bytes up to which a view of a buffer is kept; one would keep it from donation."""


@final
class ArrayImpl(NumberArray):
    """A concrete array; made by `imprint.numpy`, by compiled functions, by `array`."""

    __slots__ = ("_buffer", "_consumed", "_host", "_origin", "_padded", "aval")
    _buffer: runtime.Buffer
    _consumed: tuple[str, Source | None]
    _host: NDArray
    _origin: weakref.ref["ArrayImpl"]
    _padded: "ArrayImpl"

    def __init__(self, aval: ShapedArray, buffer: runtime.Buffer) -> None:
        self.aval: ShapedArray = aval
        self._buffer = buffer

    # ---- where the values are ----

    def __imprint_alias__(self, *, follows: bool = False) -> "ArrayImpl":
        """Return another object with the same values.

        A trace holds these, so that the user's object can be freed while the trace
        lives.

        Args:
            follows: whether it is uncommitted, as captured arrays of a compiled
                function are.
        """
        other = object.__new__(ArrayImpl)
        other.aval = self.aval
        if follows and type(self.aval.sharding) is SingleDeviceSharding:
            other.aval = self.aval.with_sharding(uncommitted_placement(self.device))
        for slot in ("_buffer", "_host", "_consumed", "_padded"):
            if hasattr(self, slot):
                setattr(other, slot, getattr(self, slot))
        other._origin = weakref.ref(self)
        return other

    def __copy__(self) -> "ArrayImpl":
        return copy_array(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> "ArrayImpl":
        return copy_array(self)

    def delete(self) -> None:
        """Give the values up, so that their memory can be used again."""
        consume(self, "deleted by a call of delete()", current_source())

    @property
    def device(self) -> Any:
        """The device that holds the values; the sharding, if several do."""
        placement: Any = self.aval.sharding
        if placement is None:
            return runtime.first_device()
        return placement if type(placement) is NamedSharding else placement.device

    @property
    def sharding(self) -> Any:
        """How the values are spread over devices."""
        placement = self.aval.sharding
        if isinstance(placement, Sharding):
            return placement
        return SingleDeviceSharding(self.device)

    @property
    def committed(self) -> bool:
        """Whether computations with it run on its devices."""
        return isinstance(self.aval.sharding, Sharding)

    def devices(self) -> set[runtime.Device]:
        """Return the devices that hold the values."""
        return self.sharding.device_set

    @property
    def is_fully_addressable(self) -> bool:
        """Whether this process reaches all devices that hold the values."""
        spread = _spread(self)
        return spread is None or spread.is_fully_addressable

    @property
    def is_fully_replicated(self) -> bool:
        """Whether each device that holds values holds all of them."""
        return self.sharding.is_fully_replicated

    @property
    def addressable_shards(self) -> list[Shard]:
        """The parts of the values on the devices of this process."""
        return shards_of(self)

    @property
    def global_shards(self) -> list[Shard]:
        """The parts of the values on all devices; without data on those of others."""
        return shards_of(self, everywhere=True)

    def on_device_size_in_bytes(self) -> int:
        """Return how many bytes the values take on their device."""
        return runtime.on_device_size(buffer_of(self))

    def unsafe_buffer_pointer(self) -> int:
        """Return the address of the values on their device; they may be freed any time."""
        return runtime.unsafe_pointer(buffer_of(self))

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """What libraries of CUDA read the values by, where they are on a GPU."""
        if all(device.platform == "cpu" for device in self.devices()):
            raise AttributeError(
                f"__cuda_array_interface__: expected an array on a GPU, got {self.aval} on "
                "the CPU. NumPy and other libraries take the array as it is."
            )
        return runtime.cuda_interface(buffer_of(self))

    def addressable_data(self, index: int) -> "ArrayImpl":
        """Return the part of the values on a device of this process, by its number."""
        shards = shards_of(self)
        count = len(shards)
        if not 0 <= index < count:
            here = "" if self.is_fully_addressable else " of this process"
            last = f"0 to {count - 1}, as {self.aval} is on {count} devices{here}"
            one = f"0, as {self.aval} is on one device{here}"
            raise IndexError(
                f"addressable_data: expected {last if count > 1 else one}, got "
                f"{index!r}. The whole array is "
                f"{'x' if count > 1 else 'addressable_data(0)'}."
            )
        return shards[index].data

    def copy_to_host_async(self) -> None:
        """Let the values come to the host; numpy.asarray brings them as fast."""
        if hasattr(self, "_consumed"):
            host_of(self)  # raises

    def block_until_ready(self) -> Self:
        """Wait until the values are computed; return the array."""
        if not hasattr(self, "_host"):
            if hasattr(self, "_padded") and not hasattr(self, "_buffer"):
                self._padded.block_until_ready()
            else:
                runtime.block_until_ready(_live_buffer(self))
        return self

    def is_deleted(self) -> bool:
        """Return whether the values were consumed: by donation, or by `delete`."""
        if hasattr(self, "_consumed"):
            return True
        return hasattr(self, "_buffer") and runtime.is_deleted(self._buffer)

    def is_ready(self) -> bool:
        """Return whether the values are computed."""
        if not hasattr(self, "_buffer"):
            return not hasattr(self, "_padded") or self._padded.is_ready()
        return runtime.is_ready(self._buffer)

    # ---- to Python and NumPy ----

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray:  # noqa: FBT001 - NumPy's protocol
        values = host_of(self)
        if dtype is not None and dtype != values.dtype:
            return np.array(values, dtype, copy=copy)
        if copy:
            return values.copy()
        if not _is_sealed(values):
            values = _sealed(values)
            if hasattr(self, "_host"):
                self._host = values  # the next time this is 600 ns faster
        return values

    def __bool__(self) -> bool:
        return bool(host_of(self))

    def __int__(self) -> int:
        return int(self._scalar("int").item())

    def __float__(self) -> float:
        return float(self._scalar("float").item())

    def __complex__(self) -> complex:
        return complex(self._scalar("complex").item())

    def __index__(self) -> int:
        return self._scalar("index").__index__()

    def __format__(self, spec: str) -> str:
        if self.ndim and spec:
            raise ArgumentError(
                f"format: expected no format, or an array of rank 0, got {spec!r} for "
                f"{self.aval}. Format its elements, or use numpy.array2string."
            )
        return str(self) if self.ndim else format(host_of(self)[()], spec)

    def item(self, *args: int) -> Any:
        """Return one element as a Python scalar."""
        return host_of(self).item(*args)

    def tolist(self) -> Any:
        """Return the values as nested Python lists."""
        return host_of(self).tolist()

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickle, (np.array(host_of(self)), self.weak_type)

    def __str__(self) -> str:
        return str(host_of(self)) if _is_legible(self) else repr(self)

    def __repr__(self) -> str:
        weak = ", weak_type=True" if self.weak_type else ""
        tail = f"dtype={self.dtype.name}{weak})"
        if self.is_deleted():
            return f"Array(<deleted>, shape={self.shape}, {tail}"
        if self.size == 0:
            return f"Array([], shape={self.shape}, {tail}"
        if not _is_legible(self):
            return f"Array(shape={self.shape}, {tail}"
        width = np.get_printoptions()["linewidth"]
        body = np.array2string(
            host_of(self),
            prefix="Array(",
            suffix=",",
            separator=", ",
            max_line_width=width,
        )
        last_line = len(body) - body.rfind("\n") + 1
        wraps = last_line + len(tail) + 1 > width
        gap = "\n" + " " * len("Array(") if wraps else " "
        return f"Array({body},{gap}{tail}"

    def _scalar(self, kind: str) -> NDArray:
        if self.ndim:
            raise TypeError(
                f"{kind}() needs an array of rank 0, got {self.aval}. "
                "Take one element, `x[0]`, or call `x.item()` on an array of size 1."
            )
        return host_of(self)


register_leaf(ArrayImpl)


# ---- the values, for the rest of imprint ----


def host_of(x: ArrayImpl) -> NDArray:
    """Return the values as a NumPy array, which must not be written to."""
    try:
        return x._host
    except AttributeError:
        if type(x.aval.sharding) is NamedSharding:
            return _gathered(x)
        if hasattr(x, "_padded"):
            values = host_of(x._padded)[tuple(map(slice, x.aval.shape))]
        else:
            values = runtime.read(_live_buffer(x), x.aval)
        if values.nbytes <= _KEPT:
            x._host = values
        return values


def buffer_of(x: ArrayImpl) -> runtime.Buffer:
    """Return the values as a buffer of the device of the array."""
    try:
        return x._buffer
    except AttributeError:
        if not hasattr(x, "_host") and not hasattr(x, "_padded"):
            return _live_buffer(x)
        x._buffer = runtime.put(host_of(x), x.aval, copy=False, device=x.device)
        return x._buffer


def buffer_on(x: ArrayImpl, device: runtime.Device) -> runtime.Buffer:
    """Return the values as a buffer of a device, a copy unless it has them."""
    if x.device is device:
        return buffer_of(x)
    if hasattr(x, "_host") or type(x.aval.sharding) is NamedSharding:
        return runtime.put(host_of(x), x.aval, copy=False, device=device)
    return runtime.copy_to(_live_buffer(x), device)


def on_device(x: ArrayImpl, device: runtime.Device) -> ArrayImpl:
    """Return the array, or a copy of it on a device that it is not on."""
    return x if x.device is device else with_placement(x, uncommitted_placement(device))


def with_placement(x: ArrayImpl, sharding: Hashable) -> ArrayImpl:
    """Return an array of the same values with another placement in its aval.

    It shares memory with this one, unless its device is another.
    """
    other = x.__imprint_alias__()
    other.aval = x.aval.with_sharding(sharding)
    if type(sharding) is NamedSharding:
        other._buffer = buffer_over(x, sharding)
        if hasattr(other, "_host"):
            del other._host
    elif other.device is not x.device:
        other._buffer = buffer_on(x, other.device)
    return other


# ---- over several devices ----


def _spread(x: ArrayImpl) -> NamedSharding | None:
    placement = x.aval.sharding
    return placement if type(placement) is NamedSharding else None


def _is_legible(x: ArrayImpl) -> bool:
    """Return whether all values can be read here: other processes have no part alone."""
    spread = _spread(x)
    if spread is None or spread.is_fully_addressable:
        return True
    return spread.is_fully_replicated and bool(spread.addressable_devices)


def shards_of(x: ArrayImpl, *, everywhere: bool = False) -> list[Shard]:
    """Return the parts of an array, in the order of the devices.

    Args:
        x: the array.
        everywhere: whether parts that other processes have are among them, without data.
    """
    spread = _spread(x)
    if spread is None:
        whole = (slice(None),) * x.ndim
        return [Shard(x.device, whole, 0, x.__imprint_alias__())]
    seen: dict[Any, int] = {}
    shards: list[Shard] = []
    pieces = iter(_pieces(x, spread))
    for device, index in spread.devices_indices_map(x.shape).items():
        at = tuple([(s.start, s.stop) for s in index])
        seen[at] = number = seen.get(at, -1) + 1
        if device.is_here or everywhere:
            data = next(pieces) if device.is_here else None
            shards.append(Shard(device, index, number, data))
    return shards


def _pieces(x: ArrayImpl, spread: NamedSharding) -> list[ArrayImpl]:
    """Return the parts of an array as arrays of their devices."""
    plain = x.aval.with_shape(spread.shard_shape(x.shape))
    devices = [d for d in spread.flat_devices if d.is_here]
    avals = [plain.with_sharding(SingleDeviceSharding(d)) for d in devices]
    buffer = _live_buffer(x)
    if runtime.is_deleted(buffer):
        raise deleted_error(x)
    return [*map(ArrayImpl, avals, runtime.shards_of(buffer, avals, devices))]


def _gathered(x: ArrayImpl) -> NDArray:
    """Return the values of an array over several devices, read-only."""
    shards = shards_of(x)
    if not _is_legible(x):
        raise ArgumentError(
            f"expected an array of which this process has all parts, got {x.aval}, of "
            "which other processes have some. Write x.addressable_shards for what is here, "
            "or imprint.experimental.multihost_utils.process_allgather(x) for all."
        )
    if x.is_fully_replicated:
        return host_of(shards[0].data)
    values = np.empty(x.shape, x.dtype)
    for shard in shards:
        if shard.replica_id == 0:
            values[shard.index] = host_of(shard.data)
    values.flags.writeable = False
    return values


def buffer_over(x: ArrayImpl, sharding: NamedSharding) -> runtime.Buffer:
    """Return the values as a buffer over several devices, a copy unless it is that.

    Data that a device has already stays there; the rest goes through the host.
    """
    held_by = _spread(x)
    if held_by is not None and held_by.is_equivalent_to(sharding, x.ndim):
        return buffer_of(x)
    there: dict[Any, Any] = {}
    if held_by is not None:
        for shard in shards_of(x):
            there[shard.device, _bounds(shard.index, x.shape)] = shard.data._buffer
    values: NDArray | None = None
    pieces: list[Any] = []
    for device, index in sharding.devices_indices_map(x.shape).items():
        piece = there.get((device, _bounds(index, x.shape)))
        if piece is None and device.is_here:
            values = host_of(x) if values is None else values
            piece = values[index]
        pieces.append(piece)
    aval = x.aval.with_sharding(sharding)
    return runtime.put_shards(pieces, aval, sharding)


def _bounds(index: Index, shape: Shape) -> tuple[Any, ...]:
    return tuple([s.indices(n)[:2] for s, n in zip(index, shape, strict=True)])


def copy_array(x: ArrayImpl) -> ArrayImpl:
    """Return another array of the same values, in memory of its own."""
    spread = _spread(x)
    if spread is None:
        return from_operand(x, x.aval, np.array(host_of(x)))
    parts = [shard.data for shard in shards_of(x, everywhere=True)]
    pieces = [None if part is None else np.array(host_of(part)) for part in parts]
    return ArrayImpl(x.aval, runtime.put_shards(pieces, x.aval, spread))


def consume(x: ArrayImpl, how: str, site: Source | None) -> None:
    """Give the values up; `how` and where are for the message to who wants them."""
    x._consumed = how, site
    if hasattr(x, "_padded"):
        del x._padded
    if hasattr(x, "_buffer"):
        del x._buffer
    if hasattr(x, "_host"):
        del x._host


def deleted_error(x: ArrayImpl) -> DeletedArrayError:
    """Return the error that says who took the values."""
    origin = x._origin() if hasattr(x, "_origin") else None
    how, site = "donated", None
    for owner in (x, origin):
        if owner is not None and hasattr(owner, "_consumed"):
            how, site = owner._consumed
            break
    place = "" if site is None else f", at {site}"
    remedy = (
        "Use the result of that call, or do not donate the argument."
        if how.startswith("donated")
        else "Delete an array when nothing uses it any more."
    )
    return DeletedArrayError(
        f"expected an array with values, got {x.aval} that was {how}{place}. {remedy}"
    )


def _live_buffer(x: ArrayImpl) -> runtime.Buffer:
    try:
        return x._buffer
    except AttributeError:
        if hasattr(x, "_padded"):
            return buffer_of(x)
        raise deleted_error(x) from None


# ---- making arrays ----


def from_host(aval: ShapedArray, values: NDArray) -> ArrayImpl:
    """Return a new array that owns `values`, which must not be written to any more.

    Without a sharding in its aval, it is on the default device.
    """
    if type(aval.sharding) is NamedSharding:
        plain = wrap_host(aval.unplaced(), values)
        return ArrayImpl(aval, buffer_over(plain, aval.sharding))
    if aval.sharding is None and settings().default_device is not None:
        aval = aval.with_sharding(uncommitted_placement(runtime.default_device()))
    return wrap_host(aval, values)


def from_operand(x: ArrayImpl, aval: ShapedArray, values: NDArray) -> ArrayImpl:
    """Return a new array computed from `x` on the host, committed if `x` is."""
    return from_host(aval.with_sharding(x.sharding if x.committed else None), values)


def uncommitted_placement(device: runtime.Device) -> Hashable:
    """Return the placement of an uncommitted array on a device."""
    return None if device is runtime.first_device() else Uncommitted(device)


def wrap_host(aval: ShapedArray, values: NDArray) -> ArrayImpl:
    """Return an array that owns `values`, where its aval says; hot."""
    array = object.__new__(ArrayImpl)
    array.aval = aval
    array._host = values
    return array


def unpadded(x: ArrayImpl, shape: tuple[int, ...]) -> ArrayImpl:
    """Return the first elements of each axis as an array; nothing is copied until read."""
    array = object.__new__(ArrayImpl)
    array.aval = x.aval.with_shape(shape).with_sharding(x.aval.sharding)
    array._padded = x
    return array


def padding_of(x: ArrayImpl) -> ArrayImpl | None:
    """Return the longer array whose first elements these are, if it is there."""
    return getattr(x, "_padded", None)


def to_array(x: Any) -> ArrayImpl:
    """Return a number, a NumPy array or an array as a concrete array; copies NumPy arrays."""
    if isinstance(x, ArrayImpl):
        return x
    if isinstance(x, Tracer):
        check_alive(x)
        raise UnexpectedTracerError(
            f"expected a value that is known here, got tracer {x.aval}.\n"
            f"  {x.provenance()}\n"
            "  Code that runs outside of that trace, such as a derivative rule, captures\n"
            "  it. Pass it as an argument."
        )
    aval = get_aval(x)
    return from_host(aval, host_values(x, aval.dtype))


def captured_buffer(x: ArrayImpl, device: runtime.Device) -> runtime.Buffer:
    """Return the buffer of an alias, that of its origin, with which it is donated."""
    origin = x._origin() if hasattr(x, "_origin") else None
    if origin is not None and hasattr(x, "_host") and not hasattr(x, "_buffer"):
        is_same = origin.device is x.device and hasattr(origin, "_host")
        if is_same and origin._host is x._host:
            x._buffer = buffer_of(origin)
    return buffer_on(x, device)


def host_values(x: Any, dtype: DType) -> NDArray:
    """Return a copy of a number or a NumPy array as `dtype`, in native byte order."""
    if isinstance(x, int) and dtype.kind in "iu":
        checked_integer(x, dtype)
    return np.array(x, dtype, order="C")


def _is_sealed(values: NDArray) -> bool:
    """Return whether NumPy refuses to make an array writeable: its memory is another's."""
    while isinstance(values.base, np.ndarray):
        values = values.base
    return values.base is not None


def _sealed(values: NDArray) -> NDArray:
    """Return a view that cannot be made writeable; its base is no array."""
    if values.dtype.isbuiltin == 1:
        return np.asarray(memoryview(cast("Any", values)).toreadonly())
    return _sealed(values.view(f"u{values.itemsize}")).view(values.dtype)


def _unpickle(values: NDArray, weak_type: bool) -> ArrayImpl:  # noqa: FBT001 - pickle passes it by position
    return from_host(ShapedArray(values.shape, values.dtype, weak_type), values)

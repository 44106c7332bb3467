"""Transfers of values to a device and back, and waiting for them.

Each function takes a whole tree and returns one of the same structure. Leaves that are
no arrays or numbers are refused on the way to a device, and kept on the way back. An
array that was put on a named device is committed to it. A traced array stays as it is,
unless a mesh is named, because the arguments decide which devices run its program.
"""

import gc
from _blake2 import blake2b  # hashlib loads OpenSSL too: 2.5 ms of each import
from collections.abc import Sequence
from itertools import zip_longest
from typing import Any, Final, TypeAlias, TypeGuard, TypeVar

from imprint._src import runtime
from imprint._src.array import (
    ArrayImpl,
    buffer_of,
    copy_array,
    host_of,
    to_array,
    with_placement,
)
from imprint._src.core.trace import Tracer
from imprint._src.errors import ArgumentError
from imprint._src.primitives.constraints import constrain
from imprint._src.runtime import Device
from imprint._src.sharding.context import resolve_sharding
from imprint._src.sharding.named import NamedSharding
from imprint._src.sharding.single import Sharding, SingleDeviceSharding
from imprint._src.sharding.spec import PartitionSpec
from imprint._src.tree import internal as tree

T = TypeVar("T")

DeviceLike: TypeAlias = Device | Sharding | PartitionSpec
"""The type of `device=`."""

_WAIT: Final = 300.0
"""How many seconds a process waits for the others to put the same."""


def device_put(
    x: Any,
    device: Any = None,
    *,
    src: Any = None,
    donate: Any = False,
    may_alias: Any = None,
) -> Any:
    """Return a tree with its arrays and numbers as arrays on a device.

    Args:
        x: a tree of arrays and numbers; NumPy arrays are copied.
        device: one of `imprint.devices()`, or a sharding over several, to which the
            arrays are committed: computations with them run there. None leaves arrays
            where they are, and puts host values on the default device. Or a tree of
            these, a prefix of `x`. If other processes have some of the devices, all put
            the same values.
        src: no meaning here: an array knows its device.
        donate: whether the memory of `x` may be used again, which a copy between
            devices has no use for.
        may_alias: False for arrays in memory of their own, which nothing else uses.

    Returns:
        A tree of the same structure; numbers are weakly typed arrays, and dtypes of 64
        bits become 32 unless `enable_x64` is set.

    Raises:
        ArgumentError: `may_alias` and `donate` are both true.

    References:
        JAX, `jax.device_put`.

    Example:
        >>> import imprint
        >>> imprint.device_put({"a": 1.0})
        {'a': Array(1., dtype=float32, weak_type=True)}
    """
    if may_alias is True and donate is True:
        raise ArgumentError(
            "device_put: expected one of may_alias and donate, got both. What is given "
            "up has no other name to share its memory with."
        )
    leaves, treedef = tree.flatten(x, _is_none)
    devices, aliases = (
        tree.broadcast_prefix(given, x, _is_none) for given in (device, may_alias)
    )
    places = [None if to is None else _sharding("device_put", to) for to in devices]
    if runtime.joined() is not None:
        _check_same(leaves, places)
    put = [
        _put(leaf, to, copy=may is False)
        for leaf, to, may in zip(leaves, places, aliases, strict=True)
    ]
    return tree.unflatten(treedef, put)


def placed(name: str, x: Any, device: DeviceLike | None) -> Any:
    """Return an array on the device that the function `name` was given, if it was."""
    if device is None:
        return x
    sharding = _sharding(name, device)
    if isinstance(x, Tracer):
        return x
    array = to_array(x)
    if isinstance(sharding, NamedSharding):
        sharding.check_shape(name, array.shape)
    return with_placement(array, sharding)


def _sharding(name: str, device: Any) -> Sharding:
    device = resolve_sharding(name, device)
    if isinstance(device, NamedSharding):
        _ = device.flat_devices  # raises if its mesh has none
        return device
    if isinstance(device, SingleDeviceSharding):
        return _sharding(name, device.device)
    if not isinstance(device, Device):
        raise ArgumentError(
            f"{name}: expected device to be one of {list(runtime.devices())}, or a "
            f"sharding, got {device!r}. imprint.devices() has them."
        )
    if not device.is_here:
        raise ArgumentError(
            f"{name}: expected a device of this process, {list(runtime.local_devices())}, "
            f"got {device!r} of process {device.process_index}. Leave the call to that "
            "process, or name a sharding over devices of both."
        )
    return SingleDeviceSharding(device)


def device_get(x: Any) -> Any:
    """Return a tree with its arrays as NumPy arrays, which are read-only views.

    Args:
        x: a tree of arrays; other leaves stay.

    Returns:
        A tree of the same structure, shapes and dtypes.

    References:
        JAX, `jax.device_get`.

    Example:
        >>> import imprint
        >>> imprint.device_get(imprint.numpy.ones(2))
        array([1., 1.], dtype=float32)
    """
    return tree.map(_get, x)


def copy_to_host_async(x: T) -> T:
    """Let the values of a pytree of arrays come to the host; return it.

    Args:
        x: a pytree; leaves other than arrays are left alone.

    Returns:
        `x` itself.

    References:
        JAX, `jax.copy_to_host_async`.

    Example:
        >>> import imprint
        >>> imprint.copy_to_host_async({"a": imprint.numpy.ones(2)})
        {'a': Array([1., 1.], dtype=float32)}
    """
    for leaf in tree.leaves(x):
        if isinstance(leaf, ArrayImpl):
            leaf.copy_to_host_async()
    return x


def block_until_ready(x: T) -> T:
    """Wait until all arrays of a tree are computed; return the tree.

    Args:
        x: a tree; leaves that are no arrays are left alone.

    Returns:
        `x` itself.

    References:
        JAX, `jax.block_until_ready`.

    Example:
        >>> import imprint
        >>> imprint.block_until_ready(imprint.jit(lambda x: x + 1)(1.0))
        Array(2., dtype=float32, weak_type=True)
    """
    for leaf in tree.leaves(x):
        if _is_array(leaf):
            leaf.block_until_ready()
    return x


def live_arrays(platform: str | None = None) -> list[ArrayImpl]:
    """List the arrays that are not deleted, including internal ones.

    It looks at every object of the process, to find users of memory.

    Args:
        platform: that of the devices where they are, such as "cpu"; the default one if
            it is left out.

    Returns:
        A list of arrays.

    References:
        JAX, `jax.live_arrays`.

    Example:
        >>> import imprint
        >>> x = imprint.numpy.ones(3)
        >>> any(y is x for y in imprint.live_arrays())
        True
    """
    here = {*runtime.devices(platform)}
    every = [x for x in gc.get_objects() if type(x) is ArrayImpl]
    return [x for x in every if not x.is_deleted() and x.devices() <= here]


def _is_array(x: Any) -> bool:
    return isinstance(x, ArrayImpl)


def _is_none(x: Any) -> bool:
    return x is None


def _put(x: Any, sharding: Sharding | None, *, copy: bool) -> Any:
    if x is None:
        return x
    if isinstance(x, Tracer):
        return constrain(x, sharding) if isinstance(sharding, NamedSharding) else x
    array = copy_array(to_array(x)) if copy else to_array(x)
    if isinstance(sharding, NamedSharding):
        sharding.check_shape("device_put", array.shape)
        if not array.is_fully_addressable:
            array = _exchanged(array, sharding)
    if sharding is not None:
        array = with_placement(array, sharding)
    buffer_of(array)
    return array


def _check_same(leaves: Sequence[Any], places: Sequence[Sharding | None]) -> None:
    """Raise unless values put on devices of several processes are the same in all of them.

    Each process puts the parts of its devices, so different values would mix.
    """
    sums: list[str] = []
    among: set[int] = set()
    for leaf, to in zip(leaves, places, strict=True):
        if leaf is None or isinstance(leaf, Tracer) or not _spans(to):
            continue
        array = to_array(leaf)
        if array.is_fully_addressable:
            digest = blake2b(host_of(array).tobytes(), digest_size=16)
            sums.append(f"{array.aval.unplaced()} {digest.hexdigest()}")
            among |= {device.process_index for device in to.device_set}
    processes = runtime.joined()
    here = runtime.process_index()
    if not sums or processes is None or here not in among:
        return
    those = sorted(among)
    sent = processes.exchange("device_put", "\n".join(sums).encode(), _WAIT, those)
    came = [raw.decode().split("\n") for raw in sent]
    for other, theirs in zip(those, came, strict=True):
        if theirs == came[0]:
            continue
        pairs = zip_longest(came[0], theirs, fillvalue="nothing ")
        first, second = next(pair for pair in pairs if pair[0] != pair[1])
        shown = [text.rsplit(" ", 1)[0] for text in (first, second)]
        values = " of other values" if shown[0] == shown[1] else ""
        raise ArgumentError(
            f"device_put: expected the same values in all processes whose devices get a "
            f"part, got {shown[0]} in process {those[0]} and {shown[1]}{values} in process "
            f"{other}. If each has a part of its own, write "
            "imprint.make_array_from_process_local_data(sharding, x)."
        )


def _spans(to: Sharding | None) -> TypeGuard[NamedSharding]:
    """Return whether other processes have some of the devices."""
    return isinstance(to, NamedSharding) and not to.is_fully_addressable


def _exchanged(x: ArrayImpl, sharding: NamedSharding) -> ArrayImpl:
    """Return an array with parts in other processes, with another sharding.

    Remote data needs a program that all processes run.
    """
    if x.sharding.is_equivalent_to(sharding, x.ndim):
        return x
    if x.sharding.flat_devices != sharding.flat_devices:
        raise ArgumentError(
            "device_put: expected the devices that the array is on, in the same order, as "
            f"other processes have some of it, got {sharding!r} for {x.aval} over "
            f"{x.sharding.mesh!r}. Take that mesh, or gather it on the host with "
            "imprint.experimental.multihost_utils.process_allgather(x)."
        )
    return constrain(x, sharding)


def _get(x: Any) -> Any:
    return x.__array__() if _is_array(x) else x

"""Placing values: on a device, back on the host, and waiting for them.

Each takes a whole tree and returns one of the same structure. Leaves that are not
arrays or numbers are refused on the way to a device, and left alone on the way back.
What was placed on a device that was named is committed to it. A traced array stays as it
is, unless a mesh is named: which devices run its program, the arguments decide.
"""

import gc
from typing import Any, TypeAlias

from imprint import runtime, tree
from imprint.array import ArrayImpl, buffer_of, copied, to_array, with_placement
from imprint.core.trace import Tracer
from imprint.errors import ArgumentError
from imprint.primitives.constraints import constrain
from imprint.runtime import Device
from imprint.sharding.context import resolved
from imprint.sharding.named import NamedSharding
from imprint.sharding.single import Sharding, SingleDeviceSharding
from imprint.sharding.spec import PartitionSpec

DeviceLike: TypeAlias = Device | Sharding | PartitionSpec
"""What `device=` takes."""


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
        x: a tree of arrays and numbers; NumPy's are copied.
        device: one of `imprint.devices()`, or a sharding over several, to which the
            arrays are committed: what is computed with them runs there. None leaves arrays where they are, and puts
            what is on no device on the default one. Or a tree of these, of which each
            leaf is for a part of `x`.
        src: no meaning here: an array knows its device.
        donate: whether the memory of `x` may be used again, which a copy between
            devices has no use for.
        may_alias: False for arrays in memory of their own, which nothing else uses.

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
    put = [
        _put(
            leaf, None if to is None else _sharding("device_put", to), copy=may is False
        )
        for leaf, to, may in zip(leaves, devices, aliases, strict=True)
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
    device = resolved(name, device)
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
    return SingleDeviceSharding(device)


def device_get(x: Any) -> Any:
    """Return a tree with its arrays as NumPy arrays, which are read-only views.

    >>> import imprint
    >>> imprint.device_get(imprint.numpy.ones(2))
    array([1., 1.], dtype=float32)
    """
    return tree.map(_get, x)


def block_until_ready(x: Any) -> Any:
    """Wait until all arrays of a tree are computed; return the tree.

    >>> import imprint
    >>> imprint.block_until_ready(imprint.jit(lambda x: x + 1)(1.0))
    Array(2., dtype=float32, weak_type=True)
    """
    for leaf in tree.leaves(x):
        if _is_array(leaf):
            leaf.block_until_ready()
    return x


def live_arrays(platform: str | None = None) -> list[ArrayImpl]:
    """List the arrays that are not deleted, those of the package itself among them.

    It looks at every object of the process, to find what holds memory.

    Args:
        platform: that of the devices where they are, such as "cpu"; the default one if
            it is left out.

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
    array = copied(to_array(x)) if copy else to_array(x)
    if isinstance(sharding, NamedSharding):
        sharding.check_shape("device_put", array.shape)
    if sharding is not None:
        array = with_placement(array, sharding)
    buffer_of(array)
    return array


def _get(x: Any) -> Any:
    return x.__array__() if _is_array(x) else x

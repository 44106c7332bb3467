"""Placements on one device, and the device that several operands agree on.

The `sharding` of an aval on one device is one of three things. `SingleDeviceSharding`:
the array is committed, so computations with it run on that device. None: it is
uncommitted and follows other operands; its values are on the first device or still on
the host. `Uncommitted`: it follows, too, but is on another device than the first.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self, final

from imprint._src.errors import ArgumentError


class Sharding:
    """How an array is spread over devices; a base class, for `isinstance`."""

    __slots__ = ()

    @property
    def memory_kind(self) -> str:
        """Which memory of a device: the one that it computes with."""
        return "device"

    def with_memory_kind(self, kind: str) -> Self:
        """Return the sharding in another memory of the devices: they have one.

        Args:
            kind: its name, "device".
        """
        if kind != "device":
            raise ArgumentError(
                "with_memory_kind: expected 'device', the memory that devices compute "
                f"with, got {kind!r}. Arrays of the host are NumPy's: imprint.device_get."
            )
        return self


@final
@dataclass(frozen=True, slots=True)
class SingleDeviceSharding(Sharding):
    """All of an array is on one device, which it is committed to.

    Args:
        device: one of `imprint.devices()`.

    Example:
        >>> import imprint
        >>> one = imprint.sharding.SingleDeviceSharding(imprint.devices()[0])
        >>> imprint.device_put(1.0, one).sharding == one
        True
    """

    device: Any

    @property
    def device_set(self) -> set[Any]:
        """The devices that have a part of the array."""
        return {self.device}

    @property
    def num_devices(self) -> int:
        """How many devices have a part of the array."""
        return 1

    @property
    def addressable_devices(self) -> set[Any]:
        """The devices of this process that have a part of the array."""
        return {self.device} if self.is_fully_addressable else set()

    @property
    def has_addressable_devices(self) -> bool:
        """Whether the device belongs to this process."""
        return self.is_fully_addressable

    def check_compatible_aval(self, aval_shape: Sequence[int]) -> None:
        """Return: an array of any shape can be on one device."""

    def addressable_devices_indices_map(
        self, global_shape: Sequence[int]
    ) -> dict[Any, tuple[slice, ...]]:
        """Return which part of an array each device of this process has: all."""
        parts = self.devices_indices_map(global_shape)
        return parts if self.is_fully_addressable else {}

    @property
    def is_fully_replicated(self) -> bool:
        """Whether each device has the whole array."""
        return True

    @property
    def is_fully_addressable(self) -> bool:
        """Whether the device belongs to this process."""
        return self.device.process_index == self.device.client.process_index()

    def is_equivalent_to(self, other: object, ndim: int) -> bool:
        """Return whether both put an array on the same device.

        Args:
            other: another sharding.
            ndim: the rank of the array.
        """
        return isinstance(other, Sharding) and {self.device} == getattr(
            other, "device_set", None
        )

    def shard_shape(self, global_shape: Sequence[int]) -> tuple[int, ...]:
        """Return the shape of the part that each device has: all.

        Args:
            global_shape: that of the whole array.
        """
        return tuple(global_shape)

    def devices_indices_map(
        self, global_shape: Sequence[int]
    ) -> dict[Any, tuple[slice, ...]]:
        """Return which part of an array each device has: all.

        Args:
            global_shape: the shape of the whole array.
        """
        return {self.device: (slice(None),) * len(global_shape)}


@final
@dataclass(frozen=True, slots=True)
class Uncommitted:
    """An uncommitted array on one device, which follows other operands."""

    device: Any


def common(
    name: str, placed: Iterable[tuple[object, object]]
) -> SingleDeviceSharding | None:
    """Return where all committed arrays of a computation are; None if none is.

    Args:
        name: the operation.
        placed: the name of each array, and its placement.

    Raises:
        ArgumentError: Two are committed to different devices.
    """
    first: object = ""
    found: SingleDeviceSharding | None = None
    for called, sharding in placed:
        if type(sharding) is not SingleDeviceSharding:
            continue
        if found is None:
            first, found = called, sharding
        elif sharding != found:
            raise ArgumentError(
                f"{name}: expected committed arrays on one device, got {first} on "
                f"{found.device} and {called} on {sharding.device}. Put them on one "
                "with imprint.device_put(x, device); what was made without a device "
                "follows by itself."
            )
    return found

"""Placements on one device, and the device that several of them agree on.

An aval has one of three things as its `sharding`. `SingleDeviceSharding`: the array is
committed, so what computes with it runs on that device. None: it is uncommitted, it
follows the others; its values are on the first device, or still on the host.
`Uncommitted`: it follows too, but is on another device than the first.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, final

from imprint.errors import ArgumentError


@final
@dataclass(frozen=True, slots=True)
class SingleDeviceSharding:
    """All of an array is on one device, which it is committed to.

    Args:
        device: one of `imprint.devices()`.

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
    def is_fully_replicated(self) -> bool:
        """Whether each device has the whole array."""
        return True


@final
@dataclass(frozen=True, slots=True)
class Uncommitted:
    """All of an array is on one device for now; it follows what it is computed with."""

    device: Any


def common(
    name: str, placed: Iterable[tuple[object, object]]
) -> SingleDeviceSharding | None:
    """Return where all committed arrays of a computation are; None if none is.

    Args:
        name: what computes.
        placed: what each array is called, and its placement.

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

"""The part of an array on one device.

Arrays list their shards in the order of the devices of their mesh. The data of a shard
are read or transferred only when `data` is used.
"""

from dataclasses import dataclass
from typing import Any, final

from imprint._src.sharding.named import Index


@final
@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Shard:
    """One device's part of an array.

    Args:
        device: the device.
        index: which part it is: a slice of each axis.
        replica_id: how many devices before this one have the same part.
        data: the part, as an array on that device.

    Example:
        >>> import imprint
        >>> (shard,) = imprint.numpy.ones((2, 3)).addressable_shards
        >>> shard.index, shard.data.shape
        ((slice(None, None, None), slice(None, None, None)), (2, 3))
    """

    device: Any
    index: Index
    replica_id: int
    data: Any

    def __repr__(self) -> str:
        return (
            f"Shard(device={self.device!r}, index={self.index}, "
            f"replica_id={self.replica_id}, data={self.data})"
        )

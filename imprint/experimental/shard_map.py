"""`shard_map` with the arguments of older releases of JAX; new code uses imprint.shard_map."""

from imprint._src.shard_map import shard_map_positional as shard_map

__all__ = ["shard_map"]

"""Implementation of `imprint.sharding`.

- `single`: which one device has all of an array, and must a computation follow?
- `spec`: which axes of a mesh split which axes of an array?
- `mesh`: which devices are there, in which grid, and what are its axes called?
- `named`: which part of an array has which device of a mesh?
- `shard`: what has one device of an array?
- `files`: how is a tree of arrays kept on the disk?
- `context`: which mesh does a bare `PartitionSpec` mean?
- `varying`: along which axes of a mesh may a value differ inside `shard_map`?
"""

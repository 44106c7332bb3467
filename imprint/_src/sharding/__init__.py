"""Implementation of `imprint.sharding`.

- `single`: placements on one device, and the device that operands agree on
- `spec`: `PartitionSpec`, the mesh axes that split the axes of an array
- `layout`: the order of the elements of an array in memory
- `mesh`: meshes, grids of devices with named axes
- `named`: shardings over a mesh, and the parts of an array
- `shard`: the part of an array on one device
- `files`: `save` and `load` of trees of arrays
- `context`: the current mesh, `set_mesh`
- `varying`: the mesh axes along which a value may differ inside `shard_map`
"""

"""Arrays outside of traces: operations, transfers, construction and storage.

- `evaluate`: eager evaluation of one primitive
- `fusion`: eager functions compiled into one NumPy function
- `large_operands`: which operations on large operands run as programs
- `device_put`: transfers to devices and back
- `spread`: the sharding of a value
- `make_array`: arrays assembled from shards on several devices
- `make_mesh`: meshes of the available devices
- `checkpointing`: trees of arrays in files
- `safetensors_files`: the same in files of the package safetensors
"""

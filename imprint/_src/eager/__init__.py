"""Arrays outside of traces: operations, transfers, and how arrays are made and stored.

- `evaluate`: how does an operation run outside of every trace?
- `fusion`: how does a function that is called often run as one NumPy function?
- `device_put`: how do values get to a device, and back?
- `make_array`: how is an array assembled from shards on several devices?
- `make_mesh`: how is a mesh of devices chosen?
- `checkpointing`: how is a tree of arrays stored in files?
"""

"""Arrays: values on devices, how they are made, moved, kept and computed with eagerly.

- `array`: what does a concrete array hold?
- `device_put`: how do values get to a device, and back?
- `make_array`: how is an array made of parts on several devices?
- `make_mesh`: which devices make a mesh?
- `checkpointing`: how is a tree of arrays kept in files?
- `eager`: what does an operation do outside every trace?
- `eager_fusion`: how is a function fused that is called again and again?
"""

"""TODO package.

- `array`: TODO
- `checkpointing`: TODO
- `device_put`: TODO
- `eager`: TODO
- `eager_fusion`: TODO
- `make_array`: TODO
- `make_mesh`: TODO
"""

"""Implementation of `imprint.experimental`.

- `checkify`: errors of a program as a result
- `mesh_utils`: grids of devices
- `multihost_utils`: exchange of values between processes
- `x64_context`: the opposite of `enable_x64`
"""

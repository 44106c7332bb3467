"""Implementation of `imprint.image`.

- `resizing`: resizing by interpolation, and its kernels
"""

"""Implementation of `imprint.ops`.

- `segments`: reductions over segments
"""

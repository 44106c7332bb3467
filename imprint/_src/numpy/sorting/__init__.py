"""TODO package.

- `membership`: TODO
- `partition`: TODO
- `searching`: TODO
- `searchsorted`: TODO
- `sets`: TODO
- `sorting`: TODO
- `unique`: TODO
"""

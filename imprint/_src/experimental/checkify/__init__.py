"""Implementation of `imprint.experimental.checkify`.

- `checkify`: the transform, and the checks that it follows
- `error`: the error value, and its message
"""

"""Implementation of `imprint.scipy.sparse`.

- `linalg`: how is such a system solved, step by step?
"""

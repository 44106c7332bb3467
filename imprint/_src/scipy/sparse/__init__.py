"""Implementation of `imprint.scipy.sparse`.

- `linalg`: iterative solvers
"""

"""Implementation of `imprint.scipy.sparse.linalg`.

- `iterative`: `cg`, `bicgstab` and `gmres`
"""

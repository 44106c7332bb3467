"""TODO package.

- `cholesky`: TODO
- `eigen`: TODO
- `lapack_calls`: TODO
- `lu`: TODO
- `orthogonal`: TODO
- `rank_updates`: TODO
- `schur`: TODO
- `singular`: TODO
- `triangular`: TODO
- `tridiagonal_solving`: TODO
"""

"""Primitives of linear algebra: factorizations and solvers, by LAPACK on the CPU.

- `triangular`: triangular systems
- `cholesky`: the factor of a positive definite matrix
- `lapack_calls`: calls of LAPACK in eager evaluation
- `orthogonal`: factors that are orthogonal and triangular
- `singular`: singular values and vectors
- `eigen`: eigenvalues and eigenvectors
- `schur`: nearly triangular or diagonal forms
- `lu`: factors that are lower and upper triangles
- `rank_updates`: updates of a symmetric matrix, or of its factor
- `tridiagonal_solving`: tridiagonal systems
"""

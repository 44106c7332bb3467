"""Primitives of linear algebra: factorizations and solvers, by LAPACK on the CPU.

- `triangular`: how is a system solved of which one triangle counts?
- `cholesky`: how is a positive definite matrix factored?
- `lapack_calls`: how does eager evaluation call LAPACK?
- `orthogonal`: how is a matrix factored into an orthogonal and a triangular one?
- `singular`: what are the singular values of a matrix?
- `eigen`: what are the eigenvalues of a matrix?
- `schur`: how does a matrix get nearly triangular or diagonal?
- `lu`: how is a matrix factored into two triangles?
- `rank_updates`: what is added to a symmetric matrix, or to the factor of one?
- `tridiagonal_solving`: how is a system of three diagonals solved?
"""

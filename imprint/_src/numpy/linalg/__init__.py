"""Implementation of `imprint.numpy.linalg`.

- `decompositions`: Cholesky, QR, singular values and eigenvalues
- `least_squares`: functions of singular values: rank, condition, pseudo-inverse
- `solving`: linear systems and inverses
- `determinants`: determinants, and their derivatives at singular matrices
- `norms`: norms of vectors and matrices
- `products`: products and powers of vectors and matrices
- `operands`: conversion and checks of operands
"""

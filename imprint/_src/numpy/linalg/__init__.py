"""Implementation of `imprint.numpy.linalg`.

- `factoring`: how is a positive definite matrix factored?
- `decompositions`: how are matrices factored by qr, singular values and eigenvalues?
- `least_squares`: what do singular values say of a system, or of a matrix?
- `solving`: how is a linear system solved, and a matrix inverted?
- `determinants`: how is a determinant computed, and its derivative where it is zero?
- `norms`: how large is a vector or a matrix?
- `products`: how are vectors and matrices multiplied?
- `chains`: how are many matrices multiplied, and a matrix with itself?
- `operands`: what do these functions take?
"""

"""Implementation of `imprint.scipy.sparse.linalg`.

- `systems`: what is a system, and what is its derivative?
- `conjugate`: how is one solved by conjugate directions?
- `residuals`: how is one solved by the least residual in a growing space?
"""

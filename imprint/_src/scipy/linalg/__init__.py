"""Implementation of `imprint.scipy.linalg`.

- `decompositions`: factorizations with SciPy's signatures
- `sylvester`: Sylvester equations, and complex Schur forms
- `solving`: linear systems by each factorization
- `exponential`: the matrix exponential and its derivative
- `functions`: square roots and other functions of matrices
- `special_matrices`: matrices by formula or pattern
"""

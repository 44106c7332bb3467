"""Implementation of `imprint.scipy.linalg`.

- `decompositions`: how are matrices factored, in SciPy's words?
- `sylvester`: how is an equation of Sylvester's solved, and a Schur form made complex?
- `solving`: how are systems solved, by one of several factorizations?
- `exponential`: what is the exponential of a matrix, and its derivative?
- `functions`: what are the square root and other functions of a matrix?
- `tables`: how are matrices made of a formula?
- `patterns`: how are matrices made of a pattern?
"""

"""Linear algebra under NumPy's names: `imprint.numpy.linalg`.

Matrices are the last two axes of an array; leading axes number those of a stack, and are
broadcast. Operands are promoted to a float or complex dtype. A matrix that has no inverse
or factor gives infinities or NaN where NumPy raises. Each file loads when it is asked for.

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

import typing

from imprint._src.bootstrap import lazy_attributes

if typing.TYPE_CHECKING:
    from imprint.numpy.linalg.chains import matrix_power as matrix_power
    from imprint.numpy.linalg.chains import multi_dot as multi_dot
    from imprint.numpy.linalg.decompositions import eig as eig
    from imprint.numpy.linalg.decompositions import eigh as eigh
    from imprint.numpy.linalg.decompositions import eigvals as eigvals
    from imprint.numpy.linalg.decompositions import eigvalsh as eigvalsh
    from imprint.numpy.linalg.decompositions import qr as qr
    from imprint.numpy.linalg.decompositions import svd as svd
    from imprint.numpy.linalg.decompositions import svdvals as svdvals
    from imprint.numpy.linalg.determinants import det as det
    from imprint.numpy.linalg.determinants import slogdet as slogdet
    from imprint.numpy.linalg.factoring import cholesky as cholesky
    from imprint.numpy.linalg.least_squares import cond as cond
    from imprint.numpy.linalg.least_squares import lstsq as lstsq
    from imprint.numpy.linalg.least_squares import matrix_rank as matrix_rank
    from imprint.numpy.linalg.least_squares import pinv as pinv
    from imprint.numpy.linalg.norms import matrix_norm as matrix_norm
    from imprint.numpy.linalg.norms import norm as norm
    from imprint.numpy.linalg.norms import vector_norm as vector_norm
    from imprint.numpy.linalg.products import cross as cross
    from imprint.numpy.linalg.products import diagonal as diagonal
    from imprint.numpy.linalg.products import matmul as matmul
    from imprint.numpy.linalg.products import matrix_transpose as matrix_transpose
    from imprint.numpy.linalg.products import outer as outer
    from imprint.numpy.linalg.products import tensordot as tensordot
    from imprint.numpy.linalg.products import trace as trace
    from imprint.numpy.linalg.products import vecdot as vecdot
    from imprint.numpy.linalg.solving import inv as inv
    from imprint.numpy.linalg.solving import solve as solve
    from imprint.numpy.linalg.solving import tensorinv as tensorinv
    from imprint.numpy.linalg.solving import tensorsolve as tensorsolve

_LATER: typing.Final[dict[str, str]] = {
    "imprint.numpy.linalg.decompositions": "eig eigh eigvals eigvalsh qr svd svdvals",
    "imprint.numpy.linalg.least_squares": "cond lstsq matrix_rank pinv",
    "imprint.numpy.linalg.chains": "matrix_power multi_dot",
    "imprint.numpy.linalg.determinants": "det slogdet",
    "imprint.numpy.linalg.factoring": "cholesky",
    "imprint.numpy.linalg.norms": "matrix_norm norm vector_norm",
    "imprint.numpy.linalg.products": (
        "cross diagonal matmul matrix_transpose outer tensordot trace vecdot"
    ),
    "imprint.numpy.linalg.solving": "inv solve tensorinv tensorsolve",
}
"""Which module holds the names that load when they are first asked for."""

lazy_attributes.load_later(__name__, _LATER)

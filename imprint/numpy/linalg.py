"""Linear algebra under NumPy's names: `imprint.numpy.linalg`.

Matrices are the last two axes of an array; leading axes are batch axes and broadcast.
Operands are promoted to a float or complex dtype. A matrix without an inverse or factor
gives infinities or NaN where NumPy raises. Each file loads lazily.
"""

import typing

from imprint._src.bootstrap import lazy_attributes

if typing.TYPE_CHECKING:
    from imprint._src.numpy.linalg.decompositions import cholesky as cholesky
    from imprint._src.numpy.linalg.decompositions import eig as eig
    from imprint._src.numpy.linalg.decompositions import eigh as eigh
    from imprint._src.numpy.linalg.decompositions import eigvals as eigvals
    from imprint._src.numpy.linalg.decompositions import eigvalsh as eigvalsh
    from imprint._src.numpy.linalg.decompositions import qr as qr
    from imprint._src.numpy.linalg.decompositions import svd as svd
    from imprint._src.numpy.linalg.decompositions import svdvals as svdvals
    from imprint._src.numpy.linalg.determinants import det as det
    from imprint._src.numpy.linalg.determinants import slogdet as slogdet
    from imprint._src.numpy.linalg.least_squares import cond as cond
    from imprint._src.numpy.linalg.least_squares import lstsq as lstsq
    from imprint._src.numpy.linalg.least_squares import matrix_rank as matrix_rank
    from imprint._src.numpy.linalg.least_squares import pinv as pinv
    from imprint._src.numpy.linalg.norms import matrix_norm as matrix_norm
    from imprint._src.numpy.linalg.norms import norm as norm
    from imprint._src.numpy.linalg.norms import vector_norm as vector_norm
    from imprint._src.numpy.linalg.products import cross as cross
    from imprint._src.numpy.linalg.products import diagonal as diagonal
    from imprint._src.numpy.linalg.products import matmul as matmul
    from imprint._src.numpy.linalg.products import matrix_power as matrix_power
    from imprint._src.numpy.linalg.products import matrix_transpose as matrix_transpose
    from imprint._src.numpy.linalg.products import multi_dot as multi_dot
    from imprint._src.numpy.linalg.products import outer as outer
    from imprint._src.numpy.linalg.products import tensordot as tensordot
    from imprint._src.numpy.linalg.products import trace as trace
    from imprint._src.numpy.linalg.products import vecdot as vecdot
    from imprint._src.numpy.linalg.solving import inv as inv
    from imprint._src.numpy.linalg.solving import solve as solve
    from imprint._src.numpy.linalg.solving import tensorinv as tensorinv
    from imprint._src.numpy.linalg.solving import tensorsolve as tensorsolve

_LAZY: typing.Final[dict[str, str]] = {
    "imprint._src.numpy.linalg.decompositions": (
        "cholesky eig eigh eigvals eigvalsh qr svd svdvals"
    ),
    "imprint._src.numpy.linalg.least_squares": "cond lstsq matrix_rank pinv",
    "imprint._src.numpy.linalg.determinants": "det slogdet",
    "imprint._src.numpy.linalg.norms": "matrix_norm norm vector_norm",
    "imprint._src.numpy.linalg.products": (
        "cross diagonal matmul matrix_power matrix_transpose multi_dot outer "
        "tensordot trace vecdot"
    ),
    "imprint._src.numpy.linalg.solving": "inv solve tensorinv tensorsolve",
}
"""The names that load lazily, by module."""

lazy_attributes.load_lazily(__name__, _LAZY)

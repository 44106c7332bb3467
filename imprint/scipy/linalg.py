"""Linear algebra under SciPy's names: `imprint.scipy.linalg`.

Matrices are the last two axes of an array; leading axes are batch axes. SciPy's arguments
for memory and finite operands (`overwrite_a`, `check_finite`) are accepted and ignored.
"""

import typing

from imprint._src.bootstrap import lazy_attributes

if typing.TYPE_CHECKING:
    from imprint._src.scipy.linalg.decompositions import eigh as eigh
    from imprint._src.scipy.linalg.decompositions import (
        eigh_tridiagonal as eigh_tridiagonal,
    )
    from imprint._src.scipy.linalg.decompositions import hessenberg as hessenberg
    from imprint._src.scipy.linalg.decompositions import qr as qr
    from imprint._src.scipy.linalg.decompositions import qr_multiply as qr_multiply
    from imprint._src.scipy.linalg.decompositions import schur as schur
    from imprint._src.scipy.linalg.decompositions import svd as svd
    from imprint._src.scipy.linalg.exponential import expm as expm
    from imprint._src.scipy.linalg.exponential import expm_frechet as expm_frechet
    from imprint._src.scipy.linalg.functions import funm as funm
    from imprint._src.scipy.linalg.functions import polar as polar
    from imprint._src.scipy.linalg.functions import sqrtm as sqrtm
    from imprint._src.scipy.linalg.solving import cho_factor as cho_factor
    from imprint._src.scipy.linalg.solving import cho_solve as cho_solve
    from imprint._src.scipy.linalg.solving import cholesky as cholesky
    from imprint._src.scipy.linalg.solving import det as det
    from imprint._src.scipy.linalg.solving import inv as inv
    from imprint._src.scipy.linalg.solving import lu as lu
    from imprint._src.scipy.linalg.solving import lu_factor as lu_factor
    from imprint._src.scipy.linalg.solving import lu_solve as lu_solve
    from imprint._src.scipy.linalg.solving import solve as solve
    from imprint._src.scipy.linalg.solving import solve_triangular as solve_triangular
    from imprint._src.scipy.linalg.special_matrices import block_diag as block_diag
    from imprint._src.scipy.linalg.special_matrices import circulant as circulant
    from imprint._src.scipy.linalg.special_matrices import companion as companion
    from imprint._src.scipy.linalg.special_matrices import (
        convolution_matrix as convolution_matrix,
    )
    from imprint._src.scipy.linalg.special_matrices import dft as dft
    from imprint._src.scipy.linalg.special_matrices import fiedler as fiedler
    from imprint._src.scipy.linalg.special_matrices import (
        fiedler_companion as fiedler_companion,
    )
    from imprint._src.scipy.linalg.special_matrices import hadamard as hadamard
    from imprint._src.scipy.linalg.special_matrices import hankel as hankel
    from imprint._src.scipy.linalg.special_matrices import helmert as helmert
    from imprint._src.scipy.linalg.special_matrices import hilbert as hilbert
    from imprint._src.scipy.linalg.special_matrices import invhilbert as invhilbert
    from imprint._src.scipy.linalg.special_matrices import invpascal as invpascal
    from imprint._src.scipy.linalg.special_matrices import leslie as leslie
    from imprint._src.scipy.linalg.special_matrices import pascal as pascal
    from imprint._src.scipy.linalg.special_matrices import toeplitz as toeplitz
    from imprint._src.scipy.linalg.sylvester import rsf2csf as rsf2csf
    from imprint._src.scipy.linalg.sylvester import solve_sylvester as solve_sylvester

_LAZY: typing.Final[dict[str, str]] = {
    "imprint._src.scipy.linalg.special_matrices": (
        "block_diag circulant companion convolution_matrix dft fiedler "
        "fiedler_companion hadamard hankel helmert hilbert invhilbert invpascal "
        "leslie pascal toeplitz"
    ),
    "imprint._src.scipy.linalg.decompositions": "eigh eigh_tridiagonal hessenberg qr qr_multiply schur svd",
    "imprint._src.scipy.linalg.sylvester": "rsf2csf solve_sylvester",
    "imprint._src.scipy.linalg.exponential": "expm expm_frechet",
    "imprint._src.scipy.linalg.solving": (
        "cho_factor cho_solve cholesky det inv lu lu_factor lu_solve solve "
        "solve_triangular"
    ),
    "imprint._src.scipy.linalg.functions": "funm polar sqrtm",
}
"""The names that load lazily, by module."""

lazy_attributes.load_lazily(__name__, _LAZY)

"""Linear algebra under SciPy's names: `imprint.scipy.linalg`.

Matrices are the last two axes of an array, leading axes number those of a stack. What
SciPy says of memory and of finite operands (`overwrite_a`, `check_finite`) is accepted and
changes nothing.
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
    from imprint._src.scipy.linalg.patterns import block_diag as block_diag
    from imprint._src.scipy.linalg.patterns import circulant as circulant
    from imprint._src.scipy.linalg.patterns import companion as companion
    from imprint._src.scipy.linalg.patterns import dft as dft
    from imprint._src.scipy.linalg.patterns import fiedler as fiedler
    from imprint._src.scipy.linalg.patterns import hadamard as hadamard
    from imprint._src.scipy.linalg.patterns import hankel as hankel
    from imprint._src.scipy.linalg.patterns import helmert as helmert
    from imprint._src.scipy.linalg.patterns import hilbert as hilbert
    from imprint._src.scipy.linalg.patterns import leslie as leslie
    from imprint._src.scipy.linalg.patterns import toeplitz as toeplitz
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
    from imprint._src.scipy.linalg.sylvester import rsf2csf as rsf2csf
    from imprint._src.scipy.linalg.sylvester import solve_sylvester as solve_sylvester
    from imprint._src.scipy.linalg.tables import (
        convolution_matrix as convolution_matrix,
    )
    from imprint._src.scipy.linalg.tables import fiedler_companion as fiedler_companion
    from imprint._src.scipy.linalg.tables import invhilbert as invhilbert
    from imprint._src.scipy.linalg.tables import invpascal as invpascal
    from imprint._src.scipy.linalg.tables import pascal as pascal

_LAZY: typing.Final[dict[str, str]] = {
    "imprint._src.scipy.linalg.tables": "convolution_matrix fiedler_companion invhilbert invpascal pascal",
    "imprint._src.scipy.linalg.decompositions": "eigh eigh_tridiagonal hessenberg qr qr_multiply schur svd",
    "imprint._src.scipy.linalg.sylvester": "rsf2csf solve_sylvester",
    "imprint._src.scipy.linalg.exponential": "expm expm_frechet",
    "imprint._src.scipy.linalg.solving": (
        "cho_factor cho_solve cholesky det inv lu lu_factor lu_solve solve "
        "solve_triangular"
    ),
    "imprint._src.scipy.linalg.functions": "funm polar sqrtm",
    "imprint._src.scipy.linalg.patterns": (
        "block_diag circulant companion dft fiedler hadamard hankel helmert hilbert "
        "leslie toeplitz"
    ),
}
"""Which module holds the names that load when they are first asked for."""

lazy_attributes.load_lazily(__name__, _LAZY)

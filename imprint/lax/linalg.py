"""Linear algebra under JAX's names, matrices along the last two axes: `lax.linalg`.

Each function is one primitive, or what JAX makes of one: it neither promotes nor
broadcasts, which `imprint.numpy.linalg` does. Each family loads when it is asked for.
"""

import typing

from imprint._src.bootstrap import lazy_attributes

if typing.TYPE_CHECKING:
    from imprint.lax.polar import qdwh as qdwh
    from imprint.primitives.cholesky import cholesky as cholesky
    from imprint.primitives.cholesky import cholesky_p as cholesky_p
    from imprint.primitives.eigen import EighImplementation as EighImplementation
    from imprint.primitives.eigen import EigImplementation as EigImplementation
    from imprint.primitives.eigen import eig as eig
    from imprint.primitives.eigen import eig_p as eig_p
    from imprint.primitives.eigen import eigh as eigh
    from imprint.primitives.eigen import eigh_p as eigh_p
    from imprint.primitives.lu import lu as lu
    from imprint.primitives.lu import (
        lu_p as lu_p,
    )
    from imprint.primitives.lu import (
        lu_pivots_to_permutation as lu_pivots_to_permutation,
    )
    from imprint.primitives.lu import (
        lu_pivots_to_permutation_p as lu_pivots_to_permutation_p,
    )
    from imprint.primitives.orthogonal import householder_product as householder_product
    from imprint.primitives.orthogonal import (
        householder_product_p as householder_product_p,
    )
    from imprint.primitives.orthogonal import ormqr as ormqr
    from imprint.primitives.orthogonal import ormqr_p as ormqr_p
    from imprint.primitives.orthogonal import qr as qr
    from imprint.primitives.orthogonal import qr_p as qr_p
    from imprint.primitives.rank_updates import cholesky_update as cholesky_update
    from imprint.primitives.rank_updates import cholesky_update_p as cholesky_update_p
    from imprint.primitives.rank_updates import symmetric_product as symmetric_product
    from imprint.primitives.rank_updates import (
        symmetric_product_p as symmetric_product_p,
    )
    from imprint.primitives.schur import hessenberg as hessenberg
    from imprint.primitives.schur import hessenberg_p as hessenberg_p
    from imprint.primitives.schur import schur as schur
    from imprint.primitives.schur import schur_p as schur_p
    from imprint.primitives.schur import tridiagonal as tridiagonal
    from imprint.primitives.schur import tridiagonal_p as tridiagonal_p
    from imprint.primitives.singular import SvdAlgorithm as SvdAlgorithm
    from imprint.primitives.singular import svd as svd
    from imprint.primitives.singular import svd_p as svd_p
    from imprint.primitives.triangular import triangular_solve as triangular_solve
    from imprint.primitives.triangular import triangular_solve_p as triangular_solve_p
    from imprint.primitives.tridiagonal_solving import (
        tridiagonal_solve as tridiagonal_solve,
    )
    from imprint.primitives.tridiagonal_solving import (
        tridiagonal_solve_p as tridiagonal_solve_p,
    )

_LATER: typing.Final[dict[str, str]] = {
    "imprint.lax.polar": "qdwh",
    "imprint.primitives.orthogonal": (
        "householder_product householder_product_p ormqr ormqr_p qr qr_p"
    ),
    "imprint.primitives.singular": ("SvdAlgorithm svd svd_p"),
    "imprint.primitives.eigen": (
        "EigImplementation EighImplementation eig eig_p eigh eigh_p"
    ),
    "imprint.primitives.schur": (
        "hessenberg hessenberg_p schur schur_p tridiagonal tridiagonal_p"
    ),
    "imprint.primitives.cholesky": "cholesky cholesky_p",
    "imprint.primitives.lu": (
        "lu lu_p lu_pivots_to_permutation lu_pivots_to_permutation_p"
    ),
    "imprint.primitives.rank_updates": (
        "cholesky_update cholesky_update_p symmetric_product symmetric_product_p"
    ),
    "imprint.primitives.triangular": "triangular_solve triangular_solve_p",
    "imprint.primitives.tridiagonal_solving": "tridiagonal_solve tridiagonal_solve_p",
}
"""Which module holds the names that load when they are first asked for."""

lazy_attributes.load_later(__name__, _LATER)

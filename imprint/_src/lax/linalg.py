"""Linear algebra under JAX's names, on the last two axes: `lax.linalg`.

Each function is one primitive, or JAX's composition of them; unlike
`imprint.numpy.linalg`, they neither promote nor broadcast. Each family loads lazily.
"""

import typing

from imprint._src.bootstrap import lazy_attributes

if typing.TYPE_CHECKING:
    from imprint._src.lax.polar import qdwh as qdwh
    from imprint._src.primitives.linalg.cholesky import cholesky as cholesky
    from imprint._src.primitives.linalg.cholesky import cholesky_p as cholesky_p
    from imprint._src.primitives.linalg.eigen import (
        EighImplementation as EighImplementation,
    )
    from imprint._src.primitives.linalg.eigen import (
        EigImplementation as EigImplementation,
    )
    from imprint._src.primitives.linalg.eigen import eig as eig
    from imprint._src.primitives.linalg.eigen import eig_p as eig_p
    from imprint._src.primitives.linalg.eigen import eigh as eigh
    from imprint._src.primitives.linalg.eigen import eigh_p as eigh_p
    from imprint._src.primitives.linalg.lu import lu as lu
    from imprint._src.primitives.linalg.lu import (
        lu_p as lu_p,
    )
    from imprint._src.primitives.linalg.lu import (
        lu_pivots_to_permutation as lu_pivots_to_permutation,
    )
    from imprint._src.primitives.linalg.lu import (
        lu_pivots_to_permutation_p as lu_pivots_to_permutation_p,
    )
    from imprint._src.primitives.linalg.orthogonal import (
        householder_product as householder_product,
    )
    from imprint._src.primitives.linalg.orthogonal import (
        householder_product_p as householder_product_p,
    )
    from imprint._src.primitives.linalg.orthogonal import ormqr as ormqr
    from imprint._src.primitives.linalg.orthogonal import ormqr_p as ormqr_p
    from imprint._src.primitives.linalg.orthogonal import qr as qr
    from imprint._src.primitives.linalg.orthogonal import qr_p as qr_p
    from imprint._src.primitives.linalg.rank_updates import (
        cholesky_update as cholesky_update,
    )
    from imprint._src.primitives.linalg.rank_updates import (
        cholesky_update_p as cholesky_update_p,
    )
    from imprint._src.primitives.linalg.rank_updates import (
        symmetric_product as symmetric_product,
    )
    from imprint._src.primitives.linalg.rank_updates import (
        symmetric_product_p as symmetric_product_p,
    )
    from imprint._src.primitives.linalg.schur import hessenberg as hessenberg
    from imprint._src.primitives.linalg.schur import hessenberg_p as hessenberg_p
    from imprint._src.primitives.linalg.schur import schur as schur
    from imprint._src.primitives.linalg.schur import schur_p as schur_p
    from imprint._src.primitives.linalg.schur import tridiagonal as tridiagonal
    from imprint._src.primitives.linalg.schur import tridiagonal_p as tridiagonal_p
    from imprint._src.primitives.linalg.singular import SvdAlgorithm as SvdAlgorithm
    from imprint._src.primitives.linalg.singular import svd as svd
    from imprint._src.primitives.linalg.singular import svd_p as svd_p
    from imprint._src.primitives.linalg.triangular import (
        triangular_solve as triangular_solve,
    )
    from imprint._src.primitives.linalg.triangular import (
        triangular_solve_p as triangular_solve_p,
    )
    from imprint._src.primitives.linalg.tridiagonal_solving import (
        tridiagonal_solve as tridiagonal_solve,
    )
    from imprint._src.primitives.linalg.tridiagonal_solving import (
        tridiagonal_solve_p as tridiagonal_solve_p,
    )

_LAZY: typing.Final[dict[str, str]] = {
    "imprint._src.lax.polar": "qdwh",
    "imprint._src.primitives.linalg.orthogonal": (
        "householder_product householder_product_p ormqr ormqr_p qr qr_p"
    ),
    "imprint._src.primitives.linalg.singular": ("SvdAlgorithm svd svd_p"),
    "imprint._src.primitives.linalg.eigen": (
        "EigImplementation EighImplementation eig eig_p eigh eigh_p"
    ),
    "imprint._src.primitives.linalg.schur": (
        "hessenberg hessenberg_p schur schur_p tridiagonal tridiagonal_p"
    ),
    "imprint._src.primitives.linalg.cholesky": "cholesky cholesky_p",
    "imprint._src.primitives.linalg.lu": (
        "lu lu_p lu_pivots_to_permutation lu_pivots_to_permutation_p"
    ),
    "imprint._src.primitives.linalg.rank_updates": (
        "cholesky_update cholesky_update_p symmetric_product symmetric_product_p"
    ),
    "imprint._src.primitives.linalg.triangular": "triangular_solve triangular_solve_p",
    "imprint._src.primitives.linalg.tridiagonal_solving": "tridiagonal_solve tridiagonal_solve_p",
}
"""The names that load lazily, by module."""

lazy_attributes.load_lazily(__name__, _LAZY)

"""Linear algebra under JAX's names, matrices along the last two axes: `lax.linalg`.

Each function is one primitive, or what JAX makes of one: it neither promotes nor
broadcasts, which `imprint.numpy.linalg` does. Each family loads when it is asked for.
"""

import typing

from imprint.core import later

if typing.TYPE_CHECKING:
    from imprint.primitives.cholesky import cholesky as cholesky
    from imprint.primitives.cholesky import cholesky_p as cholesky_p
    from imprint.primitives.rank_updates import cholesky_update as cholesky_update
    from imprint.primitives.rank_updates import cholesky_update_p as cholesky_update_p
    from imprint.primitives.rank_updates import symmetric_product as symmetric_product
    from imprint.primitives.rank_updates import (
        symmetric_product_p as symmetric_product_p,
    )
    from imprint.primitives.triangular import triangular_solve as triangular_solve
    from imprint.primitives.triangular import triangular_solve_p as triangular_solve_p
    from imprint.primitives.tridiagonal_solving import (
        tridiagonal_solve as tridiagonal_solve,
    )
    from imprint.primitives.tridiagonal_solving import (
        tridiagonal_solve_p as tridiagonal_solve_p,
    )

_LATER: typing.Final[dict[str, str]] = {
    "imprint.primitives.cholesky": "cholesky cholesky_p",
    "imprint.primitives.rank_updates": (
        "cholesky_update cholesky_update_p symmetric_product symmetric_product_p"
    ),
    "imprint.primitives.triangular": "triangular_solve triangular_solve_p",
    "imprint.primitives.tridiagonal_solving": "tridiagonal_solve tridiagonal_solve_p",
}
"""Which module holds the names that load when they are first asked for."""

later.load_later(__name__, _LATER)

"""Linear algebra under JAX's names, matrices along the last two axes: `lax.linalg`.

Each function is one primitive, or what JAX makes of one: it neither promotes nor
broadcasts, which `imprint.numpy.linalg` does. Each family loads when it is asked for.
"""

import typing

from imprint.core import later

if typing.TYPE_CHECKING:
    from imprint.primitives.cholesky import cholesky as cholesky
    from imprint.primitives.cholesky import cholesky_p as cholesky_p
    from imprint.primitives.triangular import triangular_solve as triangular_solve
    from imprint.primitives.triangular import triangular_solve_p as triangular_solve_p

_LATER: typing.Final[dict[str, str]] = {
    "imprint.primitives.cholesky": "cholesky cholesky_p",
    "imprint.primitives.triangular": "triangular_solve triangular_solve_p",
}
"""Which module holds the names that load when they are first asked for."""

later.load_later(__name__, _LATER)

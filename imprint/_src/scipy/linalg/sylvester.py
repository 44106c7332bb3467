"""solve_sylvester and rsf2csf, by complex Schur forms.

`A X + X B = C` becomes an equation of triangular matrices, solved by column from the
last one. A real Schur form becomes complex by one rotation for each pair of
eigenvalues.
"""

from typing import Any

import numpy as np

from imprint._src import dtypes
from imprint._src.core import dims
from imprint._src.core.array import Array
from imprint._src.core.aval import get_aval
from imprint._src.errors import ArgumentError, ShapeError
from imprint._src.lax.loops import fori_loop
from imprint._src.numpy.creation import zeros
from imprint._src.numpy.elementwise.arithmetic import absolute
from imprint._src.numpy.elementwise.exponential import sqrt
from imprint._src.numpy.elementwise.rounding import real
from imprint._src.numpy.elementwise.selection import where
from imprint._src.numpy.linalg.decompositions import eigvals
from imprint._src.numpy.linalg.operands import eps_of, square_matrices
from imprint._src.numpy.promotion import ArrayLike, with_rank
from imprint._src.numpy.reductions.reductions import any as any_
from imprint._src.numpy.shapes.concatenate import stack
from imprint._src.numpy.vectorize import vectorize
from imprint._src.primitives.elementwise.complex import conj
from imprint._src.primitives.elementwise.convert import convert_element_type
from imprint._src.primitives.elementwise.elementwise import listed
from imprint._src.primitives.indexing.dynamic_slicing import (
    dynamic_slice,
    dynamic_update_slice,
)
from imprint._src.primitives.linalg.eigen import eig
from imprint._src.primitives.linalg.orthogonal import solved
from imprint._src.primitives.linalg.schur import schur
from imprint._src.primitives.linalg.triangular import triangular_solve
from imprint._src.primitives.matrices import adjoint, identity, product


def solve_sylvester(
    A: ArrayLike,  # noqa: N803 - SciPy's name
    B: ArrayLike,  # noqa: N803 - SciPy's name
    C: ArrayLike,  # noqa: N803 - SciPy's name
    *,
    method: str = "schur",
    tol: float = 1e-8,
) -> Array:
    """Return the solution X of `A X + X B = C`.

    Args:
        A: square matrices along the last two axes.
        B: square matrices.
        C: matrices with the rows of A and the columns of B.
        method: "schur", or "eigen", by eigenvectors, which is differentiable.
        tol: if an eigenvalue of A and one of B add up to less, the result is NaN.

    Returns:
        The solutions, of the shape and dtype of `C`; leading axes broadcast.

    Raises:
        ArgumentError: the method is unknown.
        ShapeError: `A` or `B` is not square, or `C` does not fit them.

    References:
        SciPy, `scipy.linalg.solve_sylvester`; Bartels and Stewart 1972.

    Example:
        >>> import imprint.numpy as np, imprint.scipy as scipy
        >>> a, b = np.diag(np.array([1.0, 2.0])), np.array([[1.0]])
        >>> scipy.linalg.solve_sylvester(a, b, np.array([[4.0], [6.0]]))
        Array([[2.],
               [2.]], dtype=float32)
    """
    if method not in ("schur", "eigen"):
        raise ArgumentError(
            "scipy.linalg.solve_sylvester: expected method 'schur' or 'eigen', got "
            f"{method!r}. Leave it out for 'schur'."
        )
    a, b, c = square_matrices("scipy.linalg.solve_sylvester", A, B, C)
    wanted = (*a.shape[-1:], *b.shape[-1:], *b.shape[-1:])
    if b.ndim < 2 or not dims.equal_shapes((*c.shape[-2:], *b.shape[-2:-1]), wanted):
        raise ShapeError(
            "scipy.linalg.solve_sylvester: expected square matrices A and B, and C with "
            f"the rows of A and the columns of B, got {listed((a.aval, b.aval, c.aval))}. "
            "Transpose C, or change A for B."
        )
    solve = _by_schur if method == "schur" else _by_eigenvectors

    def one(a: Any, b: Any, c: Any) -> Any:
        found = solve(a, b, c)
        sums = eigvals(a)[:, None] + eigvals(b)[None, :]
        out = found if dtypes.is_complex(c.dtype) else real(found)
        return where(any_(absolute(sums) < tol), float("nan"), out).astype(c.dtype)

    rank = max(a.ndim, b.ndim, c.ndim)
    a, b, c = (with_rank(x, rank) for x in (a, b, c))
    return vectorize(one, signature="(m,m),(n,n),(m,n)->(m,n)")(a, b, c)


def _by_schur(a: Any, b: Any, c: Any) -> Any:
    """Solve `R Y + Y L = F`, R upper and L lower triangular, from the last column."""
    r, u = schur(_complex(a))
    s, v = schur(adjoint(_complex(b)))
    lower = adjoint(s)
    right = product(product(adjoint(u), _complex(c)), v)
    m, n = get_aval(right).shape

    def column(i: Any, y: Any) -> Any:
        j = n - 1 - i
        weights = dynamic_slice(lower, (0, j), (n, 1))
        rest = dynamic_slice(right, (0, j), (m, 1)) - product(y, weights)
        shift = dynamic_slice(lower, (j, j), (1, 1))
        found = triangular_solve(
            r + shift * identity((m, m), r.dtype), rest, left_side=True
        )
        return dynamic_update_slice(y, found, (0, j))

    y = fori_loop(0, n, column, zeros((m, n), right.dtype)) if m and n else right
    return product(product(u, y), adjoint(v))


def _by_eigenvectors(a: Any, b: Any, c: Any) -> Any:
    (p, u), (q, v) = (
        eig(x, compute_left_eigenvectors=False, enable_eigvec_derivs=True)
        for x in (a, b)
    )
    inner = solved(u, product(_complex(c), v)) / (p[:, None] + q[None, :])
    return adjoint(solved(adjoint(v), adjoint(product(u, inner))))


def _complex(x: Any) -> Any:
    return convert_element_type(x, dtypes.to_complex(get_aval(x).dtype))


# ---- real and complex forms ----


def rsf2csf(
    T: ArrayLike,  # noqa: N803 - SciPy's name
    Z: ArrayLike,  # noqa: N803 - SciPy's name
    check_finite: bool = True,  # noqa: FBT001, FBT002 - SciPy's signature
) -> tuple[Array, Array]:
    """Convert a real Schur form and its vectors to the complex Schur form.

    Args:
        T: the real form: square matrices along the last two axes.
        Z: its vectors.
        check_finite: changes nothing.

    Returns:
        The complex form and its vectors, of the shapes of `T` and `Z`.

    Raises:
        ShapeError: `T` is not square, or `Z` has another size.

    References:
        SciPy, `scipy.linalg.rsf2csf`.

    Example:
        >>> import imprint.numpy as np, imprint.scipy as scipy
        >>> t, z = scipy.linalg.rsf2csf(np.array([[0.0, 1.0], [-1.0, 0.0]]), np.eye(2))
        >>> bool(np.allclose(np.diagonal(t), np.array([1j, -1j])))
        True
    """
    t, z = square_matrices("scipy.linalg.rsf2csf", T, Z)
    if z.ndim < 2 or not dims.equal_shapes(z.shape[-2:], t.shape[-2:]):
        raise ShapeError(
            "scipy.linalg.rsf2csf: expected a form, and vectors of the same size, got "
            f"{listed((t.aval, z.aval))}. Pass both results of schur."
        )
    return vectorize(_rotated, signature="(n,n),(n,n)->(n,n),(n,n)")(
        _complex(t), _complex(z)
    )


def _rotated(t: Any, z: Any) -> tuple[Any, Any]:
    """Rotate rows and columns of each 2 x 2 block, from the last one."""
    n = len(t)

    def step(i: Any, pair: Any) -> Any:
        t, z = pair
        m = n - i
        turn = _rotation(dynamic_slice(t, (m - 1, m - 1), (2, 2)))
        rows = product(turn, dynamic_slice(t, (m - 1, 0), (2, n)))
        t = dynamic_update_slice(t, rows, (m - 1, 0))
        t, z = (_turned(x, turn, m) for x in (t, z))
        return dynamic_update_slice(t, zeros((1, 1), t.dtype), (m, m - 1)), z

    return fori_loop(1, n, step, (t, z)) if n > 1 else (t, z)


def _turned(x: Any, turn: Any, m: Any) -> Any:
    columns = dynamic_slice(x, (0, m - 1), (len(x), 2))
    return dynamic_update_slice(x, product(columns, adjoint(turn)), (0, m - 1))


def _rotation(block: Any) -> Any:
    """Return the rotation that makes a 2 x 2 block triangular, or the identity."""
    below, last = block[1, 0], block[1, 1]
    small = eps_of(block.dtype) * (absolute(block[0, 0]) + absolute(last))
    applies = absolute(below) > small
    shift = where(applies, eigvals(block)[0] - last, 1)
    length = sqrt(absolute(shift) ** 2 + absolute(where(applies, below, 0)) ** 2)
    c, s = shift / length, where(applies, below, 0) / length
    turn = stack([stack([conj(c), s]), stack([-s, c])])
    return where(applies, turn, np.eye(2)).astype(block.dtype)

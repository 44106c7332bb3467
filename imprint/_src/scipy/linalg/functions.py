"""sqrtm, funm and polar: functions of matrices by Schur form or singular values.

A function of a matrix is computed on its complex Schur form, which is triangular, and
so is the result. Each diagonal, from the main one outwards, follows from those before,
because the matrix and its function commute (Parlett), or because the root squared is
the matrix.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from imprint._src import dtypes
from imprint._src.core.array import Array
from imprint._src.core.aval import get_aval
from imprint._src.errors import ArgumentError, ShapeError
from imprint._src.lax.loops import fori_loop
from imprint._src.numpy.elementwise.arithmetic import absolute, maximum, minimum
from imprint._src.numpy.elementwise.comparison import isinf
from imprint._src.numpy.elementwise.exponential import sqrt
from imprint._src.numpy.elementwise.selection import where
from imprint._src.numpy.linalg.norms import norm
from imprint._src.numpy.linalg.operands import matrices, square_matrices
from imprint._src.numpy.matrices import diag, diagonal, triu
from imprint._src.numpy.promotion import ArrayLike
from imprint._src.numpy.reductions.reductions import any as any_
from imprint._src.numpy.reductions.reductions import min as min_
from imprint._src.numpy.shapes.reshape import expand_dims
from imprint._src.primitives.elementwise.convert import convert_element_type
from imprint._src.primitives.linalg.schur import schur
from imprint._src.primitives.linalg.singular import svd
from imprint._src.primitives.matrices import adjoint, product


def sqrtm(A: ArrayLike, blocksize: int = 1) -> Array:  # noqa: N803 - SciPy's name
    """Return the principal square root of a square matrix; complex.

    Args:
        A: a square matrix.
        blocksize: must be 1.

    Returns:
        The root, a complex matrix of the shape of `A`.

    Raises:
        NotImplementedError: `blocksize` is above 1.
        ShapeError: `A` is not one square matrix.

    References:
        SciPy, `scipy.linalg.sqrtm`.

    Example:
        >>> import imprint.numpy as np, imprint.scipy as scipy
        >>> scipy.linalg.sqrtm(np.diag(np.array([4.0, 9.0]))).real
        Array([[2., 0.],
               [0., 3.]], dtype=float32)
    """
    if blocksize > 1:
        raise NotImplementedError(
            f"scipy.linalg.sqrtm: expected blocksize 1, got {blocksize}. Leave it out."
        )
    t, vectors = _complex_schur("scipy.linalg.sqrtm", A)
    roots = sqrt(diagonal(t))
    sums = expand_dims(roots, (1,)) + expand_dims(roots, (0,))

    def entries(root: Any) -> Any:
        inner = triu(root, 1)
        rest = t - product(inner, inner)
        return where(rest == 0, 0, rest / sums)

    return _back(_diagonal_by_diagonal(diag(roots), entries), vectors)


def funm(
    A: ArrayLike,  # noqa: N803 - SciPy's name
    func: Callable[[Any], Any],
    disp: bool = True,  # noqa: FBT001, FBT002 - SciPy's signature
) -> Any:
    """Return a function of a square matrix; complex.

    Args:
        A: a square matrix with distinct eigenvalues.
        func: the function, elementwise on an array of eigenvalues.
        disp: True to return only the result; else also an estimate of its error.

    Returns:
        The function of `A`, a complex matrix of its shape; with the estimate, unless
        `disp`.

    Raises:
        ShapeError: `A` is not one square matrix.

    References:
        SciPy, `scipy.linalg.funm`; Parlett 1976.

    Example:
        >>> import imprint.numpy as np, imprint.scipy as scipy
        >>> scipy.linalg.funm(np.diag(np.array([0.0, 1.0])), np.exp).real
        Array([[1.       , 0.       ],
               [0.       , 2.7182817]], dtype=float32)
    """
    t, vectors = _complex_schur("scipy.linalg.funm", A)
    values = diagonal(t)
    gaps = expand_dims(values, (0,)) - expand_dims(values, (1,))
    start = diag(convert_element_type(func(values), get_aval(t).dtype))
    applied = diagonal(start)
    differences = expand_dims(applied, (0,)) - expand_dims(applied, (1,))
    outer = triu(t, 1)

    def entries(out: Any) -> Any:
        inner = triu(out, 1)
        rest = t * differences + product(outer, inner) - product(inner, outer)
        return where(gaps == 0, rest, rest / where(gaps == 0, 1, gaps))

    out = _back(_diagonal_by_diagonal(start, entries), vectors)
    return out if disp else (out, _error(out, t, values, gaps))


def _error(out: Any, t: Any, values: Any, gaps: Any) -> Any:
    """Return an estimate of the error: large if eigenvalues are close."""
    part = dtypes.real_part_dtype(get_aval(t).dtype)
    smallest = part.type(np.finfo(part).eps)
    above = np.triu(np.ones(get_aval(t).shape, bool), 1)
    gap = min_(where(above, absolute(gaps), np.inf), initial=np.inf)
    gap = minimum(gap, absolute(values[0]))
    gap = where(gap == 0, smallest, gap)
    size = (smallest / gap) * norm(triu(t, 1), 1)
    bounded = minimum(part.type(1), maximum(smallest, size))
    return where(any_(isinf(out)), part.type(np.inf), bounded)


def polar(
    a: ArrayLike,
    side: str = "right",
    *,
    method: str = "qdwh",
    eps: float | None = None,
    max_iterations: int | None = None,
) -> tuple[Array, Array]:
    """Return the polar decomposition: U unitary, P positive semidefinite.

    Args:
        a: matrices along the last two axes.
        side: "right" for `a = U P`, "left" for `a = P U`.
        method: "qdwh" or "svd"; both use singular values here.
        eps: changes nothing.
        max_iterations: changes nothing.

    Returns:
        U, of the shape of `a`, and P, square.

    Raises:
        ArgumentError: `side` or `method` is unknown.
        ShapeError: `a` has less than two axes.

    References:
        SciPy, `scipy.linalg.polar`.

    Example:
        >>> import imprint.numpy as np, imprint.scipy as scipy
        >>> u, p = scipy.linalg.polar(np.diag(np.array([2.0, -3.0])))
        >>> np.diag(u), np.diag(p)
        (Array([ 1., -1.], dtype=float32), Array([2., 3.], dtype=float32))
    """
    if side not in ("right", "left") or method not in ("qdwh", "svd"):
        raise ArgumentError(
            "scipy.linalg.polar: expected side 'right' or 'left' and method 'qdwh' or "
            f"'svd', got {side!r} and {method!r}. Leave them out for the right side."
        )
    (x,) = matrices("scipy.linalg.polar", a)
    left, values, right = svd(x, full_matrices=False)
    scales = convert_element_type(values, x.dtype)
    if side == "right":
        scaled = expand_dims(scales, (x.ndim - 1,)) * right
        return product(left, right), product(adjoint(right), scaled)
    scaled = left * expand_dims(scales, (x.ndim - 2,))
    return product(left, right), product(scaled, adjoint(left))


# ---- triangular matrices ----


def _complex_schur(name: str, a: ArrayLike) -> tuple[Any, Any]:
    (x,) = square_matrices(name, a)
    if x.ndim != 2:
        raise ShapeError(
            f"{name}: expected one square matrix, got {x.aval}. Map it over a stack with "
            "imprint.vmap."
        )
    t, vectors = schur(convert_element_type(x, dtypes.to_complex(x.dtype)))
    return t, vectors


def _diagonal_by_diagonal(start: Any, entries: Callable[[Any], Any]) -> Any:
    """Fill an upper triangle outwards; `entries` computes the next diagonal."""
    n = get_aval(start).shape[-1]
    places = np.arange(n, dtype=np.int32)
    above = places - places[:, None]

    def step(k: Any, out: Any) -> Any:
        return where(above == k, entries(out), out)

    return fori_loop(1, n, step, start)


def _back(t: Any, vectors: Any) -> Any:
    return product(product(vectors, t), adjoint(vectors))

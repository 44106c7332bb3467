"""Conjugate directions: `cg` for positive definite systems, `bicgstab` for all.

Each step goes to the least error along a direction that undoes no former one. Hestenes
and Stiefel, Journal of Research of the NBS 49 (1952); van der Vorst, SIAM Journal on
Scientific and Statistical Computing 13 (1992).
"""

from typing import Any

import imprint.numpy as np
from imprint._src.core.array import Array
from imprint._src.lax.loops import while_loop
from imprint._src.scipy.sparse.linalg.systems import Map, System, inner, square, system

_FOUND_NOTHING = -10
"""The count of steps after which there is no further direction."""


def cg(  # noqa: PLR0913 - JAX's signature
    A: Any,  # noqa: N803 - JAX's name
    b: Any,
    x0: Any = None,
    *,
    tol: Any = 1e-5,
    atol: Any = 0.0,
    maxiter: Any = None,
    M: Any = None,  # noqa: N803 - JAX's name
) -> tuple[Any, None]:
    """Solve `A x = b` for a Hermitian positive definite `A` by conjugate gradients.

    Args:
        A: a matrix, or the function that multiplies by it, of a tree like `b`.
        b: a tree of arrays, which is one vector.
        x0: where to begin; zeros if None.
        tol: the residual is at most this share of `b`, or `atol`, in length.
        atol: see `tol`.
        maxiter: the most steps; 10 for each number in `b` if None.
        M: nearly the inverse of `A`, a matrix or a function. A good one saves steps.

    Returns:
        The solution, a tree like `b`, and None, in the place of SciPy's `info`.

    Raises:
        ShapeError: `A` is no square matrix, or `x0` or `A(x)` is not like `b`.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint.scipy.sparse.linalg import cg
        >>> x, _ = cg(lambda x: 2 * x, np.array([2.0, 4.0]))
        >>> x
        Array([1., 2.], dtype=float32)
    """
    given = system("cg", A, b, x0, M)
    most = given.steps if maxiter is None else maxiter

    def solve(matvec: Map, wanted: Array) -> Array:
        return _conjugate(given, matvec, wanted, (tol, atol, most))

    return given.solve(solve, symmetric=True), None


def _conjugate(
    given: System, matvec: Map, wanted: Array, until: tuple[Any, Any, Any]
) -> Array:
    limit, most = _limit(wanted, until), until[2]

    def goes_on(state: tuple[Any, ...]) -> Any:
        _, residual, _, _, steps = state
        return (square(residual) > limit) & (steps < most)

    def step(state: tuple[Any, ...]) -> tuple[Any, ...]:
        x, residual, direction, size, steps = state
        turned = matvec(direction)
        far = size / inner(direction, turned).real
        x, residual = x + far * direction, residual - far * turned
        better = given.precondition(residual)
        new = inner(residual, better).real
        return x, residual, better + (new / size) * direction, new, steps + 1

    residual = wanted - matvec(given.start)
    first = given.precondition(residual)
    size = inner(residual, first).real
    return while_loop(goes_on, step, (given.start, residual, first, size, 0))[0]


def bicgstab(  # noqa: PLR0913 - JAX's signature
    A: Any,  # noqa: N803 - JAX's name
    b: Any,
    x0: Any = None,
    *,
    tol: Any = 1e-5,
    atol: Any = 0.0,
    maxiter: Any = None,
    M: Any = None,  # noqa: N803 - JAX's name
) -> tuple[Any, None]:
    """Solve `A x = b` by stabilised conjugate gradients of two residuals.

    Args:
        A: a matrix, or the function that multiplies by it, of a tree like `b`.
        b: a tree of arrays, which is one vector.
        x0: where to begin; zeros if None.
        tol: the residual is at most this share of `b`, or `atol`, in length.
        atol: see `tol`.
        maxiter: the most steps; 10 for each number in `b` if None.
        M: nearly the inverse of `A`, a matrix or a function. A good one saves steps.

    Returns:
        The solution, a tree like `b`, and None, in the place of SciPy's `info`.

    Raises:
        ShapeError: `A` is no square matrix, or `x0` or `A(x)` is not like `b`.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint.scipy.sparse.linalg import bicgstab
        >>> x, _ = bicgstab(np.array([[2.0, 1.0], [0.0, 1.0]]), np.array([4.0, 2.0]))
        >>> x.round(3)
        Array([1., 2.], dtype=float32)
    """
    given = system("bicgstab", A, b, x0, M)
    most = given.steps if maxiter is None else maxiter

    def solve(matvec: Map, wanted: Array) -> Array:
        return _stabilised(given, matvec, wanted, (tol, atol, most))

    return given.solve(solve, symmetric=False), None


def _stabilised(
    given: System, matvec: Map, wanted: Array, until: tuple[Any, Any, Any]
) -> Array:
    limit, most = _limit(wanted, until), until[2]
    shadow = wanted - matvec(given.start)

    def goes_on(state: tuple[Any, ...]) -> Any:
        _, residual, *_, steps = state
        return (square(residual) > limit) & (steps < most) & (steps >= 0)

    def step(state: tuple[Any, ...]) -> tuple[Any, ...]:
        x, residual, direction, turned, (alpha, omega, rho), steps = state
        new = inner(shadow, residual)
        beta = new / rho * alpha / omega
        direction = residual + beta * (direction - omega * turned)
        near = given.precondition(direction)
        turned = matvec(near)
        alpha = new / inner(shadow, turned)
        half = residual - alpha * turned
        is_done = square(half) < limit
        rest = given.precondition(half)
        image = matvec(rest)
        omega = inner(image, half) / inner(image, image)
        x = x + alpha * near
        x = np.where(is_done, x, x + omega * rest)
        residual = np.where(is_done, half, half - omega * image)
        has_failed = (omega == 0) | (alpha == 0) | (new == 0)
        steps = np.where(has_failed, _FOUND_NOTHING, steps + 1)
        return x, residual, direction, turned, (alpha, omega, new), steps

    one = np.ones((), wanted.dtype)
    state = given.start, shadow, shadow, shadow, (one, one, one), 0
    return while_loop(goes_on, step, state)[0]


def _limit(wanted: Array, until: tuple[Any, Any, Any]) -> Any:
    """Return the square of the length that a residual may have in the end."""
    tol, atol, _ = until
    return np.maximum(tol**2 * square(wanted), atol**2)

"""Iterative solvers of linear systems: cg, bicgstab and gmres.

Trees of arrays are solved as one vector. The derivative of a solution is another
solution, and as exact as both have converged. References: Hestenes and Stiefel, Journal
of Research of the NBS 49 (1952); van der Vorst, SIAM Journal on Scientific and
Statistical Computing 13 (1992); Saad and Schultz, SIAM Journal on Scientific and
Statistical Computing 7 (1986).
"""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, cast

import imprint.numpy as np
from imprint._src.core.array import Array
from imprint._src.core.aval import get_aval
from imprint._src.dtypes import finfo, is_complex, to_inexact
from imprint._src.errors import ArgumentError, ShapeError, TreeError
from imprint._src.flatten_util import Unravel, ravel_pytree
from imprint._src.lax.loops import fori_loop, while_loop
from imprint._src.lax.solving import custom_linear_solve
from imprint._src.numpy.promotion import promote_dtypes
from imprint._src.tree import internal as tree
from imprint.numpy import linalg
from imprint.scipy.linalg import solve_triangular

Map = Callable[[Array], Array]
"""A linear function of vectors."""


class System(NamedTuple):
    """A system with one vector as unknown.

    Args:
        name: the public function, for errors.
        matvec: the linear function.
        precondition: an approximate inverse of it.
        wanted: the right-hand side.
        start: the initial guess.
        unravel: converts the vector to a tree like the right-hand side.
    """

    name: str
    matvec: Map
    precondition: Map
    wanted: Array
    start: Array
    unravel: Unravel

    def solve(self, solve: Callable[[Map, Array], Array], *, symmetric: bool) -> Any:
        """Return the solution of `solve`, with its derivative.

        Args:
            solve: `(matvec, wanted) -> solution`.
            symmetric: whether a real `matvec` is its own transpose.
        """
        is_own_transpose = symmetric and not is_complex(self.wanted.dtype)
        found = custom_linear_solve(
            self.matvec, self.wanted, solve, solve, is_own_transpose
        )
        return self.unravel(found)

    @property
    def steps(self) -> int:
        """The default of `maxiter` per unknown: SciPy's number."""
        return 10 * self.wanted.size


def system(name: str, a: Any, b: Any, x0: Any, m: Any) -> System:
    """Return the system of the arguments of a solver.

    Args:
        name: the public function, for errors.
        a: the matrix, or a function that multiplies by it.
        b: the right-hand side, a tree of arrays.
        x0: the initial guess, a tree like `b`; None for zeros.
        m: an approximate inverse of `a`; None for the identity.
    """
    leaves, treedef = tree.flatten(b)
    if not leaves:
        raise TreeError(f"{name}: expected b to hold an array, got {b!r}.")
    b = treedef.unflatten(promote_dtypes(name, leaves, to_inexact))
    wanted, unravel = ravel_pytree(b)
    start = np.zeros_like(wanted)
    if x0 is not None:
        _check_like(name, "x0", x0, b)
        start = ravel_pytree(x0)[0].astype(wanted.dtype)
    matvec = _map(name, "A", a, unravel, b)
    return System(name, matvec, _map(name, "M", m, unravel, b), wanted, start, unravel)


def _map(name: str, what: str, given: Any, unravel: Unravel, like: Any) -> Map:
    """Return a matrix, or a function of trees, as a function of vectors."""
    if given is None:
        return lambda vector: vector
    apply = given if callable(given) else _product(name, what, given)

    def of_vector(vector: Array) -> Array:
        out = apply(unravel(vector))
        _check_like(name, f"{what}(x)", out, like)
        return ravel_pytree(out)[0].astype(vector.dtype)

    return of_vector


def _product(name: str, what: str, matrix: Any) -> Map:
    shape = getattr(matrix, "shape", None)
    if shape is None or not hasattr(matrix, "__matmul__"):
        raise ArgumentError(
            f"{name}: expected {what} to be a matrix or a function of x, got "
            f"{type(matrix).__name__} {matrix!r:.60}."
        )
    rows, columns = shape if len(shape) == 2 else (0, None)
    if rows != columns:
        raise ShapeError(
            f"{name}: expected {what} to be a square matrix, got one of shape {shape}."
        )
    return lambda x: matrix @ x


def _check_like(name: str, what: str, given: Any, like: Any) -> None:
    leaves, treedef = tree.flatten(given)
    others, wanted = tree.flatten(like)
    if treedef != wanted:
        raise TreeError(
            f"{name}: expected {what} to be a tree like b, {wanted}, got {treedef}."
        )
    for x, y in zip(leaves, others, strict=True):
        if get_aval(x).shape != get_aval(y).shape:
            raise ShapeError(
                f"{name}: expected {what} to have the shapes of b, got {get_aval(x)} for "
                f"{get_aval(y)}."
            )


def inner(x: Array, y: Array) -> Array:
    """Return the inner product of two vectors, the first one conjugated."""
    return np.vdot(x, y)


def square(x: Array) -> Array:
    """Return the square of the length of a vector, a real number."""
    return np.vdot(x, x).real


_FOUND_NOTHING = -10
"""The count of iterations if there is no further direction."""


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
        A: a matrix, or a function that multiplies a tree like `b` by it.
        b: a tree of arrays, as one vector.
        x0: the initial guess; zeros if None.
        tol: the bound of the residual's norm, relative to that of `b`.
        atol: the absolute bound; the larger of both holds.
        maxiter: the maximum number of iterations; 10 per number in `b` if None.
        M: an approximate inverse of `A`, a matrix or a function. A good one saves
            steps.

    Returns:
        The solution, a tree like `b`, and None, in place of SciPy's `info`.

    Raises:
        ShapeError: `A` is not square, or `x0` or `A(x)` does not match `b`.

    References:
        SciPy, `scipy.sparse.linalg.cg`; Hestenes and Stiefel 1952.

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
    """Solve `A x = b` by the stabilized biconjugate gradient method.

    Args:
        A: a matrix, or a function that multiplies a tree like `b` by it.
        b: a tree of arrays, as one vector.
        x0: the initial guess; zeros if None.
        tol: the bound of the residual's norm, relative to that of `b`.
        atol: the absolute bound; the larger of both holds.
        maxiter: the maximum number of iterations; 10 per number in `b` if None.
        M: an approximate inverse of `A`, a matrix or a function. A good one saves
            steps.

    Returns:
        The solution, a tree like `b`, and None, in place of SciPy's `info`.

    Raises:
        ShapeError: `A` is not square, or `x0` or `A(x)` does not match `b`.

    References:
        SciPy, `scipy.sparse.linalg.bicgstab`; van der Vorst 1992.

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
    """Return the bound of the residual's squared norm."""
    tol, atol, _ = until
    return np.maximum(tol**2 * square(wanted), atol**2)


class _Until(NamedTuple):
    """The stopping criteria of gmres.

    Args:
        length: the bound of the residual's norm, between restarts.
        within: the bound of the preconditioned residual's norm, within a restart.
        most: the maximum number of restarts.
        restart: the dimension of a Krylov space.
    """

    length: Any
    within: Any
    most: Any
    restart: int


def gmres(  # noqa: PLR0913 - JAX's signature
    A: Any,  # noqa: N803 - JAX's name
    b: Any,
    x0: Any = None,
    *,
    tol: Any = 1e-5,
    atol: Any = 0.0,
    restart: int = 20,
    maxiter: Any = None,
    M: Any = None,  # noqa: N803 - JAX's name
    solve_method: Literal["batched", "incremental"] = "batched",
) -> tuple[Any, Array]:
    """Solve `A x = b` by the generalized minimal residual method.

    Args:
        A: a matrix, or a function that multiplies a tree like `b` by it.
        b: a tree of arrays, as one vector.
        x0: the initial guess; zeros if None.
        tol: the bound of the residual's norm, relative to that of `b`.
        atol: the absolute bound; the larger of both holds.
        restart: the dimension of a Krylov space, after which the method restarts. A
            larger one takes fewer restarts and more memory.
        maxiter: the maximum number of restarts; 10 per number in `b` if None.
        M: an approximate inverse of `A`, a matrix or a function. A good one saves
            steps.
        solve_method: "batched" fills each space; "incremental" stops as soon as the
            residual is small enough.

    Returns:
        The solution, a tree like `b`, and 0, or -1 if it is not finite.

    Raises:
        ArgumentError: the method is unknown.
        ShapeError: `A` is not square, or `x0` or `A(x)` does not match `b`.

    References:
        SciPy, `scipy.sparse.linalg.gmres`; Saad and Schultz 1986.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint.scipy.sparse.linalg import gmres
        >>> x, info = gmres(np.array([[0.0, 1.0], [2.0, 0.0]]), np.array([3.0, 4.0]))
        >>> np.round(x, 4), int(info)
        (Array([2., 3.], dtype=float32), 0)
    """
    if solve_method not in ("batched", "incremental"):
        raise ArgumentError(
            "gmres: expected solve_method 'batched' or 'incremental', got "
            f"{solve_method!r}."
        )
    given = system("gmres", A, b, x0, M)
    most = given.steps if maxiter is None else maxiter
    leaves_early = solve_method == "incremental"

    def solve(matvec: Map, wanted: Array) -> Array:
        size = linalg.norm(wanted)
        length = np.maximum(tol * size, atol)
        near = linalg.norm(given.precondition(wanted))
        within = near * np.minimum(1.0, length / size) if leaves_early else -1.0
        until = _Until(length, within, most, min(restart, wanted.size))
        return _by_spaces(given, matvec, wanted, until)

    x = given.solve(solve, symmetric=False)
    found = system("gmres", A, x, None, None).wanted
    return x, np.where(np.isfinite(linalg.norm(found)), 0, -1)


def _by_spaces(given: System, matvec: Map, wanted: Array, until: _Until) -> Array:
    """Iterate over restarts."""

    def residual_of(x: Array) -> Array:
        return given.precondition(wanted - matvec(x))

    def goes_on(state: tuple[Array, Array, Any]) -> Any:
        _, residual, count = state
        return (linalg.norm(residual) > until.length) & (count < until.most)

    def step(state: tuple[Array, Array, Any]) -> tuple[Array, Array, Any]:
        x, residual, count = state
        x = x + _within(given, matvec, residual, until)
        return x, residual_of(x), count + 1

    return while_loop(goes_on, step, (given.start, residual_of(given.start), 0))[0]


class _KrylovSpace(NamedTuple):
    """An orthonormal basis of a Krylov space, and the images of its vectors.

    Args:
        vectors: the rows; the next one is the direction of the last image.
        rotated: a row for each vector: its image in the basis, rotated to upper
            triangular form.
        turns: the cosine and the sine of each rotation.
        residual: the residual in the basis, rotated too.
        left: the norm of the remaining residual.
        count: the number of vectors with an image.
    """

    vectors: Array
    rotated: Array
    turns: Array
    residual: Array
    left: Any
    count: Any


def _within(given: System, matvec: Map, residual: Array, until: _Until) -> Array:
    """Return the step in a Krylov space that minimizes the residual."""
    size, restart, dtype = linalg.norm(residual), until.restart, residual.dtype
    vectors = np.zeros((restart + 1, residual.size), dtype).at[0].set(residual / size)

    def goes_on(space: _KrylovSpace) -> Any:
        return (space.count < restart) & (space.left > until.within) & (space.left > 0)

    def step(space: _KrylovSpace) -> _KrylovSpace:
        k = space.count
        image = given.precondition(matvec(space.vectors[k]))
        direction, row = _orthogonal(space.vectors, image)
        length = linalg.norm(direction)
        rounded = cast("Any", finfo(length.dtype)).eps
        is_new = length > rounded * linalg.norm(image)
        length = np.where(is_new, length, 0)
        unit = np.where(is_new, direction / length, 0)
        row = row.at[k + 1].set(length.astype(dtype))
        row = fori_loop(0, k, lambda i, row: _turned(row, i, space.turns[i]), row)
        turn = _turn(row[k], row[k + 1])
        turned = _turned(space.residual, k, turn)
        return _KrylovSpace(
            vectors=space.vectors.at[k + 1].set(unit),
            rotated=space.rotated.at[k].set(_turned(row, k, turn)),
            turns=space.turns.at[k].set(turn),
            residual=turned,
            left=np.abs(turned[k + 1]),
            count=k + 1,
        )

    space = _KrylovSpace(
        vectors=vectors,
        rotated=np.eye(restart, restart + 1, dtype=dtype),
        turns=np.zeros((restart, 2), dtype),
        residual=np.zeros(restart + 1, dtype).at[0].set(size.astype(dtype)),
        left=size,
        count=0,
    )
    space = while_loop(goes_on, step, space)
    taken = np.where(np.arange(restart) < space.count, space.residual[:-1], 0)
    shares = solve_triangular(space.rotated[:, :-1].T, taken)
    return shares @ space.vectors[:-1]


def _orthogonal(vectors: Array, x: Array) -> tuple[Array, Array]:
    """Return the part of `x` orthogonal to the vectors, and its coefficients.

    Twice: the second pass removes rounding errors of the first.
    """
    first = vectors.conj() @ x
    x = x - first @ vectors
    second = vectors.conj() @ x
    return x - second @ vectors, first + second


def _turn(a: Array, b: Array) -> Array:
    """Return the cosine and the sine that rotate (a, b) to (r, 0); `b` is real."""
    length = np.sqrt(np.abs(a) ** 2 + np.abs(b) ** 2)
    is_zero = length == 0
    safe = np.where(is_zero, 1, length)
    cosine = np.where(is_zero, 1, a / safe)
    return np.stack([cosine, np.where(is_zero, 0, b / safe)])


def _turned(row: Array, k: Any, turn: Array) -> Array:
    """Rotate two neighbours of a vector."""
    cosine, sine = turn
    x, y = row[k], row[k + 1]
    row = row.at[k].set(cosine.conj() * x + sine.conj() * y)
    return row.at[k + 1].set(cosine * y - sine * x)

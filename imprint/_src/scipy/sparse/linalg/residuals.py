"""The least residual in a growing space: `gmres`, for any system.

Vectors that `A` makes of the residual, one after the other, are made orthonormal; the
solution in the space of `restart` of them is a small problem of least squares. Saad and
Schultz, SIAM Journal on Scientific and Statistical Computing 7 (1986).
"""

from typing import Any, Literal, NamedTuple, cast

import imprint.numpy as np
from imprint._src.core.array import Array
from imprint._src.dtypes import finfo
from imprint._src.errors import ArgumentError
from imprint._src.lax.loops import fori_loop, while_loop
from imprint._src.scipy.sparse.linalg.systems import Map, System, system
from imprint.numpy import linalg
from imprint.scipy.linalg import solve_triangular


class _Until(NamedTuple):
    """When to stop.

    Args:
        length: the residual's, between two spaces.
        within: the preconditioned residual's, inside of one.
        most: how many spaces.
        restart: the vectors of a space.
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
    """Solve `A x = b` by generalised minimal residuals.

    Args:
        A: a matrix, or the function that multiplies by it, of a tree like `b`.
        b: a tree of arrays, which is one vector.
        x0: where to begin; zeros if None.
        tol: the residual is at most this share of `b`, or `atol`, in length.
        atol: see `tol`.
        restart: how many vectors span a space, after which the next one begins. More of
            them take fewer spaces, and more memory.
        maxiter: the most spaces; 10 for each number in `b` if None.
        M: nearly the inverse of `A`, a matrix or a function. A good one saves steps.
        solve_method: "batched" fills each space; "incremental" leaves it as soon as the
            residual is small enough.

    Returns:
        The solution, a tree like `b`, and 0, or -1 if it is not finite.

    Raises:
        ArgumentError: there is no such method.
        ShapeError: `A` is no square matrix, or `x0` or `A(x)` is not like `b`.

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
    """Go from space to space."""

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


class _Space(NamedTuple):
    """Orthonormal vectors, and what `A` makes of them.

    Args:
        vectors: the rows; the next one is the direction that the last of them led to.
        rotated: a row for each vector: its image in the base of the vectors, turned so
            that nothing is beyond the diagonal.
        turns: the cosine and the sine of each turn.
        residual: the residual in the base, turned likewise.
        left: the length of the residual that is left.
        count: how many vectors have an image.
    """

    vectors: Array
    rotated: Array
    turns: Array
    residual: Array
    left: Any
    count: Any


def _within(given: System, matvec: Map, residual: Array, until: _Until) -> Array:
    """Return the step that leaves the least residual, of those in one space."""
    size, restart, dtype = linalg.norm(residual), until.restart, residual.dtype
    vectors = np.zeros((restart + 1, residual.size), dtype).at[0].set(residual / size)

    def goes_on(space: _Space) -> Any:
        return (space.count < restart) & (space.left > until.within) & (space.left > 0)

    def step(space: _Space) -> _Space:
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
        return _Space(
            vectors=space.vectors.at[k + 1].set(unit),
            rotated=space.rotated.at[k].set(_turned(row, k, turn)),
            turns=space.turns.at[k].set(turn),
            residual=turned,
            left=np.abs(turned[k + 1]),
            count=k + 1,
        )

    space = _Space(
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
    """Return what is left of `x` beside the vectors, and its shares in them.

    Twice: what rounding leaves the first time is taken off the second time.
    """
    first = vectors.conj() @ x
    x = x - first @ vectors
    second = vectors.conj() @ x
    return x - second @ vectors, first + second


def _turn(a: Array, b: Array) -> Array:
    """Return the cosine and the sine that turn (a, b) to (r, 0); `b` is real."""
    length = np.sqrt(np.abs(a) ** 2 + np.abs(b) ** 2)
    is_zero = length == 0
    safe = np.where(is_zero, 1, length)
    cosine = np.where(is_zero, 1, a / safe)
    return np.stack([cosine, np.where(is_zero, 0, b / safe)])


def _turned(row: Array, k: Any, turn: Array) -> Array:
    """Turn two neighbours of a vector."""
    cosine, sine = turn
    x, y = row[k], row[k + 1]
    row = row.at[k].set(cosine.conj() * x + sine.conj() * y)
    return row.at[k + 1].set(cosine * y - sine * x)

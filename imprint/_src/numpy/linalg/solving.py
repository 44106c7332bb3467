"""Linear systems by LU factorization: solve, inv, tensorsolve, tensorinv.

A solution is a `custom_linear_solve`: its derivatives of any order and mode are
solutions with the same factors. Without a trace NumPy solves; if it raises for a
singular matrix, the factors give infinities and NaN.
"""

from contextlib import suppress
from functools import partial
from typing import Any, Final

import numpy as np

from imprint._src.control_flow.implicit import solve_linear
from imprint._src.control_flow.trace_body import trace_body, unite
from imprint._src.core import dims
from imprint._src.core.array import Array
from imprint._src.core.aval import Shape, ShapedArray, get_aval
from imprint._src.core.host_kernel import HostKernel
from imprint._src.core.trace import current_trace
from imprint._src.eager.fusion import fuse_eager
from imprint._src.errors import ArgumentError, ShapeError
from imprint._src.numpy.linalg.operands import square_matrices
from imprint._src.numpy.promotion import ArrayLike, as_array
from imprint._src.numpy.shapes.reshape import broadcast_to, moveaxis, ravel, reshape
from imprint._src.primitives.axes import whole
from imprint._src.primitives.barrier import stop_gradient
from imprint._src.primitives.elementwise.elementwise import listed
from imprint._src.primitives.linalg.lu import inverse_order, lu, rows_at
from imprint._src.primitives.linalg.triangular import triangular_solve
from imprint._src.primitives.matrices import identity, product, swapped
from imprint._src.primitives.shape import expand_dims, squeeze
from imprint._src.tree import internal as tree

NDArray = np.ndarray[Any, Any]


@fuse_eager
def solve(a: ArrayLike, b: ArrayLike) -> Array:
    """Return the solutions x of `a @ x = b`.

    Args:
        a: square matrices along the last two axes.
        b: a vector, or matrices along the last two axes; leading axes broadcast.

    Returns:
        The solutions; infinities and NaN, where NumPy raises, for singular matrices.

    Raises:
        ShapeError: `b` has another number of rows, or leading axes that do not
            broadcast.

    References:
        NumPy, `numpy.linalg.solve`.

    Example:
        >>> import imprint.numpy as np
        >>> np.linalg.solve(np.array([[2.0, 0.0], [1.0, 4.0]]), np.array([2.0, 9.0]))
        Array([1., 2.], dtype=float32)
    """
    x, y = square_matrices("linalg.solve", a, b)
    _check_sides(x.aval, y.aval)
    if _solve_now.applies(x, y):
        with suppress(np.linalg.LinAlgError):
            return _solve_now(x, y)[0]
    return _solved(x, y)


@fuse_eager
def inv(a: ArrayLike) -> Array:
    """Return the inverses of square matrices.

    Args:
        a: square matrices along the last two axes.

    Returns:
        The inverses; infinities and NaN, where NumPy raises, for singular matrices.

    References:
        NumPy, `numpy.linalg.inv`.

    Example:
        >>> import imprint.numpy as np
        >>> np.linalg.inv(np.array([[2.0, 0.0], [1.0, 4.0]]))
        Array([[ 0.5  ,  0.   ],
               [-0.125,  0.25 ]], dtype=float32)
    """
    (x,) = square_matrices("linalg.inv", a)
    if _inv_now.applies(x):
        with suppress(np.linalg.LinAlgError):
            return _inv_now(x)[0]
    return _solved(x, identity(x.shape, x.dtype))


def tensorsolve(
    a: ArrayLike, b: ArrayLike, axes: tuple[int, ...] | None = None
) -> Array:
    """Return the tensor x that solves `tensordot(a, x, x.ndim) = b`.

    Args:
        a: an array; the axes of `b` come first, then those of the result.
        b: an array.
        axes: axes of `a` to move to the end first.

    Returns:
        An array of the axes of `a` beyond those of `b`, in the promoted floating or
        complex dtype.

    Raises:
        ShapeError: the first axes of `a` are not those of `b`, or its others have more
            or fewer elements.

    References:
        NumPy, `numpy.linalg.tensorsolve`.

    Example:
        >>> import imprint.numpy as np
        >>> a = np.eye(6).reshape(2, 3, 6)
        >>> np.linalg.tensorsolve(a, np.arange(6.0).reshape(2, 3))
        Array([0., 1., 2., 3., 4., 5.], dtype=float32)
    """
    x, y = as_array("linalg.tensorsolve", a), as_array("linalg.tensorsolve", b)
    if axes is not None:
        x = moveaxis(x, axes, (x.ndim - 1,) * len(axes))
    shape = x.shape[y.ndim :]
    if not dims.equal_shapes(x.shape[: y.ndim], y.shape):
        raise ShapeError(
            "linalg.tensorsolve: expected an array whose first axes are those of the "
            f"right-hand side, got {listed((x.aval, y.aval))}. Name the others in axes."
        )
    if not dims.equal(dims.product(y.shape), dims.product(shape)):
        raise ShapeError(
            "linalg.tensorsolve: expected as many equations as unknowns, got "
            f"{listed((x.aval, y.aval))}. Reshape the first."
        )
    return reshape(
        solve(reshape(x, (dims.product(y.shape), dims.product(shape))), ravel(y)), shape
    )


def tensorinv(a: ArrayLike, ind: int = 2) -> Array:
    """Return the inverse of an array with respect to `tensordot`.

    Args:
        a: an array with as many elements along the first `ind` axes as along the
            others.
        ind: the number of last axes of the result.

    Returns:
        An array of the axes of `a` after the first `ind`, then these, in the floating
        or complex dtype of `a`.

    Raises:
        ArgumentError: `ind` is not positive.
        ShapeError: the two groups of axes have not as many elements.

    References:
        NumPy, `numpy.linalg.tensorinv`.

    Example:
        >>> import imprint.numpy as np
        >>> np.linalg.tensorinv(2 * np.eye(4).reshape(2, 2, 4)).shape
        (4, 2, 2)
    """
    x = as_array("linalg.tensorinv", a)
    count = whole("linalg.tensorinv", "ind", ind)
    if count <= 0:
        raise ArgumentError(
            f"linalg.tensorinv: expected a positive ind, got {count}. Say how many axes "
            "of the result come last."
        )
    rows, columns = x.shape[:count], x.shape[count:]
    if not dims.equal(dims.product(rows), dims.product(columns)):
        raise ShapeError(
            f"linalg.tensorinv: expected as many elements along the first {count} axes "
            f"as along the others, got {x.aval}. Pass another ind."
        )
    return reshape(
        inv(reshape(x, (dims.product(rows), dims.product(columns)))), (*columns, *rows)
    )


# ---- shapes ----


def _check_sides(a: ShapedArray, b: ShapedArray) -> None:
    rows = b.shape[-min(b.ndim, 2)] if b.ndim else None
    if rows is None or not dims.equal(a.shape[-1], rows):
        raise ShapeError(
            "linalg.solve: expected a right-hand side of as many rows as the matrices, "
            f"got {listed((a, b))}. A stack of vectors needs an axis more: "
            "solve(a, b[..., None])[..., 0]."
        )
    if dims.broadcast_shapes([a.shape[:-2], b.shape[:-2]]) is None:
        raise ShapeError(
            "linalg.solve: expected leading axes that broadcast, got "
            f"{listed((a, b))}. Reshape one of them."
        )


def _solve_aval(a: ShapedArray, b: ShapedArray) -> tuple[ShapedArray]:
    weak_type = a.weak_type and b.weak_type
    out = b.with_dtype(b.dtype, weak_type=weak_type)
    if b.ndim == 1:
        return (out.with_shape((*a.shape[:-2], *b.shape)),)
    stack = dims.broadcast_shapes([a.shape[:-2], b.shape[:-2]])
    assert stack is not None
    return (out.with_shape((*stack, *b.shape[-2:])),)


def _solve_reference(a: NDArray, b: NDArray) -> tuple[NDArray]:
    return (np.linalg.solve(a, b),)


def _inv_aval(x: ShapedArray) -> tuple[ShapedArray]:
    return (x,)


def _inv_reference(x: NDArray) -> tuple[NDArray]:
    return (np.linalg.inv(x),)


_solve_now: Final = HostKernel("linalg.solve", _solve_aval, _solve_reference)
_inv_now: Final = HostKernel("linalg.inv", _inv_aval, _inv_reference)


def _solved(a: Any, b: Any) -> Any:
    """Solve by factors; one matrix for many right-hand sides is factored once."""
    shape, side = get_aval(a).shape, get_aval(b).shape
    if len(side) == 1:
        column = _solved(a, expand_dims(b, (1,)))
        return squeeze(column, (get_aval(column).ndim - 1,))
    if len(shape) == 2 and len(side) > 2:
        rows = moveaxis(b, -2, 0)
        flat = _by_factors(a, reshape(rows, (side[-2], dims.product(side) // side[-2])))
        return moveaxis(reshape(flat, rows.shape), 0, -2)
    stack = dims.broadcast_shapes([shape[:-2], side[:-2]])
    assert stack is not None
    return _by_factors(_spread(a, stack), _spread(b, stack))


def _spread(x: Any, stack: Shape) -> Any:
    shape = (*stack, *get_aval(x).shape[-2:])
    return x if dims.is_same_shape(get_aval(x).shape, shape) else broadcast_to(x, shape)


# ---- by factors ----


def _by_factors(a: Any, b: Any) -> Any:
    factor, _, order = lu(stop_gradient(a))

    if current_trace() is None:
        return solve_factored(factor, order, b)
    functions = (
        partial(product, a),
        partial(solve_factored, factor, order),
        partial(product, swapped(a)),
        partial(solve_factored, factor, order, transposed=True),
    )
    _, one = tree.flatten((b,))
    closed = [trace_body(f, one, (get_aval(b),), "linalg.solve") for f in functions]
    jaxprs, captured = unite(closed)
    return solve_linear(jaxprs, captured, (b,))[0]


def solve_factored(
    factor: Any,
    order: Any,
    b: Any,
    *,
    transposed: bool = False,
    conjugate: bool = False,
) -> Any:
    """Solve with the factors of `lu`; or with their conjugate transposes."""
    if not transposed:
        x = rows_at(b, order)
        x = triangular_solve(factor, x, left_side=True, lower=True, unit_diagonal=True)
        return triangular_solve(factor, x, left_side=True)
    turned = {"left_side": True, "transpose_a": True, "conjugate_a": conjugate}
    x = triangular_solve(factor, b, **turned)
    x = triangular_solve(factor, x, lower=True, unit_diagonal=True, **turned)
    return rows_at(x, inverse_order(order))

"""Normal vectors with a covariance, and orthogonal matrices.

A normal vector is a factor of the covariance times independent normal draws: the
Cholesky factor, or, for a singular matrix, one from its singular values or eigenvalues.
An orthogonal matrix is the Q of a normal matrix, with the signs of the diagonal of R,
so it is uniform. Draws are JAX's.
"""

from typing import Any, Final

from imprint._src import dtypes
from imprint._src.core import dims
from imprint._src.core.array import Array
from imprint._src.core.aval import DType, Shape, get_aval
from imprint._src.dtypes import DTypeLike
from imprint._src.eager.spread import spread
from imprint._src.errors import ArgumentError, ShapeError
from imprint._src.primitives.axes import whole
from imprint._src.primitives.core_ops import add, broadcast_in_dim, mul
from imprint._src.primitives.dot import dot_general
from imprint._src.primitives.elementwise.convert import convert_element_type
from imprint._src.primitives.elementwise.elementwise import listed
from imprint._src.primitives.elementwise.exponential import sqrt
from imprint._src.primitives.elementwise.rounding import sign
from imprint._src.primitives.linalg.cholesky import cholesky
from imprint._src.primitives.linalg.eigen import eigh
from imprint._src.primitives.linalg.orthogonal import qr
from imprint._src.primitives.linalg.singular import svd
from imprint._src.primitives.matrices import LAPACK, along_rows, diagonal, swapped
from imprint._src.primitives.shape import expand_dims, squeeze
from imprint._src.random.arguments import (
    check_fits,
    check_number,
    float_dtype,
    programs,
    repeat,
    sizes,
)
from imprint._src.random.continuous import normal, normal_numbers
from imprint._src.random.key_array import KeyLike, single_key

_METHODS: Final = ("cholesky", "eigh", "svd")


def multivariate_normal(  # noqa: PLR0913 - JAX's signature
    key: KeyLike,
    mean: Any,
    cov: Any,
    shape: Any = None,
    dtype: DTypeLike | None = None,
    method: str = "cholesky",
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw vectors from the normal distribution of a mean and a covariance.

    Args:
        key: a key.
        mean: the mean of each element, along the last axis.
        cov: covariance matrices along the last two axes.
        shape: the shape of the result without its last axis; by default the common
            shape of the other axes of `mean` and `cov`.
        dtype: of the normal draws; by default that of `mean` and `cov`.
        method: the factor of `cov`: "cholesky"; for singular matrices "eigh" or "svd".
        out_sharding: how the result is spread, as in `imprint.lax.with_sharding_constraint`.

    Returns:
        The vectors, of shape `(*shape, n)` for vectors of n elements.

    Raises:
        ArgumentError: the method is unknown, or `dtype` is not floating-point.
        ShapeError: `mean` and `cov` do not match, or do not broadcast to `shape`.

    Example:
        >>> import imprint
        >>> import imprint.numpy as np
        >>> draw = imprint.random.multivariate_normal
        >>> draw(imprint.random.key(0), np.zeros(2), 4 * np.eye(2))
        Array([3.2452843, 4.0505295], dtype=float32)
    """
    if out_sharding is not None:
        return spread(
            multivariate_normal(key, mean, cov, shape, dtype, method), out_sharding
        )
    name = "multivariate_normal"
    if method not in _METHODS:
        raise ArgumentError(
            f"{name}: expected method 'cholesky', 'eigh' or 'svd', got {method!r}. For a "
            "singular covariance write 'eigh'."
        )
    center, width = _promoted(name, mean, cov)
    first, second = get_aval(center), get_aval(width)
    wanted = float_dtype(name, first.dtype if dtype is None else dtype)
    fits = first.ndim >= 1 and second.ndim >= 2
    if not fits or not all(dims.equal(n, first.shape[-1]) for n in second.shape[-2:]):
        raise ShapeError(
            f"{name}: expected a mean of n elements and a covariance matrix of n rows and "
            f"columns, got {listed((first, second))}. Reshape them."
        )
    stacks = first.shape[:-1], second.shape[:-2]
    lengths = dims.broadcast_shapes(stacks) if shape is None else sizes(name, shape)
    if lengths is None:
        raise ShapeError(
            f"{name}: expected leading axes that broadcast, got "
            f"{listed((first, second))}. Reshape one of them."
        )
    check_fits(name, lengths, *stacks)
    drawn = normal(key, (*lengths, first.shape[-1]), wanted)
    width = _factor(width, method)
    common, _ = dtypes.promote(((first.dtype, False), (wanted, False)))
    center, width, drawn = (
        convert_element_type(x, common) for x in (center, width, drawn)
    )
    return add(repeat(center, get_aval(drawn).shape), _times(width, drawn))


def _promoted(name: str, mean: Any, cov: Any) -> tuple[Any, Any]:
    check_number(name, "mean", mean)
    check_number(name, "cov", cov)
    dtype, _ = dtypes.promote((dtypes.typed(mean), dtypes.typed(cov)))
    both = (convert_element_type(x, dtypes.to_inexact(dtype)) for x in (mean, cov))
    center, width = both
    return center, width


def _factor(cov: Any, method: str) -> Any:
    """Return a matrix that, times its transpose, is the covariance."""
    if method == "cholesky":
        return cholesky(cov)
    if method == "svd":
        vectors, values, _ = svd(cov)
    else:
        vectors, values = eigh(cov)
    scales = expand_dims(sqrt(values), (get_aval(values).ndim - 1,))
    last = get_aval(scales).ndim
    shape = get_aval(vectors).shape
    return mul(vectors, broadcast_in_dim(scales, shape, tuple(range(last))))


def _times(factor: Any, x: Any) -> Any:
    """Return the products of matrices and vectors; use a single matrix for all."""
    aval = get_aval(x)
    last = aval.ndim - 1
    if get_aval(factor).ndim == 2:
        return dot_general(x, factor, (((last,), (1,)), ((), ())))
    matrices = repeat(factor, (*aval.shape, aval.shape[-1]))
    stack = tuple(range(last))
    columns = expand_dims(x, (last + 1,))
    out = dot_general(matrices, columns, (((last + 1,), (last,)), (stack, stack)))
    return squeeze(out, (last + 1,))


def orthogonal(
    key: KeyLike,
    n: int,
    shape: Any = (),
    dtype: DTypeLike | None = None,
    m: int | None = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw uniform matrices with orthonormal columns, or rows if these are fewer.

    Args:
        key: a key.
        n: the number of rows.
        shape: the shape of the stack of matrices.
        dtype: `float32` by default, `float64` under `enable_x64`; a complex dtype draws
            unitary matrices.
        m: the number of columns; `n` by default.
        out_sharding: how the result is spread, as in `imprint.lax.with_sharding_constraint`.

    Returns:
        The matrices, of shape `(*shape, n, m)`.

    Raises:
        ArgumentError: a length is negative, or `dtype` is none for linear algebra.

    References:
        Mezzadri 2007.

    Example:
        >>> import imprint
        >>> import imprint.numpy as np
        >>> q = imprint.random.orthogonal(imprint.random.key(0), 3)
        >>> bool(np.allclose(q @ q.T, np.eye(3), atol=1e-5))
        True
    """
    if out_sharding is not None:
        return spread(orthogonal(key, n, shape, dtype, m), out_sharding)
    data = single_key("orthogonal", key)
    out = dtypes.requested(float if dtype is None else dtype, "orthogonal")
    if not LAPACK.accepts(out):
        raise ArgumentError(
            f"orthogonal: expected {LAPACK.words}, got {out}. Convert the result."
        )
    rows = whole("orthogonal", "n", n)
    columns = rows if m is None else whole("orthogonal", "m", m)
    if rows < 0 or columns < 0:
        raise ArgumentError(
            f"orthogonal: expected lengths of at least 0, got n={rows} and m={columns}. "
            "They are the numbers of rows and columns."
        )
    stack = sizes("orthogonal", shape)
    return _orthogonal_of(stack, out, rows, columns)(data)


def _orthogonal(stack: Shape, dtype: DType, rows: int, columns: int, data: Any) -> Any:
    long, short = max(rows, columns), min(rows, columns)
    drawn = normal_numbers((*stack, long, short), dtype, data)
    q, r = qr(drawn, full_matrices=False)
    turned = mul(q, along_rows(sign(diagonal(r)), get_aval(q).shape))
    return swapped(turned) if rows < columns else turned


_orthogonal_of = programs(_orthogonal)

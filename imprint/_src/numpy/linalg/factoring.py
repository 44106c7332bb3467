"""cholesky: the triangular factor of a positive definite matrix.

`lax.linalg.cholesky` of promoted operands. Where nothing is traced NumPy factors, in one
evaluation; NaN stands for a matrix for which it raises.
"""

from typing import Any, Final

import numpy as np

from imprint._src.core.array import Array
from imprint._src.core.aval import ShapedArray
from imprint._src.core.host_kernel import HostKernel
from imprint._src.eager.fusion import fuse_eager
from imprint._src.numpy.linalg.operands import square_matrices
from imprint._src.numpy.promotion import ArrayLike
from imprint._src.primitives.linalg import cholesky as factors
from imprint._src.primitives.matrices import adjoint, or_nan


@fuse_eager
def cholesky(
    a: ArrayLike, *, upper: bool = False, symmetrize_input: bool = True
) -> Array:
    """Return the triangular factor of positive definite matrices.

    Args:
        a: square matrices along the last two axes.
        upper: whether to return U of `a = Uᴴ U`, and not L of `a = L Lᴴ`.
        symmetrize_input: whether to factor `(a + aᴴ) / 2`; else only the lower triangle is
            read.

    Returns:
        The factors; NaN, where NumPy raises, for a matrix that is not positive definite.

    Example:
        >>> import imprint.numpy as np
        >>> np.linalg.cholesky(np.array([[4.0, 2.0], [2.0, 5.0]]))
        Array([[2., 0.],
               [1., 2.]], dtype=float32)
    """
    (x,) = square_matrices("linalg.cholesky", a)
    if _factored.applies(x):
        return _factored(x, upper=bool(upper), both=bool(symmetrize_input))[0]
    factor = factors.cholesky(x, symmetrize_input=symmetrize_input)
    return adjoint(factor) if upper else factor


def _reference(x: Any, *, upper: bool, both: bool) -> tuple[Any]:
    if both:
        x = (x + np.conj(np.swapaxes(x, -1, -2))) / x.dtype.type(2)
    factor = or_nan(np.linalg.cholesky, x)
    if np.isnan(factor[..., -1:, -1:]).any():
        factor = np.tril(factor)
    return (np.conj(np.swapaxes(factor, -1, -2)) if upper else factor,)


def _aval(x: ShapedArray, **_: bool) -> tuple[ShapedArray]:
    return (x,)


_factored: Final = HostKernel("linalg.cholesky", _aval, _reference)

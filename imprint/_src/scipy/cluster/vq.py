"""Vector quantization, as `jax.scipy.cluster.vq` has it: the nearest code.

What finds the codes, `kmeans`, is a loop of this and of `imprint.ops.segment_sum`.
"""

import imprint.numpy as np
from imprint._src.core.array import Array
from imprint._src.dtypes import to_inexact
from imprint._src.errors import ShapeError
from imprint._src.numpy.promotion import ArrayLike, as_array, promote_dtypes
from imprint.numpy import linalg

__all__ = ["vq"]


def vq(
    obs: ArrayLike,
    code_book: ArrayLike,
    check_finite: bool = True,  # noqa: FBT001, FBT002 - SciPy's signature
) -> tuple[Array, Array]:
    """Return the nearest code of each observation, and how far it is.

    Args:
        obs: a row for each observation; of one axis, a number for each.
        code_book: a row for each code, of as many columns.
        check_finite: taken and not looked at, as in JAX: values come later.

    Returns:
        The index of the first of the nearest codes, and the distance from it.

    Raises:
        ShapeError: the operands are no two matrices, or no two vectors, or rows differ.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint.scipy.cluster.vq import vq
        >>> vq(np.array([1.0, 5.0]), np.array([0.0, 4.5]))
        (Array([0, 1], dtype=int32), Array([1. , 0.5], dtype=float32))
    """
    x, codes = [
        as_array("vq", each)
        for each in promote_dtypes("vq", (obs, code_book), to_inexact)
    ]
    if x.ndim != codes.ndim or x.ndim not in (1, 2):
        raise ShapeError(
            f"vq: expected two vectors, or two matrices of equal rows, got {x.aval} and "
            f"{codes.aval}. Give a row for each observation and for each code."
        )
    if x.ndim == 1:
        x, codes = x[:, None], codes[:, None]
    distances = linalg.norm(x[:, None] - codes, axis=-1)
    return np.argmin(distances, axis=-1), distances.min(axis=-1)

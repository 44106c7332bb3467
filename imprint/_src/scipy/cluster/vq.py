"""Vector quantization, as in `jax.scipy.cluster.vq`: the nearest code.

`kmeans`, which finds the codes, is a loop over this and `imprint.ops.segment_sum`.
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
    """Return the nearest code of each observation, and its distance.

    Args:
        obs: a row for each observation; with one axis, a number for each.
        code_book: a row for each code, with as many columns.
        check_finite: ignored, as in JAX.

    Returns:
        The index of the first nearest code, and the distance to it, as two vectors.

    Raises:
        ShapeError: the operands are not two matrices or two vectors, or row lengths
            differ.

    References:
        SciPy, `scipy.cluster.vq.vq`.

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
    distances = linalg.norm(x[:, None] - codes[None], axis=-1)
    return np.argmin(distances, axis=-1), distances.min(axis=-1)

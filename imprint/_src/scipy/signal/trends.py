"""detrend: data without their mean, or without a least-squares line.

The line is removed by two projections on vectors that are known beforehand.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy

import imprint.numpy as np
from imprint._src.core import dims
from imprint._src.core.array import Array
from imprint._src.dtypes import to_inexact
from imprint._src.errors import ArgumentError
from imprint._src.numpy.promotion import (
    ArrayLike,
    as_array,
    promote_dtypes,
    with_rank,
)
from imprint._src.primitives.axes import canonical_axis, int_tuple


def detrend(
    data: ArrayLike,
    axis: int = -1,
    type: str = "linear",  # noqa: A002 - SciPy's name
    bp: int | Sequence[int] = 0,
    overwrite_data: None = None,
) -> Array:
    """Remove the mean, or the least-squares line, along an axis.

    Args:
        data: an array.
        axis: the axis.
        type: "linear" for the line, "constant" for the mean.
        bp: the indices where a new line begins, one or several.
        overwrite_data: must be None; arrays are immutable.

    Returns:
        The rest, a float or complex array of the shape of `data`.

    Raises:
        ArgumentError: the type is unknown, or an index is out of bounds.
        NotImplementedError: `overwrite_data` is given.

    References:
        SciPy, `scipy.signal.detrend`.

    Example:
        >>> import imprint.numpy as np
        >>> from imprint.scipy import signal
        >>> signal.detrend(np.array([1.0, 2.0, 4.0]), type="constant").round(2)
        Array([-1.33, -0.33,  1.67], dtype=float32)
    """
    if overwrite_data is not None:
        raise NotImplementedError(
            "detrend: expected overwrite_data to be None, as arrays are immutable, got "
            f"{overwrite_data!r}. Leave it out."
        )
    (promoted,) = promote_dtypes("detrend", (data,), to_inexact)
    x = as_array("detrend", promoted)
    if type == "constant":
        return x - np.mean(x, axis=axis, keepdims=True)
    if type != "linear":
        raise ArgumentError(
            f"detrend: expected a type of linear or constant, got {type!r}."
        )
    at = canonical_axis("detrend", axis, x.ndim)
    length = dims.concrete(x.shape[at], "detrend")
    places = (bp,) if isinstance(bp, int) else int_tuple(bp)
    cuts = sorted({0, *places, length})
    if cuts[0] < 0 or cuts[-1] > length:
        raise ArgumentError(
            f"detrend: expected places in [0, {length}] where a line begins, got bp={bp}."
        )
    rows = np.moveaxis(x, at, -1)
    pairs = pairwise(cuts)
    parts = [_without_line(rows[..., low:high]) for low, high in pairs]
    return np.moveaxis(np.concatenate(parts, axis=-1), -1, at)


def _without_line(rows: Array) -> Array:
    """Remove the projections on 1 and on the slope; both are known beforehand."""
    n = rows.shape[-1]
    basis = numpy.stack([numpy.ones(n), numpy.arange(n) - (n - 1) / 2])
    basis = basis[: min(n, 2)]
    unit = basis / numpy.linalg.norm(basis, axis=1, keepdims=True)
    unit = np.asarray(unit.astype(rows.dtype))
    for each in unit:
        row = with_rank(each, rows.ndim)
        rows = rows - np.sum(rows * row, axis=-1, keepdims=True) * row
    return rows

"""convolve and correlate: sums of products of a vector and a shifted other one.

Both are a convolution of one batch and one feature; the kernel is the shorter vector.
"""

from typing import Any

from imprint._src.core import dims
from imprint._src.core.array import Array
from imprint._src.dtypes import DTypeLike, requested, to_inexact
from imprint._src.eager.fusion import fuse_eager
from imprint._src.errors import ArgumentError, ShapeError
from imprint._src.numpy.promotion import ArrayLike, as_array, promote_dtypes
from imprint._src.primitives.elementwise.complex import conj
from imprint._src.primitives.elementwise.precision import canonical_precision
from imprint._src.primitives.shape import reshape, rev
from imprint._src.primitives.windows.convolution import conv_general_dilated_p
from imprint._src.primitives.windows.windows import ConvDimensionNumbers, ConvWindow

_MODES = ("full", "same", "valid")


@fuse_eager
def convolve(
    a: ArrayLike,
    v: ArrayLike,
    mode: str = "full",
    *,
    precision: object = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array:
    """Return the convolution of two vectors.

    Args:
        a: a vector.
        v: a vector.
        mode: "full" for every shift with an overlap, "same" for as many elements as the
            longer vector, "valid" for shifts with full overlap.
        precision: a `Precision` or its name, a pair of these, or None.
        preferred_element_type: the dtype of the sums and the result; integer operands
            then stay integers.

    Returns:
        A vector, in the promoted floating or complex dtype unless
        `preferred_element_type` is given. Of lengths n ≥ m: n + m - 1 elements for
        "full", n for "same", n - m + 1 for "valid".

    Raises:
        ShapeError: an operand is not a vector, or is empty.
        ArgumentError: the mode is unknown.

    References:
        NumPy, `numpy.convolve`.

    Example:
        >>> import imprint.numpy as np
        >>> np.convolve(np.array([1.0, 2.0, 3.0]), np.array([1.0, 1.0]))
        Array([1., 3., 5., 3.], dtype=float32)
    """
    x, y = _vectors("convolve", a, v, mode, preferred_element_type)
    if not dims.at_least(x.shape[0], y.shape[0]):
        x, y = y, x
    return _slid(x, rev(y, (0,)), mode, precision, preferred_element_type)


@fuse_eager
def correlate(
    a: ArrayLike,
    v: ArrayLike,
    mode: str = "valid",
    *,
    precision: object = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array:
    """Return the correlation of two vectors: sums of `a` times shifted conjugates of `v`.

    Args:
        a: a vector.
        v: a vector.
        mode: "valid", "same" or "full", as in `convolve`.
        precision: a `Precision` or its name, a pair of these, or None.
        preferred_element_type: the dtype of the sums and the result; integer operands
            then stay integers.

    Returns:
        A vector, in the promoted floating or complex dtype unless
        `preferred_element_type` is given. Of lengths n ≥ m: n - m + 1 elements for
        "valid", n for "same", n + m - 1 for "full".

    Raises:
        ShapeError: an operand is not a vector, or is empty.
        ArgumentError: the mode is unknown.

    References:
        NumPy, `numpy.correlate`.

    Example:
        >>> import imprint.numpy as np
        >>> np.correlate(np.array([1.0, 2.0, 3.0]), np.array([0.0, 1.0]))
        Array([2., 3.], dtype=float32)
    """
    x, y = _vectors("correlate", a, v, mode, preferred_element_type)
    if y.dtype.kind == "c":
        y = conj(y)
    if dims.at_least(x.shape[0], y.shape[0]):
        return _slid(x, y, mode, precision, preferred_element_type)
    return rev(_slid(y, x, mode, precision, preferred_element_type), (0,))


def _vectors(
    name: str, a: ArrayLike, v: ArrayLike, mode: str, preferred: DTypeLike | None
) -> tuple[Array, Array]:
    target = to_inexact if preferred is None else None
    x, y = (as_array(name, z) for z in promote_dtypes(name, (a, v), target))
    if x.ndim != 1 or y.ndim != 1 or dims.has_zero((*x.shape, *y.shape)):
        raise ShapeError(
            f"{name}: expected two vectors that are not empty, got {x.aval} and "
            f"{y.aval}. For several axes call imprint.scipy.signal.{name}, and map over "
            "several vectors with imprint.vmap."
        )
    if mode not in _MODES:
        raise ArgumentError(f"{name}: expected a mode of {_MODES}, got {mode!r}.")
    return x, y


def _slid(
    x: Array, y: Array, mode: str, precision: object, preferred: DTypeLike | None
) -> Array:
    n = y.shape[0]
    pads = {"valid": (0, 0), "same": (n // 2, n - n // 2 - 1), "full": (n - 1, n - 1)}
    axes = (0, 1, 2)
    numbers = ConvDimensionNumbers(axes, axes, axes)
    params: dict[str, Any] = ConvWindow(
        (1,), (pads[mode],), (1,), (1,), numbers
    )._asdict()
    chosen = canonical_precision(precision)
    if chosen is not None:
        params["precision"] = chosen
    if preferred is not None:
        params["preferred_element_type"] = requested(preferred, "convolve")
    rows = [reshape(z, (1, 1, *z.shape)) for z in (x, y)]
    out = conv_general_dilated_p.bind1(*rows, **params)
    return reshape(out, out.shape[2:])

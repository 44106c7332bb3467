"""Conversion and checks of operands of linear algebra.

Operands become arrays of one float or complex dtype. float16 and bfloat16 raise,
because LAPACK lacks them; the error names the public function.
"""

from collections.abc import Sequence
from typing import Any, cast

from imprint._src import dtypes
from imprint._src.core.array import Array
from imprint._src.core.aval import DType, get_aval
from imprint._src.errors import ShapeError
from imprint._src.numpy.promotion import as_array, promote_dtypes
from imprint._src.primitives.matrices import LAPACK, check_square


def inexact_arrays(name: str, *args: Any) -> list[Any]:
    """Return operands as arrays of one float or complex dtype."""
    arrays = [as_array(name, x) for x in args]
    first = arrays[0].aval.dtype
    if all(x.aval.dtype == first for x in arrays) and dtypes.is_inexact(first):
        return [*arrays]
    return promote_dtypes(name, arrays, dtypes.to_inexact)


def matrices(name: str, *args: Any) -> list[Any]:
    """Return operands as arrays of a LAPACK dtype; the first holds matrices."""
    arrays = inexact_arrays(name, *args)
    check_matrices(name, arrays[:1])
    return arrays


def square_matrices(name: str, *args: Any) -> list[Any]:
    """Return operands as `matrices` does; the first holds square matrices."""
    arrays = matrices(name, *args)
    check_square(name, get_aval(arrays[0]))
    return arrays


def check_matrices(name: str, arrays: Sequence[Array]) -> None:
    """Raise unless arrays have two last axes and a LAPACK dtype."""
    for x in arrays:
        LAPACK.check(name, (x.aval,))
        if x.aval.ndim < 2:
            raise ShapeError(
                f"{name}: expected matrices along the last two axes, got {x.aval}. "
                "Insert an axis with `x[None]`, or `x[:, None]` for a column."
            )


def eps_of(dtype: DType) -> float:
    """Return the machine epsilon of a float or complex dtype."""
    info = cast("Any", dtypes.finfo(dtype))
    return float(info.eps)

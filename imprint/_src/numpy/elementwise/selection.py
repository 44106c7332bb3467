"""Selection by conditions: where, select, piecewise, clip, nan_to_num.

A branch that is not selected has a zero cotangent. Its value is still computed, so
guard the operand, not the result, of a function with an infinite derivative: `where(x >
0, sqrt(where(x > 0, x, 1)), 0)`.
"""

from collections.abc import Callable, Sequence
from typing import Any, cast, overload

from imprint._src import dtypes
from imprint._src.bootstrap import hooks
from imprint._src.core.array import Array
from imprint._src.eager.fusion import fuse_eager
from imprint._src.errors import ArgumentError, DTypeError
from imprint._src.interpreters.keys import accepts_keys
from imprint._src.numpy.promotion import (
    ArrayLike,
    as_array,
    broadcast,
    common_shape,
    constant_like,
    convert,
    fit_shapes,
    operands,
    promote_dtypes,
    refuse_complex,
)
from imprint._src.primitives.copying import owned
from imprint._src.primitives.core_ops import scalar_like
from imprint._src.primitives.elementwise.arithmetic import max_p, min_p
from imprint._src.primitives.elementwise.comparison import eq, ne
from imprint._src.primitives.elementwise.complex import complex_, imag, real
from imprint._src.primitives.elementwise.select import select_n_p


@overload
def where(condition: ArrayLike, x: ArrayLike, y: ArrayLike, /) -> Array: ...


@overload
def where(
    condition: ArrayLike, /, *, size: int | None = None, fill_value: Any = None
) -> tuple[Array, ...]: ...


@accepts_keys(1, 2)
@fuse_eager
def where(
    condition: ArrayLike,
    x: ArrayLike | None = None,
    y: ArrayLike | None = None,
    /,
    *,
    size: int | None = None,
    fill_value: Any = None,
) -> Any:
    """Return `x` where the condition is true, else `y`, elementwise.

    Args:
        condition: booleans, or numbers, for which 0 is false.
        x: the values where it is true.
        y: the values where it is false, promoted with `x` to one dtype. Without both,
            return the indices where the condition is true, as `nonzero` does.
        size: the number of indices to return; required under a trace.
        fill_value: the index that fills up to `size`.

    Returns:
        The selected values, of the broadcast shape, in the dtype of both values. For a
        condition alone: for each of its axes, the indices along it, all of one length.

    Raises:
        ArgumentError: one value alone is given, or `size` or `fill_value` with both.

    References:
        NumPy, `numpy.where`.

    Example:
        >>> import imprint.numpy as np
        >>> x = np.array([-1.0, 2.0])
        >>> np.where(x > 0, x, 0.0)
        Array([0., 2.], dtype=float32)
        >>> np.where(x > 0)
        (Array([1], dtype=int32),)
    """
    if x is None and y is None:
        return hooks.numpy.places_of("where", condition, size, fill_value)
    if x is None or y is None:
        raise ArgumentError(
            "where: expected a condition and both values, or a condition alone, got one "
            "value. Write where(condition, x, y)."
        )
    if size is not None or fill_value is not None:
        raise ArgumentError(
            "where: expected size and fill_value beside a condition alone, got both "
            "values. Leave them out: the result has the shape of the values."
        )
    mask = as_bool("where", condition)
    x, y = promote_dtypes("where", (x, y))
    mask, x, y = fit_shapes("where", (mask, x, y))
    return select_n_p.bind1(mask, y, x)


def as_bool(name: str, x: Any) -> Array:
    """Return an operand as booleans: whether it is nonzero."""
    array = as_array(name, x)
    return array if dtypes.is_bool(array.dtype) else ne(array, constant_like(array, 0))


@fuse_eager
def select(
    condlist: Sequence[ArrayLike] | Array,
    choicelist: Sequence[ArrayLike] | Array,
    default: ArrayLike = 0,
) -> Array:
    """Return, elementwise, the choice for the first true condition.

    Args:
        condlist: conditions.
        choicelist: as many choices.
        default: the value where no condition is true.

    Returns:
        The choices, of the broadcast shape, in the promoted dtype of choices and
        default.

    Raises:
        ArgumentError: the lists have no elements or different lengths.

    References:
        NumPy, `numpy.select`.

    Example:
        >>> import imprint.numpy as np
        >>> x = np.arange(4)
        >>> np.select([x < 1, x > 2], [-x, x * 10], 5)
        Array([ 0,  5,  5, 30], dtype=int32)
    """
    if len(condlist) != len(choicelist) or not len(condlist):
        raise ArgumentError(
            "select: expected as many conditions as choices, at least one, got "
            f"{len(condlist)} and {len(choicelist)}."
        )
    default, *choices = promote_dtypes("select", (default, *choicelist))
    masks = [as_bool("select", condition) for condition in condlist]
    shape = common_shape("select", (*masks, *choices, default))
    result = broadcast(default, shape)
    for mask, choice in zip(reversed(masks), reversed(choices), strict=True):
        result = select_n_p.bind1(
            broadcast(mask, shape), result, broadcast(choice, shape)
        )
    return result


def piecewise(
    x: ArrayLike,
    condlist: Sequence[ArrayLike],
    funclist: Sequence[ArrayLike | Callable[..., ArrayLike]],
    *args: Any,
    **kw: Any,
) -> Array:
    """Return, elementwise, the function of `x` for the first true condition.

    Args:
        x: the operand of the functions.
        condlist: conditions.
        funclist: as many functions or constants, and optionally one more as default.
        args: further arguments of the functions.
        kw: keyword arguments of the functions.

    Returns:
        The values, of the broadcast shape of `x` and the conditions, in the dtype of
        `x`.

    Raises:
        ArgumentError: `funclist` is neither as long as `condlist` nor longer by one.

    References:
        NumPy, `numpy.piecewise`.

    Example:
        >>> import imprint.numpy as np
        >>> x = np.array([-2.0, 3.0])
        >>> np.piecewise(x, [x < 0], [np.negative, 1.0])
        Array([2., 1.], dtype=float32)
    """
    if len(funclist) not in (len(condlist), len(condlist) + 1):
        raise ArgumentError(
            "piecewise: expected a function for each condition, and perhaps one for "
            f"elsewhere, got {len(funclist)} for {len(condlist)} conditions."
        )
    array = as_array("piecewise", x)
    values = [f(array, *args, **kw) if callable(f) else f for f in funclist]
    values = [convert("piecewise", v, array.dtype) for v in values]
    count = len(condlist)
    default = values[count] if len(values) > count else scalar_like(array, 0)
    return select(condlist, values[:count], default)


@fuse_eager
@owned
def clip(
    arr: ArrayLike,
    /,
    min: ArrayLike | None = None,
    max: ArrayLike | None = None,
) -> Array:
    """Clip the values of `arr` to the interval from `min` to `max`.

    Args:
        arr: real numbers.
        min: the lower limit, or None.
        max: the upper limit, or None; it wins if the limits cross.

    Returns:
        The clipped values, of the broadcast shape, in the promoted dtype; NaN stays
        NaN.

    Raises:
        ArgumentError: an operand is complex.

    References:
        NumPy, `numpy.clip`.

    Example:
        >>> import imprint.numpy as np
        >>> np.clip(np.arange(5), 1, 3)
        Array([1, 1, 2, 3, 3], dtype=int32)
    """
    try:
        refuse_complex("clip", arr, min, max)
    except (
        DTypeError
    ) as err:  # unlike JAX's other functions, its clip raises ValueError
        raise ArgumentError(str(err)) from None
    result = as_array("clip", arr)
    for primitive, limit in ((max_p, min), (min_p, max)):
        if limit is not None:
            result = primitive.bind1(*operands("clip", limit, result))
    return result


@fuse_eager
@accepts_keys(0)
@owned
def nan_to_num(
    x: ArrayLike,
    copy: bool = True,  # noqa: FBT001, FBT002 - NumPy's signature
    nan: ArrayLike = 0.0,
    posinf: ArrayLike | None = None,
    neginf: ArrayLike | None = None,
) -> Array:
    """Replace NaN by `nan`, and infinities by the largest numbers or the given ones.

    Args:
        x: an array or number; the parts of complex numbers are replaced one by one.
        copy: has no effect; arrays are immutable.
        nan: the value for NaN.
        posinf: the value for positive infinity; None for the largest number of the
            dtype.
        neginf: the value for negative infinity; None for the least number of the dtype.

    Returns:
        An array of the shape and dtype of `x`; integers and booleans as they are.

    References:
        NumPy, `numpy.nan_to_num`.

    Example:
        >>> import imprint.numpy as np
        >>> np.nan_to_num(np.array([np.nan, np.inf, 1.0]), posinf=9.0)
        Array([0., 9., 1.], dtype=float32)
    """
    array = as_array("nan_to_num", x)
    if not dtypes.is_inexact(array.dtype):
        return array
    if dtypes.is_complex(array.dtype):
        parts = (
            nan_to_num(p, copy, nan, posinf, neginf) for p in (real(array), imag(array))
        )
        return complex_(*parts)
    info = cast("Any", dtypes.finfo(array.dtype))
    positive = info.max if posinf is None else posinf
    negative = info.min if neginf is None else neginf
    for found, value in (
        (ne(array, array), nan),
        (eq(array, scalar_like(array, float("inf"))), positive),
        (eq(array, scalar_like(array, float("-inf"))), negative),
    ):
        array = where(found, convert("nan_to_num", value, array.dtype), array)
    return array

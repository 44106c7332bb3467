"""Arguments of samplers: shapes, dtypes, operands, and a compiled program per shape.

A sampler checks its arguments, then calls a program: its `draw`, with shape and dtype
bound, under `jit`. So a draw outside of a trace has the bits of a compiled one and is
traced once per shape. The first draws need no program if the bits are the same anyway.
Within a trace the draw is one equation with a materialized result, so it has the same
bits there and is computed once.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cache, lru_cache, partial
from itertools import chain
from typing import Any, Final, NamedTuple, cast

import numpy as np

from imprint._src import dtypes
from imprint._src.array import host_values
from imprint._src.core import dims
from imprint._src.core.array import NumberArray
from imprint._src.core.aval import DType, Shape, ShapedArray, get_aval
from imprint._src.core.dims import Dim
from imprint._src.core.trace import current_trace
from imprint._src.dtypes import DTypeLike
from imprint._src.errors import ArgumentError, ShapeError
from imprint._src.jit.api import jit
from imprint._src.primitives.axes import is_several
from imprint._src.primitives.barrier import materialize
from imprint._src.primitives.core_ops import broadcast_in_dim

_PROGRAMS: Final = 256
"""The number of shapes and dtypes for which programs are kept."""
_FIRST: Final = 16
"""The number of draws before a program is compiled, of at most `_SMALL` numbers
each."""
_SMALL: Final = 1 << 14


def programs(
    draw: Callable[..., Any], *, is_exact: bool = False
) -> Callable[..., Callable[..., Any]]:
    """Return a function from the first arguments of `draw` to its program.

    Args:
        draw: a function of hashable arguments, including a shape, then of arrays, key
            first.
        is_exact: whether its bits are the same wherever they are computed. Then a few
            small draws run without a program, which takes 100 ms.
    """

    @lru_cache(maxsize=_PROGRAMS)
    def program(*params: Hashable) -> Callable[..., Any]:
        compiled = jit(partial(draw, *params))
        first = iter(range(_FIRST if is_exact and _is_small(params) else 0))

        def drawn(*operands: Any) -> Any:
            if current_trace() is not None:
                # XLA:CPU would fuse the hash, which has no expensive operation, into
                # all users of the draw, and compute it again for each of their
                # elements.
                return materialize(compiled(*operands))
            if isinstance(operands[0], NumberArray) and next(first, None) is not None:
                return draw(*params, *operands)
            return compiled(*operands)

        return drawn

    return program


def _is_small(params: Iterable[Any]) -> bool:
    shapes = [cast("Shape", x) for x in params if isinstance(x, tuple)]
    return not any(map(dims.is_symbolic, chain(*shapes))) and all(
        dims.product(shape) <= _SMALL for shape in shapes
    )


# ---- shapes ----


def sizes(name: str, shape: Any) -> Shape:
    """Return the `shape` argument of the function `name` as a tuple of lengths; hot.

    One integer is the length of the only axis.
    """
    if type(shape) is tuple:
        given = cast("Shape", shape)
        if all(type(n) is int and n >= 0 for n in given):
            return given
    if isinstance(shape, int | np.integer) or dims.is_symbolic(shape):
        shape = (shape,)
    if not is_several(shape):
        raise ShapeError(
            f"{name}: expected a shape, a tuple of integers or one, got {shape!r}. "
            "Give the length of each axis."
        )
    lengths = tuple([_length(name, n) for n in cast("Iterable[Any]", shape)])
    if dims.has_negative(lengths):
        raise ShapeError(
            f"{name}: expected lengths of at least 0 in shape, got {lengths}. "
            "A length cannot be left open: give the number of elements."
        )
    return lengths


def _length(name: str, n: Any) -> Dim:
    if dims.is_symbolic(n) or hasattr(n, "__index__"):
        return dims.as_dim(n)
    raise ShapeError(
        f"{name}: expected integers in shape, got {type(n).__name__} {n!r}. "
        "Convert it with int()."
    )


def common_shape(name: str, shape: Any, *operands: Any) -> Shape:
    """Return the shape to draw: the requested one, or the common one of operands."""
    shapes = [get_aval(x).shape for x in operands]
    if shape is None:
        return _broadcast_shape(name, shapes)
    asked = sizes(name, shape)
    check_fits(name, asked, *shapes)
    return asked


def check_fits(name: str, shape: Shape, *operands: Shape) -> None:
    """Raise ShapeError unless shapes of operands broadcast to `shape`."""
    for own in operands:
        if not dims.repeats_to(own, shape):
            raise ShapeError(
                f"{name}: expected operands that broadcast to shape={shape}, got one of "
                f"shape {own}. Pass numbers, or arrays of that shape or of its last "
                "axes."
            )


def _broadcast_shape(name: str, shapes: Sequence[Shape]) -> Shape:
    common = dims.broadcast_shapes(shapes)
    if common is None:
        listed = " and ".join(map(str, shapes))
        raise ShapeError(
            f"{name}: expected operands that broadcast, got shapes {listed}. Trailing "
            "axes must have equal lengths, or length 1."
        )
    return common


def repeat(x: Any, shape: Shape) -> Any:
    """Broadcast an operand to `shape`; leave rank 0, which primitives accept."""
    own = get_aval(x).shape
    if not own or dims.is_same_shape(own, shape):
        return x
    return broadcast_in_dim(x, shape, tuple(range(len(shape) - len(own), len(shape))))


# ---- dtypes and operands ----


class FloatInfo(NamedTuple):
    """Properties of a floating-point dtype, as Python numbers."""

    bits: int
    nmant: int
    tiny: float
    eps: float
    epsneg: float


@cache
def float_info(dtype: DType) -> FloatInfo:
    """Return the widths and the limits of a floating-point dtype."""
    info = cast("Any", dtypes.finfo(dtype))
    limits = (float(x) for x in (info.tiny, info.eps, info.epsneg))
    return FloatInfo(int(info.bits), int(info.nmant), *limits)


def float_dtype(name: str, dtype: DTypeLike | None) -> DType:
    """Return the dtype of a draw of real numbers, `float32` by default."""
    if dtype is None:
        return dtypes.default_float()
    given = dtypes.requested(dtype, name)
    if not dtypes.is_floating(given):
        raise ArgumentError(
            f"{name}: expected a floating-point dtype, got {given}. Leave dtype out for "
            "the default, or convert the result."
        )
    return given


def check_floats(name: str, parameter: str, x: Any) -> ShapedArray:
    """Raise ArgumentError unless an operand has a real floating-point dtype."""
    aval = check_number(name, parameter, x)
    if not dtypes.is_floating(aval.dtype):
        raise ArgumentError(
            f"{name}: expected floats as {parameter}, got {aval}. "
            "Convert with `.astype(float)`."
        )
    return aval


def check_number(name: str, parameter: str, x: Any) -> ShapedArray:
    """Raise ArgumentError unless an operand is an array or a number that fits."""
    try:
        aval = get_aval(x)
        if type(x) is int:
            host_values(x, aval.dtype)
        return aval
    except OverflowError as err:
        raise OverflowError(f"{name}: {parameter}: {err}") from None
    except TypeError:
        raise ArgumentError(
            f"{name}: expected an array or a number as {parameter}, got "
            f"{type(x).__name__} {x!r}. Convert it with imprint.numpy.asarray."
        ) from None

"""Promotion of operands to one dtype and one shape, by JAX's rules.

Three kinds of promotion: `operands` (any dtype), `numeric_operands` (bool becomes int),
`inexact_operands` (integers become floats). A Python scalar next to an array becomes a
typed NumPy scalar, or stays a Python scalar if the result is weak; the conversion is
cached by (aval, type of the scalar, settings). Rank 0 is not broadcast: primitives
accept it. `operands` and `inexact` run for every traced equation, hence their fast
paths: two operands of one aval cost 90 ns, an array and a Python scalar 250 ns.
"""

import warnings
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final, NoReturn, TypeAlias, cast

import numpy as np

from imprint._src import dtypes
from imprint._src.array import from_host, host_values, to_array
from imprint._src.config import Settings, settings
from imprint._src.core import dims
from imprint._src.core.array import Array, NumberArray, plain
from imprint._src.core.array import is_operand as is_operand
from imprint._src.core.array_interop import conversion, shown
from imprint._src.core.aval import DType, Shape, ShapedArray, get_aval, shape_str
from imprint._src.diagnostics.traceback_filter import drop_internal_frames
from imprint._src.errors import ArgumentError, DTypeError, ShapeError
from imprint._src.primitives import core_ops
from imprint._src.primitives.elementwise.convert import cast as cast_values
from imprint._src.primitives.elementwise.convert import convert_element_type_p
from imprint._src.primitives.shape import expand_dims

NDArray: TypeAlias = np.ndarray[Any, Any]
ArrayLike: TypeAlias = Array | NDArray | np.generic | bool | int | float | complex
"""An operand of array functions."""
Target: TypeAlias = Callable[[DType], DType]
"""A function from the promoted dtype to the dtype of the computation."""

# ---- one operand ----


def as_array(name: str, x: Any) -> Array:
    """Return an operand as an array; `name` is the public function, for errors."""
    if isinstance(x, NumberArray):
        return x
    x = plain(x)
    if isinstance(x, NumberArray):
        return x  # its array, as for a symbolic length in a trace
    if not is_operand(x):
        refuse(name, x)
    return to_array(x)


def inexact(name: str, x: Any) -> Any:
    """Return an operand in a float or complex dtype."""
    if isinstance(x, NumberArray) and x.aval.dtype in _INEXACT:
        return x
    return promote(name, (x,), dtypes.to_inexact)[0]


def numeric(name: str, x: Any) -> Any:
    """Return an operand in any dtype but bool, which becomes an integer."""
    if isinstance(x, NumberArray) and x.aval.dtype is not dtypes.bool_:
        return x
    return promote(name, (x,), to_numeric)[0]


def to_numeric(dtype: DType) -> DType:
    """Return the dtype of the computation: int32 for bool, as in JAX also with x64."""
    return dtypes.int32 if dtypes.is_bool(dtype) else dtype


def is_bool(x: Any) -> bool:
    """Return whether a promoted operand is boolean."""
    if isinstance(x, NumberArray):
        return x.aval.dtype is dtypes.bool_
    return type(x) is bool or type(x) is np.bool_


def strong_like(x: Any, value: Any) -> Any:
    """Return a constant of the dtype of `x` that is strong even if `x` is weak."""
    return np.asarray(value, get_aval(x).dtype)[()]


def constant_like(x: Any, value: Any) -> Any:
    """Return a constant of the dtype of `x`, weak only if `x` is a weak scalar.

    JAX uses such constants in some functions, so results are as weak as theirs.
    """
    like = strong_like if get_aval(x).shape else core_ops.scalar_like
    return like(x, value)


def filled_like(x: Any, value: Any) -> Array:
    """Return an array of the shape, dtype and weak type of `x`, with one value."""
    return broadcast(core_ops.scalar_like(x, value), get_aval(x).shape)


# ---- two operands ----


def operands(name: str, x: Any, y: Any) -> Any:
    """Return two operands of one dtype, and of one shape or rank 0."""
    try:
        if isinstance(x, NumberArray):
            if isinstance(y, NumberArray):
                if x.aval is y.aval:
                    return x, y
            else:
                make = _literal_makers.get((x.aval, y.__class__))
                if make is not None:
                    return x, make(y)
        elif isinstance(y, NumberArray):
            make = _literal_makers.get((y.aval, x.__class__))
            if make is not None:
                return make(x), y
    except OverflowError:
        pass  # `promote` names the integer that is too large
    return _pair(name, x, y)


def numeric_operands(name: str, x: Any, y: Any) -> Any:
    """Return two operands as `operands` does, bool as integers."""
    if _promotes_within(x, y, _NUMERIC):
        return operands(name, x, y)
    return promote(name, (x, y), to_numeric)


def inexact_operands(name: str, x: Any, y: Any) -> Any:
    """Return two operands as `operands` does, in a float or complex dtype."""
    if _promotes_within(x, y, _INEXACT):
        return operands(name, x, y)
    return promote(name, (x, y), dtypes.to_inexact)


def _promotes_within(x: Any, y: Any, kind: frozenset[DType]) -> bool:
    """Return whether promotion can only give a dtype of this kind."""
    return (isinstance(x, NumberArray) and x.aval.dtype in kind) or (
        isinstance(y, NumberArray) and y.aval.dtype in kind
    )


def _pair(name: str, x: Any, y: Any) -> Sequence[Any]:
    """Promote two operands; cache the conversion of a Python or NumPy scalar."""
    if isinstance(x, NumberArray) and isinstance(y, NumberArray):
        a, b = x.aval, y.aval
        if a.dtype is not b.dtype or a.weak_type is not b.weak_type:
            return promote(name, (x, y))
        return match_shapes(name, (x, y)) if a.shape and b.shape else (x, y)
    if isinstance(x, NumberArray) and _is_scalar(y):
        make = _maker(x.aval, y.__class__)
        return (x, make(name, y)) if make is not None else promote(name, (x, y))
    if isinstance(y, NumberArray) and _is_scalar(x):
        make = _maker(y.aval, x.__class__)
        return (make(name, x), y) if make is not None else promote(name, (x, y))
    return promote(name, (x, y))


def _is_scalar(x: Any) -> bool:
    return type(x) in _PYTHON or isinstance(x, np.generic)


_Maker: TypeAlias = Callable[[str, Any], Any]


def _maker(aval: ShapedArray, kind: type) -> _Maker | None:
    """Return how to convert a scalar next to `aval`; None if the array changes too."""
    key = aval, kind, settings()
    if key in _makers:
        return _makers[key]
    if len(_makers) >= _REMEMBERED:
        _makers.clear()
        _literal_makers.clear()
    own = aval.dtype, aval.weak_type
    stays = dtypes.promote((own, dtypes.typed(kind))) == own
    if stays and kind in _LITERALS and not aval.weak_type and _is_plain(aval.dtype):
        _literal_makers[aval, kind] = aval.dtype.type
    make = _converter(aval, kind) if stays else None
    _makers[key] = make
    return make


def _converter(aval: ShapedArray, kind: type) -> _Maker:
    dtype, weak = aval.dtype, aval.weak_type
    if kind is dtype.type:
        return lambda _, x: x
    return lambda name, x: convert(name, x, dtype, weak_type=weak)


def _is_plain(dtype: DType) -> bool:
    """Return whether a dtype means the same with and without `enable_x64`.

    Dtypes below one byte do not: they wrap an integer that does not fit.
    """
    return dtype.itemsize < 8 and dtypes.bit_width(dtype) >= 8


# ---- any number of operands ----


def promote(name: str, args: Sequence[Any], target: Target | None = None) -> list[Any]:
    """Return operands in their common dtype, broadcast as primitives require.

    Args:
        name: the public function, for errors.
        args: arrays and scalars.
        target: a function from the common dtype to that of the computation.
    """
    return match_shapes(name, promote_dtypes(name, args, target))


def promote_dtypes(
    name: str, args: Sequence[Any], target: Target | None = None
) -> list[Any]:
    """Return operands in their common dtype, or in `target` of it."""
    args = [plain(x) for x in args]
    for x in args:
        if not is_operand(x):
            refuse(name, x)
    dtype, weak = dtypes.promote(tuple([dtypes.typed(x) for x in args]))
    if target is not None:
        for x in args:  # an integer that becomes a float had this dtype first
            _check_integer(name, x, dtype)
        dtype = target(dtype)
    return [convert(name, x, dtype, weak_type=weak) for x in args]


def convert(name: str, x: Any, dtype: DType, *, weak_type: bool = False) -> Any:
    """Return an operand in another dtype and weak type; without a copy if unchanged."""
    if isinstance(x, NumberArray):
        aval = x.aval
        if aval.dtype == dtype and aval.weak_type == weak_type:
            return x
        return convert_element_type_p.bind1(x, new_dtype=dtype, weak_type=weak_type)
    if isinstance(x, np.ndarray | np.generic):
        values = _values_of_numpy(x, dtype)
        return from_host(ShapedArray(values.shape, dtype, weak_type), values)
    if type(x) not in _PYTHON and not is_operand(x):
        refuse(name, x)
    return _python_scalar(name, x, dtype, weak=weak_type)


def _values_of_numpy(x: Any, dtype: DType) -> NDArray:
    """Return a copy of a NumPy array or scalar in another dtype."""
    first = get_aval(x).dtype  # as an argument of `jit` converts
    if x.dtype == first == dtype:  # the usual case; `errstate` takes 20 µs of a trace
        return host_values(x, dtype)
    with np.errstate(all="ignore"):
        values = host_values(x, first)
        return values if first == dtype else cast_values(values, dtype)


def _python_scalar(name: str, x: Any, dtype: DType, *, weak: bool) -> Any:
    """Return a Python scalar in `dtype`: a Python scalar if weak, else a typed one."""
    _check_integer(name, x, dtype)
    python = _PYTHON_OF_KIND.get(dtype.kind) if weak else None
    if python is not None and dtypes.scalar_type_dtype(python) == dtype:
        return python(x)
    typed = dtype.type(x)
    if not weak:
        return typed
    return convert_element_type_p.bind1(typed, new_dtype=dtype, weak_type=True)


def _check_integer(name: str, x: Any, dtype: DType) -> None:
    """Raise OverflowError if a Python integer does not fit an integer dtype."""
    if type(x) is int and dtypes.is_integer(dtype):
        least, most = _bounds(dtype)
        if not least <= x <= most:
            raise OverflowError(
                f"{name}: expected an integer that fits {dtype}, between {least} "
                f"and {most}, got {x}. Convert the array to a wider dtype first."
            )


@cache
def _bounds(dtype: DType) -> tuple[int, int]:
    info = dtypes.iinfo(dtype)
    return int(info.min), int(info.max)


# ---- shapes ----


def match_shapes(name: str, args: Sequence[Any]) -> list[Any]:
    """Return operands broadcast to their common shape; rank 0 stays rank 0.

    Raise if their ranks differ and `numpy_rank_promotion` is "raise": the operands are
    those of the caller. For a function's own, call `fit_shapes`.
    """
    check_ranks(name, args)
    return fit_shapes(name, args)


def fit_shapes(name: str, args: Sequence[Any]) -> list[Any]:
    """Return operands of any ranks, broadcast as `match_shapes` does."""
    shapes = [get_aval(x).shape for x in args]
    if len({shape for shape in shapes if shape}) < 2:
        return list(args)
    try:
        shape = common_shape(name, args)
    except ShapeError as err:
        drop_internal_frames(err)
        raise
    return [
        broadcast(x, shape) if own else x for x, own in zip(args, shapes, strict=True)
    ]


def with_rank(x: Any, ndim: int) -> Any:
    """Return an operand with leading axes of length 1 up to a rank; rank 0 stays."""
    own = get_aval(x).ndim
    return expand_dims(x, tuple(range(ndim - own))) if 0 < own < ndim else x


def broadcast_all(name: str, args: Sequence[Any]) -> list[Array]:
    """Return operands broadcast to their common shape, rank 0 too."""
    shape = common_shape(name, args)
    return [broadcast(x, shape) for x in args]


def broadcast(x: Any, shape: Shape) -> Array:
    """Return `x` broadcast to a shape by NumPy's rule."""
    own = get_aval(x).shape
    if dims.is_same_shape(own, shape):
        return x if isinstance(x, NumberArray) else to_array(x)
    lead = len(shape) - len(own)
    return core_ops.broadcast_in_dim(x, shape, tuple(range(lead, len(shape))))


def common_shape(name: str, args: Sequence[Any]) -> Shape:
    """Return the common shape of operands by NumPy's rule."""
    avals = [get_aval(x) for x in args]
    shape = dims.broadcast_shapes([aval.shape for aval in avals])
    if shape is None:
        raise ShapeError(
            f"{name}: expected shapes that broadcast together, got "
            f"{' and '.join(map(str, avals))}. From the right, lengths must be equal or "
            "1: reshape an operand, or insert an axis with `x[:, None]`."
        )
    return shape


def check_ranks(
    name: str, args: Sequence[Any], cores: Sequence[int] | None = None
) -> None:
    """Warn or raise for operands of different ranks above 0, as the flag requires.

    Args:
        name: the public function, for errors.
        args: the operands.
        cores: for each, how many of its last axes are not broadcast.
    """
    ranks = [get_aval(x).ndim for x in args]
    own = zip(ranks, cores or [0] * len(ranks), strict=True)
    if len({rank - core for rank, core in own if rank}) > 1:
        _on_rank_promotion(name, args)


def _on_rank_promotion(name: str, args: Sequence[Any]) -> None:
    mode = settings().numpy_rank_promotion
    if mode == "allow":
        return
    message = (
        f"{name}: expected operands of one rank, got "
        f"{' and '.join(str(get_aval(x)) for x in args)} while numpy_rank_promotion is "
        f"{mode!r}. Insert axes with `x[None]`, or set the flag to 'allow'."
    )
    if mode == "raise":
        raise ShapeError(message)
    warnings.warn(message, stacklevel=6)


# ---- checks ----


def refuse(name: str, x: Any) -> NoReturn:
    """Raise the error for an argument that is neither an array nor a number."""
    if isinstance(x, list | tuple):
        remedy = "Make it an array with imprint.numpy.asarray."
    elif isinstance(x, Array):
        remedy = "Call imprint.random.key_data(key) for their raw data."
    else:
        only = "Only arrays and numbers take part in array operations."
        remedy = conversion(x, "x") or only
    came = _shown(cast("Any", x))
    raise ArgumentError(f"{name}: expected an array or a number, got {came}. {remedy}")


def _shown(x: Any) -> str:
    if isinstance(x, Array) and not isinstance(x, NumberArray):
        return f"keys {x.dtype}{shape_str(x.shape)}"
    return shown(x)


def refuse_complex(name: str, *args: Any) -> None:
    """Raise DTypeError if an operand of a real function is complex."""
    for x in args:
        dtype = getattr(x, "dtype", None)
        if type(x) is complex or (dtype is not None and dtypes.is_complex(dtype)):
            raise DTypeError(
                f"{name}: expected real numbers, got {getattr(x, 'aval', x)}. "
                "Take a part first: imprint.numpy.real, imag or abs."
            )


def refuse_out(name: str, out: object) -> None:
    """Raise NotImplementedError if `out` is given."""
    if out is not None:
        raise NotImplementedError(
            f"{name}: expected no out, got {shown(out)}. Arrays are immutable: use "
            f"what {name} returns."
        )


_PYTHON: Final = frozenset({bool, int, float, complex})
_LITERALS: Final = frozenset({int, float, complex})
_PYTHON_OF_KIND: Final[dict[str, type[Any]]] = {
    "i": int,
    "f": float,
    "c": complex,
}
_INEXACT: Final = frozenset((*dtypes.FLOATING, *dtypes.COMPLEX))
_NUMERIC: Final = frozenset(dtypes.ALL) - {dtypes.bool_}
_REMEMBERED: Final = 4096
_makers: Final[dict[tuple[ShapedArray, type, Settings], _Maker | None]] = {}
_literal_makers: Final[dict[tuple[ShapedArray, type], Callable[[Any], Any]]] = {}
"""The entries of `_makers` for Python scalars that do not depend on settings."""

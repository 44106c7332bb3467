"""Dtypes: their kinds, their promotion, and the dtypes of Python scalars.

A dtype is always an `np.dtype` object, here or from ml_dtypes. Promotion is the least upper
bound on JAX's lattice, in which a weak dtype (of Python scalars or their results) is the node
`int`, `float` or `complex` below the strong ones. It depends on the flags `enable_x64` and
`numpy_dtype_promotion`. Predicates and promotion are hot while tracing, so they are set and
table lookups; `_bound` is the algorithm. User dtypes enter by `requested` and `canonicalize`.
"""

import warnings
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, Final, Literal, Protocol, TypeAlias, cast, overload

import ml_dtypes
import numpy as np

from imprint._src.config import Settings, settings
from imprint._src.errors import DTypeError, PromotionError, did_you_mean

DType: TypeAlias = np.dtype[Any]
Typed: TypeAlias = tuple[DType, bool]
"""A dtype, and whether it is weak."""


class HasDType(Protocol):
    """Anything that has a dtype: an array, a tracer, an aval."""

    @property
    def dtype(self) -> DType:
        """The dtype of the elements."""
        ...


DTypeLike: TypeAlias = str | type[Any] | DType | HasDType
_Node: TypeAlias = DType | type[complex]

# ---- the dtypes ----

bool_: Final[DType] = np.dtype(np.bool_)
int2: Final[DType] = np.dtype(ml_dtypes.int2)
int4: Final[DType] = np.dtype(ml_dtypes.int4)
int8: Final[DType] = np.dtype(np.int8)
int16: Final[DType] = np.dtype(np.int16)
int32: Final[DType] = np.dtype(np.int32)
int64: Final[DType] = np.dtype(np.int64)
uint2: Final[DType] = np.dtype(ml_dtypes.uint2)
uint4: Final[DType] = np.dtype(ml_dtypes.uint4)
uint8: Final[DType] = np.dtype(np.uint8)
uint16: Final[DType] = np.dtype(np.uint16)
uint32: Final[DType] = np.dtype(np.uint32)
uint64: Final[DType] = np.dtype(np.uint64)
float4_e2m1fn: Final[DType] = np.dtype(ml_dtypes.float4_e2m1fn)
float6_e2m3fn: Final[DType] = np.dtype(ml_dtypes.float6_e2m3fn)
float6_e3m2fn: Final[DType] = np.dtype(ml_dtypes.float6_e3m2fn)
float8_e3m4: Final[DType] = np.dtype(ml_dtypes.float8_e3m4)
float8_e4m3: Final[DType] = np.dtype(ml_dtypes.float8_e4m3)
float8_e8m0fnu: Final[DType] = np.dtype(ml_dtypes.float8_e8m0fnu)
float8_e4m3b11fnuz: Final[DType] = np.dtype(ml_dtypes.float8_e4m3b11fnuz)
float8_e4m3fn: Final[DType] = np.dtype(ml_dtypes.float8_e4m3fn)
float8_e4m3fnuz: Final[DType] = np.dtype(ml_dtypes.float8_e4m3fnuz)
float8_e5m2: Final[DType] = np.dtype(ml_dtypes.float8_e5m2)
float8_e5m2fnuz: Final[DType] = np.dtype(ml_dtypes.float8_e5m2fnuz)
bfloat16: Final[DType] = np.dtype(ml_dtypes.bfloat16)
float16: Final[DType] = np.dtype(np.float16)
float32: Final[DType] = np.dtype(np.float32)
float64: Final[DType] = np.dtype(np.float64)
complex64: Final[DType] = np.dtype(np.complex64)
complex128: Final[DType] = np.dtype(np.complex128)

float0: Final[DType] = np.dtype([("float0", np.void, 0)])
"""The dtype of the tangent of an integer or a boolean: it holds nothing."""


class extended(np.generic):  # noqa: N801 - JAX's name, next to NumPy's classes
    """The kind of dtypes that NumPy lacks, for `issubdtype`."""


class prng_key(extended):  # noqa: N801 - JAX's name
    """The kind of the dtypes of keys of random numbers, for `issubdtype`."""


SIGNED: Final = (int2, int4, int8, int16, int32, int64)
UNSIGNED: Final = (uint2, uint4, uint8, uint16, uint32, uint64)
NARROW_FLOATS: Final = (
    float4_e2m1fn,
    float6_e2m3fn,
    float6_e3m2fn,
    float8_e3m4,
    float8_e4m3,
    float8_e8m0fnu,
    float8_e4m3b11fnuz,
    float8_e4m3fn,
    float8_e4m3fnuz,
    float8_e5m2,
    float8_e5m2fnuz,
)
FLOATING: Final = (*NARROW_FLOATS, bfloat16, float16, float32, float64)
COMPLEX: Final = (complex64, complex128)
ALL: Final = (bool_, *SIGNED, *UNSIGNED, *FLOATING, *COMPLEX)

_TO_32: Final = {int64: int32, uint64: uint32, float64: float32, complex128: complex64}
_SUB_BYTE: Final = {
    **dict.fromkeys((int2, uint2), 2),
    **dict.fromkeys((int4, uint4, float4_e2m1fn), 4),
    **dict.fromkeys((float6_e2m3fn, float6_e3m2fn), 6),
}
_BY_NAME: Final = {dtype.name: dtype for dtype in ALL}

finfo: Final = ml_dtypes.finfo
iinfo: Final = ml_dtypes.iinfo

# ---- kinds ----

_SIGNED: Final = frozenset(SIGNED)
_UNSIGNED: Final = frozenset(UNSIGNED)
_INTEGER: Final = _SIGNED | _UNSIGNED
_FLOATING: Final = frozenset(FLOATING)
_COMPLEX: Final = frozenset(COMPLEX)
_INEXACT: Final = _FLOATING | _COMPLEX
_KINDS: Final[dict[str, frozenset[DType]]] = {
    "bool": frozenset({bool_}),
    "signed integer": _SIGNED,
    "unsigned integer": _UNSIGNED,
    "integral": _INTEGER,
    "real floating": _FLOATING,
    "complex floating": _COMPLEX,
    "numeric": _INTEGER | _INEXACT,
}


def is_bool(dtype: DType) -> bool:
    """Return whether this is `bool`.

    Args:
        dtype: a dtype, as `as_dtype` returns it.

    Returns:
        Whether it is of this kind.
    """
    return dtype == bool_


def is_signed(dtype: DType) -> bool:
    """Return whether this is a signed integer.

    Args:
        dtype: a dtype, as `as_dtype` returns it.

    Returns:
        Whether it is of this kind.
    """
    return dtype in _SIGNED


def is_unsigned(dtype: DType) -> bool:
    """Return whether this is an unsigned integer.

    Args:
        dtype: a dtype, as `as_dtype` returns it.

    Returns:
        Whether it is of this kind.
    """
    return dtype in _UNSIGNED


def is_integer(dtype: DType) -> bool:
    """Return whether this is an integer; `bool` is none.

    Args:
        dtype: a dtype, as `as_dtype` returns it.

    Returns:
        Whether it is of this kind.
    """
    return dtype in _INTEGER


def is_floating(dtype: DType) -> bool:
    """Return whether this is a real floating-point dtype.

    Args:
        dtype: a dtype, as `as_dtype` returns it.

    Returns:
        Whether it is of this kind.
    """
    return dtype in _FLOATING


def is_complex(dtype: DType) -> bool:
    """Return whether this is complex.

    Args:
        dtype: a dtype, as `as_dtype` returns it.

    Returns:
        Whether it is of this kind.
    """
    return dtype in _COMPLEX


def is_inexact(dtype: DType) -> bool:
    """Return whether this is floating or complex, so has derivatives.

    Args:
        dtype: a dtype, as `as_dtype` returns it.

    Returns:
        Whether it is of this kind.
    """
    return dtype in _INEXACT


def isdtype(dtype: DTypeLike, kind: str | DTypeLike | tuple[Any, ...]) -> bool:
    """Return whether a dtype is of a kind, as the Array API spells kinds.

    Args:
        dtype: the dtype in question.
        kind: "bool", "signed integer", "unsigned integer", "integral", "real floating",
            "complex floating", "numeric", a dtype, or a tuple of these.

    Returns:
        Whether it is of the kind, or of one of the kinds.

    Example:
        >>> from imprint.dtypes import isdtype
        >>> isdtype("bfloat16", ("real floating", "complex floating"))
        True
    """
    if isinstance(kind, tuple):
        return any(isdtype(dtype, one) for one in kind)
    if isinstance(kind, str) and kind in _KINDS:
        return as_dtype(dtype) in _KINDS[kind]
    return as_dtype(dtype) == as_dtype(kind)


def issubdtype(a: DTypeLike, b: DTypeLike) -> bool:
    """Return whether a dtype is at or below another in NumPy's type hierarchy.

    Args:
        a: a dtype, scalar type, name or array.
        b: a dtype, scalar type or name; an abstract type such as `np.floating` for a kind.

    Returns:
        Whether `a` is `b` or below it. `bfloat16` is an `np.floating`, `int4` an
        `np.integer`, and the dtype of keys a `prng_key`.
    """
    try:
        return _issubdtype(a, b)
    except TypeError:  # an array, which has no hash, or none of both
        return _issubdtype(_dtype_of(a), _dtype_of(b))


def _dtype_of(x: Any) -> Any:
    return x if isinstance(x, type) else getattr(x, "dtype", x)


@cache
def _issubdtype(dtype: Any, kind: Any) -> bool:
    sub, sup = _scalar_class(dtype), _scalar_class(kind)
    if sub.__module__ != "ml_dtypes":
        return np.issubdtype(sub, sup)
    parent = np.floating
    if np.dtype(sub) in _INTEGER:
        parent = np.signedinteger if np.dtype(sub) in _SIGNED else np.unsignedinteger
    return sup is sub or issubclass(parent, sup)


def _scalar_class(dtype: Any) -> type[Any]:
    if isinstance(dtype, type) and issubclass(dtype, np.generic):
        return cast("type[Any]", dtype)  # perhaps abstract, as np.floating
    kind: Any = getattr(cast("object", dtype), "type", None)
    if isinstance(kind, type) and issubclass(kind, extended):
        return kind
    return np.dtype(cast("DType", dtype)).type


# ---- names ----


@cache
def short_name(dtype: DType) -> str:
    """Return the name as jaxprs print it: f32, i32, u8, bool, bf16, c64, f8_e4m3fn.

    Args:
        dtype: a dtype, as `as_dtype` returns it.

    Returns:
        The name.
    """
    if dtype == float0:
        return "float0"
    name = dtype.name
    for long, short in (("float", "f"), ("uint", "u"), ("int", "i"), ("complex", "c")):
        name = name.replace(long, short)
    return name


def full_name(dtype: DType) -> str:
    """Return the name as avals print it; NumPy calls every structured dtype void.

    Args:
        dtype: a dtype, as `as_dtype` returns it.

    Returns:
        The name.
    """
    return "float0" if dtype == float0 else dtype.name


def bit_width(dtype: DType) -> int:
    """Return the bits that an element means: 4 for `int4`, though NumPy stores a byte.

    Args:
        dtype: a dtype, as `as_dtype` returns it.

    Returns:
        The number of bits.
    """
    return _SUB_BYTE.get(dtype, 8 * dtype.itemsize)


# ---- user dtypes ----


def as_dtype(dtype: DTypeLike) -> DType:
    """Return one of our dtypes for a name, a scalar type, a dtype or an array.

    Args:
        dtype: a name, a scalar type, a dtype, or an object that has a dtype.

    Returns:
        The dtype, as wide as it says; a Python type has 32 bits, or 64 under `enable_x64`.

    Raises:
        DTypeError: it is no dtype, or none of ours.
    """
    try:
        return _KNOWN[settings().enable_x64][dtype]
    except (KeyError, TypeError):  # TypeError: an array, which has no hash
        return _look_up(dtype)


def canonicalize(dtype: DTypeLike) -> DType:
    """Return the canonical dtype for this one: 32 bits for 64 unless `enable_x64`.

    Args:
        dtype: a name, a scalar type, a dtype, or an object that has a dtype.

    Returns:
        The dtype of arrays that are created with this one.
    """
    try:
        return _CANONICAL[settings().enable_x64][dtype]
    except (KeyError, TypeError):
        return canonicalize(_look_up(dtype))


def canonicalize_dtype(dtype: Any, allow_extended_dtype: bool = False) -> Any:  # noqa: FBT001, FBT002 - JAX's signature
    """Return the canonical dtype for this one; JAX's name for `canonicalize`.

    Args:
        dtype: the dtype.
        allow_extended_dtype: whether it may be one of keys, which is returned as it is.

    Returns:
        The dtype of arrays that are created with this one.

    Example:
        >>> from imprint.dtypes import canonicalize_dtype
        >>> canonicalize_dtype("float64")
        dtype('float32')
    """
    if allow_extended_dtype and issubdtype(dtype, extended):
        return dtype
    return canonicalize(dtype)


def requested(dtype: DTypeLike, caller: str) -> DType:
    """Return the canonical dtype of a `dtype=` argument, warning if it lost bits.

    Args:
        dtype: the argument.
        caller: the function the user called, for the message.

    Returns:
        The dtype of the array to create.
    """
    asked = as_dtype(dtype)
    given = canonicalize(asked)
    if given is not asked:
        if settings().explicit_x64_dtypes == "error":
            raise DTypeError(
                f"{caller}: expected a dtype of at most 32 bits, got {asked}, and "
                "explicit_x64_dtypes is 'error'. Ask for "
                f"{given}, or call imprint.config.update('enable_x64', True)."
            )
        warnings.warn(
            f"{caller}: expected a dtype of at most 32 bits, got {asked}, so made it "
            f"{given}. To keep 64 bits, call imprint.config.update('enable_x64', True).",
            stacklevel=3,
        )
    return given


def _look_up(dtype: DTypeLike) -> DType:
    owner = dtype if isinstance(dtype, type | str) else getattr(dtype, "dtype", dtype)
    try:
        made: DType = np.dtype(cast("DType", owner))
    except TypeError as err:
        raise _unknown(dtype) from err
    found = _BY_NAME.get(made.name)
    if found is None:
        raise _unknown(made)
    if found != made:
        raise DTypeError(
            f"dtype: expected the byte order of this machine, got {made.str!r}. "
            f"Convert the data first: x.astype({made.name!r})."
        )
    return found


def _unknown(dtype: object) -> DTypeError:
    name = dtype.name if isinstance(dtype, np.dtype) else str(dtype)
    return DTypeError(
        f"dtype: expected bool, the dtype of a number, or its name, got {dtype!r}."
        f"{did_you_mean(name, _BY_NAME)}"
    )


_SCALARS: Final[tuple[dict[Any, DType], ...]] = (  # without and with enable_x64
    {bool: bool_, int: int32, float: float32, complex: complex64},
    {bool: bool_, int: int64, float: float64, complex: complex128},
)
_KNOWN: Final[tuple[dict[Any, DType], ...]] = tuple(
    {
        **_BY_NAME,
        **{dtype: dtype for dtype in (*ALL, float0)},
        **{dtype.type: dtype for dtype in ALL},
        **scalars,
    }
    for scalars in _SCALARS
)
_CANONICAL: Final[tuple[dict[Any, DType], ...]] = (
    {key: _TO_32.get(dtype, dtype) for key, dtype in _KNOWN[0].items()},
    _KNOWN[1],
)

# ---- the dtypes of scalars and values ----


def scalar_type_dtype(scalar: type) -> DType:
    """Return the dtype of Python's `bool`, `int`, `float` or `complex`.

    Args:
        scalar: `bool`, `int`, `float` or `complex`.

    Returns:
        The dtype, of 32 bits unless `enable_x64`, or `complex64`.
    """
    return _SCALARS[settings().enable_x64][scalar]


def number_type(kind: type) -> type | None:
    """Return the Python number type that a class is or extends; None if it is NumPy's.

    Args:
        kind: a class.

    Returns:
        `bool`, `int`, `float`, `complex` or None.
    """
    if issubclass(kind, np.generic):
        return None
    return next((n for n in _SCALARS[0] if issubclass(kind, n)), None)


def default_int() -> DType:
    """Return `int32`, or `int64` under `enable_x64`."""
    return _SCALARS[settings().enable_x64][int]


def default_uint() -> DType:
    """Return `uint32`, or `uint64` under `enable_x64`."""
    return uint64 if settings().enable_x64 else uint32


def default_float() -> DType:
    """Return `float32`, or `float64` under `enable_x64`."""
    return _SCALARS[settings().enable_x64][float]


def default_complex() -> DType:
    """Return `complex64`, or `complex128` under `enable_x64`."""
    return _SCALARS[settings().enable_x64][complex]


def typed(value: object) -> Typed:
    """Return the dtype of a value and whether it is weak.

    Args:
        value: a number, an array, a tracer, an aval, a dtype or a scalar type.

    Returns:
        The dtype, canonical if NumPy's; and whether it is weak: Python's, except `bool`.
    """
    scalar = value if isinstance(value, type) else type(value)
    if scalar in _SCALARS[0]:
        return scalar_type_dtype(scalar), scalar is not bool
    aval: Any = getattr(value, "aval", value)
    weak: bool | None = getattr(aval, "weak_type", None)
    if weak is not None:
        return aval.dtype, weak  # a 64-bit array stays one where x64 is off
    number = number_type(scalar)
    if number is not None:
        return scalar_type_dtype(number), True
    dtype: Any = value if scalar is value else getattr(value, "dtype", value)
    return canonicalize(dtype), False


def to_inexact(dtype: DType) -> DType:
    """Return the dtype of `sin(x)` for an `x` of this dtype: float32 for `int8`.

    Args:
        dtype: a dtype of numbers or booleans.

    Returns:
        A floating-point or complex dtype.
    """
    if dtype in _INEXACT:
        return dtype
    return float64 if dtype in (int64, uint64) else float32


def to_complex(dtype: DType) -> DType:
    """Return the complex dtype that holds this one.

    Args:
        dtype: a dtype of numbers or booleans.

    Returns:
        `complex64` or `complex128`.
    """
    return complex128 if to_inexact(dtype) in (float64, complex128) else complex64


def real_part_dtype(dtype: DType) -> DType:
    """Return the dtype of the real part: `float32` of `complex64`, else itself.

    Args:
        dtype: a dtype.

    Returns:
        The real dtype.
    """
    if dtype in _COMPLEX:
        return float32 if dtype == complex64 else float64
    return dtype


# ---- promotion ----


def promote(pairs: Sequence[Typed]) -> Typed:
    """Return the common dtype of operands, and whether it is weak.

    Args:
        pairs: for each operand its dtype, and whether that is weak; fast for a tuple.

    Returns:
        The dtype, canonical, and whether it is weak.

    Raises:
        PromotionError: the operands have no common dtype.
    """
    try:
        return _promoted[settings()][pairs]  # pyright: ignore[reportArgumentType] -- a list has no hash, and lands below
    except (KeyError, TypeError):
        return _promote(tuple(pairs))


@overload
def result_type(
    *args: object, return_weak_type_flag: Literal[False] = ...
) -> DType: ...
@overload
def result_type(*args: object, return_weak_type_flag: Literal[True]) -> Typed: ...
def result_type(*args: object, return_weak_type_flag: bool = False) -> DType | Typed:
    """Return the dtype of an operation on these values and dtypes.

    Args:
        args: the values and dtypes.
        return_weak_type_flag: whether to return also whether the result is weak.

    Returns:
        The dtype; with the flag, the dtype and whether it is weak.

    Example:
        >>> from imprint.dtypes import result_type
        >>> result_type("int8", 1.0), result_type("bfloat16", 1.0)
        (dtype('float32'), dtype(bfloat16))
    """
    keys = {getattr(arg, "dtype", arg) for arg in args if is_of_keys(arg)}
    if keys:
        return _result_type_of_keys(args, keys)
    dtype, weak = promote(tuple([typed(arg) for arg in args]))
    dtype = _default_of(dtype) if weak else dtype
    return (dtype, weak) if return_weak_type_flag else dtype


def itemsize_bits(dtype: DTypeLike) -> int:
    """Return the bits that an element means, 4 for `int4`.

    Args:
        dtype: a name, a scalar type, a dtype, or an object that has a dtype.

    Returns:
        The number of bits.

    Example:
        >>> from imprint.dtypes import itemsize_bits
        >>> itemsize_bits("int4"), itemsize_bits("float32")
        (4, 32)
    """
    return bit_width(as_dtype(dtype))


def scalar_type_of(x: Any) -> type:
    """Return Python's scalar type of a value: `bool`, `int`, `float` or `complex`.

    Args:
        x: a number, an array, a tracer, an aval or a dtype.

    Returns:
        The scalar type.

    Example:
        >>> from imprint.dtypes import scalar_type_of
        >>> scalar_type_of("int8"), scalar_type_of(1.0)
        (<class 'int'>, <class 'float'>)
    """
    dtype, _ = typed(x)
    if dtype in _INEXACT:
        return complex if dtype in _COMPLEX else float
    return bool if dtype == bool_ else int


def _default_of(dtype: DType) -> DType:
    if dtype in _INEXACT:
        return default_complex() if dtype in _COMPLEX else default_float()
    return default_uint() if dtype in _UNSIGNED else default_int()


def is_of_keys(x: Any) -> bool:
    """Return whether a value is an array of keys, or their dtype."""
    return getattr(getattr(x, "dtype", x), "type", None) is prng_key


def _result_type_of_keys(args: tuple[object, ...], keys: set[Any]) -> Any:
    if len(keys) == 1 and all(map(is_of_keys, args)):
        return keys.pop()
    given = ", ".join([str(getattr(arg, "dtype", arg)) for arg in args])
    raise DTypeError(
        f"result_type: expected keys of one implementation, or numbers, got {given}. "
        "Keys take no part in arithmetic: imprint.random.key_data(key) has their words."
    )


def promote_types(a: DTypeLike, b: DTypeLike) -> DType:
    """Return the common dtype of two; `int`, `float` and `complex` count as weak.

    Args:
        a: a name, a scalar type, a dtype, or an object that has a dtype.
        b: another one.

    Returns:
        The dtype, not canonicalized: it is on the lattice even where x64 is off.
    """
    return np.dtype(_bound(frozenset((_as_node(a), _as_node(b))), settings()))


def _as_node(dtype: DTypeLike) -> _Node:
    if dtype is int or dtype is float or dtype is complex:
        return dtype
    return as_dtype(dtype)


def _promote(pairs: tuple[Typed, ...]) -> Typed:
    if not pairs:
        raise DTypeError("promote: expected at least one operand, got none.")
    config = settings()
    kept = pairs
    if len(pairs) > _MEMOISED:  # one operand is not promoted, two of a kind are
        distinct = tuple(dict.fromkeys(pairs))
        kept = distinct if len(distinct) > 1 else pairs[:2]
    table = _promoted.setdefault(config, {})
    if kept not in table:
        dtype, weak = _join(kept, config)
        table[kept] = dtype, weak and dtype != bool_
    return table[kept]


def _join(pairs: tuple[Typed, ...], config: Settings) -> Typed:
    dtypes = {dtype for dtype, _ in pairs}
    all_weak = all(weak for _, weak in pairs)
    if len(pairs) == 1 or (len(dtypes) == 1 and not all_weak):
        return pairs[0][0], all_weak  # a dtype off the lattice (float0) passes too
    if all_weak and config.numpy_dtype_promotion != "strict":
        # The bound of the strong counterparts: weak int8 and weak int16 give weak int16.
        bound = _bound(frozenset(dtypes), config)
        return canonicalize(bound), True
    if any(dtype == float0 for dtype, _ in pairs):
        raise DTypeError(
            "expected numbers, got an array of float0, the tangent of integers, which "
            "has no values. Leave it out: it is a zero."
        )
    bound = _bound(frozenset(map(_node, pairs)), config)
    return canonicalize(bound), isinstance(bound, type)


def _node(pair: Typed) -> _Node:
    dtype, weak = pair
    if not weak or dtype == bool_:
        return dtype
    return int if dtype in _INTEGER else complex if dtype in _COMPLEX else float


def _bound(nodes: frozenset[_Node], config: Settings) -> _Node:
    """Return the least of the nodes that are at or above every one of `nodes`."""
    above = _above(config.numpy_dtype_promotion, x64=config.enable_x64)
    common = frozenset[_Node].intersection(*(above[node] for node in nodes))
    least = [node for node in common if common <= above[node]]
    if not least:
        raise PromotionError(_no_bound(nodes, config))
    return least[0]


def _no_bound(nodes: Iterable[_Node], config: Settings) -> str:
    names = sorted(n.__name__ if isinstance(n, type) else n.name for n in nodes)
    came = f"got {', '.join(names[:-1])} and {names[-1]}."
    if config.numpy_dtype_promotion == "strict":
        return (
            'promotion: expected operands of one dtype under "strict" promotion, '
            f"{came} Convert one with .astype, or set "
            'imprint.config.update("numpy_dtype_promotion", "standard").'
        )
    return (
        "promotion: expected dtypes of at least 8 bits, or 16 if floating, or all the "
        f"same, {came} Narrow dtypes never promote implicitly: convert one with .astype."
    )


@cache
def _above(promotion: str, *, x64: bool) -> dict[_Node, frozenset[_Node]]:
    """Return, for each node of the lattice, every node at or above it."""
    above: dict[_Node, frozenset[_Node]] = {}

    def close(node: _Node) -> frozenset[_Node]:
        if node not in above:
            above[node] = frozenset({node}).union(*map(close, edges.get(node, ())))
        return above[node]

    edges = _EDGES if x64 else _EDGES_WITHOUT_X64
    edges = _STRICT_EDGES if promotion == "strict" else edges
    for node in (*ALL, int, float, complex):
        close(node)
    return above


# The lattice: each node and those next above it.
_EDGES: Final[dict[_Node, tuple[_Node, ...]]] = {
    bool_: (int,),
    int: (uint8, uint2, uint4, int8, int2, int4),
    uint8: (int16, uint16),
    uint16: (int32, uint32),
    uint32: (int64, uint64),
    uint64: (float,),
    int8: (int16,),
    int16: (int32,),
    int32: (int64,),
    int64: (float,),
    float: (*NARROW_FLOATS, bfloat16, float16, complex),
    bfloat16: (float32,),
    float16: (float32,),
    float32: (float64, complex64),
    float64: (complex128,),
    complex: (complex64,),
    complex64: (complex128,),
}
# Without x64 no 64-bit dtype may result from narrower ones; only uint32 with int32 would.
_EDGES_WITHOUT_X64: Final = {**_EDGES, uint32: (int32, uint64)}
_STRICT_EDGES: Final[dict[_Node, tuple[_Node, ...]]] = {
    int: (float, *SIGNED, *UNSIGNED),
    float: (complex, *FLOATING),
    complex: COMPLEX,
}
_MEMOISED: Final = 4  # longer tuples are remembered by their distinct members
_promoted: Final[dict[Settings, dict[tuple[Typed, ...], Typed]]] = {}

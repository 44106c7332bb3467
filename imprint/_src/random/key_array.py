"""Arrays of PRNG keys, and the implementations of generators.

A `PRNGKeyArray` hides the words of its keys: its shape is that of the raw data,
`uint32[..., 2]`, without the last axis. It is an `Array`, but not of numbers: operators
reject it, and so do functions, except those that only move elements
(`imprint._src.interpreters.keys`). To transforms it is a pytree node with the data as its
one leaf, so every one accepts and returns it; to users it is a leaf. The leaf may be anything that a transform puts there
(a tracer, None, an axis); the functions of `keys` check it. Raw data is accepted in
place of a key. The implementation is part of the dtype, and so of the type of each
program with keys; `threefry` and `rbg` have the algorithms.
"""

from collections.abc import Iterator
from copy import copy, deepcopy
from typing import Any, Final, NamedTuple, Never, NewType, TypeAlias, cast, final

import numpy as np

from imprint._src import dtypes
from imprint._src.array import from_operand, host_of, to_array
from imprint._src.config import settings
from imprint._src.core import dims
from imprint._src.core.array import Array, NumberArray
from imprint._src.core.aval import Shape, ShapedArray, get_aval, shape_str
from imprint._src.core.shape_struct import ShapeDtypeStruct
from imprint._src.core.tangents import is_float0, no_values
from imprint._src.core.trace import current_trace
from imprint._src.errors import ArgumentError, did_you_mean
from imprint._src.primitives import key_uses
from imprint._src.primitives.shape import expand_dims
from imprint._src.random.threefry import row
from imprint._src.tree import internal as tree
from imprint._src.tree.treedef import opaque_types


class Implementation(NamedTuple):
    """An implementation of a generator.

    Args:
        name: the name for `key`.
        tag: the name in the dtype.
        words: the number of words of a key.
    """

    name: str
    tag: str
    words: int


THREEFRY: Final = Implementation("threefry2x32", "fry", 2)
RBG: Final = Implementation("rbg", "rbg", 4)
UNSAFE_RBG: Final = Implementation("unsafe_rbg", "urbg", 4)

BY_NAME: Final = {x.name: x for x in (THREEFRY, RBG, UNSAFE_RBG)}
"""Each of them, by its name."""


def default_implementation() -> Implementation:
    """Return the default implementation, of the flag `default_prng_impl`."""
    return BY_NAME[settings().default_prng_impl]


def implementation_of(name: str, given: Any) -> Implementation:
    """Return the implementation argument of the function `name`.

    Args:
        name: the function, for errors.
        given: a name, the dtype of keys, or None for the default.
    """
    if given is None:
        return default_implementation()
    known = getattr(given, "implementation", None)
    if isinstance(known, Implementation):
        return known
    if isinstance(given, str) and given in BY_NAME:
        return BY_NAME[given]
    raise ArgumentError(
        f"{name}: expected impl to be one of {list(BY_NAME)}, or None, got {given!r}."
        f"{did_you_mean(str(given), BY_NAME)} None stands for the flag "
        "default_prng_impl."
    )


NDArray = np.ndarray[Any, Any]

SINGLE: Final = ShapedArray((2,), dtypes.uint32)
"""The aval of the raw data of one threefry key."""
_OF_THE_BUFFER: Final = frozenset(
    {"committed", "delete", "device", "devices", "is_deleted", "is_ready", "sharding"}
)
"""Attributes of keys that their raw data has."""


@final
class KeyDType:
    """The dtype of arrays of keys, with the implementation of their generator.

    Args:
        implementation: the implementation.

    Example:
        >>> import imprint
        >>> imprint.random.key(0, impl="rbg").dtype
        key<rbg>
    """

    __slots__ = ("implementation",)
    type = dtypes.prng_key

    def __init__(self, implementation: Implementation = THREEFRY) -> None:
        self.implementation: Implementation = implementation

    @property
    def name(self) -> str:
        """The name as printed in shapes."""
        return f"key<{self.implementation.tag}>"

    @property
    def words(self) -> int:
        """The number of words of a key."""
        return self.implementation.words

    @property
    def itemsize(self) -> int:
        """The number of bytes of a key."""
        return 4 * self.implementation.words

    def of_words(self, data: Any) -> "PRNGKeyArray":
        """Return the keys of raw data, or of a placeholder of it."""
        return PRNGKeyArray(data, self.implementation)

    def __repr__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, KeyDType) and self.implementation == other.implementation
        )

    def __hash__(self) -> int:
        return hash((KeyDType, self.implementation))


@final
class PRNGKeyArray(Array):
    """PRNG keys, which `split` and `fold_in` turn into further keys.

    Args:
        data: the raw data, `uint32[..., 2]`; use `wrap_key_data`, which checks it.
        implementation: their generator; keys of `rbg` have four words.

    Example:
        >>> import imprint
        >>> imprint.random.key(42)
        Array((), dtype=key<fry>) overlaying:
        [ 0 42]
    """

    __slots__ = ("data", "implementation")
    __imprint_hidden_axes__ = 1
    """The number of last axes of its leaf that are not axes of the array."""
    data: Any

    def __init__(self, data: Any, implementation: Implementation = THREEFRY) -> None:
        self.data = data
        self.implementation: Implementation = implementation

    def _of(self, data: Any) -> "PRNGKeyArray":
        return PRNGKeyArray(data, self.implementation)

    @property
    def dtype(self) -> Any:
        """The dtype of keys."""
        return KeyDType(self.implementation)

    @property
    def shape(self) -> Shape:
        """The length of each axis."""
        return self.data.shape[:-1]

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self.data.ndim - 1

    @property
    def size(self) -> int:
        """The number of keys."""
        return self.data.size // self.implementation.words

    def __len__(self) -> int:
        return self._lengths("len()")[0]

    def __iter__(self) -> Iterator["PRNGKeyArray"]:
        return map(self._of, _rows(self.data, self._lengths("iteration")[0]))

    def __getitem__(self, index: Any) -> "PRNGKeyArray":
        several = isinstance(index, tuple)
        items = cast("tuple[Any, ...]", index) if several else (index,)
        rest = () if any(item is Ellipsis for item in items) else (Ellipsis,)
        whole = (*items, *rest, slice(None))
        moved = self.data[whole]
        if settings().debug_key_reuse:
            key_uses.set_moved(self.data, moved, lambda each: each[whole])
        return self._of(moved)

    def __setitem__(self, index: Any, value: Any) -> Never:
        raise TypeError(
            f"expected no assignment: keys are immutable, got `keys[{index!r}] = ...` on "
            f"{self._described()}. Write `keys = imprint.numpy.where(mask, key, keys)`."
        )

    def __copy__(self) -> "PRNGKeyArray":
        return self._of(copy(self.data))

    def __deepcopy__(self, memo: dict[int, Any]) -> "PRNGKeyArray":
        return self._of(deepcopy(self.data, memo))

    def __getattr__(self, name: str) -> Any:
        if name in _OF_THE_BUFFER:
            return getattr(self.data, name)
        raise AttributeError(
            f"{name!r} is nothing that keys have. They are no numbers: call "
            "imprint.random.key_data(key) for their raw data."
        )

    def block_until_ready(self) -> "PRNGKeyArray":
        """Wait until the keys are computed; return them."""
        self.data.block_until_ready()
        return self

    def __eq__(self, other: object) -> Any:
        if not isinstance(other, PRNGKeyArray):
            return super().__eq__(other)
        x, y = self._comparable(other)
        equal = x == y
        return equal if isinstance(equal, bool) else equal.all(axis=-1)

    def __ne__(self, other: object) -> Any:
        if not isinstance(other, PRNGKeyArray):
            return super().__ne__(other)
        x, y = self._comparable(other)
        differ = x != y
        return differ if isinstance(differ, bool) else differ.any(axis=-1)

    def _comparable(self, other: "PRNGKeyArray") -> tuple[Any, Any]:
        """Return the words of both; those of a single key have the rank of the other's."""
        if self.implementation != other.implementation:
            raise ArgumentError(
                f"==: expected keys of one implementation, got {self.dtype} and "
                f"{other.dtype}. Compare their words, imprint.random.key_data(key)."
            )
        words = self.data, other.data
        if not all(isinstance(x, NumberArray) for x in words):
            return words
        rank = max(x.ndim for x in words)
        x, y = (
            expand_dims(x, tuple(range(rank - 1))) if x.ndim == 1 else x for x in words
        )
        return x, y

    def __bool__(self) -> Never:
        raise ArgumentError(
            f"`if` needs a bool, got keys {self._described()}. To ask whether there is "
            "a key, write `key is not None`."
        )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Never:  # noqa: FBT001 - NumPy's protocol
        raise ArgumentError(
            f"`np.asarray` needs numbers, got keys {self._described()}. Call "
            "imprint.random.key_data(key) for their raw data."
        )

    def __repr__(self) -> str:
        if not hasattr(self.data, "shape"):  # a placeholder of a transform
            return f"PRNGKeyArray({self.data!r})"
        if isinstance(self.data, ShapeDtypeStruct):
            return f"ShapeDtypeStruct(shape={self.shape}, dtype={self.dtype})"
        return f"Array({self.shape}, dtype={self.dtype}) overlaying:\n{self.data}"

    def _described(self) -> str:
        return f"{self.dtype}{shape_str(self.shape)}"

    def _lengths(self, user: str) -> Shape:
        if not self.shape:
            raise ArgumentError(
                f"{user}: expected an array of keys, got a single key. "
                "Make several with imprint.random.split(key, num)."
            )
        return self.shape


def _rebuilt(data: Any, implementation: Implementation) -> Any:
    """Return the keys of raw data; of their tangent, that of the keys."""
    if is_float0(data):
        return no_values(data.shape[:-1])
    return PRNGKeyArray(data, implementation)


_DATA: Final = tree.GetAttrKey("data")
tree.register_pytree_with_keys(
    PRNGKeyArray,
    lambda keys: (((_DATA, keys.data),), keys.implementation.name),
    lambda name, children: _rebuilt(children[0], BY_NAME[name]),
    lambda keys: ((keys.data,), keys.implementation.name),
)
opaque_types.add(PRNGKeyArray)


def _rows(data: Any, count: int) -> Iterator[Any]:
    if current_trace() is None and isinstance(data, NumberArray):
        array = to_array(data)
        aval = array.aval.with_shape(array.shape[1:])
        rows = (from_operand(array, aval, row) for row in host_of(array))
        return _observed(array, rows) if settings().debug_key_reuse else rows
    return (row(data, i) for i in range(count))


def _observed(data: Any, rows: Iterator[Any]) -> Iterator[Any]:
    for i, x in enumerate(rows):
        key_uses.set_moved(data, x, lambda each, i=i: each[i])
        yield x


# ---- key arguments ----

KeyLike: TypeAlias = PRNGKeyArray | Array | NDArray
Key = NewType("Key", Array)
"""The annotation of a single key."""


def single_key(name: str, key: Any) -> Any:
    """Return the key argument of the function `name` for samplers; hot.

    That is raw data for threefry, and an array of keys for other implementations. The
    key is consumed.
    """
    given = checked_key(name, key)
    if settings().debug_key_reuse and type(key) is PRNGKeyArray:
        words = key_uses.use_key(key.data, key_uses.CONSUME, name)
        return words if given is key.data else PRNGKeyArray(words, key.implementation)
    return given


def checked_key(name: str, key: Any) -> Any:
    """Return the key argument of the function `name` that passes it on to samplers."""
    data = key.data if type(key) is PRNGKeyArray else key
    try:
        if data.aval is SINGLE:
            return data
    except AttributeError:
        pass  # a NumPy array, or not a key
    implementation = _implementation(key)
    aval = _raw_aval(name, key, data, implementation)
    if dims.equal_shapes(aval.shape, (implementation.words,)):
        if implementation is THREEFRY:
            return data
        return key if type(key) is PRNGKeyArray else PRNGKeyArray(key, implementation)
    raise ArgumentError(
        f"{name}: expected a single key, got keys of shape {shape_str(aval.shape[:-1])}. "
        "To draw with each of them, use imprint.vmap."
    )


def raw_data(name: str, keys: Any) -> Any:
    """Return the raw data of keys of any shape."""
    return words_of(name, keys, _implementation(keys))


def words_of(name: str, keys: Any, implementation: Implementation) -> Any:
    """Return the raw data of keys of an implementation."""
    data = keys.data if type(keys) is PRNGKeyArray else keys
    _raw_aval(name, keys, data, implementation)
    return data


def _implementation(key: Any) -> Implementation:
    if type(key) is PRNGKeyArray:
        return key.implementation
    return default_implementation()


def _raw_aval(
    name: str, key: Any, data: Any, implementation: Implementation
) -> ShapedArray:
    came = f"{type(key).__name__} {key!r}"
    words = implementation.words
    if isinstance(data, NumberArray | np.ndarray):
        aval = get_aval(data)
        fits = dims.is_same_shape(aval.shape[-1:], (words,))
        if aval.dtype == dtypes.uint32 and fits:
            return aval
        came = str(aval)
    if type(key) is PRNGKeyArray:
        raise ArgumentError(
            f"{name}: expected a key, got words of keys, {came}. vmap mapped over the "
            "words: pass a single key with in_axes=None."
        )
    raise ArgumentError(
        f"{name}: expected a key, or its raw data uint32[..., {words}], got {came}. "
        f"Make a key with imprint.random.key(0) and pass it first."
    )

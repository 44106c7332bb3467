"""Arrays of keys: what `key` and `split` return, and what may be passed as a key.

A `PRNGKeyArray` hides the words of its keys: its shape is that of the raw data,
`uint32[..., 2]`, without the last axis. It is a pytree node whose one leaf is the data, so
every transform takes it as an argument and gives it back. Whatever a transform puts in the
leaf's place (a tracer, None, an axis) is taken as it comes; the functions of `keys` check.
Raw data itself may be passed wherever a key may.
"""

from collections.abc import Iterator
from typing import Any, Final, Never, TypeAlias, cast, final

import numpy as np

from imprint import dtypes, tree
from imprint.array import from_operand, to_array
from imprint.core import dims
from imprint.core.array import Array
from imprint.core.aval import Shape, ShapedArray, get_aval, shape_str
from imprint.core.trace import current_trace
from imprint.errors import ArgumentError
from imprint.random.threefry import row

NDArray = np.ndarray[Any, Any]

IMPLEMENTATION: Final = "threefry2x32"
SINGLE: Final = ShapedArray((2,), dtypes.uint32)
"""The aval of the raw data of one key."""


@final
class KeyDType:
    """The dtype of arrays of keys; there is one."""

    __slots__ = ()
    name = "key<fry>"
    itemsize = 8

    def __repr__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, KeyDType)

    def __hash__(self) -> int:
        return hash(KeyDType)


@final
class PRNGKeyArray:
    """Keys of random numbers, each a value that `split` makes further keys of.

    Args:
        data: the raw data, `uint32[..., 2]`; use `wrap_key_data`, which checks it.

    Example:
        >>> import imprint
        >>> imprint.random.key(42)
        Array((), dtype=key<fry>) overlaying:
        [ 0 42]
    """

    __slots__ = ("__weakref__", "data")
    __hash__ = None  # pyright: ignore[reportAssignmentType] - `==` is elementwise
    dtype = KeyDType()
    data: Any

    def __init__(self, data: Any) -> None:
        self.data = data

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
        return self.data.size // 2

    @property
    def nbytes(self) -> int:
        """The number of bytes of all keys."""
        return self.data.nbytes

    def __len__(self) -> int:
        return self._lengths("len()")[0]

    def __iter__(self) -> Iterator["PRNGKeyArray"]:
        return map(PRNGKeyArray, _rows(self.data, self._lengths("iteration")[0]))

    def __getitem__(self, index: Any) -> "PRNGKeyArray":
        several = isinstance(index, tuple)
        items = cast("tuple[Any, ...]", index) if several else (index,)
        rest = () if any(item is Ellipsis for item in items) else (Ellipsis,)
        return PRNGKeyArray(self.data[(*items, *rest, slice(None))])

    def reshape(self, *shape: Any) -> "PRNGKeyArray":
        """Return the keys in another shape; one length may be -1."""
        lengths = shape[0] if len(shape) == 1 else shape
        sizes = (lengths,) if isinstance(lengths, int) else tuple(lengths)
        return PRNGKeyArray(self.data.reshape(*sizes, 2))

    def ravel(self) -> "PRNGKeyArray":
        """Return the keys along one axis."""
        return self.reshape(-1)

    def flatten(self) -> "PRNGKeyArray":
        """Return the keys along one axis."""
        return self.reshape(-1)

    def block_until_ready(self) -> "PRNGKeyArray":
        """Wait until the keys are computed; return them."""
        self.data.block_until_ready()
        return self

    def __eq__(self, other: object) -> Any:
        if not isinstance(other, PRNGKeyArray):
            return NotImplemented
        return (self.data == other.data).all(axis=-1)

    def __ne__(self, other: object) -> Any:
        if not isinstance(other, PRNGKeyArray):
            return NotImplemented
        return (self.data != other.data).any(axis=-1)

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
        if not hasattr(self.data, "shape"):  # a placeholder of some transform
            return f"PRNGKeyArray({self.data!r})"
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


_DATA: Final = tree.GetAttrKey("data")
tree.register_pytree_with_keys(
    PRNGKeyArray,
    lambda keys: (((_DATA, keys.data),), None),
    lambda _, children: PRNGKeyArray(*children),
)


def _rows(data: Any, count: int) -> Iterator[Any]:
    if current_trace() is None and isinstance(data, Array):
        array = to_array(data)
        aval = array.aval.with_shape(array.shape[1:])
        return (from_operand(array, aval, row) for row in array.host)
    return (row(data, i) for i in range(count))


# ---- what may be passed as a key ----

KeyLike: TypeAlias = PRNGKeyArray | Array | NDArray


def single_key(name: str, key: Any) -> Any:
    """Return the raw data of the key that the function `name` was given; hot."""
    data = key.data if type(key) is PRNGKeyArray else key
    try:
        if data.aval is SINGLE:
            return data
    except AttributeError:
        pass  # NumPy's, or no key at all
    aval = _raw_aval(name, key, data)
    if dims.equal_shapes(aval.shape, SINGLE.shape):
        return data
    raise ArgumentError(
        f"{name}: expected a single key, got keys of shape {shape_str(aval.shape[:-1])}. "
        "To draw with each of them, use imprint.vmap."
    )


def raw_data(name: str, keys: Any) -> Any:
    """Return the raw data of keys of any shape."""
    data = keys.data if type(keys) is PRNGKeyArray else keys
    _raw_aval(name, keys, data)
    return data


def _raw_aval(name: str, key: Any, data: Any) -> ShapedArray:
    came = f"{type(key).__name__} {key!r}"
    if isinstance(data, Array | np.ndarray):
        aval = get_aval(data)
        if aval.dtype == dtypes.uint32 and dims.is_same_shape(aval.shape[-1:], (2,)):
            return aval
        came = str(aval)
    if type(key) is PRNGKeyArray:
        raise ArgumentError(
            f"{name}: expected a key, got words of keys, {came}. vmap mapped over the "
            "words: pass a single key with in_axes=None, and count the axes of keys "
            "from the front."
        )
    raise ArgumentError(
        f"{name}: expected a key, or its raw data uint32[..., 2], got {came}. "
        f"Make a key with imprint.random.key(0) and pass it first."
    )

"""Walks that look inside objects: for static arguments, for `strict`, and for sharing.

An object that was changed is another argument, so its state counts beside its identity;
if its class defines `==` it is a value, and its identity does not count. Objects of the
standard library, NumPy and imprint count by identity: they have caches of their own.
An array counts by its bytes: its identity would not tell what was written into it; one
of objects by its items, a subclass by its attributes, too. To find out whether two
functions are one, only so many bytes are hashed (`BoundedReader`).
"""

import math
from _blake2 import blake2b  # hashlib loads OpenSSL too: 2.5 ms of each import
from typing import Any, ClassVar, Final

import numpy as np

from imprint._src.core.identity import identity
from imprint._src.jit.fingerprint.content import ContentReader
from imprint._src.jit.fingerprint.layout import ClassLayout, layout_of
from imprint._src.jit.fingerprint.rules import copier_of, is_settled
from imprint._src.jit.fingerprint.token import ARRAY, DTYPE, Content, Unread


def reads_state(layout: ClassLayout) -> bool:
    """Tell whether a `StateReader` reads what is inside instances of a class."""
    if not layout.is_open and copier_of(layout) is None:
        return False
    if layout.is_holder or not layout.is_library:
        return True
    return layout.cls is layout.storage  # one that a walk knows how to read


def has_bytes(x: Any) -> bool:
    """Tell whether the bytes of an array are all that it is.

    They are not those of an array of objects, nor of a subclass, which may hold more.
    """
    return type(x) in (np.ndarray, np.memmap) and not x.dtype.hasobject


class StateReader(ContentReader):
    """A walk on which objects count by what their attributes are, too."""

    container_leaves: ClassVar[int] = 1 << 14
    array_bytes: ClassVar[float] = 2048

    def object(self, x: Any) -> Content:
        """Return the state of an object of the user's."""
        layout = layout_of(x)
        if not reads_state(layout):
            return self.unread(x)
        if layout.is_hiding:
            self.unread(x)
        return self.state(x, None if layout.defines_eq else identity(x))

    def array(self, x: Any) -> Content:
        """Return the content of an array, unless it is too large for this walk."""
        owner = self._owners.get(id(x), x)
        plain = _plain(x)
        if plain.nbytes > self.array_bytes:
            return self.beyond(owner)
        if has_bytes(x):
            return self._bytes(x, plain)
        return self.node(x, lambda y: self._array_of_more(y, plain))

    def _bytes(self, x: Any, plain: Any) -> Content:
        data = plain.tobytes() if plain.nbytes <= _SHORT else self.digest(x)
        self.volatile = True
        return ARRAY, (DTYPE, plain.dtype), plain.shape, data, plain.strides

    def _array_of_more(self, x: Any, plain: Any) -> Content:
        """Return the content of an array of objects, or of a subclass."""
        layout = layout_of(x)
        if plain.dtype.hasobject:
            items = self._items(x, lambda _: plain.reshape(-1).tolist())
            content = ARRAY, (DTYPE, plain.dtype), plain.shape, items, plain.strides
            self.volatile: bool = True
        else:
            content = self._bytes(x, plain)
        if layout.is_library and not layout.is_holder:
            return (*content, layout)
        return *content, layout, *self.attributes_of(x, layout)

    def digest(self, x: Any) -> bytes | Unread:
        """Return what stands for the bytes of an array."""
        octets = (
            np.ascontiguousarray(_plain(x)).reshape(-1).view(np.uint8)
        )  # any dtype has them
        return blake2b(octets.data, digest_size=16).digest()


_SHORT: Final = 2048
"""Bytes of an array up to which they stand for themselves."""


def _plain(x: Any) -> Any:
    """Return an array as one of no subclass, past what that makes of its methods."""
    if type(x) is np.ndarray:
        return x
    if issubclass(type(x), np.generic):
        return np.generic.__array__(x)
    return np.ndarray.view(x, np.ndarray)


class StrictReader(StateReader):
    """A walk that reads all it can: big containers and arrays by their content too.

    Attributes:
        opaque: what it met and could not look into.
    """

    leaves: ClassVar[int] = 1 << 16
    container_leaves: ClassVar[int] = 1 << 16
    scalars: ClassVar[int] = 1 << 23
    array_bytes: ClassVar[float] = math.inf
    reads_all: ClassVar[bool] = True
    opaque: tuple[Any, ...] = ()

    def unread(self, x: Any) -> Content:
        """Note what may change unseen."""
        if not is_settled(x):
            self.opaque = (*self.opaque, x)
        return super().unread(x)

    def beyond(self, x: Any) -> Content:
        """Note what is not read to its end."""
        self.opaque = (*self.opaque, x)
        return super().unread(x)


HASHED: Final = 16 << 20
"""Bytes of arrays, in all, up to which what is captured or static is compared."""


class BoundedReader(StrictReader):
    """A strict walk that hashes only so many bytes of arrays.

    Args:
        limit: how many bytes; from the array on that goes beyond, none is hashed, and
            each equals nothing.

    Attributes:
        is_whole: whether all arrays were read.
    """

    def __init__(self, limit: int = HASHED) -> None:
        super().__init__()
        self._left = limit
        self._digests: dict[int, bytes | Unread] = {}
        self.is_whole: bool = True

    def object(self, x: Any) -> Content:
        """Return what stands for an object: a version watches what it read of it."""
        return identity(x)

    def beyond(self, x: Any) -> Content:
        """Note an array that holds too many objects."""
        self.is_whole &= not issubclass(type(x), np.ndarray)
        return super().beyond(x)

    def digest(self, x: Any) -> bytes | Unread:
        """Return what stands for the bytes of an array, which is hashed once."""
        known = self._digests.get(id(x))
        if known is None:
            self._left -= _plain(x).nbytes
            self.is_whole &= self._left >= 0
            known = super().digest(x) if self.is_whole else Unread()
            self._digests[id(x)] = known
            self._kept.append(x)
        return known

"""Readers that look inside objects and arrays: for static data, `strict` and sharing.

A mutated object is another argument, so its state is part of its token, next to its
identity; if its class defines `==` the object is a value, and its identity is ignored.
Objects of the standard library, NumPy and imprint are read by identity: they hold caches.
An array is read by its bytes, an array of objects by its items, an instance of a subclass
by its attributes too.
"""

import math
from _blake2 import blake2b  # hashlib loads OpenSSL too: 2.5 ms of each import
from typing import Any, ClassVar, Final

import numpy as np

from imprint._src.core.identity import identity
from imprint._src.jit.fingerprint.content import ContentReader
from imprint._src.jit.fingerprint.copies import copier_of, is_settled
from imprint._src.jit.fingerprint.layout import ClassLayout, layout_of
from imprint._src.jit.fingerprint.token import ARRAY, DTYPE, Content, Unread


def reads_state(layout: ClassLayout) -> bool:
    """Return whether a `StateReader` looks inside instances of a class."""
    if not layout.is_open and copier_of(layout) is None:
        return False
    if layout.is_holder or not layout.is_library:
        return True
    return layout.cls is layout.storage  # a class that has a rule


def has_bytes(x: Any) -> bool:
    """Return whether an array is fully described by its bytes.

    An array of objects is not, nor is an instance of a subclass, which may hold more.
    """
    return type(x) in (np.ndarray, np.memmap) and not x.dtype.hasobject


class StateReader(ContentReader):
    """A reader that adds the attributes of objects to their identity."""

    container_leaves: ClassVar[int] = 1 << 14
    array_bytes: ClassVar[float] = 2048

    def object(self, x: Any) -> Content:
        """Return the state of an object of a user class."""
        layout = layout_of(x)
        if not reads_state(layout):
            return self.unread(x)
        if layout.is_hiding:
            self.unread(x)
        return self.state(x, None if layout.defines_eq else identity(x))

    def array(self, x: Any) -> Content:
        """Return the content of an array, unless it is too large for this reader."""
        owner = self._owners.get(id(x), x)
        plain = _base_array(x)
        if plain.nbytes > self.array_bytes:
            return self.beyond(owner)
        if has_bytes(x):
            return self._bytes(x, plain)
        return self.node(x, lambda y: self._subclass_array(y, plain))

    def _bytes(self, x: Any, plain: Any) -> Content:
        data = plain.tobytes() if plain.nbytes <= _SHORT else self.digest(x)
        self.volatile = True
        return ARRAY, (DTYPE, plain.dtype), plain.shape, data, plain.strides

    def _subclass_array(self, x: Any, plain: Any) -> Content:
        """Return the content of an array of objects, or of an instance of a subclass."""
        layout = layout_of(x)
        if plain.dtype.hasobject:
            items = self.copied(x, lambda _: plain.reshape(-1).tolist())
            content = ARRAY, (DTYPE, plain.dtype), plain.shape, items, plain.strides
            self.volatile: bool = True
        else:
            content = self._bytes(x, plain)
        if layout.is_library and not layout.is_holder:
            return (*content, layout)
        return *content, layout, *self.attributes_of(x, layout)

    def digest(self, x: Any) -> bytes | Unread:
        """Return a digest of the bytes of an array."""
        octets = np.ascontiguousarray(_base_array(x)).reshape(-1).view(np.uint8)
        return blake2b(octets.data, digest_size=16).digest()


_SHORT: Final = 2048
"""Bytes of an array up to which no digest is taken."""


def _base_array(x: Any) -> Any:
    """Return an array or NumPy scalar as a plain array, past methods of a subclass."""
    if type(x) is np.ndarray:
        return x
    if issubclass(type(x), np.generic):
        return np.generic.__array__(x)
    return np.ndarray.view(x, np.ndarray)


class StrictReader(StateReader):
    """A reader of large containers and arrays too.

    Attributes:
        opaque: the values that it could not look into.
    """

    leaves: ClassVar[int] = 1 << 16
    container_leaves: ClassVar[int] = 1 << 16
    scalars: ClassVar[int] = 1 << 23
    array_bytes: ClassVar[float] = math.inf
    reads_all: ClassVar[bool] = True
    opaque: tuple[Any, ...] = ()

    def unread(self, x: Any) -> Content:
        """Add a value that may change unseen to `opaque`."""
        if not is_settled(x):
            self.opaque = (*self.opaque, x)
        return super().unread(x)

    def beyond(self, x: Any) -> Content:
        """Add a value that is too large to `opaque`."""
        self.opaque = (*self.opaque, x)
        return super().unread(x)


HASHED: Final = 16 << 20
"""Bytes of captured or static arrays, in all, up to which they are compared."""


class BoundedReader(StrictReader):
    """A strict reader that hashes a limited number of bytes of arrays.

    Args:
        limit: the bytes; the array that exceeds them and later ones equal nothing.

    Attributes:
        is_whole: whether all arrays were read.
    """

    def __init__(self, limit: int = HASHED) -> None:
        super().__init__()
        self._left = limit
        self._digests: dict[int, bytes | Unread] = {}
        self.is_whole: bool = True

    def object(self, x: Any) -> Content:
        """Return the identity of an object: guards cover what a trace read of it."""
        return identity(x)

    def beyond(self, x: Any) -> Content:
        """Clear `is_whole` for an array that holds too many objects."""
        self.is_whole &= not issubclass(type(x), np.ndarray)
        return super().beyond(x)

    def digest(self, x: Any) -> bytes | Unread:
        """Return a digest of the bytes of an array, which is hashed once."""
        known = self._digests.get(id(x))
        if known is None:
            self._left -= _base_array(x).nbytes
            self.is_whole &= self._left >= 0
            known = super().digest(x) if self.is_whole else Unread()
            self._digests[id(x)] = known
            self._kept.append(x)
        return known

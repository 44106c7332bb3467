"""Walks that look inside objects: for static arguments, for `strict`, and for sharing.

An object that was changed is another argument, so its state counts beside its identity;
if its class defines `==` it is a value, and its identity does not count. Objects of the
standard library, NumPy and imprint count by identity: they have caches of their own.
An array counts by its bytes: its identity would not tell what was written into it. To
find out whether two functions are one, only so many bytes are hashed (`ContentWalk`).
"""

from _blake2 import blake2b  # hashlib loads OpenSSL too: 2.5 ms of each import
from typing import Any, ClassVar, Final, final

import numpy as np

from imprint.core.identity import identity
from imprint.definition.layout import Layout, layout_of
from imprint.definition.rules import COPIES
from imprint.definition.token import ARRAY, DTYPE, EFFECT, Content, Unread
from imprint.definition.walk import Effects, Walk


def reads_state(layout: Layout) -> bool:
    """Tell whether a `StateWalk` reads what is inside instances of a class."""
    known = layout.is_open or layout.storage in COPIES
    return known and (layout.is_holder or not layout.is_library)


def has_bytes(x: Any) -> bool:
    """Tell whether the bytes of an array are all that it is.

    They are not those of an array of objects, nor of a subclass, which may hold more.
    """
    return type(x) in (np.ndarray, np.memmap) and not x.dtype.hasobject


class StateWalk(Walk):
    """A walk on which objects count by what their attributes are, too."""

    container_leaves: ClassVar[int] = 1 << 14
    array_bytes: ClassVar[int] = 2048

    def object(self, x: Any) -> Content:
        """Return the state of an object of the user's."""
        layout = layout_of(x)
        if not reads_state(layout):
            return identity(x)
        return self.state(x, None if layout.defines_eq else identity(x))

    def array(self, x: Any) -> Content:
        """Return the content of a small array."""
        if not has_bytes(x) or x.nbytes > self.array_bytes:
            return identity(x)
        return self._content_of_array(x, x.tobytes())

    def _content_of_array(self, x: Any, data: bytes | Unread) -> Content:
        if self.is_effect(x, None):
            return EFFECT
        content = ARRAY, (DTYPE, x.dtype), x.shape, data
        self.changes(x, None, content)
        return self.inside(x, content)


class StrictWalk(StateWalk):
    """A walk that reads all it can: big containers and arrays by their content too."""

    leaves: ClassVar[int] = 1 << 16
    container_leaves: ClassVar[int] = 1 << 16
    scalars: ClassVar[int] = 1 << 23

    def array(self, x: Any) -> Content:
        """Return the content of an array."""
        if not has_bytes(x) or x.nbytes <= self.array_bytes:
            return super().array(x)
        return self._content_of_array(x, self.digest(x))

    def digest(self, x: Any) -> bytes | Unread:
        """Return what stands for the bytes of an array."""
        octets = (
            np.ascontiguousarray(x).reshape(-1).view(np.uint8)
        )  # any dtype has them
        return blake2b(octets.data, digest_size=16).digest()


HASHED: Final = 16 << 20
"""Bytes of captured arrays, in all, up to which functions made anew are compared."""


@final
class ContentWalk(StrictWalk):
    """A strict walk that hashes only so many bytes of arrays.

    Args:
        effects: as in `Walk`.
        limit: how many bytes; from the array on that goes beyond, none is hashed, and
            each equals nothing.

    Attributes:
        is_whole: whether all arrays were read.
    """

    def __init__(self, effects: Effects, limit: int = HASHED) -> None:
        super().__init__(effects)
        self._left = limit
        self._digests: dict[int, bytes | Unread] = {}
        self.is_whole: bool = True

    def object(self, x: Any) -> Content:
        """Return what stands for an object: a version watches what it read of it."""
        return identity(x)

    def array(self, x: Any) -> Content:
        """Return the content of an array; one that cannot be read equals no other."""
        self.is_whole &= has_bytes(x)
        return super().array(x)

    def digest(self, x: Any) -> bytes | Unread:
        """Return what stands for the bytes of an array, which is hashed once."""
        known = self._digests.get(id(x))
        if known is None:
            self._left -= x.nbytes
            self.is_whole &= self._left >= 0
            known = super().digest(x) if self.is_whole else Unread()
            self._digests[id(x)] = known
            self._kept.append(x)
        return known

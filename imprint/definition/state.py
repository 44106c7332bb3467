"""Walks that look inside objects: for static arguments, and for `strict`.

An object that was changed is another argument, so its state counts beside its identity;
if its class defines `==` it is a value, and its identity does not count. Objects of the
standard library, NumPy and imprint count by identity: they have caches of their own.
"""

from _blake2 import blake2b  # hashlib loads OpenSSL too: 2.5 ms of each import
from typing import Any, ClassVar

import numpy as np

from imprint.core.identity import identity
from imprint.definition.layout import Layout, layout_of
from imprint.definition.rules import COPIES
from imprint.definition.token import ARRAY, DTYPE, EFFECT, Content
from imprint.definition.walk import Walk


def reads_state(layout: Layout) -> bool:
    """Tell whether a `StateWalk` reads what is inside instances of a class."""
    known = layout.is_open or layout.storage in COPIES
    return known and (layout.is_holder or not layout.is_library)


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
        if x.dtype.hasobject or x.nbytes > self.array_bytes:
            return identity(x)
        return self._content_of_array(x, x.tobytes())

    def _content_of_array(self, x: Any, data: bytes) -> Content:
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
        if x.dtype.hasobject or x.nbytes <= self.array_bytes:
            return super().array(x)
        digest = blake2b(np.ascontiguousarray(x).data, digest_size=16).digest()
        return self._content_of_array(x, digest)

"""What is had when an executable was looked for, and made if it was not there.

It stands by itself since `persisted`, and with it the store, loads with the first program
that is compiled.
"""

from typing import Literal, NamedTuple

from imprint._src import runtime

Origin = Literal["compiled", "memory", "disk"]


class Found(NamedTuple):
    """An executable, where it is from, and what became of it on the disk, by which key."""

    executable: runtime.Executable
    origin: Origin
    stored: str
    key: bytes = b""

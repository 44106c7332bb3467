"""Stamps: is a file as it was?

It is if its length and its times are, or else if its bytes are. Archives, installers and
images put old times of writing back, but cannot set when the system saw a change. What
was written just now tells by its bytes alone.
"""

import os
import time
from _blake2 import blake2b  # as in `reader`
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from imprint.core import libraries
from imprint.manifest.refused import Refused, Why


class Stamp(NamedTuple):
    """A file as it is at one time.

    Args:
        digest: of its bytes.
        size: its length; -1 if length and times tell nothing, as it was just written.
        written: when its bytes were written last.
        changed: when anything of it was.
    """

    digest: str
    size: int
    written: int
    changed: int


Stamps = dict[str, Stamp]


def stamp_of(path: str, before: Stamp | None = None) -> Stamp:
    """Return the stamp of a file; the one it had before if that tells it is as it was.

    Raises:
        OSError: it cannot be read.
    """
    if before is not None and _is_as(path, before):
        return before
    with open(path, "rb") as file:
        about = os.fstat(file.fileno())
        content = blake2b(digest_size=16)
        while part := file.read(1 << 20):
            content.update(part)
    latest = max(about.st_mtime_ns, about.st_ctime_ns)
    size = about.st_size if latest < time.time_ns() - _SETTLED else -1
    return Stamp(content.hexdigest(), size, about.st_mtime_ns, about.st_ctime_ns)


_SETTLED: Final = 2_000_000_000
"""Clocks of file systems are coarse: what is younger may be written unseen."""


def stamp_of_code(path: str, before: Stamp | None = None) -> Stamp:
    """Return the stamp of a file whose code runs in this process.

    Raises:
        OSError: it cannot be read.
        Refused: it was written since, so it may be other code.
    """
    stamp = stamp_of(path, before)
    if max(stamp.written, stamp.changed) > libraries.BEGAN:
        what = f"the file {path} was written after this process began"
        raise Refused(Why.RECORDER, what)
    return stamp


def changed(stamps: Mapping[str, Any]) -> str:
    """Return the first of files that is not as it was, or is gone; "" if none.

    Args:
        stamps: of each file, also as plain data.
    """
    for path, plain in stamps.items():
        stamp = Stamp(*plain)
        try:
            if stamp_of(path, stamp).digest != stamp.digest:
                return path
        except OSError:
            return path
    return ""


def _is_as(path: str, stamp: Stamp) -> bool:
    now = os.stat(path)  # a path takes 5 times as long
    return stamp[1:] == (now.st_size, now.st_mtime_ns, now.st_ctime_ns)

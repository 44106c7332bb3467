"""Digests of files, which are read again only if length or times changed.

Archives and installers put old times of writing back, but cannot set when the system saw
a change. A file that was just written is compared by its bytes alone.
"""

import os
import time
from _blake2 import blake2b  # as in `stable_hash`
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from imprint._src.core import user_code
from imprint._src.jit.manifest.not_cacheable import Refused, Why


class Stamp(NamedTuple):
    """A file at one time.

    Args:
        digest: of its bytes.
        size: its length; -1 if it was just written, so length and times say nothing.
        written: when its bytes were written last.
        changed: when anything of it was.
    """

    digest: str
    size: int
    written: int
    changed: int


Stamps = dict[str, Stamp]


def stamp_of(path: str, before: Stamp | None = None) -> Stamp:
    """Return the stamp of a file, the earlier one if that still tells; or OSError."""
    if before is not None:
        now = os.stat(path)  # a path takes 5 times as long
        if before[1:] == (now.st_size, now.st_mtime_ns, now.st_ctime_ns):
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
"""Clocks of file systems are coarse: a younger file may be written unseen."""


def stamp_of_code(path: str, before: Stamp | None = None) -> Stamp:
    """Return the stamp of a file whose code runs in this process; OSError, or Refused."""
    stamp = stamp_of(path, before)
    if max(stamp.written, stamp.changed) > user_code.BEGAN:
        what = f"the file {path} was written after this process began"
        raise Refused(Why.RECORDER, what)
    return stamp


def changed(stamps: Mapping[str, Any]) -> str:
    """Return the first file that changed or is gone; "" if none did."""
    for path, plain in stamps.items():
        stamp = Stamp(*plain)
        try:
            if stamp_of(path, stamp).digest != stamp.digest:
                return path
        except OSError:
            return path
    return ""

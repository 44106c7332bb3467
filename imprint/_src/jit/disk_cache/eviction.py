"""The files of a store: their paths, listing, and eviction of the least recently used.

The time of change of an entry is its last use. Only files with the names of entries or
temporary files are touched, so other files in a folder are kept.
"""

import os
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from imprint._src.jit.disk_cache.files import TEMPORARY


class StoredFile(NamedTuple):
    """A file of a store, its size and its last use."""

    path: Path
    nbytes: int
    used: float

    @property
    def key(self) -> bytes:
        """The key in its name."""
        return bytes.fromhex(self.path.parent.name + self.path.name)


def path_of(folder: Path, key: bytes) -> Path:
    """Return the path of the entry of a key."""
    name = key.hex()
    return folder / name[:2] / name[2:]


def entries(folder: Path) -> Iterator[StoredFile]:
    """Yield the entries of a folder, in no order."""
    for found in _files(folder):
        if _NAME.fullmatch(found.path.name):
            yield found


def evict(folder: Path, limit: int) -> tuple[int, int]:
    """Delete the least recently used entries until the rest fits, and old temporary files.

    Args:
        folder: the folder of the store.
        limit: its size in bytes.

    Returns:
        The number of deleted files, and their bytes.
    """
    now = time.time()
    kept: list[StoredFile] = []
    gone: list[StoredFile] = []
    for found in _files(folder):
        if _NAME.fullmatch(found.path.name):
            kept.append(found)
        elif abs(now - found.used) > _HOUR:  # also if the clock is wrong
            gone.append(found)
    left = sum(found.nbytes for found in kept)
    for found in sorted(kept, key=lambda found: found.used):
        if left <= limit:
            break
        left -= found.nbytes
        gone.append(found)
    for found in gone:
        with suppress(OSError):
            found.path.unlink()
    return len(gone), sum(found.nbytes for found in gone)


_HOUR: Final = 3600.0
_SUBFOLDER: Final = re.compile("[0-9a-f]{2}")
_NAME: Final = re.compile("[0-9a-f]{62}")


def _files(folder: Path) -> Iterator[StoredFile]:
    """Yield entries and temporary files, except those deleted meanwhile."""
    for subfolder in _listed(folder):
        if not _SUBFOLDER.fullmatch(subfolder.name):
            continue
        for file in _listed(Path(subfolder.path)):
            if _NAME.fullmatch(file.name) or file.name.startswith(TEMPORARY):
                with suppress(OSError):
                    about = file.stat(follow_symlinks=False)
                    yield StoredFile(Path(file.path), about.st_size, about.st_mtime)


def _listed(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as listed:
            return list(listed)
    except OSError:
        return []

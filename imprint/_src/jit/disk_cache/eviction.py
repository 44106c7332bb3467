"""What is in a folder: list it, measure it, and let the oldest go.

An entry's time of change is when it was last used. Only files whose names are those of
entries or of strays are ever touched, so a folder that holds something else by mistake
keeps it.
"""

import os
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from imprint._src.jit.disk_cache.files import STRAY


class Found(NamedTuple):
    """One file of a store."""

    path: Path
    nbytes: int
    used: float

    @property
    def key(self) -> bytes:
        """The key that its name says."""
        return bytes.fromhex(self.path.parent.name + self.path.name)


def path_of(folder: Path, key: bytes) -> Path:
    """Return where the entry of a key is."""
    name = key.hex()
    return folder / name[:2] / name[2:]


def entries(folder: Path) -> Iterator[Found]:
    """Give the files of a folder that have the names of entries, in no order."""
    for found in _files(folder):
        if _NAME.fullmatch(found.path.name):
            yield found


def pruned(folder: Path, limit: int) -> tuple[int, int]:
    """Let the least recently used entries go until the rest fits, and strays of old.

    Args:
        folder: the store's.
        limit: how many bytes may stay.

    Returns:
        How many files went, and how many bytes they had.
    """
    now = time.time()
    kept: list[Found] = []
    gone: list[Found] = []
    for found in _files(folder):
        if _NAME.fullmatch(found.path.name):
            kept.append(found)
        elif abs(now - found.used) > _HOUR:  # of a clock that is wrong, too
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
_SHELF: Final = re.compile("[0-9a-f]{2}")
_NAME: Final = re.compile("[0-9a-f]{62}")


def _files(folder: Path) -> Iterator[Found]:
    """Give entries and strays; what goes meanwhile is left out."""
    for shelf in _listed(folder):
        if not _SHELF.fullmatch(shelf.name):
            continue
        for file in _listed(Path(shelf.path)):
            if _NAME.fullmatch(file.name) or file.name.startswith(STRAY):
                with suppress(OSError):
                    about = file.stat(follow_symlinks=False)
                    yield Found(Path(file.path), about.st_size, about.st_mtime)


def _listed(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as listed:
            return list(listed)
    except OSError:
        return []

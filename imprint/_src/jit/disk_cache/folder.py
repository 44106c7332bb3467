"""The folder: where a store is, and whether what is in it may be loaded.

To load a compiled program is to run it. So a folder is believed only if it belongs to the
user (or root) and nobody else can write into it, nor replace it: nobody may write into a
directory above, unless that has the sticky bit, as `/tmp` has. A link that the user owns
is followed. A folder that fails is refused, with the reason, and never repaired. Entries
that are signed prove themselves, so their folder may be anybody's.
"""

import os
import stat
import sys
from pathlib import Path

from imprint._src.jit.disk_cache.files import ReadError, distrust


def default_folder() -> Path:
    """Return the user's own directory for caches, as the system names it.

    Raises:
        ReadError: the user has no home.
    """
    try:
        if sys.platform == "darwin":
            return Path.home() / "Library" / "Caches" / "imprint"
        if os.name == "nt":
            local = os.environ.get("LOCALAPPDATA")
            base = Path(local) if local else Path.home() / "AppData" / "Local"
            return base / "imprint" / "Cache"
        given = os.environ.get("XDG_CACHE_HOME", "")
        base = Path(given) if os.path.isabs(given) else Path.home() / ".cache"
    except RuntimeError:
        raise ReadError("the user has no home directory") from None
    return base / "imprint"


def trusted(folder: Path, *, create: bool, shared: bool = False) -> Path | None:
    """Return the real path of a folder that may be believed; None if there is none.

    Args:
        folder: what was asked for.
        create: whether it is made, for the user alone, if it is not there.
        shared: whether it may be anybody's, since its entries are signed.

    Raises:
        ReadError: there is something that is not to be believed.
        OSError: the system does not say, or does not make it.
    """
    path = Path(os.path.abspath(folder))
    try:
        link = path.lstat()
    except FileNotFoundError:
        if not create:
            return None
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        link = path.lstat()
    if stat.S_ISLNK(link.st_mode) and link.st_uid not in _own() and not shared:
        raise ReadError(f"it is a link of another user's (uid {link.st_uid})")
    real = path.resolve()
    found = real.stat()
    if not stat.S_ISDIR(found.st_mode):
        raise ReadError("it is no directory")
    if shared:
        return real
    reason = distrust(found)
    if reason:
        raise ReadError(reason)
    for above in {*path.parents, *real.parents}:
        mode = above.stat().st_mode
        if os.name != "nt" and mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
            raise ReadError(f"everybody can write into {above}, and so replace it")
    return real


def _own() -> tuple[int, ...]:
    return (os.geteuid(), 0) if hasattr(os, "geteuid") else (0,)

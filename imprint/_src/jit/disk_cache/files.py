"""Files and folders of a store: which ones to trust, and how to read and write them.

To load a compiled program is to run it. So a folder is trusted only if it belongs to the
user (or root) and no one else can write into it or replace it: no folder above is writable
by others without the sticky bit, as `/tmp` has. Links of the user are followed. A refused
folder is never repaired. Signed entries prove themselves, so their folder may be anyone's.
A file is trusted if it is a plain file of the user or of root that no one else can write.
It is written under a temporary name and then renamed, which is atomic. `eviction` collects
the temporary files of processes that were killed.
"""

import errno
import os
import stat
import sys
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

# ---- folders ----


def default_folder() -> Path:
    """Return the cache folder of the user on this system.

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


def trusted_folder(folder: Path, *, create: bool, shared: bool = False) -> Path | None:
    """Return the real path of a trusted folder; None if it does not exist.

    Args:
        folder: the path.
        create: whether it is created, for the user alone, if it is missing.
        shared: whether it may belong to anyone, since its entries are signed.

    Raises:
        ReadError: it is not trusted.
        OSError: it cannot be read or created.
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
    reason = distrust_reason(found)
    if reason:
        raise ReadError(reason)
    for above in {*path.parents, *real.parents}:
        mode = above.stat().st_mode
        if os.name != "nt" and mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
            raise ReadError(f"everybody can write into {above}, and so replace it")
    return real


def _own() -> tuple[int, ...]:
    return (os.geteuid(), 0) if hasattr(os, "geteuid") else (0,)


# ---- files ----


class ReadError(Exception):
    """A file or folder exists and must not be used; the text says why."""


class OpenFile(NamedTuple):
    """A trusted file that is open."""

    file: BinaryIO
    nbytes: int
    used: float

    @classmethod
    def of(cls, data: bytes) -> "OpenFile":
        """Return a file in memory."""
        return cls(BytesIO(data), len(data), 0.0)

    def read(self, nbytes: int) -> bytes:
        """Return the next bytes."""
        return self.file.read(nbytes)


@contextmanager
def open_file(
    path: Path, *, use: bool = False, shared: bool = False
) -> Generator[OpenFile | None]:
    """Open a file, if it is there.

    Args:
        path: the file.
        use: whether to set the time of last use.
        shared: whether it may belong to anyone, since its content is signed.

    Raises:
        ReadError: it is no plain file, or another user can write into it.
        OSError: it cannot be read.
    """
    try:
        descriptor = os.open(path, _READ)
    except OSError as err:
        if err.errno in _GONE:
            yield None
            return
        if err.errno == errno.ELOOP:
            raise ReadError("it is a link") from None
        raise
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise ReadError("it is no plain file")
        reason = distrust_reason(found)
        if reason and not shared:
            raise ReadError(reason)
        if use:
            with suppress(OSError):
                os.utime(descriptor if os.utime in os.supports_fd else path)
        yield OpenFile(file, found.st_size, found.st_mtime)


_READ: Final = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NONBLOCK", 0)  # a pipe would wait for a writer
    | getattr(os, "O_BINARY", 0)
)
_GONE: Final = (errno.ENOENT, errno.ENOTDIR, errno.ESTALE)


def distrust_reason(found: os.stat_result) -> str:
    """Return why a file or folder is not trusted; "" if it is."""
    if not hasattr(os, "geteuid"):
        return ""  # the folder of a profile belongs to the user
    if found.st_uid not in (os.geteuid(), 0):
        return f"it belongs to another user (uid {found.st_uid})"
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"others can write into it (mode {stat.S_IMODE(found.st_mode):o})"
    return ""


def write_file(path: Path, parts: Iterable[bytes], *, shared: bool = False) -> None:
    """Write a file atomically.

    Args:
        path: the file.
        parts: its bytes.
        shared: whether its mode is that of the umask, and not the user alone.

    Raises:
        OSError: it cannot be written; nothing is left behind.
    """
    temporary = path.with_name(f"{TEMPORARY}{os.getpid()}-{os.urandom(8).hex()}")
    mode = 0o666 if shared else 0o600
    try:
        descriptor = os.open(temporary, _WRITE, mode)
    except FileNotFoundError:
        path.parent.mkdir(mode=0o777 if shared else 0o700, exist_ok=True)
        descriptor = os.open(temporary, _WRITE, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.writelines(parts)
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


TEMPORARY: Final = ".writing-"
"""The prefix of temporary names."""

_WRITE: Final = (
    os.O_WRONLY
    | os.O_CREAT
    | os.O_EXCL
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)

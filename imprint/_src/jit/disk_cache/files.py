"""Files: read only what is the user's, and write so that nobody sees half of it.

A file is opened without following a link, and believed if it is a plain file of the
user's or of root's into which nobody else can write. It is written beside its place
under a name of its own and then renamed, which is one step: of two writers one is last,
and who reads meanwhile has the whole old file or the whole new one. What a process that
was killed leaves is a `stray`; `sweep` collects it.
"""

import errno
import os
import stat
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple


class ReadError(Exception):
    """A file is there and is not to be used; the text says why."""


class Opened(NamedTuple):
    """A file that is open and may be believed."""

    file: BinaryIO
    nbytes: int
    used: float

    @classmethod
    def of(cls, data: bytes) -> "Opened":
        """Return a file that is only in memory."""
        return cls(BytesIO(data), len(data), 0.0)

    def read(self, nbytes: int) -> bytes:
        """Return the next bytes."""
        return self.file.read(nbytes)


@contextmanager
def opened(
    path: Path, *, use: bool = False, shared: bool = False
) -> Generator[Opened | None]:
    """Open a file, if it is there.

    Args:
        path: the file.
        use: whether to note the time, by which old ones go first.
        shared: whether it may be another's, since its content proves itself.

    Raises:
        ReadError: it is no plain file, or somebody else can write into it.
        OSError: the system does not give it.
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
        reason = distrust(found)
        if reason and not shared:
            raise ReadError(reason)
        if use:
            with suppress(OSError):
                os.utime(descriptor if os.utime in os.supports_fd else path)
        yield Opened(file, found.st_size, found.st_mtime)


_READ: Final = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NONBLOCK", 0)  # a pipe would wait for who writes
    | getattr(os, "O_BINARY", 0)
)
_GONE: Final = (errno.ENOENT, errno.ENOTDIR, errno.ESTALE)


def distrust(found: os.stat_result) -> str:
    """Return why a file or directory is not to be believed; "" if it is."""
    if not hasattr(os, "geteuid"):
        return ""  # a profile's directory is the user's own
    if found.st_uid not in (os.geteuid(), 0):
        return f"it belongs to another user (uid {found.st_uid})"
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"others can write into it (mode {stat.S_IMODE(found.st_mode):o})"
    return ""


def written(path: Path, parts: Iterable[bytes], *, shared: bool = False) -> None:
    """Write a file whole, or not at all.

    Args:
        path: the file.
        parts: what is in it.
        shared: whether others may have it, too, as the user's umask says.

    Raises:
        OSError: the system does not take it; nothing is left behind.
    """
    beside = path.with_name(f"{STRAY}{os.getpid()}-{os.urandom(8).hex()}")
    mode = 0o666 if shared else 0o600
    try:
        descriptor = os.open(beside, _WRITE, mode)
    except FileNotFoundError:
        path.parent.mkdir(mode=0o777 if shared else 0o700, exist_ok=True)
        descriptor = os.open(beside, _WRITE, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.writelines(parts)
        beside.replace(path)
    except BaseException:
        with suppress(OSError):
            beside.unlink()
        raise


STRAY: Final = ".writing-"
"""How the name of a file begins that is not yet at its place."""

_WRITE: Final = (
    os.O_WRONLY
    | os.O_CREAT
    | os.O_EXCL
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)

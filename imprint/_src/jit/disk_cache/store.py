"""A store: bytes under keys on the disk, with methods that never raise.

An error of the disk is a miss or a dropped write, with one warning in a process. A damaged
entry is deleted. A disk that refused a write is not written again.
Of several processes that need the same program, one compiles it. All of them lock one byte
of the file `lock`, at an offset from the key. The system releases a lock when its process
ends. A process that waits too long, or whose system has no locks, compiles: a lock saves
work, and nothing depends on it. Threads of one process do not exclude each other.
"""

import os
import time
from collections.abc import Generator, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, Final, Protocol, final

from imprint._src.diagnostics.source import warn
from imprint._src.errors import StoreWarning
from imprint._src.jit.disk_cache.entry import (
    NO_SIGNER,
    Entry,
    Note,
    Signer,
    seal,
    unseal,
)
from imprint._src.jit.disk_cache.eviction import evict, path_of
from imprint._src.jit.disk_cache.files import OpenFile, ReadError, open_file, write_file

fcntl: Any
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None


class RemoteFiles(Protocol):
    """The interface of `Remote`, which few stores load."""

    @property
    def url(self) -> str:
        """The address."""
        ...

    def get(self, name: str) -> bytes | None:
        """Return the bytes under a name."""
        ...

    def put(self, name: str, path: Path) -> None:
        """Schedule the upload of a file under a name."""
        ...


@final
class Store:
    """The entries of a trusted folder.

    Args:
        folder: the folder.
        writes: whether it may be changed.
        limit: its size in bytes.
        signer: signs and verifies entries.
        patience: the seconds to wait for a compilation of another process.
        below: the store to read entries from that are missing here.
    """

    def __init__(
        self,
        folder: Path,
        *,
        writes: bool,
        limit: int,
        signer: Signer = NO_SIGNER,
        patience: float = 60.0,
        below: "Store | None" = None,
    ) -> None:
        self.folder: Final = folder
        self.limit: Final = limit
        self.writes: bool = writes
        self.below: Final = below
        self._signer: Final = signer
        self.signer: Final = signer.name
        self._locks: Final = CompileLocks(
            folder, patience, 0o666 if signer.is_signed else 0o600
        )
        self._warned: Final[set[str]] = set()
        self._remote: tuple[RemoteFiles, Signer] | None = None

    def add_remote(self, remote: RemoteFiles, signer: Signer) -> None:
        """Add a remote place to read and, if entries can be signed, to write."""
        self._remote = remote, signer

    def get(self, key: bytes) -> bytes | None:
        """Return the bytes under a key; None if there are none."""
        return next(self.all_of(key), None)

    def all_of(self, key: bytes) -> Iterator[bytes]:
        """Yield the bytes under a key, here, in each store below, and at the remote."""
        for store in self.chain():
            body = store._read(key)
            if body is not None:
                yield body
        body = None if self._remote is None else self._fetched(key, *self._remote)
        if body is not None:
            yield body

    def chain(self) -> Iterator["Store"]:
        """Yield this store and those below."""
        store: Store | None = self
        while store is not None:
            yield store
            store = store.below

    def _read(self, key: bytes) -> bytes | None:
        key = self._signer.name_of(key)
        path = path_of(self.folder, key)
        try:
            with open_file(
                path, use=self.writes, shared=self._signer.is_signed
            ) as file:
                return None if file is None else unseal(file, key, self._signer).body
        except ReadError as err:
            self._complain(
                "an entry",
                f"expected {path} to be one, but {err}. {self._remove(path)}",
            )
        except (OSError, MemoryError) as err:
            self._complain(
                "reading",
                f"expected to read {path}, got {err!r}. It is compiled again.",
            )
        return None

    def _fetched(self, key: bytes, remote: RemoteFiles, signer: Signer) -> bytes | None:
        """Return the bytes at the remote, and keep them here if there are none."""
        there = signer.name_of(key)
        data = remote.get(there.hex())
        if data is None:
            return None
        try:
            entry = unseal(OpenFile.of(data), there, signer)
        except ReadError as err:
            self._complain(
                "an entry from afar",
                f"expected {remote.url} to have one for {there.hex()}, but {err}. It is left "
                "there, and what it was is compiled again.",
            )
            return None
        here = self._signer.name_of(key)
        if self.writes and not path_of(self.folder, here).exists():
            self._keep(here, entry.note, entry.body or b"")
        return entry.body

    def put(self, key: bytes, note: Note, body: bytes) -> bool:
        """Write bytes under a key, if possible; return whether they are there."""
        here = self._signer.name_of(key)
        if not self.writes or not self._keep(here, note, body):
            return False
        if self._remote is not None:
            remote, signer = self._remote
            if signer is self._signer:
                remote.put(here.hex(), path_of(self.folder, here))
        return True

    def _keep(self, key: bytes, note: Note, body: bytes) -> bool:
        if len(body) > self.limit:
            return False
        signed = {**note, "signed": self.signer}
        parts = seal(key, signed, body, self._signer)
        try:
            write_file(path_of(self.folder, key), parts, shared=self._signer.is_signed)
        except OSError as err:
            self.writes = False
            self._complain(
                "writing",
                f"expected to write into {self.folder}, got {err!r}. What is compiled "
                "from here on is not kept. Make room, or the folder writable, or set "
                "IMPRINT_CACHE=read.",
            )
            return False
        if key[0] % _EVICTION_SHARE == 0 or len(body) > self.limit // _EVICTION_SHARE:
            evict(self.folder, self.limit)
        return True

    def drop(self, key: bytes) -> None:
        """Delete the entry of a key."""
        self._remove(path_of(self.folder, self._signer.name_of(key)))

    def look(self, path: Path, *, whole: bool) -> Entry | None:
        """Return the entry in a file; None if it is gone.

        Raises:
            ReadError: it must not be used.
            OSError: it cannot be read.
        """
        with open_file(path, shared=self._signer.is_signed) as file:
            if file is None:
                return None
            key = bytes.fromhex(path.parent.name + path.name)
            return unseal(file, key, self._signer, whole=whole)

    def compile_lock(self, key: bytes) -> AbstractContextManager[bool]:
        """Return a context in which no other process compiles for this key.

        It yields whether another process did so before, and so whether to read again.
        """
        return self._locks.of(key) if self.writes else nullcontext(enter_result=False)

    def _complain(self, what: str, text: str) -> None:
        if what not in self._warned:
            self._warned.add(what)
            warn_or_log(text)

    def _remove(self, path: Path) -> str:
        if not self.writes:
            return "It is left there."
        with suppress(OSError):
            path.unlink()
            return "It is deleted, and what it was is compiled again."
        return "It cannot be deleted."


_EVICTION_SHARE: Final = 16
"""One write in so many evicts old entries."""


def warn_or_log(text: str) -> None:
    """Warn; log if warnings are errors, so that no call fails because of the store."""
    try:
        warn(f"store: {text}", StoreWarning)
    except StoreWarning:
        import logging  # noqa: PLC0415 - 2 ms, and few processes log

        logging.getLogger("imprint").warning("store: %s", text)


# ---- locks ----


@final
class CompileLocks:
    """The locks of one folder.

    Args:
        folder: the folder of the store.
        patience: the seconds to wait for another process.
        mode: the mode of the lock file.
    """

    def __init__(self, folder: Path, patience: float, mode: int = 0o600) -> None:
        self._path: Final = folder / "lock"
        self._patience: Final = patience
        self._mode: Final = mode
        self._descriptor: int | None = None  # stays open: closing it releases all locks

    @contextmanager
    def of(self, key: bytes) -> Generator[bool]:
        """Hold the lock of a key; yield whether another process held it before."""
        place = int.from_bytes(key[:7], "big")
        waited, held = False, False
        until = time.monotonic() + self._patience
        pause = 0.005
        file = self._file()
        while file is not None and not held:
            try:
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
                held = True
            except (BlockingIOError, PermissionError):  # another process has it
                if time.monotonic() > until:
                    break
                waited = True
                time.sleep(pause)
                pause = min(2 * pause, 0.1)
            except OSError:  # no locks on this system
                break
        try:
            yield waited
        finally:
            if held:
                with suppress(OSError):
                    fcntl.lockf(file, fcntl.LOCK_UN, 1, place)

    def _file(self) -> int | None:
        if self._descriptor is None and fcntl is not None:
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            with suppress(OSError):
                self._descriptor = os.open(self._path, flags, self._mode)
        return self._descriptor

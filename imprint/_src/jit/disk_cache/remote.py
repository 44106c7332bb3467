"""Remote entries in a bucket or on a server, through fsspec.

A read takes at most `patience` seconds; after one failure this process reads no more.
Uploads run in a thread of their own, and the end of the process waits a little for the
rest. The store verifies the signatures of entries.
"""

import atexit
import os
import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, Final, final


@final
class Remote:
    """Files by name, at a URL.

    Args:
        url: the address, as fsspec writes it: `s3://bucket/folder`, `gs://…`, `file:…`.
        complain: reports the first error of reading and of writing.
        patience: the seconds that a read may take.
        rest: the seconds that the end of the process waits for uploads.
    """

    def __init__(
        self,
        url: str,
        complain: Callable[[str], None],
        *,
        patience: float = 5.0,
        rest: float = 10.0,
    ) -> None:
        self.url: Final = url
        self._complain: Final = complain
        self._patience: Final = patience
        self._rest: Final = rest
        self._has_failed = False
        self._missing: set[str] = set()
        self._found: Any = None
        self._pid = os.getpid()
        self._uploader: _Uploader | None = None

    def get(self, name: str) -> bytes | None:
        """Return the bytes under a name; None if there are none, or it takes too long."""
        if self._has_failed or name in self._missing:
            return None
        results: queue.SimpleQueue[bytes | BaseException] = queue.SimpleQueue()
        self._load()

        def read() -> None:
            try:
                results.put(self._read(name))
            except BaseException as err:  # handled in the thread that waits
                results.put(err)

        threading.Thread(target=read, name="imprint-fetch", daemon=True).start()
        try:
            result = results.get(timeout=self._patience)
        except queue.Empty:
            result = TimeoutError(f"no answer in {self._patience:g} s")
        if isinstance(result, bytes):
            return result
        if isinstance(result, FileNotFoundError):
            self._missing.add(name)
            return None
        self._has_failed = True
        self._complain(
            f"expected to read from {self.url}, got {result!r}. It is asked no more by "
            f"this process.{_remedy(result)}",
        )
        return None

    def put(self, name: str, path: Path) -> None:
        """Schedule the upload of a file under a name."""
        self._load()
        if self._uploader is None:
            self._uploader = _Uploader(self._write, self._rest)
        self._uploader.add(name, path)

    def _load(self) -> None:
        """Import fsspec in this thread: a fork could find another one half done."""
        if self._pid != os.getpid():  # a fork has no threads, and its own connections
            self._pid, self._found, self._uploader = os.getpid(), None, None
        with suppress(Exception):  # its use reports the error
            fsspec: Any = import_module("fsspec")
            fsspec.get_filesystem_class(self.url.partition(":")[0])

    def _at(self, name: str) -> tuple[Any, str]:
        """Return the file system, and the path of a file in it."""
        if self._found is None:
            core: Any = import_module("fsspec.core")
            self._found = core.url_to_fs(self.url)
        files, folder = self._found  # a file system of fsspec and a folder in it
        return files, f"{folder.rstrip('/')}/{name[:2]}/{name[2:]}"

    def _read(self, name: str) -> bytes:
        files, path = self._at(name)
        return bytes(files.cat_file(path))

    def _write(self, name: str, path: Path) -> bool:
        """Write a file; return whether the next one may be tried."""
        try:
            data = path.read_bytes()
        except OSError:
            return True  # another process evicted it
        try:
            files, there = self._at(name)
            try:
                files.pipe_file(there, data)
            except FileNotFoundError:  # no such folder; buckets have none
                files.mkdir(there.rpartition("/")[0], create_parents=False)
                files.pipe_file(there, data)
        except BaseException as err:  # nothing catches it in this thread
            self._complain(
                f"expected to write to {self.url}, got {err!r}. What is compiled from "
                f"here on is kept on this machine alone.{_remedy(err)}",
            )
            return False
        return True


@final
class _Uploader:
    """A thread that uploads one file after the other."""

    def __init__(self, write: Callable[[str, Path], bool], rest: float) -> None:
        self._pid: Final = os.getpid()
        self._write: Final = write
        self._rest: Final = rest
        self._left: Final[queue.SimpleQueue[tuple[str, Path] | None]] = (
            queue.SimpleQueue()
        )
        self._thread: Final = threading.Thread(
            target=self._run, name="imprint-upload", daemon=True
        )
        self._thread.start()
        atexit.register(self._end)

    def add(self, name: str, path: Path) -> None:
        """Add a file."""
        self._left.put((name, path))

    def _run(self) -> None:
        is_up = True
        while (left := self._left.get()) is not None:
            is_up = is_up and self._write(*left)

    def _end(self) -> None:
        if self._pid == os.getpid():
            self._left.put(None)
            self._thread.join(self._rest)


def _remedy(err: object) -> str:
    if isinstance(err, ImportError):
        return (
            " Run: pip install 'imprint[remote]', and what fsspec names for its kind."
        )
    return ""

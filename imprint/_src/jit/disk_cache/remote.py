"""A place far away that has entries, too: a bucket, a server, through fsspec.

It is never in the way of a call. What is read there is waited for as long as `patience`
says; one that did not answer once is not asked again by this process. What is written
goes in a thread of its own, and the end of the process waits a little for the rest.
Whether an entry may be believed is the store's question, by its signature.
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
        url: where they are, as fsspec writes it: `s3://bucket/folder`, `gs://…`, `file:…`.
        complain: is told what went wrong, once in reading and once in writing.
        patience: how many seconds one read may take.
        rest: how many seconds the end of the process waits for what is not written yet.
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
        self._is_deaf = False
        self._missing: set[str] = set()
        self._found: Any = None
        self._pid = os.getpid()
        self._courier: _Courier | None = None

    def get(self, name: str) -> bytes | None:
        """Return what is under a name; None if nothing is, or it takes too long."""
        if self._is_deaf or name in self._missing:
            return None
        answers: queue.SimpleQueue[bytes | BaseException] = queue.SimpleQueue()
        self._load()

        def ask() -> None:
            try:
                answers.put(self._read(name))
            except BaseException as err:  # told in the thread that waits
                answers.put(err)

        threading.Thread(target=ask, name="imprint-fetch", daemon=True).start()
        try:
            answer = answers.get(timeout=self._patience)
        except queue.Empty:
            answer = TimeoutError(f"no answer in {self._patience:g} s")
        if isinstance(answer, bytes):
            return answer
        if isinstance(answer, FileNotFoundError):
            self._missing.add(name)
            return None
        self._is_deaf = True
        self._complain(
            f"expected to read from {self.url}, got {answer!r}. It is asked no more by "
            f"this process.{_remedy(answer)}",
        )
        return None

    def put(self, name: str, path: Path) -> None:
        """Have a file written under a name, some time."""
        self._load()
        if self._courier is None:
            self._courier = _Courier(self._write, self._rest)
        self._courier.take(name, path)

    def _load(self) -> None:
        """Import what is needed, in no other thread: a fork would find it half done."""
        if self._pid != os.getpid():  # a fork has no threads, and its own connections
            self._pid, self._found, self._courier = os.getpid(), None, None
        with suppress(Exception):  # who uses it tells
            fsspec: Any = import_module("fsspec")
            fsspec.get_filesystem_class(self.url.partition(":")[0])

    def _at(self, name: str) -> tuple[Any, str]:
        """Return the file system, and where in it a file is."""
        if self._found is None:
            core: Any = import_module("fsspec.core")
            self._found = core.url_to_fs(self.url)
        files, folder = self._found  # a file system of fsspec's, and a folder in it
        return files, f"{folder.rstrip('/')}/{name[:2]}/{name[2:]}"

    def _read(self, name: str) -> bytes:
        files, path = self._at(name)
        return bytes(files.cat_file(path))

    def _write(self, name: str, path: Path) -> bool:
        """Write a file; return whether the next one may be tried."""
        try:
            data = path.read_bytes()
        except OSError:
            return True  # another process let it go
        try:
            files, there = self._at(name)
            try:
                files.pipe_file(there, data)
            except FileNotFoundError:  # where folders have to be made; never a bucket
                files.mkdir(there.rpartition("/")[0], create_parents=False)
                files.pipe_file(there, data)
        except BaseException as err:  # it is nobody's thread
            self._complain(
                f"expected to write to {self.url}, got {err!r}. What is compiled from "
                f"here on is kept on this machine alone.{_remedy(err)}",
            )
            return False
        return True


@final
class _Courier:
    """A thread that writes one file after the other, while the program goes on."""

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

    def take(self, name: str, path: Path) -> None:
        """Take in a file."""
        self._left.put((name, path))

    def _run(self) -> None:
        is_heard = True
        while (left := self._left.get()) is not None:
            is_heard = is_heard and self._write(*left)

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

r"""The file format of saved leaves. Reading a file runs no code.

    file   ::= "\x93IMPRINT" version:u32 record* record
    record ::= length:u32 crc32:u32 header:JSON[length] payload:bytes[header.bytes]

A header names the leaf by its key path and has the length and the CRC-32 of its payload;
the last one is `{"end": number of leaves}`, without a payload. Integers are little-endian.
The file is written and read front to back, so it may be a part of a longer stream. Errors
name the file and the leaf.
"""

import contextlib
import io
import json
import os
import struct
import zlib
from collections.abc import Generator
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias, final

from imprint._src.errors import ArgumentError, TreeError

MAGIC: Final = b"\x93IMPRINT"
VERSION: Final = 1
_START: Final = struct.Struct("<8sI")
_PREFIX: Final = struct.Struct("<II")


class SupportsWrite(Protocol):
    """A target of `tree_serialise_leaves`."""

    def write(self, data: Any, /) -> object:
        """Write bytes."""
        ...


class SupportsRead(Protocol):
    """A source of `tree_deserialise_leaves`."""

    def read(self, size: int = ..., /) -> bytes:
        """Return the next bytes, at most `size`."""
        ...


PathLike: TypeAlias = str | os.PathLike[str]

# ---- writing ----


@contextlib.contextmanager
def writing(path_or_file: PathLike | SupportsWrite) -> Generator[SupportsWrite]:
    """Open a path for writing; a file that was there stays until the new one is whole."""
    if not isinstance(path_or_file, str | os.PathLike):
        _check_binary(path_or_file, "write", "tree_serialise_leaves", "wb")
        yield path_or_file
        return
    path = Path(path_or_file).resolve()  # a link stays a link
    if not path.parent.is_dir():
        raise FileNotFoundError(
            f"tree_serialise_leaves: expected a path in a directory, got {str(path)!r}, "
            "whose directory does not exist. Make it: path.parent.mkdir(parents=True)."
        )
    draft = path.with_name(f".{path.name}.{os.urandom(4).hex()}.tmp")
    try:
        with draft.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


class LeafWriter:
    """Collects the bytes that a filter_spec writes for one leaf, without a copy."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.chunks: list[memoryview] = []

    def write(self, data: Any, /) -> int:
        """Write bytes, or anything that has a buffer of bytes."""
        chunk = memoryview(data).cast("B")
        self.chunks.append(chunk)
        return len(chunk)


def write_start(file: SupportsWrite) -> None:
    """Write the start of the file."""
    file.write(_START.pack(MAGIC, VERSION))


def write_leaf(file: SupportsWrite, path: str, chunks: list[memoryview]) -> None:
    """Write the record of a leaf."""
    crc = 0
    for chunk in chunks:
        crc = zlib.crc32(chunk, crc)
    size = sum(map(len, chunks))
    _write_header(file, {"path": path, "bytes": size, "crc32": crc})
    for chunk in chunks:
        file.write(chunk)


def write_end(file: SupportsWrite, count: int) -> None:
    """Write the end of the file."""
    _write_header(file, {"end": count})


def _write_header(file: SupportsWrite, header: dict[str, Any]) -> None:
    text = json.dumps(header).encode()
    file.write(_PREFIX.pack(len(text), zlib.crc32(text)) + text)


# ---- reading ----


@contextlib.contextmanager
def reading(path_or_file: PathLike | SupportsRead) -> Generator[SupportsRead]:
    """Open a path for reading; a file stays open and where the records end."""
    if not isinstance(path_or_file, str | os.PathLike):
        _check_binary(path_or_file, "read", "tree_deserialise_leaves", "rb")
        yield path_or_file
        return
    with Path(path_or_file).open("rb") as file:
        yield file


def _check_binary(file: object, method: str, caller: str, mode: str) -> None:
    if hasattr(file, method) and not isinstance(file, io.TextIOBase):
        return
    kind = "a text file" if hasattr(file, method) else type(file).__name__
    raise ArgumentError(
        f"{caller}: expected a path or a binary file first, and the tree second, got "
        f"{kind} first. Pass a path, or open(path, {mode!r})."
    )


class LeafReader(io.BytesIO):
    """The bytes of one leaf, for a filter_spec to read."""

    def __init__(self, payload: bytes, where: str) -> None:
        super().__init__(payload)
        self.where = where


def file_name(file: SupportsRead, caller: str) -> str:
    """Return the function and the file, for messages."""
    name = getattr(file, "name", None)
    return f"{caller}({type(file).__name__ if name is None else name})"


@final
class Records:
    """Reads the records of a file, one leaf after the other.

    Args:
        file: where from.
        name: the function and the file, for messages.
    """

    def __init__(self, file: SupportsRead, name: str) -> None:
        self._file = file
        self._last = "the beginning"
        self.name: str = name
        head = self._available(_START.size)
        if head[: len(MAGIC)] != MAGIC:
            came = f"one that begins with {head[:8]!r}" if head else "an empty one"
            raise ArgumentError(
                f"{self.name}: expected a file written by tree_serialise_leaves, got "
                f"{came}. Check the path."
            )
        version = _START.unpack(head)[1] if len(head) == _START.size else None
        if version != VERSION:
            raise ArgumentError(
                f"{self.name}: expected version {VERSION} of the format, got {version}. "
                "Load it with the imprint that wrote it, and save it again."
            )

    def leaf(self, path: str) -> LeafReader:
        """Return the saved bytes of the next leaf, which has this path."""
        where = f"{self.name}: leaf {path or 'at the root'}"
        header = self._header(where)
        if header.get("path") != path:
            raise TreeError(
                f"{where}: expected it after {self._last}, got {_described(header)}. "
                "Pass a `like` of the structure of what was saved."
            )
        self._last = path
        payload = self._exactly(header["bytes"], where)
        if zlib.crc32(payload) != header["crc32"]:
            raise _damaged(where)
        return LeafReader(payload, where)

    def end(self) -> None:
        """Check that no leaf is left."""
        header = self._header(f"{self.name}: the end")
        if "end" not in header:
            raise TreeError(
                f"{self.name}: expected no leaf after {self._last}, got "
                f"{_described(header)}. Pass a `like` of the structure of what was saved."
            )

    def _header(self, where: str) -> dict[str, Any]:
        size, crc = _PREFIX.unpack(self._exactly(_PREFIX.size, where))
        text = self._exactly(size, where)
        if zlib.crc32(text) != crc:
            raise _damaged(where)
        return json.loads(text)

    def _exactly(self, size: int, where: str) -> bytes:
        found = self._available(size)
        if len(found) < size:
            raise ArgumentError(
                f"{where}: expected {size} more bytes, got {len(found)}: the file is "
                "truncated. Load another copy of it, or save it again."
            )
        return found

    def _available(self, size: int) -> bytes:
        """Return the next bytes, fewer only at the end; a pipe gives them in parts."""
        parts: list[bytes] = []
        while size > 0:
            part = self._file.read(min(size, _PART))
            if not part:
                break
            parts.append(part)
            size -= len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)


_PART: Final = 1 << 26  # the most that a damaged length can request at a time


def _described(header: dict[str, Any]) -> str:
    if "end" in header:
        return f"the end of {header['end']} leaves"
    return f"leaf {header['path'] or 'at the root'}"


def _damaged(where: str) -> ArgumentError:
    return ArgumentError(
        f"{where}: expected the bytes that were saved, got others: the checksum differs, "
        "so the file is damaged. Load another copy of it, or save it again."
    )

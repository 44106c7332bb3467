"""`imprint cache export`, `import` and `warm`: programs go from one machine to another.

An archive is a tar file of a store's entries as they are, so a signature goes with each.
What is imported is read whole first, and only files that have the names of entries are
taken. To load a compiled program is to run it: import what you would run.
"""

import re
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from imprint._src.cli.launch import launch
from imprint._src.cli.stored import size_text, store_in_use
from imprint._src.jit.compilation.counters import COUNTERS
from imprint._src.jit.disk_cache.current import configure, current, requested_options
from imprint._src.jit.disk_cache.eviction import entries
from imprint._src.jit.disk_cache.files import ReadError, write_file
from imprint._src.jit.disk_cache.store import Store

_MEMBER: Final = re.compile("([0-9a-f]{2})/([0-9a-f]{62})")


def export(file: str) -> int:
    """Write all entries into one file, for another machine or an image."""
    store = store_in_use()
    if store is None:
        return 1
    wanted = Path(file)
    if not wanted.parent.is_dir():
        return _wrong(f"expected a file in a directory that exists, got {file}")
    beside = wanted.with_name(f"{wanted.name}.writing")
    count = nbytes = 0
    try:
        with tarfile.open(beside, "w") as archive:
            for found in sorted(entries(store.folder)):
                with suppress(FileNotFoundError):  # it went meanwhile
                    name = f"{found.path.parent.name}/{found.path.name}"
                    archive.add(found.path, name, recursive=False)
                    count, nbytes = count + 1, nbytes + found.nbytes
        beside.replace(wanted)
    except OSError as err:
        with suppress(OSError):
            beside.unlink()
        return _wrong(f"expected to write {file}, got {err!r}")
    print(f"{count} entries, {size_text(nbytes)}, are in {file}")
    return 0


def import_(file: str) -> int:
    """Take the entries of such a file, those that are whole and not there yet."""
    store = _store_to_write()
    if store is None:
        return _wrong(
            "expected a store that can be written, got none. `imprint cache doctor` says "
            "why."
        )
    taken = there = refused = 0
    try:
        with tarfile.open(file, "r:") as archive:
            for member in archive:
                at = _MEMBER.fullmatch(member.name)
                body = archive.extractfile(member) if at and member.isreg() else None
                if at is None or body is None:
                    refused += 1
                    continue
                path = store.folder / at[1] / at[2]
                if path.exists():
                    there += 1
                elif _is_taken(store, path, body.read()):
                    taken += 1
                else:
                    refused += 1
    except (OSError, tarfile.TarError, EOFError) as err:
        return _wrong(f"expected what `imprint cache export` wrote, got {file}: {err}")
    print(f"took {taken} entries; {there} were there")
    if refused:
        return _wrong(
            f"{refused} were left out: they are damaged, or signed with another secret"
        )
    return 0


def warm(program: Sequence[str]) -> int:
    """Run a program, and keep what it compiles."""
    configure(requested_options()._replace(mode="write"))
    if current() is None:
        return _wrong(
            "expected a store that can be written, got none. `imprint cache doctor` says "
            "why."
        )
    status = launch(program)
    print(
        f"compiled {COUNTERS.compiles} programs, loaded {COUNTERS.loads} from the disk",
        file=sys.stderr,
    )
    return status


def _store_to_write() -> Store | None:
    configure(requested_options()._replace(mode="write"))
    return current()


def _is_taken(store: Store, path: Path, data: bytes) -> bool:
    """Put a file at its place if it is whole, and signed as this store's."""
    with tempfile.TemporaryDirectory(prefix=".import-", dir=store.folder) as folder:
        aside = Path(folder) / path.parent.name / path.name  # its key is in its name
        write_file(aside, [data])
        try:
            store.look(aside, whole=True)
        except ReadError:
            return False
        path.parent.mkdir(mode=0o700, exist_ok=True)
        aside.replace(path)
    return True


def _wrong(text: str) -> int:
    print(text, file=sys.stderr)
    return 1

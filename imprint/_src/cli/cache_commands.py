"""`imprint cache`: list, check, bound, export and import the programs on the disk.

Each command prints, and returns an exit status: 1 if something is wrong. Commands use the
folder that programs would use (`disk_cache.current`), even if the store is off or
read-only. Only `prune`, `verify` and `clear` delete, and only files named like entries.

An archive is a tar file of entries with their signatures. An import reads each entry
whole first. To load a compiled program is to run it: import only programs that you would
run. `warm` and `why` run a program with the store in use.
"""

import os
import re
import shutil
import sys
import tarfile
import tempfile
import textwrap
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from imprint._src import runtime
from imprint._src.cli.runpy import run_program
from imprint._src.jit.compilation.counters import COUNTERS
from imprint._src.jit.disk_cache.current import (
    StoreConfig,
    configure,
    current,
    open_store,
    requested_options,
    store_config,
)
from imprint._src.jit.disk_cache.entry import KEY_BYTES, Note, digest
from imprint._src.jit.disk_cache.eviction import StoredFile, entries, evict
from imprint._src.jit.disk_cache.files import ReadError, write_file
from imprint._src.jit.disk_cache.remote import Remote
from imprint._src.jit.disk_cache.store import Store
from imprint._src.jit.load_from_disk import ORIGIN_OBSERVERS, VersionOrigin
from imprint._src.jit.manifest.trace_manifest import TRACE

_MEMBER: Final = re.compile("([0-9a-f]{2})/([0-9a-f]{62})")


class _Total(NamedTuple):
    """An entry, or the sum of several."""

    name: str
    entries: int
    nbytes: int
    used: float
    seconds: float

    def plus(self, other: "_Total | None") -> "_Total":
        """Return the sum of both."""
        if other is None:
            return self
        return _Total(
            name=max(self.name, other.name, key=_is_given),
            entries=self.entries + other.entries,
            nbytes=self.nbytes + other.nbytes,
            used=max(self.used, other.used),
            seconds=self.seconds + other.seconds,
        )

    @property
    def size_and_time(self) -> str:
        """The columns that all lines have."""
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(self.used))
        return f"{size_text(self.nbytes):>9}  {when}"


ORDERS: Final[dict[str, Callable[[_Total], float]]] = {
    "time": lambda total: -total.used,
    "size": lambda total: -total.nbytes,
    "compile": lambda total: -total.seconds,
}
"""The orders of `ls`: last used, largest or longest to compile first."""


def ls(order: str = "time") -> int:
    """List the entries, and totals of each function, most recently used first."""
    store = store_in_use()
    if store is None:
        return 1
    listed: list[tuple[_Total, str]] = []
    functions: dict[str, _Total] = {}
    for found in entries(store.folder):
        note, text = _note_of(store, found)
        name = _function_of(note)
        seconds = float(note.get("compile_seconds") or 0)
        total = _Total(name, 1, found.nbytes, found.used, seconds)
        listed.append((total, f"{found.key.hex()[:12]}  {total.size_and_time}  {text}"))
        key = _plain_name(name)
        functions[key] = total.plus(functions.get(key))
    by = ORDERS[order]
    for _, line in sorted(listed, key=lambda each: by(each[0])):
        print(line)
    if listed:
        print()
    for total in sorted(functions.values(), key=by):
        count = f"{total.entries} entries" if total.entries > 1 else "1 entry"
        cost = f"{count}, {total.seconds:.2f} s to compile"
        print(f"{'total':<12}  {total.size_and_time}  {total.name}: {cost}")
    return 0


def du() -> int:
    """Print the size and the limit."""
    store = store_in_use()
    if store is None:
        return 1
    sizes = [found.nbytes for found in entries(store.folder)]
    print(f"{len(sizes)} entries, {size_text(sum(sizes))} of {size_text(store.limit)}")
    return 0


def prune() -> int:
    """Delete the least recently used entries above the limit, and leftover files."""
    store = store_in_use()
    if store is None:
        return 1
    count, nbytes = evict(store.folder, store.limit)
    print(f"deleted {count} files, {size_text(nbytes)}")
    return 0


def verify() -> int:
    """Read every entry, and delete damaged ones.

    Entries that were signed with another secret are kept: they cannot be checked.
    """
    store = store_in_use()
    if store is None:
        return 1
    whole, damaged, foreign = 0, 0, 0
    for found in entries(store.folder):
        try:
            head = store.look(found.path, whole=False)
            if head is not None and head.note.get("signed") != store.signer:
                foreign += 1
                continue
            whole += store.look(found.path, whole=True) is not None
        except (ReadError, OSError) as err:
            damaged += 1
            with suppress(OSError):
                found.path.unlink()
            print(f"deleted {found.path}: {err}")
    others = f"; {foreign} have another signature" if foreign else ""
    print(f"{whole} entries are whole, {damaged} were not{others}")
    return 1 if damaged else 0


def clear() -> int:
    """Delete all entries."""
    store = store_in_use()
    if store is None:
        return 1
    files = [*entries(store.folder)]
    for found in files:
        with suppress(OSError):
            found.path.unlink()
    print(f"deleted {len(files)} entries, {size_text(sum(f.nbytes for f in files))}")
    return 0


def doctor() -> int:
    """Check whether the next process will find its programs."""
    try:
        wish = store_config()
    except ReadError as err:
        print(f"off: {err}")
        return 1
    print(f"folder: {wish.directory} ({_decided('IMPRINT_CACHE_DIR')})")
    print(f"mode: {wish.mode} ({_decided('IMPRINT_CACHE')})")
    if wish.key is not None:
        print(f"signed: with what is in {wish.key}")
    for folder in wish.shared:
        is_there = "read only" if folder.is_dir() else "not there"
        print(f"shared: {folder} ({is_there})")
    if wish.remote:
        print(f"remote: {wish.remote} ({_answer_of(wish.remote)})")
    store = store_in_use(wish)
    if store is None:
        return 1
    listed = [
        each for found in entries(store.folder) if (each := _engine(store, found))
    ]
    mine = runtime.engine_version()[0]
    same = sum(engine == mine for engine in listed)
    print(f"programs: {len(listed)}, of which {same} are of {mine}")
    with suppress(OSError):
        print(f"free on the disk: {size_text(shutil.disk_usage(store.folder).free)}")
    if wish.mode == "off":
        print("off: nothing is read or written. Unset IMPRINT_CACHE.")
        return 1
    return _tried(store) if wish.mode == "write" else 0


def _answer_of(url: str) -> str:
    """Return whether a remote store answers, or the reason why not."""
    reasons: list[str] = []
    Remote(url, reasons.append).get("0" * 2 * KEY_BYTES)
    return reasons[0] if reasons else "answers"


ACTIONS: Final[dict[str, Callable[[], int]]] = {
    action.__name__: action for action in (du, prune, verify, clear, doctor)
}


def store_in_use(wish: StoreConfig | None = None) -> Store | None:
    """Return the configured store, writable; print the reason if there is none."""
    try:
        wish = wish or store_config()
        found = open_store(wish._replace(mode="read", shared=(), remote=""))
        reason = f"{wish.directory} is not there; the first program that is compiled makes it"
    except (ReadError, OSError) as err:
        found, reason = None, str(err)
    if found is None:
        print(f"no store: {reason}", file=sys.stderr)
        return None
    found.writes = True
    return found


def _note_of(store: Store, found: StoredFile) -> tuple[Note, str]:
    """Return the note of an entry, and its text."""
    try:
        entry = store.look(found.path, whole=False)
    except (ReadError, OSError) as err:
        return {}, f"not to be used: {err}"
    if entry is None:
        return {}, "gone"
    note = entry.note
    if "kind" in note:
        return note, f"{note['kind']}: {note.get('name')}"
    tuned = f", tuned: {note['tuned']}" if "tuned" in note else ""
    return note, (
        f"{note.get('name')}, {note.get('equations')} equations, "
        f"{note.get('compile_seconds')} s to compile, {note.get('engine')}{tuned}"
    )


def _function_of(note: Note) -> str:
    """Return the name of the function that an entry belongs to."""
    name = str(note.get("name", ""))
    if note.get("kind") == TRACE:
        return str(note.get("of", name)).rpartition(":")[2].rpartition(".")[2]
    return "constants" if "kind" in note else name.removeprefix("jit_") or "others"


def _plain_name(name: str) -> str:
    """Return a name as programs have it: `_lambda_` for `<lambda>`."""
    return re.sub(r"\W", "_", name)


def _is_given(name: str) -> bool:
    """Return whether a name cannot be that of a program."""
    return name != _plain_name(name)


def _engine(store: Store, found: StoredFile) -> str:
    with suppress(ReadError, OSError):
        entry = store.look(found.path, whole=False)
        return "" if entry is None else str(entry.note.get("engine", ""))
    return ""


def _tried(store: Store) -> int:
    """Write an entry, read it, and delete it."""
    key, body = digest(b"doctor", os.urandom(16)), os.urandom(1 << 16)
    is_there = store.put(key, {"name": "doctor"}, body) and store.get(key) == body
    store.drop(key)
    print("writing and reading: " + ("well" if is_there else "failed"))
    return 0 if is_there else 1


def _decided(variable: str) -> str:
    return f"{variable} says so" if os.environ.get(variable) else "the default"


def size_text(nbytes: float) -> str:
    """Return a number of bytes with its unit."""
    for unit in ("B", "KiB", "MiB"):
        if nbytes < 1024:
            return f"{nbytes:.0f} {unit}" if unit == "B" else f"{nbytes:.1f} {unit}"
        nbytes /= 1024
    return f"{nbytes:.1f} GiB"


# ---- archives ----


def export(file: str) -> int:
    """Write all entries into one file, for another machine or an image."""
    store = store_in_use()
    if store is None:
        return 1
    wanted = Path(file)
    if not wanted.parent.is_dir():
        return _wrong(f"expected a file in a directory that exists, got {file}")
    partial_file = wanted.with_name(f"{wanted.name}.writing")
    count = nbytes = 0
    try:
        with tarfile.open(partial_file, "w") as archive:
            for found in sorted(entries(store.folder)):
                with suppress(FileNotFoundError):  # deleted by another process
                    name = f"{found.path.parent.name}/{found.path.name}"
                    archive.add(found.path, name, recursive=False)
                    count, nbytes = count + 1, nbytes + found.nbytes
        partial_file.replace(wanted)
    except OSError as err:
        with suppress(OSError):
            partial_file.unlink()
        return _wrong(f"expected to write {file}, got {err!r}")
    print(f"{count} entries, {size_text(nbytes)}, are in {file}")
    return 0


def import_(file: str) -> int:
    """Read the undamaged entries of such a file."""
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
    """Run a program, and keep its compiled programs."""
    configure(requested_options()._replace(mode="write"))
    if current() is None:
        return _wrong(
            "expected a store that can be written, got none. `imprint cache doctor` says "
            "why."
        )
    process = os.getpid()
    status = run_program(program)
    if os.getpid() != process:  # a fork of the program
        return status
    print(
        f"compiled {COUNTERS.compiles} programs, loaded {COUNTERS.loads} from the disk",
        file=sys.stderr,
    )
    return status


def _store_to_write() -> Store | None:
    configure(requested_options()._replace(mode="write"))
    return current()


def _is_taken(store: Store, path: Path, data: bytes) -> bool:
    """Move a file into the store if it is undamaged and has the store's signature."""
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


# ---- programs that start ----


def why(program: Sequence[str]) -> int:
    """Run a program, and say why functions were traced."""
    lines: dict[tuple[str, str], int] = {}
    err, process = sys.stderr, os.getpid()  # the program may leave another there

    def note(start: VersionOrigin) -> None:
        line = str(start.version), _start_text(start)
        lines[line] = lines.get(line, 0) + 1

    ORIGIN_OBSERVERS.append(note)
    try:
        status = run_program(program)
    finally:
        ORIGIN_OBSERVERS.remove(note)
    if os.getpid() != process:  # a fork of the program
        return status
    for line, count in lines.items():
        print(_wrapped(line, count), file=err)
    if not lines:
        print("nothing was compiled", file=err)
    return status


def _wrapped(line: tuple[str, str], count: int) -> str:
    """Return a version and its reason, below each other if they are long."""
    version, reason = line
    reason += f" ({count} times)" if count > 1 else ""
    if len(version) + len(reason) < _WIDTH:
        return f"{version}: {reason}"
    lines = textwrap.wrap(
        reason,
        _WIDTH,
        initial_indent="  ",
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join([f"{version}:", *lines])


_WIDTH: Final = 100


def _start_text(start: VersionOrigin) -> str:
    reason = start.version.trace_reason
    if not start.why:
        return "started warm"
    if not reason:
        return f"was traced: {start.why}; the next process starts warm"
    return f"is traced each time: {reason}"

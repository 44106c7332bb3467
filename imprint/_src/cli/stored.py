"""`imprint cache`: look at the programs on the disk, check them, and let them go.

Each action is a function without arguments that prints, and returns an exit status: 1 if
something is wrong. They use the folder that programs would use (`store.current`), also
where the store is off or only read; only `prune`, `verify` and `clear` delete, and only
files that have the names of entries.
"""

import os
import shutil
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from imprint._src import runtime
from imprint._src.jit.disk_cache.current import StoreConfig, open_store, store_config
from imprint._src.jit.disk_cache.entry import KEY_BYTES, digest
from imprint._src.jit.disk_cache.eviction import StoredFile, entries, evict
from imprint._src.jit.disk_cache.files import ReadError
from imprint._src.jit.disk_cache.remote import Remote
from imprint._src.jit.disk_cache.store import Store


def ls() -> int:
    """List what is there, what was used last first."""
    store = store_in_use()
    if store is None:
        return 1
    for found in sorted(entries(store.folder), key=lambda found: -found.used):
        told = _told(store, found)
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(found.used))
        print(f"{found.key.hex()[:12]}  {size_text(found.nbytes):>9}  {when}  {told}")
    return 0


def du() -> int:
    """Print how many bytes there are, and how many there may be."""
    store = store_in_use()
    if store is None:
        return 1
    sizes = [found.nbytes for found in entries(store.folder)]
    print(f"{len(sizes)} entries, {size_text(sum(sizes))} of {size_text(store.limit)}")
    return 0


def prune() -> int:
    """Delete what was not used for longest, until the rest fits, and what is left over."""
    store = store_in_use()
    if store is None:
        return 1
    count, nbytes = evict(store.folder, store.limit)
    print(f"deleted {count} files, {size_text(nbytes)}")
    return 0


def verify() -> int:
    """Read every entry whole, and delete those that are damaged.

    Those that were signed with another secret cannot be told from damaged ones, and stay.
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
    """Say whether the next process will find its programs, and if not, why."""
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
        print(f"remote: {wish.remote} ({_heard(wish.remote)})")
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


def _heard(url: str) -> str:
    """Return whether a place far away answers, and if not, why."""
    reasons: list[str] = []
    Remote(url, reasons.append).get("0" * 2 * KEY_BYTES)
    return reasons[0] if reasons else "answers"


ACTIONS: Final[dict[str, Callable[[], int]]] = {
    action.__name__: action for action in (ls, du, prune, verify, clear, doctor)
}


def store_in_use(wish: StoreConfig | None = None) -> Store | None:
    """Return the store that was asked for, to be changed; or say why there is none."""
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


def _told(store: Store, found: StoredFile) -> str:
    try:
        entry = store.look(found.path, whole=False)
    except (ReadError, OSError) as err:
        return f"not to be used: {err}"
    if entry is None:
        return "gone"
    note = entry.note
    if "kind" in note:
        return f"{note['kind']}: {note.get('name')}"
    return (
        f"{note.get('name')}, {note.get('equations')} equations, "
        f"{note.get('compile_seconds')} s to compile, {note.get('engine')}"
    )


def _engine(store: Store, found: StoredFile) -> str:
    with suppress(ReadError, OSError):
        entry = store.look(found.path, whole=False)
        return "" if entry is None else str(entry.note.get("engine", ""))
    return ""


def _tried(store: Store) -> int:
    """Put something there, read it, and delete it."""
    key, body = digest(b"doctor", os.urandom(16)), os.urandom(1 << 16)
    is_there = store.put(key, {"name": "doctor"}, body) and store.get(key) == body
    store.drop(key)
    print("writing and reading: " + ("well" if is_there else "failed"))
    return 0 if is_there else 1


def _decided(variable: str) -> str:
    return f"{variable} says so" if os.environ.get(variable) else "the default"


def size_text(nbytes: float) -> str:
    """Return a number of bytes as people read it."""
    for unit in ("B", "KiB", "MiB"):
        if nbytes < 1024:
            return f"{nbytes:.0f} {unit}" if unit == "B" else f"{nbytes:.1f} {unit}"
        nbytes /= 1024
    return f"{nbytes:.1f} GiB"

"""Eviction: least recently used entries go, and unfinished files."""

import os
import time

from imprint._src.jit.disk_cache.entry import digest
from imprint._src.jit.disk_cache.eviction import entries, evict, path_of
from imprint._src.jit.disk_cache.files import TEMPORARY
from imprint._src.jit.disk_cache.store import Store

KEYS = [digest(bytes([i])) for i in range(20)]


def filled(folder, *, limit=1 << 30):
    """Return a store with an entry of 1,000 bytes a key, used one a minute."""
    store = Store(folder, writes=True, limit=limit)
    for i, key in enumerate(KEYS):
        store.put(key, {}, bytes(1000))
        at = time.time() - 60 * (len(KEYS) - i)
        os.utime(path_of(folder, key), (at, at))
    return store


def kept(folder):
    return {found.key for found in entries(folder)}


def test_the_least_recently_used_go_first(tmp_path):
    store = filled(tmp_path)
    store.get(KEYS[0])  # used now
    each = next(entries(tmp_path)).nbytes
    assert evict(tmp_path, 5 * each) == (15, 15 * each)
    assert kept(tmp_path) == {KEYS[0], *KEYS[-4:]}


def test_a_store_that_is_only_read_notes_no_use(tmp_path):
    filled(tmp_path)
    Store(tmp_path, writes=False, limit=0).get(KEYS[0])
    each = next(entries(tmp_path)).nbytes
    evict(tmp_path, 5 * each)
    assert kept(tmp_path) == {*KEYS[-5:]}


def test_writing_keeps_to_the_limit(tmp_path):
    store = Store(tmp_path, writes=True, limit=20_000)
    for i in range(300):
        store.put(digest(b"many", bytes([i % 256, i // 256])), {}, bytes(1000))
    assert sum(found.nbytes for found in entries(tmp_path)) < 100_000


def test_strays_go_after_an_hour_and_so_do_those_of_the_future(tmp_path):
    shelf = path_of(tmp_path, KEYS[0]).parent
    shelf.mkdir()
    for name, age in {"new": 0, "old": 4000, "future": -4000}.items():
        stray = shelf / f"{TEMPORARY}{name}"
        stray.write_bytes(b"half")
        os.utime(stray, (time.time() - age,) * 2)
    evict(tmp_path, 1 << 30)
    assert [path.name for path in shelf.iterdir()] == [f"{TEMPORARY}new"]


def test_foreign_files_are_never_touched(tmp_path):
    mine = tmp_path / "photographs" / "summer.jpg"
    near = tmp_path / "ab" / "notes.txt"
    named_alike = mine.with_name("0" * 62)
    for path in (mine, named_alike, near):
        path.parent.mkdir(exist_ok=True)
        path.write_text("mine")
        os.utime(path, (0, 0))
    assert evict(tmp_path, 0) == (0, 0)
    assert all(path.exists() for path in (mine, named_alike, near))

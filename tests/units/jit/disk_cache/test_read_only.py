"""Read-only stores, for entries outside the store of the process."""

import os
import re

import pytest

import imprint
import imprint.numpy as inp
from imprint._src.cli import cache_commands
from imprint._src.jit.disk_cache.current import (
    StoreConfig,
    StoreOptions,
    configure,
    open_store,
    requested_options,
    store_config,
)
from imprint._src.jit.disk_cache.entry import digest
from imprint._src.jit.disk_cache.eviction import entries
from imprint._src.jit.disk_cache.store import Store
from imprint.errors import ArgumentError, StoreWarning

KEY, OTHER = digest(b"one"), digest(b"other")
LIMIT = 1 << 20


def filled(folder, **bodies):
    """Return a folder in which a store has put something."""
    folder.mkdir(mode=0o700, exist_ok=True)
    store = Store(folder, writes=True, limit=LIMIT)
    for name, body in bodies.items():
        assert store.put(digest(name.encode()), {}, body)
    return folder


def state_of(folder):
    """Return the state of the files in a folder, without access times."""
    found = [(x.path, x.path.read_bytes(), x.path.stat()) for x in entries(folder)]
    return [(path, body, at.st_mtime_ns, at.st_mode) for path, body, at in found]


def opened(folder, *shared, mode="write", key=None):
    return open_store(StoreConfig(folder, mode, LIMIT, key, shared))


def test_an_entry_outside_the_own_store_is_looked_up_in_the_others_in_order(
    tmp_path,
):
    own = filled(tmp_path / "own", one=b"own")
    first = filled(tmp_path / "first", one=b"first", other=b"first")
    second = filled(tmp_path / "second", other=b"second", third=b"second")
    store = opened(own, first, second)
    assert store.get(KEY) == b"own"
    assert store.get(OTHER) == b"first"
    assert store.get(digest(b"third")) == b"second"
    assert store.get(digest(b"nothing")) is None
    assert [*store.all_of(KEY)] == [b"own", b"first"]


def test_nothing_is_written_or_deleted_there(tmp_path):
    shared = filled(tmp_path / "shared", one=b"shared", other=b"damaged")
    damaged = next(x.path for x in entries(shared) if x.key == OTHER)
    damaged.write_bytes(damaged.read_bytes()[:-1])
    for found in entries(shared):
        os.utime(found.path, (1, 1))
    before = state_of(shared)
    store = opened(tmp_path / "own", shared)
    assert store.get(KEY) == b"shared"
    with pytest.warns(StoreWarning, match="It is left there"):
        assert store.get(OTHER) is None
    store.put(KEY, {}, b"own")
    store.drop(KEY)
    assert state_of(shared) == before
    assert store.get(KEY) == b"shared"


def test_one_that_is_missing_has_nothing(tmp_path):
    shared = filled(tmp_path / "shared", one=b"shared")
    assert opened(tmp_path / "own", tmp_path / "none", shared).get(KEY) == b"shared"
    assert not (tmp_path / "none").exists()


def test_one_that_others_can_write_into_is_left_out(tmp_path):
    theirs = filled(tmp_path / "theirs", one=b"theirs")
    shared = filled(tmp_path / "shared", one=b"shared")
    theirs.chmod(0o777)
    text = (
        "store: expected a shared folder that belongs to you or to root, and into which "
        f"nobody else can write, got {theirs}: others can write into it (mode 777). It is "
        "left out. Have its owner sign it by IMPRINT_CACHE_KEY, or take it out of "
        "IMPRINT_CACHE_SHARED."
    )
    with pytest.warns(StoreWarning, match=f"^{re.escape(text)}$"):
        store = opened(tmp_path / "own", theirs, shared)
    assert store.get(KEY) == b"shared"


def test_with_a_secret_it_may_be_anybodys_that_has_it(tmp_path):
    secret = tmp_path / "secret"
    secret.write_bytes(bytes(range(32)))
    secret.chmod(0o600)
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    assert opened(shared, key=secret).put(KEY, {}, b"signed")
    filled(shared, other=b"unsigned")
    store = opened(tmp_path / "own", shared, key=secret)
    assert store.get(KEY) == b"signed"
    assert store.get(OTHER) is None


def test_a_reader_needs_no_store_of_its_own(tmp_path):
    shared = filled(tmp_path / "shared", one=b"shared")
    store = opened(tmp_path / "own", shared, mode="read")
    assert store.get(KEY) == b"shared"
    assert not store.put(OTHER, {}, b"more")
    assert not (tmp_path / "own").exists()


# ---- configuration ----


@pytest.fixture
def wish():
    before = requested_options()
    yield
    configure(before)


def test_the_program_overrides_the_environment(tmp_path, monkeypatch, wish):
    monkeypatch.setenv("IMPRINT_CACHE_SHARED", f"{tmp_path / 'a'}{os.pathsep}~/b")
    configure(StoreOptions())
    assert store_config().shared == (tmp_path / "a", (tmp_path / "x").home() / "b")
    imprint.cache.configure(shared=[tmp_path / "c"])
    assert store_config().shared == (tmp_path / "c",)
    imprint.cache.configure(shared=[])
    assert store_config().shared == ()


@pytest.mark.parametrize("given", ["/a/folder", [1], 1])
def test_a_value_that_is_no_list_of_folders_raises(given, wish):
    remedy = given if isinstance(given, str) else "/path/to/it"
    with pytest.raises(ArgumentError) as caught:
        imprint.cache.configure(shared=given)
    assert str(caught.value) == (
        f"cache.configure: expected shared to be a list of folders, got {given!r}. "
        f"Write shared=[{remedy!r}]."
    )


# ---- programs ----

RATE = 2.0


def scaled(x):
    return inp.sin(x) * RATE


def calls(*, own, shared=()):
    """Call the function as a new process would; return compiles and loads."""
    configure(StoreOptions(own, "write", shared=shared))
    imprint.clear_caches()
    before = imprint.debug.counters()
    imprint.jit(scaled)(inp.ones(3))
    after = imprint.debug.counters()
    return (
        after.traces - before.traces,
        after.compiles - before.compiles,
        after.loads - before.loads,
    )


def test_a_process_starts_warm_from_it(tmp_path, wish):
    assert calls(own=tmp_path / "image") == (1, 1, 0)
    assert calls(own=tmp_path / "own", shared=(tmp_path / "image",)) == (0, 0, 1)
    assert not [*entries(tmp_path / "own")]


def test_a_trace_of_its_own_that_does_not_hold_hides_none(tmp_path, wish, monkeypatch):
    assert calls(own=tmp_path / "image") == (1, 1, 0)
    monkeypatch.setitem(globals(), "RATE", 3.0)
    assert calls(own=tmp_path / "own", shared=(tmp_path / "image",)) == (1, 1, 0)
    monkeypatch.setitem(globals(), "RATE", 2.0)
    assert calls(own=tmp_path / "own", shared=(tmp_path / "image",)) == (0, 0, 1)


def test_why_compares_with_the_nearest_entry(tmp_path, wish, monkeypatch):
    calls(own=tmp_path / "image")
    monkeypatch.setitem(globals(), "RATE", 3.0)
    configure(StoreOptions(tmp_path / "own", "write", shared=(tmp_path / "image",)))
    imprint.clear_caches()
    message = str(imprint.cache.why(imprint.jit(scaled), inp.ones(3)))
    assert "was 2.0, is 3.0" in message


def test_the_command_line_changes_the_own_store_alone(
    tmp_path, monkeypatch, capsys, wish
):
    shared = filled(tmp_path / "shared", one=b"shared")
    configure(StoreOptions(tmp_path / "own", "read", shared=(shared,)))
    before = state_of(shared)
    assert (
        cache_commands.clear() == cache_commands.prune() == cache_commands.verify() == 1
    )  # there is none
    assert cache_commands.doctor() == 1
    assert f"shared: {shared} (read only)" in capsys.readouterr().out
    assert state_of(shared) == before

"""A remote store by fsspec: read through, kept here, written in the background."""

import contextlib
import os
import re
import subprocess
import sys
import threading
import time

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem

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
from imprint._src.jit.disk_cache.remote import Remote
from imprint._src.jit.disk_cache.store import Store
from imprint.errors import ArgumentError, StoreWarning

KEY, OTHER = digest(b"one"), digest(b"other")
LIMIT = 1 << 20


@pytest.fixture
def secret(tmp_path):
    path = tmp_path / "secret"
    path.write_bytes(bytes(range(100, 132)))
    path.chmod(0o600)
    return path


@pytest.fixture
def url(tmp_path):
    yield f"memory://{tmp_path}"
    memory = fsspec.filesystem("memory")
    with contextlib.suppress(FileNotFoundError):
        memory.rm(str(tmp_path), recursive=True)


@pytest.fixture
def wish():
    before = requested_options()
    yield
    configure(before)


def machine(folder, url, secret, mode="write", shared=()):
    """Return the store of a machine with a folder of its own."""
    return open_store(StoreConfig(folder, mode, LIMIT, secret, shared, url))


def far_files(url):
    memory = fsspec.filesystem("memory")
    return memory.find(url.removeprefix("memory://"))


def until(condition):
    """Wait for the work of another thread."""
    for _ in range(1000):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError("it did not come")


def put(store, url, key, body):
    count = len(far_files(url))
    assert store.put(key, {}, body)
    until(lambda: len(far_files(url)) > count)


class Odd(MemoryFileSystem):
    """A file system with behaviour set by a test."""

    protocol = "odd"
    store, pseudo_dirs, cachable = {}, [""], False
    waits = threading.Event()
    error = None
    asked = 0

    def cat_file(self, path, start=None, end=None, **kwargs):
        type(self).asked += 1
        if self.error is not None:
            raise self.error
        self.waits.wait(60)
        raise FileNotFoundError(path)

    def pipe_file(self, path, value, mode="overwrite", **kwargs):
        raise self.error


@pytest.fixture
def odd(monkeypatch):
    fsspec.register_implementation("odd", Odd, clobber=True)
    monkeypatch.setattr(Odd, "waits", threading.Event())
    monkeypatch.setattr(Odd, "error", None)
    monkeypatch.setattr(Odd, "asked", 0)
    yield Odd
    Odd.waits.set()


# ---- lookup ----


def test_an_entry_of_one_machine_is_found_and_kept_by_another(tmp_path, url, secret):
    put(machine(tmp_path / "a", url, secret), url, KEY, b"body")
    other = machine(tmp_path / "b", url, secret)
    assert other.get(KEY) == b"body"
    assert other.get(OTHER) is None
    fsspec.filesystem("memory").rm(str(tmp_path), recursive=True)
    assert machine(tmp_path / "b", url, secret).get(KEY) == b"body"


def test_the_local_store_comes_first_and_stays(tmp_path, url, secret):
    put(machine(tmp_path / "a", url, secret), url, KEY, b"far")
    assert machine(tmp_path / "shared", "", secret).put(KEY, {}, b"shared")
    own = machine(tmp_path / "own", "", secret)
    assert own.put(KEY, {}, b"own")
    store = machine(tmp_path / "own", url, secret, shared=(tmp_path / "shared",))
    assert [*store.all_of(KEY)] == [b"own", b"shared", b"far"]
    assert own.get(KEY) == b"own"


def test_a_reader_writes_nowhere(tmp_path, url, secret):
    put(machine(tmp_path / "a", url, secret), url, KEY, b"body")
    store = machine(tmp_path / "none", url, secret, mode="read")
    assert store.get(KEY) == b"body"
    assert not store.put(OTHER, {}, b"more")
    assert not (tmp_path / "none").exists()
    assert len(far_files(url)) == 1


def test_a_missing_entry_is_requested_once(tmp_path, odd, secret):
    odd.waits.set()
    store = machine(tmp_path / "own", "odd://there", secret)
    assert [store.get(KEY) for _ in range(3)] == [None] * 3
    assert odd.asked == 1
    assert store.get(OTHER) is None
    assert odd.asked == 2


# ---- untrusted entries ----


def test_it_needs_a_secret(tmp_path, url):
    text = (
        f"store: expected a secret beside the remote store {url}, got none: what comes "
        "from elsewhere is only believed if it is signed. It is left out. Write 32 random "
        "bytes into a file that is yours alone, and name it in IMPRINT_CACHE_KEY."
    )
    with pytest.warns(StoreWarning, match=f"^{re.escape(text)}$"):
        store = machine(tmp_path / "own", url, None)
    assert store.put(KEY, {}, b"body")


def test_an_entry_under_another_secret_has_another_name(tmp_path, url, secret):
    theirs = tmp_path / "theirs"
    theirs.write_bytes(bytes(range(100, 140)))
    theirs.chmod(0o600)
    put(machine(tmp_path / "a", url, theirs), url, KEY, b"theirs")
    assert machine(tmp_path / "b", url, secret).get(KEY) is None


@pytest.mark.parametrize("where", [0, 20, 50, 90, -1])
def test_a_damaged_entry_is_a_miss_and_is_not_kept(tmp_path, url, secret, where):
    put(machine(tmp_path / "a", url, secret), url, KEY, b"body")
    memory = fsspec.filesystem("memory")
    (name,) = far_files(url)
    data = bytearray(memory.cat_file(name))
    data[where] ^= 1
    memory.pipe_file(name, bytes(data))
    store = machine(tmp_path / "b", url, secret)
    message = "It is left there, and what it was is compiled again"
    with pytest.warns(StoreWarning, match=message):
        assert store.get(KEY) is None
    assert not [*entries(tmp_path / "b")]


def test_an_entry_of_another_key_is_a_miss(tmp_path, url, secret):
    store = machine(tmp_path / "a", url, secret)
    put(store, url, KEY, b"body")
    put(store, url, OTHER, b"other")
    memory = fsspec.filesystem("memory")
    first, second = far_files(url)
    memory.pipe_file(first, memory.cat_file(second))
    memory.pipe_file(second, memory.cat_file(second)[:-1])
    store = machine(tmp_path / "b", url, secret)
    with pytest.warns(StoreWarning, match="expected memory:"):
        assert (store.get(KEY), store.get(OTHER)) == (None, None)


# ---- errors of the connection ----


def complaints():
    messages = []
    return messages, messages.append


def test_a_remote_that_times_out_is_not_used_again(odd):
    messages, complain = complaints()
    remote = Remote("odd://there", complain, patience=0.05)
    assert [remote.get("ab" * 32) for _ in range(3)] == [None] * 3
    assert odd.asked == 1
    assert messages == [
        "expected to read from odd://there, got TimeoutError('no answer in 0.05 s'). It "
        "is asked no more by this process."
    ]


def test_a_read_error_warns_once(tmp_path, odd, secret, monkeypatch):
    monkeypatch.setattr(odd, "error", PermissionError("no"))
    store = machine(tmp_path / "own", "odd://there", secret)
    text = (
        "store: expected to read from odd://there, got PermissionError('no'). It is asked "
        "no more by this process."
    )
    with pytest.warns(StoreWarning, match=f"^{re.escape(text)}$"):
        assert store.get(KEY) is None
    assert store.get(OTHER) is None
    assert odd.asked == 1


def test_a_write_error_warns_once_and_costs_nothing_here(tmp_path, odd):
    messages, complain = complaints()
    odd.error = PermissionError("no")
    remote = Remote("odd://there", complain)
    (tmp_path / "file").write_bytes(b"body")
    for name in ("ab" * 32, "cd" * 32):
        remote.put(name, tmp_path / "file")
    until(lambda: messages)
    remote.put("ef" * 32, tmp_path / "file")
    assert messages == [
        "expected to write to odd://there, got PermissionError('no'). What is compiled "
        "from here on is kept on this machine alone."
    ]


def test_it_creates_no_missing_folder(tmp_path):
    messages, complain = complaints()
    (tmp_path / "file").write_bytes(b"body")
    Remote((tmp_path / "far").as_uri(), complain).put("ab" * 32, tmp_path / "file")
    until(lambda: messages)
    assert "FileNotFoundError" in messages[0]
    assert not (tmp_path / "far").exists()


def test_an_entry_that_is_gone_before_the_upload_is_skipped(tmp_path, url):
    messages, complain = complaints()
    remote = Remote(url, complain)
    remote.put("ab" * 32, tmp_path / "gone")
    (tmp_path / "file").write_bytes(b"body")
    remote.put("cd" * 32, tmp_path / "file")
    until(lambda: far_files(url))
    assert not messages
    assert remote.get("cd" * 32) == b"body"


@pytest.mark.parametrize("url", ["nothing://there", "s3://bucket"])
def test_a_url_that_fsspec_does_not_know_is_reported(url, monkeypatch):
    monkeypatch.setitem(sys.modules, "s3fs", None)
    messages, complain = complaints()
    assert Remote(url, complain, patience=30).get("ab" * 32) is None
    assert len(messages) == 1
    assert f"expected to read from {url}, got " in messages[0]
    if url == "s3://bucket":
        assert "pip install 'imprint[remote]'" in messages[0]


def test_without_fsspec_the_text_names_the_package_to_install(
    tmp_path, url, secret, monkeypatch
):
    for name in ("fsspec", "fsspec.core"):
        monkeypatch.setitem(sys.modules, name, None)
    store = machine(tmp_path / "own", url, secret)
    with pytest.warns(StoreWarning, match=r"pip install 'imprint\[remote\]'"):
        assert store.get(KEY) is None
    messages, complain = complaints()
    Remote(url, complain).put("ab" * 32, secret)
    until(lambda: messages)
    assert messages[0].endswith(
        "Run: pip install 'imprint[remote]', and what fsspec names for its kind."
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_fork_writes_by_itself(tmp_path, secret):
    (tmp_path / "far").mkdir()
    code = f"""
import os, sys
from pathlib import Path
from imprint._src.jit.disk_cache.current import StoreConfig, open_store
folder = Path({str(tmp_path)!r})
store = open_store(StoreConfig(folder / "own", "write", {LIMIT}, Path({str(secret)!r}), (),
                       (folder / "far").as_uri()))
assert store.put({KEY!r}, {{}}, b"parent")
child = os.fork()
if not child:
    assert store.put({OTHER!r}, {{}}, b"child")
    sys.exit()
os.waitpid(child, 0)
"""
    subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], check=True, timeout=120
    )
    store = machine(tmp_path / "new", (tmp_path / "far").as_uri(), secret)
    assert (store.get(KEY), store.get(OTHER)) == (b"parent", b"child")


# ---- configuration ----


def test_the_program_overrides_the_environment(monkeypatch, wish):
    monkeypatch.setenv("IMPRINT_CACHE_REMOTE", "s3://bucket/a")
    configure(StoreOptions())
    assert store_config().remote == "s3://bucket/a"
    imprint.cache.configure(remote="gs://bucket/b")
    assert store_config().remote == "gs://bucket/b"
    imprint.cache.configure(remote="")
    assert store_config().remote == ""


@pytest.mark.parametrize("given", ["/a/folder", 1])
def test_a_text_that_is_no_url_raises(given, wish):
    with pytest.raises(ArgumentError) as caught:
        imprint.cache.configure(remote=given)
    assert str(caught.value) == (
        f"cache.configure: expected remote to be a URL, got {given!r}. Write "
        "remote='s3://bucket/folder', or name a folder in shared=[...]."
    )


# ---- programs ----

RATE = 2.0


def scaled(x):
    return inp.sin(x) * RATE


def calls(folder, url, secret):
    """Call the function as a new machine would; return compiles and loads."""
    configure(StoreOptions(folder, "write", key=secret, shared=(), remote=url))
    imprint.clear_caches()
    before = imprint.debug.counters()
    imprint.jit(scaled)(inp.ones(3))
    after = imprint.debug.counters()
    return (
        after.traces - before.traces,
        after.compiles - before.compiles,
        after.loads - before.loads,
    )


def test_a_machine_starts_warm_with_programs_of_another(
    tmp_path, url, secret, wish, monkeypatch
):
    assert calls(tmp_path / "a", url, secret) == (1, 1, 0)
    until(lambda: len(far_files(url)) == 2)
    assert calls(tmp_path / "b", url, secret) == (0, 0, 1)
    monkeypatch.setitem(globals(), "RATE", 3.0)
    assert calls(tmp_path / "c", url, secret) == (1, 1, 0)
    until(
        lambda: len(far_files(url)) == 3
    )  # and the dependencies of both, in one manifest
    until(lambda: _traces(url) == 2)
    monkeypatch.setitem(globals(), "RATE", 2.0)
    assert calls(tmp_path / "d", url, secret) == (0, 0, 1)


def _traces(url):
    memory = fsspec.filesystem("memory")
    return max(memory.cat_file(name).count(b'"reads"') for name in far_files(url))


def test_the_doctor_says_whether_it_answers(tmp_path, url, secret, wish, capsys, odd):
    Store(tmp_path, writes=True, limit=LIMIT)
    configure(StoreOptions(tmp_path / "own", "write", key=secret, remote=url))
    cache_commands.doctor()
    assert f"remote: {url} (answers)" in capsys.readouterr().out
    odd.error = OSError("no route")
    configure(StoreOptions(tmp_path / "own", "write", key=secret, remote="odd://there"))
    cache_commands.doctor()
    assert "remote: odd://there (expected to read from odd" in capsys.readouterr().out
    assert not far_files(url)

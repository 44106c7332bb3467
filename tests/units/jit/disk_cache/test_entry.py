"""Entries: a damaged file gives nothing, never other data."""

import os

import pytest

from imprint._src.jit.disk_cache.entry import digest, seal
from imprint._src.jit.disk_cache.eviction import path_of
from imprint._src.jit.disk_cache.store import Store
from imprint.errors import StoreWarning

KEY, OTHER = digest(b"one"), digest(b"two")
BODY = b"machine code"


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path, writes=True, limit=1 << 20)


@pytest.fixture
def path(store):
    """Give the file of an entry that was put into the store."""
    assert store.put(KEY, {"name": "f"}, BODY)
    return path_of(store.folder, KEY)


def refused(store, key=KEY):
    """Return whether nothing is found under a key, with one warning at most."""
    with pytest.warns(StoreWarning):
        found = Store(store.folder, writes=True, limit=1 << 20).get(key)
    return found is None


def test_parts_of_a_key_do_not_run_together():
    assert digest(b"ab", b"c") != digest(b"a", b"bc")


def test_an_entry_is_found_by_another_store(store, path):
    assert Store(store.folder, writes=False, limit=0).get(KEY) == BODY
    assert store.get(OTHER) is None


def test_the_file_is_single_and_private(store, path):
    assert [p for p in store.folder.rglob("*") if p.is_file()] == [
        path,
        *store.folder.glob("lock"),
    ]
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o077 == 0


def test_no_flipped_bit_is_believed(store, path):
    whole = path.read_bytes()
    for at in range(len(whole)):
        data = bytearray(whole)
        data[at] ^= 1 << at % 8
        path.write_bytes(data)
        assert refused(store)
        assert not path.exists()  # damaged entries go
        path.touch(0o600)
    path.write_bytes(whole)
    assert store.get(KEY) == BODY


def test_no_part_of_a_file_is_believed(store, path):
    whole = path.read_bytes()
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        path.chmod(0o600)
        assert refused(store)
    path.write_bytes(whole + b"x")
    path.chmod(0o600)
    assert refused(store)


def test_an_entry_of_another_key_is_not_believed(store, path):
    store.put(OTHER, {}, b"other code")
    other = path_of(store.folder, OTHER)
    path.rename(store.folder / "aside")
    other.rename(path)
    (store.folder / "aside").rename(other)
    assert refused(store, KEY)
    assert refused(store, OTHER)


def test_a_length_beyond_the_file_reads_nothing(store, path):
    data = bytearray(path.read_bytes())
    data[12:20] = (1 << 62).to_bytes(8, "big")  # the length of the body
    path.write_bytes(data)
    assert refused(store)


def test_a_damaged_entry_of_a_read_only_store_stays(store, path):
    path.write_bytes(b"damaged")
    reader = Store(store.folder, writes=False, limit=0)
    with pytest.warns(StoreWarning) as caught:
        assert [reader.get(KEY) for _ in range(2)] == [None, None]
    assert path.exists()
    assert [str(w.message) for w in caught] == [
        f"store: expected {path} to be one, but it is no entry of a store. It is left "
        "there."
    ]


# ---- foreign files ----


@pytest.mark.parametrize("mode", [0o620, 0o602])
def test_a_file_that_others_can_write_is_not_trusted(store, path, mode):
    path.chmod(mode)
    assert refused(store)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_file_of_another_user_is_not_trusted(store, path):
    os.chown(path, 12345, -1)
    assert refused(store)


def test_a_link_is_not_followed(store, path, tmp_path):
    path.rename(tmp_path / "aside")
    path.symlink_to(tmp_path / "aside")
    assert refused(store)


def test_a_pipe_is_not_waited_for(store, path):
    path.unlink()
    os.mkfifo(path)
    with pytest.warns(StoreWarning, match="it is no plain file"):
        assert store.get(KEY) is None


def test_a_directory_is_no_entry(store, path):
    path.unlink()
    path.mkdir()
    assert refused(store)


def test_a_file_where_a_directory_should_be_is_a_miss(store, caplog):
    path_of(store.folder, KEY).parent.write_text("")
    assert store.get(KEY) is None
    assert not caplog.text
    with pytest.warns(StoreWarning, match="expected to write into"):
        assert not store.put(KEY, {}, BODY)


# ---- writing ----


def test_a_failed_write_is_skipped_and_warns_once(store, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("imprint._src.jit.disk_cache.files.os.fdopen", full)
    with pytest.warns(StoreWarning) as caught:
        assert [store.put(key, {}, BODY) for key in (KEY, OTHER)] == [False, False]
    assert len(caught) == 1
    assert str(caught[0].message) == (
        f"store: expected to write into {store.folder}, got OSError(28, 'No space left on "
        "device'). What is compiled from here on is not kept. Make room, or the folder "
        "writable, or set IMPRINT_CACHE=read."
    )
    assert not [p for p in store.folder.rglob("*") if p.is_file()]


def test_where_warnings_are_errors_the_trouble_is_logged(path, store, caplog):
    path.write_bytes(b"damaged")
    assert store.get(KEY) is None  # warnings are errors in these tests
    assert "to be one, but it is no entry of a store" in caplog.text


def test_an_entry_bigger_than_the_store_is_not_put(tmp_path):
    small = Store(tmp_path, writes=True, limit=4)
    assert not small.put(KEY, {}, BODY)


def test_a_seal_covers_the_note_too(store, path):
    head, note, body, _ = seal(KEY, {"name": "f"}, BODY)
    path.write_bytes(head + note.replace(b"f", b"g") + body)
    assert refused(store)

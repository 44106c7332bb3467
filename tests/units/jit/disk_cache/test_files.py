"""Folders of stores: trusted ones, and calls with others."""

import os
from pathlib import Path

import pytest

import imprint
from imprint._src.jit.disk_cache import current
from imprint._src.jit.disk_cache.current import (
    StoreOptions,
    configure,
    requested_options,
)
from imprint._src.jit.disk_cache.files import ReadError, default_folder, trusted_folder
from imprint.errors import ArgumentError, StoreWarning

AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")


@pytest.fixture
def use():
    """Give a function that uses a folder and returns the warnings."""
    before = requested_options()

    def use_folder(folder, mode="write"):
        configure(StoreOptions(folder, mode))
        with pytest.warns(StoreWarning) as caught:
            assert current.current() is None
        return [str(w.message) for w in caught]

    yield use_folder
    configure(before)


def test_a_folder_is_made_for_the_user_alone(tmp_path):
    folder = trusted_folder(tmp_path / "a" / "b", create=True)
    assert folder == tmp_path / "a" / "b"
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_folder_that_is_only_read_is_not_made(tmp_path):
    assert trusted_folder(tmp_path / "a", create=False) is None


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777, 0o1777])
def test_a_folder_that_others_can_write_into_is_refused(tmp_path, use, mode):
    tmp_path.chmod(mode)
    assert use(tmp_path) == [
        f"store: expected a folder that is yours alone, got {tmp_path}: others can write "
        f"into it (mode {mode:o}). Give another by IMPRINT_CACHE_DIR, `chmod go-w` this one, "
        "or sign what is in it by IMPRINT_CACHE_KEY. The store is off."
    ]


def test_a_folder_that_others_can_replace_is_refused(tmp_path):
    (tmp_path / "store").mkdir(0o700)
    tmp_path.chmod(0o777)
    with pytest.raises(ReadError, match="everybody can write into"):
        trusted_folder(tmp_path / "store", create=True)
    tmp_path.chmod(0o1777)  # sticky as /tmp: no user replaces files of another
    assert trusted_folder(tmp_path / "store", create=True)


def test_a_link_of_the_same_user_is_followed(tmp_path):
    (tmp_path / "real").mkdir(0o700)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert trusted_folder(tmp_path / "link", create=True) == tmp_path / "real"


def test_a_link_to_a_folder_that_others_can_write_is_refused(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "real").chmod(0o777)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with pytest.raises(ReadError, match="others can write into it"):
        trusted_folder(tmp_path / "link", create=True)


def test_a_link_to_a_folder_that_others_can_replace_is_refused(tmp_path):
    (tmp_path / "open" / "real").mkdir(0o700, parents=True)
    (tmp_path / "open").chmod(0o777)
    (tmp_path / "link").symlink_to(tmp_path / "open" / "real")
    with pytest.raises(ReadError, match="everybody can write into"):
        trusted_folder(tmp_path / "link", create=True)


@AS_ROOT
def test_a_folder_or_a_link_of_another_user_is_refused(tmp_path):
    (tmp_path / "real").mkdir(0o700)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    os.chown(tmp_path / "link", 12345, -1, follow_symlinks=False)
    with pytest.raises(ReadError, match="it is a link of another user's"):
        trusted_folder(tmp_path / "link", create=True)
    os.chown(tmp_path / "real", 12345, -1)
    with pytest.raises(ReadError, match="it belongs to another user"):
        trusted_folder(tmp_path / "real", create=True)


def test_a_file_is_no_folder(tmp_path, use):
    (tmp_path / "file").write_text("")
    (caught,) = use(tmp_path / "file")
    assert "it is no directory" in caught
    (caught,) = use(tmp_path / "file" / "below")
    assert "expected a folder at" in caught


def test_the_default_is_the_cache_directory_of_the_user(monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "/var/caches")
    assert default_folder() == Path("/var/caches/imprint")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")  # which the standard forbids
    monkeypatch.setenv("HOME", "/users/me")
    assert default_folder() == Path("/users/me/.cache/imprint")


def test_a_wrong_word_in_the_environment_warns(use, monkeypatch):
    monkeypatch.setenv("IMPRINT_CACHE", "yes")
    assert use(None, None) == [
        "store: expected IMPRINT_CACHE to be one of off, read, write, got 'yes'. The "
        "store is off."
    ]


def test_configure_overrides_the_environment_and_keeps_other_settings(
    tmp_path, monkeypatch
):
    before = requested_options()
    monkeypatch.setenv("IMPRINT_CACHE_DIR", str(tmp_path / "env"))
    monkeypatch.setenv("IMPRINT_CACHE", "write")
    try:
        configure(StoreOptions())
        assert current.current().folder == tmp_path / "env"
        imprint.cache.configure(directory=tmp_path / "mine", limit=5)
        assert current.current().folder == tmp_path / "mine"
        imprint.cache.configure(mode="read")
        assert not current.current().writes
        assert current.current().limit == 5
        imprint.cache.configure(mode="off")
        assert current.current() is None
        monkeypatch.setenv("IMPRINT_CACHE_KEY", str(tmp_path / "env"))
        assert current.store_config().key == tmp_path / "env"
        imprint.cache.configure(key=tmp_path / "mine")
        assert current.store_config().key == tmp_path / "mine"
    finally:
        configure(before)


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        (
            {"mode": "wirte"},
            "cache.configure: expected mode to be one of 'off', 'read', 'write', got "
            "'wirte'. Did you mean 'write'?",
        ),
        (
            {"limit": True},
            "cache.configure: expected limit to be an integer from 0 on, got True. Write "
            "limit=2 << 30 for 2 GiB.",
        ),
        (
            {"directory": 3},
            "cache.configure: expected directory to be a path, got 3. Write "
            "directory='/path/to/it'.",
        ),
    ],
)
def test_wrong_settings_raise(asked, text):
    with pytest.raises(ArgumentError) as raised:
        imprint.cache.configure(**asked)
    assert str(raised.value) == text

"""A folder that is shared with others: entries are believed for their signature."""

import os

import pytest

from imprint.errors import StoreWarning
from imprint.store.current import Asked, store_of
from imprint.store.entry import digest, sealed
from imprint.store.files import ReadError
from imprint.store.store import Store
from imprint.store.sweep import entries

KEY, BODY = digest(b"one"), b"machine code"
AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")


@pytest.fixture
def secret(tmp_path):
    path = tmp_path / "secret"
    path.write_bytes(bytes(range(32)))
    path.chmod(0o600)
    return path


@pytest.fixture
def folder(tmp_path):
    """Give a folder into which everybody can write."""
    (tmp_path / "team").mkdir()
    (tmp_path / "team").chmod(0o777)
    return tmp_path / "team"


def opened(folder, secret):
    return store_of(Asked(folder, "write", 1 << 20, secret))


def file_in(folder):
    (found,) = entries(folder)
    return found.path


def test_who_has_the_secret_finds_what_another_put(folder, secret):
    assert opened(folder, secret).put(KEY, {}, BODY)
    assert opened(folder, secret).get(KEY) == BODY


def test_who_has_another_secret_or_none_finds_and_deletes_nothing(folder, tmp_path):
    mine = Store(folder, writes=True, limit=1 << 20, secret=b"mine")
    mine.put(KEY, {}, BODY)
    for others in (b"another", b""):
        other = Store(folder, writes=True, limit=1 << 20, secret=others)
        assert other.get(KEY) is None
        other.put(KEY, {}, b"of another")
        assert other.get(KEY) == b"of another"
    assert mine.get(KEY) == BODY


@pytest.mark.parametrize("forger", [b"", b"another"])
def test_what_was_forged_is_not_believed(folder, secret, forger):
    store = opened(folder, secret)
    store.put(KEY, {}, BODY)
    path = file_in(folder)
    own = bytes.fromhex(path.parent.name + path.name)
    path.write_bytes(b"".join(sealed(own, {}, b"code of a stranger", forger)))
    with pytest.warns(StoreWarning, match="made with another secret"):
        assert store.get(KEY) is None
    assert not path.exists()


def test_no_flipped_bit_is_believed(folder, secret):
    opened(folder, secret).put(KEY, {}, BODY)
    path = file_in(folder)
    whole = path.read_bytes()
    for at in range(len(whole)):
        data = bytearray(whole)
        data[at] ^= 1 << at % 8
        path.write_bytes(data)
        with pytest.warns(StoreWarning):
            assert opened(folder, secret).get(KEY) is None


@AS_ROOT
def test_the_file_may_belong_to_another_user(folder, secret):
    opened(folder, secret).put(KEY, {}, BODY)
    os.chown(file_in(folder), 12345, -1)
    os.chown(folder, 12345, -1)
    assert opened(folder, secret).get(KEY) == BODY


def test_others_may_read_what_is_put_as_the_umask_says(folder, secret):
    before = os.umask(0o002)
    try:
        opened(folder, secret).put(KEY, {}, BODY)
    finally:
        os.umask(before)
    path = file_in(folder)
    assert path.stat().st_mode & 0o777 == 0o664
    assert path.parent.stat().st_mode & 0o777 == 0o775


def spoil_mode(path):
    path.chmod(0o640)
    return "others can read it (mode 640)"


def spoil_length(path):
    path.write_bytes(b"short" + b" " * 40)
    return "it has fewer than 32 bytes"


def spoil_place(path):
    path.unlink()
    return "it is not there"


def spoil_kind(path):
    path.rename(path.with_name("real"))
    path.symlink_to(path.with_name("real"))
    return "it is a link"


def spoil_owner(path):
    os.chown(path, 12345, -1)
    return "it belongs to another user (uid 12345)"


@pytest.mark.parametrize(
    "spoil",
    [
        *(spoil_mode, spoil_length, spoil_place, spoil_kind),
        pytest.param(spoil_owner, marks=AS_ROOT),
    ],
)
def test_a_secret_that_is_none_turns_the_store_off(folder, secret, spoil):
    reason = spoil(secret)
    with pytest.raises(ReadError) as raised:
        opened(folder, secret)
    assert str(raised.value) == (
        f"expected a secret that is yours alone in {secret}, got: {reason}. Write random "
        "bytes there, `chmod 600` it, or unset IMPRINT_CACHE_KEY."
    )

"""A folder shared with others: entries are trusted for their signature."""

import os
import sys
import time

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from imprint._src.jit.disk_cache.current import StoreConfig, open_store
from imprint._src.jit.disk_cache.entry import Signer, digest, read_signer, seal
from imprint._src.jit.disk_cache.eviction import entries
from imprint._src.jit.disk_cache.files import ReadError
from imprint._src.jit.disk_cache.store import Store
from imprint.errors import StoreWarning

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
    """Give a world-writable folder."""
    (tmp_path / "team").mkdir()
    (tmp_path / "team").chmod(0o777)
    return tmp_path / "team"


def opened(folder, secret, *shared, remote=""):
    return open_store(StoreConfig(folder, "write", 1 << 20, secret, shared, remote))


def file_in(folder):
    (found,) = entries(folder)
    return found.path


def test_an_entry_is_found_with_the_same_secret(folder, secret):
    assert opened(folder, secret).put(KEY, {}, BODY)
    assert opened(folder, secret).get(KEY) == BODY


def test_without_the_secret_nothing_is_found_or_deleted(folder, tmp_path):
    mine = Store(folder, writes=True, limit=1 << 20, signer=Signer(b"mine"))
    mine.put(KEY, {}, BODY)
    for others in (b"another", b""):
        other = Store(folder, writes=True, limit=1 << 20, signer=Signer(others))
        assert other.get(KEY) is None
        other.put(KEY, {}, b"of another")
        assert other.get(KEY) == b"of another"
    assert mine.get(KEY) == BODY


@pytest.mark.parametrize("forger", [b"", b"another"])
def test_a_forged_entry_is_not_trusted(folder, secret, forger):
    store = opened(folder, secret)
    store.put(KEY, {}, BODY)
    path = file_in(folder)
    own = bytes.fromhex(path.parent.name + path.name)
    path.write_bytes(b"".join(seal(own, {}, b"code of a stranger", Signer(forger))))
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


def test_entries_are_readable_by_others_as_the_umask_says(folder, secret):
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
        f"expected a secret or a key in {secret}, got: {reason}. Write 32 random bytes or "
        "an Ed25519 key in PEM there, `chmod 600` it, or unset IMPRINT_CACHE_KEY."
    )


# ---- a pair of keys ----


def pair(folder, name="release"):
    """Write a private and a public key; return their files."""
    private = Ed25519PrivateKey.generate()
    whole = private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    public = private.public_key().public_bytes(
        Encoding.PEM, PublicFormat.SubjectPublicKeyInfo
    )
    files = folder / f"{name}.key", folder / f"{name}.pub"
    for path, data, mode in zip(files, (whole, public), (0o600, 0o644), strict=True):
        path.write_bytes(data)
        path.chmod(mode)
    return files


def test_the_public_key_reads_entries_signed_by_the_private_one(folder, tmp_path):
    private, public = pair(tmp_path)
    assert opened(folder, private).put(KEY, {}, BODY)
    assert opened(folder, private).get(KEY) == BODY
    assert opened(tmp_path / "own", public, folder).get(KEY) == BODY


def test_with_only_the_public_key_new_entries_are_unsigned_and_private(
    folder, tmp_path
):
    _, public = pair(tmp_path)
    own = tmp_path / "own"
    store = opened(own, public, folder)
    assert store.put(KEY, {}, BODY)
    assert not [*entries(folder)]
    assert opened(own, None).get(KEY) == BODY
    own.chmod(0o777)  # then nothing proves its content
    with pytest.raises(ReadError, match="expected a folder that is yours alone"):
        opened(own, public, folder)


def test_far_away_too(tmp_path):
    private, public = pair(tmp_path)
    far = tmp_path / "far"
    far.mkdir()
    build = opened(tmp_path / "build", private, remote=far.as_uri())
    assert build.put(KEY, {"name": "f"}, BODY)
    for _ in range(1000):
        if [*entries(far)]:
            break
        time.sleep(0.01)
    user = opened(tmp_path / "user", public, remote=far.as_uri())
    assert user.get(KEY) == BODY
    assert opened(tmp_path / "user", None).get(KEY) == BODY  # kept, as its own
    assert user.put(digest(b"more"), {}, BODY)
    time.sleep(0.05)
    assert len([*entries(far)]) == 1


def test_an_entry_signed_by_another_key_is_not_trusted(folder, tmp_path):
    private, public = pair(tmp_path)
    other, _ = pair(tmp_path, "other")
    assert opened(folder, private).put(KEY, {}, BODY)
    path = file_in(folder)
    own = bytes.fromhex(path.parent.name + path.name)
    forged = b"code of a stranger"
    for proof, reason in (
        (read_signer(other), "another key signed it"),
        (Signer(), "its length is another than it says"),
        (Signer(bytes(32)), "its length is another than it says"),
    ):
        path.write_bytes(b"".join(seal(own, {}, forged, proof)))
        with pytest.warns(StoreWarning, match=reason):
            assert opened(tmp_path / "own", public, folder).get(KEY) is None
    assert opened(folder, other).get(KEY) is None  # it has another name


def test_no_flipped_bit_is_believed_that_a_key_signed(folder, tmp_path):
    private, public = pair(tmp_path)
    opened(folder, private).put(KEY, {}, BODY)
    path = file_in(folder)
    whole = path.read_bytes()
    for at in range(len(whole)):
        data = bytearray(whole)
        data[at] ^= 1 << at % 8
        path.write_bytes(data)
        with pytest.warns(StoreWarning):
            assert opened(tmp_path / "own", public, folder).get(KEY) is None


def test_signed_and_unsigned_entries_of_one_folder_do_not_mix(tmp_path):
    private, _ = pair(tmp_path)
    own = tmp_path / "own"
    assert opened(own, private).put(KEY, {}, BODY)
    assert opened(own, None).put(KEY, {}, b"unsigned")
    assert opened(own, private).get(KEY) == BODY
    assert opened(own, None).get(KEY) == b"unsigned"


def other_kind(path):
    path.write_bytes(
        X25519PrivateKey.generate().private_bytes(
            Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()
        )
    )
    return "it is a key of another kind than Ed25519"


def locked(path):
    path.write_bytes(
        Ed25519PrivateKey.generate().private_bytes(
            Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"word")
        )
    )
    return "it is no key that can be read: "


def broken(path):
    path.write_bytes(path.read_bytes()[:60])
    return "it is no key that can be read: "


def readable(path):
    path.chmod(0o644)
    return "others can read it (mode 644)"


@pytest.mark.parametrize("spoil", [other_kind, locked, broken, readable])
def test_a_key_that_is_none_turns_the_store_off(folder, tmp_path, spoil):
    private, _ = pair(tmp_path)
    reason = spoil(private)
    with pytest.raises(ReadError) as raised:
        opened(folder, private)
    assert f"expected a secret or a key in {private}, got: {reason}" in str(
        raised.value
    )


def test_a_public_key_into_which_others_can_write_is_refused(folder, tmp_path):
    _, public = pair(tmp_path)
    public.chmod(0o666)
    with pytest.raises(ReadError, match="others can write into it"):
        opened(folder, public)


def test_without_cryptography_the_text_names_the_package_to_install(
    folder, tmp_path, monkeypatch
):
    private, _ = pair(tmp_path)
    for name in [n for n in sys.modules if n.startswith("cryptography")]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ReadError, match=r"pip install 'imprint\[signed\]'"):
        opened(folder, private)

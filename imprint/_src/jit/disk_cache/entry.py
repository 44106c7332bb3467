"""Entries: files that prove that they are whole, and which key they belong to.

An entry is a head, a note and a body. The head has a magic word with the version of the
format, the lengths of the two, the key, and a digest of the rest, so flipped bits and
truncated or renamed files are found. The note says in JSON what the entry is.
Where others can write, entries are signed. With a secret, names and digests can be made
only by its holders. With a pair of Ed25519 keys, the holder of the private key signs the
head, and holders of the public key verify: the machines of users then read the entries of
a build machine, and can forge none. Without either, the digest finds damage, not malice.
"""

import json
import os
import stat
import struct
from _blake2 import blake2b  # hashlib loads OpenSSL too: 2.5 ms of each import
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Final, NamedTuple, final

from imprint._src.jit.disk_cache.files import OpenFile, ReadError, open_file

# ---- signatures ----

DIGEST_BYTES: Final = 32
SIGNATURE_BYTES: Final = 64


def digest(*parts: bytes, secret: bytes = b"") -> bytes:
    """Return the 32-byte digest of parts, each with its length, and a secret."""
    made = blake2b(digest_size=DIGEST_BYTES, key=secret)
    for part in parts:
        made.update(len(part).to_bytes(8, "big"))
        made.update(part)
    return made.digest()


@final
class Signer:
    """A secret, a private key, a public key, or nothing.

    Args:
        secret: the key of digests.
        private: a private key of the package cryptography.
        public: the public key that belongs to it.
    """

    def __init__(
        self, secret: bytes = b"", private: Any = None, public: Any = None
    ) -> None:
        self._secret: Final = secret
        self._name_secret: Final = (
            secret if public is None else public.public_bytes_raw()
        )
        self._private: Final = private
        self._public: Final = public
        self.is_signed: Final = bool(secret or public)
        """Whether entries are signed, so that their folder may belong to anyone."""
        self.has_keys: Final = public is not None
        self.can_sign: Final = public is None or private is not None
        """Whether it can sign, not only verify."""
        self.name: Final = (
            digest(b"signer", secret=self._name_secret).hex()[:16]
            if self._name_secret
            else ""
        )
        """The name of the signer in a note; "" if there is none."""

    def name_of(self, key: bytes) -> bytes:
        """Return the name of the entry of a key, which each signer has for itself."""
        return digest(key, secret=self._name_secret) if self._name_secret else key

    def digest(self, *parts: bytes) -> bytes:
        """Return the digest of the parts of an entry."""
        return digest(*parts, secret=self._secret)

    def signature(self, head: bytes) -> bytes:
        """Return a signature of the head of an entry, which has the digest of the rest."""
        return b"" if self._private is None else self._private.sign(head)

    def verifies(self, head: bytes, signature: bytes) -> bool:
        """Return whether a signature is valid, or none is needed."""
        if self._public is None:
            return True
        try:
            self._public.verify(signature, head)
        except Exception:  # any error of the library
            return False
        return True


NO_SIGNER: Final = Signer()


def read_signer(path: Path) -> Signer:
    """Return the signer of a file: an Ed25519 key in PEM, or else a secret.

    Raises:
        ReadError: others can write it or, except for a public key, read it; it is too
            short, or no such key; or the package cryptography is not installed.
        OSError: it cannot be read.
    """
    with open_file(path) as file:
        if file is None:
            raise ReadError("it is not there")
        mode = os.fstat(file.file.fileno()).st_mode
        given = file.read(1 << 16)
    is_public = given.startswith(b"-----BEGIN PUBLIC KEY-----")
    if os.name != "nt" and mode & (stat.S_IRWXG | stat.S_IRWXO) and not is_public:
        raise ReadError(f"others can read it (mode {stat.S_IMODE(mode):o})")
    if is_public or given.startswith(b"-----BEGIN "):
        return _keys_in(given, is_public=is_public)
    if len(given.strip()) < _SECRET_BYTES:
        raise ReadError(f"it has fewer than {_SECRET_BYTES} bytes")
    return Signer(blake2b(given).digest())


_SECRET_BYTES: Final = 32


def _keys_in(given: bytes, *, is_public: bool) -> Signer:
    try:
        ed25519: Any = import_module(
            "cryptography.hazmat.primitives.asymmetric.ed25519"
        )
        load: Any = import_module("cryptography.hazmat.primitives.serialization")
    except ImportError:
        raise ReadError(
            "it is a key, and the package cryptography is not there: pip install "
            "'imprint[signed]'"
        ) from None
    try:
        if is_public:
            private, public = None, load.load_pem_public_key(given)
        else:
            private = load.load_pem_private_key(given, None)
            public = private.public_key()
    except Exception as err:  # the library has many classes of errors
        raise ReadError(f"it is no key that can be read: {err}") from None
    if not isinstance(public, ed25519.Ed25519PublicKey):
        raise ReadError("it is a key of another kind than Ed25519")
    return Signer(b"", private, public)


# ---- entries ----

Note = Mapping[str, Any]
"""The description of an entry, in plain values."""


class Entry(NamedTuple):
    """The fields of an entry; the body is None if only the head was read."""

    key: bytes
    note: Note
    body: bytes | None
    nbytes: int
    used: float


KEY_BYTES: Final = DIGEST_BYTES
_MAGIC: Final = b"imprint1"
_HEAD: Final = struct.Struct(f">8sIQ{KEY_BYTES}s{DIGEST_BYTES}s")


def seal(
    key: bytes, note: Note, body: bytes, signer: Signer = NO_SIGNER
) -> tuple[bytes, ...]:
    """Return the parts of the file of an entry."""
    text = json.dumps(dict(note)).encode()
    seal = signer.digest(key, text, body)
    head = _HEAD.pack(_MAGIC, len(text), len(body), key, seal)
    return head, text, body, signer.signature(head)


def unseal(
    file: OpenFile, key: bytes, signer: Signer = NO_SIGNER, *, whole: bool = True
) -> Entry:
    """Return the entry in an open file.

    Args:
        file: the file.
        key: its key.
        signer: verifies it.
        whole: whether the body is read and the digest checked.

    Raises:
        ReadError: it is no entry, not whole, or has another key.
    """
    head = file.read(_HEAD.size)
    if len(head) < _HEAD.size or not head.startswith(_MAGIC):
        raise ReadError("it is no entry of a store")
    _, note_bytes, body_bytes, own, seal = _HEAD.unpack(head)
    rest = file.nbytes - _HEAD.size - note_bytes - body_bytes
    if rest != (SIGNATURE_BYTES if signer.has_keys else 0):
        raise ReadError("its length is another than it says")
    if own != key:
        raise ReadError("it is the entry of another key")
    text = file.read(note_bytes)
    body = file.read(body_bytes) if whole else None
    if body is not None and signer.digest(own, text, body) != seal:
        also = ", or was made with another secret" if signer.is_signed else ""
        raise ReadError(f"it is damaged{also}: its digest is another than it says")
    if body is not None and not signer.verifies(head, file.read(rest)):
        raise ReadError("another key signed it than the one that it is checked with")
    try:
        note = json.loads(text)
    except ValueError:
        raise ReadError("it is damaged: its note cannot be read") from None
    return Entry(own, note, body, file.nbytes, file.used)

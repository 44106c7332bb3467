"""Proofs: how an entry shows who made it, where others can write.

With a secret, entries have names and digests that only who has it can make. With a pair
of Ed25519 keys, who has the private one signs, and who has the public one checks: the
machines of users then read what a build machine made, and can forge nothing. Where there
is neither, the folder must be the user's alone, and a digest finds damage.
"""

import os
import stat
from _blake2 import blake2b  # hashlib loads OpenSSL too: 2.5 ms of each import
from importlib import import_module
from pathlib import Path
from typing import Any, Final, final

from imprint._src.jit.disk_cache.files import ReadError, opened

DIGEST_BYTES: Final = 32
SIGNATURE_BYTES: Final = 64


def digest(*parts: bytes, secret: bytes = b"") -> bytes:
    """Return 32 bytes that stand for the parts, each with its length, and the secret."""
    made = blake2b(digest_size=DIGEST_BYTES, key=secret)
    for part in parts:
        made.update(len(part).to_bytes(8, "big"))
        made.update(part)
    return made.digest()


@final
class Proof:
    """A secret, a private key, a public key, or nothing.

    Args:
        secret: what digests are made with.
        private: a private key of the package cryptography.
        public: the public key that belongs to it.
    """

    def __init__(
        self, secret: bytes = b"", private: Any = None, public: Any = None
    ) -> None:
        self._secret: Final = secret
        self._namer: Final = secret if public is None else public.public_bytes_raw()
        self._private: Final = private
        self._public: Final = public
        self.is_given: Final = bool(secret or public)
        """Whether entries prove themselves, so that their folder may be anybody's."""
        self.has_keys: Final = public is not None
        self.makes: Final = public is None or private is not None
        """Whether entries can be made with it, not only checked."""
        self.signer: Final = (
            digest(b"signer", secret=self._namer).hex()[:16] if self._namer else ""
        )
        """What tells who signed, in a note; "" where nobody does."""

    def named(self, key: bytes) -> bytes:
        """Return the key under which an entry is: another for each who signs."""
        return digest(key, secret=self._namer) if self._namer else key

    def digest(self, *parts: bytes) -> bytes:
        """Return what stands for the parts of an entry."""
        return digest(*parts, secret=self._secret)

    def signature(self, head: bytes) -> bytes:
        """Return a signature of the head of an entry, which has the digest of the rest."""
        return b"" if self._private is None else self._private.sign(head)

    def holds(self, head: bytes, signature: bytes) -> bool:
        """Tell whether a signature is right, or none is asked for."""
        if self._public is None:
            return True
        try:
            self._public.verify(signature, head)
        except Exception:  # whatever the library says of what is no signature
            return False
        return True


NO_PROOF: Final = Proof()


def proof_in(path: Path) -> Proof:
    """Return what a file has: an Ed25519 key in PEM, or else a secret.

    Raises:
        ReadError: others can write into it or, but for a public key, read it; it is too
            short, or no such key; or the package cryptography is not there.
        OSError: the system does not give it.
    """
    with opened(path) as file:
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
    return Proof(blake2b(given).digest())


_SECRET_BYTES: Final = 32


def _keys_in(given: bytes, *, is_public: bool) -> Proof:
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
    except Exception as err:  # as many kinds as there are ways to be no key
        raise ReadError(f"it is no key that can be read: {err}") from None
    if not isinstance(public, ed25519.Ed25519PublicKey):
        raise ReadError("it is a key of another kind than Ed25519")
    return Proof(b"", private, public)

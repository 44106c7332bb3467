"""One entry: a file that proves itself whole, and to be what was asked for.

It is a head, a note and a body. The head has a magic word with the version of the format,
the lengths of the two, the key, and a digest of all the rest; so a flipped bit, a short or
a renamed file are found. The note says in JSON what the entry is, for people who look into
a store. The digest alone finds damage, not malice: who may write into the store is a
question for `folder`. With a secret it is a signature, which only who has it can make;
with a private key, a signature of the head follows the body.
"""

import json
import struct
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from imprint._src.jit.disk_cache.files import Opened, ReadError
from imprint._src.jit.disk_cache.signing import (
    DIGEST_BYTES,
    NO_PROOF,
    SIGNATURE_BYTES,
    Proof,
)

Note = Mapping[str, Any]
"""What an entry is, in plain values."""


class Entry(NamedTuple):
    """What was read of a file; the body is None where only the head was wanted."""

    key: bytes
    note: Note
    body: bytes | None
    nbytes: int
    used: float


KEY_BYTES: Final = DIGEST_BYTES
_MAGIC: Final = b"imprint1"
_HEAD: Final = struct.Struct(f">8sIQ{KEY_BYTES}s{DIGEST_BYTES}s")


def sealed(
    key: bytes, note: Note, body: bytes, proof: Proof = NO_PROOF
) -> tuple[bytes, ...]:
    """Return the parts of the file of an entry."""
    text = json.dumps(dict(note)).encode()
    seal = proof.digest(key, text, body)
    head = _HEAD.pack(_MAGIC, len(text), len(body), key, seal)
    return head, text, body, proof.signature(head)


def unsealed(
    file: Opened, key: bytes, proof: Proof = NO_PROOF, *, whole: bool = True
) -> Entry:
    """Return what an open file holds.

    Args:
        file: the file.
        key: what it must be the entry of.
        proof: what it must be signed with, if it must be.
        whole: whether the body is read and the digest checked.

    Raises:
        ReadError: it is no entry, not whole, or that of another key.
    """
    head = file.read(_HEAD.size)
    if len(head) < _HEAD.size or not head.startswith(_MAGIC):
        raise ReadError("it is no entry of a store")
    _, note_bytes, body_bytes, own, seal = _HEAD.unpack(head)
    rest = file.nbytes - _HEAD.size - note_bytes - body_bytes
    if rest != (SIGNATURE_BYTES if proof.has_keys else 0):
        raise ReadError("its length is another than it says")
    if own != key:
        raise ReadError("it is the entry of another key")
    text = file.read(note_bytes)
    body = file.read(body_bytes) if whole else None
    if body is not None and proof.digest(own, text, body) != seal:
        also = ", or was made with another secret" if proof.is_given else ""
        raise ReadError(f"it is damaged{also}: its digest is another than it says")
    if body is not None and not proof.holds(head, file.read(rest)):
        raise ReadError("another key signed it than the one that it is checked with")
    try:
        note = json.loads(text)
    except ValueError:
        raise ReadError("it is damaged: its note cannot be read") from None
    return Entry(own, note, body, file.nbytes, file.used)

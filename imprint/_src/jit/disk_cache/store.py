"""A store: what is under a key, for whoever may ask, without ever raising.

Whatever goes wrong on the disk is a miss or a write that is left, and is told once a
process, in a warning. A damaged entry is deleted. A disk that did not take a write is
not asked again.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import Final, Protocol, final

from imprint._src.diagnostics.source import warn
from imprint._src.errors import StoreWarning
from imprint._src.jit.disk_cache.entry import Entry, Note, sealed, unsealed
from imprint._src.jit.disk_cache.eviction import path_of, pruned
from imprint._src.jit.disk_cache.files import Opened, ReadError, opened, written
from imprint._src.jit.disk_cache.signing import NO_PROOF, Proof
from imprint._src.jit.disk_cache.single_flight import Flights


class Far(Protocol):
    """A place far away: a `Remote`, which few stores load."""

    @property
    def url(self) -> str:
        """Where it is."""
        ...

    def get(self, name: str) -> bytes | None:
        """Return what is under a name."""
        ...

    def put(self, name: str, path: Path) -> None:
        """Have a file written under a name."""
        ...


@final
class Store:
    """Entries in one folder, which may be believed.

    Args:
        folder: where they are.
        writes: whether it may be changed.
        limit: how many bytes it may have.
        proof: what entries are signed with; then they may be those of others.
        patience: how many seconds one waits for what another process compiles.
        below: the store that has what is not here, and is only read.
    """

    def __init__(
        self,
        folder: Path,
        *,
        writes: bool,
        limit: int,
        proof: Proof = NO_PROOF,
        patience: float = 60.0,
        below: "Store | None" = None,
    ) -> None:
        self.folder: Final = folder
        self.limit: Final = limit
        self.writes: bool = writes
        self.below: Final = below
        self._proof: Final = proof
        self.signer: Final = proof.signer
        self._flights: Final = Flights(
            folder, patience, 0o666 if proof.is_given else 0o600
        )
        self._told: Final[set[str]] = set()
        self._far: tuple[Far, Proof] | None = None

    def reach(self, far: Far, proof: Proof) -> None:
        """Look for entries far away, too, and write them there if they can be signed."""
        self._far = far, proof

    def get(self, key: bytes) -> bytes | None:
        """Return what was put under a key; None if nothing whole is there."""
        return next(self.all_of(key), None)

    def all_of(self, key: bytes) -> Iterator[bytes]:
        """Yield what was put under a key, here, in each store below, and far away."""
        for store in self.chain():
            body = store._read(key)
            if body is not None:
                yield body
        body = None if self._far is None else self._fetched(key, *self._far)
        if body is not None:
            yield body

    def chain(self) -> Iterator["Store"]:
        """Yield this store and those below."""
        store: Store | None = self
        while store is not None:
            yield store
            store = store.below

    def _read(self, key: bytes) -> bytes | None:
        key = self._proof.named(key)
        path = path_of(self.folder, key)
        try:
            with opened(path, use=self.writes, shared=self._proof.is_given) as file:
                return None if file is None else unsealed(file, key, self._proof).body
        except ReadError as err:
            self._complain(
                "an entry",
                f"expected {path} to be one, but {err}. {self._remove(path)}",
            )
        except (OSError, MemoryError) as err:
            self._complain(
                "reading",
                f"expected to read {path}, got {err!r}. It is compiled again.",
            )
        return None

    def _fetched(self, key: bytes, far: Far, proof: Proof) -> bytes | None:
        """Return what is far away, and keep it here, where nothing is under its key."""
        there = proof.named(key)
        data = far.get(there.hex())
        if data is None:
            return None
        try:
            entry = unsealed(Opened.of(data), there, proof)
        except ReadError as err:
            self._complain(
                "an entry from afar",
                f"expected {far.url} to have one for {there.hex()}, but {err}. It is left "
                "there, and what it was is compiled again.",
            )
            return None
        here = self._proof.named(key)
        if self.writes and not path_of(self.folder, here).exists():
            self._keep(here, entry.note, entry.body or b"")
        return entry.body

    def put(self, key: bytes, note: Note, body: bytes) -> bool:
        """Put something under a key, if it may and can; return whether it is there."""
        here = self._proof.named(key)
        if not self.writes or not self._keep(here, note, body):
            return False
        if self._far is not None:
            far, proof = self._far
            if proof is self._proof:
                far.put(here.hex(), path_of(self.folder, here))
        return True

    def _keep(self, key: bytes, note: Note, body: bytes) -> bool:
        if len(body) > self.limit:
            return False
        signed = {**note, "signed": self.signer}
        parts = sealed(key, signed, body, self._proof)
        try:
            written(path_of(self.folder, key), parts, shared=self._proof.is_given)
        except OSError as err:
            self.writes = False
            self._complain(
                "writing",
                f"expected to write into {self.folder}, got {err!r}. What is compiled "
                "from here on is not kept. Make room, or the folder writable, or set "
                "IMPRINT_CACHE=read.",
            )
            return False
        if key[0] % _SOME == 0 or len(body) > self.limit // _SOME:
            pruned(self.folder, self.limit)
        return True

    def drop(self, key: bytes) -> None:
        """Forget what is under a key."""
        self._remove(path_of(self.folder, self._proof.named(key)))

    def look(self, path: Path, *, whole: bool) -> Entry | None:
        """Return the entry in a file; None if it is gone.

        Raises:
            ReadError: it is not to be used.
            OSError: the system does not give it.
        """
        with opened(path, shared=self._proof.is_given) as file:
            if file is None:
                return None
            key = bytes.fromhex(path.parent.name + path.name)
            return unsealed(file, key, self._proof, whole=whole)

    def flight(self, key: bytes) -> AbstractContextManager[bool]:
        """Return a `with` in which no other process compiles for this key.

        It says whether another one did so before, and so whether to look again.
        """
        return self._flights.of(key) if self.writes else nullcontext(enter_result=False)

    def _complain(self, what: str, text: str) -> None:
        if what not in self._told:
            self._told.add(what)
            complain(text)

    def _remove(self, path: Path) -> str:
        if not self.writes:
            return "It is left there."
        with suppress(OSError):
            path.unlink()
            return "It is deleted, and what it was is compiled again."
        return "It cannot be deleted."


_SOME: Final = 16
"""One in so many writes looks whether the store has become too big."""


def complain(text: str) -> None:
    """Warn; where warnings are errors, log it: a call does not fail for its store."""
    try:
        warn(f"store: {text}", StoreWarning)
    except StoreWarning:
        import logging  # noqa: PLC0415 - 2 ms, and few processes log

        logging.getLogger("imprint").warning("store: %s", text)

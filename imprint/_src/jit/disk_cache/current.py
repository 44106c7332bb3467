"""Which store this process uses: what the environment says, or `configure`.

It is worked out when the first program is compiled, and looked at no more: a warm call
does not come here. A folder that is refused turns the store off, with a warning.
"""

import os
from pathlib import Path
from typing import Final, Literal, NamedTuple, get_args

from imprint._src.jit.disk_cache.files import ReadError
from imprint._src.jit.disk_cache.folder import default_folder, trusted
from imprint._src.jit.disk_cache.signing import NO_PROOF, Proof, proof_in
from imprint._src.jit.disk_cache.store import Store, complain

Mode = Literal["off", "read", "write"]
MODES: Final[tuple[str, ...]] = get_args(Mode)
GIB: Final = 1 << 30


class Wish(NamedTuple):
    """What a program asked for; None leaves it to the environment, or the default."""

    directory: Path | None = None
    mode: Mode | None = None
    limit: int | None = None
    key: Path | None = None
    shared: tuple[Path, ...] | None = None
    remote: str | None = None


class Asked(NamedTuple):
    """What is in force.

    Args:
        directory: where the store is.
        mode: whether it is read, and whether it is written.
        limit: how many bytes it may have.
        key: the file of the secret, or the key, that its entries are signed with.
        shared: where else to look, in this order; these are only read.
        remote: the URL of a place far away, to look into and to write to.
    """

    directory: Path
    mode: str
    limit: int
    key: Path | None
    shared: tuple[Path, ...] = ()
    remote: str = ""


def asked() -> Asked:
    """Return what is in force: the program's wish, the environment's, or the default.

    Raises:
        ReadError: the environment says what cannot be, or there is no home.
    """
    wish = _current.wish
    mode = wish.mode or os.environ.get("IMPRINT_CACHE", "") or "write"
    if mode not in MODES:
        words = ", ".join(MODES)
        raise ReadError(f"expected IMPRINT_CACHE to be one of {words}, got {mode!r}")
    given = wish.directory or os.environ.get("IMPRINT_CACHE_DIR", "")
    folder = Path(given).expanduser() if given else default_folder()
    limit = 2 * GIB if wish.limit is None else wish.limit
    key = wish.key or os.environ.get("IMPRINT_CACHE_KEY", "")
    secret = Path(key).expanduser() if key else None
    remote = wish.remote
    if remote is None:
        remote = os.environ.get("IMPRINT_CACHE_REMOTE", "")
    return Asked(folder, mode, limit, secret, _shared(wish), remote)


def _shared(wish: Wish) -> tuple[Path, ...]:
    if wish.shared is not None:
        return wish.shared
    given = os.environ.get("IMPRINT_CACHE_SHARED", "").split(os.pathsep)
    return tuple(Path(each).expanduser() for each in given if each)


class _Current:
    """The store in use."""

    def __init__(self) -> None:
        self.wish = Wish()
        self.known = False
        self.store: Store | None = None


_current: Final = _Current()


def current() -> Store | None:
    """Return the store of this process; None if it is off, or there is none to read."""
    if not _current.known:
        _current.store = _opened()
        _current.known = True
    return _current.store


def wished() -> Wish:
    """Return what was asked of `configure`."""
    return _current.wish


def wish_for(wish: Wish) -> None:
    """Use another store from here on."""
    _current.wish = wish
    _current.known = False


def change(wish: Wish) -> None:
    """Change what a wish names, and leave the rest as it was asked for before."""
    named = {n: v for n, v in wish._asdict().items() if v is not None}
    wish_for(_current.wish._replace(**named))


def _opened() -> Store | None:
    if _current.wish.mode is None and os.environ.get("IMPRINT_CACHE") == "off":
        return None  # whatever the rest is
    try:
        wish = asked()
    except ReadError as err:
        complain(f"{err}. The store is off.")
        return None
    if wish.mode == "off":
        return None
    try:
        return store_of(wish)
    except ReadError as err:
        complain(f"{err} The store is off.")
    except OSError as err:
        complain(
            f"expected a folder at {wish.directory}, got {err!r}. The store is off. Give "
            "another by IMPRINT_CACHE_DIR, or set IMPRINT_CACHE=off."
        )
    return None


def store_of(wish: Asked) -> Store | None:
    """Open a store; None if there is none yet, and it is not to be made.

    Raises:
        ReadError: its folder, or its secret, is not to be believed.
        OSError: the system does not give or make it.
    """
    writes = wish.mode == "write"
    try:
        proof = NO_PROOF if wish.key is None else proof_in(wish.key)
    except (ReadError, OSError) as err:
        raise ReadError(
            f"expected a secret or a key in {wish.key}, got: {err}. Write 32 random bytes "
            "or an Ed25519 key in PEM there, `chmod 600` it, or unset IMPRINT_CACHE_KEY."
        ) from None
    own = proof if proof.makes else NO_PROOF  # what a public key cannot sign stays here
    try:
        folder = trusted(wish.directory, create=writes, shared=own.is_given)
    except ReadError as err:
        raise ReadError(
            f"expected a folder that is yours alone, got {wish.directory}: {err}. Give "
            "another by IMPRINT_CACHE_DIR, `chmod go-w` this one, or sign what is in it "
            "by IMPRINT_CACHE_KEY."
        ) from None
    below, far = _below(wish, proof), _far(wish)
    if folder is None and not far:
        return below
    folder = folder or wish.directory
    store = Store(folder, writes=writes, limit=wish.limit, proof=own, below=below)
    if far:
        from imprint._src.jit.disk_cache.remote import Remote  # noqa: PLC0415 - few stores have one

        store.reach(Remote(far, complain), proof)
    return store


def _far(wish: Asked) -> str:
    """Return the place far away; none where nothing proves what comes from it."""
    if not wish.remote or wish.key is not None:
        return wish.remote
    complain(
        f"expected a secret beside the remote store {wish.remote}, got none: what comes "
        "from elsewhere is only believed if it is signed. It is left out. Write 32 random "
        "bytes into a file that is yours alone, and name it in IMPRINT_CACHE_KEY."
    )
    return ""


def _below(wish: Asked, proof: Proof) -> Store | None:
    """Return the first of the stores that are only read; one that is refused is left out."""
    below: Store | None = None
    for asked_for in reversed(wish.shared):
        try:
            folder = trusted(asked_for, create=False, shared=proof.is_given)
        except (ReadError, OSError) as err:
            complain(
                "expected a shared folder that belongs to you or to root, and into which "
                f"nobody else can write, got {asked_for}: {err}. It is left out. Have its "
                "owner sign it by IMPRINT_CACHE_KEY, or take it out of "
                "IMPRINT_CACHE_SHARED."
            )
            continue
        if folder is not None:
            below = Store(
                folder, writes=False, limit=wish.limit, proof=proof, below=below
            )
    return below

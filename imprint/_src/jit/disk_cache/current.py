"""The store of this process, as the environment and `configure` choose it.

It is opened when the first program is compiled. A refused folder turns the store off, with
a warning.
"""

import os
from pathlib import Path
from typing import Final, Literal, NamedTuple, get_args

from imprint._src.jit.disk_cache.entry import NO_SIGNER, Signer, read_signer
from imprint._src.jit.disk_cache.files import ReadError, default_folder, trusted_folder
from imprint._src.jit.disk_cache.store import Store, warn_or_log

Mode = Literal["off", "read", "write"]
MODES: Final[tuple[str, ...]] = get_args(Mode)
GIB: Final = 1 << 30


class StoreOptions(NamedTuple):
    """The options of `configure`; None takes the environment, or the default."""

    directory: Path | None = None
    mode: Mode | None = None
    limit: int | None = None
    key: Path | None = None
    shared: tuple[Path, ...] | None = None
    remote: str | None = None


class StoreConfig(NamedTuple):
    """The options in force.

    Args:
        directory: the folder of the store.
        mode: "off", "read" or "write".
        limit: its size in bytes.
        key: the file of the secret or the key that signs its entries.
        shared: folders to read next, in this order.
        remote: the URL of a remote place to read and write.
    """

    directory: Path
    mode: str
    limit: int
    key: Path | None
    shared: tuple[Path, ...] = ()
    remote: str = ""


def store_config() -> StoreConfig:
    """Return the options in force: of `configure`, of the environment, or the defaults.

    Raises:
        ReadError: the environment has a wrong mode, or there is no home folder.
    """
    options = _current.options
    mode = options.mode or os.environ.get("IMPRINT_CACHE", "") or "write"
    if mode not in MODES:
        words = ", ".join(MODES)
        raise ReadError(f"expected IMPRINT_CACHE to be one of {words}, got {mode!r}")
    given = options.directory or os.environ.get("IMPRINT_CACHE_DIR", "")
    folder = Path(given).expanduser() if given else default_folder()
    limit = 2 * GIB if options.limit is None else options.limit
    key = options.key or os.environ.get("IMPRINT_CACHE_KEY", "")
    secret = Path(key).expanduser() if key else None
    remote = options.remote
    if remote is None:
        remote = os.environ.get("IMPRINT_CACHE_REMOTE", "")
    return StoreConfig(folder, mode, limit, secret, _shared(options), remote)


def _shared(options: StoreOptions) -> tuple[Path, ...]:
    if options.shared is not None:
        return options.shared
    given = os.environ.get("IMPRINT_CACHE_SHARED", "").split(os.pathsep)
    return tuple(Path(each).expanduser() for each in given if each)


class _Current:
    """The store in use, and the options of `configure`."""

    def __init__(self) -> None:
        self.options = StoreOptions()
        self.known = False
        self.store: Store | None = None


_current: Final = _Current()


def current() -> Store | None:
    """Return the store of this process; None if it is off, or there is none to read."""
    if not _current.known:
        _current.store = _opened()
        _current.known = True
    return _current.store


def requested_options() -> StoreOptions:
    """Return the options of `configure`."""
    return _current.options


def configure(options: StoreOptions) -> None:
    """Use another store from now on."""
    _current.options = options
    _current.known = False


def update_options(options: StoreOptions) -> None:
    """Change the options that are not None."""
    named = {n: v for n, v in options._asdict().items() if v is not None}
    configure(_current.options._replace(**named))


def _opened() -> Store | None:
    if _current.options.mode is None and os.environ.get("IMPRINT_CACHE") == "off":
        return None  # regardless of the rest
    try:
        config = store_config()
    except ReadError as err:
        warn_or_log(f"{err}. The store is off.")
        return None
    if config.mode == "off":
        return None
    try:
        return open_store(config)
    except ReadError as err:
        warn_or_log(f"{err} The store is off.")
    except OSError as err:
        warn_or_log(
            f"expected a folder at {config.directory}, got {err!r}. The store is off. Give "
            "another by IMPRINT_CACHE_DIR, or set IMPRINT_CACHE=off."
        )
    return None


def open_store(config: StoreConfig) -> Store | None:
    """Open a store; None if it does not exist and is only read.

    Raises:
        ReadError: its folder, or its secret, is not trusted.
        OSError: it cannot be read or created.
    """
    writes = config.mode == "write"
    try:
        signer = NO_SIGNER if config.key is None else read_signer(config.key)
    except (ReadError, OSError) as err:
        raise ReadError(
            f"expected a secret or a key in {config.key}, got: {err}. Write 32 random bytes "
            "or an Ed25519 key in PEM there, `chmod 600` it, or unset IMPRINT_CACHE_KEY."
        ) from None
    own = (
        signer if signer.can_sign else NO_SIGNER
    )  # entries that a public key cannot sign stay here
    try:
        folder = trusted_folder(config.directory, create=writes, shared=own.is_signed)
    except ReadError as err:
        raise ReadError(
            f"expected a folder that is yours alone, got {config.directory}: {err}. Give "
            "another by IMPRINT_CACHE_DIR, `chmod go-w` this one, or sign what is in it "
            "by IMPRINT_CACHE_KEY."
        ) from None
    below, remote = _below(config, signer), _remote(config)
    if folder is None and not remote:
        return below
    folder = folder or config.directory
    store = Store(folder, writes=writes, limit=config.limit, signer=own, below=below)
    if remote:
        from imprint._src.jit.disk_cache.remote import Remote  # noqa: PLC0415 - few stores have one

        store.add_remote(Remote(remote, warn_or_log), signer)
    return store


def _remote(config: StoreConfig) -> str:
    """Return the URL of the remote; "" if entries from it are not signed."""
    if not config.remote or config.key is not None:
        return config.remote
    warn_or_log(
        f"expected a secret beside the remote store {config.remote}, got none: what comes "
        "from elsewhere is only believed if it is signed. It is left out. Write 32 random "
        "bytes into a file that is yours alone, and name it in IMPRINT_CACHE_KEY."
    )
    return ""


def _below(config: StoreConfig, signer: Signer) -> Store | None:
    """Return the first of the shared stores; those that are refused are left out."""
    below: Store | None = None
    for path in reversed(config.shared):
        try:
            folder = trusted_folder(path, create=False, shared=signer.is_signed)
        except (ReadError, OSError) as err:
            warn_or_log(
                "expected a shared folder that belongs to you or to root, and into which "
                f"nobody else can write, got {path}: {err}. It is left out. Have its "
                "owner sign it by IMPRINT_CACHE_KEY, or take it out of "
                "IMPRINT_CACHE_SHARED."
            )
            continue
        if folder is not None:
            below = Store(
                folder, writes=False, limit=config.limit, signer=signer, below=below
            )
    return below

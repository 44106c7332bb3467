"""The compiled versions of all functions of the process, and the store on the disk.

For one function use `f.versions`, `f.explain(...)` and `f.clear_cache()`. Nothing here
compiles. `configure` sets up the store on the disk; `assume_pure` and `depends_on` declare
facts that a trace cannot observe. All other functions concern memory.
"""

import os
from collections.abc import Callable, Iterable
from os import PathLike, fspath
from pathlib import Path
from types import FunctionType
from typing import Any, Final, Literal, NamedTuple, TypeVar, overload

from imprint._src.core.trace import current_trace
from imprint._src.core.user_code import is_module, is_user, is_user_namespace
from imprint._src.errors import ArgumentError, did_you_mean
from imprint._src.jit.dispatch import Jitted, explain_with_disk
from imprint._src.jit.dispatch import clear_caches as clear
from imprint._src.jit.explain.explanation import Explanation
from imprint._src.jit.versions.definitions import DEFINITIONS
from imprint._src.jit.versions.table import BUDGET
from imprint._src.jit.versions.version import Version
from imprint.debug import counters

__all__ = [
    "CacheStats",
    "assume_pure",
    "clear",
    "configure",
    "depends_on",
    "entries",
    "limit",
    "stats",
    "why",
]
_T = TypeVar("_T")
_P = TypeVar("_P", bound=str | PathLike[str])


class CacheStats(NamedTuple):
    """The cache in figures.

    Args:
        definitions: functions, equal ones counted once.
        versions: compiled versions.
        nbytes: the estimated memory of versions and traces.
        limit: its limit in bytes.
        hits: calls that hit a version, since the process started.
        misses: calls that needed a new version.
        evictions: versions and traces dropped to stay within the limit.
    """

    definitions: int
    versions: int
    nbytes: int
    limit: int
    hits: int
    misses: int
    evictions: int


def entries() -> tuple[Version, ...]:
    """Return the compiled versions of all functions.

    Example:
        >>> import imprint
        >>> imprint.clear_caches()
        >>> f = imprint.jit(lambda x: x * 2)
        >>> _ = f(1.0)
        >>> imprint.cache.entries()
        (<version of <lambda>(x: ~float32[]), 1 calls>,)
    """
    found = {id(v): v for definition in DEFINITIONS for v in definition.versions}
    return tuple(found.values())


def stats() -> CacheStats:
    """Return the cache in figures.

    Example:
        >>> import imprint
        >>> imprint.cache.stats().nbytes <= imprint.cache.stats().limit
        True
    """
    counts = counters()
    return CacheStats(
        definitions=len(list(DEFINITIONS)),
        versions=len(entries()),
        nbytes=BUDGET.nbytes,
        limit=BUDGET.limit,
        hits=counts.hits,
        misses=counts.misses,
        evictions=counts.evictions,
    )


def limit(*, bytes: int | None = None) -> int:  # noqa: A002 - the unit, where it is called
    """Return the limit of the memory of all versions in bytes; set it if one is given.

    Versions over the limit are dropped at once, the least recently called first. Pinned
    versions and those that run on several processes stay. The default is 4 GiB.

    Args:
        bytes: the new limit; None leaves it.

    Returns:
        The limit.

    Raises:
        ArgumentError: `bytes` is no integer of at least 0.

    Example:
        >>> import imprint
        >>> imprint.cache.limit(bytes=2 << 30)
        2147483648
        >>> imprint.cache.limit(bytes=4 << 30) == imprint.cache.limit()
        True
    """
    if bytes is not None:
        if isinstance(bytes, bool) or not isinstance(bytes, int) or bytes < 0:  # pyright: ignore[reportUnnecessaryIsInstance] - from the user
            raise ArgumentError(
                f"cache.limit: expected bytes to be an integer from 0 on, got {bytes!r}. "
                "Write limit(bytes=4 << 30) for 4 GiB."
            )
        BUDGET.resize(bytes)
    return BUDGET.limit


def why(fun: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Explanation:
    """Explain which version serves `fun(*args, **kwargs)`, or why it needs a new one.

    It also looks at the disk, without tracing: whether a new process can load this call. If
    not, it has the first difference between the stored trace and now, or the reason why
    the trace is not stored, and the remedy.

    Args:
        fun: a jitted function.
        *args: the arguments of the call.
        **kwargs: its keywords.

    Returns:
        The explanation; `hit` says whether there is a version.

    Raises:
        ArgumentError: `fun` is not jitted.

    Example:
        >>> import imprint
        >>> f = imprint.jit(lambda x: x - 1)
        >>> _ = f(1.0)
        >>> imprint.cache.why(f, 2.0).hit, imprint.cache.why(f, 2).hit
        (True, False)
    """
    if not isinstance(fun, Jitted):
        raise ArgumentError(
            f"cache.why: expected a function made by imprint.jit, got {fun!r}. "
            "Only jitted functions have versions."
        )
    return explain_with_disk(fun, args, kwargs)


def configure(
    *,
    directory: str | PathLike[str] | None = None,
    mode: Literal["off", "read", "write"] | None = None,
    limit: int | None = None,
    key: str | PathLike[str] | None = None,
    shared: Iterable[str | PathLike[str]] | None = None,
    remote: str | None = None,
) -> None:
    """Configure the store on the disk from now on; this overrides the environment.

    The default is IMPRINT_CACHE_DIR and IMPRINT_CACHE, or the user's cache directory, read
    and written. It does not affect programs that are compiled already.

    Args:
        directory: the folder of the store. It must belong to the user and be writable for
            no other user; it is created if it does not exist.
        mode: "write" reads and writes it, "read" only reads it, "off" does neither.
        limit: its limit in bytes; the least recently used entries are deleted first. The
            default is 2 GiB.
        key: a file with 32 random bytes or more, which only the user can read. Entries are
            signed with them, and no others are read; so all users with the same file can
            share the folder. An Ed25519 key in PEM also works: a private one signs entries,
            a public one checks those of `shared` and `remote`. The default is
            IMPRINT_CACHE_KEY.
        shared: further folders to search, in this order. They are only read, may be
            missing, and need the same ownership as `directory`. The default is
            IMPRINT_CACHE_SHARED.
        remote: the URL of a bucket or server for all machines with the same `key`, as
            fsspec writes it; it requires `key`. It is searched last, found entries are kept
            in `directory`, and a thread uploads compiled programs. "" is none; the default
            is IMPRINT_CACHE_REMOTE.

    Returns:
        None; the next compilation uses the store.

    Raises:
        ArgumentError: an argument is invalid.

    Example:
        >>> import imprint
        >>> imprint.cache.configure(limit=4 << 30)
    """
    from imprint._src.jit.disk_cache.current import MODES, StoreOptions, update_options  # noqa: PLC0415 - 2 ms of an import

    if mode is not None and mode not in MODES:
        raise ArgumentError(
            f"cache.configure: expected mode to be one of {', '.join(map(repr, MODES))}, "
            f"got {mode!r}.{did_you_mean(str(mode), MODES)}"
        )
    if limit is not None and (
        isinstance(limit, bool) or not isinstance(limit, int) or limit < 0  # pyright: ignore[reportUnnecessaryIsInstance] - from the user
    ):
        raise ArgumentError(
            f"cache.configure: expected limit to be an integer from 0 on, got {limit!r}. "
            "Write limit=2 << 30 for 2 GiB."
        )
    if remote is not None and (
        not isinstance(remote, str) or (remote and ":" not in remote)  # pyright: ignore[reportUnnecessaryIsInstance] - from the user
    ):
        raise ArgumentError(
            f"cache.configure: expected remote to be a URL, got {remote!r}. Write "
            "remote='s3://bucket/folder', or name a folder in shared=[...]."
        )
    folder, secret = _path(directory, "directory"), _path(key, "key")
    update_options(StoreOptions(folder, mode, limit, secret, _folders(shared), remote))


def _folders(given: Iterable[str | PathLike[str]] | None) -> tuple[Path, ...] | None:
    if given is None:
        return None
    if isinstance(given, str | PathLike):
        raise ArgumentError(
            f"cache.configure: expected shared to be a list of folders, got {given!r}. "
            f"Write shared=[{fspath(given)!r}]."
        )
    try:
        return tuple(Path(fspath(each)) for each in given)
    except TypeError:
        raise ArgumentError(
            f"cache.configure: expected shared to be a list of folders, got {given!r}. "
            "Write shared=['/path/to/it']."
        ) from None


def _path(given: str | PathLike[str] | None, name: str) -> Path | None:
    try:
        return None if given is None else Path(fspath(given))
    except TypeError:
        raise ArgumentError(
            f"cache.configure: expected {name} to be a path, got {given!r}. Write "
            f"{name}='/path/to/it'."
        ) from None


# ---- declarations of unobserved facts ----


def assume_pure(what: _T, /) -> _T:
    """Declare that library code reads only its arguments.

    A trace that calls it can then be stored for other processes, instead of a refusal with
    E-IMPURE or E-VALUE. imprint cannot check it: its result becomes a part of the stored
    program. `IMPRINT_AUDIT=1` finds wrong declarations.

    Args:
        what: a function or class of a library (reads of user code are observed); a module,
            with all of its members; or the name of one of them.

    Returns:
        The argument.

    Raises:
        ArgumentError: it is none of these.

    Example:
        >>> import imprint
        >>> imprint.cache.assume_pure("colorsys.rgb_to_hsv")
        'colorsys.rgb_to_hsv'
    """
    from imprint._src.jit.manifest.not_cacheable import assume_pure as declare  # noqa: PLC0415 - 2 ms of an import

    found: Any = _named(what) if isinstance(what, str) else what
    if not (is_module(found) or callable(found)):
        raise ArgumentError(_NOT_PURE.format(what=f"{what!r}, which is none of them"))
    if _is_heard(found):
        heard = f"{what!r}, whose reads are heard"
        raise ArgumentError(_NOT_PURE.format(what=heard) + _SAY_OF_CALLED)
    declare(found, what if isinstance(what, str) else "")
    return what


_NOT_PURE: Final = (
    "cache.assume_pure: expected a function, a class or a module of a library, or its "
    "name, got {what}."
)
_SAY_OF_CALLED: Final = " Say it of what it calls: cache.assume_pure(open)."


def _named(name: str) -> Any:
    from pkgutil import resolve_name  # noqa: PLC0415 - 1 ms of an import

    try:
        return resolve_name(name)
    except (ImportError, AttributeError, ValueError) as err:
        told = f"{name!r}: {err}"
        raise ArgumentError(_NOT_PURE.format(what=told)) from None


def _is_heard(x: Any) -> bool:
    """Return whether a value is user Python, or a memo of it."""
    x = getattr(x, "__wrapped__", x)
    if type(x) is FunctionType:
        return is_user_namespace(x.__globals__)
    is_owner = isinstance(x, type) or is_module(x)
    return is_user(x if is_owner else type(x))


@overload
def depends_on(path: _P, /) -> _P: ...
@overload
def depends_on(*, value: object) -> None: ...
def depends_on(
    path: str | PathLike[str] | None = None, /, *, value: object = None
) -> str | PathLike[str] | None:
    """Add a file or a value to the dependencies of all later stored traces.

    Use it for dependencies that a trace cannot observe: a file that a library reads, the
    sources of a C function. Another process compares the bytes of the file, and the values
    that it declares itself. Nothing is compared in memory.

    Args:
        path: a file. A function may declare it while it is traced, just before the read.
        value: numbers, strings, arrays, or containers of them. Declare it before the first
            call, as a loaded function does not run.

    Returns:
        The path.

    Raises:
        ArgumentError: the file cannot be read, or the value cannot be compared.

    Example:
        >>> import imprint
        >>> imprint.cache.depends_on(value=("tables", 3))
    """
    from imprint._src.jit.manifest.environment import declare_file  # noqa: PLC0415 - 2 ms of an import

    if path is None:
        _depends_on_value(value)
        return None
    try:
        declare_file(os.path.abspath(fspath(path)))
    except (TypeError, OSError) as err:
        raise ArgumentError(
            f"cache.depends_on: expected the path of a file that can be read, got {path!r}: "
            f"{err}. A value is given by its name: depends_on(value=...)."
        ) from None
    return path


def _depends_on_value(value: object) -> None:
    from imprint._src.jit.manifest.diff import component  # noqa: PLC0415 - 2 ms of an import
    from imprint._src.jit.manifest.not_cacheable import DECLARED  # noqa: PLC0415 - 2 ms of an import

    if current_trace() is not None:
        raise ArgumentError(
            f"cache.depends_on: expected a value before the function is traced, got "
            f"{value!r} in a trace, which another process leaves out. Give it where the "
            "function is defined."
        )
    digest, text = component(value)
    if not digest:
        raise ArgumentError(
            "cache.depends_on: expected a value of numbers, texts and arrays, which "
            f"another process can compare, got {value!r}. Give what tells it apart, such "
            "as a version."
        )
    DECLARED.values[digest] = text

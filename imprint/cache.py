"""The cache of compiled versions as a whole: look into it, bound it, empty it.

One function's versions are at hand as `f.versions`, `f.explain(...)`, `f.clear_cache()`;
this module is for all functions of the process. Nothing here compiles.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from imprint.debug import counters
from imprint.errors import ArgumentError
from imprint.explain.explanation import Explanation
from imprint.jitted.dispatch import Jitted
from imprint.jitted.dispatch import clear_caches as clear
from imprint.versions.budget import BUDGET
from imprint.versions.definitions import DEFINITIONS
from imprint.versions.version import Version

__all__ = ["CacheStats", "clear", "entries", "limit", "stats", "why"]


class CacheStats(NamedTuple):
    """The cache in figures.

    Args:
        definitions: functions, where equal ones are one.
        versions: compiled versions.
        nbytes: the memory that versions and traces take, estimated.
        limit: the bytes they may take.
        hits: calls that a version answered, since the process started.
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
    """Return how many bytes all versions may take together; set it, if one is given.

    Versions over the limit go at once, those first that were not called for longest,
    pinned ones never. The default is 4 GiB.

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
    """Say which version answers `fun(*args, **kwargs)`, or why it needs a new one.

    Args:
        fun: a jitted function.
        *args: the arguments of the call.
        **kwargs: its keywords.

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
    return fun.explain(*args, **kwargs)

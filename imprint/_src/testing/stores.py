"""`empty_store`: a persistent cache for one test.

Other tests have none: compilations of one test must not affect another.
"""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from imprint._src.jit.disk_cache.current import (
    StoreOptions,
    configure,
    requested_options,
)
from imprint._src.jit.dispatch import clear_caches
from imprint._src.jit.manifest.not_cacheable import local_declarations


@contextmanager
def empty_store(folder: Path) -> Generator[Path]:
    """Use an empty folder as the store, whatever the environment says.

    The versions in memory are dropped first, so calls in the block compile;
    `imprint.clear_caches()` inside it drops them again, like a new process. Declarations in
    the block (`imprint.cache.assume_pure`, `depends_on`) end with it.

    Args:
        folder: a directory that is empty or does not exist.

    Yields:
        The folder, for `with`.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> import imprint
        >>> from imprint.testing import empty_store
        >>> f = imprint.jit(lambda x: x * 3)
        >>> with tempfile.TemporaryDirectory() as name, empty_store(Path(name)):
        ...     _ = f(1.0)
        ...     first = f.versions[0].origin
        ...     imprint.clear_caches()
        ...     _ = f(1.0)
        ...     first, f.versions[0].origin
        ('compiled', 'disk')
    """
    before = requested_options()
    clear_caches()
    configure(StoreOptions(folder, "write", shared=(), remote=""))
    try:
        with local_declarations():
            yield folder
    finally:
        configure(before)

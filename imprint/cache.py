"""The compiled versions of all functions of the process, and the store on the disk."""

from imprint._src.cache import CacheStats as CacheStats
from imprint._src.cache import assume_pure as assume_pure
from imprint._src.cache import clear as clear
from imprint._src.cache import configure as configure
from imprint._src.cache import depends_on as depends_on
from imprint._src.cache import entries as entries
from imprint._src.cache import limit as limit
from imprint._src.cache import stats as stats
from imprint._src.cache import why as why

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

"""The multinomial distribution, as in `scipy.stats.multinomial`."""

from imprint._src.scipy.stats.multinomial import logpmf as logpmf
from imprint._src.scipy.stats.multinomial import pmf as pmf

__all__ = [
    "logpmf",
    "pmf",
]

"""The multinomial distribution: as `scipy.stats.multinomial` has it."""

from imprint._src.scipy.stats.multinomial import logpmf as logpmf
from imprint._src.scipy.stats.multinomial import pmf as pmf

__all__ = [
    "logpmf",
    "pmf",
]

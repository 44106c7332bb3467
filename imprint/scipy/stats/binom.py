"""The binomial distribution: as `scipy.stats.binom` has it."""

from imprint._src.scipy.stats.binom import logpmf as logpmf
from imprint._src.scipy.stats.binom import pmf as pmf

__all__ = [
    "logpmf",
    "pmf",
]

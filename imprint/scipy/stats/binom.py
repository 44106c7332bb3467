"""The binomial distribution, as in `scipy.stats.binom`."""

from imprint._src.scipy.stats.binom import logpmf as logpmf
from imprint._src.scipy.stats.binom import pmf as pmf

__all__ = [
    "logpmf",
    "pmf",
]

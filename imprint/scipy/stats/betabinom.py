"""The beta-binomial distribution, as in `scipy.stats.betabinom`."""

from imprint._src.scipy.stats.betabinom import logpmf as logpmf
from imprint._src.scipy.stats.betabinom import pmf as pmf

__all__ = [
    "logpmf",
    "pmf",
]

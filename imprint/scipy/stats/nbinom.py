"""The negative binomial distribution, as in `scipy.stats.nbinom`."""

from imprint._src.scipy.stats.nbinom import logpmf as logpmf
from imprint._src.scipy.stats.nbinom import pmf as pmf

__all__ = [
    "logpmf",
    "pmf",
]

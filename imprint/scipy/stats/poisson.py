"""The Poisson distribution, as in `scipy.stats.poisson`."""

from imprint._src.scipy.stats.poisson import cdf as cdf
from imprint._src.scipy.stats.poisson import entropy as entropy
from imprint._src.scipy.stats.poisson import logpmf as logpmf
from imprint._src.scipy.stats.poisson import pmf as pmf

__all__ = [
    "cdf",
    "entropy",
    "logpmf",
    "pmf",
]

"""The Bernoulli distribution, as in `scipy.stats.bernoulli`."""

from imprint._src.scipy.stats.bernoulli import cdf as cdf
from imprint._src.scipy.stats.bernoulli import logpmf as logpmf
from imprint._src.scipy.stats.bernoulli import pmf as pmf
from imprint._src.scipy.stats.bernoulli import ppf as ppf

__all__ = [
    "cdf",
    "logpmf",
    "pmf",
    "ppf",
]

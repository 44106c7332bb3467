"""The generalized normal distribution, as in `scipy.stats.gennorm`."""

from imprint._src.scipy.stats.gennorm import cdf as cdf
from imprint._src.scipy.stats.gennorm import logpdf as logpdf
from imprint._src.scipy.stats.gennorm import pdf as pdf

__all__ = [
    "cdf",
    "logpdf",
    "pdf",
]

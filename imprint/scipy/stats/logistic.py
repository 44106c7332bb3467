"""The logistic distribution, as in `scipy.stats.logistic`."""

from imprint._src.scipy.stats.logistic import cdf as cdf
from imprint._src.scipy.stats.logistic import isf as isf
from imprint._src.scipy.stats.logistic import logpdf as logpdf
from imprint._src.scipy.stats.logistic import pdf as pdf
from imprint._src.scipy.stats.logistic import ppf as ppf
from imprint._src.scipy.stats.logistic import sf as sf

__all__ = [
    "cdf",
    "isf",
    "logpdf",
    "pdf",
    "ppf",
    "sf",
]

"""The normal distribution, as in `scipy.stats.norm`."""

from imprint._src.scipy.stats.norm import cdf as cdf
from imprint._src.scipy.stats.norm import isf as isf
from imprint._src.scipy.stats.norm import logcdf as logcdf
from imprint._src.scipy.stats.norm import logpdf as logpdf
from imprint._src.scipy.stats.norm import logsf as logsf
from imprint._src.scipy.stats.norm import pdf as pdf
from imprint._src.scipy.stats.norm import ppf as ppf
from imprint._src.scipy.stats.norm import sf as sf

__all__ = [
    "cdf",
    "isf",
    "logcdf",
    "logpdf",
    "logsf",
    "pdf",
    "ppf",
    "sf",
]

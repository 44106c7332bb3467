"""The exponential distribution, as in `scipy.stats.expon`."""

from imprint._src.scipy.stats.expon import cdf as cdf
from imprint._src.scipy.stats.expon import logcdf as logcdf
from imprint._src.scipy.stats.expon import logpdf as logpdf
from imprint._src.scipy.stats.expon import logsf as logsf
from imprint._src.scipy.stats.expon import pdf as pdf
from imprint._src.scipy.stats.expon import ppf as ppf
from imprint._src.scipy.stats.expon import sf as sf

__all__ = [
    "cdf",
    "logcdf",
    "logpdf",
    "logsf",
    "pdf",
    "ppf",
    "sf",
]

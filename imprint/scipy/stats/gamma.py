"""The gamma distribution, as in `scipy.stats.gamma`."""

from imprint._src.scipy.stats.gamma import cdf as cdf
from imprint._src.scipy.stats.gamma import logcdf as logcdf
from imprint._src.scipy.stats.gamma import logpdf as logpdf
from imprint._src.scipy.stats.gamma import logsf as logsf
from imprint._src.scipy.stats.gamma import pdf as pdf
from imprint._src.scipy.stats.gamma import sf as sf

__all__ = [
    "cdf",
    "logcdf",
    "logpdf",
    "logsf",
    "pdf",
    "sf",
]

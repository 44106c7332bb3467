"""The beta distribution, as in `scipy.stats.beta`."""

from imprint._src.scipy.stats.beta import cdf as cdf
from imprint._src.scipy.stats.beta import logcdf as logcdf
from imprint._src.scipy.stats.beta import logpdf as logpdf
from imprint._src.scipy.stats.beta import logsf as logsf
from imprint._src.scipy.stats.beta import pdf as pdf
from imprint._src.scipy.stats.beta import sf as sf

__all__ = [
    "cdf",
    "logcdf",
    "logpdf",
    "logsf",
    "pdf",
    "sf",
]

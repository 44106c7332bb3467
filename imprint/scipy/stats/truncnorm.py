"""The truncated normal distribution, as in `scipy.stats.truncnorm`."""

from imprint._src.scipy.stats.truncnorm import cdf as cdf
from imprint._src.scipy.stats.truncnorm import logcdf as logcdf
from imprint._src.scipy.stats.truncnorm import logpdf as logpdf
from imprint._src.scipy.stats.truncnorm import logsf as logsf
from imprint._src.scipy.stats.truncnorm import pdf as pdf
from imprint._src.scipy.stats.truncnorm import sf as sf

__all__ = [
    "cdf",
    "logcdf",
    "logpdf",
    "logsf",
    "pdf",
    "sf",
]

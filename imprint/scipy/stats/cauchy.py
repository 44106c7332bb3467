"""The Cauchy distribution, as in `scipy.stats.cauchy`."""

from imprint._src.scipy.stats.cauchy import cdf as cdf
from imprint._src.scipy.stats.cauchy import isf as isf
from imprint._src.scipy.stats.cauchy import logcdf as logcdf
from imprint._src.scipy.stats.cauchy import logpdf as logpdf
from imprint._src.scipy.stats.cauchy import logsf as logsf
from imprint._src.scipy.stats.cauchy import pdf as pdf
from imprint._src.scipy.stats.cauchy import ppf as ppf
from imprint._src.scipy.stats.cauchy import sf as sf

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

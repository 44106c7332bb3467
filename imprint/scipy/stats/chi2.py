"""The chi-squared distribution, as in `scipy.stats.chi2`."""

from imprint._src.scipy.stats.chi2 import cdf as cdf
from imprint._src.scipy.stats.chi2 import logcdf as logcdf
from imprint._src.scipy.stats.chi2 import logpdf as logpdf
from imprint._src.scipy.stats.chi2 import logsf as logsf
from imprint._src.scipy.stats.chi2 import pdf as pdf
from imprint._src.scipy.stats.chi2 import sf as sf

__all__ = [
    "cdf",
    "logcdf",
    "logpdf",
    "logsf",
    "pdf",
    "sf",
]

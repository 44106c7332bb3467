"""The right Gumbel distribution, as in `scipy.stats.gumbel_r`."""

from imprint._src.scipy.stats.gumbel_r import cdf as cdf
from imprint._src.scipy.stats.gumbel_r import logcdf as logcdf
from imprint._src.scipy.stats.gumbel_r import logpdf as logpdf
from imprint._src.scipy.stats.gumbel_r import logsf as logsf
from imprint._src.scipy.stats.gumbel_r import pdf as pdf
from imprint._src.scipy.stats.gumbel_r import ppf as ppf
from imprint._src.scipy.stats.gumbel_r import sf as sf

__all__ = [
    "cdf",
    "logcdf",
    "logpdf",
    "logsf",
    "pdf",
    "ppf",
    "sf",
]

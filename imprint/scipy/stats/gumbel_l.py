"""The left Gumbel distribution, as in `scipy.stats.gumbel_l`."""

from imprint._src.scipy.stats.gumbel_l import cdf as cdf
from imprint._src.scipy.stats.gumbel_l import logcdf as logcdf
from imprint._src.scipy.stats.gumbel_l import logpdf as logpdf
from imprint._src.scipy.stats.gumbel_l import logsf as logsf
from imprint._src.scipy.stats.gumbel_l import pdf as pdf
from imprint._src.scipy.stats.gumbel_l import ppf as ppf
from imprint._src.scipy.stats.gumbel_l import sf as sf

__all__ = [
    "cdf",
    "logcdf",
    "logpdf",
    "logsf",
    "pdf",
    "ppf",
    "sf",
]

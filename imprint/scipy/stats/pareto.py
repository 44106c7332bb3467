"""The Pareto distribution, as in `scipy.stats.pareto`."""

from imprint._src.scipy.stats.pareto import cdf as cdf
from imprint._src.scipy.stats.pareto import logcdf as logcdf
from imprint._src.scipy.stats.pareto import logpdf as logpdf
from imprint._src.scipy.stats.pareto import logsf as logsf
from imprint._src.scipy.stats.pareto import pdf as pdf
from imprint._src.scipy.stats.pareto import ppf as ppf
from imprint._src.scipy.stats.pareto import sf as sf

__all__ = [
    "cdf",
    "logcdf",
    "logpdf",
    "logsf",
    "pdf",
    "ppf",
    "sf",
]

"""The uniform distribution, as in `scipy.stats.uniform`."""

from imprint._src.scipy.stats.uniform import cdf as cdf
from imprint._src.scipy.stats.uniform import logpdf as logpdf
from imprint._src.scipy.stats.uniform import pdf as pdf
from imprint._src.scipy.stats.uniform import ppf as ppf

__all__ = [
    "cdf",
    "logpdf",
    "pdf",
    "ppf",
]

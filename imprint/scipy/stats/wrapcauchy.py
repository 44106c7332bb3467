"""The wrapped Cauchy distribution, as in `scipy.stats.wrapcauchy`."""

from imprint._src.scipy.stats.wrapcauchy import logpdf as logpdf
from imprint._src.scipy.stats.wrapcauchy import pdf as pdf

__all__ = [
    "logpdf",
    "pdf",
]

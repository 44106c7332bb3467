"""The Laplace distribution, as in `scipy.stats.laplace`."""

from imprint._src.scipy.stats.laplace import cdf as cdf
from imprint._src.scipy.stats.laplace import logpdf as logpdf
from imprint._src.scipy.stats.laplace import pdf as pdf

__all__ = [
    "cdf",
    "logpdf",
    "pdf",
]

"""The multivariate normal distribution, as in `scipy.stats.multivariate_normal`."""

from imprint._src.scipy.stats.multivariate_normal import logpdf as logpdf
from imprint._src.scipy.stats.multivariate_normal import pdf as pdf

__all__ = [
    "logpdf",
    "pdf",
]

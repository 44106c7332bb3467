"""The multivariate normal distribution: as `scipy.stats.multivariate_normal` has it."""

from imprint._src.scipy.stats.multivariate_normal import logpdf as logpdf
from imprint._src.scipy.stats.multivariate_normal import pdf as pdf

__all__ = [
    "logpdf",
    "pdf",
]

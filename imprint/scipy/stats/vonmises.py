"""The von Mises distribution, as in `scipy.stats.vonmises`."""

from imprint._src.scipy.stats.vonmises import logpdf as logpdf
from imprint._src.scipy.stats.vonmises import pdf as pdf

__all__ = [
    "logpdf",
    "pdf",
]

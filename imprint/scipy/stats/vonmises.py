"""The distribution of von Mises, of an angle: as `scipy.stats.vonmises` has it."""

from imprint._src.scipy.stats.vonmises import logpdf as logpdf
from imprint._src.scipy.stats.vonmises import pdf as pdf

__all__ = [
    "logpdf",
    "pdf",
]

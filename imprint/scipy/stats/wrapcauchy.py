"""The wrapped Cauchy distribution, of an angle: as `scipy.stats.wrapcauchy` has it."""

from imprint._src.scipy.stats.wrapcauchy import logpdf as logpdf
from imprint._src.scipy.stats.wrapcauchy import pdf as pdf

__all__ = [
    "logpdf",
    "pdf",
]

"""Student's distribution of df degrees of freedom: as `scipy.stats.t` has it."""

from imprint._src.scipy.stats.t import logpdf as logpdf
from imprint._src.scipy.stats.t import pdf as pdf

__all__ = [
    "logpdf",
    "pdf",
]

"""Student's t distribution, as in `scipy.stats.t`."""

from imprint._src.scipy.stats.t import logpdf as logpdf
from imprint._src.scipy.stats.t import pdf as pdf

__all__ = [
    "logpdf",
    "pdf",
]

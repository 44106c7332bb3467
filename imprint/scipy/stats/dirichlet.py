"""The Dirichlet distribution, as in `scipy.stats.dirichlet`."""

from imprint._src.scipy.stats.dirichlet import logpdf as logpdf
from imprint._src.scipy.stats.dirichlet import pdf as pdf

__all__ = [
    "logpdf",
    "pdf",
]

"""The geometric distribution, as in `scipy.stats.geom`."""

from imprint._src.scipy.stats.geom import logpmf as logpmf
from imprint._src.scipy.stats.geom import pmf as pmf

__all__ = [
    "logpmf",
    "pmf",
]

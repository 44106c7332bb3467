"""The geometric distribution: as `scipy.stats.geom` has it."""

from imprint._src.scipy.stats.geom import logpmf as logpmf
from imprint._src.scipy.stats.geom import pmf as pmf

__all__ = [
    "logpmf",
    "pmf",
]

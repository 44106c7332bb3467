"""Values between the points of a grid, as `jax.scipy.interpolate` finds them."""

from imprint._src.scipy.interpolate import (
    RegularGridInterpolator as RegularGridInterpolator,
)

__all__ = [
    "RegularGridInterpolator",
]

"""Interpolation on grids, as in `jax.scipy.interpolate`."""

from imprint._src.bootstrap import attribute_errors, public_names
from imprint._src.scipy.interpolate import (
    RegularGridInterpolator as RegularGridInterpolator,
)

__all__ = [
    "RegularGridInterpolator",
]

attribute_errors.explain_missing(__name__)
public_names.set_public_names(__name__)

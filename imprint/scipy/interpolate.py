"""Values between the points of a grid, as `jax.scipy.interpolate` finds them."""

from imprint._src.bootstrap import attribute_errors, public_names
from imprint._src.scipy.interpolate import (
    RegularGridInterpolator as RegularGridInterpolator,
)

__all__ = [
    "RegularGridInterpolator",
]

attribute_errors.explain_missing(__name__)
public_names.set_public_names(__name__)

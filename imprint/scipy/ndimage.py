"""Interpolation of images of any rank under SciPy's names: map_coordinates."""

from imprint._src.bootstrap import attribute_errors, public_names
from imprint._src.scipy.ndimage import map_coordinates as map_coordinates

__all__ = [
    "map_coordinates",
]

attribute_errors.explain_missing(__name__)
public_names.set_public_names(__name__)

"""Images of any rank under SciPy's names: map_coordinates."""

from imprint._src.scipy.ndimage import map_coordinates as map_coordinates

__all__ = [
    "map_coordinates",
]

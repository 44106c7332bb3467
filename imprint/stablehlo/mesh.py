"""The axes of the mesh that a program runs on, as far as it is written for one device.

Devices are counted in the order of the mesh, whose last axis is the fastest. Which of the
axes a function is written along, and which the compiler still splits, knows the module.
"""

from math import prod
from typing import NamedTuple, final

import numpy as np


@final
class MeshAxis(NamedTuple):
    """An axis of the mesh that a program runs on.

    Args:
        sizes: the sizes of all axes of the mesh.
        at: which of them it is.
        others: the names of the axes that the compiler still splits by itself.
    """

    sizes: tuple[int, ...]
    at: int
    others: tuple[str, ...]

    @property
    def size(self) -> int:
        """How many devices lie along it."""
        return self.sizes[self.at]

    @property
    def stride(self) -> int:
        """How far apart neighbours are in the order of the mesh."""
        return prod(self.sizes[self.at + 1 :])

    def groups(self) -> "np.ndarray[tuple[int, int], np.dtype[np.int64]]":
        """Return the devices, a row for those that lie along it together."""
        ids = np.arange(prod(self.sizes)).reshape(self.sizes)
        return np.moveaxis(ids, self.at, -1).reshape(-1, self.size)

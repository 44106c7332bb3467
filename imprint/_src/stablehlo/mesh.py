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
        parted: groups of its places that have nothing to do with one another, if any.
    """

    sizes: tuple[int, ...]
    at: int
    others: tuple[str, ...]
    parted: tuple[tuple[int, ...], ...] = ()

    @property
    def size(self) -> int:
        """How many devices lie along it, or in a group of them, in the longest."""
        return max(map(len, self.parted)) if self.parted else self.sizes[self.at]

    @property
    def stride(self) -> int:
        """How far apart neighbours are in the order of the mesh."""
        return prod(self.sizes[self.at + 1 :])

    def groups(self) -> "np.ndarray[tuple[int, int], np.dtype[np.int64]]":
        """Return the devices, a row for those that are together, with -1 at its end."""
        ids = np.arange(prod(self.sizes)).reshape(self.sizes)
        rows = np.moveaxis(ids, self.at, -1).reshape(-1, self.sizes[self.at])
        if not self.parted:
            return rows
        found = np.full((len(rows), len(self.parted), self.size), -1, np.int64)
        for i, group in enumerate(self.parted):
            found[:, i, : len(group)] = rows[:, list(group)]
        return found.reshape(-1, self.size)

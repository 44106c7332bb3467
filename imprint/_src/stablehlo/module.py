"""A module under construction: its functions, and the mesh that it runs on.

Devices are counted in the order of the mesh, whose last axis varies fastest. The module
knows along which axes the current function is written, and which the compiler splits.
"""

from collections.abc import Callable
from math import prod
from typing import Any, NamedTuple, final

import numpy as np

from imprint._src.stablehlo.types import TensorType


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
        """The distance of neighbours along it in the order of the mesh."""
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


class ModuleWriter:
    """A module under construction: its functions by key, with unique names."""

    def __init__(self, name: str, names: tuple[str, ...] = ()) -> None:
        self.name = name
        self.names = names
        """Of sizes; each function but `main` takes their values before all else."""
        self._texts: list[str] = []
        self._names: set[str] = set()
        self._by_key: dict[Any, tuple[str, tuple[TensorType, ...], Any]] = {}
        self.mesh: tuple[tuple[str, int], ...] = ()
        """Names and sizes of the axes of the devices that it runs on; one if empty."""
        self.manual: frozenset[str] = frozenset()
        """The axes for one device of which the present function is written."""
        self.locations: dict[str, str] = {}
        self.partitions = 1
        """Over how many devices the program is spread."""
        self.is_fast = False
        """Whether rules choose faster formulations: those of one device, a CPU."""
        self.has_kernels = False
        """Whether rules may call native kernels, too."""
        self.vectorizes_sums = False
        """Whether it has sums, and XLA computes functions that are summed by vectors."""
        self.loops = 0
        """How many loops the present body is in: it runs often."""
        self.callbacks: list[Callable[..., Any]] = []
        """The functions of the host that it calls, by their index."""

    def unique_name(self, wanted: str) -> str:
        """Return `wanted`, made a valid symbol and unique in this module."""
        base = "".join(c if c.isalnum() or c == "_" else "_" for c in wanted) or "f"
        base = base if not base[0].isdigit() else f"_{base}"
        name, count = base, 0
        while name in self._names:
            name, count = f"{base}_{count}", count + 1
        self._names.add(name)
        return name

    def function(
        self, key: Any, wanted: str, define: Callable[[str], tuple[TensorType, ...]]
    ) -> tuple[str, tuple[TensorType, ...]]:
        """Return name and result types of the function for the object `key`.

        `define(name)` writes it, the first time; later calls share it.
        """
        place = id(key), self.manual
        found = self._by_key.get(place)
        if found is None:
            name = self.unique_name(wanted)
            found = name, define(name), key  # the key is held, so its id stays taken
            self._by_key[place] = found
        return found[0], found[1]

    def add(self, text: str) -> None:
        """Append the text of a finished function."""
        self._texts.append(text)

    def location(self, place: str) -> str:
        """Return the alias of a location such as `"f.py":3:0`."""
        alias = self.locations.get(place)
        if alias is None:
            alias = self.locations[place] = f"#loc{len(self.locations) + 1}"
        return alias

    def mesh_axis(self, name: Any) -> MeshAxis | None:
        """Return an axis for one device of which the present function is written."""
        if name not in self.manual:
            return None
        names = [axis for axis, _ in self.mesh]
        sizes = tuple([size for _, size in self.mesh])
        others = tuple([axis for axis in names if axis not in self.manual])
        return MeshAxis(sizes, names.index(name), others)

    def text(self) -> str:
        """Return the whole module."""
        head = (
            f"module @{self.name} attributes {{mhlo.num_partitions = "
            f"{self.partitions} : i32, mhlo.num_replicas = 1 : i32}} {{\n"
        )
        aliases = "".join(f"{a} = loc({p})\n" for p, a in self.locations.items())
        return f"{head}{''.join(reversed(self._texts))}}}\n{aliases}"

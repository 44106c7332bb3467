"""Meshes: devices in a grid whose axes have names.

A `Mesh` is a value: meshes of the same devices in the same grid with the same names are
equal, and hash alike, so they can be part of a key. An `AbstractMesh` has the names and
the sizes, and no devices. The axes of both have types, for which see `AxisType`.
"""

from collections import OrderedDict
from collections.abc import Hashable, Sequence
from enum import Enum
from math import prod
from typing import Any, cast, final

import numpy as np

from imprint._src.config import entered_mesh, left_mesh
from imprint._src.errors import ArgumentError


class AxisType(Enum):
    """How a mesh axis may be used inside a compiled function.

    `Auto`: the compiler splits arrays, guided by arguments and constraints. `Explicit`:
    here the same as `Auto`; JAX puts the split into the types of arrays. `Manual`: the
    program splits them, as inside `shard_map`.
    """

    Auto = "auto"
    Explicit = "explicit"
    Manual = "manual"

    def __repr__(self) -> str:
        return self.name


class _Axes:
    """Axes with names, sizes and types."""

    __slots__ = ("axis_names", "axis_sizes", "axis_types")

    axis_names: tuple[str, ...]
    axis_sizes: tuple[int, ...]
    axis_types: tuple[AxisType, ...]

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable; cannot set {name!r}")

    @property
    def shape(self) -> "OrderedDict[str, int]":
        """The size of each axis by its name."""
        return OrderedDict(self.shape_tuple)

    @property
    def shape_tuple(self) -> tuple[tuple[str, int], ...]:
        """Pairs of the name and the size of each axis."""
        return tuple(zip(self.axis_names, self.axis_sizes, strict=True))

    @property
    def size(self) -> int:
        """How many devices it has."""
        return prod(self.axis_sizes) if self.axis_names else 0

    @property
    def empty(self) -> bool:
        """Whether it has no axes."""
        return not self.axis_names

    @property
    def manual_axes(self) -> tuple[str, ...]:
        """The names of the axes of type `Manual`."""
        return self._of_type(AxisType.Manual)

    @property
    def auto_axes(self) -> tuple[str, ...]:
        """The names of the axes of type `Auto`."""
        return self._of_type(AxisType.Auto)

    @property
    def explicit_axes(self) -> tuple[str, ...]:
        """The names of the axes of type `Explicit`."""
        return self._of_type(AxisType.Explicit)

    @property
    def are_all_axes_manual(self) -> bool:
        """Whether there are axes, and all are of type `Manual`."""
        return self._are_all(AxisType.Manual)

    @property
    def are_all_axes_auto(self) -> bool:
        """Whether there are axes, and all are of type `Auto`."""
        return self._are_all(AxisType.Auto)

    @property
    def are_all_axes_explicit(self) -> bool:
        """Whether there are axes, and all are of type `Explicit`."""
        return self._are_all(AxisType.Explicit)

    def _are_all(self, wanted: AxisType) -> bool:
        return {*self.axis_types} == {wanted}

    def _of_type(self, wanted: AxisType) -> tuple[str, ...]:
        pairs = zip(self.axis_names, self.axis_types, strict=True)
        return tuple([name for name, kind in pairs if kind is wanted])

    def __repr__(self) -> str:
        sizes = ", ".join(f"{name!r}: {size}" for name, size in self.shape_tuple)
        types = "".join(
            f", {kind!r}"
            for kind in [*dict.fromkeys(self.axis_types)]
            if {*self.axis_types} != {AxisType.Auto}
        )
        return f"{type(self).__name__}({sizes}{types})"

    def _put(self, names: Any, sizes: Sequence[int], types: Any) -> None:
        kind = type(self).__name__
        put = object.__setattr__
        put(self, "axis_names", _names(kind, names))
        put(self, "axis_sizes", tuple(sizes))
        put(self, "axis_types", _types(kind, types, len(self.axis_names)))
        if len(self.axis_sizes) != len(self.axis_names):
            raise ArgumentError(
                f"{kind}: expected a name for each of {len(self.axis_sizes)} axes of "
                f"the sizes {self.axis_sizes}, got {self.axis_names}. Give as many "
                "names as there are axes."
            )


@final
class Mesh(_Axes):
    """Devices in a grid whose axes have names.

    Args:
        devices: the devices, in an array with an axis for each name.
        axis_names: the names, or the one name.
        axis_types: an `AxisType` for each, or one for all; `Auto` if left out.

    Example:
        >>> import imprint, numpy
        >>> mesh = imprint.sharding.Mesh(numpy.array(imprint.devices()[:1]), "data")
        >>> mesh
        Mesh('data': 1)
        >>> mesh.size, mesh.shape["data"]
        (1, 1)
    """

    __slots__ = ("__weakref__", "_flat", "_hash", "devices")

    devices: "np.ndarray[Any, np.dtype[np.object_]]"
    _flat: tuple[Hashable, ...]
    _hash: int

    def __init__(self, devices: Any, axis_names: Any, axis_types: Any = None) -> None:
        grid = np.array(devices, dtype=object)
        grid.flags.writeable = False
        self._put(axis_names, grid.shape, axis_types)
        flat: tuple[Any, ...] = tuple(grid.flat) if grid.ndim else ()
        if len({*flat}) != len(flat):
            twice = next(d for d in flat if flat.count(d) > 1)
            raise ArgumentError(
                f"Mesh: expected each device once, got {twice} {flat.count(twice)} "
                "times. Leave the others out."
            )
        put = object.__setattr__
        put(self, "devices", grid)
        put(self, "_flat", flat)
        put(self, "_hash", hash((flat, self.shape_tuple, self.axis_types)))

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(other) is not Mesh:
            return NotImplemented
        return (
            self._flat == other._flat
            and self.shape_tuple == other.shape_tuple
            and self.axis_types == other.axis_types
        )

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[Any, ...]:
        return Mesh, (np.array(self.devices), self.axis_names, self.axis_types)

    def __enter__(self) -> "Mesh":
        entered_mesh(self)
        return self

    def __exit__(self, *exc: object) -> None:
        left_mesh()

    @property
    def flat_devices(self) -> tuple[Any, ...]:
        """The devices in the order of the grid, the last axis the fastest."""
        return self._flat

    @property
    def local_devices(self) -> tuple[Any, ...]:
        """Those of the devices that belong to this process."""
        return tuple([device for device in self._flat if cast("Any", device).is_here])

    @property
    def device_ids(self) -> "np.ndarray[Any, np.dtype[np.int64]]":
        """The numbers of the devices, in the grid."""
        ids = [device.id for device in cast("tuple[Any, ...]", self._flat)]
        return np.array(ids, np.int64).reshape(self.axis_sizes)

    @property
    def abstract_mesh(self) -> "AbstractMesh":
        """The mesh without its devices."""
        return AbstractMesh(self.axis_sizes, self.axis_names, self.axis_types)

    @property
    def is_multi_process(self) -> bool:
        """Whether other processes have some of its devices."""
        return len(self.local_devices) != len(self._flat)

    @property
    def is_scalar(self) -> bool:
        """Whether it has axes without sizes, of no device."""
        return not self.empty and not self._flat

    @property
    def local_mesh(self) -> "Mesh":
        """The mesh of the devices of this process, the block that they form in it."""
        if not self.is_multi_process:
            return self
        own = {*self.local_devices}
        places = np.argwhere(
            np.vectorize(own.__contains__, otypes=[bool])(self.devices)
        )
        first, last = places.min(0), places.max(0)
        block = self.devices[tuple(map(slice, first, last + 1))]
        if block.size != len(own):
            raise ArgumentError(
                f"Mesh.local_mesh: expected the devices of this process to be a block of "
                f"{self!r}, got {len(own)} devices in a block of {block.size}. Arrange the "
                "devices of each process next to each other."
            )
        return Mesh(block, self.axis_names, self.axis_types)

    def update(
        self, devices: Any = None, axis_names: Any = None, axis_types: Any = None
    ) -> "Mesh":
        """Return the mesh with other devices, names or types of its axes."""
        return Mesh(
            self.devices if devices is None else devices,
            self.axis_names if axis_names is None else axis_names,
            self.axis_types if axis_types is None else axis_types,
        )


@final
class AbstractMesh(_Axes):
    """Axes with names and sizes, of devices that are not said.

    Args:
        axis_sizes: how long each axis is.
        axis_names: the names, or the one name.
        axis_types: an `AxisType` for each, or one for all; `Auto` if left out.

    Example:
        >>> import imprint
        >>> imprint.sharding.AbstractMesh((4, 2), ("data", "model")).size
        8
    """

    __slots__ = ()

    def __init__(
        self, axis_sizes: Sequence[int], axis_names: Any, axis_types: Any = None
    ) -> None:
        self._put(axis_names, axis_sizes, axis_types)

    def __eq__(self, other: object) -> bool:
        if type(other) is not AbstractMesh:
            return NotImplemented
        return self._parts() == other._parts()

    def __hash__(self) -> int:
        return hash(self._parts())

    def __reduce__(self) -> tuple[Any, ...]:
        return AbstractMesh, (self.axis_sizes, self.axis_names, self.axis_types)

    def _parts(self) -> tuple[object, ...]:
        return self.axis_sizes, self.axis_names, self.axis_types

    @property
    def abstract_mesh(self) -> "AbstractMesh":
        """The mesh itself."""
        return self

    def update(
        self, axis_sizes: Any = None, axis_names: Any = None, axis_types: Any = None
    ) -> "AbstractMesh":
        """Return the mesh with other sizes, names or types of its axes."""
        return AbstractMesh(
            self.axis_sizes if axis_sizes is None else axis_sizes,
            self.axis_names if axis_names is None else axis_names,
            self.axis_types if axis_types is None else axis_types,
        )

    def update_axis_types(self, name_to_type: dict[str, AxisType]) -> "AbstractMesh":
        """Return the mesh with other types of the axes with these names."""
        pairs = zip(self.axis_names, self.axis_types, strict=True)
        types = [name_to_type.get(name, old) for name, old in pairs]
        return self.update(axis_types=tuple(types))


def _names(kind: str, given: Any) -> tuple[str, ...]:
    names: tuple[Any, ...] = (given,) if isinstance(given, str) else tuple(given)
    if not all(isinstance(name, str) for name in names):
        raise ArgumentError(
            f"{kind}: expected strings as axis_names, got {names!r}. Write {kind}(..., "
            "('data', 'model'))."
        )
    if len({*names}) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ArgumentError(
            f"{kind}: expected axis_names that differ, got {twice!r} twice in {names!r}. "
            "Give each axis a name of its own."
        )
    return names


def _types(kind: str, given: Any, count: int) -> tuple[AxisType, ...]:
    if given is None:
        return (AxisType.Auto,) * count
    types: tuple[Any, ...] = (
        (given,) * count if isinstance(given, AxisType) else tuple(given)
    )
    if len(types) != count or not all(isinstance(t, AxisType) for t in types):
        raise ArgumentError(
            f"{kind}: expected an AxisType for each of {count} axes, got {types!r}. "
            "Leave axis_types out for AxisType.Auto."
        )
    return types

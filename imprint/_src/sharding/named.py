"""Shardings over a mesh: which device has which part of an array.

A `NamedSharding` is a mesh and a spec; it is checked against the mesh when it is made,
and against a shape by `check_shape`: each of its axes must divide the shape. Devices
are in the order of the mesh. It is a value, so it can be part of an aval and of a key.
"""

from collections.abc import Sequence
from math import prod
from typing import Any, final

from imprint._src.errors import ArgumentError, IndivisibleError, ShapeError
from imprint._src.sharding.mesh import AbstractMesh, Mesh
from imprint._src.sharding.single import Sharding
from imprint._src.sharding.spec import PartitionSpec, names_of

Index = tuple[slice, ...]
"""Which part of an array, axis by axis."""


@final
class NamedSharding(Sharding):
    """An array spread over a mesh as a spec says.

    Args:
        mesh: the devices.
        spec: which axes of the mesh split which axes of the array.

    Raises:
        ArgumentError: the spec names an axis that the mesh has not, or one twice.

    Example:
        >>> import imprint
        >>> mesh = imprint.make_mesh((1,), ("data",))
        >>> rows = imprint.NamedSharding(mesh, imprint.P("data"))
        >>> rows, rows.shard_shape((8, 3))
        (NamedSharding(mesh=Mesh('data': 1), spec=P('data')), (8, 3))
    """

    __slots__ = ("__weakref__", "_hash", "mesh", "spec")

    mesh: Mesh | AbstractMesh
    spec: PartitionSpec
    _hash: int

    def __init__(self, mesh: Any, spec: Any) -> None:
        if not isinstance(mesh, Mesh | AbstractMesh):
            raise ArgumentError(
                f"NamedSharding: expected a Mesh, got {mesh!r}. imprint.make_mesh makes "
                "one."
            )
        if isinstance(spec, tuple):
            spec = PartitionSpec(*spec)
        if not isinstance(spec, PartitionSpec):
            raise ArgumentError(
                f"NamedSharding: expected a PartitionSpec, got {spec!r}. Write "
                "imprint.P('data'), or imprint.P() for a copy on each device."
            )
        check_names("NamedSharding", mesh, spec)
        put = object.__setattr__
        put(self, "mesh", mesh)
        put(self, "spec", spec)
        put(self, "_hash", hash((mesh, spec)))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"NamedSharding is immutable; cannot set {name!r}")

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(other) is not NamedSharding:
            return NotImplemented
        return self.spec == other.spec and self.mesh == other.mesh

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"NamedSharding(mesh={self.mesh!r}, spec={self.spec!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return NamedSharding, (self.mesh, self.spec)

    # ---- devices ----

    @property
    def flat_devices(self) -> tuple[Any, ...]:
        """The devices, in the order of the mesh.

        Raises:
            ArgumentError: the mesh is an AbstractMesh.
        """
        if isinstance(self.mesh, AbstractMesh):
            raise ArgumentError(
                f"NamedSharding: expected a mesh with devices, got {self.mesh!r}. Make "
                "one with imprint.make_mesh."
            )
        return self.mesh.flat_devices

    @property
    def device_set(self) -> set[Any]:
        """The devices that have a part of the array."""
        return {*self.flat_devices}

    @property
    def addressable_devices(self) -> set[Any]:
        """The devices of this process that have a part of the array."""
        here = self.flat_devices[0].client.process_index()
        return {d for d in self.flat_devices if d.process_index == here}

    @property
    def num_devices(self) -> int:
        """How many devices have a part of the array."""
        return self.mesh.size

    @property
    def has_addressable_devices(self) -> bool:
        """Whether some of its devices belong to this process."""
        return bool(self.addressable_devices)

    def check_compatible_aval(self, aval_shape: Sequence[int]) -> None:
        """Raise ShapeError if an array of this shape cannot be spread like this.

        Args:
            aval_shape: the lengths of its axes.
        """
        self.check_shape("check_compatible_aval", aval_shape)

    @property
    def is_fully_addressable(self) -> bool:
        """Whether all its devices belong to this process."""
        return self.addressable_devices == self.device_set

    @property
    def is_fully_replicated(self) -> bool:
        """Whether each device has the whole array."""
        sizes = dict(self.mesh.shape_tuple)
        return all(sizes[name] == 1 for entry in self.spec for name in names_of(entry))

    # ---- parts ----

    def tiling(self, ndim: int) -> tuple[int, ...]:
        """Return into how many parts each of the axes of an array is split."""
        sizes = dict(self.mesh.shape_tuple)
        parts = [prod(sizes[n] for n in names_of(entry)) for entry in self.spec]
        return (*parts, *[1] * (ndim - len(parts)))

    def check_shape(self, called: str, shape: Sequence[int]) -> None:
        """Raise an error if an array of this shape cannot be spread like this.

        Args:
            called: the function, or the name of the array, for the message.
            shape: the lengths of its axes.

        Raises:
            ShapeError: the spec is longer than the shape.
            IndivisibleError: an axis cannot be split into equal parts.
        """
        shown = f"[{','.join(map(str, shape))}]"
        if len(self.spec) > len(shape):
            raise ShapeError(
                f"{called}: expected a spec with at most an entry for each of "
                f"{len(shape)} axes, got {self.spec} for the shape {shown}. Leave "
                "entries out from the end."
            )
        tiles = zip(self.tiling(len(shape)), shape, strict=True)
        for axis, (parts, length) in enumerate(tiles):
            if length % parts:
                raise IndivisibleError(
                    f"{called}: expected axis {axis} to be a multiple of {parts}, the "
                    f"size of {self.spec[axis]!r} in {self.mesh!r}, got {length} of the "
                    f"shape {shown}. Pad it, or split another axis."
                )

    def shard_shape(self, global_shape: Sequence[int]) -> tuple[int, ...]:
        """Return the shape of the part that each device has.

        Args:
            global_shape: that of the whole array.

        Raises:
            ShapeError: an array of this shape cannot be spread like this.
        """
        self.check_shape("shard_shape", global_shape)
        tiles = zip(global_shape, self.tiling(len(global_shape)), strict=True)
        return tuple([length // parts for length, parts in tiles])

    def places(self, ndim: int) -> list[tuple[int, ...]]:
        """Return which part each device has: its number along each axis of the array."""
        sizes = self.mesh.shape_tuple
        found: list[tuple[int, ...]] = []
        for at in range(self.mesh.size):
            where: dict[str, int] = {}
            rest = at
            for name, size in reversed(sizes):
                rest, where[name] = divmod(rest, size)
            place: list[int] = []
            for entry in self.spec:
                number = 0
                for name in names_of(entry):
                    number = number * dict(sizes)[name] + where[name]
                place.append(number)
            found.append((*place, *[0] * (ndim - len(place))))
        return found

    def devices_indices_map(self, global_shape: Sequence[int]) -> dict[Any, Index]:
        """Return which part of an array each device has.

        Args:
            global_shape: the shape of the whole array.
        """
        shape = self.shard_shape(global_shape)
        tiling = self.tiling(len(shape))
        return {
            device: tuple(
                [
                    slice(k * n, (k + 1) * n) if parts > 1 else slice(None)
                    for k, n, parts in zip(place, shape, tiling, strict=True)
                ]
            )
            for device, place in zip(
                self.flat_devices, self.places(len(shape)), strict=True
            )
        }

    def addressable_devices_indices_map(
        self, global_shape: Sequence[int]
    ) -> dict[Any, Index]:
        """Return which part of an array each device of this process has.

        Args:
            global_shape: the shape of the whole array.
        """
        here = self.addressable_devices
        every = self.devices_indices_map(global_shape)
        return {device: part for device, part in every.items() if device in here}

    def is_equivalent_to(self, other: object, ndim: int) -> bool:
        """Return whether both put the same parts on the same devices.

        Args:
            other: another sharding.
            ndim: the rank of the array.
        """
        if self == other:
            return True
        if not isinstance(other, NamedSharding):
            return self.num_devices == 1 and {*self.flat_devices} == getattr(
                other, "device_set", None
            )
        return (
            self.flat_devices == other.flat_devices
            and self.tiling(ndim) == other.tiling(ndim)
            and self.places(ndim) == other.places(ndim)
        )

    def update(self, *, spec: Any) -> "NamedSharding":
        """Return a sharding over the same mesh by another spec."""
        return NamedSharding(self.mesh, spec)


def check_names(called: str, mesh: Mesh | AbstractMesh, spec: PartitionSpec) -> None:
    """Raise ArgumentError if a spec names an axis that a mesh has not, or one twice."""
    seen: set[str] = set()
    for name in [n for entry in spec for n in names_of(entry)]:
        if name not in mesh.axis_names:
            raise ArgumentError(
                f"{called}: expected axes of the mesh, {_listed(mesh)}, got {name!r} in "
                f"{spec}. Name one of them, or make a mesh with that axis."
            )
        if name in seen:
            raise ArgumentError(
                f"{called}: expected each axis of the mesh at most once, got {name!r} "
                f"twice in {spec}. An axis of a mesh splits one axis of an array."
            )
        seen.add(name)


def _listed(mesh: Mesh | AbstractMesh) -> str:
    return ", ".join(map(repr, mesh.axis_names)) or "of which it has none"

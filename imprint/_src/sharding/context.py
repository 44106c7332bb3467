"""The current mesh, whose axes a bare `PartitionSpec` names.

It is the flag `mesh`, so it is part of each key. `set_mesh` sets it, as a statement for
the rest of this thread, or as a `with` for its block.
"""

from typing import Any, final

import numpy as np

from imprint._src.config import entered_mesh, left_mesh, settings
from imprint._src.errors import ArgumentError
from imprint._src.sharding.mesh import AbstractMesh, Mesh
from imprint._src.sharding.named import NamedSharding
from imprint._src.sharding.spec import PartitionSpec


@final
class set_mesh:  # noqa: N801 - JAX's name, and it is called as a function
    """Name the mesh whose axes a bare `PartitionSpec` means.

    It holds from now on in this thread; as a `with`, inside the block.

    Args:
        mesh: the mesh.

    Raises:
        ArgumentError: it is no `Mesh`.

    Example:
        >>> import imprint
        >>> with imprint.set_mesh(imprint.make_mesh((1,), ("data",))):
        ...     imprint.sharding.get_mesh()
        Mesh('data': 1)
    """

    def __init__(self, mesh: Any) -> None:
        if not isinstance(mesh, Mesh):
            raise ArgumentError(
                f"set_mesh: expected an imprint.sharding.Mesh, got {mesh!r}. "
                "imprint.make_mesh makes one."
            )
        self.mesh: Mesh = mesh
        entered_mesh(mesh)

    def __enter__(self) -> Mesh:
        return self.mesh

    def __exit__(self, *exc: object) -> None:
        left_mesh()


def get_mesh() -> Mesh:
    """Return the mesh in force; an empty one if none is.

    Example:
        >>> import imprint
        >>> imprint.sharding.get_mesh().empty
        True
    """
    found: Any = settings().mesh
    return Mesh(np.empty((), object), ()) if found is None else found


def get_abstract_mesh() -> AbstractMesh:
    """Return the mesh in force without its devices; an empty one if none is.

    Example:
        >>> import imprint
        >>> imprint.sharding.get_abstract_mesh().axis_names
        ()
    """
    return get_mesh().abstract_mesh


def resolve_sharding(called: str, given: Any) -> Any:
    """Return a sharding argument, with a bare spec over the current mesh.

    Args:
        called: the function, for the message.
        given: a `PartitionSpec`, a sharding over the current mesh without its devices, or
            anything else, which is returned as it is.

    Raises:
        ArgumentError: it is a spec, and no mesh is in force.
    """
    mesh: Any = settings().mesh
    if type(given) is NamedSharding and isinstance(given.mesh, AbstractMesh):
        is_current = mesh is not None and mesh.abstract_mesh == given.mesh
        return NamedSharding(mesh, given.spec) if is_current else given
    if not isinstance(given, PartitionSpec):
        return given
    if mesh is None:
        raise ArgumentError(
            f"{called}: expected a mesh in force for the bare {given}, got none. Write "
            f"`with imprint.set_mesh(mesh):`, or NamedSharding(mesh, {given})."
        )
    return NamedSharding(mesh, given)

import pickle

import numpy as np
import pytest

from imprint._src.config import settings
from imprint._src.sharding.context import resolve_sharding
from imprint._src.sharding.spec import P
from imprint.errors import ArgumentError, IndivisibleError, ShapeError
from imprint.sharding import (
    AbstractMesh,
    AxisType,
    Mesh,
    NamedSharding,
    get_abstract_mesh,
    get_mesh,
    set_mesh,
)

DEVICES = np.array([f"d{i}" for i in range(8)], object)
MESH = Mesh(DEVICES.reshape(4, 2), ("x", "y"))


def over(*entries):
    return NamedSharding(MESH, P(*entries))


def test_a_mesh_without_devices_stands_for_the_mesh_in_force():
    abstract = NamedSharding(MESH.abstract_mesh, P("x"))
    assert resolve_sharding("f", abstract) is abstract
    with set_mesh(MESH):
        assert resolve_sharding("f", abstract) == over("x")
        other = NamedSharding(AbstractMesh((8,), ("x",)), P("x"))
        assert resolve_sharding("f", other) is other


def test_a_spec_is_a_value():
    assert P("x") == P(("x",)) == P(["x"]) != P("x", None)
    assert hash(P("x")) == hash(P(("x",)))
    assert P() == P() != P(())
    assert P(()) == P(None)
    assert P("x", "y") == ("x", "y")
    assert [*P("x", None)] == ["x", None]
    assert P("x", None)[0] == "x"
    assert len(P("x", None)) == 2
    assert P("x") + P("y") == P("x", "y") == (*P("x"), "y") == ("x", *P("y"))
    assert repr(P(("x", "y"), None)) == "P(('x', 'y'), None)"
    assert P("x", P.UNCONSTRAINED).is_unconstrained
    assert pickle.loads(pickle.dumps(P(P.UNCONSTRAINED))) == P(P.UNCONSTRAINED)


def test_a_mesh_is_a_value():
    same = Mesh(DEVICES.reshape(4, 2).tolist(), ["x", "y"], [AxisType.Auto] * 2)
    assert same == MESH
    assert hash(same) == hash(MESH)
    assert Mesh(DEVICES.reshape(2, 4), ("x", "y")) != MESH
    assert Mesh(DEVICES.reshape(4, 2), ("y", "x")) != MESH
    assert Mesh(DEVICES[::-1].reshape(4, 2), ("x", "y")) != MESH
    assert MESH.update(axis_types=AxisType.Explicit) != MESH
    assert pickle.loads(pickle.dumps(MESH)) == MESH
    assert dict(MESH.shape) == {"x": 4, "y": 2}
    assert (MESH.size, MESH.axis_sizes, MESH.empty) == (8, (4, 2), False)
    assert MESH.abstract_mesh == AbstractMesh((4, 2), ("x", "y")) != MESH
    assert MESH.auto_axes == ("x", "y")
    assert repr(MESH) == "Mesh('x': 4, 'y': 2)"
    with pytest.raises(AttributeError, match="immutable"):
        MESH.axis_names = ()
    with pytest.raises(ValueError, match="read-only"):
        MESH.devices[0, 0] = 1


def test_each_device_has_its_part():
    rows = over(("x", "y"))
    assert rows.shard_shape((16, 3)) == (2, 3)
    parts = rows.devices_indices_map((16, 3))
    assert [parts[d][0].start for d in DEVICES] == [*range(0, 16, 2)]
    swapped = over(None, ("y", "x")).devices_indices_map((3, 8))
    assert [swapped[d][1].start for d in DEVICES] == [0, 4, 1, 5, 2, 6, 3, 7]
    assert over("x", "y").places(3)[:3] == [(0, 0, 0), (0, 1, 0), (1, 0, 0)]
    assert over().is_fully_replicated
    assert not rows.is_fully_replicated
    assert NamedSharding(Mesh(DEVICES[:1], "x"), P("x")).is_fully_replicated


def test_shardings_are_equal_by_mesh_and_spec():
    assert over("x") == over("x") != over("x", None)
    assert over("x").is_equivalent_to(over("x", None), 2)
    assert not over("x").is_equivalent_to(over(None, "x"), 2)
    other = NamedSharding(Mesh(DEVICES, "z"), P("z"))
    assert over(("x", "y")).is_equivalent_to(other, 1)
    assert pickle.loads(pickle.dumps(over("x"))) == over("x")
    assert repr(over("x")) == ("NamedSharding(mesh=Mesh('x': 4, 'y': 2), spec=P('x'))")


def test_the_mesh_in_force_is_in_the_key():
    outside = settings()
    assert get_mesh().empty
    with set_mesh(MESH) as mesh:
        assert get_mesh() is mesh is MESH
        assert get_abstract_mesh() == MESH.abstract_mesh
        assert resolve_sharding("f", P("x")) == over("x")
        assert settings() is not outside
        with MESH.update(axis_types=AxisType.Manual) as inner:
            assert get_mesh() is inner
    assert settings() is outside
    set_mesh(MESH).__exit__()
    assert settings() is outside


SHAPES = [
    (IndivisibleError, ("x",), (7, 2)),
    (IndivisibleError, (("x", "y"),), (12,)),
    (ShapeError, ("x", None), (8,)),
]


@pytest.mark.parametrize(("kind", "spec", "shape"), SHAPES)
def test_a_shape_must_fit(kind, spec, shape):
    with pytest.raises(kind):
        over(*spec).shard_shape(shape)


def texts():
    def message(kind, make):
        with pytest.raises(kind) as caught:
            make()
        return str(caught.value)

    yield message(IndivisibleError, lambda: over("x").check_shape("f", (7, 2)))
    yield message(ShapeError, lambda: over("x", None).check_shape("f", (8,)))
    yield message(ArgumentError, lambda: over("z"))
    yield message(ArgumentError, lambda: over("x", "x"))
    yield message(ArgumentError, lambda: P(1))
    yield message(ArgumentError, lambda: Mesh(DEVICES, ("x", "y")))
    yield message(ArgumentError, lambda: Mesh(DEVICES.reshape(4, 2), ("x", "x")))
    yield message(ArgumentError, lambda: Mesh([DEVICES[0]] * 2, "x"))
    yield message(ArgumentError, lambda: Mesh(DEVICES, (1,)))
    yield message(ArgumentError, lambda: Mesh(DEVICES, "x", ["auto"]))
    yield message(ArgumentError, lambda: NamedSharding("m", P()))
    yield message(ArgumentError, lambda: NamedSharding(MESH, "x"))
    yield message(ArgumentError, lambda: set_mesh(3))
    yield message(ArgumentError, lambda: resolve_sharding("f", P("x")))
    yield message(
        ArgumentError,
        lambda: NamedSharding(AbstractMesh((8,), "x"), P()).flat_devices,
    )


def test_errors_name_the_remedy():
    assert (
        "\n".join(texts())
        == """\
f: expected axis 0 to be a multiple of 4, the size of 'x' in Mesh('x': 4, 'y': 2), got 7 \
of the shape [7,2]. Pad it, or split another axis.
f: expected a spec with at most an entry for each of 1 axes, got P('x', None) for the \
shape [8]. Leave entries out from the end.
NamedSharding: expected axes of the mesh, 'x', 'y', got 'z' in P('z'). Name one of them, \
or make a mesh with that axis.
NamedSharding: expected each axis of the mesh at most once, got 'x' twice in \
P('x', 'x'). An axis of a mesh splits one axis of an array.
PartitionSpec: expected names of mesh axes, tuples of them, None or P.UNCONSTRAINED, got \
1. Write P('x', None), or P(('x', 'y')) for two mesh axes that split one axis of an array.
Mesh: expected a name for each of 1 axes of the sizes (8,), got ('x', 'y'). Give as many \
names as there are axes.
Mesh: expected axis_names that differ, got 'x' twice in ('x', 'x'). Give each axis a name \
of its own.
Mesh: expected each device once, got d0 2 times. Leave the others out.
Mesh: expected strings as axis_names, got (1,). Write Mesh(..., ('data', 'model')).
Mesh: expected an AxisType for each of 1 axes, got ('auto',). Leave axis_types out for \
AxisType.Auto.
NamedSharding: expected a Mesh, got 'm'. imprint.make_mesh makes one.
NamedSharding: expected a PartitionSpec, got 'x'. Write imprint.P('data'), or imprint.P() \
for a copy on each device.
set_mesh: expected an imprint.sharding.Mesh, got 3. imprint.make_mesh makes one.
f: expected a mesh in force for the bare P('x'), got none. Write \
`with imprint.set_mesh(mesh):`, or NamedSharding(mesh, P('x')).
NamedSharding: expected a mesh with devices, got AbstractMesh('x': 8). Make one with \
imprint.make_mesh."""
    )

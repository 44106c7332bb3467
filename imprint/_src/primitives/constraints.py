"""Constraints on how values are spread over devices.

sharding_constraint is the identity; it gives the partitioner of a program over several
devices the sharding of its operand. On one device it has no effect. The compiler chooses
the sharding of an axis that is mapped over it. `sharding_text` writes a sharding in the
dialect `sdy`, also for arguments and results.
"""

from typing import Any, Final

from imprint._src.core.aval import ShapedArray
from imprint._src.core.fusion import UNFUSED
from imprint._src.core.jaxpr import Jaxpr, all_eqns
from imprint._src.core.padding import PerSize
from imprint._src.core.primitive import Avals, Case, Dims, Primitive, Samples, Values
from imprint._src.core.tangents import is_zero
from imprint._src.errors import ArgumentError
from imprint._src.primitives.shape import EVERY
from imprint._src.sharding.mesh import AbstractMesh, Mesh
from imprint._src.sharding.named import NamedSharding
from imprint._src.sharding.spec import UNCONSTRAINED, P, names_of
from imprint._src.stablehlo import Builder, Value

# ---- sharding_constraint ----


def _aval(x: ShapedArray, *, sharding: NamedSharding) -> Avals:
    if all(type(n) is int for n in x.shape):
        sharding.check_shape("with_sharding_constraint", x.shape)
    return (x,)


def _reference(x: Any, *, sharding: NamedSharding) -> Values:
    return (x,)


def _lower(b: Builder, x: Value, *, sharding: NamedSharding) -> tuple[Value, ...]:
    named = {name for entry in sharding.spec for name in names_of(entry)}
    if split := sorted(named & b.module.manual):
        raise ArgumentError(
            f"with_sharding_constraint: expected axes that the compiler splits along, got "
            f"{split[0]!r} in {sharding.spec} inside of a shard_map along it. Leave it out: "
            "each device has its part already."
        )
    if b.module.partitions == 1:
        return (x,)
    return (b.sharding_constraint(x, sharding_text(sharding, len(x.type.shape))),)


def _constrained(values: Values, sharding: NamedSharding) -> Values:
    return tuple(
        [
            x if is_zero(x) else sharding_constraint_p.bind1(x, sharding=sharding)
            for x in values
        ]
    )


def _jvp(primals: Values, tangents: Values, *, sharding: NamedSharding) -> Any:
    return _constrained(primals, sharding), _constrained(tangents, sharding)


def _transpose(cts: Values, _: Values, *, sharding: NamedSharding) -> Values:
    return _constrained(cts, sharding)


def _batch(args: Values, dims: Dims, *, sharding: NamedSharding) -> Any:
    (axis,) = dims
    assert axis is not None
    entries = [*sharding.spec, *[None] * (axis - len(sharding.spec))]
    spec = P(*entries[:axis], UNCONSTRAINED, *entries[axis:])
    return _constrained(args, sharding.update(spec=spec)), dims


_SAMPLE: Final = AbstractMesh((1, 1), ("x", "y"))

sharding_constraint_p: Final = Primitive(
    name="sharding_constraint",
    aval=_aval,
    reference=_reference,
    lower=_lower,
    fusion=UNFUSED,
    makes_nan=True,
    jvp=_jvp,
    transpose=_transpose,
    batch=_batch,
    pad=PerSize("a mesh may not divide the length that it is padded to"),
    samples=Samples(
        EVERY,
        cases=(
            Case(((),), {"sharding": NamedSharding(_SAMPLE, P())}),
            Case(((2, 3),), {"sharding": NamedSharding(_SAMPLE, P("x"))}),
            Case(((0, 2),), {"sharding": NamedSharding(_SAMPLE, P(None, ("y", "x")))}),
        ),
    ),
)


def constrain(x: Any, sharding: NamedSharding) -> Any:
    """Return `x`, constrained to a sharding."""
    return sharding_constraint_p.bind1(x, sharding=sharding)


# ---- for the partitioner ----


def sharding_text(sharding: NamedSharding, ndim: int) -> str:
    """Return a sharding in the words of the dialect `sdy`: a mesh, and axes.

    Args:
        sharding: how an array is spread.
        ndim: its rank.
    """
    entries = [*sharding.spec, *[None] * (ndim - len(sharding.spec))]
    axes = [
        "{?}"
        if entry is UNCONSTRAINED
        else f"{{{', '.join(map(_quoted, names_of(entry)))}}}"
        for entry in entries
    ]
    return f"{mesh_text(sharding.mesh)}, [{', '.join(axes)}]"


def mesh_text(mesh: Mesh | AbstractMesh) -> str:
    """Return a mesh in the words of the dialect `sdy`."""
    axes = [f"{_quoted(name)}={size}" for name, size in mesh.shape_tuple]
    return f"mesh<[{', '.join(axes)}]>"


def meshes_in(jaxpr: Jaxpr) -> list[tuple[str, Mesh]]:
    """Return the meshes that equations of a program name, and their equations, in order."""
    found: list[tuple[str, Mesh]] = []
    for eqn in all_eqns(jaxpr):
        params = eqn.params
        given: Any = params.get("sharding", params.get("where"))
        mesh: Any = getattr(given, "mesh", None)
        if type(mesh) is Mesh:
            what = "a constraint" if "sharding" in params else "a shard_map"
            found.append((what, mesh))
    return found


def _quoted(name: str) -> str:
    safe = "".join(c if c.isprintable() and c not in '"\\' else _hex(c) for c in name)
    return f'"{safe}"'


def _hex(c: str) -> str:
    return "".join(f"\\{byte:02X}" for byte in c.encode())

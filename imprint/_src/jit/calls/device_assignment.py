"""The devices of a call: one device, or several with shardings.

1. `jit(device=)` or `backend=` names one device; arguments on other devices are moved.
2. Otherwise, shardings given to `jit` and committed arguments must agree on one device. An
   argument with a given sharding is moved there. Unused arguments are ignored.
3. Otherwise, it is the default device, and the results are uncommitted.
"""

from collections.abc import Hashable, Iterator, Sequence
from typing import Any, Final, NamedTuple, final

from imprint._src import runtime
from imprint._src.array import ArrayImpl, uncommitted_placement
from imprint._src.config import settings
from imprint._src.core.aval import ShapedArray
from imprint._src.core.jaxpr import ClosedJaxpr
from imprint._src.errors import ArgumentError
from imprint._src.interpreters import dce
from imprint._src.jit.calls.options import JitOptions
from imprint._src.jit.calls.tracing import TracedCall
from imprint._src.jit.compilation.layout import Layout
from imprint._src.jit.compilation.program import Program
from imprint._src.primitives.constraints import constrain, meshes_in
from imprint._src.sharding.context import resolve_sharding
from imprint._src.sharding.mesh import Mesh
from imprint._src.sharding.named import NamedSharding
from imprint._src.sharding.single import SingleDeviceSharding, common


class DeviceAssignment(NamedTuple):
    """Where a program runs.

    Args:
        device: the device.
        committed: whether the results are committed to it.
        moves: whether some argument that it takes is on another device.
    """

    device: runtime.Device
    committed: bool
    moves: bool

    @property
    def results(self) -> Hashable:
        """The placement of the results."""
        if self.committed:
            return SingleDeviceSharding(self.device)
        return uncommitted_placement(self.device)

    def of_flags(self, aval: ShapedArray) -> ShapedArray:
        """Return the aval of the last result, the NaN flags, with its placement."""
        return aval

    def place(self, avals: Sequence[ShapedArray]) -> tuple[ShapedArray, ...]:
        """Return the avals of results with their placement."""
        placement = self.results
        if placement is None:
            return tuple(avals)
        return tuple([aval.with_sharding(placement) for aval in avals])


def default_assignment(
    name: str, called: Sequence[object], placements: Sequence[Hashable]
) -> DeviceAssignment:
    """Return the device of a program that is placed by its arguments only.

    Args:
        name: of the program, for errors.
        called: the names of its arguments.
        placements: their shardings.
    """
    pinned = common(name, zip(called, placements, strict=True))
    device = runtime.default_device() if pinned is None else pinned.device
    return DeviceAssignment(
        device, pinned is not None, _is_any_elsewhere(placements, device)
    )


def call_assignment(
    name: str,
    options: JitOptions,
    traced: TracedCall,
    avals: Sequence[ShapedArray],
    kept: Sequence[int],
) -> DeviceAssignment:
    """Return the device of a call of a jitted function.

    Args:
        name: of the function.
        options: its options.
        traced: its trace.
        avals: of the leaves of the arguments, with placements.
        kept: the indices of those that the program takes.
    """
    own = [avals[i].sharding for i in kept]
    if options.device is not None:
        elsewhere = _is_any_elsewhere(own, options.device)
        return DeviceAssignment(options.device, committed=True, moves=elsewhere)
    asked = [_sharding(x) for x in options.shardings_of_arguments(traced.in_tree)]
    asked += [None] * len(traced.hidden)
    wanted = [asked[i] or avals[i].sharding for i in kept]
    results = [_sharding(x) for x in options.shardings_of_results(traced.out_tree)]
    called: list[object] = [Argument(traced, i) for i in kept]
    called += ["out_shardings"] * len(results)
    home = default_assignment(name, called, [*wanted, *results])
    return home._replace(moves=_is_any_elsewhere(own, home.device))


@final
class Argument:
    """Prints as the name of an argument, which is computed for errors only."""

    __slots__ = ("_index", "_traced")

    def __init__(self, traced: TracedCall, index: int) -> None:
        self._traced = traced
        self._index = index

    def __str__(self) -> str:
        return f"argument {self._traced.leaf_names()[self._index]}"


def _sharding(given: object) -> Hashable:
    """Return the sharding for a leaf of `in_shardings` or `out_shardings`."""
    return SingleDeviceSharding(given) if isinstance(given, runtime.Device) else given


def _is_any_elsewhere(placements: Sequence[Hashable], device: runtime.Device) -> bool:
    first = runtime.first_device()
    return any(getattr(p, "device", first) is not device for p in placements)


# ---- over several devices ----

# The shardings given to `jit`, those of arguments and captured arrays, and the meshes in the
# program must agree on the devices and their order. Without any, it is the mesh in force.
# Given shardings are fixed; the compiler chooses the others, which are read from the
# executable: `ShardedAssignment` has all of them.


@final
class ShardedAssignment(NamedTuple):
    """Where a program over several devices runs.

    Args:
        device: the devices, as the engine has them.
        inputs: how each argument of the executable is spread, constants first.
        outputs: how each of its results is.
        moves: whether some argument that it takes is spread in another way.
    """

    device: runtime.Partition
    inputs: tuple[NamedSharding, ...]
    outputs: tuple[NamedSharding, ...]
    moves: bool
    committed: bool = True

    def place(self, avals: Sequence[ShapedArray]) -> tuple[ShapedArray, ...]:
        """Return the avals of results with their placement."""
        given = self.outputs[: len(avals)]  # flags may follow
        pairs = zip(avals, given, strict=True)
        return tuple([aval.with_sharding(sharding) for aval, sharding in pairs])

    def of_flags(self, aval: ShapedArray) -> ShapedArray:
        """Return the aval of the last result with its placement."""
        return aval.with_sharding(self.outputs[-1])


def layout_of_call(
    name: str,
    options: JitOptions,
    traced: TracedCall,
    avals: Sequence[ShapedArray],
) -> Layout | None:
    """Return the shardings of a call of a jitted function; None on one device.

    Args:
        name: of the function.
        options: its options.
        traced: its trace.
        avals: of the leaves of the arguments, with placements.
    """
    if options.device is not None:
        return None
    asked: list[Any] = []
    results: list[Any] = [None] * len(traced.closed.out_avals)
    if options.spreads:  # not for `filter_jit`, whose trees hold more than arrays
        asked = [_resolved(x) for x in options.shardings_of_arguments(traced.in_tree)]
        results = [_resolved(x) for x in options.shardings_of_results(traced.out_tree)]
    asked += [None] * (len(avals) - len(asked))  # sizes, which imprint adds
    called = [Argument(traced, i) for i in range(len(avals))]
    for each, want, aval in zip(called, asked, avals, strict=True):
        _check_asked(name, each, want, aval)
    wanted = [
        want or (aval.sharding if isinstance(aval.sharding, _KINDS) else None)
        for want, aval in zip(asked, avals, strict=True)
    ]
    given = [
        *zip(called, wanted, strict=True),
        *[("out_shardings", x) for x in results],
    ]
    return _layout(name, traced.closed, given, wanted, results)


def layout_of_equation(
    name: str, closed: ClosedJaxpr, avals: Sequence[ShapedArray]
) -> Layout | None:
    """Return how one operation outside of traces is to be spread; None on one device."""
    wanted = [a.sharding if isinstance(a.sharding, _KINDS) else None for a in avals]
    given = [(f"operand {i}", x) for i, x in enumerate(wanted)]
    return _layout(name, closed, given, wanted, [None] * len(closed.out_avals))


_KINDS: Final = (NamedSharding, SingleDeviceSharding)


def _layout(
    name: str,
    closed: ClosedJaxpr,
    given: Sequence[tuple[object, Any]],
    wanted: Sequence[Any],
    results: Sequence[Any],
) -> Layout | None:
    meshes = [*_named(given), *_captured(closed), *meshes_in(closed.jaxpr)]
    if not meshes:
        force: Any = settings().mesh
        if force is None or any(x is not None for _, x in given):
            return None
        meshes = [("the mesh in force", force)]
    first, mesh = meshes[0]
    for called, other in meshes[1:]:
        if other.flat_devices != mesh.flat_devices:
            raise _apart(name, first, mesh.flat_devices, called, other.flat_devices)
    used = None
    for i, (called, one) in enumerate(given):
        if type(one) is not SingleDeviceSharding or mesh.flat_devices == (one.device,):
            continue
        used = dce.prune(closed).kept if used is None else used
        if i in used or i >= len(wanted):
            raise _apart(name, first, mesh.flat_devices, called, (one.device,))
    return Layout(
        mesh,
        tuple(_checked(name, wanted, closed.in_avals, [c for c, _ in given])),
        tuple(_checked(name, results, closed.out_avals, ["a result"] * len(results))),
    )


def _named(given: Sequence[tuple[object, Any]]) -> Iterator[tuple[object, Any]]:
    for called, sharding in given:
        if isinstance(sharding, NamedSharding):
            sharding.flat_devices  # noqa: B018 - raises if the mesh has no devices
            yield called, sharding.mesh


def _captured(closed: ClosedJaxpr) -> Iterator[tuple[object, Mesh]]:
    for value in closed.consts:
        if type(value) is ArrayImpl and type(value.aval.sharding) is NamedSharding:
            yield "a captured array", value.aval.sharding.mesh


def _checked(
    name: str,
    shardings: Sequence[Any],
    avals: Sequence[ShapedArray],
    called: Sequence[object],
) -> Iterator[NamedSharding | None]:
    """Yield each sharding, checked against its aval; None if on one device."""
    named = called[: len(shardings)]
    for sharding, aval, each in zip(shardings, avals, named, strict=True):
        if isinstance(sharding, NamedSharding):
            sharding.check_shape(f"{name}: {each}", aval.shape)
            yield sharding
        else:
            yield None


def _check_asked(name: str, called: object, want: Any, aval: ShapedArray) -> None:
    """Raise ArgumentError if a committed array is not as `in_shardings` says."""
    own = aval.sharding
    if not isinstance(want, NamedSharding) or not isinstance(own, _KINDS):
        return
    if not want.is_equivalent_to(own, aval.ndim):
        raise ArgumentError(
            f"{name}: expected {called} as in_shardings says, {shown(want)}, got one "
            f"that is {shown(own)}. Put it there with imprint.device_put(x, sharding), or "
            "leave in_shardings out."
        )


def _apart(
    name: str, first: object, some: Sequence[Any], called: object, others: Sequence[Any]
) -> ArgumentError:
    return ArgumentError(
        f"{name}: expected committed arrays and shardings over the same devices in the "
        f"same order, got {first} over {_ids(some)} and {called} over {_ids(others)}. "
        "Put the arrays on one mesh with imprint.device_put(x, sharding); what was made "
        "without a device follows by itself."
    )


def _ids(devices: Sequence[Any]) -> str:
    return f"{devices[0].platform}:{[device.id for device in devices]}"


def shown(sharding: Hashable) -> str:
    """Return how an array is spread, short: `P('x') over Mesh('x': 8)`."""
    if isinstance(sharding, NamedSharding):
        return f"{sharding.spec!r} over {sharding.mesh!r}"
    if isinstance(sharding, SingleDeviceSharding):
        return f"on {sharding.device}"
    return "uncommitted"


def constrained_arguments(
    options: JitOptions, traced: TracedCall, leaves: list[Any]
) -> list[Any]:
    """Return traced leaves with the constraints of `in_shardings`, in an outer trace."""
    if not options.spreads:
        return leaves
    return _constrained(leaves, options.shardings_of_arguments(traced.in_tree))


def constrained_results(options: JitOptions, traced: TracedCall, outs: Any) -> Any:
    """Return traced results with the constraints of `out_shardings`, in an outer trace."""
    if not options.spreads:
        return outs
    return _constrained(outs, options.shardings_of_results(traced.out_tree))


def _constrained(values: Sequence[Any], asked: Sequence[Any]) -> list[Any]:
    pairs = zip(values, map(_resolved, asked), strict=True)
    return [constrain(x, s) if isinstance(s, NamedSharding) else x for x, s in pairs]


def _resolved(given: Any) -> Any:
    given = resolve_sharding("jit", given)
    return SingleDeviceSharding(given) if isinstance(given, runtime.Device) else given


# ---- after it is compiled ----


def sharded_assignment(
    program: Program, avals: Sequence[ShapedArray]
) -> ShardedAssignment:
    """Return the devices and shardings of a program over several devices.

    Args:
        program: the program.
        avals: of the leaves of the arguments of its jaxpr, with placements.
    """
    executable: Any = program.executable
    inputs = inputs_of(program)
    count = len(program.consts)
    own = [avals[i] for i in program.kept]
    moves = any(
        not (isinstance(a.sharding, NamedSharding) and is_as(a, want))
        for a, want in zip(own, inputs[count:], strict=True)
    )
    return ShardedAssignment(executable.device, inputs, executable.out_shardings, moves)


def is_as(aval: ShapedArray, want: Any) -> bool:
    """Return whether an array is spread as is wanted."""
    return want == aval.sharding or want.is_equivalent_to(aval.sharding, aval.ndim)


def inputs_of(program: Program) -> tuple[NamedSharding, ...]:
    """Return how each argument of an executable is spread."""
    assert program.module.spread is not None
    spread, given = program.module.spread, program.executable.in_shardings
    triples = zip(spread.inputs, given, program.module.in_avals, strict=True)
    return tuple(
        [
            asked or runtime.named_sharding(chosen, spread.mesh, aval.ndim)
            for asked, chosen, aval in triples
        ]
    )

"""Over which devices a call runs, and how its arguments and results are spread.

1. Shardings that `jit` was given, those of arguments and captured arrays, and the meshes
   that the program names must agree on the devices and their order. If there are none,
   the mesh in force is taken; if there is none, the call runs on one device (`home`).
2. What is said of an argument or a result holds; the rest the compiler chooses.
3. What it chose is read off the executable: `Spread` has all of it.
"""

from collections.abc import Hashable, Iterator, Sequence
from typing import Any, Final, NamedTuple, final

from imprint._src import runtime
from imprint._src.array import ArrayImpl
from imprint._src.config import settings
from imprint._src.core.aval import ShapedArray
from imprint._src.core.jaxpr import ClosedJaxpr
from imprint._src.errors import ArgumentError
from imprint._src.interpreters import dce
from imprint._src.jit.calls.device_assignment import Argument
from imprint._src.jit.calls.options import JitOptions
from imprint._src.jit.calls.tracing import TracedCall
from imprint._src.jit.compilation.layout import Layout
from imprint._src.jit.compilation.program import Program
from imprint._src.primitives.constraints import constrain, meshes_in
from imprint._src.sharding.context import resolved
from imprint._src.sharding.mesh import Mesh
from imprint._src.sharding.named import NamedSharding
from imprint._src.sharding.single import SingleDeviceSharding


@final
class SpreadHome(NamedTuple):
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
    """Return how a call of a jitted function is to be spread; None on one device.

    Args:
        name: the function's.
        options: what `jit` was asked for.
        traced: its trace.
        avals: those of the leaves of the arguments, with their placements.
    """
    if options.device is not None:
        return None
    asked: list[Any] = []
    results: list[Any] = [None] * len(traced.closed.out_avals)
    if options.spreads:  # `filter_jit`, whose trees hold more than arrays, asks nothing
        asked = [_resolved(x) for x in options.shardings_of_arguments(traced.in_tree)]
        results = [_resolved(x) for x in options.shardings_of_results(traced.out_tree)]
    asked += [None] * (len(avals) - len(asked))  # sizes, which no user gives
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
    """Check that each fits its aval; leave out what is on one device."""
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
    """Return traced leaves, constrained as a call inside another trace is asked to."""
    if not options.spreads:
        return leaves
    return _constrained(leaves, options.shardings_of_arguments(traced.in_tree))


def constrained_results(options: JitOptions, traced: TracedCall, outs: Any) -> Any:
    """Return traced results, constrained as a call inside another trace is asked to."""
    if not options.spreads:
        return outs
    return _constrained(outs, options.shardings_of_results(traced.out_tree))


def _constrained(values: Sequence[Any], asked: Sequence[Any]) -> list[Any]:
    pairs = zip(values, map(_resolved, asked), strict=True)
    return [constrain(x, s) if isinstance(s, NamedSharding) else x for x, s in pairs]


def _resolved(given: Any) -> Any:
    given = resolved("jit", given)
    return SingleDeviceSharding(given) if isinstance(given, runtime.Device) else given


# ---- after it is compiled ----


def spread_home(program: Program, avals: Sequence[ShapedArray]) -> SpreadHome:
    """Return where a program runs that is spread over devices.

    Args:
        program: the program.
        avals: those of the leaves of the arguments of its jaxpr, with placements.
    """
    executable: Any = program.executable
    inputs = inputs_of(program)
    count = len(program.consts)
    own = [avals[i] for i in program.kept]
    moves = any(
        not (isinstance(a.sharding, NamedSharding) and is_as(a, want))
        for a, want in zip(own, inputs[count:], strict=True)
    )
    return SpreadHome(executable.device, inputs, executable.out_shardings, moves)


def is_as(aval: ShapedArray, want: Any) -> bool:
    """Tell whether an array is spread as is wanted."""
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

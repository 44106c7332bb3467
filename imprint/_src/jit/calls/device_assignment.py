"""The device on which a call runs, and where its results are.

1. `jit(device=)` or `backend=` says it, and moves what is elsewhere.
2. Else shardings that `jit` was given and committed arguments must agree on one device;
   an argument with a sharding of its own is moved there. Arguments that the program
   does not need do not count.
3. Else it is the default device, and the results are as uncommitted as the arguments.
"""

from collections.abc import Hashable, Sequence
from typing import NamedTuple, final

from imprint._src import runtime
from imprint._src.array import uncommitted_placement
from imprint._src.core.aval import ShapedArray
from imprint._src.jit.calls.options import JitOptions
from imprint._src.jit.calls.tracing import TracedCall
from imprint._src.sharding.single import SingleDeviceSharding, common


class Home(NamedTuple):
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
        """Return the aval of the last result, which is flags, with its placement."""
        return aval

    def place(self, avals: Sequence[ShapedArray]) -> tuple[ShapedArray, ...]:
        """Return the avals of results with their placement."""
        placement = self.results
        if placement is None:
            return tuple(avals)
        return tuple([aval.with_sharding(placement) for aval in avals])


def home_of(
    name: str, called: Sequence[object], placements: Sequence[Hashable]
) -> Home:
    """Return where a program runs that only its arguments place.

    Args:
        name: what runs, for errors.
        called: what each argument that it takes is called.
        placements: the sharding of the aval of each.
    """
    pinned = common(name, zip(called, placements, strict=True))
    device = runtime.default_device() if pinned is None else pinned.device
    return Home(device, pinned is not None, _is_any_elsewhere(placements, device))


def home_of_call(
    name: str,
    options: JitOptions,
    traced: TracedCall,
    avals: Sequence[ShapedArray],
    kept: Sequence[int],
) -> Home:
    """Return where a call of a jitted function runs.

    Args:
        name: the function's.
        options: what `jit` was asked for.
        traced: its trace.
        avals: those of the leaves of the arguments, with their placements.
        kept: which of them the program takes.
    """
    own = [avals[i].sharding for i in kept]
    if options.device is not None:
        elsewhere = _is_any_elsewhere(own, options.device)
        return Home(options.device, committed=True, moves=elsewhere)
    asked = [_sharding(x) for x in options.shardings_of_arguments(traced.in_tree)]
    asked += [None] * len(traced.hidden)
    wanted = [asked[i] or avals[i].sharding for i in kept]
    results = [_sharding(x) for x in options.shardings_of_results(traced.out_tree)]
    called: list[object] = [Argument(traced, i) for i in kept]
    called += ["out_shardings"] * len(results)
    home = home_of(name, called, [*wanted, *results])
    return home._replace(moves=_is_any_elsewhere(own, home.device))


@final
class Argument:
    """Prints as what an argument is called, which is worked out for an error only."""

    __slots__ = ("_index", "_traced")

    def __init__(self, traced: TracedCall, index: int) -> None:
        self._traced = traced
        self._index = index

    def __str__(self) -> str:
        return f"argument {self._traced.leaf_names()[self._index]}"


def _sharding(given: object) -> Hashable:
    """Return what stands for a leaf of `in_shardings` or `out_shardings`."""
    return SingleDeviceSharding(given) if isinstance(given, runtime.Device) else given


def _is_any_elsewhere(placements: Sequence[Hashable], device: runtime.Device) -> bool:
    first = runtime.first_device()
    return any(getattr(p, "device", first) is not device for p in placements)

"""Programs and arrays over several devices.

A `Partition` takes the place of a `Device`: the mesh, and the arguments and results whose
layout the compiler chooses. A buffer over several devices is one object of the engine with
a shard on each. Two such programs never run at once on the CPU: each device waits for the
others in its collectives, and with the threads of one pool two programs deadlock until the
engine ends the process (in JAX, too).
"""

import threading
from collections.abc import Callable, Sequence
from functools import lru_cache
from math import prod
from typing import Any, Final, NamedTuple, TypeAlias, cast, final

import numpy as np

from imprint._src.runtime.buffer import Aval, Buffer
from imprint._src.runtime.client import Device
from imprint._src.runtime.compat import (
    EngineError,
    engine,
    hlo,
    several_devices_sharding,
    without_jax,
)
from imprint._src.sharding.mesh import Mesh
from imprint._src.sharding.named import NamedSharding
from imprint._src.sharding.spec import P, names_of


@final
class Partition(NamedTuple):
    """The devices of a program over a mesh.

    Args:
        mesh: the devices.
        free_inputs: for each argument, whether the compiler chooses its layout.
        free_outputs: likewise for each result.
    """

    mesh: Mesh
    free_inputs: tuple[bool, ...]
    free_outputs: tuple[bool, ...]

    @property
    def first(self) -> Device:
        """The first of its devices."""
        return self.mesh.flat_devices[0]

    @property
    def spans_processes(self) -> bool:
        """Whether other processes have some of the devices."""
        return not all(device.is_here for device in self.mesh.flat_devices)

    @property
    def client(self) -> Any:
        """The client of the engine that owns the devices."""
        return self.first.client

    @property
    def platform(self) -> str:
        """The platform of the devices."""
        return self.first.platform

    @property
    def device_kind(self) -> str:
        """The kind of the devices."""
        return self.first.device_kind

    @property
    def local_id(self) -> str:
        """The numbers of the devices, each in its process."""
        return ",".join(str(device.local_id) for device in self.mesh.flat_devices)

    @property
    def executables(self) -> Any:
        """The executables, which a fork disables."""
        return self.first.executables

    @property
    def device_list(self) -> Any:
        """The devices as a list of the engine."""
        return _device_list(self.mesh.flat_devices)


Place: TypeAlias = Device | Partition
"""The device or devices of a program."""


def assigned(options: Any, on: Place) -> Any:
    """Set the devices of a program in its compile options."""
    devices = on.mesh.flat_devices if isinstance(on, Partition) else (on,)
    ids = np.array([[device.id for device in devices]], np.int32)
    options.device_assignment = engine.DeviceAssignment.create(ids)
    if isinstance(on, Partition):
        options.num_partitions = len(devices)
        build = options.executable_build_options
        build.device_assignment = options.device_assignment
        build.num_partitions = len(devices)
        build.use_spmd_partitioning = True
        build.use_shardy_partitioner = True
        build.allow_spmd_sharding_propagation_to_parameters = list(on.free_inputs)
        build.allow_spmd_sharding_propagation_to_output = list(on.free_outputs)
    return options


def device_list(on: Place) -> Any:
    """Return the devices of a place as a list of the engine."""
    return _device_list(on.mesh.flat_devices if isinstance(on, Partition) else (on,))


@lru_cache(maxsize=256)
def _device_list(devices: tuple[Device, ...]) -> Any:
    return engine.DeviceList(tuple([device.handle for device in devices]))


# ---- serialized executions ----


_COLLECTIVES: Final = (
    *("all-reduce", "all-gather", "all-to-all", "collective-", "reduce-scatter"),
    *("send(", "recv("),
)


class _LastExecution:
    """The last execution over several devices."""

    def __init__(self) -> None:
        self.lock: Final = threading.Lock()
        self.token: Any = None


_last: Final = _LastExecution()


def serialized_execute(loaded: Any) -> Callable[..., Any]:
    """Return a function that executes a program when the last one has ended.

    A program without collectives neither waits nor is waited for.
    """
    execute = loaded.execute_sharded
    here = loaded.local_devices()
    if not here or here[0].platform != "cpu":
        return execute
    text = loaded.get_hlo_text()
    if not any(name in text for name in _COLLECTIVES):
        return execute

    def start(buffers: list[Any]) -> Any:
        with _last.lock:
            if _last.token is not None:
                try:  # noqa: SIM105 - hot: suppress() would cost 300 ns
                    _last.token.block_until_ready()
                except EngineError:  # reading its results raises
                    pass
            results = execute(buffers, with_tokens=True)
            _last.token = results.consume_token()
        return results

    return start


# ---- shardings of the engine ----


@lru_cache(maxsize=4096)
def engine_sharding(sharding: NamedSharding, ndim: int) -> Any:
    """Return the sharding of the engine for an array of a rank."""
    devices = _device_list(sharding.flat_devices)
    return several_devices_sharding(devices, _hlo_sharding(sharding, ndim))


def _hlo_sharding(sharding: NamedSharding, ndim: int) -> Any:
    mesh, tiling = sharding.mesh, sharding.tiling(ndim)
    if sharding.is_fully_replicated:
        return hlo().HloSharding.replicate()
    named = [name for entry in sharding.spec for name in names_of(entry)]
    rest = [name for name in mesh.axis_names if name not in named]
    order = [mesh.axis_names.index(name) for name in (*named, *rest)]
    copies = mesh.size // prod(tiling)
    dims, kinds = tiling, []
    if copies > 1:
        dims, kinds = (*tiling, copies), [hlo().OpSharding.Type.REPLICATED]
    return hlo().HloSharding.iota_tile(dims, mesh.axis_sizes, order, kinds)


def engine_shardings(
    on: Place, shardings: Sequence[NamedSharding], avals: Sequence[Aval]
) -> list[Any]:
    """Return the shardings of the engine for the results of a program."""
    if not isinstance(on, Partition):
        return [on.sharding] * len(avals)
    pairs = zip(shardings, avals, strict=True)
    return [engine_sharding(sharding, len(aval.shape)) for sharding, aval in pairs]


def input_shardings(loaded: Any, on: Place) -> tuple[Any, ...]:
    """Return the shardings of the engine for the arguments of a program."""
    if not isinstance(on, Partition):
        return ()
    whole = [hlo().HloSharding.replicate().to_proto()] * len(on.free_inputs)
    return tuple(loaded.get_parameter_shardings() or whole)


def output_shardings(
    loaded: Any, on: Place, avals: Sequence[Aval]
) -> tuple[NamedSharding, ...]:
    """Return the shardings of the results of a program; none on one device."""
    if not isinstance(on, Partition):
        return ()
    whole = [hlo().HloSharding.replicate().to_proto()] * len(avals)
    pairs = zip(loaded.get_output_shardings() or whole, avals, strict=True)
    return tuple([named_sharding(x, on.mesh, len(aval.shape)) for x, aval in pairs])


def named_sharding(given: Any, mesh: Mesh, ndim: int) -> NamedSharding:
    """Return a sharding of the engine as one over the axes of a mesh.

    If no spec of the mesh describes it, it is over a new mesh of the same devices.
    """
    tiled = hlo().HloSharding.from_proto(given)
    if tiled.is_replicated() or not tiled.is_tiled():
        return NamedSharding(mesh, P())
    dims = list(tiled.tile_assignment_dimensions())
    order = list(tiled.tile_assignment_devices())
    grid = np.array(order).reshape(dims)
    places = np.empty((mesh.size, ndim), int)
    places[grid.ravel()] = np.array([*np.ndindex(*dims)])[:, :ndim]
    spec = _spec_of(mesh, places, dims[:ndim])
    if spec is not None:
        return NamedSharding(mesh, spec)
    names = [f"axis{i}" if i < ndim else "copies" for i in range(len(dims))]
    own = Mesh(np.array(mesh.flat_devices, object)[grid], names)
    return NamedSharding(own, P(*names[:ndim]))


def _spec_of(mesh: Mesh, places: Any, tiling: Sequence[int]) -> P | None:
    """Return the spec that puts each device at its place, if there is one."""
    by_axis = places.reshape(*mesh.axis_sizes, -1)
    entries: list[list[tuple[int, str]]] = [[] for _ in tiling]
    for axis, (name, size) in enumerate(mesh.shape_tuple):
        if size == 1:
            continue
        start = (0,) * len(mesh.axis_sizes)
        step = by_axis[(*start[:axis], 1, *start[axis + 1 :])] - by_axis[start]
        for at in np.flatnonzero(step):
            entries[at].append((-int(step[at]), name))
    named = [tuple([name for _, name in sorted(entry)]) for entry in entries]
    while named and not named[-1]:
        named.pop()
    if len({n for entry in named for n in entry}) < sum(map(len, named)):
        return None
    found = NamedSharding(mesh, P(*named))
    fits = found.tiling(len(tiling)) == tuple(tiling)
    return found.spec if fits and found.places(len(tiling)) == _rows(places) else None


def _rows(places: Any) -> list[tuple[int, ...]]:
    return [tuple(map(int, row)) for row in places]


# ---- buffers ----


def put_shards(
    pieces: Sequence[Any], aval: Aval, sharding: NamedSharding, *, copy: bool = False
) -> Buffer:
    """Return a buffer over several devices of the part of each.

    Args:
        pieces: for each device of the mesh a NumPy array of the dtype of `aval`, or a
            buffer on that device; None for a device of another process.
        aval: the aval of the whole buffer.
        sharding: its sharding.
        copy: whether the arrays may change as soon as this returns.
    """
    semantics = engine.HostBufferSemantics
    own = [
        (x, d.handle)
        for x, d in zip(pieces, sharding.flat_devices, strict=True)
        if d.is_here
    ]
    return engine.batched_device_put(
        aval,
        engine_sharding(sharding, len(aval.shape)),
        [piece for piece, _ in own],
        [handle for _, handle in own],
        committed=True,
        host_buffer_semantics=(
            semantics.IMMUTABLE_ONLY_DURING_CALL if copy else semantics.ZERO_COPY
        ),
        enable_x64=True,
    )


def shards_of(
    buffer: Buffer, avals: Sequence[Aval], devices: Sequence[Device]
) -> list[Buffer]:
    """Return the parts of a buffer, each as a buffer of its device.

    Args:
        buffer: a buffer over several devices.
        avals: the avals of the parts.
        devices: their devices in this process, in the order of the mesh.
    """
    with without_jax():
        pieces = list(cast(Any, buffer)._arrays)
    return [
        engine.ArrayImpl(
            aval, device.sharding, [piece], committed=True, _skip_checks=True
        )
        for piece, aval, device in zip(pieces, avals, devices, strict=True)
    ]

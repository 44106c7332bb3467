"""Devices, and the client that owns them.

The client of a backend starts at the first question for its devices, once in a process
and under a lock: buffers and executables of two clients do not mix. It starts threads,
which a fork does not copy, so a child forked later cannot compute (XLA would wait for
ever or abort); it gets an error that says so, from `devices` and from the executables
that it inherited. A fork before the first use is safe.
"""

import os
import threading
import weakref
from collections.abc import Callable
from functools import cache
from typing import Any, Final, NoReturn, Protocol, final

from imprint.errors import BackendError
from imprint.runtime.compat import engine, single_device_sharding


class Refusable(Protocol):
    """An executable, as far as a device knows it."""

    execute: Callable[..., Any]


@final
class Device:
    """One device of one backend. There is one object per device: compare with `is`."""

    __slots__ = (
        *("id", "platform", "device_kind", "process_index"),
        *("client", "handle", "handles", "sharding", "owner", "executables"),
    )

    def __init__(self, client: Any, handle: Any) -> None:
        self.id: Final[int] = handle.id
        self.platform: Final[str] = handle.platform
        self.device_kind: Final[str] = handle.device_kind
        self.process_index: Final[int] = handle.process_index
        # The engine's own objects, for the other files of this package.
        self.client: Final = client
        self.handle: Final = handle
        self.handles: Final = [handle]
        self.sharding: Final = single_device_sharding(handle)
        self.owner: Final = os.getpid()
        self.executables: Final[weakref.WeakSet[Refusable]] = weakref.WeakSet()

    def __repr__(self) -> str:
        return repr(self.handle)


def devices(backend: str | None = None) -> tuple[Device, ...]:
    """Return the devices of a backend, by default of `default_backend()`.

    Raises:
        BackendError: There is no such backend, or this process is a fork of the one
            that started it.
    """
    platform = default_backend() if backend is None else backend
    if platform not in _START:
        raise BackendError(
            f"devices: expected one of the backends {sorted(_START)}, got "
            f"{platform!r}. imprint runs on the CPU so far; leave the backend out."
        )
    with _starting:
        found = _started(platform)
    if found[0].owner != os.getpid():
        raise BackendError(_FORKED.format(parent=found[0].owner, child=os.getpid()))
    return found


@cache  # 400 ns less than to ask for them all, in every put
def default_device() -> Device:
    """Return the device that is used unless another is named."""
    return devices()[0]


def local_devices(backend: str | None = None) -> tuple[Device, ...]:
    """Return the devices of a backend that this process can compute on."""
    found = devices(backend)
    here = found[0].client.process_index()
    return tuple(device for device in found if device.process_index == here)


def device_count(backend: str | None = None) -> int:
    """Return the number of devices of a backend."""
    return len(devices(backend))


def local_device_count(backend: str | None = None) -> int:
    """Return the number of devices of a backend that this process can compute on."""
    return len(local_devices(backend))


def default_backend() -> str:
    """Return the name of the backend that computes unless another is named."""
    return "cpu"


def _start_cpu() -> Any:
    return engine.get_tfrt_cpu_client(asynchronous=True)


_START: Final[dict[str, Callable[[], Any]]] = {"cpu": _start_cpu}
_starting: Final = threading.Lock()


@cache  # a client lives as long as the process: the engine has no way to stop one
def _started(platform: str) -> tuple[Device, ...]:
    client = _START[platform]()
    found = tuple(Device(client, handle) for handle in client.devices())
    os.register_at_fork(after_in_child=lambda: _disown(found))
    return found


_FORKED: Final = (
    "imprint: expected to compute in process {parent}, which started the device, got "
    "process {child}, a fork of it, which lacks the device's threads. Start the worker "
    "with multiprocessing's 'spawn', or fork before the first computation."
)


def _disown(found: tuple[Device, ...]) -> None:
    """Make what the child inherited raise instead of waiting for threads not there."""
    default_device.cache_clear()
    message = _FORKED.format(parent=found[0].owner, child=os.getpid())

    def refuse(*_args: object, **_kwargs: object) -> NoReturn:
        raise BackendError(message)

    for device in found:
        for executable in list(device.executables):
            executable.execute = refuse

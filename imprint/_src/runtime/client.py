"""Devices, and the client that owns them.

The client of a backend starts at the first use of its devices, once in a process and under
a lock: buffers and executables of two clients do not mix. It starts threads, which a fork
does not copy, so a child that is forked later cannot compute (XLA would wait for ever or
abort). There `devices` and the inherited executables raise an error. A fork before the
first use is safe.
"""

import os
import threading
import warnings
import weakref
from collections.abc import Callable
from functools import cache, partial
from typing import Any, Final, NoReturn, Protocol, final

from imprint._src.config import config, num_cpu_devices, settings
from imprint._src.errors import BackendError, BackendWarning
from imprint._src.runtime import plugins
from imprint._src.runtime.compat import engine, single_device_sharding
from imprint._src.runtime.processes import joined


class Refusable(Protocol):
    """An executable, as a device uses it."""

    execute: Callable[..., Any]


@final
class Device:
    """One device of one backend. There is one object per device: compare with `is`."""

    __slots__ = (
        *("id", "platform", "device_kind", "process_index", "local_id"),
        *("client", "handle", "handles", "sharding", "owner", "executables"),
    )

    def __init__(self, client: Any, handle: Any) -> None:
        self.id: Final[int] = handle.id
        self.platform: Final[str] = handle.platform
        self.device_kind: Final[str] = handle.device_kind
        self.process_index: Final[int] = handle.process_index
        self.local_id: Final[int] = handle.local_hardware_id
        # Objects of the engine, for the other files of this package.
        self.client: Final = client
        self.handle: Final = handle
        self.handles: Final = [handle]
        self.sharding: Final = single_device_sharding(handle)
        self.owner: Final = os.getpid()
        self.executables: Final[weakref.WeakSet[Refusable]] = weakref.WeakSet()

    @property
    def local_hardware_id(self) -> int:
        """Its number among the devices of its process."""
        return self.local_id

    def memory_stats(self) -> dict[str, int] | None:
        """Return how much of its memory is in use; None where it does not count."""
        return self.handle.memory_stats()

    @property
    def is_here(self) -> bool:
        """Whether it belongs to this process."""
        return self.process_index == self.client.process_index()

    def __repr__(self) -> str:
        return repr(self.handle)

    def __str__(self) -> str:
        return f"{self.platform}:{self.id}"

    def __reduce__(self) -> tuple[Any, ...]:
        return _device, (self.platform, self.id)


def devices(backend: str | None = None) -> tuple[Device, ...]:
    """Return the devices of a backend, by default of `default_backend()`.

    Args:
        backend: the platform, such as "cpu"; the default one if None.

    Returns:
        A tuple of devices, those of other processes included.

    Raises:
        BackendError: There is no such backend, or this process is a fork of the one
            that started it.

    References:
        JAX, `jax.devices`.
    """
    platform = default_backend() if backend is None else _ALIASES.get(backend, backend)
    if platform not in _START:
        raise BackendError(
            f"devices: expected one of the backends {[*_START]}, got {platform!r}. Leave "
            "the backend out: the CPU computes."
        )
    try:
        return _devices_of(platform)
    except plugins.UnavailableError as err:
        raise BackendError(f"devices: {err}") from err


def _devices_of(platform: str) -> tuple[Device, ...]:
    """Return the devices of a known backend."""
    with _starting:
        found = _started(platform)
    if found[0].owner != os.getpid():
        raise BackendError(_FORKED.format(parent=found[0].owner, child=os.getpid()))
    return found


@cache  # saves 400 ns in every put
def first_device() -> Device:
    """Return the first device of this process, of the default backend."""
    return local_devices()[0]


def default_device() -> Device:
    """Return the default device: that of the flag `default_device`, or the first.

    Raises:
        BackendError: The flag names no device of this process.
    """
    chosen = settings().default_device
    return first_device() if chosen is None else _named(chosen)


def _named(chosen: object) -> Device:
    """Return the device that the flag names."""
    if isinstance(chosen, Device):
        if chosen.owner != os.getpid():
            devices(chosen.platform)  # raises: this process is a fork
        return chosen
    if isinstance(chosen, str) and _ALIASES.get(chosen, chosen) in _START:
        try:
            found = _devices_of(_ALIASES.get(chosen, chosen))
        except plugins.UnavailableError as err:
            raise BackendError(f"default_device: {err} {_THE_FLAG}") from err
        return next(device for device in found if device.is_here)
    raise BackendError(
        f"default_device: expected one of the platforms {[*_START]} or of the "
        f"devices {list(devices())}, got {chosen!r}. {_THE_FLAG}"
    )


_THE_FLAG: Final = (
    "It is the flag that `with imprint.default_device(...)`, config.update or "
    "IMPRINT_DEFAULT_DEVICE set."
)


def local_devices(
    process_index: int | None = None,
    backend: str | None = None,
    host_id: int | None = None,
) -> tuple[Device, ...]:
    """Return the devices of a backend that a process can compute on.

    Args:
        process_index: the number of the process; this one if None.
        backend: the backend; the default one if None.
        host_id: JAX's older name of `process_index`.

    Returns:
        A tuple of devices.

    Raises:
        BackendError: no device belongs to such a process, or the backend does not
            exist.

    References:
        JAX, `jax.local_devices`.
    """
    found = devices(backend)
    asked = process_index if host_id is None else host_id
    here = found[0].client.process_index() if asked is None else asked
    known = {device.process_index for device in found}
    if here not in known:
        raise BackendError(
            f"local_devices: expected process_index to be one of {sorted(known)}, got "
            f"{here!r}. Leave it out for the devices of this process."
        )
    return tuple(device for device in found if device.process_index == here)


def device_count(backend: str | None = None) -> int:
    """Return the number of devices of a backend.

    Args:
        backend: the platform, such as "cpu"; the default one if None.

    Returns:
        The number of devices, those of other processes included.

    References:
        JAX, `jax.device_count`.
    """
    return len(devices(backend))


def local_device_count(backend: str | None = None) -> int:
    """Return the number of devices of a backend that this process can compute on.

    Args:
        backend: the platform, such as "cpu"; the default one if None.

    Returns:
        The number of devices.

    References:
        JAX, `jax.local_device_count`.
    """
    return len(local_devices(backend=backend))


def process_index(backend: str | None = None) -> int:
    """Return the number of this process among those that compute together.

    Args:
        backend: the platform, such as "cpu"; the default one if None.

    Returns:
        The number, counted from 0.

    References:
        JAX, `jax.process_index`.

    Example:
        >>> import imprint
        >>> imprint.process_index()
        0
    """
    return devices(backend)[0].client.process_index()


def process_count(backend: str | None = None) -> int:
    """Return the number of processes that compute together.

    Args:
        backend: the platform, such as "cpu"; the default one if None.

    Returns:
        The count; 1 without `imprint.distributed`.

    References:
        JAX, `jax.process_count`.

    Example:
        >>> import imprint
        >>> imprint.process_count()
        1
    """
    return len({device.process_index for device in devices(backend)})


def process_indices(backend: str | None = None) -> list[int]:
    """Return the numbers of the processes that compute together.

    Args:
        backend: the platform, such as "cpu"; the default one if None.

    Returns:
        The numbers in ascending order.

    References:
        JAX, `jax.process_indices`.

    Example:
        >>> import imprint
        >>> imprint.process_indices()
        [0]
    """
    return sorted({device.process_index for device in devices(backend)})


def default_backend() -> str:
    """Return the name of the backend that computes unless another is named."""
    return "cpu"


def computes_on_cpu_only() -> bool:
    """Return whether this process has started no other backend than the CPU."""
    return all(found[0].platform == "cpu" for found in _in_use)


def _device(platform: str, number: int) -> Device:
    """Return a device that was pickled."""
    return next(d for d in devices(platform) if d.id == number)


def _start_cpu() -> Any:
    if settings().default_device is None:
        _warn_of_idle_gpu()
    num_cpu_devices.fix("the devices of the CPU have started")
    count = config.num_cpu_devices
    options: dict[str, Any] = {}
    if count != -1:  # else XLA_FLAGS decide
        options["num_devices"] = count
    processes = joined()
    if processes is not None:
        options |= {
            "distributed_client": processes.client,
            "node_id": processes.config.index,
            "num_nodes": processes.config.count,
            "collectives": engine.make_gloo_tcp_collectives(
                distributed_client=processes.client
            ),
        }
    return engine.get_tfrt_cpu_client(asynchronous=True, **options)


def _warn_of_idle_gpu() -> None:
    """Warn of a GPU without a plug-in; log it if warnings are errors."""
    wrong = plugins.idle_gpu()
    if wrong is None:
        return
    text = (
        f"imprint: the CPU computes, though this machine has a GPU: {wrong}, or say that "
        "you mean the CPU: IMPRINT_DEFAULT_DEVICE=cpu."
    )
    try:
        warnings.warn(text, BackendWarning, stacklevel=2)
    except BackendWarning:
        import logging  # noqa: PLC0415 - 2 ms, and few processes log

        logging.getLogger("imprint").warning("%s", text)


_START: Final[dict[str, Callable[[], Any]]] = {
    "cpu": _start_cpu,
    **{name: partial(plugins.start, name) for name in plugins.BACKENDS},
}
_ALIASES: Final = {"cuda": "gpu"}
_starting: Final = threading.Lock()


@cache  # a client lives as long as the process: the engine has no way to stop one
def _started(platform: str) -> tuple[Device, ...]:
    client = _START[platform]()
    found = tuple(Device(client, handle) for handle in client.devices())
    os.register_at_fork(after_in_child=lambda: _disable(found))
    _in_use.append(found)
    return found


_in_use: Final[list[tuple[Device, ...]]] = []


def has_started() -> bool:
    """Return whether the devices are in use, so that it is too late to join processes."""
    return _started.cache_info().currsize > 0


_FORKED: Final = (
    "imprint: expected to compute in process {parent}, which started the device, got "
    "process {child}, a fork of it, which lacks the device's threads. Start the worker "
    "with multiprocessing's 'spawn', or fork before the first computation."
)


def _disable(found: tuple[Device, ...]) -> None:
    """Make inherited executables raise, instead of waiting for missing threads."""
    first_device.cache_clear()
    message = _FORKED.format(parent=found[0].owner, child=os.getpid())

    def refuse(*_args: object, **_kwargs: object) -> NoReturn:
        raise BackendError(message)

    _replace_execute(found, lambda _: refuse)


def change_calls(change: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    """Change how live executables run and how values are put on devices."""
    for found in (*_in_use,):
        _replace_execute(found, change)
    for name in ("batched_device_put", "batched_copy_array_to_devices_with_sharding"):
        setattr(engine, name, change(getattr(engine, name)))


def _replace_execute(
    found: tuple[Device, ...],
    change: Callable[[Callable[..., Any]], Callable[..., Any]],
) -> None:
    for device in found:
        for executable in list(device.executables):
            executable.execute = change(executable.execute)

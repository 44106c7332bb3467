"""Joining the processes that compute together, and leaving them.

Missing arguments are read from the environment (`environments`). All are checked before
the start; later steps have a time limit and one error.
"""

from collections.abc import Sequence
from typing import Any

from imprint._src import runtime
from imprint._src.distributed.environments import detect_cluster
from imprint._src.errors import ArgumentError, BackendError
from imprint._src.runtime import ClusterConfig


def initialize(  # noqa: PLR0913, PLR0917 - JAX's signature
    coordinator_address: str | None = None,
    num_processes: int | None = None,
    process_id: int | None = None,
    local_device_ids: int | Sequence[int] | None = None,
    cluster_detection_method: str | None = None,
    initialization_timeout: int = 300,
    heartbeat_timeout_seconds: int = 100,
    shutdown_timeout_seconds: int = 300,
    coordinator_bind_address: str | None = None,
) -> None:
    """Join the other processes of this program; each calls it before it uses a device.

    Args:
        coordinator_address: host and port at which process 0 listens.
        num_processes: the number of processes.
        process_id: the number of this process, from 0.
        local_device_ids: the numbers of the GPUs of this host for this process. None is
            the number of the process on its host under SLURM and Open MPI, else all. Each
            process has its own devices of the CPU.
        cluster_detection_method: "slurm", "mpi" or "k8s"; "deactivate" to use only the
            arguments; None for the first that is set.
        initialization_timeout: the seconds to wait for the others.
        heartbeat_timeout_seconds: the seconds after which a silent process is dead, and
            the others stop.
        shutdown_timeout_seconds: the seconds to wait for the others at the end.
        coordinator_bind_address: the address at which process 0 listens; `[::]` and the
            port, if None.

    Returns:
        None, when all processes have joined.

    Raises:
        ArgumentError: an argument is missing, also in the environment.
        BackendError: the devices have started, the port is taken, a process does not
            answer, or the releases of jaxlib differ.

    Example:
        >>> import imprint
        >>> imprint.distributed.is_initialized()
        False
    """
    _check_first()
    found = detect_cluster(cluster_detection_method)
    gpus = found.local if local_device_ids is None else local_device_ids
    address = coordinator_address or found.address
    count = found.count if num_processes is None else num_processes
    index = found.index if process_id is None else process_id
    for name, value in (
        ("coordinator_address", address),
        ("num_processes", count),
        ("process_id", index),
    ):
        if value is None:
            raise ArgumentError(
                f"distributed.initialize: expected {name}, got none, and no environment of "
                "SLURM, Open MPI or Kubernetes says it. Give it."
            )
    assert address is not None
    assert count is not None
    assert index is not None
    if not 0 <= index < count:
        raise ArgumentError(
            f"distributed.initialize: expected process_id in [0, {count}), as "
            f"num_processes={count}, got {index}. Count processes from 0."
        )
    _, port = runtime.split_address(address)
    runtime.join(
        ClusterConfig(
            address,
            count,
            index,
            coordinator_bind_address or f"[::]:{port}",
            initialization_timeout,
            heartbeat_timeout_seconds,
            shutdown_timeout_seconds,
            None if gpus is None else _numbers(gpus),
        )
    )


def _numbers(given: Any) -> tuple[int, ...]:
    numbers: tuple[Any, ...] = (given,) if isinstance(given, int) else tuple(given)
    if not numbers or not all(isinstance(n, int) and n >= 0 for n in numbers):
        raise ArgumentError(
            "distributed.initialize: expected local_device_ids as numbers of GPUs, got "
            f"{given!r}. Write [0, 1], or leave it out for all of this host."
        )
    return numbers


def _check_first() -> None:
    """Raise unless this process can still join others."""
    if is_initialized():
        raise BackendError(
            "distributed.initialize: expected to be called once, got a second call. Call "
            "imprint.distributed.shutdown() before, or leave it out."
        )
    if runtime.has_started():
        raise BackendError(
            "distributed.initialize: expected to be called before the first device is "
            "used, got it after imprint.devices() or a computation. Call it first."
        )


def is_initialized() -> bool:
    """Return whether this process has joined others.

    Example:
        >>> import imprint
        >>> imprint.distributed.is_initialized()
        False
    """
    return runtime.joined() is not None


def shutdown() -> None:
    """Wait for all processes to come here, and leave them; the exit of a process does so.

    Example:
        >>> import imprint
        >>> imprint.distributed.shutdown()  # this process is alone: nothing to do
    """
    runtime.leave()

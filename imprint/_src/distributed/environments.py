"""Clusters in the environment variables of SLURM, Open MPI and Kubernetes.

Each has the number of processes, the number of this one, and the host of the first. The
port is computed from the number of the job, so that it is the same in all processes of a
job, and differs between two jobs on one host.
"""

import os
import re
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from imprint._src.errors import BackendError


@dataclass(frozen=True, slots=True)
class ClusterInfo:
    """A cluster; None for unknown fields.

    Args:
        address: host and port of the first process.
        count: the number of processes.
        index: the number of this process.
        local: its number on its host; None if it is alone there.
    """

    address: str | None
    count: int | None
    index: int | None
    local: int | None = None


NO_CLUSTER: Final = ClusterInfo(None, None, None)


def cluster_of(
    environment: Mapping[str, str], method: str | None = None
) -> ClusterInfo:
    """Return the cluster of environment variables.

    Args:
        environment: the variables.
        method: "slurm", "mpi", "k8s" or "deactivate"; None for the first that is set.

    Raises:
        BackendError: there is no such method, or its variables are not set.
    """
    if method == "deactivate":
        return NO_CLUSTER
    if method is not None and method not in _METHODS:
        raise BackendError(
            "distributed.initialize: expected cluster_detection_method to be one of "
            f"{[*_METHODS, 'deactivate']}, got {method!r}. Or give coordinator_address, "
            "num_processes and process_id."
        )
    for name, (variables, read) in _METHODS.items():
        if method not in {None, name}:
            continue
        missing = [v for v in variables if v not in environment]
        if not missing:
            return read(environment)
        if method is not None:
            raise BackendError(
                f"distributed.initialize: expected the variables of {name}, {variables}, "
                f"got none for {missing}. Start the processes by it, or give "
                "coordinator_address, num_processes and process_id."
            )
    return NO_CLUSTER


def _port(job: int) -> int:
    """Return a port above those that systems assign."""
    return job % 2**12 + 65536 - 2**12


def _slurm(environment: Mapping[str, str]) -> ClusterInfo:
    host = first_host(environment["SLURM_STEP_NODELIST"])
    port = _port(int(environment["SLURM_JOB_ID"]))
    count, index = environment["SLURM_NTASKS"], environment["SLURM_PROCID"]
    return ClusterInfo(
        f"{host}:{port}", int(count), int(index), _local(environment, "SLURM_LOCALID")
    )


def _local(environment: Mapping[str, str], name: str) -> int | None:
    return int(environment[name]) if name in environment else None


def first_host(nodes: str) -> str:
    """Return the first host of a list of SLURM: `node[03-05,9],other` begins with `node03`."""
    head = re.match(r"([^,\[]+)(?:\[([^\]]*)\])?([^,\[]*)", nodes)
    if head is None:
        raise BackendError(
            "distributed.initialize: expected names of hosts in SLURM_STEP_NODELIST, got "
            f"{nodes!r}. Give coordinator_address='host:port'."
        )
    start, numbers, end = head[1], head[2] or "", head[3]
    return f"{start}{re.split('[-,]', numbers)[0]}{end}"


def _mpi(environment: Mapping[str, str]) -> ClusterInfo:
    uri = environment["OMPI_MCA_orte_hnp_uri"]
    job = uri.split(".", 1)[0]
    host = re.search(r"tcp://\[?([^,\]:]+)|tcp6://\[?([^,\]]+)", uri)
    if host is None or not job.isdigit():
        raise BackendError(
            "distributed.initialize: expected a number and an address in "
            f"OMPI_MCA_orte_hnp_uri, got {uri!r}. Give coordinator_address='host:port'."
        )
    # Jobs of one host differ in the upper half.
    port = _port(int(job) // 2**12)
    name = host[1] or f"[{host[2]}]"
    count, index = (environment[f"OMPI_COMM_WORLD_{x}"] for x in ("SIZE", "RANK"))
    local = _local(environment, "OMPI_COMM_WORLD_LOCAL_RANK")
    return ClusterInfo(f"{name}:{port}", int(count), int(index), local)


def _kubernetes(environment: Mapping[str, str]) -> ClusterInfo:
    """Return the cluster of an indexed Job; users set the number of its pods."""
    index = int(environment["JOB_COMPLETION_INDEX"])
    own = environment.get("HOSTNAME", "") or socket.gethostname()
    first = re.sub(rf"-{index}$", "-0", own.split(".", 1)[0])
    domain = socket.getfqdn(own).partition(".")[2]
    count = environment.get("JOB_COMPLETIONS")
    address = f"{first}.{domain}:55527" if domain else f"{first}:55527"
    return ClusterInfo(address, None if count is None else int(count), index)


_METHODS: Final[
    dict[str, tuple[tuple[str, ...], Callable[[Mapping[str, str]], ClusterInfo]]]
] = {
    "slurm": (
        ("SLURM_JOB_ID", "SLURM_STEP_NODELIST", "SLURM_NTASKS", "SLURM_PROCID"),
        _slurm,
    ),
    "mpi": (
        ("OMPI_MCA_orte_hnp_uri", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"),
        _mpi,
    ),
    "k8s": (("KUBERNETES_SERVICE_HOST", "JOB_COMPLETION_INDEX"), _kubernetes),
}


def detect_cluster(method: str | None) -> ClusterInfo:
    """Return the cluster of this process."""
    return cluster_of(os.environ, method)

"""Process environments of SLURM, Open MPI and Kubernetes."""

import pytest

from imprint._src.distributed import environments
from imprint._src.distributed.environments import ClusterInfo, cluster_of, first_host
from imprint.errors import BackendError

_SLURM = {
    "SLURM_JOB_ID": "4097",
    "SLURM_STEP_NODELIST": "node[003-005,9],other",
    "SLURM_NTASKS": "4",
    "SLURM_PROCID": "2",
    "SLURM_LOCALID": "1",
}
_MPI = {
    "OMPI_MCA_orte_hnp_uri": "1531576320.0;tcp://10.96.0.1,10.148.0.1:34911",
    "OMPI_COMM_WORLD_SIZE": "8",
    "OMPI_COMM_WORLD_RANK": "7",
}
_K8S = {
    "KUBERNETES_SERVICE_HOST": "10.0.0.1",
    "JOB_COMPLETION_INDEX": "12",
    "HOSTNAME": "train-12",
    "JOB_COMPLETIONS": "16",
}


def test_environments(monkeypatch):
    monkeypatch.setattr(
        environments.socket, "getfqdn", lambda name: f"{name}.train.default.svc"
    )
    assert cluster_of(_SLURM) == ClusterInfo("node003:61441", 4, 2, 1)
    assert cluster_of(_MPI) == ClusterInfo("10.96.0.1:62624", 8, 7)
    ranked = _MPI | {"OMPI_COMM_WORLD_LOCAL_RANK": "3"}
    assert cluster_of(ranked) == ClusterInfo("10.96.0.1:62624", 8, 7, 3)
    six = _MPI | {"OMPI_MCA_orte_hnp_uri": "4096.0;tcp6://[fe80::b9b,2620:10d::2]:433"}
    assert cluster_of(six) == ClusterInfo("[fe80::b9b]:61441", 8, 7)
    assert cluster_of(_K8S) == ClusterInfo("train-0.train.default.svc:55527", 16, 12)
    alone = {k: v for k, v in _K8S.items() if k != "JOB_COMPLETIONS"}
    assert cluster_of(alone).count is None
    assert cluster_of(_SLURM | _MPI, "mpi") == cluster_of(_MPI)
    assert (
        cluster_of(_SLURM, "deactivate")
        == cluster_of({})
        == ClusterInfo(None, None, None)
    )


@pytest.mark.parametrize(
    ("nodes", "first"),
    [("a1", "a1"), ("a1,b2", "a1"), ("a[01,07-15],b", "a01"), ("a[3-4]-ib", "a3-ib")],
)
def test_the_first_host_of_a_list(nodes, first):
    assert first_host(nodes) == first


def test_missing_variables_are_named():
    with pytest.raises(BackendError) as caught:
        cluster_of({"SLURM_JOB_ID": "3"}, "slurm")
    assert str(caught.value) == (
        "distributed.initialize: expected the variables of slurm, ('SLURM_JOB_ID', "
        "'SLURM_STEP_NODELIST', 'SLURM_NTASKS', 'SLURM_PROCID'), got none for "
        "['SLURM_STEP_NODELIST', 'SLURM_NTASKS', 'SLURM_PROCID']. Start the processes by "
        "it, or give coordinator_address, num_processes and process_id."
    )
    for wrong in ({"SLURM_STEP_NODELIST": "["}, {}):
        broken = _SLURM | wrong if wrong else _MPI | {"OMPI_MCA_orte_hnp_uri": "x"}
        with pytest.raises(BackendError, match="Give coordinator_address='host:port'"):
            cluster_of(broken)

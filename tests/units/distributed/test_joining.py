"""Processes that join each other, and the messages of those that do not."""

import json
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import imprint
from imprint._src.runtime.processes import ClusterConfig, _check_reachable
from imprint.errors import ArgumentError, BackendError

_SCRIPT = Path(__file__).with_name("several.py")


def free_port():
    with socket.socket() as found:
        found.bind(("", 0))
        return found.getsockname()[1]


def started(part, ranks, count, port, env):
    devices = "2" if part in {"train", "hundred", "arrays"} else "1"
    env = {
        **os.environ,
        **env,
        "TF_CPP_MIN_LOG_LEVEL": "1",
        "IMPRINT_NUM_CPU_DEVICES": devices,
    }
    return [
        subprocess.Popen(
            [sys.executable, str(_SCRIPT), str(rank), str(count), str(port), part],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=env,
        )
        for rank in ranks
    ]


def results(part, ranks=(0, 1), count=2, port=None, env=()):
    """Return the exit status, the output and the log of each process."""
    port = port or free_port()
    running = started(part, ranks, count, port, dict(env))
    try:
        outs = [process.communicate(timeout=300) for process in running]
    finally:
        for process in running:
            process.kill()
    outputs = [
        json.loads(out.splitlines()[-1]) if out.strip() else err for out, err in outs
    ]
    codes = [process.returncode for process in running]
    return codes, outputs, [err for _, err in outs], port


@pytest.mark.slow
def test_processes_exchange_values(tmp_path):
    store = {"IMPRINT_CACHE": "write", "IMPRINT_CACHE_DIR": str(tmp_path / "store")}
    codes, outputs, logs, _ = results("talk", env=store)
    assert codes == [0, 0], logs
    for rank, found in enumerate(outputs):
        assert found.pop("gathered") == [[[0, 1], [1, 2]], [0.0, 1.0]]
        assert found.pop("computed") == [[1.0 + rank] * 2, True]
        assert found.pop("count") == [2, rank]
        found.pop("late")
        assert found.pop("origin") == ("disk" if rank else "compiled")
    assert outputs[0] == outputs[1]
    assert outputs[0] == {
        "tiled": [0, 1, 1, 2],
        "sent": 300_000,
        "from one": 1,
        "two sources": "ArgumentError: broadcast_one_to_all: expected one process with "
        "is_source=True, got [0, 1]. Let one process say so.",
        "equal": "nothing",
        "unequal": "AssertionError: step 3: assert_equal: expected the same in all "
        "processes, got ['x'] = 0 in process 0 and 1 in process 1. Compute it from the "
        "same seed, or send it with broadcast_one_to_all.",
        "synced": "nothing",
        "apart": "ArgumentError: sync_global_devices: expected the same name in all 2 "
        "processes, got 'at 0' in process 0 and 'at 1' in process 1. Let all processes "
        "call the same functions in the same order.",
        "shapes": "ArgumentError: process_allgather: expected the same shapes and dtypes "
        "in all 2 processes, got ['float32[1]'] in process 0 and ['float32[2]'] in process "
        "1. Let all processes call the same functions in the same order.",
        "value": "done",
        "no value": "TimeoutError: imprint: expected a value of 'user/step/4' within 0 s, "
        "got none. Let some process set it.",
        "twice": "BackendError: distributed.initialize: expected to be called once, got a "
        "second call. Call imprint.distributed.shutdown() before, or leave it out.",
        "devices": [2, 1],
        "left": False,
        "own": pytest.approx([2.5244129] * 2),
    }


@pytest.mark.slow
def test_training_on_the_devices_of_two_processes():
    codes, outputs, logs, _ = results("train")
    assert codes == [0, 0], logs
    for found in outputs:
        assert found["jit"] == pytest.approx(found["one device"], rel=1e-5)
        assert found["shard_map"] == pytest.approx(found["one device"], rel=1e-5)
        assert found["gathered"] == [True, [0, 1]]
        assert found["parts"] == [[4, 4], [4, 4]]
        assert "got float32[16,4], of which other processes have some." in found["read"]
        assert found["apart"].startswith(
            "CompileError: compile: expected the same program in all processes, as each "
            "waits for the others, got in process 0\n  "
        )
        assert "\nand in process 1\n  " in found["apart"]
        assert "2.0" in found["apart"]


@pytest.mark.slow
@pytest.mark.exhaustive
def test_a_hundred_steps_on_four_processes():
    codes, outputs, logs, _ = results("hundred", range(4), 4)
    assert codes == [0] * 4, logs
    for found in outputs:
        assert found["jit"] == pytest.approx(found["one device"], rel=1e-4)
        assert found["shard_map"] == pytest.approx(found["one device"], rel=1e-4)
        assert found["parts"] == [[2, 4], [2, 4]]
        assert found["jit"] == outputs[0]["jit"]


@pytest.mark.slow
def test_a_process_that_dies_is_named_and_the_others_stop():
    codes, _, logs, _ = results("dies", (0, 1, 2), 3)
    assert codes == [70, 9, 70]
    for rank in (0, 2):
        assert (
            "imprint.distributed: process 1 of 3 was silent for 3 s; process "
            f"{rank} stops, as it would wait for it for ever." in logs[rank]
        )


@pytest.mark.slow
@pytest.mark.exhaustive
def test_a_process_that_fails_is_named():
    codes, _, logs, _ = results("raises")
    assert codes[0] == 70
    assert (
        "process 1 of 2 ended with ValueError: a bad batch; process 0 stops" in logs[0]
    )


@pytest.mark.slow
@pytest.mark.exhaustive
def test_releases_of_jaxlib_that_differ_are_named():
    _, outputs, _, _ = results("differs")
    host = socket.gethostname()
    ours = imprint._src.runtime.compat.jaxlib_version
    for text in outputs:
        assert text.startswith(
            "BackendError: distributed.initialize: expected one release of jaxlib in all "
            f"processes, got 0: {ours} on {host}, 1: 0.9.9 on {host}. "
        )


@pytest.mark.slow
@pytest.mark.exhaustive
def test_a_missing_process_is_reported_in_time():
    _, (text,), _, port = results("nobody", (1,))
    assert text == (
        "BackendError: distributed.initialize: expected process 0 of 2 to answer at "
        f"127.0.0.1:{port} within 1 s, got Connection refused in process 1. Start process "
        "0, and give all the same coordinator_address."
    )
    _, (text,), _, port = results("alone", (0,))
    assert text == (
        f"BackendError: distributed.initialize: expected 2 processes at 127.0.0.1:{port} "
        "within 1 s, got fewer; the engine's log above names those that are missing. Start "
        "them all, with the same num_processes; initialization_timeout waits longer."
    )


@pytest.mark.slow
def test_a_port_in_use_is_reported():
    with socket.socket() as taken:
        taken.bind(("", 0))
        taken.listen()
        port = taken.getsockname()[1]
        _, (text,), _, _ = results("port", (0,), port=port)
    assert text == (
        f"BackendError: distributed.initialize: expected to listen at [::]:{port} in "
        "process 0, got Address already in use. Choose another port, in the "
        "coordinator_address of all processes."
    )


@pytest.mark.parametrize(
    ("says", "wait", "got"),
    [
        (b"", 0, "timed out"),
        (b"HTTP/1.1 400 Bad Request", 60, "the answer of another program"),
    ],
)
def test_a_foreign_server_on_the_port_is_reported(says, wait, got):
    with socket.create_server(("127.0.0.1", 0)) as other:
        address = f"127.0.0.1:{other.getsockname()[1]}"

        def answer():
            came, _ = other.accept()
            came.sendall(says)
            done.wait(10)
            came.close()

        done = threading.Event()
        listening = threading.Thread(target=answer, daemon=True)
        listening.start()
        with pytest.raises(BackendError) as caught:
            _check_reachable(ClusterConfig(address, 2, 1, address, wait, 5, 5))
        done.set()
        listening.join()
    assert str(caught.value) == (
        f"distributed.initialize: expected process 0 of 2 to answer at {address} within {wait} "
        f"s, got {got} in process 1. Start process 0, and give all the same "
        "coordinator_address."
    )


@pytest.fixture
def not_started(monkeypatch):
    monkeypatch.setattr(imprint._src.runtime, "has_started", lambda: False)
    for name in ("SLURM_JOB_ID", "OMPI_MCA_orte_hnp_uri", "KUBERNETES_SERVICE_HOST"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("given", "kind", "text"),
    [
        (
            {},
            ArgumentError,
            "distributed.initialize: expected coordinator_address, got none, and no "
            "environment of SLURM, Open MPI or Kubernetes says it. Give it.",
        ),
        (
            {"coordinator_address": "localhost", "num_processes": 2, "process_id": 0},
            ArgumentError,
            "distributed.initialize: expected coordinator_address='host:port', got "
            "'localhost'. Name a port that is free on the host of process 0.",
        ),
        (
            {"coordinator_address": "a:1", "num_processes": 2, "process_id": 2},
            ArgumentError,
            "distributed.initialize: expected process_id in [0, 2), as num_processes=2, "
            "got 2. Count processes from 0.",
        ),
        (
            {
                "coordinator_address": "a:1",
                "num_processes": 2,
                "process_id": 1,
                "local_device_ids": "01",
            },
            ArgumentError,
            "distributed.initialize: expected local_device_ids as numbers of GPUs, got "
            "'01'. Write [0, 1], or leave it out for all of this host.",
        ),
        (
            {"cluster_detection_method": "pbs"},
            BackendError,
            "distributed.initialize: expected cluster_detection_method to be one of "
            "['slurm', 'mpi', 'k8s', 'deactivate'], got 'pbs'. Or give "
            "coordinator_address, num_processes and process_id.",
        ),
    ],
)
def test_wrong_arguments_raise_before_anything_starts(not_started, given, kind, text):
    with pytest.raises(kind) as caught:
        imprint.distributed.initialize(**given)
    assert str(caught.value) == text


@pytest.mark.parametrize("given", [2, [2]])
def test_the_gpus_of_a_process_are_passed_to_the_engine(
    not_started, monkeypatch, given
):
    met = []
    monkeypatch.setattr(imprint._src.runtime, "join", met.append)
    imprint.distributed.initialize("a:1", 2, 0, local_device_ids=given)
    monkeypatch.setenv("OMPI_MCA_orte_hnp_uri", "4096.0;tcp://10.0.0.1:433")
    for name, value in (("SIZE", "2"), ("RANK", "1"), ("LOCAL_RANK", "1")):
        monkeypatch.setenv(f"OMPI_COMM_WORLD_{name}", value)
    imprint.distributed.initialize()
    imprint.distributed.initialize("a:1", 2, 0, None, "deactivate")
    assert [meeting.gpus for meeting in met] == [(2,), (1,), None]


def test_it_is_too_late_once_devices_run():
    imprint.devices()
    with pytest.raises(BackendError) as caught:
        imprint.distributed.initialize("localhost:1234", 1, 0)
    assert str(caught.value) == (
        "distributed.initialize: expected to be called before the first device is used, "
        "got it after imprint.devices() or a computation. Call it first."
    )
    with pytest.raises(BackendError, match=r"got one that is alone\. Call"):
        imprint.distributed.key_value_store()

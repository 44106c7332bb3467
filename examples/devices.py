"""Training of the network of `digits` on eight devices, and in two processes.

1. A fresh process has eight CPU devices: their number is fixed before the first is used.
2. It calls the same step with whole batches, and with batches split over the devices, of
   which each has a copy of the network. So one function has two versions.
3. The losses differ by rounding at most, and the trained network is on all devices.
4. Two processes join on a free port and train together on half a batch each. If this host
   refuses sockets, the reason is kept and nothing is started. Output goes to files, so no
   process waits for a reader; a time limit stops all processes.
"""

import json
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy

import imprint
from examples.data import batches, load
from examples.digits import make_network, make_step, trained
from examples.drawings import draw_column
from examples.processes import environment
from imprint import NamedSharding, P, optim

_DEVICES = 8
_PROCESSES = 2
_LIMIT_S = 90
_HOST = "127.0.0.1"
ADAM: Final = optim.adam(0.01)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceFigures:
    """Results of the training on one device and on several."""

    devices: int
    versions: int
    alone: list[float]
    split: list[float]
    batch: int
    share: int
    copies: bool
    picture: str

    @property
    def difference(self) -> float:
        """The largest difference of losses, relative to the first loss."""
        return self.difference_from(self.split)

    def difference_from(self, losses: Sequence[float]) -> float:
        """Return the largest difference from other losses, relative to the first loss.

        Args:
            losses: those of another training, of as many steps or fewer.
        """
        differences = numpy.abs(numpy.subtract(self.alone[: len(losses)], losses))
        return float(differences.max() / self.alone[0])


def learn_on_devices(steps: int) -> DeviceFigures:
    """Train on one device and on eight, in a process of its own.

    Args:
        steps: how many batches to learn from.
    """
    program = f"from examples.devices import print_shares; print_shares({steps})"
    done = subprocess.run(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        check=True,
        env=environment(IMPRINT_NUM_CPU_DEVICES=str(_DEVICES)),
    )
    return DeviceFigures(**json.loads(done.stdout))


def print_shares(steps: int) -> None:
    """Print the results of both; the number of devices is in the environment."""
    mesh = imprint.make_mesh((imprint.device_count(),), ("data",))
    step = make_step(ADAM)
    alone, split = train(steps, step, None), train(steps, step, mesh)
    images, weights = split.images, imprint.tree.leaves(trained(split.network))
    figures = DeviceFigures(
        devices=mesh.size,
        versions=step._cache_size(),
        alone=alone.losses,
        split=split.losses,
        batch=len(images),
        share=len(images.addressable_data(0)),
        copies=all(w.is_fully_replicated and len(w.devices()) > 1 for w in weights),
        picture=draw_column([str(d) for d in mesh.flat_devices]),
    )
    print(json.dumps(asdict(figures)))


class Learnt(NamedTuple):
    """Results of a training: losses, the network, and the images of the last batch."""

    losses: list[float]
    network: Any
    images: Any


def train(steps: int, step: Any, mesh: imprint.sharding.Mesh | None) -> Learnt:
    """Train a new network with batches split over the devices of a mesh.

    Args:
        steps: how many batches to learn from.
        step: the compiled step, of `make_step(ADAM)`.
        mesh: the devices, along one axis that is called `data`; one device, if None.
    """
    network, given = make_network(), None
    state = ADAM.init(trained(network))
    rows = None if mesh is None else NamedSharding(mesh, P("data"))
    if mesh is not None:
        copies = NamedSharding(mesh, P())
        arrays, rest = imprint.partition(network, imprint.is_array)
        network = imprint.combine(imprint.device_put(arrays, copies), rest)
        state = imprint.device_put(state, copies)
    losses: list[float] = []
    for batch in islice(batches(load()[0]), steps):
        given = tuple(batch) if rows is None else imprint.device_put(tuple(batch), rows)
        network, state, loss = step(network, state, *given)
        losses.append(float(loss))
    assert given is not None
    return Learnt(losses, network, given[0])


# ---- in two processes ----


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessFigures:
    """Results of the training in several processes.

    Args:
        refused: the reason why no process was started, or empty.
        failed: the failure of a process, or empty.
        losses: the losses of all steps.
        batch: the number of images in a batch.
        share: the number of images of each process.
        picture: a picture of the parts of the processes.
    """

    refused: str = ""
    failed: str = ""
    losses: Sequence[float] = ()
    batch: int = 0
    share: int = 0
    picture: str = ""


def learn_in_processes(steps: int) -> ProcessFigures:
    """Train in two processes, and end them.

    Args:
        steps: how many batches to learn from.
    """
    try:
        port = _free_port()
    except OSError as err:
        return ProcessFigures(refused=str(err))
    found = _started(port, steps)
    if "Choose another port" in found.failed:  # another process took it
        found = _started(_free_port(), steps)
    return found


def _free_port() -> int:
    """Return a port of this host to which one can connect.

    Raises:
        OSError: sockets are refused.
    """
    with socket.socket() as listening:
        listening.bind((_HOST, 0))
        listening.listen()
        port: int = listening.getsockname()[1]
        socket.create_connection((_HOST, port), timeout=5).close()
        return port


def _started(port: int, steps: int) -> ProcessFigures:
    """Start the processes and return the results of the first one."""
    given = environment(IMPRINT_NUM_CPU_DEVICES="1")
    with tempfile.TemporaryDirectory() as folder:
        logs = [Path(folder, str(i)) for i in range(_PROCESSES)]
        running: list[subprocess.Popen[bytes]] = []
        try:
            for index, log in enumerate(logs):
                program = (
                    "from examples.devices import take_part; "
                    f"take_part({index}, {port}, {steps})"
                )
                with log.open("wb") as out:
                    command = [sys.executable, "-c", program]
                    running.append(
                        subprocess.Popen(
                            command, stdout=out, stderr=subprocess.STDOUT, env=given
                        )
                    )
            failed = _ended(running)
        finally:
            for process in running:
                process.kill()
                process.wait()
        output = [log.read_text(errors="replace").strip() for log in logs]
    if failed is None:
        return ProcessFigures(**json.loads(output[0].splitlines()[-1]))
    index, how = failed
    last = output[index].splitlines()[-1:] or ["it printed nothing"]
    return ProcessFigures(failed=f"process {index} of {_PROCESSES} {how}: {last[0]}")


def _ended(running: Sequence["subprocess.Popen[bytes]"]) -> tuple[int, str] | None:
    """Wait for all processes; return the index and failure of the first that fails."""
    until = time.monotonic() + _LIMIT_S
    while True:
        codes = [process.poll() for process in running]
        for index, code in enumerate(codes):
            if code:
                return index, f"ended with the status {code}"
        if None not in codes:
            return None
        if time.monotonic() > until:
            return codes.index(None), f"did not end within {_LIMIT_S} s"
        time.sleep(0.02)


def take_part(index: int, port: int, steps: int) -> None:
    """Train as one of the processes; the first prints its results.

    Args:
        index: the index of this process.
        port: the port of the first process.
        steps: how many batches to learn from.
    """
    address = f"{_HOST}:{port}"
    imprint.distributed.initialize(
        address,
        _PROCESSES,
        index,
        cluster_detection_method="deactivate",
        coordinator_bind_address=address,
        initialization_timeout=_LIMIT_S // 2,
        heartbeat_timeout_seconds=_LIMIT_S // 2,
        shutdown_timeout_seconds=10,
    )
    mesh = imprint.make_mesh((imprint.device_count(),), ("data",))
    learnt = train(steps, make_step(ADAM), mesh)
    figures = ProcessFigures(
        losses=learnt.losses,
        batch=len(learnt.images),
        share=sum(len(s.data) for s in learnt.images.addressable_shards),
        picture=draw_column(
            [f"process {d.process_index}: {d}" for d in mesh.flat_devices]
        ),
    )
    imprint.distributed.shutdown()
    if index == 0:
        print(json.dumps(asdict(figures)), flush=True)

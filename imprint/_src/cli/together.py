"""The network of digits learns in two processes that this one starts, half a batch each.

1. A port is found by asking the system for one. Where sockets on this host are refused,
   the reason is kept, and nothing is started.
2. Each process joins the other, and both run one program over the devices of both. The
   first prints the losses, which are equal in all.
3. Output goes to files, so no process waits for a reader. All of it has a time limit: what
   runs longer is stopped, and so is who is left when another one fails.
"""

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import imprint
from imprint._src.cli.devices import ADAM, train
from imprint._src.cli.digits import make_step
from imprint._src.debug.shardings import table

_PROCESSES = 2
_LIMIT_S = 90
_HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Together:
    """What a training in several processes told.

    Args:
        refused: why no process was started; empty if they were.
        failed: what went wrong in them; empty if nothing did.
        losses: those of all steps.
        batch: how many images a batch has.
        share: how many of them each process has.
        picture: which process has which part.
    """

    refused: str = ""
    failed: str = ""
    losses: Sequence[float] = ()
    batch: int = 0
    share: int = 0
    picture: str = ""


def learn_together(steps: int) -> Together:
    """Train in two processes that are started here, and end here.

    Args:
        steps: how many batches to learn from.
    """
    try:
        port = _free_port()
    except OSError as err:
        return Together(refused=str(err))
    found = _started(port, steps)
    if "Choose another port" in found.failed:  # somebody took it in between
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


def _started(port: int, steps: int) -> Together:
    """Start the processes and return what the first one told."""
    root = str(Path(__file__).resolve().parents[3])
    given = {
        **os.environ,
        "IMPRINT_NUM_CPU_DEVICES": "1",
        "PYTHONPATH": os.pathsep.join([root, os.environ.get("PYTHONPATH", "")]),
    }
    with tempfile.TemporaryDirectory() as folder:
        logs = [Path(folder, str(i)) for i in range(_PROCESSES)]
        running: list[subprocess.Popen[bytes]] = []
        try:
            for index, log in enumerate(logs):
                program = (
                    "from imprint._src.cli.together import take_part; "
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
        told = [log.read_text(errors="replace").strip() for log in logs]
    if failed is None:
        return Together(**json.loads(told[0].splitlines()[-1]))
    index, how = failed
    last = told[index].splitlines()[-1:] or ["it printed nothing"]
    return Together(failed=f"process {index} of {_PROCESSES} {how}: {last[0]}")


def _ended(running: Sequence["subprocess.Popen[bytes]"]) -> tuple[int, str] | None:
    """Wait until all have ended well; or return which of them did not, and how."""
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
    """Train as one of the processes; the first prints what it found.

    Args:
        index: which of them this is.
        port: where the first one listens.
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
    told = Together(
        losses=learnt.losses,
        batch=len(learnt.images),
        share=sum(len(s.data) for s in learnt.images.addressable_shards),
        picture=table([[f"process {d.process_index}: {d}"] for d in mesh.flat_devices]),
    )
    imprint.distributed.shutdown()
    if index == 0:
        print(json.dumps(asdict(told)), flush=True)

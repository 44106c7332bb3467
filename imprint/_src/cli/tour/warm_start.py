"""A program that starts twice: in a new process, nothing is traced or compiled.

The program is a text, a chain of some hundred operations, which each process runs whole. It
prints what it took from its first line to the result, and what was traced and compiled.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

PROGRAM = """
import time
start = time.perf_counter()
import imprint
import imprint.numpy as np

@imprint.jit
def chain(x):
    for i in range(400):
        x = np.sin(x) * 1.01 + i
    return x

result = chain(np.ones(1000)).sum().item()
counts = imprint.debug.counters()
print(time.perf_counter() - start, counts.traces, counts.compiles, result.hex())
"""


class StartFigures(NamedTuple):
    """What a process did, from its first line to the result."""

    seconds: float
    traces: int
    compiles: int
    result: str

    def __str__(self) -> str:
        return f"{self.seconds:.2f} s, {self.traces} traces, {self.compiles} compiles"


def start_twice() -> tuple[StartFigures, StartFigures]:
    """Run the program in two processes, one after the other, on a store of their own."""
    with tempfile.TemporaryDirectory() as folder:
        return _start(folder), _start(folder)


def _start(folder: str) -> StartFigures:
    given = {
        **os.environ,
        "IMPRINT_CACHE": "write",
        "IMPRINT_CACHE_DIR": os.path.join(folder, "store"),
        "PYTHONPATH": str(Path(__file__).resolve().parents[4]),
    }
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        check=True,
        env=given,
        stdout=subprocess.PIPE,
        text=True,
    )
    seconds, traces, compiles, result = done.stdout.split()
    return StartFigures(float(seconds), int(traces), int(compiles), result)

"""A program that starts twice: the second process neither traces nor compiles.

The program is a string, a chain of some hundred operations. It prints the seconds from its
first line to the result, and the numbers of traces and compiles.
"""

import os
import subprocess
import sys
import tempfile
from typing import NamedTuple

from examples.processes import environment

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
    """Counts of a process, from its first line to the result."""

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
    store = os.path.join(folder, "store")
    given = environment(IMPRINT_CACHE="write", IMPRINT_CACHE_DIR=store)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        check=True,
        env=given,
        stdout=subprocess.PIPE,
        text=True,
    )
    seconds, traces, compiles, result = done.stdout.split()
    return StartFigures(float(seconds), int(traces), int(compiles), result)

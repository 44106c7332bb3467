"""`import imprint` in fresh, alternating processes.

Timed: the import statement only, without the start of the interpreter. The bytecode is
compiled, as for users, and the files are in the page cache.
"""

import os
import subprocess
import sys
from functools import cache

from benchmarks.pairs import Fact, Pair, Suite, Timing

# NumPy's BLAS starts its threads at import; they are not counted.
THREADS = """
import os, numpy
before = len(os.listdir("/proc/self/task"))
import {0}
print(len(os.listdir("/proc/self/task")) - before)
"""
TIMED = (
    "import time; t = time.perf_counter(); import {0}; print(time.perf_counter() - t)"
)
MODULES = "import sys, {0}; print(*sys.modules)"
ENVIRONMENT = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}


def fresh_process(code: str, module: str) -> str:
    """Return the output of a fresh interpreter for `code`."""
    command = [sys.executable, "-c", code.format(module)]
    finished = subprocess.run(
        command, capture_output=True, text=True, check=True, env=ENVIRONMENT
    )
    return finished.stdout


def import_seconds(module):
    return lambda: float(fresh_process(TIMED, module))


def threads(module):
    return lambda: int(fresh_process(THREADS, module))


@cache
def loaded(module):
    return fresh_process(MODULES, module).split()


def scipy_modules(module):
    return lambda: sum(name.split(".")[0] == "scipy" for name in loaded(module))


PAIRS = [
    Pair(
        "import",
        ours=import_seconds("imprint"),
        jax=import_seconds("jax"),
        target=0.20,
        timing=Timing.SELF,
    ),
    Pair(
        "import, with the NumPy names",
        ours=import_seconds("imprint, imprint.numpy"),
        jax=import_seconds("jax, jax.numpy"),
        timing=Timing.SELF,
    ),
    Pair(
        "import of NumPy alone, the floor",
        ours=import_seconds("numpy"),
        jax=import_seconds("jax"),
        timing=Timing.SELF,
    ),
]
FACTS = [
    Fact(
        "import: threads started beside NumPy's",
        ours=threads("imprint"),
        jax=threads("jax"),
        limit=0,
    ),
    Fact(
        "import: modules of SciPy",
        ours=scipy_modules("imprint"),
        jax=scipy_modules("jax"),
        limit=0,
    ),
]


class Import(Suite):
    pairs = PAIRS
    unit = "seconds"

"""Redundant misses of ordinary programs.

A miss is redundant if an input of the trace changed and the retrace gave the same program.
The programs are those of the first hour, of the demo, and of the pages and docstrings; each
part runs in a process of its own (`tests/first_hour/misses.py`). JAX guards nothing, so it
has none.
"""

import json
import subprocess
import sys

from benchmarks.pairs import Fact

PARTS = ("first_hour", "the_demo", "documentation")


def counted(part):
    """Return how many misses a part has in a fresh process, and how many are redundant."""
    command = [sys.executable, "-W", "ignore", "-m", "tests.first_hour.misses", part]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    if finished.returncode:
        raise RuntimeError(f"expected {part} to run, got:\n{finished.stderr}")
    count, redundant = json.loads(finished.stdout.splitlines()[-1])
    for function, times in redundant.items():
        print(f"redundant in {part}: {times} of {function}")
    return count, sum(redundant.values())


def share():
    """Return the per cent of all misses that are redundant."""
    counts, redundant = zip(*map(counted, PARTS), strict=True)
    return round(100 * sum(redundant) / sum(counts), 2)


FACTS = [
    Fact(
        "redundant misses of ordinary programs, %",
        ours=share,
        jax=lambda: 0,
        limit=1,
    )
]

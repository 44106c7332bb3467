"""How many of the misses of ordinary programs are needless: imprint watches too much.

A miss is needless if something changed that the function reads, and the program came out
the same. The programs are those of a user's first hour, of the tour, and of the pages and
docstrings; each part runs in a process of its own (`tests/first_hour/misses.py`). JAX
watches nothing, so it has none.
"""

import json
import subprocess
import sys

from benchmarks.pairs import Fact

PARTS = ("first_hour", "the_tour", "documentation")


def counted(part):
    """Return how many misses a part has in a fresh process, and the needless ones."""
    command = [sys.executable, "-W", "ignore", "-m", "tests.first_hour.misses", part]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    if finished.returncode:
        raise RuntimeError(f"expected {part} to run, got:\n{finished.stderr}")
    count, needless = json.loads(finished.stdout.splitlines()[-1])
    for function, times in needless.items():
        print(f"needless in {part}: {times} of {function}")
    return count, sum(needless.values())


def share():
    """Return the per cent of all misses that are needless."""
    counts, needless = zip(*map(counted, PARTS), strict=True)
    return round(100 * sum(needless) / sum(counts), 2)


FACTS = [
    Fact(
        "needless misses of ordinary programs, %",
        ours=share,
        jax=lambda: 0,
        limit=1,
    )
]

"""Unmodified tutorial programs on imprint and on JAX: whole processes, and their steps.

The programs are in `tests/libraries/programs/tutorials`. "cold" starts with an empty disk
cache, "warm" with the cache that an earlier run left. Timed: the whole process, with the
interpreter and the imports. "step" is what the program says itself of its last steps.
Programs of a library that is not installed have no rows: `pip install -e '.[libraries]'`.
"""

import tempfile
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path

from benchmarks.pairs import Pair, Suite, Timing
from imprint._src.as_jax.compare import run

PROGRAMS = Path(__file__).parents[1] / "tests" / "libraries" / "programs" / "tutorials"
TARGETS = {"cold": 0.9, "warm": 0.6, "step": 1.05}


@cache
def folder_of(library, name):
    """Return the filled disk cache of a program."""
    folder = Path(tempfile.mkdtemp(prefix="imprint-tutorials-"))
    run([str(PROGRAMS / f"{name}.py")], library, folder)
    return folder


def cold(library, name):
    """Return the seconds of a process that starts with an empty cache."""
    with tempfile.TemporaryDirectory() as folder:
        program = [str(PROGRAMS / f"{name}.py")]
        return run(program, library, Path(folder)).figures["wall"]


def warm(library, name):
    """Return the seconds of a process that starts with a filled cache."""
    program = [str(PROGRAMS / f"{name}.py")]
    return run(program, library, folder_of(library, name)).figures["wall"]


def step(library, name):
    """Return the seconds of a step in such a process."""
    program = [str(PROGRAMS / f"{name}.py")]
    return float(run(program, library, folder_of(library, name)).errors.split()[-1])


def is_installed(path):
    """Return whether the libraries of a program are there."""
    text = path.read_text("utf-8")
    return all(find_spec(n) for n in ("equinox", "optax") if f"import {n}" in text)


PAIRS = [
    Pair(
        f"{path.stem.replace('_', ' ')}, {timed.__name__}",
        partial(timed, "imprint", path.stem),
        partial(timed, "jax", path.stem),
        target=TARGETS[timed.__name__],
        timing=Timing.SELF,
    )
    for path in sorted(PROGRAMS.glob("*.py"))
    if is_installed(path)
    for timed in (cold, warm, step)
]


class Tutorials(Suite):
    """One parameter for each pair; imprint and JAX side by side."""

    pairs = PAIRS

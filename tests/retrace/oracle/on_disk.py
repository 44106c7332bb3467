"""`python -m tests.retrace.oracle.on_disk SEED FOLDER`: draw programs that a disk answers.

It runs in a process of its own, because the state that other tests leave decides which
programs are kept. It prints the number of calls that were answered without a trace.
"""

import sys
import tempfile
import warnings
from pathlib import Path

from hypothesis import given, seed, settings

import tests.conftest  # noqa: F401 - how programs are drawn
from tests.quick import hasten

hasten()

import imprint  # noqa: E402 - the engine reads its flags when it is loaded
from imprint._src import runtime  # noqa: E402
from tests.retrace.oracle.programs import programs  # noqa: E402
from tests.retrace.oracle.world import STARTED, run  # noqa: E402

PROGRAMS = 100


def search(number, folder):
    """Check the programs of one seed, each with files of its own."""

    @seed(number)
    @settings(max_examples=PROGRAMS)
    @given(programs(strict=False, is_wide=False, is_flat=True))
    def drawn(program):
        with tempfile.TemporaryDirectory(dir=folder) as files:
            run(program, strict=False, folder=Path(files))

    drawn()


def main():
    number, folder = sys.argv[1:]
    warnings.simplefilter("ignore")
    kept, compile_one = [], runtime.compile

    def compile_and_keep(*args):
        kept.append(compile_one(*args))
        return kept[-1]

    runtime.compile = compile_and_keep  # programs of equal text share it
    imprint.cache.configure(directory=Path(folder) / "store", mode="write")
    search(int(number), folder)
    print(STARTED[True])


if __name__ == "__main__":
    main()

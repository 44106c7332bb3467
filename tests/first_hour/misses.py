"""`python -m tests.first_hour.misses PART`: misses of ordinary programs.

A miss is redundant if a dependency of the function changed and the new program is the same.
The programs are those of the first hour, of the demo, and of the pages and docstrings. The
last printed line has the number of misses, and of redundant ones by function.
"""

import collections
import contextlib
import io
import itertools
import json
import sys
import tempfile

import imprint
from examples.__main__ import main
from imprint._src.jit.versions.version import OBSERVERS
from tests.docs.examples import docstrings, is_first, pages, run_doctest, run_page
from tests.first_hour import (
    learners,
    machines,
    more_programs,
    programs,
    sequences,
    solvers,
)
from tests.first_hour.collect import programs_of


def first_hour():
    loops = (solvers, sequences, learners, machines)
    for module in (programs, more_programs, *loops):
        for program in programs_of(module):
            program(imprint)


def the_demo():
    with tempfile.TemporaryDirectory() as out:
        main(["--out", out, "--steps", "50"])


def documentation():
    """Run all that one process can."""
    for page in itertools.filterfalse(is_first, pages()):
        run_page(page)
    for test in docstrings():
        run_doctest(test)


PARTS = {part.__name__: part for part in (first_hour, the_demo, documentation)}


class Misses:
    """Counts the misses of this process; an `Observer`."""

    def __init__(self):
        self.count = 0
        self.needless = collections.Counter()

    def missed(self, miss):
        pass

    def failed(self, miss):
        pass

    def compiled(self, miss, costs):
        self.count += 1
        if miss.is_needless:
            self.needless[f"{miss.function} ({miss.defined})"] += 1


def count_misses(program):
    """Run a program; return its misses, and the redundant ones by function."""
    misses = Misses()
    OBSERVERS.append(misses)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            program()
    finally:
        OBSERVERS.remove(misses)
    return misses.count, misses.needless


if __name__ == "__main__":
    print(json.dumps(count_misses(PARTS[sys.argv[1]])))

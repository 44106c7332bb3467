"""The oracle: a hit gives what a fresh trace gives.

A program of many pieces is edited at random between its calls, or by another thread while
it is traced; see `oracle.world` for what is asked of it. A test is one seed, from which
`PER_SEED` programs are drawn; `make test` draws 2,000. To search wider by hand, seeds side
by side in four processes, each test that many cases:

    ORACLE_CASES=100000 .venv-3.11/bin/python -m pytest -n 4 tests/retrace/test_soundness.py

A seed always draws the same programs, so one that failed runs alone by its id.
"""

import os
import subprocess
import sys

import pytest
from hypothesis import given, note, seed, settings

from imprint.record import recorder
from tests.lanes import exhaustive
from tests.retrace.oracle.programs import programs
from tests.retrace.oracle.world import run

CASES = int(os.environ.get("ORACLE_CASES", "1000"))
PER_SEED = 50

pytestmark = [
    pytest.mark.slow,
    pytest.mark.usefixtures("kept_executables"),
    pytest.mark.unaudited,  # they compare with a fresh trace themselves
    pytest.mark.filterwarnings("ignore:.* was compiled 8 times"),
    pytest.mark.filterwarnings("ignore:.* that strict=True can look into"),
]


def seeds(fast):
    """Return the parameters of a search: so many seeds, and in the exhaustive lane all."""
    more = exhaustive(*range(fast, -(-CASES // PER_SEED)))
    return pytest.mark.parametrize("number", [*range(fast), *more], ids="seed{}".format)


def search(number, check, *, strict, is_wide=False):
    """Check the programs of one seed; Hypothesis shows the smallest that fails."""

    @seed(number)
    @settings(max_examples=PER_SEED)
    @given(programs(strict=strict, is_wide=is_wide))
    def drawn(program):
        note(str(program))
        check(program)

    drawn()


@seeds(26)
def test_a_hit_gives_what_a_fresh_trace_gives(number):
    search(
        *(number, lambda program: run(program, strict=False)),
        strict=False,
        is_wide=True,
    )


@seeds(7)
def test_in_strict_mode_what_is_inside_counts_too(number):
    search(number, lambda program: run(program, strict=True), strict=True)


@seeds(7)
def test_where_nobody_tells_what_runs_names_are_enough(number):
    """In a debugger, or beside a profiler written in C."""

    def check(program):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(recorder._listener, "listen", lambda: False)
            run(program, strict=False)

    search(number, check, strict=False, is_wide=True)


@seeds(2)
def test_what_the_disk_answers_is_what_a_fresh_trace_gives(number, tmp_path):
    module = "tests.retrace.oracle.on_disk"
    command = [sys.executable, "-m", module, str(number), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.splitlines()[-1]) > 50

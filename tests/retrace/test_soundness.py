"""The oracle: inside the contract, a hit equals a fresh trace.

A program of many pieces is edited at random between its calls; `oracle.world` checks them.
All draws are inside the contract of change detection. A test is one seed, from which
`PER_SEED` programs are drawn. To search wider by hand, with seeds in two processes and that
many programs a test:

    ORACLE_CASES=100000 .venv-3.11/bin/python -m pytest -n 2 tests/retrace/test_soundness.py

A seed always draws the same programs, so one that failed runs alone by its id.
"""

import os
import subprocess
import sys
from contextlib import contextmanager

import pytest
from hypothesis import given, note, seed, settings

from tests.lanes import exhaustive
from tests.retrace.oracle.programs import programs
from tests.retrace.oracle.world import run

CASES = int(os.environ.get("ORACLE_CASES", "1000"))
PER_SEED = 25

pytestmark = [
    pytest.mark.slow,
    pytest.mark.unaudited,  # they compare with a fresh trace themselves
    pytest.mark.filterwarnings("ignore:.* was compiled 8 times"),
]


def seeds(fast):
    """Return the parameters of a search: so many seeds, and in the exhaustive lane all."""
    more = exhaustive(*range(fast, -(-CASES // PER_SEED)))
    return pytest.mark.parametrize("number", [*range(fast), *more], ids="seed{}".format)


def search(number, *, strict=False):
    """Check the programs of one seed; Hypothesis shows the smallest that fails."""

    @seed(number)
    @settings(max_examples=PER_SEED)
    @given(programs(strict=strict, is_wide=True))
    def drawn(program):
        note(str(program))
        run(program, strict=strict)

    drawn()


@contextmanager
def all_tools_taken():
    """Take all ids of monitoring tools, so that no trace can observe the code that runs."""
    tools = sys.monitoring
    taken = [number for number in range(6) if tools.get_tool(number) is None]
    for number in taken:
        tools.use_tool_id(number, "another tool")
    try:
        yield
    finally:
        for number in taken:
            tools.free_tool_id(number)


@seeds(2)
def test_a_hit_equals_a_fresh_trace(number):
    search(number)


@seeds(1)
def test_in_strict_mode_contents_of_any_size_are_tracked(number):
    search(number, strict=True)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="nothing is ever observed there")
@seeds(1)
def test_without_monitoring_tools_names_are_enough(number):
    with all_tools_taken():
        search(number)


@seeds(0)
def test_a_hit_on_the_disk_equals_a_fresh_trace(number, tmp_path):
    module = "tests.retrace.oracle.on_disk"
    command = [sys.executable, "-m", module, str(number), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.splitlines()[-1]) > 50

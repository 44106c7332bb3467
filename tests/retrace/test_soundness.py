"""The oracle: a hit gives what a fresh trace gives.

A program of many pieces is edited at random between its calls; see `oracle.world` for
what is asked of it. `ORACLE_CASES=10000` in the environment searches wider.
"""

import os

import pytest
from hypothesis import assume, given, note, settings

from imprint.record import recorder
from tests.retrace.oracle.programs import programs
from tests.retrace.oracle.world import run

CASES = int(os.environ.get("ORACLE_CASES", "400"))
pytestmark = [
    pytest.mark.usefixtures("kept_executables"),
    pytest.mark.filterwarnings("ignore:.* was compiled 8 times"),
]


@pytest.mark.slow
@settings(max_examples=CASES)
@given(programs(strict=False))
def test_a_hit_gives_what_a_fresh_trace_gives(program):
    note(str(program))
    run(program, strict=False)


@pytest.mark.slow
@settings(max_examples=CASES)
@given(programs(strict=True))
def test_in_strict_mode_what_is_inside_counts_too(program):
    note(str(program))
    run(program, strict=True)


@pytest.mark.slow
@settings(max_examples=CASES // 2)
@given(programs(strict=False))
def test_where_nobody_tells_what_runs_names_are_enough(program):
    """In a debugger, or beside a profiler written in C."""
    note(str(program))
    assume(program.static is None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recorder._listener, "listen", lambda: False)
        run(program, strict=False)

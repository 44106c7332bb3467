"""Whole programs of the first hour, run with JAX and with imprint: the same results."""

import jax
import numpy as np
import pytest

import imprint
from tests.first_hour import (
    learners,
    machines,
    more_programs,
    programs,
    sequences,
    solvers,
)
from tests.first_hour.collect import programs_of
from tests.first_hour.waiting import WAITING
from tests.lanes import exhaustive
from tests.tolerances import assert_close

pytestmark = pytest.mark.slow


LOOPS = [programs_of(module) for module in (solvers, sequences, learners, machines)]
PROGRAMS = [
    *programs_of(programs),
    *exhaustive(*programs_of(more_programs)),
    *(program for quick in LOOPS for program in quick[:2]),
    *exhaustive(*(program for rest in LOOPS for program in rest[2:])),
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_program_gives_the_same_as_with_jax(program):
    want, got = jax.tree.leaves(program(jax)), imprint.tree.leaves(program(imprint))
    assert len(got) == len(want)
    for one, other in zip(got, want, strict=True):
        if isinstance(other, str):
            assert one == other
        else:
            assert_close(np.asarray(one), np.asarray(other), "gradient")


@pytest.mark.parametrize("program", WAITING, ids=lambda program: program.__name__)
def test_a_program_stops_at_its_missing_name(program):
    jax.block_until_ready(program(jax))
    with pytest.raises(AttributeError) as caught:
        program(imprint)
    assert WAITING[program] in str(caught.value)
    assert "not there yet" in str(caught.value)

"""Passes take time linear in the length of the program.

The tests count executed lines of `imprint/_src/passes` and use no clock. A program four
times as long may run a little more than four times as many.
"""

import sys
from operator import attrgetter
from pathlib import Path

import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint._src.config import enable_checks
from imprint._src.passes import pipeline
from imprint._src.passes.pipeline import changes_of, run_passes
from tests.lanes import exhaustive_but
from tests.tolerances import assert_close

PASSES = str(Path(pipeline.__file__).parent)
V = np.linspace(0.1, 0.9, 300, dtype="float32")
NAME = attrgetter("__name__")
FEW, TIMES = 300, 4
SLACK = 1.15
DEEP = 120  # frames that a pass may need, however long the program is


@pytest.fixture(autouse=True)
def _switched_on():
    with imprint.roll_loops(), imprint.cut_recomputation(), enable_checks(False):
        yield


def unlike(i):
    """Return a number per turn, without a period: some bits of a hash."""
    return (i * 2654435761 >> 7) % 5


def element_by_element(x, turns):
    for _ in range(turns):
        x = inp.sin(x) * x + 1
    return x


def sums(x, turns):
    for _ in range(turns):
        x = inp.sin(x) * x + x.sum()
    return x


def of_no_period(x, turns):
    steps = (inp.sin, lambda x: x * x, lambda x: x + x.sum(), inp.exp, inp.flip)
    for i in range(turns):
        x = steps[unlike(i)](x) * x
    return x


def results(x, turns):
    found = []
    for i in range(turns):
        x = inp.tanh(x) * (x + unlike(i))
        found.append(x.sum())
    return found


def joined(x, turns):
    for i in range(turns):
        x = inp.concatenate([x[1:] * x[:-1], x[:1] + unlike(i)])
    return x


def back(x, turns):
    return imprint.grad(lambda x: of_no_period(x, turns).sum())(x)


def effects(x, turns):
    for _ in range(turns):
        x = inp.sin(x) * x
        imprint.debug.callback(print, x, ordered=True)
    return x


def almost_equal(x, turns):
    for i in range(turns):
        x = inp.sin(x) * (V if i % 15 == 0 else x)
    return x


def other_constants(x, turns):
    for i in range(turns):  # `tanh`, so that differences in rounding do not grow
        x = inp.sin(x) * inp.tanh(x.sum()) + i * i
    return x


def other_arrays(x, turns):
    for i in range(turns):
        x = inp.sin(x) * x.sum() + (V + i % 3)
    return x


def nested(x, turns):
    for i in range(turns // 20):
        for _ in range(18):
            x = inp.sin(x) * x + x.sum()
        x = inp.exp(x) if unlike(i) else x[::-1]
    return x


PROGRAMS = (
    element_by_element,
    sums,
    of_no_period,
    results,
    joined,
    back,
    effects,
    almost_equal,
    other_constants,
    other_arrays,
    nested,
)


def traced(program, turns, x=V):
    return imprint.make_jaxpr(lambda x: program(x, turns))(x)


def lines_of(closed):
    """Return how many lines of the passes run."""
    count = 0

    def line(*_):
        nonlocal count
        count += 1
        return line

    def call(frame, *_):
        return line() if frame.f_code.co_filename.startswith(PASSES) else None

    before = sys.gettrace()
    sys.settrace(call)
    try:
        run_passes(closed)
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("program", PROGRAMS, ids=NAME)
@pytest.mark.parametrize("rolls", [True, False])
def test_work_grows_as_the_program_does(program, rolls):
    with imprint.roll_loops(rolls):
        few, many = (lines_of(traced(program, n)) for n in (FEW, TIMES * FEW))
    assert few < many < SLACK * TIMES * few


@pytest.mark.parametrize(
    ("program", "most"),
    [(element_by_element, 30), (sums, 40), (almost_equal, 35)],
)
def test_few_lines_run_for_each_equation(program, most):
    closed = traced(program, FEW)
    assert lines_of(closed) < most * len(closed.eqns)


@pytest.mark.parametrize(
    "program", exhaustive_but((sums, other_constants), PROGRAMS), ids=NAME
)
def test_fifty_thousand_equations_need_no_recursion(program):
    closed = traced(program, 50_000 // len(traced(program, 100).eqns) * 100)
    assert len(closed.eqns) > 45_000
    depth, frame = 0, sys._getframe()
    while frame:
        depth, frame = depth + 1, frame.f_back
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(depth + DEEP)
    try:
        after = run_passes(closed)
    finally:
        sys.setrecursionlimit(before)
    assert after.out_avals == closed.out_avals


def test_effects_between_equal_blocks_stay_where_they_are():
    after = run_passes(traced(effects, 40))
    assert not [c for c in changes_of(after) if "loop" in str(c)]
    kept = [e for e in after.eqns if e.primitive.name != "materialize"]
    before = [e.primitive.name for e in traced(effects, 40).eqns]
    assert [e.primitive.name for e in kept] == before


@pytest.mark.parametrize("shape", [(0,), (), (1,), (3, 0, 2), (1, 1)])
@pytest.mark.parametrize("program", [sums, results, other_constants, back], ids=NAME)
def test_degenerate_shapes_give_the_result_without_passes(program, shape):
    x = np.full(shape, 0.5, "float32")

    def compiled():
        return imprint.jit(lambda x: program(x, 17))(x)

    found = compiled()
    with imprint.roll_loops(False), imprint.cut_recomputation(False):
        expected = compiled()
    for new, old in zip(*map(imprint.tree.leaves, (found, expected)), strict=True):
        assert_close(new, old)

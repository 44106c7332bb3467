"""An object that the trace makes is no input: one trace, also for functions traced inside."""

import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

import imprint
from tests.guards.made_in_trace import MADE, program, traces_of_all
from tests.guards.programs import X, check_answer, check_steps, traces

ROOT = Path(__file__).parents[2]
SCRIPT = """
import json
from tests.guards.made_in_trace import traces_of_all
print(json.dumps(traces_of_all()))
"""
each = pytest.mark.parametrize("name", MADE)
pytestmark = pytest.mark.unaudited  # they count traces


@each
def test_it_is_traced_once(name):
    check_steps(program(name), lambda: None)


@each
def test_a_call_after_a_collection_of_garbage_hits(name):
    fun = program(name)
    expected = fun(X)
    before = traces()
    for _ in range(3):
        objects = [object() for _ in range(1000)]  # may take ids that are free now
        assert fun(X) == expected
        del objects
    assert traces() == before


@each
def test_the_arguments_of_a_constructor_are_inputs(name):
    made, rate = MADE[name], 2.0
    fun = imprint.jit(lambda x: made(rate, x))
    first = check_answer(fun)
    rate = 3.0
    assert check_answer(fun) != first
    rate = 2.0
    assert check_answer(fun) == first


def test_a_function_that_a_rule_makes_of_a_pullback_is_no_input():
    @partial(imprint.custom_vjp, nondiff_argnums=(0,))
    def applied(f, a):
        return f(a)

    def backward(f, a, ct):
        _, pullback = imprint.vjp(f, a)
        return (applied(lambda w: pullback(w)[0], ct),)

    applied.defvjp(lambda f, a: (applied(f, a), a), backward)
    fun = imprint.jit(imprint.grad(lambda x: applied(lambda z: z * z, x)))
    check_steps(fun, lambda: None)


def test_an_object_that_is_gone_is_no_function_of_a_rule_that_is_gone():
    held = []

    class Holder:
        rate = 2.0

    def rate():
        held[:] = [Holder()]
        return held[0].rate

    @partial(imprint.jit, abstracted_axes=({0: "n"},))
    def fun(x):
        doubled = imprint.custom_jvp(lambda y: y)
        doubled.defjvp(lambda primals, tangents: (primals[0], tangents[0] * 2))
        return x * rate() + imprint.grad(lambda y: doubled(y))(1.0)

    def calls():
        rate()
        return fun(imprint.numpy.ones(3)).tolist()

    first = calls()
    before = traces()
    assert [calls() for _ in range(3)] == [first] * 3
    assert traces() == before


@each
def test_two_objects_of_one_trace_are_separate(name):
    made = MADE[name]
    fun = imprint.jit(lambda x: made(2.0, x) * 100.0 + made(3.0, x))
    check_answer(fun)


@each
def test_another_trace_does_not_take_the_program_of_the_first(name):
    made = MADE[name]
    for k in (2.0, 3.0, 2.0):
        check_answer(imprint.jit(lambda x, k=k: made(k, x)))


@pytest.fixture(scope="module")
def second_process(tmp_path_factory):
    """Return how often each program was traced in the first and in the second process."""
    folder = tmp_path_factory.mktemp("store")
    environment = {
        **os.environ,
        "IMPRINT_CACHE": "write",
        "IMPRINT_CACHE_DIR": str(folder),
        "PYTHONPATH": str(ROOT),
    }

    def run():
        command = [sys.executable, "-c", SCRIPT]
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=True
        )
        return json.loads(done.stdout.splitlines()[-1])

    return run(), run()


@each
def test_a_second_process_starts_warm(name, second_process):
    first, second = second_process
    assert first[name] > 0
    assert second[name] == 0


def test_all_programs_are_counted():
    assert set(traces_of_all()) == set(MADE)

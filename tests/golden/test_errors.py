import inspect

import jax
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from tests.golden import stale_programs, wrong_loops, wrong_programs

PROGRAMS = {
    name: program
    for module in (stale_programs, wrong_loops, wrong_programs)
    for name, program in inspect.getmembers(module, inspect.isfunction)
    if program.__module__ == module.__name__ and not name.startswith("_")
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_whole_message(name, golden):
    with pytest.raises(Exception) as caught:  # noqa: PT011 - the text is compared
        PROGRAMS[name]()
    golden(f"{name}.error.txt", f"{caught.type.__name__}: {caught.value}")


LOOPS = [name for name, f in PROGRAMS.items() if f.__module__ == wrong_loops.__name__]
OURS_ALONE = {
    "scan_of_a_negative_length",  # of no steps, to JAX
    "transpose_by_what_a_solution_closes_over",  # an internal error of JAX
    "transpose_of_auxiliary_data",
}


@pytest.mark.parametrize("name", [name for name in LOOPS if name not in OURS_ALONE])
def test_an_error_that_jax_raises_too_has_its_class(name):
    with pytest.raises((TypeError, ValueError)) as theirs:
        PROGRAMS[name](jax)
    with pytest.raises(theirs.type):
        PROGRAMS[name]()


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_next_call_works(name):
    """No wrong program leaves a trace on the stack or a half version in the cache."""
    f = imprint.jit(lambda x: inp.sin(x) * 2)
    with pytest.raises(Exception):  # noqa: PT011, B017 - any of the above
        PROGRAMS[name]()
    np.testing.assert_allclose(f(1.0), 2 * np.sin(1.0), rtol=1e-6)
    assert imprint._src.core.trace.current_trace() is None


def test_a_function_that_fails_while_traced_is_traced_again():
    fail = [True]

    @imprint.jit
    def f(x):
        if fail:
            raise ValueError("not yet")
        return x + 1

    with pytest.raises(ValueError, match="not yet"):
        f(1.0)
    assert f._cache_size() == 0
    fail.clear()
    assert f(1.0) == 2.0
    assert f._cache_size() == 1

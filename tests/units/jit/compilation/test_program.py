"""Which programs share an executable, and which must not."""

import itertools

import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint._src.jit.compilation.counters import COUNTERS

X = np.linspace(0.0, 1.0, 8, dtype=np.float32)
SALTS = itertools.count()


@pytest.fixture
def jitted():
    """Return a function that jits a fresh program with some options."""
    imprint.clear_caches()
    salt = next(SALTS) + 0.125

    def make(**options):
        return imprint.jit(lambda x: inp.tanh(x) * salt, **options)

    return make


def compiles(*functions):
    """Return how many programs are compiled while each is called."""
    before = COUNTERS.compiles
    for function in functions:
        function(X)
    return COUNTERS.compiles - before


def version_of(function):
    (version,) = function.versions
    return version


def test_programs_of_equal_text_and_options_share_an_executable(jitted):
    f, g = jitted(), jitted(keep_unused=True)
    assert compiles(f, g) == 1
    assert version_of(f) is not version_of(g)
    assert version_of(f).executable is version_of(g).executable


def test_programs_with_other_options_are_compiled_separately(jitted):
    f = jitted()
    fast, exact = (
        jitted(compiler_options={"xla_cpu_enable_fast_math": on})
        for on in (True, False)
    )
    assert compiles(f, fast, exact) == 3
    assert len({version_of(function).executable for function in (f, fast, exact)}) == 3


def test_options_that_are_in_force_anyway_make_no_other_program(jitted):
    f = jitted()
    assert compiles(f) == 1
    in_force = version_of(f).program.options.compiler_options
    assert compiles(jitted(compiler_options=dict(in_force))) == 0


def test_an_executable_goes_with_the_last_program_that_uses_it(jitted):
    f = jitted()
    assert compiles(f) == 1
    f.clear_cache()
    assert compiles(jitted()) == 1

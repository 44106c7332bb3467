"""JAX compiles quickly where the tests say so, and nowhere else."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax._src import compiler

from tests.quick import TESTS, WHERE, is_quick, set_pace


@pytest.fixture(autouse=True)
def _as_before():
    yield
    set_pace(quick=False)


def options():
    return dict(compiler.get_compile_options(1, 1).env_option_overrides)


def test_options_are_those_of_users_again():
    set_pace(quick=True)
    assert options()["xla_backend_optimization_level"] == "0"
    chosen = {"xla_backend_optimization_level": "2"}
    given = compiler.get_compile_options(1, 1, env_options_overrides=chosen)
    assert dict(given.env_option_overrides)["xla_backend_optimization_level"] == "2"
    set_pace(quick=False)
    assert options() == {}


def test_what_was_compiled_quickly_is_forgotten():
    traced = []

    @jax.jit
    def program(x):
        traced.append(x)
        return jnp.sin(x)

    for quick, count in ((True, 1), (True, 1), (False, 2), (False, 2), (True, 2)):
        set_pace(quick=quick)
        program(np.float32(1))
        assert len(traced) == count


def test_places_are_there():
    assert all(place.exists() for place in WHERE)
    assert all(map(is_quick, WHERE))
    assert not is_quick(TESTS / "spec" / "test_exactness.py")

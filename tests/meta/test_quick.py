"""Tests compile quickly, unless they run with `--optimized`."""

import os

import pytest

from imprint._src.runtime.compat import engine
from tests.quick import FLAGS, as_for_users, hasten


@pytest.fixture
def flags(monkeypatch):
    def after(given):
        monkeypatch.setenv("XLA_FLAGS", given)
        hasten()
        return os.environ["XLA_FLAGS"]

    return after


def test_given_flags_are_kept(flags):
    given = "--xla_backend_optimization_level=2"
    assert flags(given).startswith(FLAGS)
    assert flags(given).endswith(f" {given}")


def test_a_worker_adds_nothing_to_the_flags_of_its_parent(flags):
    assert flags(flags("")) == flags("")


def test_a_process_may_compile_as_for_users(flags):
    flags("--xla_cpu_max_isa=AVX2")
    assert as_for_users()["XLA_FLAGS"] == "--xla_cpu_max_isa=AVX2"


def test_the_engine_has_the_flags_in_time(pytestconfig):
    options = engine.CompileOptions().executable_build_options.debug_options
    level = options.xla_backend_optimization_level
    assert (level == 0) is not pytestconfig.getoption("--optimized")

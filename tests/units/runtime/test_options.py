import re

import pytest

from imprint._src import runtime
from imprint._src.runtime import options
from imprint._src.runtime.compat import jaxlib_version
from imprint.errors import ArgumentError, CompileError
from tests.units.runtime.programs import DOUBLE, F4, in_fresh_process

WIDTH = "xla_cpu_prefer_vector_width"


def of(**named):
    return runtime.CompileOptions.of(named)


def test_equal_options_are_equal_values():
    assert of() == runtime.CompileOptions.of(None) == runtime.CompileOptions()
    assert of(a="x", b=1) == of(b=1, a="x") == of(b="1", a="x")
    assert hash(of(a="x", b=1)) == hash(of(b=1, a="x"))


def test_options_that_differ_in_type_only_differ():
    assert of(a=True) != of(a=1)
    assert of(a=1) != of(a=1.0)


def test_cpu_features_are_read_from_its_flags(monkeypatch):
    monkeypatch.delenv("XLA_FLAGS", raising=False)
    for flags, expected in (
        ("avx2 avx512f avx512bw", True),
        ("avx2", False),
        ("", False),
    ):
        options.has_wide_vectors.cache_clear()
        monkeypatch.setattr(options, "_cpu", lambda flags=flags: {"flags": flags})
        assert options.has_wide_vectors() is expected
    options.has_wide_vectors.cache_clear()


def test_options_of_the_user_override_those_of_the_program():
    suits = of(xla_cpu_prefer_vector_width=512, xla_llvm_disable_expensive_passes=False)
    chosen = of(xla_cpu_prefer_vector_width=256, xla_cpu_enable_fast_math=True).over(
        suits
    )
    assert chosen == of(
        xla_cpu_enable_fast_math=True,
        xla_cpu_prefer_vector_width=256,
        xla_llvm_disable_expensive_passes=False,
    )
    assert of().over(suits) == suits == suits.over(of())
    runtime.compile(DOUBLE, [F4], chosen)


def test_the_engine_sees_no_formulations():
    options = of(formulations="plain", xla_cpu_enable_fast_math=False)
    assert options.is_plain
    assert not of(formulations="fast").is_plain
    assert not of().is_plain
    assert options != of(xla_cpu_enable_fast_math=False)
    runtime.compile(DOUBLE, [F4], options)


def test_unknown_formulations_are_refused():
    with pytest.raises(ArgumentError) as caught:
        of(formulations="slow")
    assert str(caught.value) == (
        "compiler_options: expected 'formulations' to be one of ('fast', 'plain'), got "
        "'slow'. 'plain' keeps to the operations of StableHLO."
    )


REFUSED = {
    "misspelled": (
        {"xla_cpu_prefer_vector_widht": 512},
        f"compiler_options: expected names of XLA's options, got "
        f"'xla_cpu_prefer_vector_widht'. Did you mean '{WIDTH}'? "
        f"jaxlib {jaxlib_version} has no option of this name; leave it out.",
    ),
    "unknown": (
        {"zzz": True},
        f"compiler_options: expected names of XLA's options, got 'zzz'. "
        f"jaxlib {jaxlib_version} has no option of this name; leave it out.",
    ),
    "not a number": (
        {WIDTH: "wide"},
        f"compiler_options: expected '{WIDTH}' to be of XLA's type int32, got 'wide'. "
        "Pass a number.",
    ),
    "not a bool": (
        {"xla_cpu_enable_fast_math": 1},
        "compiler_options: expected 'xla_cpu_enable_fast_math' to be of XLA's type "
        "bool, got '1'. Pass a Python bool.",
    ),
    "no such choice": (
        {"xla_cpu_scheduler_type": "fast"},
        "compiler_options: expected 'xla_cpu_scheduler_type' to be of XLA's type enum, "
        "got 'fast'. Pass a value that XLA accepts.",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_an_option_that_xla_refuses_raises(case):
    given, message = REFUSED[case]
    with pytest.raises(CompileError, match=f"^{re.escape(message)}$"):
        runtime.compile(DOUBLE, [F4], runtime.CompileOptions.of(given))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {1: True},
            "compiler_options: expected names that are strings, got 1. "
            "Write compiler_options={'xla_cpu_enable_fast_math': True}.",
        ),
        (
            {"a": None},
            "compiler_options: expected a string, a bool or a number for 'a', got None. "
            "Convert it, or leave the option out.",
        ),
    ],
)
def test_a_value_that_is_no_option_raises(given, message):
    with pytest.raises(ArgumentError, match=f"^{re.escape(message)}$"):
        runtime.CompileOptions.of(given)


def complaint(given):
    """Return the error of the options, or "" if they are valid."""
    try:
        runtime.compile(DOUBLE, [F4], runtime.CompileOptions.of(given))
    except CompileError as err:
        return str(err)
    return ""


@pytest.mark.parametrize("name", options._CPU_OPTIONS)
def test_every_suggested_name_is_known_to_the_engine(name):
    assert "no option of this name" not in complaint({name: "?"})


def test_the_engine_version_names_all_that_decides_the_machine_code():
    version = runtime.engine_version()
    assert version is runtime.engine_version()
    assert version[0] == f"jaxlib {jaxlib_version}"
    assert version[-1].startswith("XLA_FLAGS=")
    assert any("flags: " in part or "Features: " in part for part in version)


@pytest.mark.parametrize(
    ("flags", "wide"),
    [
        ("", True),
        ("--xla_cpu_enable_fast_math=false", True),
        ("--xla_cpu_prefer_vector_width=256", False),
        ("--xla_cpu_max_isa=AVX2", False),
    ],
)
def test_xla_flags_decide_before_the_cpu(monkeypatch, flags, wide):
    monkeypatch.setattr(options, "_cpu", lambda: {"flags": "avx2 avx512f"})
    monkeypatch.setenv("XLA_FLAGS", flags)
    assert options.has_wide_vectors.__wrapped__() is wide


THRESHOLD = b"\x0a\x27xla_cpu_small_while_loop_byte_threshold\x12\x071000000"


@pytest.fixture
def built(monkeypatch):
    """Return a builder of options for a release of jaxlib and some XLA_FLAGS."""

    def build(release, flags=""):
        monkeypatch.setattr(options, "jaxlib_release", release)
        monkeypatch.setenv("XLA_FLAGS", flags)
        options._base_options.cache_clear()
        return options.CompileOptions().build().SerializeAsString()

    yield build
    options._base_options.cache_clear()


@pytest.mark.parametrize("release", [(0, 10), (0, 11)])
def test_a_small_loop_is_compiled_as_a_whole_before_jaxlib_0_12(built, release):
    assert THRESHOLD in built(release)
    asked = "--xla_backend_extra_options=xla_cpu_small_while_loop_byte_threshold=9"
    assert THRESHOLD not in built(release, asked)


@pytest.mark.parametrize("release", [(0, 12), (0, 13), (1, 0)])
def test_the_limit_of_loops_is_jaxlibs_own_from_0_12_on(built, release):
    assert b"small_while_loop" not in built(release)


def test_the_identity_of_a_program_has_all_that_decides_its_machine_code():
    (device, *_) = runtime.devices("cpu")
    chosen = runtime.CompileOptions.of({"xla_cpu_enable_fast_math": True})
    parts = runtime.identity("stablehlo.atan2", chosen, device)
    assert {*runtime.engine_version()} < {*parts}
    named = {"library: ", "processors: ", "in force: ", "xla_cpu_enable_fast_math=True"}
    named.add(f"device {device.id}: cpu ")
    assert all(any(part.startswith(name) for part in parts) for name in named)
    plain = runtime.identity("stablehlo.sine", chosen, device)
    assert (parts != plain) == jaxlib_version.startswith("0.10.")  # which needs it


FLAGS = """
import os
from imprint._src import runtime
device = runtime.devices()[0]
before = runtime.identity("", runtime.CompileOptions(), device)
os.environ["XLA_FLAGS"] = "--xla_cpu_enable_fast_math=false"  # too late
assert runtime.identity("", runtime.CompileOptions(), device) == before
print(*[part for part in before if part.startswith("in force: ")])
"""


def test_the_flags_of_an_identity_are_those_in_force(monkeypatch):
    flags = set()
    for value in ("true", "false"):
        monkeypatch.setenv("XLA_FLAGS", f"--xla_cpu_enable_fast_math={value}")
        flags |= {*in_fresh_process(FLAGS)}
    assert len(flags) == 2

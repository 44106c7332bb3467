import asyncio
import copy
import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from importlib import import_module
from threading import Barrier

import jax
import numpy as np
import pytest

import imprint
from imprint._src.config import (
    Config,
    Flag,
    Settings,
    config,
    flag_setters,
    key_settings,
    settings,
)
from imprint.errors import ConfigError
from imprint.sharding import Mesh

# `imprint.config` is the object, not the module.
module = import_module("imprint._src.config")
FLAGS = {name: flag for name, flag in vars(Config).items() if isinstance(flag, Flag)}
VARIED = [name for name in FLAGS if name != "num_cpu_devices"]
"""Those that a process in which devices have started can change."""
MESH = Mesh(np.empty((), object), ())
OTHER = {
    "default_matmul_precision": "float32",
    "numpy_dtype_promotion": "strict",
    "explicit_x64_dtypes": "error",
    "numpy_rank_promotion": "raise",
    "threefry_partitionable": False,
    "default_device": "cpu",
    "audit": 0.5,
    "default_prng_impl": "rbg",
    "mesh": MESH,
    "generalise": "off",
    "guards": "off",
}


@pytest.fixture(autouse=True)
def _restored():
    before = {name: getattr(config, name) for name in FLAGS}
    yield
    for name, value in before.items():
        config.update(name, value)


def other_value(name):
    return OTHER.get(name, not FLAGS[name].default)


# ---- values ----


@pytest.mark.parametrize("name", FLAGS)
def test_defaults_are_those_of_jax(name):
    if name in ("audit", "explain_misses", "mesh", "show_progress", "strict"):
        # JAX has no such flags
        assert not FLAGS[name].default
    elif name == "generalise":  # nor this one
        assert FLAGS[name].default == "ask"
    elif name == "guards":  # nor this one
        assert FLAGS[name].default == "on"
    elif name in ("cut_recomputation", "roll_loops", "traceback_filtering"):
        # the first is ours, and changes no result; JAX's "auto" filters, too
        assert FLAGS[name].default is True
    else:
        default = jax.config._value_holders[f"jax_{name}"].value
        if name == "explicit_x64_dtypes":  # by the name of its number
            default = default.name.lower()
        assert FLAGS[name].default == getattr(default, "value", default)


@pytest.mark.parametrize("name", VARIED)
def test_update_with_and_reading(name):
    flag, value = getattr(module, name), other_value(name)
    assert flag is FLAGS[name]
    before = getattr(config, name)
    with flag(value):
        assert getattr(config, name) == value
    assert getattr(config, name) == before
    config.update(name, value)
    assert getattr(config, name) == value


@pytest.mark.parametrize("name", VARIED)
def test_settings_change_exactly_for_flags_in_the_key(name):
    before = settings()
    config.update(name, FLAGS[name].default)
    default = settings()
    with FLAGS[name](other_value(name)):
        assert (settings() is not default) == FLAGS[name].in_key
        if FLAGS[name].in_key:
            assert getattr(settings(), name) == other_value(name)
    assert settings() is default
    assert before is default or name == "enable_checks"


def test_fields_of_settings_are_the_flags_in_the_key():
    in_key = [name for name, flag in FLAGS.items() if flag.in_key]
    assert [field.name for field in fields(Settings)] == in_key


def test_an_old_value_gives_back_the_old_settings():
    before = settings()
    config.update("enable_x64", True)
    during = settings()
    config.update("debug_nans", True)
    config.update("enable_x64", False)
    config.update("debug_nans", False)
    assert settings() is before
    config.update("enable_x64", True)
    assert settings() is during


def test_copies_and_pickles_of_settings_are_interned():
    with module.enable_x64(True):
        inside = settings()
    assert copy.deepcopy(inside) is inside
    assert pickle.loads(pickle.dumps(inside)) is inside


# ---- scopes ----


def test_with_nests_and_survives_an_exception():
    outside = settings()

    def inside():
        with module.enable_x64(True), module.debug_nans(True):
            assert (config.enable_x64, config.debug_nans) == (True, True)
            with module.enable_x64(False):
                assert (config.enable_x64, config.debug_nans) == (False, True)
            raise KeyError

    with pytest.raises(KeyError):
        inside()
    assert settings() is outside


def test_a_bare_switch_turns_it_on():
    with module.disable_jit():
        assert config.disable_jit


def test_update_inside_a_with_changes_flags_that_the_with_leaves_alone():
    with module.enable_x64(True):
        config.update("debug_infs", True)
        config.update("enable_x64", False)
        assert config.debug_infs
        assert settings().debug_infs
        assert config.enable_x64
        assert settings().enable_x64
    assert settings().debug_infs


def test_with_is_local_to_a_thread_and_update_is_not():
    entered, updated = Barrier(2, timeout=10), Barrier(2, timeout=10)

    def inside():
        with module.enable_x64(True):
            entered.wait()
            updated.wait()
            return config.enable_x64, config.debug_nans

    def outside():
        entered.wait()
        seen = config.enable_x64
        config.update("debug_nans", True)
        updated.wait()
        return seen

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.submit(inside), pool.submit(outside)
    assert first.result() == (True, True)
    assert second.result() is False


def test_with_is_local_to_a_task():
    async def inside(*, x64):
        with module.enable_x64(x64):
            await asyncio.sleep(0)
            return config.enable_x64

    async def both():
        return await asyncio.gather(inside(x64=True), inside(x64=False))

    assert asyncio.run(both()) == [True, False]


# ---- environment ----


def in_process(code, **environ):
    return subprocess.run(
        [sys.executable, "-c", f"from imprint._src.config import config\n{code}"],
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        check=False,
    )


def test_environment_variables_are_read_at_import():
    ran = in_process(
        "print(config.enable_x64, config.threefry_partitionable, config.debug_nans,\n"
        "config.numpy_rank_promotion, config.default_matmul_precision,\n"
        "config.default_device)",
        IMPRINT_ENABLE_X64="True",
        IMPRINT_THREEFRY_PARTITIONABLE="0",
        IMPRINT_DEBUG_NANS="",
        IMPRINT_NUMPY_RANK_PROMOTION="warn",
        IMPRINT_DEFAULT_MATMUL_PRECISION="none",
        IMPRINT_DEFAULT_DEVICE="cpu",
    )
    assert ran.stdout == "True False False warn None cpu\n"


def test_a_bad_environment_variable_is_named():
    ran = in_process("", IMPRINT_ENABLE_X64="maybe")
    assert ran.stderr.splitlines()[-1] == (
        "imprint.errors.ConfigError: environment variable IMPRINT_ENABLE_X64: "
        "expected True or False, got 'maybe'."
    )


# ---- mistakes ----


def error_of(call):
    with pytest.raises(ConfigError) as caught:
        call()
    return str(caught.value)


@pytest.mark.parametrize("name", sorted(FLAGS))
def test_the_prefix_of_jax_is_accepted(name):
    value = getattr(config, name)
    assert getattr(config, f"jax_{name}") is value
    if name in VARIED:
        config.update(f"jax_{name}", value)
    assert getattr(config, name) is value


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"JAX_ENABLE_X64": "1"}, True),
        ({"JAX_ENABLE_X64": "1", "IMPRINT_ENABLE_X64": "0"}, False),
        ({"JAX_ENABLE_X64": "sometimes"}, False),
    ],
    ids=["jax", "both", "a value of jax alone"],
)
def test_variables_of_jax_are_read_after_our_own(variables, expected):
    assert module._from_environment(variables)["enable_x64"] is expected


def test_unknown_flag():
    flags = ", ".join(sorted(FLAGS))
    assert error_of(lambda: config.update("enable_x46", True)) == (
        f"config.update: expected a flag, one of {flags}; got 'enable_x46'. "
        "Did you mean 'enable_x64'?"
    )
    assert error_of(lambda: config.update("jax_enable_x46", True)).endswith(
        "got 'jax_enable_x46'. Did you mean 'enable_x64'?"
    )
    assert not hasattr(config, "enable_x46")
    with pytest.raises(AttributeError):
        config.enable_x46 = True


@pytest.mark.parametrize("value", [1, None, "True"])
def test_bad_switch(value):
    assert error_of(lambda: config.update("enable_x64", value)) == (
        f"config.update('enable_x64'): expected True or False, got {value!r}."
    )


def test_bad_choice():
    assert error_of(lambda: module.numpy_dtype_promotion("strickt")) == (
        "imprint.numpy_dtype_promotion: expected one of 'standard', 'strict', "
        "got 'strickt'. Did you mean 'strict'?"
    )
    assert error_of(lambda: module.numpy_rank_promotion(["warn"])) == (
        "imprint.numpy_rank_promotion: expected one of 'allow', 'warn', 'raise', "
        "got ['warn']. Did you mean 'warn'?"
    )


def test_bad_device():
    takes = (
        "expected None, an element of imprint.devices(), or the name of a platform, one "
        "of 'cpu', 'cuda', 'gpu', 'metal', 'rocm', 'tpu'"
    )
    assert error_of(lambda: module.default_device(3)) == (
        f"imprint.default_device: {takes}, got 3."
    )
    assert error_of(lambda: config.update("default_device", "tpo")) == (
        f"config.update('default_device'): {takes}, got 'tpo'. Did you mean 'tpu'?"
    )


@pytest.mark.parametrize("value", [2, -0.1, float("nan"), "x", "0.5", True, None])
def test_bad_share(value):
    assert error_of(lambda: config.update("audit", value)) == (
        f"config.update('audit'): expected a number from 0 to 1, got {value!r}."
    )
    with pytest.raises(ConfigError, match=r"imprint\.audit: expected a number from 0"):
        imprint.audit(value)


@pytest.mark.parametrize("text", ["2", "x", "nan"])
def test_a_bad_share_in_the_environment_is_named(text):
    shown = repr(float(text)) if text != "x" else "'x'"
    ran = in_process("", IMPRINT_AUDIT=text)
    assert ran.stderr.splitlines()[-1] == (
        "imprint.errors.ConfigError: environment variable IMPRINT_AUDIT: expected a "
        f"number from 0 to 1, got {shown}."
    )


def test_a_share_in_the_environment_is_a_number():
    assert in_process("print(config.audit)", IMPRINT_AUDIT="0.01").stdout == "0.01\n"
    assert in_process("print(config.audit)", IMPRINT_AUDIT="1").stdout == "1.0\n"


def test_whether_hits_are_audited_is_in_no_key():
    before = key_settings()
    with imprint.audit(0.5):
        assert key_settings() is before
        assert settings() is not before
        with imprint.enable_x64(not config.enable_x64):
            assert key_settings() is not before


def test_assignment_is_refused_with_the_remedy():
    def assign():
        config.enable_x64 = True

    assert error_of(assign) == (
        "config.enable_x64: expected no assignment, got True. Call "
        "config.update('enable_x64', True), or use `with imprint.enable_x64(True):`."
    )


def test_repr_shows_every_effective_value():
    with module.enable_x64(True):
        lines = repr(config).splitlines()
    assert lines[1] == "  enable_x64=True,"
    assert len(lines) == len(FLAGS) + 2
    assert repr(module.enable_x64) == (
        "<flag enable_x64, default False: Keep 64-bit values 64 bits wide.>"
    )


def test_the_origin_of_a_flag_is_known():
    before = flag_setters()
    with imprint.numpy_rank_promotion("warn"):
        setter = flag_setters()["numpy_rank_promotion"]
    assert setter == "a `with imprint.numpy_rank_promotion(...)`"
    assert flag_setters() == before
    ran = in_process(
        "from imprint._src.config import flag_setters\n"
        "print(flag_setters()['debug_nans'])\n"
        "config.update('debug_nans', False)\n"
        "print(flag_setters()['debug_nans'])",
        IMPRINT_DEBUG_NANS="1",
    )
    assert ran.stdout.splitlines() == [
        "IMPRINT_DEBUG_NANS in the environment",
        "config.update at <string>:4",
    ]

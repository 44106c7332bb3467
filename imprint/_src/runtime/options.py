"""Options of XLA, and the identity of the machine.

`CompileOptions` is a value: equal options compare equal in any spelling, so it can be part
of a cache key. Options of the user take precedence (`over`) over those that suit the
program. `engine_version` has everything else that decides machine code: the engine checks
none of it when it loads a compiled program.
"""

import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Any, Final, Self, TypeAlias

import numpy as np

from imprint._src import native
from imprint._src.errors import ArgumentError, CompileError, did_you_mean
from imprint._src.runtime.compat import (
    corrections,
    engine,
    jaxlib_release,
    jaxlib_version,
    library_identity,
)
from imprint._src.runtime.kernels import kernels_identity

OptionValue: TypeAlias = str | bool | int | float

FORMULATIONS: Final = "formulations"
"""The name of the option of imprint, which XLA does not see: "fast" or "plain"."""
_KINDS: Final = ("fast", "plain")


@dataclass(frozen=True, slots=True)
class CompileOptions:
    """Options of XLA in normal form; made by `of`."""

    compiler_options: tuple[tuple[str, str | bool], ...] = ()

    @classmethod
    def of(cls, options: Mapping[str, OptionValue] | None = None) -> Self:
        """Return the options in normal form: sorted, and numbers as their text.

        Raises:
            ArgumentError: A name is no string, or a value no string, bool or number,
                or no kind of formulations.
        """
        items = {} if options is None else dict(options)
        if items.get(FORMULATIONS, "fast") not in _KINDS:
            raise ArgumentError(
                f"compiler_options: expected {FORMULATIONS!r} to be one of {_KINDS}, got "
                f"{items[FORMULATIONS]!r}. 'plain' keeps to the operations of StableHLO."
            )
        return cls(tuple((name, _normal(name, items[name])) for name in sorted(items)))

    @property
    def is_plain(self) -> bool:
        """Whether each function is the operation of StableHLO that has its name."""
        return dict(self.compiler_options).get(FORMULATIONS) == "plain"

    def over(self, others: "CompileOptions") -> Self:
        """Return these options, and the rest of others."""
        return self.of({**dict(others.compiler_options), **dict(self.compiler_options)})

    def build(self) -> Any:
        """Return the options as an object of the engine."""
        built = engine.CompileOptions.ParseFromString(_base_options())
        built.env_option_overrides = [
            item for item in self.compiler_options if item[0] != FORMULATIONS
        ]
        return built


@cache
def _base_options() -> bytes:
    """Return the options of every program, as bytes of a `CompileOptionsProto`.

    Before jaxlib 0.12, XLA compiles a `while` loop as a whole only below a few bytes. A
    loop of up to 1 MB is faster as a whole: a Kalman filter of 5,000 steps takes 1.2 ms
    instead of 27. From 0.12 on the limit of jaxlib is kept, because 1 MB is slower: 500
    steps of a stencil of 100,000 floats take 29 ms instead of 10. The limit is no override
    but a field of the message, to which fields can be appended.
    """
    given = engine.CompileOptions().SerializeAsString()
    flags = os.environ.get("XLA_FLAGS", "")
    if jaxlib_release >= (0, 12) or _SMALL_WHILE.decode() in flags:
        return given
    entry = _message_field(1, _SMALL_WHILE) + _message_field(2, b"1000000")
    # .executable_build_options.debug_options.xla_backend_extra_options
    return given + _message_field(3, _message_field(3, _message_field(500, entry)))


_SMALL_WHILE: Final = b"xla_cpu_small_while_loop_byte_threshold"


def _message_field(number: int, data: bytes) -> bytes:
    """Return a field of a message, in the wire format of protocol buffers."""
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _varint(n: int) -> bytes:
    return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + _varint(n >> 7)


def explain_compile_error(options: CompileOptions, err: RuntimeError) -> CompileError:
    """Return the error to raise for an error of a compilation."""
    text = str(err)
    unknown = text.partition("No such compile option: ")[2].strip().strip("'")
    if unknown:
        return CompileError(
            f"compiler_options: expected names of XLA's options, got {unknown!r}."
            f"{did_you_mean(unknown, _known())} "
            f"jaxlib {jaxlib_version} has no option of this name; leave it out."
        )
    setting = text.partition("While setting option ")[2]
    if setting:
        name = setting.partition(",")[0]
        kind = setting.rpartition("not a valid ")[2].removesuffix(" value.")
        value = dict(options.compiler_options).get(name)
        return CompileError(
            f"compiler_options: expected {name!r} to be of XLA's type {kind}, got "
            f"{value!r}. Pass a {_PYTHON_NAMES.get(kind, 'value that XLA accepts')}."
        )
    return CompileError(
        f"compile: expected a program that XLA accepts, got: {text.splitlines()[0]}. "
        "If you passed compiler_options, try without them; else please report it."
    )


# ---- the machine ----


@cache
def engine_version() -> tuple[str, ...]:
    """Return the inputs of machine code except the program and its options."""
    return (
        f"jaxlib {jaxlib_version}",
        f"library: {library_identity()}",
        f"kernels: {kernels_identity()}",
        f"{platform.system()} {platform.machine()}",
        *(f"{name}: {value}" for name, value in _cpu().items()),
        f"processors: {_processors()}",
        f"XLA_FLAGS={os.environ.get('XLA_FLAGS', '')}",
        *(() if native.direct is None else ("IMPRINT_DIRECT=1",)),
    )


def identity(module_text: str, options: CompileOptions, device: Any) -> tuple[str, ...]:
    """Return the inputs of the machine code of a program, except its text.

    The flags are those in force, which may differ from the environment now. Devices are
    counted within a process, so one of many processes compiles, and the others load.
    """
    return (
        *engine_version(),
        f"in force: {_base_options().hex()}",
        *(f"{name}={value!r}" for name, value in options.compiler_options),
        *(f"{name}={value}, a correction" for name, value in corrections(module_text)),
        f"device {device.local_id}: {device.platform} {device.device_kind}",
        f"of {device.client.device_count()}",
        device.client.platform_version,
    )


@cache
def has_wide_vectors() -> bool:
    """Return whether the CPU has vectors of 512 bits, and XLA_FLAGS leave the choice."""
    flags = os.environ.get("XLA_FLAGS", "")
    if any(
        name in flags for name in ("xla_cpu_prefer_vector_width", "xla_cpu_max_isa")
    ):
        return False
    return "avx512f" in _cpu().get("flags", "").split()


_IDENTITY: Final = (
    *("vendor_id", "cpu family", "model", "model name", "stepping", "flags"),
    *("CPU implementer", "CPU architecture", "CPU variant", "CPU part", "Features"),
)


@cache
def _cpu() -> dict[str, str]:
    """Return the properties of the first processor on Linux; else those of Python."""
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8", errors="replace") as lines:
            pairs = [line.split(":", 1) for line in takewhile(str.strip, lines)]
    except OSError:  # too little, so the host name makes it unique
        return {"processor": platform.processor(), "machine": platform.node()}
    found = {pair[0].strip(): pair[-1].strip() for pair in pairs}
    return {name: found[name] for name in _IDENTITY if name in found}


def _processors() -> int | None:
    """Return the number of CPUs of the process: the engine splits loops by it."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count()


# ---- names and values ----

_PYTHON_NAMES: Final = {"bool": "Python bool", "int32": "number", "int64": "number"}


def _normal(name: object, value: object) -> str | bool:
    if not isinstance(name, str):
        raise ArgumentError(
            f"compiler_options: expected names that are strings, got {name!r}. "
            "Write compiler_options={'xla_cpu_enable_fast_math': True}."
        )
    if isinstance(value, str | bool):
        return value
    if isinstance(value, int | float | np.integer):
        return f"{value}"  # the engine parses it; and 1 must not equal True in a key
    raise ArgumentError(
        f"compiler_options: expected a string, a bool or a number for {name!r}, got "
        f"{value!r}. Convert it, or leave the option out."
    )


@cache
def _known() -> tuple[str, ...]:
    """Return names for corrections of misspelled ones; the engine has no list."""
    listed = (name for name in dir(engine.DebugOptions) if name.startswith("xla_"))
    return (FORMULATIONS, *_CPU_OPTIONS, *listed)


_CPU_OPTIONS: Final = (
    "xla_allow_excess_precision",
    "xla_backend_optimization_level",
    "xla_cpu_enable_concurrency_optimized_scheduler",
    "xla_cpu_enable_fast_math",
    "xla_cpu_enable_fast_min_max",
    "xla_cpu_max_isa",
    "xla_cpu_multi_thread_eigen",
    "xla_cpu_opt_preset",
    "xla_cpu_parallel_codegen_split_count",
    "xla_cpu_prefer_vector_width",
    "xla_cpu_scheduler_type",
    "xla_cpu_strict_dot_conv_math",
    "xla_cpu_use_onednn",
    "xla_cpu_use_xnnpack",
    "xla_disable_hlo_passes",
    "xla_llvm_disable_expensive_passes",
)

"""The flags: their values, their origins, and the key made of their values.

A flag is declared once, in `Config`. Its effective value is the innermost `with` of
this thread or task, else what `config.update` set for the process, else the environment
variable IMPRINT_<NAME> or JAX_<NAME> at import, else the default. A flag `in_key` can change a traced
program or how the call is answered; its value is a field of `Settings` too, and import
fails if the two lists differ. `Settings` are interned: the same values are the same
object, so a cache compares them with `is`. The flags' meanings live where they are
read.
"""

import os
import sys
from collections.abc import Generator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar, Token
from dataclasses import dataclass
from threading import Lock
from typing import Any, Final, Generic, Never, Self, TypeVar, cast, final, overload

from imprint._src.errors import ConfigError, did_you_mean

__all__ = [
    "Config",
    "Flag",
    "Settings",
    "audit",
    "check_tracer_leaks",
    "checking_leaks",
    "config",
    "cut_recomputation",
    "debug_infs",
    "debug_key_reuse",
    "debug_nans",
    "default_device",
    "default_matmul_precision",
    "default_prng_impl",
    "disable_jit",
    "enable_checks",
    "enable_x64",
    "entered_mesh",
    "explain_misses",
    "explicit_x64_dtypes",
    "flag_setters",
    "generalise",
    "guards",
    "key_settings",
    "left_mesh",
    "log_compiles",
    "mesh",
    "num_cpu_devices",
    "numpy_dtype_promotion",
    "numpy_rank_promotion",
    "roll_loops",
    "settings",
    "show_progress",
    "strict",
    "threefry_partitionable",
    "traceback_filtering",
]

T = TypeVar("T")

_TRUE = ("1", "true", "yes", "on")
_FALSE = ("0", "false", "no", "off")
_MATMUL_PRECISIONS = (
    *("default", "high", "highest", "bfloat16", "tensorfloat32", "float32"),
    *("ANY_F8_ANY_F8_F32", "ANY_F8_ANY_F8_F32_FAST_ACCUM", "ANY_F8_ANY_F8_ANY"),
    *("ANY_F8_ANY_F8_ANY_FAST_ACCUM", "F16_F16_F16", "F16_F16_F32", "BF16_BF16_BF16"),
    *("BF16_BF16_F32", "BF16_BF16_F32_X3", "BF16_BF16_F32_X6", "BF16_BF16_F32_X9"),
    *("TF32_TF32_F32", "TF32_TF32_F32_X3", "F32_F32_F32", "F64_F64_F64"),
)


@final
@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Settings:
    """The values of every flag `in_key`. Interned: compare with `is`."""

    enable_x64: bool
    explicit_x64_dtypes: str
    default_matmul_precision: str | None
    numpy_dtype_promotion: str
    numpy_rank_promotion: str
    threefry_partitionable: bool
    default_prng_impl: str
    debug_nans: bool
    debug_infs: bool
    debug_key_reuse: object
    default_device: object
    disable_jit: bool
    audit: float
    cut_recomputation: bool
    roll_loops: bool
    guards: str
    mesh: object

    def __reduce__(self) -> tuple[object, ...]:
        values = {name: getattr(self, name) for name in self.__slots__}
        return (_intern, (values,))  # a copy, or a pickle coming back, is interned too


def settings() -> Settings:
    """Return the effective value of every flag that can change a program.

    Hot: every call of a compiled function and every promotion reads it. 25 ns, 40
    inside a `with`.
    """
    local = _get_local()
    if local is None:
        return _base.settings
    base, merged = local.merged
    return merged.settings if base is _base else local.merge().settings


def key_settings() -> Settings:
    """Return the settings as keys have them: whether hits are audited is no part of one.

    A warm call looks its version up by `settings()`. While an audit is on it finds none,
    and so takes the path that audits. The same holds for `debug_key_reuse`, which looks at
    the keys of each call.
    """
    flags = settings()
    if not flags.audit and not flags.debug_key_reuse:
        return flags
    of_keys = {"audit": 0.0, "debug_key_reuse": flags.debug_key_reuse and "in a key"}
    return _intern({n: getattr(flags, n) for n in flags.__slots__} | of_keys)


def flag_setters() -> dict[str, str]:
    """Return the origin of each flag that was set, as a user would name it."""
    local = _get_local()
    inside = () if local is None else local.overrides
    return {**_setters, **{name: f"a `with imprint.{name}(...)`" for name in inside}}


# ---- kinds of flags ----


class Flag(Generic[T]):
    """One flag: an attribute of `config`, and a `with` when called with a value."""

    takes: str
    choices: tuple[object, ...] = ()
    parameter: str = "new_val"
    """The name of the argument of a call."""

    def __init__(self, doc: str, *, default: T, in_key: bool) -> None:
        self.name: str = ""
        self.default = default
        self.in_key = in_key
        self.summary = doc

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name
        self.__doc__ = f"""{self.summary}

    Args:
        {self.parameter}: {self.takes}.

    Returns:
        A `with` block, inside which this thread or task has that value.

    Raises:
        ConfigError: the flag cannot have the value.
    """

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object, owner: type) -> Self | T:
        return self if instance is None else _state().values[self.name]

    def __set__(self, instance: object, value: object) -> None:
        raise ConfigError(
            f"config.{self.name}: expected no assignment, got {value!r}. Call "
            f"config.update({self.name!r}, {value!r}), or use "
            f"`with imprint.{self.name}({value!r}):`."
        )

    def __call__(self, new_val: T) -> AbstractContextManager[None]:
        """Return a `with` inside which this thread or task sees `new_val`."""
        self.check(new_val, f"imprint.{self.name}")
        return _overridden(self.name, new_val)

    def __repr__(self) -> str:
        return f"<flag {self.name}, default {self.default!r}: {self.summary}>"

    def accepts(self, value: object) -> bool:
        """Return whether the flag can have this value."""
        raise NotImplementedError

    def parse(self, text: str) -> object:
        """Return the value that an environment variable spells, checked afterwards."""
        raise NotImplementedError

    def check(self, value: object, origin: str) -> None:
        """Raise unless the flag can have this value; `origin` is the text the user typed."""
        if not self.accepts(value):
            near = did_you_mean(str(value), map(str, self.choices))
            raise ConfigError(f"{origin}: expected {self.takes}, got {value!r}.{near}")


class _Switch(Flag[bool]):
    takes = "True or False"

    # FBT: `with imprint.enable_x64(True)` and `with imprint.disable_jit()` as in JAX.
    def __call__(self, new_val: bool = True) -> AbstractContextManager[None]:  # noqa: FBT001, FBT002
        return super().__call__(new_val)

    def accepts(self, value: object) -> bool:
        return value is True or value is False

    def parse(self, text: str) -> object:
        lowered = text.lower()
        return True if lowered in _TRUE else False if lowered in _FALSE else text


class _DisableSwitch(_Switch):
    parameter = "disable"

    def __call__(self, disable: bool = True) -> AbstractContextManager[None]:  # noqa: FBT001, FBT002 - JAX's name
        return super().__call__(disable)


class _Choice(Flag[T]):
    def __init__(
        self, doc: str, *, default: T, choices: tuple[T, ...], in_key: bool
    ) -> None:
        super().__init__(doc, default=default, in_key=in_key)
        self.choices: tuple[object, ...] = choices
        self.takes: str = "one of " + ", ".join(map(repr, choices))

    def accepts(self, value: object) -> bool:
        return (value is None or isinstance(value, str)) and value in self.choices

    def parse(self, text: str) -> object:
        return None if text.lower() == "none" else text


class _Share(Flag[float]):
    takes = "a number from 0 to 1"

    def accepts(self, value: object) -> bool:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        return 0 <= value <= 1

    def parse(self, text: str) -> object:
        try:
            return float(text)
        except ValueError:
            return text


class _DeviceChoice(Flag[object]):
    """A device, or the first one of a platform; it is looked up when used."""

    choices: tuple[object, ...] = ("cpu", "cuda", "gpu", "metal", "rocm", "tpu")
    takes: str = (
        "None, an element of imprint.devices(), or the name of a platform, one of "
        + ", ".join(map(repr, choices))
    )

    def accepts(self, value: object) -> bool:
        if value is None or isinstance(value, str):
            return value is None or value in self.choices
        return hasattr(value, "platform")

    def parse(self, text: str) -> object:
        return None if text.lower() == "none" else text


class _Count(Flag[int]):
    takes = "a positive int, or -1 for as many as XLA_FLAGS say"
    fixed: str = ""
    """Why it can have no other value any more."""

    def accepts(self, value: object) -> bool:
        return type(value) is int and (value > 0 or value == -1)

    def parse(self, text: str) -> object:
        try:
            return int(text)
        except ValueError:
            return text

    def check(self, value: object, origin: str) -> None:
        super().check(value, origin)
        if self.fixed and value != _state().values[self.name]:
            raise ConfigError(
                f"{origin}: expected a value before {self.fixed}, got {value!r} after "
                f"that. Set it first, or start with IMPRINT_{self.name.upper()}={value}."
            )

    def fix(self, reason: str) -> None:
        """Let it have no other value from now on."""
        self.fixed = reason


class _MeshChoice(Flag[object]):
    takes = "None or an imprint.sharding.Mesh"

    def accepts(self, value: object) -> bool:
        return value is None or hasattr(value, "axis_names")

    def parse(self, text: str) -> object:
        return None if text.lower() == "none" else text


# ---- the flags ----


@final
class Config:
    """The flags: read one as an attribute, set one for the process with `update`."""

    __slots__ = ()

    enable_x64: Final = _Switch(
        "Keep 64-bit values 64 bits wide.",
        default=False,
        in_key=True,
    )
    explicit_x64_dtypes: Final = _Choice[str](
        "What becomes of a dtype of 64 bits that is asked for without `enable_x64`.",
        default="warn",
        choices=("warn", "error"),
        in_key=True,
    )
    default_matmul_precision: Final = _Choice[str | None](
        "The precision of a matrix product or convolution that names none.",
        default=None,
        choices=(None, *_MATMUL_PRECISIONS),
        in_key=True,
    )
    numpy_dtype_promotion: Final = _Choice[str](
        "Whether operands of different dtypes promote or are refused.",
        default="standard",
        choices=("standard", "strict"),
        in_key=True,
    )
    numpy_rank_promotion: Final = _Choice[str](
        "What happens when operands of different rank broadcast.",
        default="allow",
        choices=("allow", "warn", "raise"),
        in_key=True,
    )
    threefry_partitionable: Final = _Switch(
        "Draw random bits so that a sharded draw equals the whole one.",
        default=True,
        in_key=True,
    )
    default_prng_impl: Final = _Choice[str](
        "The implementation of keys that are made without naming one.",
        default="threefry2x32",
        choices=("threefry2x32", "rbg", "unsafe_rbg"),
        in_key=True,
    )
    debug_nans: Final = _Switch(
        "Raise when an operation makes a NaN.",
        default=False,
        in_key=True,
    )
    debug_infs: Final = _Switch(
        "Raise when an operation makes an infinity.",
        default=False,
        in_key=True,
    )
    debug_key_reuse: Final = _Switch(
        "Raise when a key of `imprint.random` is used twice.",
        default=False,
        in_key=True,
    )
    default_device: Final = _DeviceChoice(
        "Where arrays are made and programs run that name no device.",
        default=None,
        in_key=True,
    )
    disable_jit: Final = _DisableSwitch(
        "Run jitted functions operation by operation.",
        default=False,
        in_key=True,  # it changes no program, but a warm call need not read it then
    )
    audit: Final = _Share(
        "Trace this share of the calls that hit again, and compare the programs.",
        default=0.0,
        in_key=True,  # as `disable_jit`; see `key_settings`
    )
    cut_recomputation: Final = _Switch(
        "Write values to memory that the engine would compute again many times.",
        default=True,
        in_key=True,
    )
    roll_loops: Final = _Switch(
        "Run equal blocks that a Python loop wrote as one loop, where that is not slower.",
        default=True,
        in_key=True,
    )
    guards: Final = _Choice[str](
        "Whether changes of what traced code read by name retrace, or the arguments alone.",
        default="on",
        choices=("on", "off"),
        in_key=True,
    )
    mesh: Final = _MeshChoice(
        "The mesh whose axes a bare PartitionSpec names; see `imprint.set_mesh`.",
        default=None,
        in_key=True,
    )
    num_cpu_devices: Final = _Count(
        "How many devices the CPU is; to be set before the first is used.",
        default=-1,
        in_key=False,
    )
    log_compiles: Final = _Switch(
        "Log every trace and every compile.",
        default=False,
        in_key=False,
    )
    explain_misses: Final = _Switch(
        "Log why a call was not answered from the cache.",
        default=False,
        in_key=False,
    )
    show_progress: Final = _Switch(
        "Show long compiles on standard error also where it is no terminal.",
        default=False,
        in_key=False,
    )
    generalise: Final = _Choice[str](
        "What becomes of an axis whose length varies: a name by itself, or a proposal.",
        default="ask",
        choices=("off", "ask", "auto"),
        in_key=False,
    )
    strict: Final = _Switch(
        "Make functions with `strict=True` where `jit` does not say.",
        default=False,
        in_key=False,
    )
    check_tracer_leaks: Final = _Switch(
        "Raise when a tracer outlives its trace, and say where it is held.",
        default=False,
        in_key=False,
    )
    traceback_filtering: Final = _Switch(
        "Leave this package's frames out of tracebacks that end in the user's code.",
        default=True,
        in_key=False,
    )
    enable_checks: Final = _Switch(
        "Check our own invariants after every transform.",
        default=False,
        in_key=False,
    )

    def update(self, name: str, value: object) -> None:
        """Set a flag for the whole process, under every `with` that overrides it.

        Args:
            name: the flag, spelled as the attribute; JAX's prefix `jax_` is accepted.
            value: its new value.

        Raises:
            ConfigError: there is no such flag, or it cannot have this value.

        Example:
            >>> import imprint
            >>> imprint.config.update("enable_x64", False)
            >>> imprint.config.enable_x64
            False
        """
        given, name = name, name.removeprefix(_JAX_PREFIX)
        if name not in _FLAGS:
            raise ConfigError(
                f"config.update: expected a flag, one of {', '.join(sorted(_FLAGS))}; "
                f"got {given!r}.{did_you_mean(name, _FLAGS)}"
            )
        _FLAGS[name].check(value, f"config.update({name!r})")
        caller = sys._getframe(1)  # pyright: ignore[reportPrivateUsage] - 20x cheaper than inspect
        place = f"{os.path.basename(caller.f_code.co_filename)}:{caller.f_lineno}"
        global _base
        with _base_lock:
            _base = _FlagValues.of({**_base.values, name: value})
            _setters[name] = f"config.update at {place}"

    def __getattr__(self, name: str) -> Any:
        flag = name.removeprefix(_JAX_PREFIX)
        if name != flag and flag in _FLAGS:
            return getattr(self, flag)
        raise AttributeError(
            f"config has no flag {name!r}.{did_you_mean(flag, _FLAGS)}"
        )

    def __repr__(self) -> str:
        lines = [f"  {name}={value!r}," for name, value in _state().values.items()]
        return "\n".join(("Config(", *lines, ")"))


_FLAGS: Final[dict[str, Flag[object]]] = {
    name: flag for name, flag in vars(Config).items() if isinstance(flag, Flag)
}

_JAX_PREFIX: Final = "jax_"

# ---- the effective values ----


@final
@dataclass(frozen=True, slots=True, eq=False)
class _FlagValues:
    """The value of every flag, and the interned `Settings` of those in the key."""

    values: Mapping[str, Any]
    settings: Settings

    @classmethod
    def of(cls, values: Mapping[str, object]) -> Self:
        return cls(values, _intern({n: values[n] for n in _FLAGS if _FLAGS[n].in_key}))


@final
class _Local:
    """The overrides of the enclosing `with`s, and the values they give on top of a base."""

    __slots__ = ("merged", "overrides")

    def __init__(self, overrides: Mapping[str, object]) -> None:
        self.overrides = overrides
        self.merge()

    def merge(self) -> _FlagValues:
        """Merge with the present base. `merged` is one tuple: threads may share self."""
        base = _base
        merged = _FlagValues.of({**base.values, **self.overrides})
        self.merged = (base, merged)
        return merged


_interned: Final[dict[tuple[object, ...], Settings]] = {}


def _intern(values: Mapping[str, object]) -> Settings:
    key = tuple(values.values())
    found = _interned.get(key)
    if found is None:
        made = Settings(**cast("Mapping[str, Never]", values))  # checked by the flags
        found = _interned.setdefault(key, made)
    return found


def _state() -> _FlagValues:
    local = _get_local()
    if local is None:
        return _base
    base, merged = local.merged
    return merged if base is _base else local.merge()


@contextmanager
def _overridden(name: str, value: object) -> Generator[None]:
    outer = _get_local()
    overrides: Mapping[str, object] = {} if outer is None else outer.overrides
    token = _local.set(_Local({**overrides, name: value}))
    try:
        yield
    finally:
        _local.reset(token)


def entered_mesh(mesh: object) -> None:
    """Make a mesh the one of this thread or task, until `left_mesh` is called."""
    outer = _get_local()
    overrides: Mapping[str, object] = {} if outer is None else outer.overrides
    _entered.set((*_entered.get(), _local.set(_Local({**overrides, "mesh": mesh}))))


def left_mesh() -> None:
    """Undo the last `entered_mesh` of this thread or task."""
    *others, token = _entered.get()
    _local.reset(token)
    _entered.set(tuple(others))


def _from_environment(environ: Mapping[str, str]) -> dict[str, object]:
    values: dict[str, object] = {}
    for name, flag in _FLAGS.items():
        variable = _variable_of(flag, environ)
        values[name] = flag.parse(environ[variable]) if variable else flag.default
        flag.check(values[name], f"environment variable {variable}")
    return values


def _variable_of(flag: Flag[Any], environ: Mapping[str, str]) -> str:
    """Return the environment variable that sets a flag; "" if none does.

    A JAX_ variable counts if the flag takes its value: some have other values in JAX.
    """
    own, of_jax = (f"{prefix}_{flag.name.upper()}" for prefix in ("IMPRINT", "JAX"))
    if environ.get(own):
        return own
    text = environ.get(of_jax)
    return of_jax if text and flag.accepts(flag.parse(text)) else ""


_local: Final = ContextVar[_Local | None]("imprint.config", default=None)
_get_local: Final = _local.get
_entered: Final = ContextVar[tuple[Token[_Local | None], ...]](
    "imprint.config.mesh", default=()
)
_base_lock: Final = Lock()
_base = _FlagValues.of(_from_environment(os.environ))
_setters: Final = {
    name: f"{_variable} in the environment"
    for name, _flag in _FLAGS.items()
    if (_variable := _variable_of(_flag, os.environ))
}

# ---- the public names ----

config: Final = Config()

enable_x64: Final = Config.enable_x64
explicit_x64_dtypes: Final = Config.explicit_x64_dtypes
default_matmul_precision: Final = Config.default_matmul_precision
numpy_dtype_promotion: Final = Config.numpy_dtype_promotion
numpy_rank_promotion: Final = Config.numpy_rank_promotion
threefry_partitionable: Final = Config.threefry_partitionable
default_prng_impl: Final = Config.default_prng_impl
debug_nans: Final = Config.debug_nans
debug_infs: Final = Config.debug_infs
debug_key_reuse: Final = Config.debug_key_reuse
default_device: Final = Config.default_device
disable_jit: Final = Config.disable_jit
audit: Final = Config.audit
cut_recomputation: Final = Config.cut_recomputation
roll_loops: Final = Config.roll_loops
mesh: Final = Config.mesh
num_cpu_devices: Final = Config.num_cpu_devices
log_compiles: Final = Config.log_compiles
explain_misses: Final = Config.explain_misses
show_progress: Final = Config.show_progress
generalise: Final = Config.generalise
guards: Final = Config.guards
strict: Final = Config.strict
check_tracer_leaks: Final = Config.check_tracer_leaks
checking_leaks: Final = Config.check_tracer_leaks  # under JAX's other name
enable_checks: Final = Config.enable_checks
traceback_filtering: Final = Config.traceback_filtering

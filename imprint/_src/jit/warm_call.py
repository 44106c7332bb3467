"""What calls a `Jitted`: the native core if it is loaded, else Python.

`WarmCall` is its base class. In C it answers warm calls itself, and leaves all others to
`Jitted._warm`, as the class in Python does with all but the fastest. The attributes that
`Jitted` sets for it: `_current`, the versions by key; `_forms`, those of its calls that are
known; `_bind`, what makes a method of it, if it makes no plain one.

`CompiledCall` is the same for a `Compiled`, which leaves other calls to `_checked`. Its
`_accepted` is a call that passed: the version, how to take the leaves, their avals, and the
settings.
"""

import typing
from collections.abc import Callable
from types import MethodType
from typing import Any, NoReturn

import numpy as np

from imprint._src import config, native, runtime
from imprint._src.array import ArrayImpl
from imprint._src.core import aval, trace
from imprint._src.core.identity import InternalObject
from imprint._src.diagnostics import source
from imprint._src.jit.calls.signature import CallForm, CallSpec
from imprint._src.jit.fingerprint import static_values
from imprint._src.jit.versions.version import Version


class _PythonCall(InternalObject):
    """Calls of arrays on the device, in Python; the twin of the one in C.

    It looks the version up by (settings, avals), executes and wraps. Any other call leaves
    it by an exception or a missing key, so it pays for none of their checks.
    """

    __slots__ = ("_current", "_on_device")
    _current: dict[Any, Any]
    _on_device: bool
    _bind: Callable[[Any, Any], Any] = MethodType

    def _warm(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        raise NotImplementedError

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function by its compiled version."""
        if kwargs or not self._on_device or trace.current_trace() is not None:
            return self._warm(args, kwargs)
        try:  # like the last call: only arrays on the device
            version = self._current[config.settings(), *[x.aval for x in args]]
            guard = version.guard
            if guard is not None and not guard():
                return self._warm(args, kwargs)
            take = version.take
            if take is None:
                buffers = [x._buffer for x in args]
            elif version.special:
                return self._warm(args, kwargs)
            else:
                buffers = [*version.consts, *[args[i]._buffer for i in take]]
        except (KeyError, AttributeError, ValueError):  # 400 ns: not tried next time
            self._on_device = False
            return self._warm(args, kwargs)
        version.hits += 1
        try:  # `Executable.call` written out: 80 ns of 3,500
            results = version.executable.execute(buffers)
            outs = results.consume_with_handlers(version.handlers)
        except runtime.EngineError as err:
            raise version.explain(buffers, err) from err
        runtime.collect_garbage()  # 25 ns: each execution leaves 80 bytes
        if version.out_aval is not None:
            return ArrayImpl(version.out_aval, outs[0])
        return version.unflatten(map(ArrayImpl, version.out_avals, outs))

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else self._bind(self, instance)


class _PythonCompiledCall:
    """Calls of a `Compiled`, in Python; the twin of the one in C."""

    _accepted: tuple[Version, Any, tuple[Any, ...], config.Settings] | None = None

    def _checked(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        raise NotImplementedError

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Execute; the arguments must be of the kind that was compiled for.

        Static arguments are left out, as in JAX, or given with the same value.
        """
        accepted = self._accepted
        if accepted is None or kwargs or trace.current_trace() is not None:
            return self._checked(args, kwargs)
        version, match, avals, flags = accepted
        try:
            leaves = args if match is None else match(args)
            is_alike = flags is config.settings() and avals == (
                *[x.aval for x in leaves],
            )
        except (KeyError, AttributeError):
            is_alike, leaves = False, ()
        if not is_alike:
            return self._checked(args, kwargs)
        version.hits += 1
        return version.run([*leaves])


def _explain(version: Version, buffers: list[Any], err: Exception) -> NoReturn:
    """Raise the error for an error of an execution."""
    raise version.explain(buffers, err) from err


def _native_call() -> Any:
    """Return the class in C, with all that it calls and reads."""
    flags: Any = vars(config)
    tokens: Any = vars(static_values)
    narrow, wide = vars(aval)["_arrays"]
    native.core.setup(
        {
            "array": ArrayImpl,
            "version": Version,
            "executable": runtime.Executable,
            "form": CallForm,
            "spec": CallSpec,
            "entry": tokens["_WeakEntry"],
            "ndarray": np.ndarray,
            "engine_error": runtime.EngineError,
            "results": runtime.ExecuteResults,
            "consume": runtime.ExecuteResults.consume_with_handlers,
            "collect": runtime.collect_garbage,
            "explain": _explain,
            "static_token": static_values.static_token,
            "known_tokens": tokens["_known"],
            "settings": config.settings,
            "flags": config.Settings,
            "values": flags["_FlagValues"],
            "local": flags["_local"],
            "config": flags,
            "trace": vars(trace)["_current"],
            "scalar_aval": aval.scalar_aval,
            "avals": narrow,
            "wide_avals": wide,
            "current_source": source.current_source,
            "replayed": vars(source)["_replayed"],
            "passed": vars(source)["_passed"],
            "source": source.Source,
        }
    )
    return native.core.WarmCall


if typing.TYPE_CHECKING or native.core is None:
    WarmCall = _PythonCall
    CompiledCall = _PythonCompiledCall
else:
    WarmCall = _native_call()
    CompiledCall = native.core.CompiledCall

"""What calls a `Jitted`: the native core if it is loaded, else Python.

`WarmCall` is its base class. In C it answers warm calls itself, and leaves all others to
`Jitted._warm`, as the class in Python does with all but the fastest. The attributes that
`Jitted` sets for it: `_current`, the versions by key; `_forms`, those of its calls that are
known; `_bind`, what makes a method of it, if it makes no plain one.

`CompiledCall` is the same for a `Compiled`, which leaves other calls to `_checked`. Its
`_accepted` is a call that passed: calls like it need no checks.
"""

import typing
from collections.abc import Callable
from types import MethodType
from typing import Any, NamedTuple, NoReturn

import numpy as np

from imprint._src import config, native, runtime
from imprint._src.array import ArrayImpl
from imprint._src.core import aval, trace
from imprint._src.core.identity import InternalObject
from imprint._src.diagnostics import source
from imprint._src.errors import ArgumentError
from imprint._src.jit.calls.key import PackedKey
from imprint._src.jit.calls.signature import CallForm, CallSpec, is_default
from imprint._src.jit.fingerprint import static_values
from imprint._src.jit.versions.version import Version
from imprint._src.tree.treedef import use_native


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


class AcceptedCall(NamedTuple):
    """A call that a `Compiled` answered.

    Args:
        version: what answers calls like it.
        form: how its values map to parameters.
        match: takes the leaves of its dynamic values; None if each is one.
        spec: its parameters.
        spelled: how many arguments were given by position, then the keywords.
        key: of the call, without its tree, which `match` checks.
    """

    version: Version
    form: CallForm
    match: Callable[[Any], Any] | None
    spec: CallSpec
    spelled: tuple[Any, ...]
    key: PackedKey

    def leaves_of(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[list[Any], list[int]] | None:
        """Return the leaves of a call, and which are host values; None if it is another."""
        if (len(args), *kwargs) != self.spelled:
            return None
        split = split_call(self.form, self.match, self.spec, args, kwargs)
        return None if split is None or split[0] != self.key else split[1:]


def split_call(
    form: CallForm,
    match: Callable[[Any], Any] | None,
    spec: CallSpec,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> tuple[PackedKey, list[Any], list[int]] | None:
    """Return the key of a call, its leaves, and which of them are host values.

    None if the call is not plain: it has a default, or no match.

    Args:
        form: its own.
        match: takes its leaves; None if each dynamic value is one.
        spec: its parameters.
        args: of the call.
        kwargs: of the call.
    """
    given = *args, *kwargs.values()
    if any(is_default(given[i], default) for i, default in form.defaults):
        return None
    leaves: Any = form.picked(given)
    try:
        tokens = [
            static_values.static_token(default if i < 0 else given[i], name)
            for i, default, name in form.static
        ]
        static = (*tokens,)
        if match is not None:
            leaves = match(leaves)
        is_filtered = spec.treedef is not None
        if match is not None and is_filtered:
            leaves, static = leaves  # of a `Split`
        avals = [_aval_of(x, is_filtered=is_filtered) for x in leaves]
    except (KeyError, AttributeError, ArgumentError):
        return None
    hosts = [i for i, x in enumerate(leaves) if type(x) is not ArrayImpl]
    if spec.plain:
        return (config.settings(), *avals), [*leaves], hosts
    return (spec, None, static, config.settings(), *avals), [*leaves], hosts


def _aval_of(x: Any, *, is_filtered: bool) -> Any:
    """Return the aval of a leaf; KeyError if it is not plain."""
    if type(x) is ArrayImpl:
        return x.aval
    found = aval.host_aval(x) if not is_filtered or type(x) is np.ndarray else None
    if found is None:
        raise KeyError
    return found


class _PythonCompiledCall:
    """Calls of a `Compiled`, in Python; the twin of the one in C."""

    _accepted: AcceptedCall | None = None

    def _checked(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        raise NotImplementedError

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Execute; the arguments must be of the kind that was compiled for.

        Static arguments are left out, as in JAX, or given with the same value.
        """
        accepted = self._accepted
        if accepted is not None and trace.current_trace() is None:
            found = accepted.leaves_of(args, kwargs)
            if found is not None:
                accepted.version.hits += 1
                return accepted.version.run(*found)
        return self._checked(args, kwargs)


def _explain(version: Version, buffers: list[Any], err: Exception) -> NoReturn:
    """Raise the error for an error of an execution."""
    raise version.explain(buffers, err) from err


def _native_call() -> Any:
    """Return the class in C, with all that it calls and reads."""
    flags: Any = vars(config)
    tokens: Any = vars(static_values)
    narrow, wide = vars(aval)["_arrays"]
    use_native(native.core)
    native.core.setup(
        {
            "array": ArrayImpl,
            "version": Version,
            "executable": runtime.Executable,
            "form": CallForm,
            "spec": CallSpec,
            "entry": tokens["_WeakEntry"],
            "ndarray": np.ndarray,
            "generic": np.generic,
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
            "host_aval": aval.host_aval,
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

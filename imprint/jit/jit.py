"""`jit`: the public decorator and the object it returns.

The warm path is `Jitted.__call__`: look the version up by (settings, avals), execute,
wrap. An argument that is not on the device, a tree, a first call, a flag: all leave it
by an exception or a missing key, so they cost it nothing; `_mixed` is the warm path of
trees and host values. Tracing is in `tracing`; what a key is, in `compile.key`; how a
call is spelled, in `signature`.
"""

import functools
from collections.abc import Callable, Iterable
from types import MethodType
from typing import Any, final

import numpy as np

from imprint import tree
from imprint.array import ArrayImpl, to_array
from imprint.compile.key import static_token
from imprint.compile.program import compile_module, lower
from imprint.config import settings
from imprint.control.call import call
from imprint.core.aval import get_aval
from imprint.core.folding import folding
from imprint.core.functions import check_function, name_of
from imprint.core.hosts import host_aval, scalar_aval
from imprint.core.trace import Tracer, current_trace
from imprint.errors import ArgumentError
from imprint.jit.flights import Flights
from imprint.jit.leaves import check_leaves
from imprint.jit.signature import Signature, Split
from imprint.jit.stages import Lowered, Traced
from imprint.jit.tracing import TracedCall, trace_call
from imprint.jit.versions import Version
from imprint.runtime import EngineError, collect_garbage, explain_execute_error

_flatten = tree.flatten
_ndarray = np.ndarray


@final
class Jitted:
    """A function compiled by XLA, with one version for each kind of call."""

    def __init__(self, fun: Callable[..., Any], signature: Signature) -> None:
        functools.update_wrapper(self, fun)
        self._fun = fun
        self._signature = signature
        self._has_statics = signature.has_statics
        self._on_device = False
        self._versions: dict[Any, Version] = {}
        self._traced: dict[Any, TracedCall] = {}
        self._flights = Flights(self._versions)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function by its compiled version."""
        if kwargs or self._has_statics or current_trace() is not None:
            return self._general(args, kwargs)
        if not self._on_device:  # as the last call was: an exception costs 400 ns
            return self._mixed(args)
        try:
            version = self._versions[settings(), *[x.aval for x in args]]
            take = version.take
            if take is None:
                buffers = [x._buffer for x in args]
            else:
                buffers = [*version.consts, *[args[i]._buffer for i in take]]
        except (KeyError, AttributeError):  # new, a tree, or not on the device
            self._on_device = False
            return self._mixed(args)
        try:  # `execute` is looked up now: in a forked process it is one that refuses
            results = version.executable.execute(buffers)
            outs = results.consume_with_handlers(version.handlers)
        except EngineError as err:
            raise explain_execute_error(buffers, err) from err
        collect_garbage()  # the engine's own, 25 ns: each execution leaves 80 bytes
        if version.out_aval is not None:
            return ArrayImpl(version.out_aval, outs[0])
        return version.unflatten(map(ArrayImpl, version.out_avals, outs))

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<jitted {self._fun!r}>"

    def _mixed(self, args: tuple[Any, ...]) -> Any:
        """Call with trees, NumPy arrays or numbers among the arguments; warm too."""
        leaves, treedef = _flatten(args)
        avals: list[Any] = []
        hosts = 0
        for x in leaves:
            kind: Any = x.__class__
            if kind is ArrayImpl:
                avals.append(x.aval)
                continue
            hosts += 1
            aval = host_aval(x) if kind is _ndarray else scalar_aval(x, kind)
            if aval is None:
                return self._general(args, {})
            avals.append(aval)
        flat = treedef.is_flat_tuple
        key = (settings(), *avals) if flat else (treedef, settings(), *avals)
        version = self._versions.get(key)
        if version is None:
            return self._general(args, {})
        self._on_device = flat and not hosts
        return version.run_mixed(leaves)

    # ---- everything but the warm path ----

    @folding
    def _general(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        flags = settings()
        if flags.disable_jit:
            return self._fun(*args, **kwargs)
        split = self._split(args, kwargs)
        leaves, key = self._key(split)
        if current_trace() is not None:
            return self._inner(key, leaves, split)
        version = self._versions.get(key)
        if version is None:
            version = self._compile(key, leaves, split)
        return version.run(leaves)

    def _split(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Split:
        self._signature.check_call(args, kwargs)
        return self._signature.split(args, kwargs)

    def _key(self, split: Split) -> tuple[list[Any], Any]:
        name = self._signature.argument_name
        named = [(name(k) if isinstance(k, int) else k, v) for k, v in split.statics]
        statics = tuple((k, static_token(v, k)) for k, v in named)
        plain = not self._has_statics and not split.kwargs
        leaves, treedef = _flatten(split.args if plain else split[:2])
        try:
            avals = [x.aval if type(x) is ArrayImpl else get_aval(x) for x in leaves]
        except ArgumentError:
            check_leaves(self._signature, split, leaves)
            raise
        if plain and treedef.is_flat_tuple:
            return leaves, (settings(), *avals)
        if plain:
            return leaves, (treedef, settings(), *avals)
        return leaves, (treedef, statics, settings(), *avals)

    def _compile(self, key: Any, leaves: list[Any], split: Split) -> Version:
        def make() -> Version:
            traced = self._trace(key, leaves, split)
            module = lower(traced.closed, f"jit_{name_of(self._fun)}")
            program = compile_module(
                module, lambda values: [to_array(v).buffer for v in values]
            )
            return Version(traced, program)

        return self._flights.get(key, make)

    def _inner(self, key: Any, leaves: list[Any], split: Split) -> Any:
        traced = self._trace(key, leaves, split)
        outs = call(traced.closed, leaves, name_of(self._fun))
        return traced.out_tree.unflatten(outs)

    def _trace(self, key: Any, leaves: list[Any], split: Split) -> TracedCall:
        traced = self._traced.get(key)
        if traced is None:
            avals = [get_aval(x) for x in leaves]
            traced = trace_call(self._fun, self._signature, split, avals)
            if not any(isinstance(c, Tracer) for c in traced.closed.consts):
                traced = self._traced.setdefault(key, traced)
        return traced

    # ---- what users ask of a compiled function ----

    def trace(self, *args: Any, **kwargs: Any) -> Traced:
        """Trace the function for this kind of call; arguments may be abstract."""
        split = self._split(args, kwargs)
        leaves, key = self._key(split)
        return Traced(self._trace(key, leaves, split), self._signature, split)

    def lower(self, *args: Any, **kwargs: Any) -> Lowered:
        """Trace and lower the function for this kind of call."""
        return self.trace(*args, **kwargs).lower()

    def _cache_size(self) -> int:
        """Return the number of compiled versions."""
        return len(self._versions)

    def clear_cache(self) -> None:
        """Forget all versions."""
        self._versions.clear()
        self._traced.clear()


def jit(
    fun: Callable[..., Any] | None = None,
    /,
    *,
    static_argnums: int | Iterable[int] | None = None,
    static_argnames: str | Iterable[str] | None = None,
) -> Any:
    """Compile a function with XLA, one version for each kind of call.

    Args:
        fun: a pure function of arrays, numbers and containers of them. Leave it out to
            use `jit(...)` as a decorator with options.
        static_argnums: positions of arguments that the function takes as Python values;
            each value has its own version.
        static_argnames: their names. One of the two is worked out from the other.

    Returns:
        A callable with the signature of `fun`.

    Raises:
        ArgumentError: `fun` is not a function of arrays, or an option does not fit it.

    >>> import imprint
    >>> @imprint.jit
    ... def double(x):
    ...     return x * 2
    >>> double(3)
    Array(6, dtype=int32, weak_type=True)
    """
    if fun is None:
        return functools.partial(
            jit, static_argnums=static_argnums, static_argnames=static_argnames
        )
    check_function(fun, "jit")
    return Jitted(fun, Signature(fun, static_argnums, static_argnames))

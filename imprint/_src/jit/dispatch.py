"""The object that `jit` returns, and the way of a call through it.

The warm path is `Jitted.__call__`: look the version up by (settings, avals), execute,
wrap. An argument that is not on the device, a tree, a keyword, a first call, a flag:
all leave it by an exception or a missing key, so they cost it nothing. `_warm` is the
path of host values, trees, keywords and static arguments; `_cold` traces and compiles.
"""

import sys
from contextlib import suppress
from operator import attrgetter
from types import MethodType
from typing import Any, final

import numpy as np

from imprint import tree
from imprint._src.array import ArrayImpl
from imprint._src.config import settings
from imprint._src.control_flow import call as nested
from imprint._src.core.functions import name_of
from imprint._src.core.inline import Inline
from imprint._src.core.jaxpr import eval_jaxpr
from imprint._src.core.scalar_aval import host_aval, scalar_aval
from imprint._src.core.trace import current_trace
from imprint._src.diagnostics.traceback_filter import folding
from imprint._src.jit.audit import audit_nested
from imprint._src.jit.bound_method import BoundJitted
from imprint._src.jit.calls.check_args import check_values
from imprint._src.jit.calls.key import pending_of
from imprint._src.jit.calls.sharded_call import (
    constrained_arguments,
    constrained_results,
)
from imprint._src.jit.calls.signature import Spelling
from imprint._src.jit.compiling import trace_for_all, trace_nested
from imprint._src.jit.explain import replay as replays
from imprint._src.jit.explain.explanation import Explanation
from imprint._src.jit.fingerprint.static_values import static_token
from imprint._src.jit.rebind import Binding
from imprint._src.jit.report import CacheInfo, cache_info, explain
from imprint._src.jit.request import Request
from imprint._src.jit.resolve import answer
from imprint._src.jit.stages import Given, Lowered, Traced
from imprint._src.jit.versions.budget import BUDGET
from imprint._src.jit.versions.definitions import DEFINITIONS, Definition
from imprint._src.jit.versions.version import Version
from imprint._src.runtime import EngineError, collect_garbage

_flatten = tree.flatten
_ndarray = np.ndarray


@final
class Jitted(Binding):
    """A function compiled by XLA, with one version for each kind of call."""

    _on_device = False
    """Whether the last call was on arrays on the device, and nothing else."""

    def __getattr__(self, name: str) -> Any:
        if name == "__wrapped__":  # while a copy or a pickle is made
            raise AttributeError(name)
        try:
            return getattr(self.__wrapped__, name)
        except AttributeError:  # what a function has, and a partial has not
            if name in {"__name__", "__qualname__"}:
                return name_of(self.__wrapped__)
            if name == "__annotations__":
                return {}
            raise

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function by its compiled version."""
        if kwargs or not self._on_device or current_trace() is not None:
            return self._warm(args, kwargs)
        try:  # as the last call was: arrays on the device, and nothing else
            version = self._current[settings(), *[x.aval for x in args]]
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
        except EngineError as err:
            raise version.explain(buffers, err) from err
        collect_garbage()  # the engine's own, 25 ns: each execution leaves 80 bytes
        if version.out_aval is not None:
            return ArrayImpl(version.out_aval, outs[0])
        return version.unflatten(map(ArrayImpl, version.out_avals, outs))

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        return (BoundJitted if self.is_filtered else MethodType)(self, instance)

    def __repr__(self) -> str:
        return f"<jitted {self._fun!r}>"

    def __reduce__(self) -> str | tuple[Any, ...]:
        # By reference, as functions are, if that finds it. In `__main__` it does in a
        # process that runs the same script, which cloudpickle does not count on.
        name: Any = getattr(self._fun, "__qualname__", "")
        found: Any = sys.modules.get(self.__module__)
        with suppress(AttributeError):
            found = attrgetter(name)(found)
        caller = sys._getframe(1).f_globals.get("__name__", "")  # pyright: ignore[reportPrivateUsage] - the one way to know
        if found is self and not (
            self.__module__ == "__main__" and caller.startswith("cloudpickle")
        ):
            return name
        return Jitted, (self._fun, self._options)

    def __copy__(self) -> "Jitted":
        return Jitted(self._fun, self._options)

    def __imprint_token__(self) -> Any:
        """Return what stands for this function in the token of one that captures it."""
        return "jit", self._options, self._fun

    def __deepcopy__(self, memo: dict[int, Any]) -> "Jitted":
        return self.__copy__()

    # ---- a call that is not only arrays on the device ----

    def _warm(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # noqa: C901, PLR0912 - hot: a helper costs 60 ns, of 1,000
        definition: Any = self._definition or self._bind()
        spelled = (len(args), *kwargs) if kwargs else len(args)
        spelling = definition.signature.spellings.get(spelled)
        if spelling is None or current_trace() is not None:
            return self._cold(args, kwargs)
        given = (*args, *kwargs.values()) if kwargs else args
        if spelling.defaults:
            spelling = definition.signature.without_defaults(
                spelling, given, len(args), kwargs
            )
        values = given if spelling.pick is None else spelling.pick(given)
        static: tuple[Any, ...] = ()
        if spelling.static:
            static = _static_tokens(spelling.static, given)
        if spelling.arrays_only:
            try:  # as in `__call__`
                match, form, treedef = spelling.recalled
                if match is None:
                    leaves = values
                elif treedef is not None:
                    leaves = match(values)
                else:
                    leaves, static = match(values)  # of a `Split`
                avals = [x.aval for x in leaves]
                if form.plain and treedef is None:  # `CallKey.packed`, 80 ns
                    key = settings(), *avals
                else:
                    key = form, treedef, static, settings(), *avals
                version = self._current[key]
                if version.guard is not None and not version.guard():
                    raise KeyError
                if version.special:
                    buffers = [*leaves]
                elif version.take is None:
                    buffers = [x._buffer for x in leaves]
                else:
                    buffers = [leaves[i]._buffer for i in version.take]
                    buffers = [*version.consts, *buffers]
            except (KeyError, AttributeError):
                spelling.arrays_only = False
            else:
                version.hits += 1
                return (version.run if version.special else version.execute)(buffers)
        found = self._find(spelling, values, static)
        if found is None:
            return self._cold(args, kwargs)
        version, leaves, hosts = found
        return version.run(leaves, hosts)

    def _find(  # noqa: C901 - hot: a helper costs 60 ns, of 5,000
        self, spelling: Spelling, values: tuple[Any, ...], static: tuple[Any, ...]
    ) -> tuple[Version, list[Any], list[int]] | None:
        """Return the version of a call, its leaves, and which are host values."""
        whole, form = None, spelling.form
        if self.is_filtered:
            signature: Any = self._bound().signature
            taken = signature.take(spelling, values)
            if taken is None:
                return None
            form, leaves, static = taken
        else:
            leaves, treedef = _flatten(values)
            whole = None if treedef.is_flat_tuple else treedef
        avals: list[Any] = []
        hosts: list[int] = []
        for i, x in enumerate(leaves):
            kind: Any = x.__class__
            if kind is ArrayImpl:
                avals.append(x.aval)
                continue
            hosts.append(i)
            aval = host_aval(x) if kind is _ndarray else scalar_aval(x, kind)
            if aval is None:
                return None
            avals.append(aval)
        if form.plain and whole is None:  # `CallKey.packed`, 80 ns
            key = settings(), *avals
        else:
            key = form, whole, static, settings(), *avals
        version = self._current.get(key)
        if version is None or not (version.guard is None or version.guard()):
            version = self._bound().versions.find(key)
            if version is None:
                return None
        version.hits += 1
        if self.is_filtered:
            spelling.arrays_only = not hosts and spelling.recalled[0] is not None
        elif not hosts:
            spelling.remember(values, whole)
            self._on_device = form.plain and whole is None
        return version, leaves, hosts

    @folding
    def _cold(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if settings().disable_jit:
            return self._fun(*args, **kwargs)
        request = self._request(self._bound(), args, kwargs)
        _, leaves, call = request.pending
        check_values(request.name, call, leaves)
        if current_trace() is not None:
            return self._nested(request)
        return answer(request)

    def _request(
        self, definition: Definition, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Request:
        """Return a call with the definition that answers it, or will."""
        pending = pending_of(definition.signature, args, kwargs)
        return Request(self._fun, self._options, definition, pending)

    def _nested(self, request: Request) -> Any:
        self._options.check_nested(request.name)
        audit_nested(request)
        traced = trace_nested(request)
        closed, leaves = traced.closed, request.pending.leaves
        leaves = constrained_arguments(self._options, traced, leaves)
        if self._options.inline is Inline.JAX_EARLY:
            outs: Any = eval_jaxpr(closed.jaxpr, closed.consts, *leaves)
        else:
            outs = nested.call(closed, leaves, request.name, **self._options.nested)
        outs = constrained_results(self._options, traced, outs)
        return traced.results.unflatten(outs)

    # ---- what users ask of a compiled function ----

    @folding
    def trace(self, *args: Any, **kwargs: Any) -> Traced:
        """Trace the function for this kind of call; arguments may be abstract."""
        request = self._request(self._bound(), args, kwargs)
        signature = request.definition.signature
        given = Given.of(signature, request.pending, len(args))
        return Traced(trace_for_all(request), signature, self._options, given)

    @folding
    def lower(self, *args: Any, **kwargs: Any) -> Lowered:
        """Trace and lower the function for this kind of call."""
        from imprint._src.jit.lower_from_disk import lowered_ahead  # noqa: PLC0415 - with the store, 5 ms of an import

        return lowered_ahead(self._request(self._bound(), args, kwargs), len(args))

    def eval_shape(self, *args: Any, **kwargs: Any) -> Any:
        """Return the shapes and dtypes of the result, without computing it."""
        return self.trace(*args, **kwargs).out_info

    def explain(self, *args: Any, **kwargs: Any) -> Explanation:
        """Say which version answers this call, or why it needs a new one.

        Compiles and traces nothing. `str()` of the result is a sentence or two,
        `.differences` the slots that differ from the nearest version, with remedies.

        >>> import imprint
        >>> import imprint.numpy as np
        >>> @imprint.jit
        ... def total(batch):
        ...     return batch["mask"].sum()
        >>> _ = total({"mask": np.ones((2, 8))})
        >>> print(total.explain({"mask": np.ones((2, 9))}).differences[0])
        batch['mask'].shape[1]: 8 → 9
        """
        definition = self._bound()
        pending = pending_of(definition.signature, args, kwargs)
        return explain(self._fun, definition, pending)

    def replay(self, *args: Any, **kwargs: Any) -> "replays.Replay":
        """Return this call equation by equation, with the user's lines and the values.

        The program that would answer the call is run on the host, by NumPy, when the
        steps are asked for; nothing is compiled, and nothing donated.

        >>> import imprint
        >>> import imprint.numpy as np
        >>> @imprint.jit
        ... def entropy(p):
        ...     return -np.sum(p * np.log(p))
        >>> culprit = entropy.replay(np.array([0.5, -0.5])).first_nan()
        >>> print(culprit.source.expression, culprit.inputs[0])
        np.log(p) [ 0.5 -0.5]
        """
        from imprint._src.jit.replay import replay  # noqa: PLC0415 - few calls are replayed

        return replay(self._request(self._bound(), args, kwargs), args, kwargs)

    @property
    def last_miss(self) -> Explanation | None:
        """The explanation of the last call that no version answered as it was."""
        definition = self._bound()
        return definition.last_miss or definition.kin.last_miss

    @property
    def versions(self) -> tuple[Version, ...]:
        """The compiled versions."""
        return tuple(self._bound().versions)

    def cache_info(self) -> CacheInfo:
        """Return counts: hits, misses, versions, bytes (estimated)."""
        return cache_info(self._bound())

    def _cache_size(self) -> int:
        """Return the number of compiled versions."""
        return len(self._bound().versions)

    def clear_cache(self) -> None:
        """Forget all versions."""
        self._bound().clear()


def _static_tokens(
    static: tuple[tuple[int, Any, str], ...], given: tuple[Any, ...]
) -> tuple[Any, ...]:
    """Return the tokens of the static values among those of a call; hot."""
    if len(static) == 1:  # 80 ns instead of 300
        ((i, value, name),) = static
        if i >= 0:
            value = given[i]
        kind = value.__class__
        is_token = kind is int or kind is str
        return (value if is_token else static_token(value, name),)
    return tuple(
        [
            static_token(default if i < 0 else given[i], name)
            for i, default, name in static
        ]
    )


def explain_with_disk(
    jitted: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Explanation:
    """Say which version answers a call of a `Jitted`, and how a new process would start."""
    from imprint._src.jit.load_from_disk import with_disk  # noqa: PLC0415 - with the store, 5 ms of an import

    told = jitted.explain(*args, **kwargs)
    if settings().disable_jit:
        return told
    request = jitted._request(jitted._bound(), args, kwargs)
    if request.options.abstracted_axes is not None:
        from imprint._src.jit.load_bucket_from_disk import WarmBucket  # noqa: PLC0415 - few functions name axes

        return WarmBucket(request).told(told)
    versions = request.definition.versions
    return with_disk(told, request, versions.find(request.pending.key))


def clear_caches() -> None:
    """Drop the compiled versions of all functions.

    >>> import imprint
    >>> f = imprint.jit(lambda x: x + 1)
    >>> f(1.0), f._cache_size()
    (Array(2., dtype=float32, weak_type=True), 1)
    >>> imprint.clear_caches()
    >>> f._cache_size()
    0
    """
    BUDGET.clear()
    DEFINITIONS.clear()

"""`Jitted`, the object that `jit` returns, and its three call paths.

- `warm_call` is the fastest: all of a warm call in C, arrays on the device in Python.
- `_warm` takes host values, trees, keywords and static arguments.
- `_cold` runs when no version is found; `compile_version` lists the steps of a miss.
"""

import sys
from collections.abc import Callable
from contextlib import suppress
from operator import attrgetter
from threading import RLock
from typing import Any, final

from imprint._src.array import ArrayImpl, host_of, to_array
from imprint._src.config import config, settings
from imprint._src.control_flow import call as nested
from imprint._src.core.aval import host_aval
from imprint._src.core.control import Inline
from imprint._src.core.functions import name_of
from imprint._src.core.identity import InternalObject
from imprint._src.core.jaxpr import eval_jaxpr
from imprint._src.core.trace import Tracer, current_trace
from imprint._src.core.user_code import adopt
from imprint._src.diagnostics.source import Source
from imprint._src.diagnostics.traceback_filter import filter_traceback
from imprint._src.errors import ArgumentError
from imprint._src.jit.audit import audit, audit_nested
from imprint._src.jit.bound_method import BoundJitted
from imprint._src.jit.calls.device_assignment import (
    constrained_arguments,
    constrained_results,
)
from imprint._src.jit.calls.filtering import FilteredSignature
from imprint._src.jit.calls.key import check_values, pending_of
from imprint._src.jit.calls.options import JitOptions
from imprint._src.jit.calls.signature import CallForm, Signature
from imprint._src.jit.compile_steps import trace_for_all, trace_nested
from imprint._src.jit.compile_version import compile_version
from imprint._src.jit.compiled_stages import CallDetails, Lowered
from imprint._src.jit.explain import replay as replays
from imprint._src.jit.explain.explanation import Explanation
from imprint._src.jit.explain.replay import Replay
from imprint._src.jit.fingerprint.static_values import static_token
from imprint._src.jit.report import CacheInfo, cache_info, explain
from imprint._src.jit.stages import Traced, lower_with_disk
from imprint._src.jit.versions.definitions import (
    DEFINITIONS,
    Definition,
    Request,
    parts_of,
)
from imprint._src.jit.versions.table import BUDGET
from imprint._src.jit.versions.version import Version
from imprint._src.jit.warm_call import WarmCall
from imprint._src.sharding.context import resolve_sharding
from imprint._src.tree import internal as tree

_flatten = tree.flatten


@final
class Jitted(WarmCall, InternalObject):
    """A function compiled by XLA, with one version for each call signature.

    Args:
        fun: the function.
        options: how it is compiled.
        place: where user code jits it, if it does.
    """

    # `wraps` copies the rest, the `__dict__`, to a function around this one.
    __slots__ = (
        *("__dict__", "__weakref__", "_definition", "_fun", "_lock", "_on_device"),
        *("_options", "_parts", "_place", "is_filtered"),
    )

    def __init__(
        self,
        fun: Callable[..., Any],
        options: JitOptions,
        place: Source | None = None,
    ) -> None:
        self.__wrapped__ = self._fun = fun
        self.__doc__ = fun.__doc__
        self.__module__ = getattr(fun, "__module__", "")
        # In the instance: the class gets some once something asks it for them.
        self.__annotations__ = getattr(fun, "__annotations__", {})
        self._options = options
        self._place = place
        self.is_filtered: bool = options.filtered is not None
        """Whether it is a `filter_jit` function, which binds as a node of pytrees."""
        if self.is_filtered:
            self._bind = BoundJitted
        self._lock = RLock()  # finding the definition may run user code
        self._definition: Definition | None = None
        self._parts: tuple[Any, ...] = ()
        self._on_device: bool = False
        """Whether all arguments of the last call were arrays on the device."""
        adopt(fun)
        if options.names_arguments:  # those that are missing are reported now
            self._find_definition()

    def __getattr__(self, name: str) -> Any:
        if name == "__wrapped__":  # while a copy or a pickle is made
            raise AttributeError(name)
        try:
            return getattr(self.__wrapped__, name)
        except AttributeError:  # attributes of functions that a partial lacks
            if name in {"__name__", "__qualname__"}:
                return name_of(self.__wrapped__)
            raise

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
        return Jitted(self._fun, self._options, self._place)

    def __imprint_token__(self) -> Any:
        """Return the token of this function in a function that captures it."""
        return "jit", self._options, self._fun

    def __deepcopy__(self, memo: dict[int, Any]) -> "Jitted":
        return self.__copy__()

    # ---- the definition ----

    def _current_definition(self) -> Definition:
        """Return the definition of the function; a new one after an edit."""
        known = self._definition
        if known is not None and self._parts == parts_of(self._fun):
            return known
        return self._find_definition()

    def _find_definition(self) -> Definition:
        with self._lock:  # a trace may change what the function captures
            parts = parts_of(self._fun)
            if self._definition is not None and self._parts == parts:
                return self._definition  # another thread was first
            definition = DEFINITIONS.of(
                self._fun, self._options, lambda: _signature(self._fun, self._options)
            )
            if definition.jitted_at is None:
                definition.jitted_at = self._place
            self._current = definition.versions.current
            self._forms = definition.signature.forms
            self._definition, self._parts = definition, parts
        return definition

    # ---- a call that is not only arrays on the device ----

    def _warm(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # noqa: C901, PLR0912 - hot: a helper costs 60 ns, of 1,000
        definition: Any = self._definition or self._find_definition()
        spelled = (len(args), *kwargs) if kwargs else len(args)
        form = definition.signature.forms.get(spelled)
        if form is None or current_trace() is not None:
            return self._cold(args, kwargs)
        given = (*args, *kwargs.values()) if kwargs else args
        if form.defaults:
            form = definition.signature.without_defaults(form, given, len(args), kwargs)
        values = given if form.pick is None else form.pick(given)
        static: tuple[Any, ...] = ()
        if form.static:
            static = _static_tokens(form.static, given)
        if form.arrays_only:
            try:  # as in `warm_call`
                match, spec, treedef = form.recalled
                if match is None:
                    leaves = values
                elif treedef is not None:
                    leaves = match(values)
                else:
                    leaves, static = match(values)  # of a `Split`
                avals = [x.aval for x in leaves]
                if spec.plain and treedef is None:  # `CallKey.packed`, 80 ns
                    key = settings(), *avals
                else:
                    key = spec, treedef, static, settings(), *avals
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
                form.arrays_only = False
            else:
                version.hits += 1
                return (version.run if version.special else version.execute)(buffers)
        found = self._find(form, values, static)
        if found is None:
            return self._cold(args, kwargs)
        version, leaves, hosts = found
        return version.run(leaves, hosts)

    def _find(
        self, form: CallForm, values: tuple[Any, ...], static: tuple[Any, ...]
    ) -> tuple[Version, list[Any], list[int]] | None:
        """Return the version of a call, its leaves, and which are host values."""
        whole, spec = None, form.spec
        if self.is_filtered:
            signature: Any = self._current_definition().signature
            taken = signature.take(form, values)
            if taken is None:
                return None
            spec, leaves, static = taken
        else:
            leaves, treedef = _flatten(values)
            whole = None if treedef.is_flat_tuple else treedef
        avals: list[Any] = []
        hosts: list[int] = []
        for i, x in enumerate(leaves):
            if x.__class__ is ArrayImpl:
                avals.append(x.aval)
                continue
            hosts.append(i)
            aval = host_aval(x)
            if aval is None:
                return None
            avals.append(aval)
        if spec.plain and whole is None:  # `CallKey.packed`, 80 ns
            key = settings(), *avals
        else:
            key = spec, whole, static, settings(), *avals
        version = self._current.get(key)
        if version is None or not (version.guard is None or version.guard()):
            version = self._current_definition().versions.find(key)
            if version is None:
                return None
        version.hits += 1
        if self.is_filtered:
            form.arrays_only = not hosts and form.recalled[0] is not None
        else:
            form.remember(values, whole, arrays_only=not hosts)
            self._on_device = not hosts and spec.plain and whole is None
        return version, leaves, hosts

    @filter_traceback
    def _cold(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if settings().disable_jit:
            return self._fun(*args, **kwargs)
        request = self._request(args, kwargs)
        _, leaves, call = request.pending
        check_values(request.name, call, leaves)
        if current_trace() is not None:
            return self._nested(request)
        return answer(request)

    def _request(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Request:
        """Return a call with its definition and its key: steps 1 and 2 of a miss."""
        definition = self._current_definition()
        pending = pending_of(definition.signature, args, kwargs)
        return Request(self._fun, definition, pending)

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

    # ---- inspection ----

    @filter_traceback
    def trace(self, *args: Any, **kwargs: Any) -> Traced:
        """Trace the function for these arguments, which may be abstract."""
        request = self._request(args, kwargs)
        signature = request.definition.signature
        given = CallDetails.of(request.pending, len(args))
        return Traced(trace_for_all(request), signature, self._options, given)

    @filter_traceback
    def lower(self, *args: Any, **kwargs: Any) -> Lowered:
        """Trace and lower the function for these arguments."""
        return lower_with_disk(self._request(args, kwargs), len(args))

    def eval_shape(self, *args: Any, **kwargs: Any) -> Any:
        """Return the shapes and dtypes of the result, without computing it."""
        info = self.trace(*args, **kwargs).out_info
        if self._options.out_shardings is None:
            return info
        leaves, treedef = tree.flatten(info)
        given = self._options.shardings_of_results(treedef)
        return treedef.unflatten(
            [
                x if to is None else x.update(sharding=resolve_sharding("jit", to))
                for x, to in zip(leaves, given, strict=True)
            ]
        )

    def explain(self, *args: Any, **kwargs: Any) -> Explanation:
        """Explain which version answers this call, or why it needs a new one.

        Compiles and traces nothing. `str()` of the result is a sentence or two,
        `.differences` the slots that differ from the nearest version, with remedies.

        Example:
            >>> import imprint
            >>> import imprint.numpy as np
            >>> @imprint.jit
            ... def total(batch):
            ...     return batch["mask"].sum()
            >>> _ = total({"mask": np.ones((2, 8))})
            >>> print(total.explain({"mask": np.ones((2, 9))}).differences[0])
            batch['mask'].shape[1]: 8 → 9
        """
        return explain(self._request(args, kwargs))

    def replay(self, *args: Any, **kwargs: Any) -> "replays.Replay":
        """Return this call equation by equation, with the lines of user code and the values.

        NumPy runs the program of the call on the host when the steps are read. Nothing is
        compiled, and nothing is donated.

        Example:
            >>> import imprint
            >>> import imprint.numpy as np
            >>> @imprint.jit
            ... def entropy(p):
            ...     return -np.sum(p * np.log(p))
            >>> culprit = entropy.replay(np.array([0.5, -0.5])).first_nan()
            >>> print(culprit.source.expression, culprit.inputs[0])
            np.log(p) [ 0.5 -0.5]
        """
        from imprint._src.jit.dispatch import replay  # noqa: PLC0415 - few calls are replayed

        return replay(self._request(args, kwargs), args, kwargs)

    @property
    def last_miss(self) -> Explanation | None:
        """The explanation of the last cache miss."""
        definition = self._current_definition()
        return definition.last_miss or definition.shared.last_miss

    @property
    def versions(self) -> tuple[Version, ...]:
        """The compiled versions."""
        return tuple(self._current_definition().versions)

    def cache_info(self) -> CacheInfo:
        """Return counts: hits, misses, versions, bytes (estimated)."""
        return cache_info(self._current_definition())

    def _cache_size(self) -> int:
        """Return the number of compiled versions."""
        return len(self._current_definition().versions)

    def clear_cache(self) -> None:
        """Forget all versions."""
        self._current_definition().clear()


def _signature(fun: Callable[..., Any], options: JitOptions) -> Signature:
    if options.filtered is not None:
        signature: Signature = FilteredSignature(fun, options.filtered)
    else:
        signature = Signature(fun, options.static, options.donate)
    if options.abstracted_axes is not None:
        options.abstracted_axes.check(signature)
    return signature


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
    from imprint._src.jit.load_from_disk import explain_restart  # noqa: PLC0415 - with the store, 5 ms of an import

    explanation = jitted.explain(*args, **kwargs)
    if settings().disable_jit:
        return explanation
    request = jitted._request(args, kwargs)
    if request.options.abstracted_axes is not None:
        from imprint._src.jit.load_bucket_from_disk import BucketDiskLookup  # noqa: PLC0415 - few functions name axes

        return BucketDiskLookup(request).explain(explanation)
    versions = request.definition.versions
    return explain_restart(explanation, request, versions.find(request.pending.key))


def clear_caches() -> None:
    """Drop the compiled versions of all functions.

    Example:
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


# ---- answering a call ----


def answer(request: Request) -> Any:
    """Return the result of a call outside of all traces."""
    answered, result = False, None
    if request.options.abstracted_axes is not None:
        from imprint._src.jit.bucket_dispatch import answer_in_bucket  # noqa: PLC0415 - few functions name axes

        answered, result = answer_in_bucket(request)
    elif config.generalise == "auto":
        from imprint._src.jit.bucket_dispatch import answer_with_inferred_axes  # noqa: PLC0415 - few enable it

        answered, result = answer_with_inferred_axes(request)
    if answered:
        return result
    audit(request)  # while it is on, no key is found on the warm path
    versions = request.definition.versions
    version = versions.get(request.pending.key, lambda: compile_version(request))
    version.hits += 1
    leaves = request.pending.leaves
    if settings().debug_key_reuse:
        return _run_checked(version, leaves)
    return version.run(leaves)


def _run_checked(version: Version, leaves: list[Any]) -> Any:
    from imprint._src.control_flow import key_reuse  # noqa: PLC0415 - for few programs

    results: list[Any] = []

    def run() -> list[Any]:
        results.append(version.run([*leaves]))
        return version.traced.results.arrays(results[0])

    key_reuse.run_checked(version.traced.closed, leaves, run)
    return results[0]


# ---- replaying ----


@filter_traceback
def replay(request: Request, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Replay:
    """Return the replay of a call with these arguments, whose values are read now."""
    from imprint._src.jit.explain.steps import SteppedProgram  # noqa: PLC0415 - few calls are replayed
    from imprint._src.passes.pipeline import run_passes  # noqa: PLC0415 - a warm start does without

    leaves, call = request.pending.leaves, request.pending.call
    check_values(request.name, call, leaves)
    for x in leaves:
        if isinstance(x, Tracer):
            raise ArgumentError(
                f"{request.name}.replay: expected arguments with values, got a tracer "
                f"{x.aval}. Replay outside of jit, grad and vmap."
            )
    traced = trace_for_all(request)
    values = [host_of(to_array(x)) for x in leaves]
    arguments = list(zip(traced.leaf_names(), values, strict=True))
    program = SteppedProgram(request.name, run_passes(traced.closed), arguments)
    return Replay(program, lambda fun: _replay_of(fun)(*args, **kwargs))


def _replay_of(fun: Callable[..., Any]) -> Callable[..., Replay]:
    """Return the `replay` method of a compiled function."""
    found = getattr(fun, "replay", None)
    if found is None:
        raise ArgumentError(
            f"first_difference: expected a replay or a compiled function, got {fun!r}. "
            "Compile it with imprint.jit."
        )
    return found

"""`jit`, the public decorator, and the type of the functions that it returns.

`calls.options` declares and checks the options. `dispatch` has the returned object. For a
type checker it is a `JittedFunction`, with the parameters and the result of the function.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import (
    Any,
    Concatenate,
    Final,
    ParamSpec,
    Protocol,
    Self,
    TypeVar,
    Unpack,
    overload,
)

from imprint._src.config import config
from imprint._src.core.functions import check_function
from imprint._src.diagnostics.source import current_source
from imprint._src.jit.at_exit import end_threads_at_exit
from imprint._src.jit.calls.options import (
    PLAIN,
    JitKeywords,
    checked_options,
    interned,
    signature_with,
)
from imprint._src.jit.compiled_stages import Compiled, Lowered
from imprint._src.jit.dispatch import Jitted
from imprint._src.jit.explain import replay as replays
from imprint._src.jit.explain.explanation import Explanation
from imprint._src.jit.report import CacheInfo
from imprint._src.jit.stages import Traced
from imprint._src.jit.versions.version import Version

P = ParamSpec("P")
Q = ParamSpec("Q")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


class JittedFunction(Protocol[P, R_co]):
    """A function compiled by `jit` or `filter_jit`, with one version for each call signature."""

    __name__: str
    __qualname__: str

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co:
        """Call the function by its compiled version."""
        ...

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Self: ...
    @overload
    def __get__(
        self: "JittedFunction[Concatenate[Any, Q], R_co]",
        instance: object,
        owner: type | None = None,
    ) -> "JittedFunction[Q, R_co]": ...

    @property
    def __wrapped__(self) -> Callable[P, R_co]: ...

    def trace(self, *args: Any, **kwargs: Any) -> Traced:
        """Trace the function for these arguments, which may be abstract."""
        ...

    def lower(self, *args: Any, **kwargs: Any) -> Lowered:
        """Trace and lower the function for these arguments."""
        ...

    def eval_shape(self, *args: Any, **kwargs: Any) -> Any:
        """Return the shapes and dtypes of the result, without computing it."""
        ...

    def explain(self, *args: P.args, **kwargs: P.kwargs) -> Explanation:
        """Explain which version answers this call, or why it needs a new one."""
        ...

    def replay(self, *args: P.args, **kwargs: P.kwargs) -> "replays.Replay":
        """Return this call equation by equation, with the lines of user code and the values."""
        ...

    @property
    def last_miss(self) -> Explanation | None:
        """The explanation of the last cache miss."""
        ...

    @property
    def versions(self) -> tuple[Version, ...]:
        """The compiled versions."""
        ...

    def cache_info(self) -> CacheInfo:
        """Return counts: hits, misses, versions, bytes (estimated)."""
        ...

    def _cache_size(self) -> int: ...

    def clear_cache(self) -> None:
        """Forget all versions."""
        ...


# ---- types ----


@overload
def jit(
    fun: Callable[P, R], /, **options: Unpack[JitKeywords]
) -> JittedFunction[P, R]: ...
@overload
def jit(
    fun: None = None, /, **options: Unpack[JitKeywords]
) -> Callable[[Callable[P, R]], JittedFunction[P, R]]: ...
def jit(
    fun: Callable[..., Any] | None = None, /, **options: Unpack[JitKeywords]
) -> Any:
    """Compile a function with XLA, one version for each call signature.

    It retraces when a value that its code read by name has changed since the trace: a
    global, a closure variable, an attribute, an item under a constant key, the code of a
    helper. `imprint.guards("off")` compares only the arguments.

    Args:
        fun: a pure function of arrays, numbers and containers of them. Leave it out to
            use `jit(...)` as a decorator with options.
        in_shardings: how arguments are spread over devices: a sharding, a device, a
            `PartitionSpec` over the mesh in force, or a tree of them that is a prefix of
            the arguments' tuple; None follows the arguments, or the compiler.
        out_shardings: likewise for the result.
        static_argnums: positions of arguments that the function takes as Python values;
            each value has its own version.
        static_argnames: their names. If only one of the two is given, it implies the other.
        donate_argnums: positions of arguments whose memory the results may take. The
            arrays passed there cannot be used afterwards.
        donate_argnames: their names. If only one of the two is given, it implies the other.
        keep_unused: whether unused arguments are still passed.
        device: where the function runs, one of `imprint.devices()`.
        backend: the platform to run on, such as "cpu".
        inline: how a nested call is inlined; see `imprint.Inline`. True is JAX_LATE,
            False is AUTO.
        abstracted_axes: names for axes whose length varies: one trace serves all
            lengths. A prefix of the arguments' tuple, in which `{0: "n"}` or
            `("n", None)` names axes of all arrays below it; or a dict by argument,
            `{"batch": {0: "n"}}`. A name has one length in a call.
        compiler_options: options of XLA by name, which override the defaults, and
            "formulations": "plain" keeps to the operations of StableHLO where imprint
            has faster ones for a CPU.
        max_versions: the largest number of versions at a time.
        on_limit: at the limit, "warn" drops the oldest version, "error" raises.
        strict: whether each call compares the contents of all arrays and containers that
            the trace read, and an unused donation is an error. None is the flag `strict`,
            set by the environment variable IMPRINT_STRICT.
        persist: whether its programs may be stored on disk for later processes.
        buckets: the lengths of bucket programs for named axes: "pow2", the powers of two
            and their 1.5-fold from 16 on; a list; a function of the length; or None, a
            program for each length.

    Returns:
        A callable with the signature of `fun`.

    Raises:
        ArgumentError: `fun` is not callable, or an option does not fit it.

    References:
        JAX, `jax.jit`; Frostig, Johnson and Leary, "Compiling machine learning programs
        via high-level tracing", 2018.

    Example:
        >>> import imprint
        >>> @imprint.jit
        ... def double(x):
        ...     return x * 2
        >>> double(3)
        Array(6, dtype=int32, weak_type=True)
    """
    if fun is not None and not options and not config.strict:
        check_function(
            fun, "jit"
        )  # the usual case, 1.3 µs less for a re-created function
        return Jitted(fun, PLAIN, current_source())
    checked = checked_options("jit", options)

    def decorate(fun: Callable[..., Any]) -> Jitted:
        check_function(fun, "jit")
        return Jitted(fun, checked, current_source())

    return decorate if fun is None else decorate(fun)


end_threads_at_exit(
    (Jitted, "__call__"),
    (Jitted, "lower"),
    (Lowered, "compile"),
    (Compiled, "__call__"),
)
vars(jit)["__signature__"] = signature_with(JitKeywords)


_LOOP: Final = interned(replace(PLAIN, strict=True, is_loop=True))


def run_loop(loop: Callable[..., Any], *args: Any) -> Any:
    """Run a loop outside of all traces: compiled, and found by its definition.

    Captured values are compared by contents: the user did not choose to capture them.
    """
    return Jitted(loop, _LOOP)(*args)

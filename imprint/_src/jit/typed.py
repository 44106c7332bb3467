"""What type checkers see of a compiled function: the parameters and the result of its own.

`Jitted` and `BoundJitted` are what it is while the program runs, and take any arguments;
the protocol here says of them, for a function with parameters P and a result R, what can
be called and asked. Nothing here is used but in annotations.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import (
    Any,
    Concatenate,
    Literal,
    ParamSpec,
    Protocol,
    Self,
    TypedDict,
    TypeVar,
    overload,
)

from imprint._src.core.control import Inline
from imprint._src.jit.calls.options import Buckets
from imprint._src.jit.explain import replay as replays
from imprint._src.jit.explain.explanation import Explanation
from imprint._src.jit.report import CacheInfo
from imprint._src.jit.stages import Lowered, Traced
from imprint._src.jit.versions.version import Version

P = ParamSpec("P")
Q = ParamSpec("Q")
R_co = TypeVar("R_co", covariant=True)


class JittedFunction(Protocol[P, R_co]):
    """A function compiled by `jit` or `filter_jit`, with one version for each kind of call."""

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
        """Trace the function for this kind of call; arguments may be abstract."""
        ...

    def lower(self, *args: Any, **kwargs: Any) -> Lowered:
        """Trace and lower the function for this kind of call."""
        ...

    def eval_shape(self, *args: Any, **kwargs: Any) -> Any:
        """Return the shapes and dtypes of the result, without computing it."""
        ...

    def explain(self, *args: P.args, **kwargs: P.kwargs) -> Explanation:
        """Say which version answers this call, or why it needs a new one."""
        ...

    def replay(self, *args: P.args, **kwargs: P.kwargs) -> "replays.Replay":
        """Return this call equation by equation, with the user's lines and the values."""
        ...

    @property
    def last_miss(self) -> Explanation | None:
        """The explanation of the last call that no version answered as it was."""
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


class JitKeywords(TypedDict, total=False):
    """The options of `jit`."""

    in_shardings: Any
    out_shardings: Any
    static_argnums: int | Iterable[int] | None
    static_argnames: str | Iterable[str] | None
    donate_argnums: int | Iterable[int] | None
    donate_argnames: str | Iterable[str] | None
    keep_unused: bool
    device: Any
    backend: str | None
    inline: bool | Inline
    abstracted_axes: Any
    compiler_options: Mapping[str, Any] | None
    max_versions: int | None
    on_limit: Literal["warn", "error"]
    strict: bool | None
    persist: bool
    buckets: Buckets

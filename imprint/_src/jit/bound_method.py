"""`BoundJitted`: a `filter_jit` function that already has its first argument.

Methods and callable models under `filter_jit` are `BoundJitted`. The arrays of the model
are traced like those of any argument. It has the methods of a compiled function, which
take the arguments after the model. It is a pytree node, so it can itself be an argument;
in the body of a class it binds once more.
"""

from collections.abc import Callable
from types import MethodType
from typing import Any, Final, final

from imprint._src.jit.calls.filtering import is_traced
from imprint._src.jit.compiled_stages import Lowered
from imprint._src.jit.explain import replay as replays
from imprint._src.jit.explain.explanation import Explanation
from imprint._src.jit.stages import Traced
from imprint._src.tree import internal as tree

_OWN: Final = frozenset({"__func__", "__self__", "__deepcopy__"})


@final
class BoundJitted:
    """A compiled function and its first argument."""

    __slots__ = ("__func__", "__self__", "__weakref__")

    def __init__(self, jitted: Any, first: Any) -> None:
        self.__func__: Any = jitted
        self.__self__: Any = first

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function by its compiled version."""
        return self.__func__(self.__self__, *args, **kwargs)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else BoundJitted(self, instance)

    @property
    def __wrapped__(self) -> Callable[..., Any]:
        return MethodType(self.__func__, self.__self__)

    def __getattr__(self, name: str) -> Any:
        if name in _OWN:  # while a copy or a pickle is made
            raise AttributeError(name)
        return getattr(self.__func__, name)

    def __repr__(self) -> str:
        return f"<bound {self.__func__!r} of {self.__self__!r}>"

    def __eq__(self, other: object) -> bool:
        if type(other) is not BoundJitted:
            return NotImplemented
        return self.__func__ is other.__func__ and self.__self__ is other.__self__

    def __hash__(self) -> int:
        return hash((id(self.__func__), id(self.__self__)))

    def __imprint_token__(self) -> Any:
        """Return the token of this function in a function that captures it."""
        return self.__func__, self.__self__

    def __reduce__(self) -> tuple[Any, ...]:
        return BoundJitted, (self.__func__, self.__self__)

    def trace(self, *args: Any, **kwargs: Any) -> Traced:
        """Trace the function for these arguments, which may be abstract."""
        return self.__func__.trace(self.__self__, *args, **kwargs)

    def lower(self, *args: Any, **kwargs: Any) -> Lowered:
        """Trace and lower the function for these arguments."""
        return self.__func__.lower(self.__self__, *args, **kwargs)

    def eval_shape(self, *args: Any, **kwargs: Any) -> Any:
        """Return the shapes and dtypes of the result, without computing it."""
        return self.__func__.eval_shape(self.__self__, *args, **kwargs)

    def explain(self, *args: Any, **kwargs: Any) -> Explanation:
        """Explain which version answers this call, or why it needs a new one."""
        return self.__func__.explain(self.__self__, *args, **kwargs)

    def replay(self, *args: Any, **kwargs: Any) -> "replays.Replay":
        """Return this call equation by equation, with the lines of user code and the values."""
        return self.__func__.replay(self.__self__, *args, **kwargs)


tree.register_pytree_with_keys(
    BoundJitted,
    lambda bound: ([(tree.GetAttrKey("__self__"), bound.__self__)], bound.__func__),
    lambda func, children: BoundJitted(func, *children),
)


def unbind(fun: Callable[..., Any]) -> tuple[Callable[..., Any], Any] | None:
    """Return a callable as a function and the pytree that is its first argument.

    None if it is no method of a pytree, and holds no arrays itself: a gradient of a
    function, say, which then has its own name, parameters and versions.
    """
    owner = getattr(fun, "__self__", None)
    inner: Callable[..., Any] | None = getattr(fun, "__func__", None)
    if inner is not None and owner is not None and not tree.structure(owner).is_leaf:
        return inner, owner
    if any(map(is_traced, tree.leaves(fun))):
        return type(fun).__call__, fun
    return None

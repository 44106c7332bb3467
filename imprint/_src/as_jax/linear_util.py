"""Flat functions: `jax.extend.linear_util`, `jax.api_util`, and partial evaluation.

A `WrappedFun` is a function of flat arguments; `flatten_fun` makes one of a function of
trees, and a thunk that has the tree of its results after a call.
"""

from collections.abc import Callable, Sequence
from itertools import compress
from typing import Any, Final, NamedTuple, NoReturn, Self

from imprint._src.core.aval import ShapedArray
from imprint._src.core.jaxpr import ClosedJaxpr, Jaxpr, eval_jaxpr
from imprint._src.core.shape_struct import ShapeDtypeStruct
from imprint._src.interpreters.dce import dce_jaxpr, depending
from imprint._src.interpreters.trace_to_jaxpr import DebugInfo, stage
from imprint._src.tree import internal as tree


class WrappedFun:
    """A function, with flat arguments once it is flattened."""

    def __init__(self, fun: Callable[..., Any]) -> None:
        self.f: Callable[..., Any] = fun

    def call_wrapped(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function."""
        return self.f(*args, **kwargs)


class PartialVal(tuple[Any, Any]):
    """A value that is known, `(None, value)`, or of which the aval is, `(aval, None)`."""

    __slots__ = ()

    @classmethod
    def known(cls, value: Any) -> Self:
        """Return a known value."""
        return cls((None, value))

    @classmethod
    def unknown(cls, aval: ShapedArray) -> Self:
        """Return an unknown value of this aval."""
        return cls((aval, None))

    def is_known(self) -> bool:
        """Return whether the value is known."""
        return self[0] is None


class Described(NamedTuple):
    """The function of a `WrappedFun`, for messages."""

    transform: str
    fun: Any


def safe_map(fun: Callable[..., Any], *sequences: Sequence[Any]) -> list[Any]:
    """Return the results of a function along sequences of one length."""
    return [fun(*each) for each in zip(*sequences, strict=True)]


def debug_info(transform: str, fun: Any, *_: Any, **__: Any) -> Described:
    """Return a description of a function for messages."""
    return Described(transform, fun)


def wrap_init(
    fun: Callable[..., Any], params: dict[str, Any] | None = None, **_: Any
) -> WrappedFun:
    """Return the function as a `WrappedFun`."""
    if not params:
        return WrappedFun(fun)
    return WrappedFun(lambda *args, **kwargs: fun(*args, **params, **kwargs))


def transformation(rule: Any) -> Callable[..., NoReturn]:
    """Return a function that raises: imprint's traces are not JAX's.

    Raises:
      NotImplementedError: When a library interprets a program with it.
    """

    def interpreted(*_: Any, **__: Any) -> NoReturn:
        raise NotImplementedError(
            f"expected a program without interpreters of a library's own, got "
            f"{getattr(rule, '__name__', 'one')}: imprint's traces are not JAX's. "
            "Interpret the equations of jax.make_jaxpr instead."
        )

    return interpreted


take_current_trace: Final = transformation(None)
set_current_trace: Final = take_current_trace


def flatten_fun(
    wrapped: WrappedFun, in_tree: Any
) -> tuple[WrappedFun, Callable[[], Any]]:
    """Return a function of the leaves of `(args, kwargs)`, and the tree of its results."""

    def call(leaves: Sequence[Any]) -> Any:
        args, kwargs = tree.unflatten(in_tree, leaves)
        return wrapped.call_wrapped(*args, **kwargs)

    return _flat(call)


def flatten_fun_nokwargs(
    wrapped: WrappedFun, in_tree: Any
) -> tuple[WrappedFun, Callable[[], Any]]:
    """Return a function of the leaves of `args`, and the tree of its results."""
    return _flat(lambda leaves: wrapped.call_wrapped(*tree.unflatten(in_tree, leaves)))


def _flat(
    call: Callable[[Sequence[Any]], Any],
) -> tuple[WrappedFun, Callable[[], Any]]:
    found: list[Any] = []

    def flat(*leaves: Any) -> list[Any]:
        outs, structure = tree.flatten(call(leaves))
        found[:] = [structure]
        return outs

    return WrappedFun(flat), lambda: found[0]


def trace_to_jaxpr_dynamic(
    wrapped: WrappedFun, in_avals: Sequence[ShapedArray], *_: Any, **__: Any
) -> tuple[Jaxpr, list[ShapedArray], list[Any]]:
    """Trace a flat function; return the jaxpr, the avals of its results, and constants."""
    closed = _staged(wrapped, in_avals)
    return closed.jaxpr, list(closed.out_avals), list(closed.consts)


def trace_to_jaxpr_nounits(
    wrapped: WrappedFun, pvals: Sequence[PartialVal], instantiate: bool = False
) -> tuple[Jaxpr, list[PartialVal], list[Any]]:
    """Trace a flat function of which some arguments are known.

    Returns:
      The jaxpr of the unknown results, a partial value for each result, and the constants.
      Results that depend on known arguments alone are known.
    """

    def fun(*unknown: Any) -> Any:
        rest = iter(unknown)
        return wrapped.call_wrapped(*(next(rest) if pv else v for pv, v in pvals))

    closed = _staged(WrappedFun(fun), [pv for pv, _ in pvals if pv is not None])
    jaxpr = closed.jaxpr
    unknown = set(jaxpr.invars)
    for eqn in jaxpr.eqns:
        marked = [v in unknown for v in eqn.invars]
        found = depending(eqn.primitive, eqn.params, marked, len(eqn.outvars))
        unknown.update(compress(eqn.outvars, found))
    is_known = [not instantiate and v not in unknown for v in jaxpr.outvars]
    values = iter(_values(closed, is_known))
    outs = [
        PartialVal.known(next(values)) if known else PartialVal.unknown(var.aval)
        for known, var in zip(is_known, jaxpr.outvars, strict=True)
    ]
    rest = dce_jaxpr(jaxpr, [not known for known in is_known])
    return rest, outs, list(closed.consts)


def _values(closed: ClosedJaxpr, used: Sequence[bool]) -> list[Any]:
    """Return the results that depend on no argument."""
    if not any(used):
        return []
    kept = dce_jaxpr(closed.jaxpr, used)
    return eval_jaxpr(kept, closed.consts, *[None] * len(kept.invars))


def _staged(wrapped: WrappedFun, avals: Sequence[ShapedArray]) -> ClosedJaxpr:
    """Trace a flat function; an argument of keys is that of their words."""
    structs, structure = tree.flatten([*map(ShapeDtypeStruct.of, avals)])

    def flat(*words: Any) -> Any:
        return wrapped.call_wrapped(*tree.unflatten(structure, words))

    return stage(flat, [x.aval for x in structs], DebugInfo("jax", "a flat function"))

"""`checkpoint`: a function that saves its arguments and recomputes the rest.

The residuals of a backward pass take memory that grows with the depth of a program;
recomputing them takes time instead.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar, cast, final

from imprint._src.control_flow.checkpoint import checkpoint_call
from imprint._src.core.aval import get_aval
from imprint._src.core.functions import (
    check_function,
    copy_leaf,
    name_of,
    result_leaves,
    wraps,
)
from imprint._src.core.jaxpr import Eqn
from imprint._src.core.trace import current_trace
from imprint._src.diagnostics.traceback_filter import filter_traceback
from imprint._src.errors import ArgumentError
from imprint._src.interpreters.trace_to_jaxpr import DebugInfo, stage
from imprint._src.jit.guards.recording import expect, run_rule
from imprint._src.tree import internal as tree

P = ParamSpec("P")
R = TypeVar("R")


def checkpoint(
    fun: Callable[P, R],
    *,
    prevent_cse: bool | Sequence[Any] = True,
    policy: Callable[..., Any] | None = None,
    static_argnums: int | tuple[int, ...] = (),
    static_argnames: str | Iterable[str] = (),
    concrete: bool | None = None,
) -> Callable[P, R]:
    """Return the same function, which saves little for its backward pass.

    Its arguments are saved, and values that the policy selects; all else is recomputed in
    the backward pass.

    Args:
        fun: a function of arrays.
        prevent_cse: whether to keep the compiler from merging the recomputation with the
            original, which would undo this; or a prefix of the arguments' tuple with a
            bool for each. False is for the body of a scan, where nothing can be merged.
        policy: which values may be saved; see `imprint.checkpoint_policies`.
        static_argnums: positions of arguments that stay Python values.
        static_argnames: names of keyword arguments that do.
        concrete: refused, as by JAX: use `static_argnums`.

    Returns:
        A function with the arguments and results of `fun`.

    Raises:
        ArgumentError: `fun` is not a function, `static_argnums` names no argument of
            the call, or `prevent_cse` is no bool or tuple.
        NotImplementedError: `concrete` is given.

    References:
        Griewank and Walther, "Algorithm 799: Revolve", 2000; JAX, `jax.checkpoint`.

    Example:
        >>> import imprint
        >>> import imprint.numpy as np
        >>> @imprint.checkpoint
        ... def layer(x):
        ...     return np.sin(np.sin(x))
        >>> imprint.grad(layer)(0.0)
        Array(1., dtype=float32, weak_type=True)
    """
    check_function(fun, "checkpoint")
    name = name_of(fun)
    if concrete is not None:
        raise NotImplementedError(
            f"checkpoint({name}): expected no `concrete`, got {concrete}. Name arguments "
            "that stay Python values in static_argnums, and use "
            "imprint.ensure_compile_time_eval for values that are known."
        )
    named = (static_argnames,) if isinstance(static_argnames, str) else static_argnames
    names = frozenset(named)
    asking = None if policy is None else _Asking(policy)

    @wraps(fun)
    @filter_traceback
    def checkpointed(*args: Any, **kwargs: Any) -> Any:
        if current_trace() is None:
            return fun(*args, **kwargs)
        if policy is not None:
            expect((policy,))
        static = _positions(static_argnums, len(args), name)
        fixed = {k: value for k, value in kwargs.items() if k in names}
        given = tuple(x for i, x in enumerate(args) if i not in static)
        rest = {k: value for k, value in kwargs.items() if k not in names}
        leaves, treedef = tree.flatten((given, rest))
        owned = [
            copy_leaf(x, "checkpoint", f"argument {i}") for i, x in enumerate(leaves)
        ]
        found: list[tree.TreeDef] = []

        def flat(*xs: Any) -> list[Any]:
            positional, keywords = treedef.unflatten(xs)
            others = iter(positional)
            every = [x if i in static else next(others) for i, x in enumerate(args)]
            result = fun(*every, **keywords, **fixed)  # pyright: ignore[reportCallIssue] - those of a call
            outs, out_tree = result_leaves(result, name)
            found.append(out_tree)
            return outs

        closed = stage(
            flat, [get_aval(x) for x in owned], DebugInfo("checkpoint", name)
        )
        barred = _by_leaf(prevent_cse, given, rest)
        outs = checkpoint_call(closed, owned, asking, barred)
        return found[0].unflatten(outs)

    return checkpointed


remat = checkpoint
"""Another name of `checkpoint`."""


@final
@dataclass(frozen=True)
class _Asking:
    """Calls a user policy, which is recorded as a dependency."""

    policy: Callable[..., Any]

    def __call__(self, eqns: Sequence[Eqn]) -> list[bool]:
        def run() -> list[bool]:
            return [
                bool(self.policy(e.primitive, *(v.aval for v in e.invars), **e.params))
                for e in eqns
            ]

        return run_rule(run, (self.policy,))

    def __repr__(self) -> str:
        return repr(self.policy)


def _positions(argnums: Any, count: int, name: str) -> frozenset[int]:
    several = cast("tuple[Any, ...]", argnums if type(argnums) is tuple else (argnums,))
    for i in several:
        if not isinstance(i, int) or not -count <= i < count:
            raise ArgumentError(
                f"checkpoint({name}): expected static_argnums in [{-count}, {count}), as "
                f"the call has {count} positional arguments, got {i!r}. Name arguments by "
                "keyword in static_argnames."
            )
    return frozenset(i % count for i in several)


def _by_leaf(
    prevent_cse: bool | Sequence[Any],  # noqa: FBT001 - JAX's signature
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> bool | tuple[bool, ...]:
    """Return the value of a prefix of the arguments for each leaf."""
    if isinstance(prevent_cse, bool):
        return prevent_cse
    if not isinstance(prevent_cse, tuple | list):
        raise ArgumentError(
            "checkpoint: expected a bool as prevent_cse, or a tuple of them with one for "
            f"each argument, got {prevent_cse!r}. Leave it out to be safe."
        )
    by_position = tree.broadcast_prefix(tuple(prevent_cse), args)
    return (*map(bool, by_position), *[True] * len(tree.leaves(kwargs)))

"""Tracing one kind of call of a user's function to a jaxpr.

The dynamic arguments are flattened to leaves, replaced by tracers and put back among
the static ones; the result is flattened and its leaves checked.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any, final, overload

from imprint import tree
from imprint.core.aval import ShapedArray
from imprint.core.jaxpr import ClosedJaxpr
from imprint.core.source import current_source
from imprint.jit.leaves import check_results
from imprint.jit.signature import Signature, Split
from imprint.transforms.staging import Staged, stage


@final
class TracedCall:
    """A function traced for one kind of call."""

    __slots__ = ("closed", "out_tree", "seconds")

    def __init__(
        self, closed: ClosedJaxpr, out_tree: tree.TreeDef, seconds: float
    ) -> None:
        self.closed = closed
        self.out_tree = out_tree
        self.seconds = seconds


def arguments_tree(split: Split) -> tree.TreeDef:
    """Return the structure of a call's dynamic arguments."""
    return tree.structure((split.args, split.kwargs))


def trace_call(
    fun: Callable[..., Any],
    signature: Signature,
    split: Split,
    avals: list[ShapedArray],
    transform: str = "jit",
) -> TracedCall:
    """Trace `fun` for one kind of call.

    Args:
        fun: the user's function.
        signature: its parameters.
        split: the call, whose static arguments are taken as they are.
        avals: the avals of the leaves of its dynamic arguments.
        transform: what traces, for messages.
    """
    start = time.perf_counter()
    treedef = arguments_tree(split)
    names = _Names(signature, split)
    staged = Staged(transform, signature.function_name, names, current_source())
    found: list[tree.TreeDef] = []

    def flat(*tracers: Any) -> list[Any]:
        args, kwargs = treedef.unflatten(tracers)
        args, kwargs = signature.join(args, kwargs, split)
        outs, out_tree = tree.flatten(fun(*args, **kwargs))
        check_results(signature, outs, out_tree)
        found.append(out_tree)
        return outs

    closed = stage(flat, avals, staged)
    return TracedCall(closed, found[0], time.perf_counter() - start)


@final
class _Names(Sequence[str]):
    """The names of a call's leaves, worked out when a message needs them."""

    def __init__(self, signature: Signature, split: Split) -> None:
        self._make = lambda: signature.leaf_names(split)

    def __len__(self) -> int:
        return len(self._make())

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...
    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        return self._make()[index]

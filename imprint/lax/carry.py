"""The carry of a loop: what a step takes it has to give back, in the same types.

A step is staged at the types of what the loop begins with. Where that is a Python number
or otherwise weak, and the step gives another dtype, the loop begins with the promoted
dtype and the step is staged again, as in JAX. Any other change of type is an error that
shows the carry as it goes in and as it comes out, and what mends it.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from imprint import dtypes, tree
from imprint.control.closing import own_leaves
from imprint.core import dims
from imprint.core.aval import ShapedArray, get_aval
from imprint.errors import DTypeError, ShapeError, TreeError
from imprint.primitives.convert import convert_element_type


class Carry(NamedTuple):
    """What goes from step to step: its leaves, their tree and their names."""

    leaves: list[Any]
    tree: tree.TreeDef
    names: list[str]

    @property
    def avals(self) -> list[ShapedArray]:
        """The avals of the leaves."""
        return [get_aval(x).unplaced() for x in self.leaves]


def carry_of(value: Any, caller: str, name: str) -> Carry:
    """Return what a loop begins with as a carry.

    Args:
        value: a pytree of arrays and numbers.
        caller: the function of loops, for messages.
        name: the name of its argument, likewise.
    """
    return Carry(*own_leaves(value, caller, name))


class Staged(NamedTuple):
    """A step that was staged.

    Args:
        closed: what staging gave.
        tree: the tree of the carry that it returns.
        avals: the avals of its leaves.
    """

    closed: Any
    tree: tree.TreeDef
    avals: Sequence[ShapedArray]


def settle(
    caller: str, body: str, carry: Carry, stage: Callable[[Carry], Staged]
) -> tuple[Staged, Carry]:
    """Stage a step until it gives the types that it takes, or raise.

    Args:
        caller: the function of loops, for messages.
        body: the name of the step, likewise.
        carry: what the loop begins with.
        stage: stages the step at the types of a carry.
    """
    while True:
        staged = stage(carry)
        if staged.tree != carry.tree:
            raise _other_tree(caller, body, carry, staged)
        promoted = [
            _promoted(x, into, out)
            for x, into, out in zip(
                carry.leaves, carry.avals, staged.avals, strict=True
            )
        ]
        if all(x is y for x, y in zip(promoted, carry.leaves, strict=True)):
            break
        carry = carry._replace(leaves=promoted)
    for name, into, out in zip(carry.names, carry.avals, staged.avals, strict=True):
        if out.strong() is not into.strong():
            raise _other_type(caller, body, (carry, staged), (name, into, out))
    return staged, carry


def _promoted(x: Any, into: ShapedArray, out: ShapedArray) -> Any:
    if not into.weak_type or into.dtype == out.dtype:
        return x
    weak = dtypes.promote(((into.dtype, True), (out.dtype, out.weak_type)))
    return convert_element_type(x, weak[0])


def _other_tree(caller: str, body: str, carry: Carry, staged: Staged) -> TreeError:
    where = ""
    try:
        tree.check_structure(carry.tree, staged.tree, caller)
    except TreeError as err:
        where = str(err).removeprefix(f"{caller}: ").partition(". ")[0]
    return TreeError(
        f"{caller}: expected {body} to return a carry of the structure that it takes: "
        f"{where}.\n{_both(carry, staged)}\n"
        "  Return what it takes, in the same containers."
    )


def _other_type(
    caller: str,
    body: str,
    trees: tuple[Carry, Staged],
    leaf: tuple[str, ShapedArray, ShapedArray],
) -> Exception:
    name, into, out = leaf
    if dims.is_same_shape(into.shape, out.shape):
        kind: type[Exception] = DTypeError
        remedy = (
            f"Return it cast, `.astype({str(into.dtype)!r})`, or begin with "
            f"{name} as {out.dtype}."
        )
    else:
        kind = ShapeError
        remedy = (
            f"Return it in the shape of {name}, or begin with an array of the shape "
            "that comes out."
        )
    return kind(
        f"{caller}: expected {body} to return a carry of the types that it takes, got "
        f"{out.strong()} for {name}, which is {into.strong()}.\n{_both(*trees)}\n"
        f"  {remedy}"
    )


def _both(carry: Carry, staged: Staged) -> str:
    into = carry.tree.unflatten(list(map(_Type, carry.avals)))
    out = staged.tree.unflatten(list(map(_Type, staged.avals)))
    return f"  It takes   {into!r}\n  It returns {out!r}"


class _Type:
    """Prints as the type of an array, in the place of a leaf."""

    def __init__(self, aval: ShapedArray) -> None:
        self.text = aval.short()

    def __repr__(self) -> str:
        return self.text

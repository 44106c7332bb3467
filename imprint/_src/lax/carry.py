"""The carry of a loop: a step must return the types that it takes.

A step is traced with the types of the initial carry. If a leaf is weak, such as a
Python number, and the step returns another dtype, the loop starts with the promoted
dtype and the step is traced again, as in JAX; likewise if the step returns a value that
varies over the devices of a mesh. Any other change of type is an error that shows both
carries and how to fix it.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from imprint._src import dtypes
from imprint._src.control_flow.trace_body import Returned, own_leaves
from imprint._src.core import dims
from imprint._src.core.aval import ShapedArray, get_aval
from imprint._src.errors import DTypeError, ShapeError, TreeError
from imprint._src.primitives.collectives import pvary
from imprint._src.primitives.elementwise.convert import convert_element_type
from imprint._src.tree import internal as tree
from imprint._src.tree.prefix import first_difference


class Carry(NamedTuple):
    """The carry of a loop: its leaves, their tree and their names.

    Args:
        leaves: its leaves.
        tree: their tree.
        names: the names of the leaves in messages.
        own: the number of leading leaves that are internal: messages omit them.
    """

    leaves: list[Any]
    tree: tree.TreeDef
    names: list[str]
    own: int = 0

    @property
    def avals(self) -> list[ShapedArray]:
        """The avals of the leaves."""
        return [get_aval(x).unplaced() for x in self.leaves]


def carry_of(value: Any, caller: str, name: str, own: Sequence[str] = ()) -> Carry:
    """Return an initial value as a carry.

    Args:
        value: a pytree of arrays and numbers.
        caller: the public function, for messages.
        name: the name of its argument, for messages.
        own: names of internal numbers, such as a counter: `value` is a tuple of these
            and of the argument.
    """
    if not own:
        return Carry(*own_leaves(value, caller, name))
    *numbers, argument = value
    owned, first, _ = own_leaves(tuple(numbers), caller, name)
    leaves, treedef, names = own_leaves(argument, caller, name)
    whole = tree.treedef_tuple((*tree.treedef_children(first), treedef))
    return Carry([*owned, *leaves], whole, [*own, *names], len(own))


class StagedStep(NamedTuple):
    """A traced step.

    Args:
        closed: the result of tracing.
        tree: the tree of the carry that it returns.
        avals: the avals of its leaves.
    """

    closed: Any
    tree: tree.TreeDef
    avals: Sequence[ShapedArray]


def settle(
    caller: str, body: str, carry: Carry, stage: Callable[[Carry], StagedStep]
) -> tuple[StagedStep, Carry]:
    """Trace a step until its types agree with its carry, or raise.

    Args:
        caller: the public function, for messages.
        body: the name of the step, for messages.
        carry: the initial carry.
        stage: traces the step with the types of a carry.
    """
    while True:
        staged = stage(carry)
        if not staged.tree.agrees(carry.tree):
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
        if out.varying(into.vma).strong() is not into.strong():
            raise _other_type(caller, body, (carry, staged), (name, into, out))
    return staged, carry


def _promoted(x: Any, into: ShapedArray, out: ShapedArray) -> Any:
    if not out.vma <= into.vma:  # inside `shard_map`
        x = pvary(x, out.vma)
    if not into.weak_type or into.dtype == out.dtype:
        return x
    weak = dtypes.promote(((into.dtype, True), (out.dtype, out.weak_type)))
    return convert_element_type(x, weak[0])


def _other_tree(caller: str, body: str, carry: Carry, staged: StagedStep) -> TreeError:
    into, out = _both(carry, staged)
    where, expected, got = first_difference(into.treedef, out.treedef) or ("", "", "")
    at = f" at result{where}" if where else ""
    return TreeError(
        f"{caller}: expected {body} to return a carry of the structure that it takes, got "
        f"{got} in the place of {expected}{at}.\n{_shown(into, out)}\n"
        "  Return what it takes, in the same containers."
    )


def _other_type(
    caller: str,
    body: str,
    trees: tuple[Carry, StagedStep],
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
        f"{out.strong()} for {name}, which is {into.strong()}.\n"
        f"{_shown(*_both(*trees))}\n  {remedy}"
    )


def _both(carry: Carry, staged: StagedStep) -> tuple[Returned, Returned]:
    """Return the types that the step takes, and those that it returns."""
    into, out = Returned(carry.tree, carry.avals), Returned(staged.tree, staged.avals)
    if carry.own:
        into, out = (
            Returned(tree.treedef_children(x.treedef)[-1], x.avals[carry.own :])
            for x in (into, out)
        )
    return into, out


def _shown(into: Returned, out: Returned) -> str:
    return f"  It takes   {into}\n  It returns {out}"

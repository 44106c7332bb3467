"""Rolling costs: is a loop slower than its blocks one after the other?

A turn of a loop costs 30 to 100 ns more than a block, and what it stacks a copy. Against
that, a block by itself is a small kernel, where long straight-line code falls apart into
many or into one that is too large. So a loop is taken where blocks are several kernels
anyway, or where one kernel of all blocks would compute dear things badly or often, and
left where the engine would fuse cheap blocks into one kernel that goes over memory once.
`python -m benchmarks.passes` times what is taken, beside the same without loops.
"""

from collections.abc import Container, Iterator, Sequence
from typing import Any, Final

from imprint._src.core import dims
from imprint._src.core.jaxpr import Eqn, Jaxpr, Literal, subjaxprs
from imprint._src.passes.blocks import FEWEST
from imprint._src.passes.fusion import Kind, avals_of, kind_of, kinds_in, kinds_of
from imprint._src.passes.fusion_model import Walk
from imprint._src.passes.loop_carries import Loop

# ---- the figures ----
#
# The time of a loop over that of its 20 to 60 blocks, on 4 cores of a Xeon with AVX-512,
# jaxlib 0.10.2.

_LARGE: Final = 20_000
"""Elements of a value: of 100,000, a sum takes 1.2, cumsum 2.1; of 10,000, 1.0 and 0.7."""
_ROWS: Final = 2_000
"""Elements that a block stacks and walks over: the gradient of softmax takes 0.33 with
1,300, that of normalisation 0.5 with 1,000, that of a sum 0.85 with 800, 1.23 with 3,000."""
_ROWS_OF_PRODUCTS: Final = 512
"""The same where all but products of a matrix is one kernel: recurrent networks."""
_WALKED: Final = 64
"""Elements of an array that has to be copied to be walked over."""
_ENDS: Final = 2
"""Arrays beside rows of a stack that are no copy: a gradient has them at its ends."""
_JOINED: Final = range(5, 257)
"""Elements, where only joining or writing parts is a kernel by itself: x[i-1] + x[i+1] of
256 takes 0.7, of 1,000 1.07, of 5,000 1.13; a part of 4 that is written 1.04."""
_CALLS: Final = 500
"""Elements, where a block is one kernel with functions: sin takes 0.9 with 32, 0.4 with
1,000; gelu 1.06 with 256, 0.74 with 1,000."""
_AGAIN: Final = 1.5
"""Work that each further block adds to one kernel, over that of a block by itself: the
midpoint rule for a pendulum has 2.0 and takes 0.6; Runge and Kutta's has 1.2 and 1.08."""
_SMALL: Final = 256
"""Elements below which arrays are no numbers, and nothing is gained: the midpoint rule takes
1.0 to 1.1 of 32, with tanh and exp, too."""
_CHEAP: Final = ((500, 24), (2_001, 12), (5_001, 24))
"""Elements below which arithmetic needs so many operations in a block that hands on several
values. Lorenz' equations, 14, take 0.89 with 256, 0.82 with 1,000, 1.21 with 5,000; an
oscillator's, 8 and 16, 1.05 and 1.09 with 256; the midpoint rule for Lorenz' equations, 28,
0.93, 0.71 and 0.72."""
_NONE: Final = 10**9
"""More operations than a block has."""
_OF_NUMBERS: Final = 24
"""The same for numbers: the midpoint rule for Lorenz' equations takes 0.6 to 0.75, its
gradient 0.5 to 0.98; the rule for an oscillator, 16, 1.04, and Euler's for Lorenz'
equations 1.04, its gradient 0.9 to 1.14."""
_FEW: Final = 64
"""Elements of a value of which many blocks run faster as a loop in any case."""
_MANY: Final = 5_000
"""Equations that such a loop saves: Lorenz' equations, 200 steps of 14, take 1.04, 400 take
0.6 to 0.7."""
_MORE: Final = 2
"""Kernels that two blocks more have: where work multiplies, as in steps of the midpoint
rule with tanh and exp, which take 0.25 of 256, 0.3 of 1,000."""


def is_too_large(eqns: Sequence[Eqn]) -> bool:
    """Tell whether a value is so large that the engine computes it on several cores."""
    sizes = [v.aval.size for eqn in eqns for v in eqn.outvars]
    return any(map(dims.is_symbolic, sizes)) or max(sizes, default=0) > _LARGE


def may_gain(eqns: Sequence[Eqn]) -> bool:
    """Tell whether equal blocks among equations may be a loop: a first test, and cheap."""
    if any(kind is None or kind.blocks for kind in kinds_in(eqns)):
        return not _is_by_products(eqns, kinds_of(eqns))
    sizes = {aval.size for aval in avals_of(eqns)}
    if any(map(dims.is_symbolic, sizes)):
        return False
    size = max(sizes)
    if 1 < size < _SMALL:
        return size <= _FEW and len(eqns) > _MANY
    fewest = min([few for _, few in _CHEAP]) * FEWEST
    return len(eqns) >= fewest or any(map(_is_call, eqns))


def _is_by_products(eqns: Sequence[Eqn], kinds: Sequence[Kind | None]) -> bool:
    """Tell whether any blocks hold products of matrices, and nothing else that is apart."""
    since = 0
    for eqn, kind in zip(eqns, kinds, strict=True):
        since += 1
        if kind is None or kind.blocks:
            if eqn.primitive.name != "dot_general" or eqn.outvars[0].aval.ndim < 2:
                return False
            if not _is_apart(eqn):
                return False
            since = 0
        elif since >= FEWEST:  # blocks without a product
            return False
    return True


def is_slower(loop: Loop, rows: Container[Any]) -> bool:
    """Tell whether a loop would be slower than its blocks.

    Args:
        loop: the loop.
        rows: variables that are rows of what other loops stack.
    """
    block = [*_dissolved(loop.eqns[: loop.run.length])]
    copied = [
        each[0].aval.size
        for each in loop.walked
        if sum(not isinstance(v, Literal) and v not in rows for v in each) > _ENDS
    ]
    if is_too_large(block) or max(copied, default=0) > _WALKED:
        return True
    rows_of = sum([loop.variables(slot)[0].aval.size for slot in loop.stacked])
    rows_of += sum([each[0].aval.size for each in loop.walked])
    apart = {eqn.primitive.name for eqn in block if _is_apart(eqn)}
    size = max([v.aval.size for eqn in block for v in eqn.outvars], default=0)
    if not apart:
        return bool(copied) or _is_better_fused(
            block, loop, size, is_moving=rows_of >= max(size, 1)
        )
    if apart == {"dot_general"}:
        return rows_of > _ROWS_OF_PRODUCTS or not _is_by_vectors(block)
    return rows_of > _ROWS or (apart <= _JOINING and size not in _JOINED)


def _is_by_vectors(block: Sequence[Eqn]) -> bool:
    """Tell whether products are of a matrix and a vector, beside other operations.

    The engine writes code for each of them, long to compile; others it calls.
    """
    return len(block) > 1 and all(
        eqn.outvars[0].aval.ndim < 2
        for eqn in block
        if eqn.primitive.name == "dot_general"
    )


def _is_better_fused(
    block: Sequence[Eqn], loop: Loop, size: int, *, is_moving: bool
) -> bool:
    """Tell whether the engine has few kernels for all blocks, and gains by that.

    Args:
        block: the equations of a block, none of which is a kernel whatever is around it.
        loop: the loop.
        size: the elements of the largest value.
        is_moving: whether a turn stacks or walks over as much as one.
    """
    is_several = len(loop.carry) > 1
    if is_several and size <= 1:
        return len(block) < _OF_NUMBERS and loop.run.saved < _MANY
    if is_moving and size > 1:
        return True
    if size <= _FEW and loop.run.saved >= _MANY:
        return False
    calls = any(map(_is_call, block))
    if not is_several:
        return not calls or size < _CALLS
    if size < _SMALL:
        return True
    if calls:
        return not (_is_growing(loop) or _is_computed_again(loop))
    return len(block) < next((few for below, few in _CHEAP if size < below), _NONE)


def _is_growing(loop: Loop) -> bool:
    """Tell whether each block adds kernels that compute the blocks before."""
    few, more = (
        frozenset[int]().union(*_walk(loop, n).kernels.values()) for n in (2, 4)
    )
    return len(more) - len(few) >= _MORE


def _is_computed_again(loop: Loop) -> bool:
    """Tell whether kernels of all blocks do more for each than those of one would."""
    one, few, more = (_work(loop, n) for n in (1, 4, 8))
    return (more - few) / 4 >= _AGAIN * one


def _is_apart(eqn: Eqn) -> bool:
    """Tell whether an equation is a kernel, or several, whatever is around it."""
    kind = kind_of(eqn)
    if kind is not None and not kind.blocks:
        return False
    sizes = [v.aval.size for v in eqn.invars]
    is_of_numbers = not any(map(dims.is_symbolic, sizes)) and max(sizes, default=0) <= 1
    return not is_of_numbers or bool(subjaxprs(eqn))


def _is_call(eqn: Eqn) -> bool:
    """Tell whether an element takes longer to compute than to fetch."""
    kind, name = kind_of(eqn), eqn.primitive.name
    is_dear = kind is not None and (kind.dear or kind.work > 1) and not kind.blocks
    return is_dear and name not in _AS_ARITHMETIC


def _work(loop: Loop, blocks: int) -> float:
    """Return the additions that the kernels of some blocks make of each element."""
    counts = _walk(loop, blocks).kernels
    return sum(
        [
            len(counts.get(v, ())) * kind.work
            for eqn in loop.eqns[: blocks * loop.run.length]
            if (kind := kind_of(eqn)) is not None
            for v in eqn.outvars
        ]
    )


def _walk(loop: Loop, blocks: int) -> Walk:
    """Return which kernels the engine makes of some blocks."""
    outs = [loop.variables(slot)[blocks - 1] for slot in loop.carry]
    return Walk(Jaxpr((), (), outs, loop.eqns[: blocks * loop.run.length]))


def _dissolved(eqns: Sequence[Eqn]) -> Iterator[Eqn]:
    """Yield equations, and those of what they call in its place."""
    for eqn in eqns:
        if eqn.primitive.is_call:
            for body in eqn.primitive.jaxprs(eqn.params):
                yield from _dissolved(body.eqns)
        else:
            yield eqn


_JOINING: Final = {"concatenate", "dynamic_slice", "dynamic_update_slice", "pad"}
_AS_ARITHMETIC: Final = frozenset(("div", "rem", "rsqrt", "sqrt"))
"""What the engine takes for dear, and the processor does not."""

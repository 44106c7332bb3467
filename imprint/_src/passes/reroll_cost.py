"""The cost of a rerolled loop against that of its unrolled blocks.

An iteration costs 30 to 100 ns more than a block, and its stacked results a copy. But its
body is a small kernel, where long straight-line code becomes many kernels or one that is
too large. So a loop is made if blocks are several kernels anyway, or if one kernel of all
blocks would compute expensive operations badly or often. Blocks stay unrolled if XLA would
fuse them into one cheap kernel that reads memory once.
`python -m benchmarks.passes` times programs with and without loops.
"""

from collections.abc import Container, Iterator, Sequence
from typing import Any, Final

from imprint._src.core import dims
from imprint._src.core.fusion import Fusion
from imprint._src.core.jaxpr import Eqn, Jaxpr, Literal, subjaxprs
from imprint._src.passes.blocks import FEWEST
from imprint._src.passes.fusion_model import FusionModel, avals_of, fusions_of
from imprint._src.passes.loop_carries import RerolledLoop
from imprint._src.primitives.dot import dot_general_p
from imprint._src.primitives.indexing.dynamic_slicing import (
    dynamic_slice_p,
    dynamic_update_slice_p,
)
from imprint._src.primitives.indexing.slicing import concatenate_p, pad_p

# ---- the figures ----
#
# The time of a loop over that of its 20 to 60 blocks, on 4 cores of a Xeon with AVX-512,
# jaxlib 0.10.2.

_LARGE: Final = 20_000
"""Elements of a value: of 100,000, a sum takes 1.2, cumsum 2.1; of 10,000, 1.0 and 0.7."""
_ROWS: Final = 2_000
"""Elements that a block stacks and scans over: the gradient of softmax takes 0.33 with
1,300, that of normalisation 0.5 with 1,000, that of a sum 0.85 with 800, 1.23 with 3,000."""
_ROWS_OF_PRODUCTS: Final = 512
"""The same if all but matrix products are one kernel: recurrent networks."""
_SCANNED: Final = 64
"""Elements of an array that must be copied to be scanned over."""
_ENDS: Final = 2
"""Arrays among rows of a stack that are not a copy: a gradient has them at its ends."""
_JOINED: Final = range(5, 257)
"""Elements, if only joins or updates are kernels of their own: x[i-1] + x[i+1] of 256
takes 0.7, of 1,000 1.07, of 5,000 1.13; an update of 4 takes 1.04."""
_CALLS: Final = 500
"""Elements, if a block is one kernel with functions: sin takes 0.9 with 32, 0.4 with 1,000;
gelu 1.06 with 256, 0.74 with 1,000."""
_AGAIN: Final = 1.5
"""Work that each further block adds to one kernel, over that of a separate block: the
midpoint rule for a pendulum has 2.0 and takes 0.6; Runge and Kutta's has 1.2 and 1.08."""
_SMALL: Final = 256
"""Elements below which arrays, unlike numbers, gain nothing: the midpoint rule takes 1.0 to
1.1 of 32, with tanh and exp, too."""
_CHEAP: Final = ((500, 24), (2_001, 12), (5_001, 24))
"""(elements, operations): below so many elements, a block of arithmetic with several
carries needs so many operations. Lorenz' equations, 14, take 0.89 with 256, 0.82 with
1,000, 1.21 with 5,000; an
oscillator's, 8 and 16, 1.05 and 1.09 with 256; the midpoint rule for Lorenz' equations, 28,
0.93, 0.71 and 0.72."""
_NONE: Final = 10**9
"""More operations than any block has."""
_OF_NUMBERS: Final = 24
"""The same for numbers: the midpoint rule for Lorenz' equations takes 0.6 to 0.75, its
gradient 0.5 to 0.98; the rule for an oscillator, 16, 1.04, and Euler's for Lorenz'
equations 1.04, its gradient 0.9 to 1.14."""
_FEW: Final = 64
"""Elements of a value up to which many blocks always run faster as a loop."""
_MANY: Final = 5_000
"""Equations that many blocks save: Lorenz' equations, 200 steps of 14, take 1.04, 400 take
0.6 to 0.7."""
_MORE: Final = 2
"""Kernels that two more blocks add if work multiplies, as in steps of the midpoint rule
with tanh and exp, which take 0.25 of 256, 0.3 of 1,000."""


def is_too_large(eqns: Sequence[Eqn]) -> bool:
    """Return whether a value is so large that XLA computes it on several cores."""
    sizes = [v.aval.size for eqn in eqns for v in eqn.outvars]
    return any(map(dims.is_symbolic, sizes)) or max(sizes, default=0) > _LARGE


def may_gain(eqns: Sequence[Eqn]) -> bool:
    """Return whether equal blocks among equations may be a loop: a first, cheap test."""
    fusions = fusions_of(eqns)
    if any(fusion is None or fusion.has_one_use for fusion in {*fusions}):
        return not _is_by_products(eqns, fusions)
    sizes = {aval.size for aval in avals_of(eqns)}
    if any(map(dims.is_symbolic, sizes)):
        return False
    size = max(sizes)
    if 1 < size < _SMALL:
        return size <= _FEW and len(eqns) > _MANY
    fewest = min([few for _, few in _CHEAP]) * FEWEST
    return len(eqns) >= fewest or any(map(_is_call, eqns))


def _is_by_products(eqns: Sequence[Eqn], fusions: Sequence[Fusion | None]) -> bool:
    """Return whether all blocks have matrix products and no other separate kernel."""
    since = 0
    for eqn, fusion in zip(eqns, fusions, strict=True):
        since += 1
        if fusion is None or fusion.has_one_use:
            if eqn.primitive is not dot_general_p or eqn.outvars[0].aval.ndim < 2:
                return False
            if not _is_own_kernel(eqn):
                return False
            since = 0
        elif since >= FEWEST:  # blocks without a product
            return False
    return True


def is_slower(loop: RerolledLoop, rows: Container[Any]) -> bool:
    """Return whether a loop would be slower than its blocks.

    Args:
        loop: the loop.
        rows: variables that are rows stacked by other loops.
    """
    block = [*_dissolved(loop.eqns[: loop.run.length])]
    copied = [
        each[0].aval.size
        for each in loop.scanned
        if sum(not isinstance(v, Literal) and v not in rows for v in each) > _ENDS
    ]
    if is_too_large(block) or max(copied, default=0) > _SCANNED:
        return True
    moved = sum([loop.variables(slot)[0].aval.size for slot in loop.stacked])
    moved += sum([each[0].aval.size for each in loop.scanned])
    own_kernels = {eqn.primitive for eqn in block if _is_own_kernel(eqn)}
    size = max([v.aval.size for eqn in block for v in eqn.outvars], default=0)
    if not own_kernels:
        return bool(copied) or _is_better_fused(
            block, loop, size, is_moving=moved >= max(size, 1)
        )
    if own_kernels == {dot_general_p}:
        return moved > _ROWS_OF_PRODUCTS or not _is_by_vectors(block)
    return moved > _ROWS or (own_kernels <= _JOINS and size not in _JOINED)


def _is_by_vectors(block: Sequence[Eqn]) -> bool:
    """Return whether a block has matrix-vector products and other operations.

    XLA emits code for each of them, slow to compile; for other products it calls a library.
    """
    return len(block) > 1 and all(
        eqn.outvars[0].aval.ndim < 2 for eqn in block if eqn.primitive is dot_general_p
    )


def _is_better_fused(
    block: Sequence[Eqn], loop: RerolledLoop, size: int, *, is_moving: bool
) -> bool:
    """Return whether XLA has few kernels for all unrolled blocks, and gains by that.

    Args:
        block: the equations of a block, none of which is always a kernel of its own.
        loop: the loop.
        size: the elements of the largest value.
        is_moving: whether an iteration stacks or scans over as many elements.
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


def _is_growing(loop: RerolledLoop) -> bool:
    """Return whether each block adds kernels that recompute the blocks before."""
    few, more = (
        frozenset[int]().union(*_model(loop, n).kernels.values()) for n in (2, 4)
    )
    return len(more) - len(few) >= _MORE


def _is_computed_again(loop: RerolledLoop) -> bool:
    """Return whether kernels of all blocks do more work per block than those of one."""
    one, few, more = (_work(loop, n) for n in (1, 4, 8))
    return (more - few) / 4 >= _AGAIN * one


def _is_own_kernel(eqn: Eqn) -> bool:
    """Return whether an equation is always one kernel or several of its own."""
    fusion = eqn.primitive.fusion
    if fusion is not None and not fusion.has_one_use:
        return False
    sizes = [v.aval.size for v in eqn.invars]
    is_of_numbers = not any(map(dims.is_symbolic, sizes)) and max(sizes, default=0) <= 1
    return not is_of_numbers or bool(subjaxprs(eqn))


def _is_call(eqn: Eqn) -> bool:
    """Return whether an element takes longer to compute than to fetch."""
    fusion = eqn.primitive.fusion
    if fusion is None or fusion.has_one_use or fusion.is_instruction:
        return False
    return fusion.is_expensive or fusion.work > 1


def _work(loop: RerolledLoop, blocks: int) -> float:
    """Return the additions per element of the kernels of some blocks."""
    counts = _model(loop, blocks).kernels
    return sum(
        [
            len(counts.get(v, ())) * fusion.work
            for eqn in loop.eqns[: blocks * loop.run.length]
            if (fusion := eqn.primitive.fusion) is not None
            for v in eqn.outvars
        ]
    )


def _model(loop: RerolledLoop, blocks: int) -> FusionModel:
    """Return the kernels that XLA emits for some blocks."""
    outs = [loop.variables(slot)[blocks - 1] for slot in loop.carry]
    return FusionModel(Jaxpr((), (), outs, loop.eqns[: blocks * loop.run.length]))


def _dissolved(eqns: Sequence[Eqn]) -> Iterator[Eqn]:
    """Yield equations, with calls inlined."""
    for eqn in eqns:
        if eqn.primitive.is_call:
            for body in eqn.primitive.jaxprs(eqn.params):
                yield from _dissolved(body.eqns)
        else:
            yield eqn


_JOINS: Final = {concatenate_p, dynamic_slice_p, dynamic_update_slice_p, pad_p}

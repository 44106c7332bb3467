"""Rolling costs: is a loop slower than its blocks one after the other?

A turn of a loop costs 30 to 100 ns more than a block. Against that, a block by itself is a
small kernel, where long straight-line code falls apart into many or into one that is too
large; so a loop is mostly faster, and its compilation always. It is slower where the engine
would fuse cheap blocks into one kernel that goes over memory once, where arrays are so
large that a kernel outside of loops runs on several cores, and where much is stacked.
"""

from collections.abc import Container, Iterator, Sequence
from typing import Any, Final

from imprint.core import dims
from imprint.core.jaxpr import Eqn, Jaxpr, Literal
from imprint.passes.carries import Loop
from imprint.passes.fusion import kind_of
from imprint.passes.kernels import Walk

# ---- the figures ----
#
# The time of a loop over that of its 16 to 60 blocks, on 4 cores of a Xeon with AVX-512,
# jaxlib 0.10.2.

_LARGE: Final = 20_000
"""Elements of a value: of 100,000, a sum takes 1.2, cumsum 2.1; of 10,000, 1.0 and 0.7."""
_ROWS: Final = 512
"""Elements that a block stacks and walks over: the gradient of 20 dense layers takes 0.96
with 256, 1.16 with 2,048; that of 20 gelu 1.0 with 400, 1.25 with 4,000."""
_WALKED: Final = 64
"""Elements of an array that has to be copied to be walked over."""
_ENDS: Final = 2
"""Arrays beside rows of a stack that are no copy: a gradient has them at its ends."""
_FEW: Final = 64
"""Elements of a value: 20 tanh of 16 take 1.06, of 100 they take 0.9, of 1,000 0.5."""
_SEVERAL: Final = 12
"""Operations of a block that hands on several values, so that the engine makes several
kernels of the blocks: Lorenz' equations take 0.86, Newton's steps, which hand on one, 1.04."""
_SEVERAL_OF_FEW: Final = 24
"""The same of values of few elements: 20 steps of the midpoint rule for Lorenz' equations,
28 operations, take 0.7; for a pendulum, 12 operations, 1.0 to 1.15."""
_CHEAP: Final = (500, 4_000)
"""Elements of a value, where arithmetic is all: Lorenz' equations with 1,000 take 0.86,
with 10,000 1.3; the midpoint rule for them with 100 1.1."""
_NUMBERS: Final = 4
"""Elements up to which a value is as good as a number."""
_MANY: Final = 1_000
"""Equations that a loop saves: 200 steps of Lorenz' equations run in 22 µs for 20, and
compile in 0.04 s for 1."""
_MORE: Final = 2
"""Kernels that two blocks more have: where work multiplies, as in steps of the midpoint
rule with tanh and exp, which take 0.4 of 16 blocks, 0.01 of 60."""


def is_too_large(eqns: Sequence[Eqn]) -> bool:
    """Tell whether a value is so large that the engine computes it on several cores."""
    sizes = [v.aval.size for eqn in eqns for v in eqn.outvars]
    return any(map(dims.is_symbolic, sizes)) or max(sizes, default=0) > _LARGE


def is_slower(loop: Loop, rows: Container[Any]) -> bool:
    """Tell whether a loop would be slower than its blocks.

    Args:
        loop: the loop.
        rows: variables that are rows of what other loops stack.
    """
    copied = [
        each[0].aval.size
        for each in loop.walked
        if sum(not isinstance(v, Literal) and v not in rows for v in each) > _ENDS
    ]
    stacked = [loop.variables(slot)[0].aval.size for slot in loop.stacked]
    walked = [each[0].aval.size for each in loop.walked]
    if max(copied, default=0) > _WALKED or sum(stacked) + sum(walked) > _ROWS:
        return True
    block = [*_dissolved(loop.eqns[: loop.run.length])]
    return is_too_large(block) or _is_one_kernel(block, loop)


def _is_one_kernel(block: Sequence[Eqn], loop: Loop) -> bool:
    """Tell whether the engine has few kernels for all blocks, and gains by that."""
    apart = {eqn.primitive.name for eqn in block if _is_apart(eqn)}
    if apart:
        return apart == {"dot_general"} and len(block) == 1
    size = max([v.aval.size for eqn in block for v in eqn.outvars], default=0)
    calls = any(map(_is_call, block))
    if (calls and size > _FEW) or _kernels(loop, 4) - _kernels(loop, 2) >= _MORE:
        return False
    first, last = _CHEAP
    if len(loop.carry) < 2 or len(block) < _SEVERAL or size > last:
        return True
    if loop.run.saved >= _MANY or first <= size:
        return False
    return len(block) < _SEVERAL_OF_FEW or not (calls or size <= _NUMBERS)


def _is_apart(eqn: Eqn) -> bool:
    """Tell whether an equation is a kernel, or several, whatever is around it."""
    kind = kind_of(eqn)
    return kind is None or kind.blocks


def _is_call(eqn: Eqn) -> bool:
    """Tell whether an element takes longer to compute than to fetch."""
    kind, name = kind_of(eqn), eqn.primitive.name
    is_dear = kind is not None and (kind.dear or kind.work > 1) and not kind.blocks
    return is_dear and name not in _AS_ARITHMETIC


def _kernels(loop: Loop, blocks: int) -> int:
    """Return how many kernels the engine makes of some blocks."""
    outs = [loop.variables(slot)[blocks - 1] for slot in loop.carry]
    walk = Walk(Jaxpr((), (), outs, loop.eqns[: blocks * loop.run.length]))
    return len(frozenset[int]().union(*walk.kernels.values()))


def _dissolved(eqns: Sequence[Eqn]) -> Iterator[Eqn]:
    """Yield equations, and those of what they call in its place."""
    for eqn in eqns:
        if eqn.primitive.is_call:
            for body in eqn.primitive.jaxprs(eqn.params):
                yield from _dissolved(body.eqns)
        else:
            yield eqn


_AS_ARITHMETIC: Final = frozenset(("div", "rem", "rsqrt", "sqrt"))
"""What the engine takes for dear, and the processor does not."""

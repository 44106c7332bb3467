"""Rolling costs: is a loop slower than its blocks one after the other?

A turn of a loop costs 30 to 100 ns more than a block. Against that, a block by itself is a
small kernel, where long straight-line code falls apart into many or into one that is too
large; so a loop is mostly faster, and its compilation always. It is slower where the engine
would fuse cheap blocks into one kernel that goes over memory once, where arrays are so
large that a kernel outside of loops runs on several cores, and where much is stacked.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from imprint.core import dims
from imprint.core.jaxpr import Eqn, Literal
from imprint.passes.carries import Loop

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
_REDUCED: Final = 32
"""Elements that are reduced where they are computed: 20 softmax of one take 1.03."""


def is_too_large(eqns: Sequence[Eqn]) -> bool:
    """Tell whether a value is so large that the engine computes it on several cores."""
    sizes = [v.aval.size for eqn in eqns for v in eqn.outvars]
    return any(map(dims.is_symbolic, sizes)) or max(sizes, default=0) > _LARGE


def is_slower(loop: Loop, rows: dict[Any, Any]) -> bool:
    """Tell whether a loop would be slower than its blocks.

    Args:
        loop: the loop.
        rows: variables that are rows of what loops before it have stacked.
    """
    block = [*_dissolved(loop.eqns[: loop.run.length])]
    if is_too_large(block):
        return True
    copied = [
        each[0].aval.size
        for each in loop.walked
        if not all(isinstance(v, Literal) or v in rows for v in each)
    ]
    if any(size > _WALKED for size in copied):
        return True
    stacked = [loop.variables(slot)[0].aval.size for slot in loop.stacked]
    walked = [each[0].aval.size for each in loop.walked]
    if sum(stacked) + sum(walked) > _ROWS:
        return True
    return _is_one_kernel(block, loop)


def _is_one_kernel(block: Sequence[Eqn], loop: Loop) -> bool:
    """Tell whether the engine gains by fusing the blocks into one kernel, or has none."""
    names = {eqn.primitive.name for eqn in block if not _is_reduced_there(eqn)}
    if names - _ARITHMETIC - _FUNCTIONS:
        return names <= _OF_A_LIBRARY
    size = max([v.aval.size for eqn in block for v in eqn.outvars], default=0)
    calls = bool(names & _FUNCTIONS)
    if calls and size > _FEW:
        return False
    first, last = _CHEAP
    if len(loop.carry) < 2 or len(block) < _SEVERAL or size > last:
        return True
    if loop.run.saved >= _MANY or first <= size:
        return False
    return len(block) < _SEVERAL_OF_FEW or not (calls or size <= _NUMBERS)


def _is_reduced_there(eqn: Eqn) -> bool:
    """Tell whether an equation reduces so little that it is fused as arithmetic is."""
    name = eqn.primitive.name
    return name.startswith(("reduce_", "cum")) and eqn.invars[0].aval.size <= _REDUCED


def _dissolved(eqns: Sequence[Eqn]) -> Iterator[Eqn]:
    """Yield equations, and those of what they call in its place."""
    for eqn in eqns:
        if eqn.primitive.is_call:
            for body in eqn.primitive.jaxprs(eqn.params):
                yield from _dissolved(body.eqns)
        else:
            yield eqn


_ARITHMETIC: Final = frozenset(
    (
        *("abs", "add", "and", "bitcast_convert_type", "broadcast_in_dim", "ceil"),
        *("clamp", "complex", "conj", "convert_element_type", "copy", "div", "eq"),
        *("floor", "ge", "gt", "imag", "integer_pow", "is_finite", "le", "lt", "max"),
        *("min", "mul", "name", "ne", "neg", "not", "or", "real", "reduce_precision"),
        *("rem", "reshape", "rev", "round", "rsqrt", "select_n", "shift_left", "sign"),
        *("shift_right_arithmetic", "shift_right_logical", "slice", "sqrt", "square"),
        *("squeeze", "stop_gradient", "sub", "transpose", "xor"),
    )
)
"""What is fused with what is before and after it, and takes no longer than memory does."""

_FUNCTIONS: Final = frozenset(
    (
        *("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cos"),
        *("cosh", "digamma", "erf", "erf_inv", "erfc", "exp", "exp2", "expm1"),
        *("lgamma", "log", "log1p", "logistic", "pow", "sin", "sinh", "tan", "tanh"),
    )
)
"""What is fused too, and takes longer."""

_OF_A_LIBRARY: Final = frozenset(("dot_general",))
"""What is called and not compiled: 20 products by themselves compile in 15 ms, a loop in 30."""

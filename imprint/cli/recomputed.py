"""The tour's programs with reuse, which XLA:CPU computes again and again.

Python unrolls them, so they are long, and each value is used by several kernels. The twin
of each has `cut_recomputation` off: that is what the engine makes of it, from any caller.
"""

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import imprint
import imprint.numpy as np
from imprint import Array
from imprint.cli.example import prints

LENGTHS: Sequence[int] = (6, 12, 25, 50, 100, 200)
_LONGEST_TWIN = 50  # of 100 steps it takes minutes to compile


class Costs(NamedTuple):
    """What programs of each length cost, in seconds.

    Args:
        compiled: for each length, to compile.
        ran: for each length, to run once.
    """

    compiled: dict[int, float]
    ran: dict[int, float]


def chain(steps: int) -> Callable[[Array], Array]:
    """Return a program in which a sum stands beside its values, unrolled."""

    def run(x: Array) -> Array:
        for _ in range(steps):
            x = np.sin(x) * x + x.sum()
        return x

    return run


def measure(lengths: Sequence[int], *, cuts: bool) -> Costs:
    """Compile and run the chain of each length.

    Args:
        lengths: how many steps.
        cuts: whether what is used again is written to memory; if not, the longest are
            left out.
    """
    costs = Costs({}, {})
    x = np.linspace(0.1, 0.9, 1000)
    with imprint.cut_recomputation(cuts), imprint.roll_loops(False):
        for steps in lengths if cuts else [n for n in lengths if n <= _LONGEST_TWIN]:
            lowered = imprint.jit(chain(steps)).lower(x)
            start = time.perf_counter()
            compiled = lowered.compile()
            costs.compiled[steps] = time.perf_counter() - start
            costs.ran[steps] = min(_seconds(compiled, x) for _ in range(9))
    return costs


def _seconds(compiled: Callable[[Array], Array], x: Array) -> float:
    start = time.perf_counter()
    imprint.block_until_ready(compiled(x))
    return time.perf_counter() - start


@prints("""
    as the engine takes it: ... µs
    with what is used again written to memory: ... µs
    add f32[3,1000] at ...: ... kernels would compute it, ... additions an element are saved
""")
def unrolled() -> None:
    """Unroll a solver in Python: nothing is computed again, and it says what was written."""

    def field(s: Array) -> Array:
        return (np.roll(s, -1, 0) - np.roll(s, 2, 0)) * np.roll(s, 1, 0) - s + 8.0

    def ring(s: Array) -> Array:
        for _ in range(16):  # the midpoint rule, three coupled equations
            s = s + 0.01 * field(s + 0.005 * field(s))
        return s

    def best() -> str:
        solve(s)  # compiled
        return f"{min(_seconds(solve, s) for _ in range(50)) * 1e6:.0f} µs"

    s = np.ones((3, 1000)) * np.array([[0.1], [0.2], [0.3]])
    solve = imprint.jit(ring)
    with imprint.cut_recomputation(False):
        print("as the engine takes it:", best())
    with imprint.roll_loops(False):
        print("with what is used again written to memory:", best())
    print(solve.versions[-1].passes[0])


CHAPTERS = {"What a program costs": (unrolled,)}

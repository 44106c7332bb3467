"""Programs whose values XLA:CPU recomputes.

Python unrolls them, so they are long, and several kernels use each value. The twin of each
program has `cut_recomputation` off, so XLA compiles it as for any other caller.
"""

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import imprint
import imprint.numpy as np
from examples.example import prints
from imprint import Array

LENGTHS: Sequence[int] = (6, 12, 25, 50, 100, 200)
_LONGEST_TWIN = 50  # of 100 steps it takes minutes to compile


class ChainSeconds(NamedTuple):
    """Seconds of programs by length.

    Args:
        compiled: seconds to compile.
        ran: seconds to run once.
    """

    compiled: dict[int, float]
    ran: dict[int, float]


def chain(steps: int) -> Callable[[Array], Array]:
    """Return an unrolled program that uses both values and their sum."""

    def run(x: Array) -> Array:
        for _ in range(steps):
            x = np.sin(x) * x + x.sum()
        return x

    return run


def measure(lengths: Sequence[int], *, cuts: bool) -> ChainSeconds:
    """Compile and run the chain of each length.

    Args:
        lengths: the numbers of steps.
        cuts: whether reused values are written to memory; if not, the longest programs
            are left out.
    """
    costs = ChainSeconds({}, {})
    x = np.linspace(0.1, 0.9, 1000)
    with imprint.cut_recomputation(cuts), imprint.roll_loops(False):
        for steps in lengths if cuts else [n for n in lengths if n <= _LONGEST_TWIN]:
            lowered = imprint.jit(chain(steps)).lower(x)
            start = time.perf_counter()
            compiled = lowered.compile()
            costs.compiled[steps] = time.perf_counter() - start
            costs.ran[steps] = min(_seconds(compiled, x) for _ in range(9))
    return costs


def _seconds(compiled: Callable[..., Array], *args: Array) -> float:
    start = time.perf_counter()
    imprint.block_until_ready(compiled(*args))
    return time.perf_counter() - start


@prints("""
    as the engine takes it: ... µs
    with what is used again written to memory: ... µs
    as imprint takes it: ... µs
    ... f32[] at ...: ... kernels would compute it, ... additions an element are saved
    40 equal blocks from ... run as one loop
""")
def unrolled() -> None:
    """Unroll a solver in Python: exponential time becomes microseconds."""

    def field(x: Array, y: Array, z: Array) -> tuple[Array, Array, Array]:
        return 10 * (y - x), x * (28 - z) - y, x * y - 2.667 * z

    def lorenz(x: Array, y: Array, z: Array) -> Array:
        for _ in range(40):  # the midpoint rule
            a, b, c = field(x, y, z)
            a, b, c = field(x + 0.005 * a, y + 0.005 * b, z + 0.005 * c)
            x, y, z = x + 0.01 * a, y + 0.01 * b, z + 0.01 * c
        return np.stack([x, y, z])  # it computes each value along each way to it

    def best() -> str:
        solve(*start)  # compiled
        return f"{min(_seconds(solve, *start) for _ in range(9)) * 1e6:,.0f} µs"

    start = [np.asarray(v, "float32") for v in (0.9, 0.2, 0.5)]
    solve = imprint.jit(lorenz)
    with imprint.roll_loops(False):
        with imprint.cut_recomputation(False):
            print("as the engine takes it:", best())
        print("with what is used again written to memory:", best())
    print("as imprint takes it:", best())
    for version in solve.versions:
        print(*version.passes[:1], end="\n" if version.passes else "")


CHAPTERS = {"Performance": (unrolled,)}

"""Plain NumPy scripts, unchanged and under `jit`: the same numbers in less time.

Both run on the same arrays: random bodies and a random fluid, and a photograph and flowers
of scikit-learn. The first call under `jit` is timed separately, as it traces and compiles;
the fastest of the others, and of NumPy's, counts.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy

import imprint
from examples import numpy_scripts
from examples.data import extra

_SEED = 0
_BODIES = 512
_WAVES = 64
_RUNS = 5


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds of a script, and the difference of the results.

    Attributes:
        heading: the heading, in one line.
        numpy_s: a call by NumPy.
        first_s: the first call under `jit`.
        jit_s: a further call under `jit`.
        difference: the mean distance of results, where the largest of them is 1.
        compiles: the number of versions.
    """

    heading: str
    numpy_s: float
    first_s: float
    jit_s: float
    difference: float
    compiles: int

    @property
    def speed_up(self) -> float:
        """How many times as fast a call under `jit` is."""
        return self.numpy_s / self.jit_s


def run_scripts() -> Iterator[Timing]:
    """Yield the timing of each script."""
    for fun, arguments in _scripts():
        yield measure(fun, arguments)


def measure(fun: Callable[..., Any], arguments: tuple[Any, ...]) -> Timing:
    """Run a script by NumPy and under `jit`."""
    jitted = imprint.jit(fun)
    expected = fun(*arguments)
    start = perf_counter()
    found = imprint.block_until_ready(jitted(*arguments))
    first_s = perf_counter() - start
    return Timing(
        heading=(fun.__doc__ or "").partition("\n")[0],
        numpy_s=_fastest(lambda: fun(*arguments)),
        first_s=first_s,
        jit_s=_fastest(lambda: imprint.block_until_ready(jitted(*arguments))),
        difference=max(map(_difference, found, expected)),
        compiles=jitted._cache_size(),  # pyright: ignore[reportPrivateUsage] - a name of JAX's
    )


def _fastest(run: Callable[[], Any]) -> float:
    seconds: list[float] = []
    for _ in range(_RUNS):
        start = perf_counter()
        run()
        seconds.append(perf_counter() - start)
    return min(seconds)


def _difference(found: Any, expected: Any) -> float:
    ours, theirs = (numpy.asarray(x, numpy.float64) for x in (found, expected))
    return float(numpy.mean(numpy.abs(ours - theirs)) / numpy.max(numpy.abs(theirs)))


def _scripts() -> Iterator[tuple[Callable[..., Any], tuple[Any, ...]]]:
    generator = numpy.random.default_rng(_SEED)
    datasets = extra("sklearn.datasets")

    def draw(*shape: int) -> Any:
        return generator.normal(size=shape).astype(numpy.float32)

    masses = numpy.full(_BODIES, 1 / _BODIES, numpy.float32)
    yield numpy_scripts.attract, (draw(_BODIES, 3), draw(_BODIES, 3), masses)
    yield numpy_scripts.smooth, (datasets.load_sample_image("china.jpg"),)
    irises = datasets.load_iris().data.astype(numpy.float32)
    yield numpy_scripts.cluster, (irises, irises[::50])
    yield numpy_scripts.swirl, (draw(_WAVES, _WAVES),)

"""`python -m benchmarks.passes [words]`: programs with and without passes.

The programs are unrolled steps of many kinds, sizes and numbers, their gradients and all of
their values. Programs that become a loop are timed with and without it, each in a process of
its own, which ends if the unrolled program takes too long to compile; a loop must not be
slower than its blocks. Words choose the rows whose name contains all of them.

`python -m benchmarks.passes suite [words]` runs the programs of the other benchmarks with
and without the passes. Programs that do not change count as equal in the mean.

`python -m benchmarks.passes cost` prints the share of the passes in tracing and lowering, in
processor time, and the ratio to tracing and lowering without passes.
"""

import itertools
import math
import multiprocessing
import sys
import time
import warnings
from functools import partial
from importlib import import_module
from statistics import geometric_mean

import numpy

import imprint
import imprint.numpy as np
from benchmarks.measure import calls_per_sample, measure
from benchmarks.pairs import Pair, Timing, block
from imprint._src.passes.pipeline import changes_of, run_passes
from imprint._src.passes.reroll_loops import Rolled

CONTEXT = multiprocessing.get_context("fork")

SLOWER = 1.03
LIMIT = 60  # seconds of one row, most of which are compilation
ATTEMPTS = 3  # compiled and measured again if it seems slower
TURNS = (20, 60)
OF = ("run", "gradient", "history")
SIZES = (1, 4, 32, 256, 1000, 5000)
WIDTHS = (4, 16, 64, 256)
SUITE = ("arrays", "callbacks", "chains", "dispatch", "eager", "engine", "filtering")
SUITE += (
    "lengths",
    "loops",
    "memory",
    "redundant_misses",
    "order",
    "spectra",
    "call_forms",
)
SWITCHES = ("cut_recomputation", "roll_loops")
SALTS = itertools.count()


# ---- steps ----


def lorenz(x, y, z):
    return 10 * (y - x), x * (28 - z) - y, x * y - 2.667 * z


def coupled(x, y, z):
    return x - y, np.tanh(y) * z + np.exp(-z * z), z / (1 + y * y) + y * x


def pendulum(x, v):
    return v, -np.sin(x)


def oscillator(x, v):
    return v, (1 - x * x) * v - x


def moved(state, slopes, by):
    return tuple(x + by * d for x, d in zip(state, slopes, strict=True))


def euler(field):
    return lambda *s: moved(s, field(*s), 0.01)


def midpoint(field):
    return lambda *s: moved(s, field(*moved(s, field(*s), 0.005)), 0.01)


def runge_kutta(field):
    def step(*s):
        k1 = field(*s)
        k2 = field(*moved(s, k1, 0.005))
        k3 = field(*moved(s, k2, 0.005))
        k4 = field(*moved(s, k3, 0.01))
        mean = [
            p + 2 * q + 2 * r + t for p, q, r, t in zip(k1, k2, k3, k4, strict=True)
        ]
        return moved(s, mean, 0.01 / 6)

    return step


def halley(x):
    f, d = x * x * x - 2 * x - 5, 3 * x * x - 2
    return (x - 2 * f * d / (2 * d * d - f * 6 * x),)


def polynomial(x):
    y = x
    for i in range(6):
        y = y * x + 0.1 * i
    return (y,)


def gelu(x):
    return (0.5 * x * (1 + np.tanh(0.79788 * (x + 0.044715 * x * x * x))),)


def softmax(x):
    weights = np.exp(x - x.max())
    return (weights / weights.sum() + x * 0.5,)


def normalised(x):
    x = x - x.mean()
    return (x / np.sqrt((x * x).mean() + 1e-5),)


def power(v, w):
    v = w @ v
    return v / np.sqrt((v * v).sum()), w


STEPS = {  # name: the step, how many values it hands on
    "Euler, Lorenz": (euler(lorenz), 3),
    "Euler, oscillator": (euler(oscillator), 2),
    "midpoint, Lorenz": (midpoint(lorenz), 3),
    "midpoint, coupled": (midpoint(coupled), 3),
    "midpoint, pendulum": (midpoint(pendulum), 2),
    "midpoint, oscillator": (midpoint(oscillator), 2),
    "Runge-Kutta, Lorenz": (runge_kutta(lorenz), 3),
    "Runge-Kutta, pendulum": (runge_kutta(pendulum), 2),
    "Runge-Kutta, oscillator": (runge_kutta(oscillator), 2),
    "Halley": (halley, 1),
    "logistic map": (lambda x: (3.7 * x * (1 - x),), 1),
    "polynomial": (polynomial, 1),
    "scaled": (lambda x: (x * 1.01 + 0.5,), 1),
    "sin": (lambda x: (np.sin(x) * 1.01,), 1),
    "tanh": (lambda x: (np.tanh(x),), 1),
    "gelu": (gelu, 1),
    "clip": (lambda x: (np.clip(x * 1.1 - 0.01, 0, 1),), 1),
    "sum": (lambda x: (np.sin(x) * x + x.sum(),), 1),
    "softmax": (softmax, 1),
    "normalised": (normalised, 1),
    "cumsum": (lambda x: (np.cumsum(x) * 0.01,), 1),
    "sort": (lambda x: (0.99 * np.sort(x.ravel())[::-1].reshape(x.shape),), 1),
    "inner points": (
        lambda x: (0.9 * x.ravel().at[1:-1].add(1.0).reshape(x.shape),),
        1,
    ),
    "neighbours": (lambda x: (0.3 * (np.roll(x, 1) + x + np.roll(x, -1)),), 1),
}
ROWS_OF = {  # rows that are multiplied with a matrix; None: a vector
    "power iteration": (power, None),
    "recurrent": (lambda h, w: (np.tanh(w @ h + 0.1), w), None),
    "product": (lambda h, w: (h @ w, w), 32),
    "dense": (lambda h, w: (np.maximum(h @ w + 0.1, 0), w), 32),
    "skip": (lambda h, w: (h + np.tanh(h @ w), w), 32),
}


def state(count, size):
    values = (0.1, 0.2, 0.3)[:count]
    if size == 1:
        return [np.asarray(numpy.float32(v)) for v in values]
    return [np.linspace(v, 2 * v, size) for v in values]


def network(rows, width):
    noise = 0.01 * numpy.cos(numpy.arange(width * width)).reshape(width, width)
    weights = np.asarray((0.9 * numpy.eye(width) + noise).astype(numpy.float32))
    shape = (width,) if rows is None else (rows, width)
    return [np.linspace(0.1, 0.2, math.prod(shape)).reshape(shape), weights]


def repeated(step, turns, of="run"):
    """Return a loop that Python unrolls: its results, their gradient, or all it makes."""

    def run(*values):
        made = []
        for _ in range(turns):
            values = step(*values)
            made.append(values[0])
        return values if of == "run" else (*values, np.stack(made))

    if of == "gradient":
        loss = lambda *values: (run(*values)[0] ** 2).sum()
        return lambda *values: imprint.grad(loss, tuple(range(len(values))))(*values)
    return run


def blocks():
    """Yield a name of each program, and a maker of the program and its arguments."""
    solvers = itertools.product(SIZES, STEPS.items())
    networks = itertools.product(WIDTHS, ROWS_OF.items())
    kinds = [
        *(
            (name, step, partial(state, count, n), n)
            for n, (name, (step, count)) in solvers
        ),
        *(
            (name, step, partial(network, rows, n), n)
            for n, (name, (step, rows)) in networks
        ),
    ]
    for turns, of, (name, step, args, size) in itertools.product(TURNS, OF, kinds):
        run = repeated(step, turns, of)
        yield (
            f"{of} {turns} × {name} of {size}",
            lambda run=run, args=args: (run, args()),
        )


def timed(run):
    """Return the times with and without loops; None if there is none."""
    fun, args = run()
    changes = changes_of(run_passes(imprint.make_jaxpr(fun)(*args)))
    if not any(isinstance(change, Rolled) for change in changes):
        return None
    best = math.inf, 1.0
    for _ in range(ATTEMPTS):
        calls = []
        for rolls in (True, False):
            with imprint.roll_loops(rolls):
                call = imprint.jit(lambda *values: fun(*values)).lower(*args).compile()
            calls.append(lambda call=call: call(*args))
        ours, theirs = measure(Pair("", *calls))
        best = min(best, (ours.best, theirs.best), key=lambda pair: pair[0] / pair[1])
        if best[0] <= SLOWER * best[1]:
            break
    return best


def apart(fun, *args):
    """Return the result of a function in a process of its own; a string if it fails."""
    here, there = CONTEXT.Pipe(duplex=False)
    process = CONTEXT.Process(target=lambda: there.send(fun(*args)))
    process.start()
    there.close()
    try:
        return here.recv() if here.poll(LIMIT) else "takes too long"
    except EOFError:
        return "failed"
    finally:
        process.kill()
        process.join()


# ---- the programs of the other benchmarks ----


def switch(*, on):
    for name in SWITCHES:
        imprint.config.update(name, on)


def is_changed(run):
    """Run a program with the passes; return whether they change it."""
    known = {*imprint.cache.entries()}
    switch(on=True)
    block(run())
    return any(version.passes for version in {*imprint.cache.entries()} - known)


def with_passes(run, calls, *, on):
    """Return a function that makes many calls of a program, with or without the passes."""

    def ready():
        switch(on=on)
        return lambda: [run() for _ in range(calls)][-1]

    return ready


def suite(words):
    """Print the programs of other benchmarks that are compiled otherwise, and the mean."""
    ratios = []
    for file in SUITE:
        for pair in getattr(import_module(f"benchmarks.{file}"), "PAIRS", ()):
            chosen = all(word in pair.name for word in words)
            if not chosen or pair.timing is not Timing.LOOP:
                continue
            ratio = 1.0
            if is_changed(pair.ours):
                calls = calls_per_sample(pair.ours)
                sides = (with_passes(pair.ours, calls, on=on) for on in (True, False))
                ours, theirs = measure(Pair("", *sides, timing=Timing.FRESH))
                ratio = ours.best / theirs.best
                told = "SLOWER" if ratio > SLOWER else ""
                print(f"{pair.name:48} {ratio:7.3f} {told}", flush=True)
            ratios.append(ratio)
    print(f"{len(ratios)} programs", f"mean {geometric_mean(ratios or [1.0]):.3f}")


# ---- the time of the passes ----


def n_body(places, speeds):
    """Return where bodies are after 10 steps of leapfrog."""

    def pulls(p):
        d = p[None] - p[:, None]
        return (d * (((d * d).sum(-1) + 1e-3) ** -1.5)[..., None]).sum(1)

    for _ in range(10):
        speeds = speeds + 0.005 * pulls(places)
        places = places + 0.01 * speeds
        speeds = speeds + 0.005 * pulls(places)
    return places, speeds


def layers(weights, x):
    for w in weights:
        x = x + np.tanh(x @ w)
    return (x * x).mean()


def seconds(run):
    """Return the time of the processor that something takes."""
    start = time.thread_time()
    run()
    return time.thread_time() - start


def cost():
    """Print which part of tracing and lowering the passes take."""
    tracing = import_module("benchmarks.tracing")
    noise = numpy.random.default_rng(0).normal(size=(20, 64, 64)).astype("float32")
    bodies = noise[:2, :100, :3]
    transformer = lambda *args: imprint.grad(tracing.transformer(imprint, 0.0))(*args)
    programs = {
        "gradient of a transformer": (transformer, tracing.ARGUMENTS),
        "gradient of 20 layers": (imprint.grad(layers), [[*noise], noise[0]]),
        "N-body, 10 steps": (n_body, bodies),
        "sin(x)*x + x.sum(), 100 times": (
            repeated(STEPS["sum"][0], 100),
            state(1, 1000),
        ),
        "midpoint rule, 60 steps": (repeated(midpoint(coupled), 60), state(3, 1)),
    }
    for name, (fun, args) in programs.items():
        passes, whole, without = [], [], []
        for _ in range(9):
            whole.append(lowering(fun, args, on=True))
            without.append(lowering(fun, args, on=False))
            closed = imprint.make_jaxpr(salted(fun))(*args)
            passes.append(seconds(partial(run_passes, closed)))
        share, ratio = min(passes) / min(whole), min(whole) / min(without)
        print(f"{name:48} {share:7.1%}  {ratio:7.3f}", flush=True)


def salted(fun):
    """Return a function that no cache has seen."""
    salt = next(SALTS) + 0.5
    return lambda *args: (fun(*args), salt)


def lowering(fun, args, *, on):
    """Return the time to trace and to lower a function, with the passes or without."""
    switch(on=on)
    found = seconds(partial(imprint.jit(salted(fun)).lower, *args))
    switch(on=True)
    return found


def main():
    words = sys.argv[1:]
    # One function is compiled for many programs on purpose, and with each switch.
    warnings.filterwarnings("ignore", ".* was compiled 8 times")
    if words == ["cost"]:
        cost()
    elif words[:1] == ["suite"]:
        suite(words[1:])
    else:
        loops(words)


def loops(words):
    """Print the times of programs that become loops, with them and without."""
    ratios = []
    for name, run in blocks():
        if all(word in name for word in words):
            found = apart(timed, run)
            if isinstance(found, str):
                print(f"{name:48} {found}", flush=True)
            elif found:
                ratios.append(found[0] / found[1])
                told = "SLOWER" if ratios[-1] > SLOWER else ""
                on, off = (f"{seconds * 1e6:9.1f}" for seconds in found)
                print(f"{name:48} {on} {off} {ratios[-1]:7.3f} {told}", flush=True)
    print(
        f"{len(ratios)} rows",
        f"mean {geometric_mean(ratios or [1.0]):.3f}",
    )


if __name__ == "__main__":
    main()

"""Pictures of the documentation: `python -m benchmarks.pictures` writes `docs/pictures/`.

`timeline`: where the seconds of a first call go, and those of the same call in a second
process. `storm`: the time of each step of a loop that re-creates its function, and whose
batches vary in length. `bars`: programs, as multiples of JAX's time. `call`: the parts of a
warm call. `peers`: programs of other formulations, and how much longer JAX, NumPy, Numba and
torch take.
"""

import functools
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

import imprint
import imprint.numpy as inp
from benchmarks import missing
from benchmarks.measure import do_nothing, measure
from benchmarks.peers import PEERS, ratios

try:
    import matplotlib as mpl

    mpl.use("svg")
    from matplotlib import pyplot as plt
except ImportError as err:
    raise missing(err) from err

FOLDER = Path(__file__).parent.parent / "docs" / "pictures"
COLOURS = {"imprint": "#3949ab", "JAX": "#f9a825"}
COLOURS |= {"NumPy": "#43a047", "Numba": "#8e24aa", "torch": "#e53935"}
FORMULATED = (
    *("x % 0.3", "products of 4 x 4", "sin of float64", "arcsin", "cumsum of columns"),
    *("distances of points", "Kalman filter of 4", "heat, 100 steps"),
)
FIRST_CALL = """
import json, time
start = time.perf_counter()
import {lib} as lib, {lib}.numpy as np
imported = time.perf_counter()
def layers(x):
    for _ in range(40):
        x = np.tanh(x @ x) + x
    return x.sum()
lib.jit(lib.grad(layers))(np.ones((16, 16))).block_until_ready()
print(json.dumps([imported - start, time.perf_counter() - imported]))
"""


def timeline():
    """Draw the start of a process: the import, then the first call."""
    parts = ("import", "first call")
    rows = {}
    environment = dict(os.environ)
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # users have bytecode
    for lib in ("jax", "imprint"):
        with tempfile.TemporaryDirectory() as folder:
            store = str(Path(folder) / "store")
            cache = {"IMPRINT_CACHE_DIR": store, "JAX_COMPILATION_CACHE_DIR": store}
            limits = {
                "IMPRINT_CACHE": "write",  # the benchmarks turn it off
                "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
            }
            script = Path(folder) / "first_call.py"
            script.write_text(FIRST_CALL.format(lib=lib), encoding="utf-8")
            for process in ("first", "second"):
                text = subprocess.run(
                    [sys.executable, script],
                    env=environment | cache | limits,
                    capture_output=True,
                    text=True,
                    check=True,
                ).stdout
                rows[f"{lib}, {process} process"] = json.loads(text)
    _, axes = plt.subplots(figsize=(7, 2.6))
    left = np.zeros(len(rows))
    for part, seconds in zip(parts, zip(*rows.values(), strict=True), strict=True):
        axes.barh(list(rows), seconds, left=left, label=part)
        left += seconds
    axes.invert_yaxis()
    axes.set_xlabel("seconds until the first result")
    axes.legend(
        frameon=False, fontsize="small", bbox_to_anchor=(1, 1.2), loc="upper right"
    )
    save("timeline")


def storm():
    """Draw the seconds of 60 steps of a loop, each with a length of its own."""
    rng = np.random.default_rng(0)
    lengths = rng.integers(65, 128, 60)
    batches = [rng.normal(size=(n, 8)).astype(np.float32) for n in lengths]

    def with_jax(batch):
        return jax.jit(lambda b: jnp.tanh(b).sum(0))(batch)

    def with_imprint(batch):
        @imprint.jit(abstracted_axes={0: "n"})
        def step(b):
            return inp.tanh(b).sum(0)

        return step(batch)

    _, axes = plt.subplots(figsize=(7, 2.8))
    for name, step in {"JAX": with_jax, "imprint": with_imprint}.items():
        seconds = [seconds_of(step, batch) for batch in batches]
        label = f"{name}, {sum(seconds):.2f} s"
        axes.semilogy(np.array(seconds) * 1e3, ".", label=label, color=COLOURS[name])
    axes.set_xlabel("step; each batch has a length of its own")
    axes.set_ylabel("milliseconds")
    axes.legend(frameon=False, fontsize="small")
    save("storm")


def seconds_of(step, batch):
    start = time.perf_counter()
    step(batch).block_until_ready()
    return time.perf_counter() - start


def bars():
    """Draw the time of programs as multiples of JAX's."""
    from benchmarks import chains, recomputation  # noqa: PLC0415 - they compile for minutes

    pairs = [
        *chains.PAIRS,
        *(p for p in recomputation.PAIRS if "compile" not in p.name),
    ]
    pairs = pairs[:8]
    shares = []
    for pair in pairs:
        ours, theirs = measure(pair)
        shares.append(ours.best / theirs.best)
    _, axes = plt.subplots(figsize=(7, 0.5 + 0.35 * len(pairs)))
    axes.barh([pair.name for pair in pairs], shares, color=COLOURS["imprint"])
    axes.axvline(1, color=COLOURS["JAX"])
    axes.invert_yaxis()
    axes.set_xlabel("imprint's time, as a multiple of JAX's")
    save("bars")


def call():
    """Draw the parts of the time of warm calls, each below the same call of JAX."""
    rows = {}
    for label, make in {
        "1 array": functions_of(1),
        "10 arrays": functions_of(10),
        "static self, 1 array": methods,
    }.items():
        rows[f"JAX, {label}"] = {"JAX": best_times([make(jax)[0]])[0]}
        rows[f"imprint, {label}"] = parts_of(*make(imprint))
    names = [*dict.fromkeys(part for parts in rows.values() for part in parts)]
    _, axes = plt.subplots(figsize=(7, 3.2))
    left = np.zeros(len(rows))
    for name in names:
        micros = np.array([1e6 * parts.get(name, 0) for parts in rows.values()])
        colour = COLOURS["JAX"] if name == "JAX" else None
        axes.barh([*rows], micros, left=left, label=name, color=colour)
        left += micros
    axes.invert_yaxis()
    axes.set_xlabel("microseconds of the calling thread")
    axes.legend(
        frameon=False,
        fontsize="small",
        bbox_to_anchor=(1, 1.2),
        loc="upper right",
        ncols=5,
    )
    save("call")


def functions_of(count):
    """Return a maker of a call on some arrays, its function, and the arrays."""

    def make(library):
        numpy = inp if library is imprint else jnp
        arrays = [numpy.asarray(np.arange(8.0, dtype="f") + i) for i in range(count)]
        compiled = library.jit(lambda *xs: [x * numpy.pi for x in xs])
        return lambda: compiled(*arrays), compiled, arrays

    return make


def methods(library):
    """Return a call of a method, its function, and its arrays."""

    class Model:
        @functools.partial(library.jit, static_argnums=0)
        def step(self, x):
            return x + 1

    model = Model()
    _, _, arrays = functions_of(1)(library)
    return lambda: model.step(arrays[0]), Model.step, arrays


def parts_of(called, compiled, arrays):
    """Return the seconds of the parts of a warm call of imprint."""
    for _ in range(8):  # the guard is compiled meanwhile
        called()
    (version,) = compiled.versions
    buffers, handlers = [x._buffer for x in arrays], version.executable.handlers
    execute = version.executable.execute

    def with_results():
        return execute(buffers).consume_with_handlers(handlers)

    sides = version.guard, lambda: execute(buffers), with_results, called
    guard, executing, engine, whole = best_times(sides)
    return {
        "execute": executing,
        "results": engine - executing,
        "guard": guard,
        "key, buffers, arrays": whole - engine - guard,
    }


def best_times(sides):
    """Return the least seconds of this thread in a call of each side, which alternate."""
    sides = [do_nothing, *sides]
    turns = [[cpu_seconds(side) for side in sides] for _ in range(100)]
    empty, *times = (min(times) for times in zip(*turns[1:], strict=True))
    return [seconds - empty for seconds in times]


def cpu_seconds(side, calls=1000):
    """Return the seconds of this thread in a call."""
    start = time.thread_time()
    for _ in range(calls):
        side()
    return (time.thread_time() - start) / calls


def peers():
    """Draw how much longer other libraries take for eight programs."""
    _, axes = plt.subplots(figsize=(7, 5))
    rows = [ratios(name, runs=1)[1] for name in FORMULATED]
    places = np.arange(len(rows))
    for i, peer in enumerate(PEERS):
        at = places + 0.2 * (i - 1.5)
        values = [row.get(peer, np.nan) for row in rows]
        axes.barh(at, values, height=0.18, label=peer, color=COLOURS[peer])
    axes.set_yticks(places, FORMULATED)
    axes.set_xscale("log")
    axes.axvline(1, color=COLOURS["imprint"], label="imprint")
    axes.invert_yaxis()
    axes.set_xlabel("time, as a multiple of imprint's")
    axes.legend(frameon=False, fontsize="small")
    save("peers")


def save(name):
    FOLDER.mkdir(exist_ok=True)
    plt.tight_layout()
    plt.savefig(FOLDER / f"{name}.svg", metadata={"Date": None})
    plt.close()


if __name__ == "__main__":
    for draw in (timeline, storm, bars, call, peers):
        if not sys.argv[1:] or draw.__name__ in sys.argv[1:]:
            draw()

"""Pictures of the documentation: `python -m benchmarks.pictures` writes `docs/pictures/`.

`timeline`: where the seconds of a first call go, and those of the same call in a second
process. `storm`: the time of each step of a loop that re-creates its function, and whose
batches vary in length. `bars`: programs, as multiples of JAX's time.
"""

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
from benchmarks import chains, missing, recomputation
from benchmarks.measure import measure

try:
    import matplotlib as mpl

    mpl.use("svg")
    from matplotlib import pyplot as plt
except ImportError as err:
    raise missing(err) from err

FOLDER = Path(__file__).parent.parent / "docs" / "pictures"
COLOURS = {"imprint": "#3949ab", "JAX": "#f9a825"}
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
    pairs = [
        *chains.PAIRS,
        *(p for p in recomputation.PAIRS if "compile" not in p.name),
    ]
    pairs = pairs[:8]
    ratios = []
    for pair in pairs:
        ours, theirs = measure(pair)
        ratios.append(ours.best / theirs.best)
    _, axes = plt.subplots(figsize=(7, 0.5 + 0.35 * len(pairs)))
    axes.barh([pair.name for pair in pairs], ratios, color=COLOURS["imprint"])
    axes.axvline(1, color=COLOURS["JAX"])
    axes.invert_yaxis()
    axes.set_xlabel("imprint's time, as a multiple of JAX's")
    save("bars")


def save(name):
    FOLDER.mkdir(exist_ok=True)
    plt.tight_layout()
    plt.savefig(FOLDER / f"{name}.svg", metadata={"Date": None})
    plt.close()


if __name__ == "__main__":
    for draw in (timeline, storm, bars):
        if not sys.argv[1:] or draw.__name__ in sys.argv[1:]:
            draw()

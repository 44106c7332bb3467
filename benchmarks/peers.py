"""The rows of `steady` against NumPy, Numba and torch, too, all in turn in one process.

`python -m benchmarks.peers [words]` measures the rows whose names contain a word, or all, and
prints each peer's time divided by imprint's. After them: the geometric mean of JAX's ratios,
the rows below 0.95, and those where a peer is ahead by more than 1.2 times. `--runs 3`
measures each row three times and prints the median, `--json FILE` writes every ratio. Numba
and torch (eager) are optional; a row without a peer has no function of that library.
"""

import argparse
import json
import math
import os
import time
import warnings
from collections.abc import Callable
from importlib import import_module
from itertools import repeat
from statistics import median
from types import SimpleNamespace
from typing import Any

import jax
import numpy as np

import imprint
from benchmarks.__main__ import machine, seconds
from benchmarks.pairs import block
from benchmarks.steady import ORDERED, PROGRAMS, WEIGHTS, polynomial

PEERS = ("JAX", "NumPy", "Numba", "torch")
ROUNDS = 15
SAMPLE_SECONDS = 0.004
LEAST = 0.95
MOST_AHEAD = 1.2
_FREE = ("matmul", "FFT")  # all libraries call the same kinds of routines


def optional(name: str) -> Any:
    """Return a package, or None if it is not installed."""
    try:
        return import_module(name)
    except ImportError:
        return None


numba, torch = optional("numba"), optional("torch")
_NUMPY = SimpleNamespace(numpy=np)


# ---- torch: the same functions, by its own names ----


def _torch_kalman(t, zs):
    f = t.eye(4) + 0.1 * t.diag(t.ones(2), 2)
    h, q, r = t.eye(2, 4), 0.01 * t.eye(4), 0.1 * t.eye(2)
    x, p, firsts = t.zeros(4), t.eye(4), []
    for z in zs:
        x, p = f @ x, f @ p @ f.T + q
        k = p @ h.T @ t.linalg.inv(h @ p @ h.T + r)
        x, p = x + k @ (z[:2] - h @ x), p - k @ h @ p
        firsts.append(x[0])
    return t.stack(firsts)


def _torch_heat(t, x):
    for _ in range(100):
        x = x + 0.1 * (t.roll(x, 1) - 2 * x + t.roll(x, -1))
    return x


def _torch_gru(t, xs):
    w, h = t.from_numpy(WEIGHTS), t.zeros(8)
    for x in xs:
        z = t.sigmoid(x @ w[0] + h @ w[1])
        r = t.sigmoid(x @ w[2] + h @ w[3])
        h = (1 - z) * t.tanh(x @ w[4] + (r * h) @ w[5]) + z * h
    return h


def _torch_segments(t, x):
    return t.zeros(1000).index_add_(0, t.from_numpy(ORDERED), x)


TORCH: dict[str, Callable[[Any, Any], Any]] = {
    "x % 0.3": lambda t, x: t.remainder(x, 0.3),
    "x % 0.3 of float64": lambda t, x: t.remainder(x, 0.3),
    "fmod by an array": lambda t, x: t.fmod(x, x.flip(0)),
    "products of 4 x 4": lambda t, x: x @ x,
    "products of 16 x 16": lambda t, x: x @ x,
    "products of 4 x 4 and vectors": lambda t, x: t.einsum("nij,nj->ni", x, x[:, 0]),
    "points @ 3 x 3": lambda t, x: x @ x[:3],
    "Kalman filter of 4": _torch_kalman,
    "GRU of 8": _torch_gru,
    "argmax": lambda t, x: x.argmax(),
    "argmin": lambda t, x: x.argmin(),
    "argmax of rows": lambda t, x: x.argmax(1),
    "argmax of columns": lambda t, x: x.argmax(0),
    "argmax of short rows": lambda t, x: x.argmax(1),
    "argmax of integers": lambda t, x: x.argmax(),
    "cumsum of 1e4": lambda t, x: x.cumsum(0),
    "cumsum": lambda t, x: x.cumsum(0),
    "cumsum of columns": lambda t, x: x.cumsum(0),
    "cumsum of rows": lambda t, x: x.cumsum(1),
    "cumprod of columns": lambda t, x: x.cumprod(0),
    "cumprod of rows": lambda t, x: x.cumprod(1),
    "cummax of rows": lambda t, x: x.cummax(1)[0],
    "cumsum of integers": lambda t, x: x.cumsum(0, dtype=t.int32),
    "median": lambda t, x: x.median(),
    "sort": lambda t, x: x.sort()[0],
    "sort of 1e4": lambda t, x: x.sort()[0],
    "sort of short rows": lambda t, x: x.sort()[0],
    "argsort of 1e5": lambda t, x: x.argsort(),
    "the 10 largest": lambda t, x: x.topk(10),
    "the 8 largest of rows": lambda t, x: x.topk(8),
    "sin": lambda t, x: x.sin(),
    "cos": lambda t, x: x.cos(),
    "tan": lambda t, x: x.tan(),
    "sin of float64": lambda t, x: x.sin(),
    "cos of float64": lambda t, x: x.cos(),
    "arcsin": lambda t, x: x.arcsin(),
    "arccos": lambda t, x: x.arccos(),
    "arctan2": lambda t, x: t.arctan2(x, x.flip(0)),
    "x ** 1.7": lambda t, x: x**1.7,
    "gelu": lambda t, x: t.nn.functional.gelu(x),
    "selu of 1e4": lambda t, x: t.nn.functional.selu(x),
    "distances of points": lambda t, x: t.cdist(x, x),
    "sum of rows of 3": lambda t, x: x.sum(1),
    "sum of rows of 8": lambda t, x: x.sum(1),
    "sum of rows of 32": lambda t, x: x.sum(1),
    "max of rows of 3": lambda t, x: x.amax(1),
    "softmax of rows of 8": lambda t, x: x.softmax(-1),
    "layernorm of 64 x 128": lambda t, x: t.nn.functional.layer_norm(x, (128,)),
    "histogram": lambda t, x: t.histc(x, 50),
    "sum of sorted segments": _torch_segments,
    "inverses of 4 x 4": lambda t, x: t.linalg.inv(x),
    "solutions of 4 x 4": lambda t, x: t.linalg.solve(x, x[:, :, :1]),
    "cholesky of 4 x 4": lambda t, x: t.linalg.cholesky(x),
    "determinants of 4 x 4": lambda t, x: t.linalg.det(x),
    "heat, 100 steps": _torch_heat,
    "matmul of 512": lambda t, x: x @ x,
    "FFT of 2**16": lambda t, x: t.fft.fft(x),
    "log1p(exp(x))": lambda t, x: t.log1p(t.exp(x)),
    "logsumexp of rows": lambda t, x: t.logsumexp(x, 1),
    "standard deviation of rows": lambda t, x: t.std(x, 1),
    "softmax of rows": lambda t, x: t.softmax(x, -1),
    "sum": lambda t, x: x.sum(),
    "transpose + x": lambda t, x: x.T + x,
    "gather of 1e6": lambda t, x: x[t.from_numpy(ORDERED)],
    "polynomial of degree 8": lambda t, x: polynomial(None, x),
    "exp": lambda t, x: x.exp(),
    "tanh": lambda t, x: x.tanh(),
    "max pooling of 3 x 3": lambda t, x: t.nn.functional.max_pool2d(x[None], 3, 1)[0],
}


# ---- NumPy and Numba ----


def _numpy_segments(x):
    starts = np.searchsorted(ORDERED, np.arange(1000))
    return np.add.reduceat(x, starts)


NUMPY: dict[str, Callable[[Any], Any]] = {
    "the 10 largest": lambda x: np.sort(np.partition(x, -10)[-10:]),
    "the 8 largest of rows": lambda x: np.sort(np.partition(x, -8)[:, -8:]),
    "sum of sorted segments": _numpy_segments,
}


def _argmax(x):
    at = 0
    for i in range(len(x)):
        if x[i] > x[at]:
            at = i
    return at


def _cumsum(x):
    out, total = np.empty_like(x), np.float32(0)
    for i in range(len(x)):
        total += x[i]
        out[i] = total
    return out


def _distances(x):
    n = len(x)
    out = np.empty((n, n), np.float32)
    for i in range(n):
        for j in range(n):
            a, b, c = x[i, 0] - x[j, 0], x[i, 1] - x[j, 1], x[i, 2] - x[j, 2]
            out[i, j] = np.sqrt(a * a + b * b + c * c)
    return out


def _heat(x):
    x, y, n = x.copy(), np.empty_like(x), len(x)
    for _ in range(100):
        for i in range(1, n - 1):
            y[i] = x[i] + np.float32(0.1) * (x[i - 1] - 2 * x[i] + x[i + 1])
        y[0] = x[0] + np.float32(0.1) * (x[n - 1] - 2 * x[0] + x[1])
        y[n - 1] = x[n - 1] + np.float32(0.1) * (x[n - 2] - 2 * x[n - 1] + x[0])
        x, y = y, x
    return x


def _sums(x):
    out = np.empty(len(x), np.float32)
    for i in range(len(x)):
        total = np.float32(0)
        for j in range(x.shape[1]):
            total += x[i, j]
        out[i] = total
    return out


def _products(x):
    out = np.zeros_like(x)
    for n in range(len(x)):
        for i in range(4):
            for k in range(4):
                for j in range(4):
                    out[n, i, j] += x[n, i, k] * x[n, k, j]
    return out


def _remainders(x):
    out = np.empty_like(x)
    for i in range(len(x)):
        out[i] = x[i] % np.float32(0.3)
    return out


LOOPS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("argmax", "argmax of integers"), _argmax),
    **dict.fromkeys(("cumsum of 1e4", "cumsum"), _cumsum),
    "distances of points": _distances,
    "heat, 100 steps": _heat,
    **{f"sum of rows of {n}": _sums for n in (3, 8, 32)},
    "products of 4 x 4": _products,
    "x % 0.3": _remainders,
}
"""Loops over elements, as a user of Numba writes them."""


# ---- measuring ----


def sides(name: str) -> dict[str, Callable[[], Any]]:
    """Return imprint's call of a row, and those of the peers that have one."""
    program, x = PROGRAMS[name]
    calls: dict[str, Callable[[], Any]] = {}
    for label, lib in (("imprint", imprint), ("JAX", jax)):
        run, on_device = lib.jit(lambda x, lib=lib: program(lib, x)), lib.device_put(x)
        calls[label] = lambda run=run, x=on_device: run(x)
    plain = NUMPY.get(name, lambda x: program(_NUMPY, x))
    try:
        plain(x)
    except AttributeError:
        pass  # NumPy has no such function
    else:
        calls["NumPy"] = lambda: plain(x)
    if numba is not None and name in LOOPS:
        loop = numba.njit(LOOPS[name])
        calls["Numba"] = lambda: loop(x)
    if torch is not None and name in TORCH:
        tensor = torch.from_numpy(x)
        calls["torch"] = lambda: TORCH[name](torch, tensor)
    return calls


def best_times(calls: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """Return the least seconds of a call of each side, measured in turn."""
    for call in calls.values():
        for _ in range(2):
            block(call())
    counts = {name: _count(call) for name, call in calls.items()}
    best = dict.fromkeys(calls, math.inf)
    for _ in range(ROUNDS):
        for name, call in calls.items():
            best[name] = min(best[name], _seconds(call, counts[name]))
    return best


def _seconds(call: Callable[[], Any], count: int) -> float:
    start = time.perf_counter()
    for _ in repeat(None, count):
        result = call()
    block(result)
    return (time.perf_counter() - start) / count


def _count(call: Callable[[], Any]) -> int:
    return max(1, int(SAMPLE_SECONDS / _seconds(call, 1)))


def ratios(name: str, runs: int) -> tuple[float, dict[str, float]]:
    """Return imprint's seconds, and by how much each peer takes longer: medians."""
    calls = sides(name)
    taken = [best_times(calls) for _ in range(runs)]
    ours = median(times["imprint"] for times in taken)
    return ours, {
        peer: median(times[peer] / times["imprint"] for times in taken)
        for peer in calls
        if peer != "imprint"
    }


# ---- printing ----


def summary(rows: dict[str, dict[str, float]]) -> list[str]:
    """Return the lines after the table."""
    of_jax = {name: row["JAX"] for name, row in rows.items()}
    mean = math.exp(sum(map(math.log, of_jax.values())) / len(of_jax))
    lines = [
        f"geometric mean of {len(rows)} rows: JAX takes {mean:.2f} times imprint's"
    ]
    below = [f"{name} {r:.2f}" for name, r in of_jax.items() if r < LEAST]
    lines.append(f"below {LEAST} of JAX: {'; '.join(below) or 'none'}")
    ahead = [
        f"{name}: {peer} {1 / r:.1f}"
        for name, row in rows.items()
        if not name.startswith(_FREE)
        for peer, r in row.items()
        if r * MOST_AHEAD < 1
    ]
    lines.append(
        f"a peer ahead by more than {MOST_AHEAD}: {'; '.join(ahead) or 'none'}"
    )
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers")
    parser.add_argument("words", nargs="*", help="of names of rows")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--json", help="a file for the ratios")
    given = parser.parse_args()
    warnings.filterwarnings("ignore", ".* was compiled 8 times")
    warnings.filterwarnings("ignore", ".*: expected large arrays as arguments")
    names = [
        name
        for name in PROGRAMS
        if not given.words or any(word in name for word in given.words)
    ]
    print(machine())
    for name, module in {"numba": numba, "torch": torch}.items():
        if module is None:
            print(f"{name} is not installed, so its column is empty")
    print("row".ljust(32) + "imprint".rjust(10) + "".join(p.rjust(8) for p in PEERS))
    rows = {}
    for name in names:
        ours, rows[name] = ratios(name, given.runs)
        cells = (f"{rows[name][p]:.2f}" if p in rows[name] else "" for p in PEERS)
        time_cell = seconds(ours).rjust(10)
        print(
            name.ljust(32) + time_cell + "".join(c.rjust(8) for c in cells), flush=True
        )
    print("\n".join(summary(rows)))
    if given.json:
        with open(given.json, "w", encoding="utf-8") as file:
            json.dump({"cpus": os.cpu_count(), "ratios": rows}, file, indent=1)


if __name__ == "__main__":
    main()

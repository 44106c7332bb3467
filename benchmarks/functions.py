"""Sixty functions outside of `jit`, on few elements, and their first calls.

They are common functions of each kind, not chosen for their speed. `python -m
benchmarks.functions imprint` prints the time of the first call of each, in a fork of a
process that has imported the library and made no array. So the time includes lazy imports,
and excludes the start of XLA.
"""

import json
import os
import sys
import warnings
from importlib import import_module

import numpy as np

from benchmarks.measure import sample
from benchmarks.pairs import Timing, block

_RNG = np.random.default_rng(0)
X, Y = _RNG.normal(size=(2, 64)).astype(np.float32)
P = np.abs(X) + np.float32(0.1)
B = _RNG.normal(size=(10, 10)).astype(np.float32)
M = _RNG.normal(size=(4, 4)).astype(np.float32)
S = (M @ M.T + 4 * np.eye(4)).astype(np.float32)
PLACES = np.array([3, 1, 2], np.int32)
NUMBERS = _RNG.integers(0, 10, 50).astype(np.int32)
MASK = X > 0
IMAGE = _RNG.normal(size=(1, 2, 8, 8)).astype(np.float32)
KERNEL = _RNG.normal(size=(3, 2, 3, 3)).astype(np.float32)

FUNCTIONS = {
    # elementwise
    "x + y": (lambda _, x, y: x + y, X, Y),
    "np.exp": (lambda lib, x: lib.numpy.exp(x), X),
    "np.maximum": (lambda lib, x, y: lib.numpy.maximum(x, y), X, Y),
    "np.where": (lambda lib, m, x: lib.numpy.where(m, x, 0), MASK, X),
    "np.clip": (lambda lib, x: lib.numpy.clip(x, -1, 1), X),
    "x % y": (lambda _, x, y: x % y, X, P),
    # reductions
    "np.sum": (lambda lib, x: lib.numpy.sum(x), X),
    "np.mean": (lambda lib, x: lib.numpy.mean(x, axis=0), B),
    "np.std": (lambda lib, x: lib.numpy.std(x), X),
    "np.max": (lambda lib, x: lib.numpy.max(x), X),
    "np.argmax": (lambda lib, x: lib.numpy.argmax(x), X),
    "np.cumsum": (lambda lib, x: lib.numpy.cumsum(x), X),
    # shapes
    "x.reshape": (lambda _, x: x.reshape(8, 8), X),
    "x.T": (lambda _, x: x.T, B),
    "np.concatenate": (lambda lib, x, y: lib.numpy.concatenate([x, y]), X, Y),
    "np.stack": (lambda lib, x, y: lib.numpy.stack([x, y]), X, Y),
    "np.pad": (lambda lib, x: lib.numpy.pad(x, 2), B),
    "np.linspace": (lambda lib: lib.numpy.linspace(0, 1, 10),),
    # indexing
    "x[3]": (lambda _, x: x[3], X),
    "x[1:5]": (lambda _, x: x[1:5], X),
    "x[places]": (lambda _, x, i: x[i], X, PLACES),
    "x[mask]": (lambda _, x, m: x[m], X, MASK),
    "x.at[3].set": (lambda _, x: x.at[3].set(1.0), X),
    "x.at[places].add": (lambda _, x, i: x.at[i].add(1.0), X, PLACES),
    # order
    "np.sort": (lambda lib, x: lib.numpy.sort(x), X),
    "np.argsort": (lambda lib, x: lib.numpy.argsort(x), X),
    "np.median": (lambda lib, x: lib.numpy.median(x), X),
    "np.quantile": (lambda lib, x: lib.numpy.quantile(x, 0.3), X),
    "np.unique": (lambda lib, x: lib.numpy.unique(x), NUMBERS),
    "np.isin": (lambda lib, x, y: lib.numpy.isin(x, y), NUMBERS, PLACES),
    # products
    "x @ y": (lambda _, x, y: x @ y, B, B),
    "np.outer": (lambda lib, x, y: lib.numpy.outer(x, y), X, Y),
    "np.einsum": (lambda lib, x, y: lib.numpy.einsum("ij,jk", x, y), B, B),
    "np.convolve": (lambda lib, x, y: lib.numpy.convolve(x, y), X, Y),
    "np.interp": (lambda lib, x, y: lib.numpy.interp(x, y, x), X, np.sort(Y)),
    "np.histogram": (lambda lib, x: lib.numpy.histogram(x, 10), X),
    # linear algebra
    "np.linalg.solve": (lambda lib, a, b: lib.numpy.linalg.solve(a, b), S, M),
    "np.linalg.inv": (lambda lib, a: lib.numpy.linalg.inv(a), S),
    "np.linalg.norm": (lambda lib, x: lib.numpy.linalg.norm(x), X),
    "np.linalg.eigh": (lambda lib, a: lib.numpy.linalg.eigh(a), S),
    "np.linalg.svd": (lambda lib, a: lib.numpy.linalg.svd(a), M),
    "np.linalg.cholesky": (lambda lib, a: lib.numpy.linalg.cholesky(a), S),
    # spectra
    "np.fft.fft": (lambda lib, x: lib.numpy.fft.fft(x), X),
    "np.fft.irfft": (lambda lib, x: lib.numpy.fft.irfft(x), X),
    "np.fft.fftshift": (lambda lib, x: lib.numpy.fft.fftshift(x), X),
    # draws
    "random.split": (lambda lib, k: lib.random.split(k), "key"),
    "random.normal": (lambda lib, k: lib.random.normal(k, (10,)), "key"),
    "random.randint": (lambda lib, k: lib.random.randint(k, (10,), 0, 5), "key"),
    # networks
    "nn.relu": (lambda lib, x: lib.nn.relu(x), X),
    "nn.gelu": (lambda lib, x: lib.nn.gelu(x), X),
    "nn.softmax": (lambda lib, x: lib.nn.softmax(x), X),
    "nn.one_hot": (lambda lib, x: lib.nn.one_hot(x, 10), NUMBERS),
    # special functions
    "special.erf": (lambda lib, x: lib.scipy.special.erf(x), X),
    "special.gammaln": (lambda lib, x: lib.scipy.special.gammaln(x), P),
    "special.xlogy": (lambda lib, x, y: lib.scipy.special.xlogy(x, y), P, P),
    "special.logsumexp": (lambda lib, x: lib.scipy.special.logsumexp(x), X),
    # lax
    "lax.top_k": (lambda lib, x: lib.lax.top_k(x, 3), X),
    "lax.select": (lambda lib, m, x, y: lib.lax.select(m, x, y), MASK, X, Y),
    "lax.dynamic_slice": (lambda lib, x: lib.lax.dynamic_slice(x, (3,), (4,)), X),
    "lax.conv": (
        lambda lib, x, k: lib.lax.conv(x, k, (1, 1), "SAME"),
        IMAGE,
        KERNEL,
    ),
}
assert len(FUNCTIONS) == 60


def call_of(lib, name):
    """Return the call of a function whose operands are on the device."""
    function, *operands = FUNCTIONS[name]
    arrays = [
        lib.random.key(0) if isinstance(x, str) else lib.device_put(x) for x in operands
    ]
    return lambda: function(lib, *arrays)


def first_call(lib, name):
    """Return the seconds of the first call of a function in this process."""
    block(lib.device_put(np.zeros(3, np.float32)))
    return sample(call_of(lib, name), 1, Timing.LOOP)


def in_fork(measured):
    """Return the number that a function returns in a fork of this process."""
    reads, writes = os.pipe()
    if not os.fork():
        os.write(writes, str(measured()).encode())
        os._exit(0)
    os.close(writes)
    with os.fdopen(reads) as pipe:
        number = float(pipe.read())
    os.wait()
    return number


def main():
    lib = import_module(sys.argv[1])
    if lib.__name__ == "jax":
        import_module("jax.scipy.special")  # imprint loads names lazily
    warnings.simplefilter("ignore")  # JAX's of forks; it has no threads yet
    print(json.dumps({x: in_fork(lambda x=x: first_call(lib, x)) for x in FUNCTIONS}))


if __name__ == "__main__":
    main()

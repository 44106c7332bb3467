"""Compiled programs in their steady state: functions whose StableHLO imprint chooses.

The timer holds a call of the compiled program and the wait for its results. A `compile`
row has tracing and lowering outside the timer.
"""

import itertools

import jax
import numpy as np

import imprint
import imprint.lax
import imprint.scipy
from benchmarks.pairs import Pair, Suite, Timing

_RNG = np.random.default_rng(0)


def normal(*shape, dtype=np.float32):
    return _RNG.normal(size=shape).astype(dtype)


def tame(n):
    """Return a symmetric, positive definite matrix."""
    x = normal(n, n)
    return x @ x.T / n + np.eye(n, dtype=np.float32)


LONG = normal(1_000_000)
DOUBLES = normal(1_000_000, dtype=np.float64)
ROWS = normal(1024, 1024)
WIDE = normal(64, 50_000)
SHORT_ROWS = normal(1000, 64)
SMALL = normal(10_000, 4, 4)
POSITIVE = np.stack([tame(4) for _ in range(1000)])
POINTS = normal(100_000, 3)
CELLS = _RNG.integers(0, 1000, 1_000_000).astype(np.int32)
ORDERED = np.sort(CELLS)
STATES = normal(1000, 4)


def kalman(lib, zs):
    """Return the last state of a filter of four numbers, and its covariance."""
    np = lib.numpy
    f = np.eye(4) + 0.1 * np.eye(4, k=2)
    h, q, r = np.eye(2, 4), 0.01 * np.eye(4), 0.1 * np.eye(2)

    def step(state, z):
        x, p = state
        x, p = f @ x, f @ p @ f.T + q
        s = h @ p @ h.T + r
        (a, b), (c, d) = s
        inverse = np.array([[d, -b], [-c, a]]) / (a * d - b * c)
        k = p @ h.T @ inverse
        return (x + k @ (z[:2] - h @ x), p - k @ h @ p), x[0]

    return lib.lax.scan(step, (np.zeros(4), np.eye(4)), zs)


def gru(lib, xs):
    """Return the last state of a recurrent network of eight numbers."""
    np = lib.numpy
    w = WEIGHTS

    def step(h, x):
        z = lib.nn.sigmoid(x @ w[0] + h @ w[1])
        r = lib.nn.sigmoid(x @ w[2] + h @ w[3])
        n = np.tanh(x @ w[4] + (r * h) @ w[5])
        return (1 - z) * n + z * h, None

    return lib.lax.scan(step, np.zeros(8), xs)[0]


WEIGHTS = normal(6, 8, 8) * np.float32(0.3)


def distances(lib, x):
    gap = x[:, None] - x[None]
    return lib.numpy.sqrt((gap * gap).sum(-1))


def unary(name):
    return lambda lib, x: getattr(lib.numpy, name)(x)


def along(name, axis):
    return lambda lib, x: getattr(lib.numpy, name)(x, axis=axis)


PROGRAMS = {
    "x % 0.3": (lambda _, x: x % 0.3, LONG),
    "x % 0.3 of float64": (lambda _, x: x % 0.3, DOUBLES),
    "fmod by an array": (lambda lib, x: lib.numpy.fmod(x, x[::-1]), LONG),
    "products of 4 x 4": (lambda _, x: x @ x, SMALL),
    "products of 16 x 16": (lambda _, x: x @ x, normal(1000, 16, 16)),
    "products of 4 x 4 and vectors": (
        lambda lib, x: lib.numpy.einsum("nij,nj->ni", x, x[:, 0]),
        SMALL,
    ),
    "points @ 3 x 3": (lambda _, x: x @ x[:3], POINTS),
    "Kalman filter of 4": (kalman, STATES),
    "GRU of 8": (gru, normal(1000, 8)),
    "argmax": (along("argmax", None), LONG),
    "argmin": (along("argmin", None), LONG),
    "argmax of rows": (along("argmax", 1), WIDE),
    "argmax of columns": (along("argmax", 0), ROWS),
    "argmax of short rows": (along("argmax", 1), SHORT_ROWS),
    "argmax of integers": (along("argmax", None), CELLS),
    "cumsum of 1e4": (along("cumsum", 0), LONG[:10_000]),
    "cumsum": (along("cumsum", 0), LONG),
    "cumsum of columns": (along("cumsum", 0), ROWS),
    "cumsum of rows": (along("cumsum", 1), ROWS),
    "cumprod of columns": (along("cumprod", 0), ROWS),
    "cumprod of rows": (along("cumprod", 1), ROWS),
    "cummax of rows": (lambda lib, x: lib.lax.cummax(x, axis=1), ROWS),
    "cumsum of integers": (along("cumsum", 0), CELLS),
    "median": (along("median", None), LONG),
    "sort": (along("sort", 0), LONG),
    "sort of 1e4": (along("sort", 0), LONG[:10_000]),
    "sort of short rows": (along("sort", 1), SHORT_ROWS),
    "argsort of 1e5": (along("argsort", 0), LONG[:100_000]),
    "the 10 largest": (lambda lib, x: lib.lax.top_k(x, 10), LONG),
    "the 8 largest of rows": (lambda lib, x: lib.lax.top_k(x, 8), normal(64, 10_000)),
    "sin": (unary("sin"), LONG),
    "cos": (unary("cos"), LONG),
    "tan": (unary("tan"), LONG),
    "sin of float64": (unary("sin"), DOUBLES),
    "cos of float64": (unary("cos"), DOUBLES),
    "arcsin": (unary("arcsin"), LONG / 8),
    "arccos": (unary("arccos"), LONG / 8),
    "cbrt": (unary("cbrt"), LONG),
    "arctan2": (lambda lib, x: lib.numpy.arctan2(x, x[::-1]), LONG),
    "x ** 1.7": (lambda _, x: x**1.7, np.abs(LONG)),
    "gelu": (lambda lib, x: lib.nn.gelu(x, approximate=False), LONG[:100_000]),
    "selu of 1e4": (lambda lib, x: lib.nn.selu(x), LONG[:10_000]),
    "distances of points": (distances, POINTS[:1000]),
    "sum of rows of 3": (along("sum", 1), normal(300_000, 3)),
    "sum of rows of 8": (along("sum", 1), normal(100_000, 8)),
    "sum of rows of 32": (along("sum", 1), normal(30_000, 32)),
    "max of rows of 3": (along("max", 1), normal(300_000, 3)),
    "softmax of rows of 8": (lambda lib, x: lib.nn.softmax(x), normal(100_000, 8)),
    "layernorm of 64 x 128": (lambda lib, x: layernorm(lib, x), normal(64, 128)),
    "histogram": (lambda lib, x: lib.numpy.histogram(x, 50), LONG),
    "sum of sorted segments": (
        lambda lib, x: lib.ops.segment_sum(x, ORDERED, 1000, indices_are_sorted=True),
        LONG,
    ),
    "sum of segments": (lambda lib, x: lib.ops.segment_sum(x, CELLS, 1000), LONG),
    "inverses of 4 x 4": (lambda lib, x: lib.numpy.linalg.inv(x), POSITIVE),
    "solutions of 4 x 4": (
        lambda lib, x: lib.numpy.linalg.solve(x, x[:, :, :1]),
        POSITIVE,
    ),
    "cholesky of 4 x 4": (lambda lib, x: lib.numpy.linalg.cholesky(x), POSITIVE),
    "determinants of 4 x 4": (lambda lib, x: lib.numpy.linalg.det(x), POSITIVE),
    "heat, 100 steps": (lambda lib, x: heat(lib, x, 100), LONG[:100_000]),
    # what XLA does well
    "matmul of 512": (lambda _, x: x @ x, ROWS[:512, :512]),
    "FFT of 2**16": (lambda lib, x: lib.numpy.fft.fft(x), LONG[: 2**16]),
    "sum": (lambda _, x: x.sum(), LONG),
    "exp": (unary("exp"), LONG),
    "tanh": (unary("tanh"), LONG),
    "log1p(exp(x))": (lambda lib, x: lib.numpy.log1p(lib.numpy.exp(x)), LONG),
    "polynomial of degree 8": (lambda lib, x: polynomial(lib, x), LONG),
    "ten tanh": (lambda lib, x: repeated(lib.numpy.tanh, x, 10), LONG[:100_000]),
    "transpose + x": (lambda _, x: x.T + x, ROWS),
    "gather of 1e6": (lambda _, x: x[ORDERED], LONG),
    "standard deviation of rows": (lambda lib, x: lib.numpy.std(x, axis=1), ROWS),
    "softmax of rows": (lambda lib, x: lib.nn.softmax(x), ROWS),
    "logsumexp of rows": (lambda lib, x: logsumexp(lib, x), ROWS),
    "max pooling of 3 x 3": (lambda lib, x: pooled(lib, x), ROWS),
    "Mandelbrot, 50 steps": (lambda lib, x: mandelbrot(lib, x), ROWS[:256, :256]),
    "gradient of a network": (lambda lib, x: slope(lib, x), normal(64, 64)),
    "attention of 128": (lambda lib, x: attention(lib, x), normal(8, 128, 64)),
    "random numbers": (
        lambda lib, x: x + lib.random.normal(lib.random.key(0), x.shape),
        LONG,
    ),
    "midpoint rule, 20 steps": (lambda lib, x: midpoint(lib, x), normal(3, 1000)),
}


def polynomial(_, x):
    y = x
    for k in range(8):
        y = y * x + k
    return y


def repeated(function, x, times):
    for _ in range(times):
        x = function(x)
    return x


def logsumexp(lib, x):
    most = x.max(1, keepdims=True)
    return lib.numpy.log(lib.numpy.exp(x - most).sum(1)) + most[:, 0]


def pooled(lib, x):
    return lib.lax.reduce_window(
        x, -np.inf, lib.lax.max, (3, 3), (1, 1), padding="VALID"
    )


def mandelbrot(lib, c):
    def step(_, z):
        a, b = z
        return a * a - b * b + c, 2 * a * b + c.T

    return lib.lax.fori_loop(0, 50, step, (c * 0, c * 0))[0]


def slope(lib, w):
    def loss(w):
        return (repeated(lambda y: lib.numpy.tanh(y @ w), w, 4) ** 2).mean()

    return lib.grad(loss)(w)


def attention(lib, x):
    scores = x @ x.transpose(0, 2, 1) / 8
    return lib.nn.softmax(scores) @ x


def midpoint(lib, x):
    """Return three coupled numbers after 20 steps that Python unrolls."""
    a, b, c = x

    def slopes(a, b, c):
        return 10 * (b - a), a * (28 - c) - b, a * b - 8 / 3 * c

    for _ in range(20):
        middle = [
            v + 0.005 * d for v, d in zip((a, b, c), slopes(a, b, c), strict=True)
        ]
        a, b, c = (
            v + 0.01 * d for v, d in zip((a, b, c), slopes(*middle), strict=True)
        )
    return a, b, c


def layernorm(lib, x):
    gap = x - x.mean(-1, keepdims=True)
    return gap / lib.numpy.sqrt((gap * gap).mean(-1, keepdims=True) + 1e-5)


def heat(lib, x, steps):
    roll = lib.numpy.roll

    def step(_, x):
        return x + 0.1 * (roll(x, 1) - 2 * x + roll(x, -1))

    return lib.lax.fori_loop(0, steps, step, x)


def _run(lib, name):
    """Return the call of a program, compiled, whose operand is on the device."""
    program, x = PROGRAMS[name]
    run, x = lib.jit(lambda x: program(lib, x)), lib.device_put(x)
    return lambda: run(x)


def _compile(lib, name):
    """Return what lowers a program that no cache has seen, and returns its compilation."""
    program, x = PROGRAMS[name]

    def fresh():
        salt = next(_SALTS)
        return lib.jit(lambda x: (program(lib, x), salt)).lower(x).compile

    return fresh


_SALTS = itertools.count(0.5)

PAIRS = [
    *(
        Pair(name, _run(imprint, name), _run(jax, name), target=1.05)
        for name in PROGRAMS
    ),
    *(
        Pair(
            f"compile: {name}",
            _compile(imprint, name),
            _compile(jax, name),
            target=1.1,
            timing=Timing.FRESH,
        )
        for name in PROGRAMS
    ),
]


class Steady(Suite):
    pairs = PAIRS

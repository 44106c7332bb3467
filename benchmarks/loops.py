"""Loops: runs of compiled loops, and eager loops with a re-created step.

Timed: a call of the compiled program and the wait for its result; in the rows of eager
loops, the loop with a re-created lambda as its step.
"""

import jax
import numpy as np

import imprint
from benchmarks.pairs import Pair, Suite, Timing


def lorenz(lib):
    """Return 100,000 steps of Runge and Kutta's through Lorenz's attractor."""

    def velocity(p):
        x, y, z = p
        return 10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z

    def moved(p, v, h):
        return tuple(a + h * b for a, b in zip(p, v, strict=True))

    def step(p, _):
        h = 1e-3
        k1 = velocity(p)
        k2 = velocity(moved(p, k1, h / 2))
        k3 = velocity(moved(p, k2, h / 2))
        k4 = velocity(moved(p, k3, h))
        p = tuple(
            a + h / 6 * (b + 2 * c + 2 * d + e)
            for a, b, c, d, e in zip(p, k1, k2, k3, k4, strict=True)
        )
        return p, p[0]

    run = lib.jit(lambda p: lib.lax.scan(step, p, None, 100_000))
    start = tuple(np.float32([1.0, 1.0, 20.0]))
    return lambda: run(start)


WIDTH = 64


def _cell(lib):
    def cell(w, h, x):
        joined = lib.numpy.concatenate([h, x])
        gates = 1 / (1 + lib.numpy.exp(-(joined @ w["gates"])))
        reset, update = gates[:WIDTH], gates[WIDTH:]
        new = lib.numpy.tanh(lib.numpy.concatenate([reset * h, x]) @ w["new"])
        return update * h + (1 - update) * new

    return cell


def _weights():
    rng = np.random.default_rng(0)
    gates = rng.normal(size=(2 * WIDTH, 2 * WIDTH)) * 0.1
    new = rng.normal(size=(2 * WIDTH, WIDTH)) * 0.1
    xs = rng.normal(size=(500, WIDTH))
    weights = {"gates": gates.astype(np.float32), "new": new.astype(np.float32)}
    return weights, xs.astype(np.float32)


def gru(lib):
    """Return 500 steps of a gated recurrent unit, and the loss of them."""
    cell, (w, xs) = _cell(lib), _weights()

    def loss(w, xs):
        step = lambda h, x: (cell(w, h, x),) * 2
        _, hs = lib.lax.scan(step, lib.numpy.zeros(WIDTH), xs)
        return (hs**2).mean()

    return loss, w, xs


def gru_forward(lib):
    loss, w, xs = gru(lib)
    run = lib.jit(loss)
    return lambda: run(w, xs)


def gru_gradient(lib):
    loss, w, xs = gru(lib)
    run = lib.jit(lib.grad(loss))
    return lambda: (*run(w, xs).values(),)


def bodies(lib):
    """Return 1,000 leapfrog steps of 64 bodies."""
    rng = np.random.default_rng(1)
    x, v = rng.normal(size=(2, 64, 3)).astype(np.float32)

    def pull(x):
        away = x[None] - x[:, None]
        distance = (away**2).sum(-1) + 0.1
        return (away * distance[..., None] ** -1.5).sum(1) / 64

    def step(_, state):
        x, v = state
        v = v + 0.001 * pull(x)
        return x + 0.001 * v, v

    run = lib.jit(lambda x, v: lib.lax.fori_loop(0, 1000, step, (x, v)))
    return lambda: run(x, v)


def stencil(lib):
    """Return 500 steps of diffusion on 100,000 points: more memory than a small loop."""

    def step(_, u):
        padded = lib.numpy.pad(u, 1)
        return u + 0.2 * (padded[2:] - 2 * u + padded[:-2])

    run = lib.jit(lambda u: lib.lax.fori_loop(0, 500, step, u))
    start = np.linspace(0, 1, 100_000, dtype=np.float32)
    return lambda: run(start)


def kalman(lib):
    """Return 5,000 steps of a filter of four states and two measurements."""
    f = np.eye(4, dtype=np.float32)
    f[0, 2] = f[1, 3] = 0.1
    h = np.eye(2, 4, dtype=np.float32)
    zs = np.random.default_rng(2).normal(size=(5000, 2)).astype(np.float32)

    def step(state, z):
        x, p = state
        x, p = f @ x, f @ p @ f.T + 0.01 * np.eye(4, dtype=np.float32)
        s = h @ p @ h.T + 0.1 * np.eye(2, dtype=np.float32)
        (a, b), (c, d) = s[0], s[1]
        inverse = lib.numpy.stack(
            [lib.numpy.stack([d, -b]), lib.numpy.stack([-c, a])]
        ) / (a * d - b * c)
        gain = p @ h.T @ inverse
        x = x + gain @ (z - h @ x)
        return (x, p - gain @ h @ p), x

    start = np.zeros(4, np.float32), np.eye(4, dtype=np.float32)
    run = lib.jit(lambda start, zs: lib.lax.scan(step, start, zs))
    return lambda: run(start, zs)


def mandelbrot(lib):
    """Return how many steps each of 128 x 128 points takes to leave, 200 at most."""
    real, imag = np.meshgrid(np.linspace(-2, 1, 128), np.linspace(-1.5, 1.5, 128))
    c = (real + 1j * imag).astype(np.complex64)

    def steps(c):
        ask = lambda s: (s[1] < 200) & (abs(s[0]) < 2)
        step = lambda s: (s[0] * s[0] + c, s[1] + 1)
        return lib.lax.while_loop(ask, step, (c * 0, 0))[1]

    run = lib.jit(lib.vmap(lib.vmap(steps)))
    return lambda: run(c)


def orbit(lib):
    """Return where a comet is after a time: Bogacki and Shampine's steps, as long as fit."""

    def velocity(y):
        x, v = y[:2], y[2:]
        return lib.numpy.concatenate([v, -x * (x * x).sum() ** -1.5])

    def under_way(state):
        return (state[0] < 200.0) & (state[4] < 100_000)

    def step(state):
        t, h, y, k1, count = state
        h = lib.numpy.minimum(h, 200.0 - t)
        k2 = velocity(y + h / 2 * k1)
        k3 = velocity(y + h * 3 / 4 * k2)
        new = y + h / 9 * (2 * k1 + 3 * k2 + 4 * k3)
        k4 = velocity(new)
        off = h / 72 * (-5 * k1 + 6 * k2 + 8 * k3 - 9 * k4)
        scale = 1e-6 + 1e-5 * lib.numpy.maximum(abs(y), abs(new))
        error = lib.numpy.sqrt(((off / scale) ** 2).mean())
        fits = error <= 1
        choose = lambda a, b: lib.numpy.where(fits, a, b)
        longer = h * lib.numpy.clip(0.9 * error ** (-1 / 3), 0.2, 5.0)
        return choose(t + h, t), longer, choose(new, y), choose(k4, k1), count + 1

    def run(y):
        start = (0.0, 1e-3, y, velocity(y), 0)
        return lib.lax.while_loop(under_way, step, start)[2:]

    solve, start = lib.jit(run), np.float32([1.0, 0.0, 0.0, 0.5])
    return lambda: solve(start)


def made_anew(lib):
    """Return an eager loop whose step is a lambda of each call's own."""
    xs = lib.numpy.arange(100.0)
    return lambda: lib.lax.scan(lambda c, x: (c * 0.5 + x, c), 0.0, xs)


def gradient_made_anew(lib):
    """Return the eager gradient of a loop with a re-created step."""
    xs = lib.numpy.arange(100.0)
    loss = lambda c: lib.lax.scan(lambda c, x: (c * 0.5 + x, c), c, xs)[0]
    return lambda: lib.grad(lambda c: loss(c) ** 2)(1.0)


def pair(name, make, target=1.05):
    return Pair(name, ours=make(imprint), jax=make(jax), target=target)


def anew(name, make, target):
    def fresh(lib):
        run = make(lib)
        run()
        return run

    ours, theirs = (lambda: fresh(imprint)), (lambda: fresh(jax))
    return Pair(name, ours=ours, jax=theirs, target=target, timing=Timing.FRESH)


PAIRS = [
    pair("loop: Lorenz, RK4, 100,000 steps", lorenz),
    pair("loop: GRU of 64, 500 steps", gru_forward),
    pair("loop: grad of the GRU", gru_gradient),
    pair("loop: 64 bodies, 1,000 steps", bodies),
    pair("loop: stencil of 100,000, 500 steps", stencil),
    pair("loop: Kalman filter, 5,000 steps", kalman),
    pair("loop: Mandelbrot, 128 x 128, while", mandelbrot),
    pair("loop: orbit, adaptive steps, while", orbit),
    anew("loop: eager scan made anew", made_anew, 0.05),
    anew("loop: eager grad of a scan made anew", gradient_made_anew, 0.05),
]


class Loops(Suite):
    pairs = PAIRS

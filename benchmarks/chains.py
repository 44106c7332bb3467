"""Chains of samples: random numbers drawn, and accepted or not, inside of a loop.

The timer holds a call of the compiled program and the wait for its samples.
"""

import jax
import numpy as np

import imprint
from benchmarks.pairs import Pair, Suite


def hamiltonian(lib):
    """Return 500 samples of a regression's 8 weights, 16 leapfrog steps each."""
    rng = np.random.default_rng(3)
    features = rng.normal(size=(200, 8)).astype(np.float32)
    labels = (rng.uniform(size=200) < 0.5).astype(np.float32)

    def density(q):
        logits = features @ q
        likelihood = labels * logits - lib.numpy.logaddexp(0, logits)
        return likelihood.sum() - 0.5 * (q * q).sum()

    slope = lib.grad(density)

    def leapfrog(_, state):
        q, p = state
        p = p + 0.01 * slope(q)
        q = q + 0.02 * p
        return q, p + 0.01 * slope(q)

    def sample(q, key):
        kick, choice = lib.random.split(key)
        p = lib.random.normal(kick, q.shape)
        new, end = lib.lax.fori_loop(0, 16, leapfrog, (q, p))
        gain = density(new) - density(q) - 0.5 * ((end * end).sum() - (p * p).sum())
        q = lib.numpy.where(lib.numpy.log(lib.random.uniform(choice)) < gain, new, q)
        return q, q

    def chain(key, q):
        return lib.lax.scan(sample, q, lib.random.split(key, 500))[1]

    run, key = lib.jit(chain), lib.random.key(0)
    return lambda: run(key, np.zeros(8, np.float32))


def metropolis(lib):
    """Return 10,000 steps of a random walk in two dimensions; the loop carries the key."""

    def density(x):
        return -((x[0] ** 2 + x[1] - 11) ** 2 + (x[0] + x[1] ** 2 - 7) ** 2) / 20

    def step(state, _):
        key, x, height = state
        key, move, choice = lib.random.split(key, 3)
        new = x + 0.5 * lib.random.normal(move, (2,))
        reached = density(new)
        chosen = lib.numpy.log(lib.random.uniform(choice)) < reached - height
        x = lib.numpy.where(chosen, new, x)
        return (key, x, lib.numpy.where(chosen, reached, height)), x

    def chain(key, x):
        return lib.lax.scan(step, (key, x, density(x)), None, 10_000)[1]

    run, key = lib.jit(chain), lib.random.key(0)
    return lambda: run(key, np.zeros(2, np.float32))


def pair(name, make):
    return Pair(name, ours=make(imprint), jax=make(jax), target=1.05)


PAIRS = [
    pair("chain: Hamiltonian, 500 of 16 steps", hamiltonian),
    pair("chain: Metropolis, 10,000 steps", metropolis),
]


class Chains(Suite):
    pairs = PAIRS

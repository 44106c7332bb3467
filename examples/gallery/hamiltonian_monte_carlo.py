"""Hamiltonian Monte Carlo: samples of a correlated normal distribution, four chains.

A step is ten leapfrog steps along the gradient of the log-density, then accepted or not.
`vmap` runs the chains together.
"""

import imprint
import imprint.numpy as np
from imprint import lax, random

PRECISION = np.linalg.inv(np.array([[1.0, 0.8], [0.8, 2.0]]))


def log_density(x):
    return -0.5 * x @ PRECISION @ x


def sample(x, key, step=0.3, leaps=10):
    """Return the next state of a chain."""
    kick, choice = random.split(key)
    slope = imprint.grad(log_density)

    def leap(_, state):
        x, p = state
        p = p + 0.5 * step * slope(x)
        x = x + step * p
        return x, p + 0.5 * step * slope(x)

    p = random.normal(kick, x.shape)
    new, end = lax.fori_loop(0, leaps, leap, (x, p))
    gain = log_density(new) - log_density(x) - 0.5 * (end @ end - p @ p)
    x = np.where(np.log(random.uniform(choice)) < gain, new, x)
    return x, x


@imprint.jit(static_argnames="count")
def chain(key, count):
    """Return the samples of one chain."""
    return lax.scan(sample, np.zeros(2), random.split(key, count))[1]


def main():
    """Draw from four chains, and estimate the covariance."""
    keys = random.split(random.key(0), 4)
    samples = imprint.vmap(lambda key: chain(key, count=2000))(keys).reshape(-1, 2)
    covariance = np.cov(samples.T)
    print("mean", samples.mean(0).round(1), "covariance", covariance.round(1), sep="\n")
    return samples, covariance


def plot(figure, found):
    """Draw the samples."""
    axes = figure.subplots()
    axes.plot(*found[0].T, ".", markersize=2)
    axes.set_aspect("equal")


if __name__ == "__main__":
    main()

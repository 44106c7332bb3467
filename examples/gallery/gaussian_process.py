"""Gaussian process: fit the length scale by gradients, and predict with uncertainty.

The kernel is the squared exponential, of one length scale. The marginal likelihood is
differentiated through the Cholesky factor.
"""

import imprint
import imprint.numpy as np
from imprint import random


def kernel(x, y, scale):
    return np.exp(-0.5 * ((x[:, None] - y[None, :]) / scale) ** 2)


@imprint.jit
def loss(log_scale, x, y, noise=0.1):
    """Return the negative logarithm of the marginal likelihood."""
    covariance = kernel(x, x, np.exp(log_scale)) + noise**2 * np.eye(len(x))
    factor = np.linalg.cholesky(covariance)
    white = np.linalg.solve(factor, y)
    return 0.5 * white @ white + np.log(np.diagonal(factor)).sum()


@imprint.jit
def predict(log_scale, x, y, new, noise=0.1):
    """Return means and standard deviations at new points."""
    scale = np.exp(log_scale)
    covariance = kernel(x, x, scale) + noise**2 * np.eye(len(x))
    across = kernel(x, new, scale)
    weights = np.linalg.solve(covariance, across)
    variance = 1.0 - (across * weights).sum(0)
    return weights.T @ y, np.sqrt(variance)


def main():
    """Fit noisy values of a sine."""
    x = np.linspace(0.0, 6.0, 25)
    y = np.sin(x) + 0.1 * random.normal(random.key(0), x.shape)
    log_scale, slope = np.asarray(-1.0), imprint.jit(imprint.grad(loss))
    for _ in range(100):
        log_scale = log_scale - 0.02 * slope(log_scale, x, y)
    new = np.array([0.5, 3.0, 9.0])
    mean, deviation = predict(log_scale, x, y, new)
    print(f"length scale {float(np.exp(log_scale)):.2f}")
    for at, value, width in zip(new, mean, deviation, strict=True):
        print(f"f({at:.1f}) = {float(value):.2f} ± {float(width):.2f}")
    return log_scale, (x, y), mean, deviation


def plot(figure, found):
    """Draw the data, the mean, and two deviations to each side."""
    log_scale, data, _, _ = found
    new = np.linspace(-1.0, 10.0, 200)
    mean, deviation = predict(log_scale, *data, new)
    axes = figure.subplots()
    axes.fill_between(new, mean - 2 * deviation, mean + 2 * deviation, alpha=0.3)
    axes.plot(new, mean)
    axes.plot(*data, "k.")


if __name__ == "__main__":
    main()

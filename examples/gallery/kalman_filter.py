"""Kalman filter: estimate position and speed from noisy positions, in one `scan`.

The state is a position and a speed; a sensor sees the position with noise. The filter is
the body of the scan, so a program of any length compiles once.
"""

import imprint
import imprint.numpy as np
from imprint import lax, random

STEP = 0.1
MOTION = np.array([[1.0, STEP], [0.0, 1.0]])
SEEN = np.array([[1.0, 0.0]])
MOTION_NOISE = 1e-5 * np.eye(2)
SENSOR_NOISE = np.array([[0.25]])


def update(state, seen):
    """Predict the next state, then correct it by what is seen."""
    mean, covariance = state
    mean, covariance = MOTION @ mean, MOTION @ covariance @ MOTION.T + MOTION_NOISE
    spread = SEEN @ covariance @ SEEN.T + SENSOR_NOISE
    gain = np.linalg.solve(spread, SEEN @ covariance).T
    mean = mean + gain @ (seen - SEEN @ mean)
    covariance = covariance - gain @ SEEN @ covariance
    return (mean, covariance), mean


@imprint.jit
def filtered(observations):
    """Return the estimated positions and speeds."""
    start = np.zeros(2), np.eye(2)
    return lax.scan(update, start, observations)[1]


def main():
    """Follow an object of speed 2."""
    times = STEP * np.arange(1, 201)
    noise = 0.5 * random.normal(random.key(0), times.shape)
    seen = 2 * times + noise
    found = filtered(seen[:, None])
    errors = np.abs(found[-50:, 0] - 2 * times[-50:]).mean()
    print(f"speed {float(found[-1, 1]):.2f}")
    print(
        f"mean error: sensor {float(np.abs(noise).mean()):.2f}, filter {float(errors):.2f}"
    )
    return seen, found


def plot(figure, found):
    """Draw the distance from the true position: of the sensor, and of the filter."""
    seen, (position, _) = found[0], found[1].T
    truth = 2 * STEP * np.arange(1, len(seen) + 1)
    axes = figure.subplots()
    axes.plot(truth, seen - truth, ".", label="sensor")
    axes.plot(truth, position - truth, label="filter")
    axes.set(xlabel="position", ylabel="error")
    axes.legend()


if __name__ == "__main__":
    main()

"""Adaptive ODE: steps as long as the tolerance allows, and derivatives through the loop.

The method is Bogacki and Shampine's: the difference of a third- and a second-order step
estimates the error, and `while_loop` goes on until the time is reached. Forward mode
differentiates any number of steps; it fits the rates of foxes and rabbits.
"""

import imprint
import imprint.numpy as np
from imprint import lax

START = np.array([1.0, 0.5])
TIMES = np.linspace(1.0, 10.0, 10)


def rate(y, rates):
    """Return the growth of rabbits and of foxes (Lotka and Volterra)."""
    rabbits, foxes = y
    born, eaten, fed, died = rates
    return np.stack([rabbits * (born - eaten * foxes), foxes * (fed * rabbits - died)])


def attempt(y, rates, h):
    """Return the end of a step, and an estimate of its error."""
    first = rate(y, rates)
    second = rate(y + h / 2 * first, rates)
    third = rate(y + 3 * h / 4 * second, rates)
    end = y + h * (2 * first + 3 * second + 4 * third) / 9
    last = rate(end, rates)
    return end, h * (-5 * first / 72 + second / 12 + third / 9 - last / 8)


def solve(y, rates, start, end, tolerance):
    """Return the state at the end, and the number of attempts."""

    def is_before(state):
        return state[0] < end

    def advance(state):
        time, y, h, count = state
        h = np.minimum(h, end - time)
        new, errors = attempt(y, rates, h)
        ratio = np.sqrt(np.mean((errors / (tolerance * (1 + np.abs(y)))) ** 2))
        ratio = lax.stop_gradient(ratio)  # step sizes are not differentiated
        is_good = ratio <= 1
        time = np.where(is_good, np.where(h < end - time, time + h, end), time)
        factor = np.clip(0.9 * np.maximum(ratio, 1e-6) ** (-1 / 3), 0.2, 5.0)
        return time, np.where(is_good, new, y), h * factor, count + 1

    _, y, _, count = lax.while_loop(is_before, advance, (start, y, 0.1, 0))
    return y, count


@imprint.jit
def trajectory(rates, tolerance=1e-5):
    """Return the states at `TIMES`, and the number of attempts."""

    def piece(state, end):
        time, y = state
        y, count = solve(y, rates, time, end, tolerance)
        return (end, y), (y, count)

    _, (states, counts) = lax.scan(piece, (0.0, START), TIMES)
    return states, counts.sum()


@imprint.jit
def improved(rates, seen):
    """Return better rates: a step of Gauss and Newton."""
    states, _ = trajectory(rates)
    slopes = imprint.jacfwd(lambda rates: trajectory(rates)[0].ravel())(rates)
    return rates + np.linalg.lstsq(slopes, (seen - states).ravel())[0]


def main():
    """Find the rates that give the states which are seen."""
    wanted = np.array([1.1, 0.8, 0.6, 0.9])
    seen, count = trajectory(wanted)
    rough = trajectory(wanted, 1e-3)[1]
    print(f"{int(count)} attempts; a hundredfold tolerance needs {int(rough)}")
    rates = np.array([1.0, 1.0, 0.5, 1.0])
    for _ in range(5):
        rates = improved(rates, seen)
        print("rates", rates.round(4))
    return seen, count, rough, rates


def plot(figure, found):
    """Draw rabbits and foxes over time."""
    axes = figure.subplots()
    for name, values in zip(("rabbits", "foxes"), found[0].T, strict=True):
        axes.plot(TIMES, values, "o-", label=name)
    axes.set(xlabel="time")
    axes.legend()


if __name__ == "__main__":
    main()

"""Plain NumPy: a reaction of two substances, in NumPy's words, compiled and differentiated.

`react` is NumPy code that knows nothing of imprint. Its arguments choose who computes:
NumPy's arrays, or imprint's under `jit`. The model is that of Gray and Scott.
"""

import time

import numpy as np

import imprint


def spread(x):
    """Return the Laplacian on a periodic square."""
    around = sum(np.roll(x, shift, axis) for shift in (-1, 1) for axis in (0, 1))
    return around - 4 * x


def react(food, eater, supply=0.037, loss=0.06, steps=20):
    """Return both substances after some steps."""
    for _ in range(steps):
        eaten = food * eater**2
        food = food + 0.2 * spread(food) - eaten + supply * (1 - food)
        eater = eater + 0.1 * spread(eater) + eaten - (supply + loss) * eater
    return food, eater


def start(size=64):
    """Return food everywhere, and an eater in the middle."""
    food = np.ones((size, size), np.float32)
    eater = np.zeros_like(food)
    middle = slice(size // 2 - 5, size // 2 + 5)
    food[middle, middle], eater[middle, middle] = 0.5, 0.25
    return food, eater


def eaten(supply):
    """Return how much the eater has grown after 20 steps."""
    return np.sum(react(*start(), supply)[1])


def main(calls=150):
    """Run 3,000 steps both ways, and differentiate the growth by the supply."""
    results = {}
    for name, function in (("NumPy", react), ("jit", imprint.jit(react))):
        state = function(*start())  # compiles
        began = time.perf_counter()
        for _ in range(calls - 1):
            state = function(*state)
        results[name] = np.asarray(state[1])
        print(f"{name}: {time.perf_counter() - began:.2f} s")
    slope = imprint.jit(imprint.grad(eaten))(0.037)
    print(f"growth by supply {float(slope):.1f}")
    return results, slope


def plot(figure, found):
    """Draw the eater."""
    axes = figure.subplots()
    axes.imshow(found[0]["jit"])
    axes.axis("off")


if __name__ == "__main__":
    main()

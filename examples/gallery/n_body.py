"""N-body: gravity by the gradient of the energy, with a symplectic integrator.

Accelerations are minus the gradient of the potential energy, divided by the masses. The
leapfrog scheme keeps the energy over many steps.
"""

import imprint
import imprint.numpy as np
from imprint import lax, random


def potential(places, masses, softening=0.05):
    """Return the gravitational energy of all pairs."""
    apart = places[:, None] - places[None, :]
    distance = np.sqrt((apart**2).sum(-1) + softening**2)
    pairs = masses[:, None] * masses[None, :] / distance
    return -0.5 * (pairs.sum() - np.diagonal(pairs).sum())


def energy(places, speeds, masses):
    """Return the total energy."""
    kinetic = 0.5 * (masses[:, None] * speeds**2).sum()
    return kinetic + potential(places, masses)


@imprint.jit(static_argnames="steps")
def simulate(places, speeds, masses, step, steps):
    """Return places and speeds after leapfrog steps, and the places of each step."""

    def leap(state, _):
        places, speeds = state
        speeds = speeds - 0.5 * step * slope(places)
        places = places + step * speeds
        return (places, speeds - 0.5 * step * slope(places)), places

    def slope(places):
        return imprint.grad(potential)(places, masses) / masses[:, None]

    return lax.scan(leap, (places, speeds), length=steps)


def main():
    """Let 32 bodies attract each other, and compare the energies."""
    masses = np.full(32, 1 / 32)
    places = random.normal(random.key(0), (32, 3))
    speeds = 0.3 * random.normal(random.key(1), (32, 3))
    before = energy(places, speeds, masses)
    end, path = simulate(places, speeds, masses, 1e-3, 2000)
    after = energy(*end, masses)
    print(f"energy {float(before):.4f}, after 2,000 steps {float(after):.4f}")
    return path, before, after


def plot(figure, found):
    """Draw the paths, seen from above."""
    axes = figure.subplots()
    axes.plot(found[0][..., 0], found[0][..., 1], linewidth=0.8)
    axes.set_aspect("equal")


if __name__ == "__main__":
    main()

"""Heat equation: one exact step in Fourier space, and the source that fits a result.

Each wave decays by itself, so the solution is exact for every time. The source is found by
gradient descent through both transforms.
"""

import imprint
import imprint.numpy as np

SIZE = 64
WAVES = np.fft.fftfreq(SIZE, 1 / SIZE)
SQUARES = WAVES[:, None] ** 2 + WAVES[None, :] ** 2


@imprint.jit
def spread(heat, time, conductivity=0.01):
    """Return the heat on a periodic square after a time."""
    decay = np.exp(-conductivity * time * SQUARES)
    return np.fft.ifft2(np.fft.fft2(heat) * decay).real


@imprint.jit
def misfit(source, wanted):
    return ((spread(source, 1.0) - wanted) ** 2).sum()


def main():
    """Spread a square of heat, then find a source from the result."""
    x = np.linspace(0, 1, SIZE, endpoint=False)
    square = ((x > 0.4) & (x < 0.6)).astype(np.float32)
    heat = square[:, None] * square[None, :]
    wanted = spread(heat, 1.0)
    print(f"heat before {float(heat.sum()):.1f}, after {float(wanted.sum()):.1f}")
    source = np.zeros_like(heat)
    first = misfit(source, wanted)
    slope = imprint.jit(imprint.grad(misfit))
    for _ in range(100):
        source = source - 0.5 * slope(source, wanted)
    last = misfit(source, wanted)
    print(f"misfit of the source: {float(first):.2f}, fitted {float(last):.1e}")
    return heat, wanted, source, first, last


def plot(figure, found):
    """Draw the heat, what it spreads to, and the source that fits."""
    figure.set_size_inches(9, 3.2)
    names = "heat", "after the time", "source found"
    for name, image, axes in zip(names, found[:3], figure.subplots(1, 3), strict=True):
        axes.imshow(image)
        axes.set_title(name)
        axes.axis("off")


if __name__ == "__main__":
    main()

"""Image filters: edges, a median against noise, and a blurred image made sharp again.

The image is drawn by a formula. Convolutions of SciPy's name run in the compiled program;
the sharp image comes from the iterations of Richardson and Lucy, in a `fori_loop`.
"""

import imprint
import imprint.numpy as np
from imprint import lax, random
from imprint.scipy.signal import convolve

SIZE = 96
DEVIATION = 2.0


def drawn():
    """Return an image of a disc, a bar and stripes, between 0 and 1."""
    y, x = np.mgrid[:SIZE, :SIZE] / SIZE
    disc = (x - 0.3) ** 2 + (y - 0.35) ** 2 < 0.04
    bar = (np.abs(x - 0.72) < 0.1) & (np.abs(y - 0.4) < 0.25)
    stripes = (y > 0.75) & (np.sin(60 * x) > 0)
    return 0.1 + 0.8 * disc + 0.5 * bar + 0.6 * stripes


def gaussian(deviation):
    """Return a row of weights, of sum 1."""
    reach = int(4 * deviation + 0.5)
    weights = np.exp(-0.5 * (np.arange(-reach, reach + 1) / deviation) ** 2)
    return weights / weights.sum()


def blur(image, deviation=DEVIATION):
    """Return the image after a Gaussian filter, one axis after the other."""
    row = gaussian(deviation)
    image = np.pad(image, len(row) // 2, mode="symmetric")
    return convolve(convolve(image, row[None], "valid"), row[:, None], "valid")


def edges(image):
    """Return the length of the gradient, by Sobel's masks."""
    image = np.pad(image, 1, mode="symmetric")
    mask = np.array([[1.0, 0, -1], [2, 0, -2], [1, 0, -1]])
    return np.hypot(convolve(image, mask, "valid"), convolve(image, mask.T, "valid"))


def median(image):
    """Return the median of each pixel and its eight neighbours."""
    image = np.pad(image, 1, mode="symmetric")
    rows, columns = image.shape
    parts = [
        image[i : rows - 2 + i, j : columns - 2 + j] for i in range(3) for j in range(3)
    ]
    return np.median(np.stack(parts), axis=0)


def sharpen(image, steps=50):
    """Return the image that was blurred, by Richardson's and Lucy's iterations."""

    def improve(_, guess):
        return guess * blur(image / blur(guess))

    return lax.fori_loop(0, steps, improve, image)


@imprint.jit
def filtered(image, key):
    """Return images by their names: damaged ones, and what filters make of them."""
    blurred = blur(image)
    noisy = np.where(random.bernoulli(key, 0.05, image.shape), 1.0, image)
    return {
        "edges": edges(image),
        "blurred": blurred,
        "sharp again": sharpen(blurred),
        "noisy": noisy,
        "median": median(noisy),
    }


def main():
    """Filter the image, and print how far from it the others are."""
    image = drawn()
    found = filtered(image, random.key(0))
    for name in ("blurred", "sharp again", "noisy", "median"):
        print(f"{name}: mean error {float(np.abs(found[name] - image).mean()):.3f}")
    return image, found


def plot(figure, found):
    """Draw the image and all results."""
    images = {"image": found[0]} | found[1]
    figure.set_size_inches(12, 2.4)
    for name, axes in zip(images, figure.subplots(1, len(images)), strict=True):
        axes.imshow(images[name], cmap="gray")
        axes.set_title(name)
        axes.axis("off")


if __name__ == "__main__":
    main()

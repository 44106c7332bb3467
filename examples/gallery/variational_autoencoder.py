"""Variational autoencoder: images of a spot, described by two numbers that it finds.

An encoder gives a normal distribution of two numbers for each image, a decoder an image of
a draw. The loss is the negative evidence lower bound (Kingma and Welling, 2013).
"""

import imprint
import imprint.numpy as np
from imprint import nn, optim, random

SIZE = 12
OPTIMIZER = optim.adam(0.01)


def images(key, count):
    """Return images of a bright spot somewhere, as rows."""
    centers = random.uniform(key, (count, 2, 1), minval=2, maxval=SIZE - 3)
    near = np.exp(-((np.arange(SIZE) - centers) ** 2) / 3)
    return (near[:, 0, :, None] * near[:, 1, None, :]).reshape(count, -1)


class Autoencoder(imprint.Module):
    """Two networks: from an image to numbers, and back."""

    encoder: nn.MLP
    decoder: nn.MLP

    def __init__(self, key):
        first, second = random.split(key)
        self.encoder = nn.MLP(SIZE**2, 4, 64, 2, key=first)
        self.decoder = nn.MLP(2, SIZE**2, 64, 2, key=second)

    def encode(self, image):
        """Return the mean and the logarithm of the deviation of the two numbers."""
        return np.split(self.encoder(image), 2)

    def decode(self, z):
        return nn.sigmoid(self.decoder(z))


def loss(model, batch, key, noise=0.1):
    """Return the negative evidence lower bound of an image, but for a constant."""
    mean, log_deviation = imprint.vmap(model.encode)(batch)
    z = mean + np.exp(log_deviation) * random.normal(key, mean.shape)
    errors = ((imprint.vmap(model.decode)(z) - batch) ** 2).sum(-1)
    divergence = np.exp(2 * log_deviation) + mean**2 - 1 - 2 * log_deviation
    return (errors / (2 * noise**2) + divergence.sum(-1) / 2).mean()


@imprint.filter_jit(donate="all")
def step(model, state, key):
    draw, sample = random.split(key)
    batch = images(draw, 64)
    value, slope = imprint.filter_value_and_grad(loss)(model, batch, sample)
    updates, state = OPTIMIZER.update(slope, state)
    return optim.apply_updates(model, updates), state, value


def main():
    """Train, and return the model and how much of new images it explains."""
    model = Autoencoder(random.key(0))
    state = OPTIMIZER.init(imprint.filter(model, imprint.is_inexact_array))
    for i, key in enumerate(random.split(random.key(1), 300)):
        model, state, value = step(model, state, key)
        if i % 50 == 49:
            print(f"step {i + 1}: loss {float(value):.1f}")
    new = images(random.key(2), 500)
    codes, _ = imprint.vmap(model.encode)(new)
    errors = ((imprint.vmap(model.decode)(codes) - new) ** 2).sum()
    explained = 1 - errors / ((new - new.mean(0)) ** 2).sum()
    print(f"two numbers explain {float(explained):.1%} of new images")
    return model, explained


def plot(figure, found):
    """Draw the images of a grid of codes."""
    z = np.linspace(-1.5, 1.5, 8)
    codes = np.stack(np.meshgrid(z, z), axis=-1).reshape(-1, 2)
    decoded = imprint.vmap(found[0].decode)(codes)
    for image, axes in zip(decoded, figure.subplots(8, 8).flat, strict=True):
        axes.imshow(image.reshape(SIZE, SIZE), vmin=0, vmax=1)
        axes.axis("off")


if __name__ == "__main__":
    main()

"""A convolutional network learns the digits with an accuracy of 99 %.

It is a `Module` of the layers of `imprint.nn`, takes one image, and is trained by the step
of `digits`. Each training image is shifted at random by up to one pixel, so that the
network learns shapes and not places. A prediction averages the image and its shifts by one
pixel.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy

import imprint
import imprint.numpy as np
from examples.data import Digits, Numbers, batches, load
from examples.digits import logits, make_step, trained
from imprint import Array, nn, optim, random

_SEED = 0
_RATE = 0.005
_DECAY = 0.1
_CHANNELS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageFigures:
    """Results of the training."""

    parameters: int
    held_out: int
    right: int
    compiles: int
    first_step_s: float
    step_s: float

    @property
    def accuracy(self) -> float:
        """The share of held-out images with the right label."""
        return self.right / self.held_out


class ConvNet(imprint.Module):
    """Three convolutions, of which the last two see twice as far each, and a matrix."""

    layers: nn.Sequential

    def __init__(self, *, key: Any) -> None:
        """Draw the parameters."""
        keys = random.split(key, 4)
        one, two, four = _CHANNELS, 2 * _CHANNELS, 4 * _CHANNELS
        self.layers = nn.Sequential(
            [
                nn.Conv2d(1, one, 3, padding="SAME", key=keys[0]),
                nn.Lambda(nn.relu),
                nn.Conv2d(one, two, 3, padding="SAME", key=keys[1]),
                nn.Lambda(nn.relu),
                nn.MaxPool2d(2, stride=2),
                nn.Conv2d(two, four, 3, padding="SAME", key=keys[2]),
                nn.Lambda(nn.relu),
                nn.MaxPool2d(2, stride=2),
                nn.Lambda(np.ravel),
                nn.Linear(4 * four, 10, key=keys[3]),
            ]
        )

    def __call__(self, image: Array) -> Array:
        """Return ten logits for an image, a row of 64 numbers."""
        return self.layers(np.reshape(image, (1, 8, 8)))


def learn_images(steps: int) -> ImageFigures:
    """Train the network and label the held-out images.

    Args:
        steps: how many batches to learn from, at least 2.
    """
    learn, held_out = load()
    rows = _moved(batches(learn))
    network = ConvNet(key=random.key(_SEED))
    schedule = optim.cosine_decay_schedule(_RATE, steps)
    optimizer = optim.adamw(schedule, weight_decay=_DECAY)
    step = make_step(optimizer)
    state = optimizer.init(trained(network))

    start = perf_counter()
    network, state, loss = step(network, state, *next(rows))
    float(loss)  # waits for the result
    first = perf_counter()
    for _ in range(steps - 1):
        network, state, loss = step(network, state, *next(rows))
    float(loss)
    end = perf_counter()

    looks = [logits(network, _moved_to(held_out.images, at)) for at in _LOOKS]
    labels = nn.log_softmax(numpy.stack(looks)).sum(0).argmax(axis=1)
    return ImageFigures(
        parameters=sum(x.size for x in imprint.tree.leaves(trained(network))),
        held_out=len(held_out.labels),
        right=int((labels == held_out.labels).sum()),
        compiles=step._cache_size(),
        first_step_s=first - start,
        step_s=(end - first) / (steps - 1),
    )


def _moved(rows: Iterator[Digits]) -> Iterator[Digits]:
    """Shift each image by up to one pixel along each axis."""
    generator = numpy.random.default_rng(_SEED)
    for images, labels in rows:
        corners = generator.integers(0, 3, (len(images), 2))
        pairs = zip(images[:, None], corners, strict=True)
        moved = [_moved_to(image, corner) for image, corner in pairs]
        yield Digits(numpy.concatenate(moved), labels)


def _moved_to(images: Numbers, corner: Sequence[int]) -> Numbers:
    """Return the images as seen from a corner; at (1, 1) they are as they were."""
    i, j = corner
    wide = numpy.pad(images.reshape(-1, 8, 8), ((0, 0), (1, 1), (1, 1)))
    return wide[:, i : i + 8, j : j + 8].reshape(-1, 64)


_LOOKS = ((1, 1), (0, 1), (1, 0), (2, 1), (1, 2))

"""A two-layer network learns the 1,797 handwritten digits that scikit-learn ships.

1. The images are shuffled by a fixed seed; a fifth is held out.
2. One jitted function is a whole training step: loss, gradients, momentum. It sees a
   batch of NumPy arrays and the state of the last step, so it has one version.
3. The held-out images are labelled, and some are drawn by `picture`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy

import imprint
import imprint.numpy as np
from imprint import Array, random
from imprint.cli.extras import extra
from imprint.cli.picture import draw

Numbers = numpy.ndarray[Any, Any]
Layers = list[dict[str, Array]]

_SEED = 0
_BATCH = 128
_HIDDEN = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What a training told."""

    learnt: int
    held_out: int
    right: int
    compiles: int
    first_step_s: float
    step_s: float
    first_loss: float
    last_loss: float
    picture: Path

    @property
    def accuracy(self) -> float:
        """The share of the held-out images that got the right label."""
        return self.right / self.held_out


def learn_digits(steps: int, picture: Path) -> Figures:
    """Train the network, label the held-out images and draw some of them.

    Args:
        steps: how many batches to learn from, at least 2.
        picture: the PNG file to write.
    """
    learn, held_out = _load()
    batches = _batches(learn)
    step = imprint.jit(train_step)
    layers = init(random.key(_SEED), (64, _HIDDEN, 10))
    state = State(layers, imprint.tree.map(np.zeros_like, layers))

    start = perf_counter()
    state, loss = step(state, *next(batches))
    first_loss = float(loss)  # waits for the result
    first = perf_counter()
    for _ in range(steps - 1):
        state, loss = step(state, *next(batches))
    last_loss = float(loss)
    end = perf_counter()

    labels = numpy.asarray(imprint.jit(predict)(state.layers, held_out.images))
    picture.parent.mkdir(parents=True, exist_ok=True)
    draw(picture, held_out.images, held_out.labels, labels)
    return Figures(
        learnt=len(learn.labels),
        held_out=len(held_out.labels),
        right=int((labels == held_out.labels).sum()),
        compiles=step._cache_size(),
        first_step_s=first - start,
        step_s=(end - first) / (steps - 1),
        first_loss=first_loss,
        last_loss=last_loss,
        picture=picture,
    )


# ---- the network ----


class State(NamedTuple):
    """What a step hands to the next."""

    layers: Layers
    momentum: Layers


def init(key: Any, sizes: tuple[int, ...]) -> Layers:
    """Return layers of random weights, each scaled by the size of its input."""
    keys = random.split(key, len(sizes) - 1)
    return [
        {
            "weights": random.normal(keys[i], (n, m)) * (2 / n) ** 0.5,
            "bias": np.zeros(m),
        }
        for i, (n, m) in enumerate(pairwise(sizes))
    ]


def scores(layers: Layers, images: Array) -> Array:
    """Return ten scores for each image."""
    x = images
    for layer in layers[:-1]:
        x = np.maximum(x @ layer["weights"] + layer["bias"], 0)
    return x @ layers[-1]["weights"] + layers[-1]["bias"]


def cross_entropy(layers: Layers, images: Array, labels: Array) -> Array:
    """Return how surprised the network is by the labels, on average."""
    z = scores(layers, images)
    z = z - np.max(z, axis=1, keepdims=True)
    log_p = z - np.log(np.sum(np.exp(z), axis=1, keepdims=True))
    hot = labels[:, None] == np.arange(10)
    return -np.mean(np.sum(np.where(hot, log_p, 0), axis=1))


def train_step(state: State, images: Array, labels: Array) -> tuple[State, Array]:
    """Go one step downhill, with momentum."""
    loss, grads = imprint.value_and_grad(cross_entropy)(state.layers, images, labels)
    momentum = imprint.tree.map(_gather, state.momentum, grads)
    layers = imprint.tree.map(_descend, state.layers, momentum)
    return State(layers, momentum), loss


def _gather(momentum: Array, grad: Array) -> Array:
    return 0.9 * momentum + grad


def _descend(weights: Array, momentum: Array) -> Array:
    return weights - 0.05 * momentum


def predict(layers: Layers, images: Array) -> Array:
    """Return the digit of the highest score for each image."""
    return np.argmax(scores(layers, images), axis=1)


# ---- the data ----


class Digits(NamedTuple):
    """Images as rows of 64 numbers between 0 and 1, and what they show."""

    images: Numbers
    labels: Numbers


def _load() -> tuple[Digits, Digits]:
    data = extra("sklearn.datasets").load_digits()
    order = numpy.random.default_rng(_SEED).permutation(len(data.target))
    images = (data.data[order] / 16).astype(numpy.float32)
    labels = data.target[order].astype(numpy.int32)
    n = len(labels) // 5
    return Digits(images[n:], labels[n:]), Digits(images[:n], labels[:n])


def _batches(digits: Digits) -> Iterator[Digits]:
    """Yield batches for ever, every image once in each round, in a new order."""
    generator = numpy.random.default_rng(_SEED)
    while True:
        order = generator.permutation(len(digits.labels))
        for start in range(0, len(order) - _BATCH + 1, _BATCH):
            chosen = order[start : start + _BATCH]
            yield Digits(digits.images[chosen], digits.labels[chosen])

"""A multilayer perceptron learns handwritten digits.

1. The images are shuffled by a fixed seed; a fifth is held out (`data`).
2. The network is a `Module`; its arrays are trained. One jitted function is a whole step:
   loss, gradients, Adam. It donates its state. Shapes and dtypes do not change, so it has
   one version.
3. The network is saved, loaded in a fresh process, and must give the same logits there.
4. The held-out images are labelled, and some are drawn (`drawings`).
"""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy

import imprint
import imprint.numpy as np
from examples.data import Numbers, batches, load
from examples.drawings import draw_digits
from examples.processes import environment
from imprint import Array, nn, optim, random

_SEED = 0
_RATE = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class DigitFigures:
    """Results of the training."""

    learnt: int
    held_out: int
    right: int
    compiles: int
    first_step_s: float
    step_s: float
    first_loss: float
    last_loss: float
    reloaded: bool
    model: Path
    picture: Path

    @property
    def accuracy(self) -> float:
        """The share of held-out images with the right label."""
        return self.right / self.held_out


def learn_digits(steps: int, out: Path) -> DigitFigures:
    """Train the network, save it, label the held-out images and draw some of them.

    Args:
        steps: how many batches to learn from, at least 2.
        out: the directory for the network and the picture.
    """
    learn, held_out = load()
    rows = batches(learn)
    network = make_network()
    optimizer = optim.adam(optim.cosine_decay_schedule(_RATE, steps))
    step = make_step(optimizer)
    state = optimizer.init(trained(network))

    start = perf_counter()
    network, state, loss = step(network, state, *next(rows))
    first_loss = float(loss)  # waits for the result
    first = perf_counter()
    for _ in range(steps - 1):
        network, state, loss = step(network, state, *next(rows))
    last_loss = float(loss)
    end = perf_counter()

    out.mkdir(parents=True, exist_ok=True)
    model, picture = out / "digits.model", out / "digits.png"
    imprint.tree_serialise_leaves(model, network)
    found = logits(network, held_out.images)
    labels = found.argmax(axis=1)
    draw_digits(picture, held_out.images, held_out.labels, labels)
    return DigitFigures(
        learnt=len(learn.labels),
        held_out=len(held_out.labels),
        right=int((labels == held_out.labels).sum()),
        compiles=step._cache_size(),
        first_step_s=first - start,
        step_s=(end - first) / (steps - 1),
        first_loss=first_loss,
        last_loss=last_loss,
        reloaded=_logits_elsewhere(model, held_out.images) == found.tobytes(),
        model=model,
        picture=picture,
    )


# ---- the network ----


def make_network() -> nn.MLP:
    """Return the untrained network."""
    return nn.MLP(64, 10, width_size=64, depth=1, key=random.key(_SEED))


def cross_entropy(network: Any, images: Array, labels: Array) -> Array:
    """Return the mean cross-entropy of the labels."""
    log_p = nn.log_softmax(imprint.vmap(network)(images))
    return -np.mean(np.sum(nn.one_hot(labels, 10) * log_p, axis=1))


def make_step(optimizer: optim.GradientTransformation) -> Any:
    """Return the compiled training step.

    Args:
        optimizer: the optimizer.
    """

    @imprint.filter_jit(donate="all")
    def step(
        network: Any, state: Any, images: Array, labels: Array
    ) -> tuple[Any, Any, Array]:
        evaluate = imprint.filter_value_and_grad(cross_entropy)
        loss, grads = evaluate(network, images, labels)
        updates, state = optimizer.update(grads, state, trained(network))
        return optim.apply_updates(network, updates), state, loss

    return step


def trained(network: Any) -> Any:
    """Return the network with None for leaves that are not trained."""
    return imprint.filter(network, imprint.is_inexact_array)


def logits(network: Any, images: Numbers) -> Numbers:
    """Return ten logits for each image."""
    return numpy.asarray(_logits(network, images))


@imprint.filter_jit
def _logits(network: Any, images: Numbers) -> Array:
    return imprint.vmap(network)(images)


# ---- a fresh process ----

_PROGRAM = """
import sys
from pathlib import Path
from examples.digits import answer
sys.stdout.buffer.write(answer(Path(sys.argv[1]), sys.stdin.buffer.read()))
"""


def _logits_elsewhere(model: Path, images: Numbers) -> bytes:
    """Return the logits that a fresh process computes with a saved network."""
    command = [sys.executable, "-c", _PROGRAM, str(model)]
    given = images.tobytes()
    done = subprocess.run(
        command,
        input=given,
        stdout=subprocess.PIPE,
        check=False,
        env=environment(),
    )
    return done.stdout


def answer(model: Path, images: bytes) -> bytes:
    """Return the logits of images by a saved network, each as its bytes."""
    like = imprint.filter_eval_shape(make_network)
    network = imprint.tree_deserialise_leaves(model, like)
    rows = numpy.frombuffer(images, numpy.float32).reshape(-1, 64)
    return logits(network, rows).tobytes()

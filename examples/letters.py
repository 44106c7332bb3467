"""A transformer learns the Zen of Python, letter by letter, and continues it.

1. The text is that of the module `this`, the same in every Python. It is so short that the
   model memorizes it.
2. The model is in `transformer`. One jitted function is a whole step: loss, gradients,
   Adam. Shapes and dtypes do not change, so it has one version.
3. The loss is drawn with the loss of guessing by the frequencies of letters.
"""

import codecs
import io
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from importlib import import_module
from time import perf_counter
from typing import Any

import numpy

import imprint.numpy as np
from examples.transformer import (
    Sizes,
    Transformer,
    continue_text,
    make_optimizer,
    make_step,
    trained,
)
from imprint import nn, random

Numbers = numpy.ndarray[Any, Any]

_SEED = 0
_BATCH = 12
_CONTEXT = 32
_RATE = 0.004
_DRAWN = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFigures:
    """Results of the training."""

    letters: int
    guessing: float
    losses: tuple[float, ...]
    step_compiles: int
    draw_compiles: int
    first_step_s: float
    step_s: float
    beginning: str
    drawn: str

    @property
    def loss(self) -> float:
        """The mean loss of the last steps."""
        return float(numpy.mean(self.losses[-20:]))


def learn_letters(steps: int) -> TextFigures:
    """Train the model, and let it continue the text.

    Args:
        steps: how many batches to learn from, at least 2.
    """
    text = zen_of_python()
    alphabet = sorted(set(text))
    numbers = numpy.array([alphabet.index(letter) for letter in text], numpy.int32)
    batches = _batches(numbers)
    model = make_model(len(alphabet))
    optimizer = make_optimizer(_RATE, steps)
    state = optimizer.init(trained(model))
    step = make_step(optimizer)
    first_key, *keys = random.split(random.key(_SEED + 1), steps)

    start = perf_counter()
    model, state, loss = step(model, state, next(batches), first_key)
    losses = [float(loss)]  # waits for the result
    first = perf_counter()
    for key in keys:
        model, state, loss = step(model, state, next(batches), key)
        losses.append(float(loss))
    end = perf_counter()

    beginning = np.asarray(numbers[:_CONTEXT])
    key = random.key(_SEED + 2)
    drawn: Numbers = numpy.asarray(
        continue_text(nn.inference_mode(model), beginning, key, _DRAWN)
    )
    return TextFigures(
        letters=len(text),
        guessing=surprise_of_guessing(numbers),
        losses=tuple(losses),
        step_compiles=len(step.versions),
        draw_compiles=len(continue_text.versions),
        first_step_s=first - start,
        step_s=(end - first) / (steps - 1),
        beginning=text[:_CONTEXT],
        drawn="".join(alphabet[int(i)] for i in drawn),
    )


def make_model(vocabulary: int) -> Transformer:
    """Return the untrained model."""
    sizes = Sizes(vocabulary, _CONTEXT, width=64, heads=4, depth=3, dropout=0.1)
    return Transformer(sizes, random.key(_SEED))


# ---- the text ----


def zen_of_python() -> str:
    """Return the Zen of Python; the module `this` holds it in rot13."""
    with redirect_stdout(io.StringIO()):  # the module prints it
        this = import_module("this")
    return codecs.decode(this.s, "rot13")


def surprise_of_guessing(numbers: Numbers) -> float:
    """Return the loss of guessing by the frequencies of letters."""
    share = numpy.bincount(numbers) / len(numbers)
    return float(-numpy.sum(share * numpy.log(share)))


def _batches(numbers: Numbers) -> Iterator[Numbers]:
    """Yield random pieces of the text for ever, one letter longer than the context."""
    generator = numpy.random.default_rng(_SEED)
    piece = numpy.arange(_CONTEXT + 1)
    while True:
        starts = generator.integers(0, len(numbers) - _CONTEXT, _BATCH)
        yield numbers[starts[:, None] + piece]

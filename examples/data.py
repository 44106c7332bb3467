"""The 1,797 handwritten digits that scikit-learn ships, in batches.

scikit-learn and Pillow are in the extra `[demo]`, no dependencies of imprint. scikit-learn
takes a second to import, so `extra` imports them at run time.
"""

from collections.abc import Iterator
from importlib import import_module
from typing import Any, NamedTuple

import numpy

Numbers = numpy.ndarray[Any, Any]

_SEED = 0
_BATCH = 128


def extra(name: str) -> Any:
    """Return a module of the extra `[demo]`; without it, end the process with a message."""
    try:
        return import_module(name)
    except ImportError as err:
        raise SystemExit(
            f"examples: expected the module {name}, got {type(err).__name__}: {err}. "
            "Install the extra that the demo needs: pip install '.[demo]'."
        ) from err


class Digits(NamedTuple):
    """Images as rows of 64 numbers between 0 and 1, and their digits."""

    images: Numbers
    labels: Numbers


def load() -> tuple[Digits, Digits]:
    """Return the training set and the held-out set."""
    data = extra("sklearn.datasets").load_digits()
    order = numpy.random.default_rng(_SEED).permutation(len(data.target))
    images = (data.data[order] / 16).astype(numpy.float32)
    labels = data.target[order].astype(numpy.int32)
    n = len(labels) // 5
    return Digits(images[n:], labels[n:]), Digits(images[:n], labels[:n])


def batches(digits: Digits) -> Iterator[Digits]:
    """Yield batches for ever, every image once per epoch, in random order."""
    generator = numpy.random.default_rng(_SEED)
    while True:
        order = generator.permutation(len(digits.labels))
        for start in range(0, len(order) - _BATCH + 1, _BATCH):
            chosen = order[start : start + _BATCH]
            yield Digits(digits.images[chosen], digits.labels[chosen])

import numpy as np
import pytest

import imprint
from imprint import errors, random
from tests.lanes import exhaustive_but
from tests.units.random.streams import flags, newer_stream, same_draw

KEY = random.key(0)
X = np.arange(20, dtype=np.float32).reshape(4, 5)
P = np.array([0.1, 0.2, 0.0, 0.3, 0.4], np.float32)
PERMUTED = {
    "one": ((1,), {}),
    "many": ((3000,), {}),
    "rows": ((X,), {}),
    "columns": ((X, 1), {}),
    "independent": ((X, -1), {"independent": True}),
    "booleans": ((X[0] > 2,), {}),
}
CHOSEN = {
    "replaced": ((5,), {}),
    "axis": ((X, (3, 2)), {"axis": 1}),
    "kept": ((5, (4,)), {"replace": False}),
    "columns": ((X, (2, 1), False), {"axis": -1}),
}
CHOSEN |= {
    f"{name}, p": (args, {**named, "p": P}) for name, (args, named) in CHOSEN.items()
}
CHOSEN |= {
    "rows": ((X, (3,)), {}),
    "nothing": ((X, (2, 0)), {}),
    "high": ((5, (4,), False, P), {"mode": "high"}),
    "small": ((np.arange(5, dtype=np.int8), (4,)), {"p": P.astype(np.float16)}),
}


@pytest.mark.slow
@newer_stream
@pytest.mark.parametrize("case", exhaustive_but(["rows", "independent"], PERMUTED))
def test_permutation_as_jax(case, partitionable):
    args, named = PERMUTED[case]
    with flags(partitionable=partitionable):
        same_draw("permutation", *args, **named)


@pytest.mark.slow
@pytest.mark.exhaustive
def test_permutation_in_64_bits_as_jax():
    with flags(x64=True):
        same_draw("permutation", 9)


@pytest.mark.slow
@newer_stream
@pytest.mark.parametrize(
    "case", exhaustive_but(["replaced, p", "axis", "columns, p"], CHOSEN)
)
def test_choice_as_jax(case, partitionable):
    args, named = CHOSEN[case]
    with flags(partitionable=partitionable):
        same_draw("choice", *args, **named)


def test_draws_in_traces_are_those_outside():
    keys = random.split(KEY, 3)
    for draw in (
        lambda key: random.permutation(key, 6),
        lambda key: random.choice(key, X, (2,), replace=False),
        lambda key: random.choice(key, 5, (2,), p=P),
    ):
        each = np.stack([np.asarray(draw(key)) for key in keys])
        np.testing.assert_array_equal(imprint.vmap(draw)(keys), each)
        np.testing.assert_array_equal(imprint.jit(draw)(keys[0]), each[0])


WRONG = {
    "permutation: expected a whole number or an array with an axis, got ~float32[]. "
    "Convert it with int().": lambda: random.permutation(KEY, 2.5),
    "choice: expected a shape, a tuple of integers, got 3. Write (n,) for n draws.": (
        lambda: random.choice(KEY, 5, 3)
    ),
    "choice: expected at least one element to draw from, got 0. Only an empty shape can "
    "be drawn from nothing.": lambda: random.choice(KEY, 0),
    "choice: expected at most 5 draws, as many as there are elements, got 6. Draw fewer, "
    "or with replace=True.": lambda: random.choice(KEY, 5, (6,), replace=False),
    "choice: expected p of shape (4,), a weight for each element, got float32[5]. Give "
    "one for each.": lambda: random.choice(KEY, X, p=P),
}


@pytest.mark.parametrize("message", WRONG)
def test_error_messages(message):
    with pytest.raises((errors.ArgumentError, errors.ShapeError)) as e:
        WRONG[message]()
    assert str(e.value) == message

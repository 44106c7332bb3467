import numpy as np
import pytest

import imprint
from imprint import errors, random
from tests.lanes import exhaustive
from tests.units.random.streams import (
    JAX_0_12,
    both_streams,
    dtypes_of,
    flags,
    newer_stream,
    same_draw,
)

KEY = random.key(0)


def logits(*shape, dtype="float32"):
    return np.random.default_rng(0).normal(size=shape).astype(dtype)


@pytest.mark.slow
@newer_stream
def test_bernoulli_as_jax(partitionable):
    with flags(partitionable=partitionable):
        same_draw("bernoulli")
        same_draw("bernoulli", np.float32([0.1, 0.5, 0.9]))
        same_draw("bernoulli", np.float32([0.1, 0.5, 0.9]), (2, 3), mode="high")


@pytest.mark.slow
@pytest.mark.exhaustive
@both_streams
def test_bernoulli_of_a_shape_as_jax(partitionable):
    with flags(partitionable=partitionable):
        same_draw("bernoulli", 0.3, (3, 5))
        same_draw("bernoulli", 0.3, (0,))


@pytest.mark.slow
@pytest.mark.exhaustive
def test_bernoulli_of_every_dtype_as_jax():
    with flags(x64=True):
        for dtype in dtypes_of(True):
            same_draw("bernoulli", np.asarray(0.7, dtype), (9,))


def test_bernoulli_is_true_with_probability_p():
    drawn = random.bernoulli(KEY, np.float32([0.0, 0.25, 1.0]), (4000, 3))
    np.testing.assert_allclose(np.asarray(drawn).mean(0), [0, 0.25, 1], atol=0.03)


@pytest.mark.slow
@newer_stream
def test_rademacher_as_jax(partitionable):
    with flags(partitionable=partitionable):
        same_draw("rademacher", (6,))
        same_draw("rademacher", (2, 3), "float32")
        same_draw("rademacher")


# ---- categories ----


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shape", "axis"), [((4, 3), -1), *exhaustive(((6,), 0), ((2, 3, 4), 1))]
)
def test_categorical_as_jax(shape, axis):
    with flags(partitionable=False):
        same_draw("categorical", logits(*shape), axis)
    same_draw("categorical", logits(*shape), axis, (5, 2, *np.delete(shape, axis)))


@pytest.mark.slow
@pytest.mark.exhaustive
def test_categorical_of_every_dtype_as_jax():
    with flags(x64=True):
        for dtype in dtypes_of(True):
            same_draw("categorical", logits(50, 9, dtype=dtype))
        if JAX_0_12:  # which made the tail more precise
            same_draw("categorical", logits(50, 9), mode="high")


@pytest.mark.slow
def test_categorical_broadcasts_its_batch():
    same_draw("categorical", logits(1, 3), -1, (2, 5))
    same_draw("categorical", logits(3), -1, ())


def test_categories_have_the_probabilities_of_the_softmax():
    drawn = np.asarray(random.categorical(KEY, np.log([0.1, 0.6, 0.3]), shape=(4000,)))
    np.testing.assert_allclose(np.bincount(drawn) / 4000, [0.1, 0.6, 0.3], atol=0.03)


def test_categorical_of_mapped_logits():
    rows, keys = logits(4, 3), random.split(KEY, 4)
    got = imprint.vmap(random.categorical)(keys, rows)
    each = [random.categorical(k, row) for k, row in zip(keys, rows, strict=True)]
    assert got.tolist() == [x.item() for x in each]


@pytest.mark.slow
def test_categories_without_replacement_as_jax():
    same_draw("categorical", logits(2, 3, 4), 1, (3, 2, 4), replace=False)


@pytest.mark.slow
@pytest.mark.exhaustive
def test_categories_of_a_vector_without_replacement_as_jax():
    same_draw("categorical", logits(6), shape=(4,), replace=False)
    same_draw("categorical", logits(5), replace=False, mode="high")


# ---- errors ----

WRONG = {
    lambda: random.bernoulli(KEY, 1): (
        "bernoulli: expected floats as p, got ~int32[]. Convert with `.astype(float)`."
    ),
    lambda: random.bernoulli(KEY, np.ones(2, np.float32), (3,)): (
        "bernoulli: expected operands that broadcast to shape=(3,), got one of shape "
        "(2,). Pass numbers, or arrays of that shape or of its last axes."
    ),
    lambda: random.bernoulli(KEY, mode="medium"): (
        'bernoulli: expected "low" or "high" as mode, got \'medium\'. "low" is the '
        'default, "high" takes twice the bits.'
    ),
    lambda: random.categorical(KEY, [0.5, 0.5]): (
        "categorical: expected an array or a number as logits, got list [0.5, 0.5]. "
        "Convert it with imprint.numpy.asarray."
    ),
    lambda: random.categorical(KEY, logits(3), 1): (
        "categorical: expected an axis in [-1, 1), got 1. The array has 1 axis."
    ),
    lambda: random.categorical(KEY, logits(3), shape=(4,), replace=False): (
        "categorical: expected at most 3 draws without replacement, as many as there are "
        "categories, got 4. Draw fewer, or with replace=True."
    ),
    lambda: random.categorical(KEY, logits(1, 3), shape=(2, 4), replace=False): (
        "categorical: expected a shape that ends with (1,), that of logits without the "
        "axis, where replace=False, got (2, 4). Repeat the logits."
    ),
}


@pytest.mark.parametrize(("wrong", "message"), WRONG.items(), ids=WRONG.values())
def test_the_whole_message(wrong, message):
    with pytest.raises((errors.ArgumentError, errors.ShapeError)) as caught:
        wrong()
    assert str(caught.value) == message

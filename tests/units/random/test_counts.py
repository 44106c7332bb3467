"""Numbers of events: JAX's bits, edges and errors."""

import jax
import numpy as np
import pytest

import imprint
from imprint import errors, random
from tests.lanes import exhaustive_but
from tests.units.random.streams import JAX_0_12, flags, same, same_draw

KEY = random.key(0)
RATES = np.array([0.0, -1.0, np.nan, 5.0, 9.9, 10.0, 300.0], np.float32)
CHANCES = np.array([-0.1, 0, 1, 1.2, np.nan, 0.5], np.float32)
DRAWS = {
    "poisson": ("poisson", (RATES,)),
    "poisson of a shape": ("poisson", (3.0, (2, 9))),
    "poisson in few bits": ("poisson", (4, (5,), "int16")),
    "binomial": ("binomial", (np.array([3, 1e3, -1, np.nan, np.inf]), np.float32(0.3))),
    "binomial of chances": ("binomial", (5, CHANCES)),
    "binomial of many": ("binomial", (1000.0, 0.7, (20,), "float16")),
    "multinomial": ("multinomial", (10, np.array([0.2, 0.3, 0.5], np.float32))),
    "multinomial of rows": (
        "multinomial",
        (np.array([3, 50, 100.0], np.float32), np.full((3, 4), 0.25, np.float32)),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "case", exhaustive_but(["poisson", "binomial", "multinomial"], DRAWS)
)
def test_as_jax(case):
    name, args = DRAWS[case]
    same_draw(name, *args, seed=1)


@pytest.mark.slow
@pytest.mark.exhaustive
@pytest.mark.parametrize("case", ["poisson", "binomial"])
def test_64_bits_and_the_other_stream(case):
    name, args = DRAWS[case]
    with flags(x64=True, partitionable=False):
        same_draw(name, *args, seed=2)


@pytest.mark.slow
@pytest.mark.exhaustive
def test_multinomial_of_a_shape_and_a_dtype():
    p = np.array([0.2, 0.8], np.float32)
    got = random.multinomial(KEY, 5, p, shape=(3,), dtype=int, unroll=True)
    assert (got.shape, got.dtype) == ((3, 2), "int32")
    assert got.sum(-1).tolist() == [5, 5, 5]


@pytest.mark.slow
@pytest.mark.exhaustive
def test_in_a_program_and_a_batch():
    keys = random.split(KEY, 3)
    rows = imprint.jit(imprint.vmap(lambda k: random.poisson(k, RATES)))(keys)
    same(rows, np.stack([random.poisson(k, RATES) for k in keys]))


@pytest.mark.slow
@pytest.mark.exhaustive
@pytest.mark.skipif(not JAX_0_12, reason="earlier releases have one method")
def test_the_approximate_method_as_jax():
    rates = np.array([0.0, 3.0, 50.0], np.float32)
    got = random.poisson(KEY, rates, (40, 3), method="approximate")
    want = jax.random.poisson(jax.random.key(0), rates, (40, 3), method="approximate")
    same(got, want)


MESSAGES = {
    "method": (
        lambda: random.poisson(KEY, 1.0, method="aproximate"),
        errors.ArgumentError,
        "poisson: expected method to be one of ['exact', 'approximate'], got "
        "'aproximate'. Did you mean 'approximate'?",
    ),
    "dtype": (
        lambda: random.poisson(KEY, 1.0, dtype=float),
        errors.ArgumentError,
        "poisson: expected an integer dtype, got float32. Convert the result.",
    ),
    "categories": (
        lambda: random.multinomial(KEY, 3, 0.5),
        errors.ShapeError,
        "multinomial: expected p with an axis of categories, got ~float32[]. Give "
        "the probability of each, as in p=np.asarray([0.2, 0.8]).",
    ),
    "shape": (
        lambda: random.multinomial(KEY, np.ones(2), np.ones((3, 4))),
        errors.ShapeError,
        "multinomial: expected operands that broadcast to shape=(3,), got one of shape "
        "(2,). Pass numbers, or arrays of that shape or of its last axes.",
    ),
}


@pytest.mark.parametrize("case", MESSAGES)
def test_messages(case):
    call, error, message = MESSAGES[case]
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == message

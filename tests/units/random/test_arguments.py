import jax
import numpy as np
import pytest

import imprint
from imprint import errors, random
from imprint._src.random import arguments
from imprint.debug import counters
from tests.units.random.streams import same, same_keys

KEY = random.key(0)


def test_a_sampler_is_traced_once_for_each_shape():
    traced = []

    def draw(shape, dtype, data):
        traced.append((shape, dtype))
        return imprint.numpy.zeros(shape, dtype) + data[0]

    programs = arguments.programs(draw)
    for _ in range(3):
        for shape in ((2,), (3,)):
            programs(shape, "float32")(KEY.data)
    assert traced == [((2,), "float32"), ((3,), "float32")]
    assert programs((2,), "float32") is programs((2,), "float32")


@pytest.mark.parametrize("shape", [[2, 3], (np.int64(2), 3), np.array([2, 3])])
def test_shapes_are_sequences_of_integers(shape):
    same(random.bits(KEY, shape), random.bits(KEY, (2, 3)))


@pytest.mark.parametrize("name", ["normal", "uniform", "bits", "rademacher", "split"])
def test_one_integer_is_a_shape(name):
    draw, theirs = getattr(random, name), getattr(jax.random, name)
    same_shape = same_keys if name == "split" else same
    same_shape(draw(KEY, 3), theirs(jax.random.key(0), 3))
    same_shape(draw(KEY, np.int64(3)), theirs(jax.random.key(0), (3,)))
    same_shape(draw(KEY, True), theirs(jax.random.key(0), (1,)))
    same(random.randint(KEY, 3, 0, 9), jax.random.randint(jax.random.key(0), 3, 0, 9))
    assert random.truncated_normal(KEY, -1.0, 1.0, 3).shape == (3,)


def test_a_traced_length():
    with pytest.raises(
        errors.ConcretizationError, match=r"`bits\(\)` needs a concrete int"
    ):
        imprint.jit(lambda n: random.bits(KEY, (n,)))(3)


def test_a_dtype_that_is_too_wide_warns():
    with pytest.warns(
        UserWarning, match="uniform: expected a dtype of at most 32 bits"
    ):
        assert random.uniform(KEY, (), "float64").dtype == np.float32


WRONG = {
    lambda: random.normal(KEY, 3.0): (
        "normal: expected a shape, a tuple of integers or one, got 3.0. Give the length "
        "of each axis."
    ),
    lambda: random.normal(KEY, "ab"): (
        "normal: expected a shape, a tuple of integers or one, got 'ab'. Give the length "
        "of each axis."
    ),
    lambda: random.normal(KEY, -1): (
        "normal: expected lengths of at least 0 in shape, got (-1,). A length cannot be "
        "left open: give the number of elements."
    ),
    lambda: random.bits(KEY, (2, -1)): (
        "bits: expected lengths of at least 0 in shape, got (2, -1). A length cannot be "
        "left open: give the number of elements."
    ),
    lambda: random.bits(KEY, (2.0,)): (
        "bits: expected integers in shape, got float 2.0. Convert it with int()."
    ),
}


@pytest.mark.parametrize(("wrong", "message"), WRONG.items(), ids=WRONG.values())
def test_the_whole_message(wrong, message):
    with pytest.raises(errors.ShapeError) as caught:
        wrong()
    assert str(caught.value) == message


EXACT = {
    "bits": ((7,),),
    "bits of 8": ((3, 5), "uint8"),
    "uniform": ((2, 3),),
    "uniform of 16": ((5,), "bfloat16"),
    "randint": ((6,), -3, 9),
    "bernoulli": (np.float32([0.1, 0.9]),),
    "rademacher": ((6,),),
    "permutation": (9,),
}


@pytest.mark.parametrize("name", EXACT)
def test_first_draws_need_no_program_and_have_its_bits(name):
    def draw():
        return getattr(random, name.split()[0])(KEY, *EXACT[name])

    before = counters().compiles
    first = draw()
    assert counters().compiles == before
    drawn = [draw() for _ in range(20)]  # by a program in the end
    assert counters().compiles > before
    for x in drawn:
        assert imprint.typeof(x) is imprint.typeof(first)
        same(x, first)


def test_large_draws_are_made_by_a_program_at_once():
    before = counters().compiles
    random.uniform(KEY, (1 << 15,))
    assert counters().compiles > before


def test_draws_that_round_have_the_bits_of_a_program_from_the_first_one_on():
    before = counters().compiles
    drawn = random.normal(KEY, (3, 1, 7))
    assert counters().compiles > before
    same(drawn, imprint.jit(lambda: random.normal(KEY, (3, 1, 7)))())

import jax
import numpy as np
import pytest

import imprint
from imprint import errors, random
from tests.lanes import exhaustive_but
from tests.units.random.streams import both_streams, dtypes_of, flags, same, same_draw

KEY = random.key(0)
SHAPES = [(), (7,), (2, 0, 3), (3, 5)]
INTEGERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]


@pytest.mark.slow
@pytest.mark.parametrize("x64", [False, True])
@both_streams
def test_uniform_floats_as_jax(x64, partitionable):
    with flags(x64=x64, partitionable=partitionable):
        for dtype, shape in zip(dtypes_of(x64), SHAPES, strict=False):
            same_draw("uniform", shape, dtype)
        same_draw("uniform", (4,))


@pytest.mark.slow
def test_bounds_as_jax():
    with flags(x64=True):
        for dtype in dtypes_of(True):
            same_draw("uniform", (6,), dtype, -3.0, 5.5)
        same_draw("uniform", (2, 3), "float32", np.float32([[1], [2]]), 7)
        same_draw("uniform", (2, 3), "float32", np.arange(3), np.float64(9))


def test_a_narrow_float():
    same_draw("uniform", (5,), "float8_e4m3fn")


def test_uniform_lies_within_bounds():
    drawn = np.asarray(random.uniform(KEY, (1000,), minval=2.0, maxval=3.0))
    assert drawn.min() >= 2.0
    assert drawn.max() < 3.0
    assert abs(drawn.mean() - 2.5) < 0.05


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_uniform_is_not_rounded_to_its_upper_bound(dtype):
    drawn = random.uniform(KEY, (20000,), dtype, minval=3.0, maxval=4.0)
    assert 3 <= float(drawn.min()) <= float(drawn.max()) < 4


@pytest.mark.slow
def test_bounds_have_derivatives():
    def total(api, low, high):
        return api.random.uniform(api.random.key(0), (3,), None, low, high).sum()

    got = imprint.grad(lambda *bounds: total(imprint, *bounds), (0, 1))(0.5, 2.0)
    want = jax.grad(lambda *bounds: total(jax, *bounds), (0, 1))(0.5, 2.0)
    np.testing.assert_allclose(got, want, rtol=1e-6)


@pytest.mark.slow
def test_bounds_may_be_mapped():
    lows = np.float32([0, 5])
    got = imprint.vmap(lambda low: random.uniform(KEY, (3,), None, low, 9.0))(lows)
    for row, low in zip(got, lows, strict=True):
        same(row, random.uniform(KEY, (3,), None, low, 9.0))


# ---- integers ----


@pytest.mark.slow
@pytest.mark.parametrize(
    "dtype", exhaustive_but(["int8", "uint16", "int32", "uint64"], INTEGERS)
)
def test_randint_as_jax(dtype):
    with flags(x64=True):
        limits = np.iinfo(dtype)
        same_draw("randint", (6,), 3, 100, dtype)
        same_draw("randint", (6,), int(limits.min) // 2, int(limits.max) // 2, dtype)


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_randint_in_the_older_stream_as_jax(shape):
    with flags(partitionable=False):
        same_draw("randint", shape, -5, 7)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bounds", "dtype"),
    [
        ((0, 256), "uint8"),
        ((-128, 128), "int8"),
        ((-1000, 1000), "int8"),
        ((5, 5), "int32"),
        ((5, 3), "uint16"),
        ((-(2**31), 2**31 - 1), "int32"),
        ((0.9, 6.9), "int32"),
        ((np.int64(-(2**40)), np.int64(2**31)), "int32"),
        ((np.uint32(0), np.uint32(2**32 - 1)), "uint32"),
        ((np.int64(0), np.int64(2**32)), "uint32"),
        ((np.int8([1, 2]), np.uint8([[4], [9]])), "int16"),
    ],
    ids=repr,
)
def test_randint_at_the_edges(bounds, dtype):
    with flags(x64=True):
        same_draw("randint", (2, 2), *bounds, dtype)


def test_randint_draws_every_value():
    drawn = np.asarray(random.randint(KEY, (1000,), 1, 7))
    assert set(drawn.tolist()) == {1, 2, 3, 4, 5, 6}


# ---- errors ----

WRONG = {
    lambda: random.bits(KEY, (), "int32"): (
        "bits: expected uint8, uint16, uint32 or uint64 as dtype, got int32. For "
        "integers in a range call imprint.random.randint."
    ),
    lambda: random.uniform(KEY, (), int): (
        "uniform: expected a floating-point dtype, got int32. Leave dtype out for the "
        "default, or convert the result."
    ),
    lambda: random.uniform(KEY, (), minval="a"): (
        "uniform: expected an array or a number as minval, got str 'a'. Convert it with "
        "imprint.numpy.asarray."
    ),
    lambda: random.uniform(KEY, (3,), maxval=np.ones(2)): (
        "uniform: expected operands that broadcast to shape=(3,), got one of shape (2,)."
        " Pass numbers, or arrays of that shape or of its last axes."
    ),
    lambda: random.randint(KEY, (), 0, 2**31): (
        "randint: maxval: expected an integer in [-2147483648, 2147483647], got "
        "2147483648. For 64-bit integers set imprint.config.update('enable_x64', True)."
    ),
    lambda: random.randint(KEY, (), 0, 5, float): (
        "randint: expected an integer dtype of 8 bits or more, got float32. For floats "
        "call imprint.random.uniform."
    ),
}


@pytest.mark.parametrize(("wrong", "message"), WRONG.items(), ids=WRONG.values())
def test_the_whole_message(wrong, message):
    with pytest.raises((errors.ArgumentError, errors.ShapeError, OverflowError)) as err:
        wrong()
    assert str(err.value) == message

"""Initializers as in `jax.nn.initializers`: the same numbers for the same key."""

import itertools

import jax
import numpy as np
import pytest

import imprint
from imprint import random
from imprint.errors import ArgumentError, ShapeError
from imprint.nn import initializers
from tests.lanes import exhaustive, exhaustive_but
from tests.tolerances import assert_close

SHAPE = 2, 3, 4
INITIALIZERS = {
    "zeros": lambda m: m.zeros,
    "ones": lambda m: m.ones,
    "constant": lambda m: m.constant(0.3),
    "constant row": lambda m: m.constant(np.float32([1, 2, 3, 4])),
    "uniform": lambda m: m.uniform(),
    "uniform, scale": lambda m: m.uniform(3),
    "normal": lambda m: m.normal(),
    "normal, stddev": lambda m: m.normal(stddev=0.7),
    "truncated_normal": lambda m: m.truncated_normal(0.5),
    "truncated_normal, bounds": lambda m: m.truncated_normal(0.5, None, -1.0, 0.5),
    "fan_in": lambda m: m.variance_scaling(1.5, "fan_in", "normal"),
    "fan_out": lambda m: m.variance_scaling(1.5, "fan_out", "uniform"),
    "fan_avg": lambda m: m.variance_scaling(1.5, "fan_avg", "truncated_normal"),
    "fan_geo_avg": lambda m: m.variance_scaling(1.5, "fan_geo_avg", "normal"),
    "axes": lambda m: m.variance_scaling(1.0, "fan_avg", "normal", 1, (0,)),
    "batch axis": lambda m: m.he_normal(batch_axis=0, in_axis=1),
}
NAMED = [
    *("glorot_normal", "glorot_uniform", "he_normal", "he_uniform", "kaiming_normal"),
    *("kaiming_uniform", "lecun_normal", "lecun_uniform"),
    *("xavier_normal", "xavier_uniform"),
]
INITIALIZERS |= {name: lambda m, name=name: getattr(m, name)() for name in NAMED}


@pytest.mark.slow
@pytest.mark.parametrize("name", INITIALIZERS)
@pytest.mark.parametrize("dtype", [None, *exhaustive("float16")])
def test_the_numbers_of_jax(name, dtype):
    make = INITIALIZERS[name]
    got = make(initializers)(random.key(3), SHAPE, dtype)
    want = make(jax.nn.initializers)(jax.random.key(3), SHAPE, dtype)
    assert_close(got, want)


@pytest.mark.parametrize("name", ["he_normal", *exhaustive("he_uniform", "normal")])
def test_complex_numbers_of_jax(name):
    got = getattr(initializers, name)()(random.key(3), SHAPE, "complex64")
    want = getattr(jax.nn.initializers, name)()(jax.random.key(3), SHAPE, "complex64")
    assert_close(got, want, "program")


def test_the_dtype_given_with_the_shape_wins():
    init = initializers.normal(dtype="bfloat16")
    assert init(random.key(0), (2,)).dtype.name == "bfloat16"
    assert init(random.key(0), (2,), "float16").dtype.name == "float16"


def test_the_default_follows_the_flag():
    with imprint.enable_x64(True):
        for make in INITIALIZERS.values():
            assert make(initializers)(random.key(0), SHAPE).dtype.name == "float64"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("column_axis", "shape"),
    exhaustive_but(
        [(-1, (3, 2)), (0, (2, 3, 4))],
        list(itertools.product((-1, 0), [(3, 2), (2, 3, 4), (0, 2)])),
    ),
)
def test_orthogonal_matrices_of_jax(column_axis, shape):
    got, want = (
        m.nn.initializers.orthogonal(1.5, column_axis)(
            m.random.key(3), shape, "float32"
        )
        for m in (imprint, jax)
    )
    assert_close(got, want)


def test_orthogonal_matrices_of_a_dtype():
    assert initializers.orthogonal(dtype="complex64")(random.key(0), (2, 2)).dtype == (
        np.complex64
    )


@pytest.mark.parametrize("shape", [(3, 2, 3), (2, 3, 2, 2), (1, 2, 3, 2, 2)])
def test_delta_orthogonal_kernels_of_jax(shape):
    got, want = (
        m.nn.initializers.delta_orthogonal()(m.random.key(3), shape, "float32")
        for m in (imprint, jax)
    )
    assert_close(got, want)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
def test_a_shape_of_nothing(shape):
    assert initializers.he_normal()(random.key(0), shape).shape == shape


WRONG = {
    "variance_scaling: expected mode among ['fan_in', 'fan_out', 'fan_avg', "
    "'fan_geo_avg'], got 'fan'. Choose one of these.": (
        ArgumentError,
        lambda: initializers.variance_scaling(1.0, "fan", "normal"),
    ),
    "variance_scaling: expected distribution among ['truncated_normal', 'normal', "
    "'uniform'], got 'cauchy'. Choose one of these.": (
        ArgumentError,
        lambda: initializers.variance_scaling(1.0, "fan_in", "cauchy"),
    ),
    "orthogonal: expected a shape of at least two axes, got (3,). A vector has no columns "
    "that could be orthogonal: use normal.": (
        ShapeError,
        lambda: initializers.orthogonal()(random.key(0), (3,)),
    ),
    "delta_orthogonal: expected one to three axes of a kernel, then at most as many "
    "channels that go in as come out, got (3, 2, 1). Draw the kernel for the other "
    "direction, and transpose it.": (
        ShapeError,
        lambda: initializers.delta_orthogonal()(random.key(0), (3, 2, 1)),
    ),
    "initializer: expected a shape of at least 2 axes, got (3,). Say with in_axis which "
    "axis goes in, or use normal or uniform.": (
        ShapeError,
        lambda: initializers.he_normal()(random.key(0), (3,)),
    ),
}


@pytest.mark.parametrize("message", WRONG)
def test_error_messages(message):
    error, call = WRONG[message]
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == message

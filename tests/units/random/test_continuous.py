import jax
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint import errors, random
from tests.lanes import exhaustive_but
from tests.units.random.streams import (
    JAX_0_12,
    both_streams,
    dtypes_of,
    flags,
    same,
    same_draw,
)

KEY = random.key(0)
SHAPES = [(3, 5), (7,), (), (6,)]
STANDARD = ["normal", "exponential", "gumbel", "laplace", "logistic", "cauchy"]

# The doc's own numbers are those of the older stream.
SELU = {
    True: "1.7037742 2.1265278 -0.616925 -0.13257582 0.18489543 -1.0901651 -0.68493664 "
    "0.5190975 0.69756675 -1.0754603",
    False: "-0.5448514 0.2774427 -0.29255113 -0.91421574 -0.6245251 -0.24748121 "
    "-0.85743254 -0.7823266 0.7682733 0.59566766",
}


@pytest.mark.exhaustive  # it needs the digits of a program compiled as for users
@both_streams
def test_selu_of_a_normal_draw_digit_for_digit(partitionable):
    @imprint.jit
    def selu(x, alpha=1.67, lmbda=1.05):
        return lmbda * inp.where(x > 0, x, alpha * inp.exp(x) - alpha)

    with flags(partitionable=partitionable):
        got = selu(random.normal(random.key(0), (10,)))
    assert " ".join(map(str, np.asarray(got))) == SELU[partitionable]


@pytest.mark.slow
@pytest.mark.parametrize("name", exhaustive_but(["normal", "gumbel"], STANDARD))
def test_every_dtype_as_jax(name):
    with flags(x64=True):
        for dtype, shape in zip(dtypes_of(True), SHAPES, strict=True):
            same_draw(name, shape, dtype, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("name", STANDARD)
def test_the_older_stream_as_jax(name):
    with flags(partitionable=False):
        same_draw(name, (9,))


@pytest.mark.parametrize("name", [*STANDARD, "truncated_normal"])
def test_a_draw_of_nothing(name):
    bounds = (-1.0, 1.0) if name == "truncated_normal" else ()
    assert getattr(random, name)(KEY, *bounds, (2, 0)).shape == (2, 0)


@pytest.mark.slow
def test_complex_normal_as_jax():
    with flags(x64=True):
        same_draw("normal", (2, 3), "complex64")
        same_draw("normal", (), complex)


@pytest.mark.slow
def test_truncated_normal_as_jax():
    with flags(x64=True):
        for dtype in dtypes_of(True):
            same_draw("truncated_normal", -1.0, 2.0, (9,), dtype)
        same_draw("truncated_normal", -1, np.float32([1, 2, 3]), None, "float32")
        same_draw("truncated_normal", np.float32([[0.1], [0.2]]), 0.25, (2, 3))


def test_truncated_normal_stays_within_bounds():
    drawn = np.asarray(random.truncated_normal(KEY, 1.0, 1.0001, (100,)))
    assert np.all((drawn > 1.0) & (drawn < 1.0001))


@pytest.mark.slow
def test_bounds_of_truncated_normal_have_derivatives():
    def total(api, low):
        return api.random.truncated_normal(api.random.key(0), low, 1.0, (3,)).sum()

    got = imprint.grad(lambda low: total(imprint, low))(-0.5)
    np.testing.assert_allclose(got, jax.grad(lambda x: total(jax, x))(-0.5), rtol=1e-6)


@pytest.mark.skipif(not JAX_0_12, reason="JAX 0.12 made the tail more precise")
@pytest.mark.slow
def test_precise_gumbel_as_jax():
    with flags(x64=True):
        for dtype, shape in zip(dtypes_of(True), SHAPES, strict=True):
            same_draw("gumbel", shape, dtype, mode="high")


def test_modes_of_gumbel():
    same(random.gumbel(KEY, (3,)), random.gumbel(KEY, (3,), mode="low"))
    assert np.all(np.isfinite(random.gumbel(KEY, (1000,), "bfloat16", "high")))


@pytest.mark.slow
def test_moments():
    n = 10_000
    for name, mean, std in [
        ("normal", 0, 1),
        ("exponential", 1, 1),
        ("gumbel", np.euler_gamma, np.pi / np.sqrt(6)),
        ("laplace", 0, np.sqrt(2)),
        ("logistic", 0, np.pi / np.sqrt(3)),
    ]:
        drawn = np.asarray(getattr(random, name)(KEY, (n,)))
        assert abs(drawn.mean() - mean) < 5 * std / np.sqrt(n)
        assert abs(drawn.std() / std - 1) < 0.05


# ---- errors ----

WRONG = {
    lambda: random.normal(KEY, (), int): (
        "normal: expected a floating-point or complex dtype, got int32. Leave dtype out "
        "for the default, or convert the result."
    ),
    lambda: random.laplace(KEY, (), "complex64"): (
        "laplace: expected a floating-point dtype, got complex64. Leave dtype out for "
        "the default, or convert the result."
    ),
    lambda: random.gumbel(KEY, mode="highest"): (
        'gumbel: expected "low" or "high" as mode, got \'highest\'. "low" is the '
        'default, "high" takes twice the bits.'
    ),
    lambda: random.truncated_normal(KEY, np.zeros(2), np.zeros(3)): (
        "truncated_normal: expected operands that broadcast, got shapes (2,) and (3,). "
        "Trailing axes must have equal lengths, or length 1."
    ),
    lambda: random.truncated_normal(KEY, None, 1.0): (
        "truncated_normal: expected an array or a number as lower, got NoneType None. "
        "Convert it with imprint.numpy.asarray."
    ),
}


@pytest.mark.parametrize(("wrong", "message"), WRONG.items(), ids=WRONG.values())
def test_the_whole_message(wrong, message):
    with pytest.raises((errors.ArgumentError, errors.ShapeError)) as caught:
        wrong()
    assert str(caught.value) == message

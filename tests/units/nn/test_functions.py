"""Functions along axes as in `jax.nn`: values and derivatives."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint import nn
from imprint.errors import ArgumentError, DTypeError, ShapeError
from tests import oracle
from tests.tolerances import assert_close

X = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32) * 3
WEIGHTS = np.random.default_rng(1).normal(size=(3, 4)).astype(np.float32)
MASK = np.array([[True, False, True, True]] * 2 + [[False, True, True, False]])
NOTHING_OF_ONE_ROW = MASK & np.array([[True], [False], [True]])

CALLS = {
    "softmax": lambda m, x: m.softmax(x),
    "softmax, axis": lambda m, x: m.softmax(x, 0),
    "softmax, axes": lambda m, x: m.softmax(x, (0, 1)),
    "softmax, all": lambda m, x: m.softmax(x, axis=None),
    "softmax, where": lambda m, x: m.softmax(x, where=MASK),
    "softmax, nothing": lambda m, x: m.softmax(x, where=NOTHING_OF_ONE_ROW),
    "log_softmax": lambda m, x: m.log_softmax(x),
    "log_softmax, axis": lambda m, x: m.log_softmax(x, 0),
    "logsumexp": lambda m, x: m.logsumexp(x),
    "logsumexp, axis": lambda m, x: m.logsumexp(x, axis=-1),
    "logsumexp, keepdims": lambda m, x: m.logsumexp(x, 0, keepdims=True),
    "logsumexp, axes": lambda m, x: m.logsumexp(x, axis=(1, 0)),
    "logsumexp, b": lambda m, x: m.logsumexp(x, 1, b=np.abs(WEIGHTS)),
    "logsumexp, b is 0": lambda m, x: m.logsumexp(x, 1, b=np.where(MASK, 1, 0)),
    "logsumexp, where": lambda m, x: m.logsumexp(x, axis=1, where=MASK),
    "logmeanexp": lambda m, x: m.logmeanexp(x, 1),
    "logmeanexp, where": lambda m, x: m.logmeanexp(x, 1, where=MASK, keepdims=True),
    "glu": lambda m, x: m.glu(x),
    "glu, axis": lambda m, x: m.glu(x[:2], axis=0),
    "standardize": lambda m, x: m.standardize(x),
    "standardize, axis": lambda m, x: m.standardize(x, axis=0, epsilon=0.1),
    "standardize, known": lambda m, x: m.standardize(x, mean=x[:, :1], variance=4.0),
    "standardize, where": lambda m, x: m.standardize(x, where=MASK),
    "standardize, stable": lambda m, x: m.standardize(
        x + 30, where=MASK, algorithm="stable"
    ),
    "logsumexp, positions": lambda m, x: m.logsumexp(x, 1, None, True, False, MASK),
    "logsumexp, sign": lambda m, x: m.logsumexp(x, 1, WEIGHTS, False, True)[0],
    "logmeanexp, positions": lambda m, x: m.logmeanexp(x, 1, MASK, True),
}


def value_and_gradient(transforms, module, numpy, call, x):
    """Return the value, and the gradient of its product with fixed weights."""

    def loss(x):
        out = call(module, x)
        finite = numpy.where(numpy.isfinite(out), out, 0)
        return numpy.sum(finite.ravel() * WEIGHTS.ravel()[: out.size])

    return call(module, x), transforms.grad(loss)(x)


@pytest.mark.slow
@pytest.mark.parametrize("name", CALLS)
def test_values_and_gradients_as_jax(name):
    call = CALLS[name]
    got = value_and_gradient(imprint, nn, inp, call, inp.asarray(X))
    want = oracle.jit(lambda x: value_and_gradient(jax, jax.nn, jnp, call, x))(X)
    assert_close(got[0], want[0], "program")
    assert_close(got[1], want[1], "gradient")
    assert np.isfinite(got[1]).all()


LARGE = np.array([[1e30, 1e30, -1e30], [-np.inf, 0, 5e3], [0, 0, 0]], np.float32)


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "logsumexp", "logmeanexp"])
def test_large_numbers_do_not_overflow(name):
    with np.errstate(all="raise"):
        got = getattr(nn, name)(inp.asarray(LARGE), -1)
    assert_close(got, getattr(jax.nn, name)(LARGE, -1), "program")


@pytest.mark.parametrize("count", [8, 100_000])  # beyond what float16 counts to
@pytest.mark.parametrize("name", ["softmax", "log_softmax", "logsumexp", "logmeanexp"])
def test_half_precision_is_that_of_the_operands_alone(name, count):
    rng = np.random.default_rng(2)
    x = rng.uniform(-0.1, 0.1, count).astype("float16")
    weights = rng.uniform(0, 100, count).astype("float16")

    def both(x):
        out, pull = imprint.vjp(getattr(nn, name), x)
        (ct,) = pull(inp.asarray(weights[: out.size].reshape(out.shape), out.dtype))
        return out, ct

    with imprint.enable_x64():
        right = [np.asarray(v) for v in both(inp.asarray(x, "float64"))]
    for found in (both(inp.asarray(x)), imprint.jit(both)(x)):
        for one, other in zip(found, right, strict=True):
            assert one.dtype == "float16"
            atol = 2e-3 * np.abs(other).max()
            np.testing.assert_allclose(one, other, rtol=2e-3, atol=atol)


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "logsumexp"])
@pytest.mark.parametrize("edge", [np.inf, -np.inf, np.nan])
def test_infinities_as_jax(name, edge):
    row = np.array([edge, edge, 1.0], np.float32)
    for x in (row, row[:2]):
        got = getattr(nn, name)(inp.asarray(x))
        assert_close(got, getattr(jax.nn, name)(x), "program")


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "logsumexp"])
def test_excluded_elements_have_no_effect(name):
    x = np.where(MASK, X, np.inf)
    call = getattr(nn, name)

    def loss(x):
        out = call(x, axis=1, where=MASK)
        return inp.sum(inp.where(inp.isfinite(out), out, 0) ** 2)

    clean, dirty = (imprint.grad(loss)(inp.asarray(v)) for v in (X, x))
    np.testing.assert_array_equal(clean, dirty)
    np.testing.assert_array_equal(np.asarray(dirty)[~MASK], 0)


def test_log_softmax_of_nothing_is_minus_infinity():
    got = nn.log_softmax(inp.asarray(X), where=MASK)
    np.testing.assert_array_equal(np.asarray(got)[~MASK], -np.inf)
    assert_close(np.exp(got), nn.softmax(inp.asarray(X), where=MASK), "program")


def test_elements_with_factor_0_may_be_infinite():
    x, b = np.float32([0.5, np.inf]), np.float32([1, 0])
    assert_close(nn.logsumexp(inp.asarray(x), b=b), jax.nn.logsumexp(x, b=b))


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "logsumexp"])
def test_no_derivative_goes_through_the_maximum(name):
    def loss(x):
        return inp.sum(inp.square(getattr(nn, name)(x)))

    # The derivative of a maximum compares with it, to find where it was taken.
    assert " eq " not in str(imprint.make_jaxpr(imprint.grad(loss))(inp.ones(3)))
    assert " eq " in str(imprint.make_jaxpr(imprint.grad(inp.max))(inp.ones(3)))


def test_equal_numbers_have_no_negative_variance():
    for value in (0.1, 1000.1, 33.3):
        x = np.full(7, value, np.float32)
        assert np.isfinite(nn.standardize(inp.asarray(x), epsilon=1e-12)).all()


@pytest.mark.parametrize("b", [None, WEIGHTS, -np.abs(WEIGHTS), 0 * WEIGHTS])
def test_the_sign_of_a_sum_is_returned_with_its_magnitude(b):
    got = nn.logsumexp(inp.asarray(X), 0, b, keepdims=True, return_sign=True)
    want = jax.nn.logsumexp(X, 0, b, keepdims=True, return_sign=True)
    for one, other in zip(got, want, strict=True):
        assert_close(one, other, "program")


def test_a_negative_sum_has_no_logarithm():
    got = nn.logsumexp(inp.zeros(2), b=inp.array([1.0, -3.0]))
    assert np.isnan(got)
    assert np.isnan(jax.nn.logsumexp(jnp.zeros(2), b=jnp.array([1.0, -3.0])))


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "logsumexp", "standardize"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_narrow_dtypes_as_jax(name, dtype):
    got = getattr(nn, name)(inp.asarray(X, dtype), 0)
    want = getattr(jax.nn, name)(jnp.asarray(X, dtype), 0)
    assert_close(got, want, "program")


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "logsumexp", "standardize"])
def test_integers_become_floats(name):
    call, integers = getattr(nn, name), inp.arange(6).reshape(2, 3)
    np.testing.assert_array_equal(call(integers, 0), call(integers.astype(float), 0))


@pytest.mark.parametrize("options", [{}, {"axis": 0}, {"axis": 1, "dtype": "int8"}])
def test_one_hot_as_jax(options):
    for x in (np.array([[0, 2, -1], [5, 1, 4]]), np.uint8([3, 200]), np.array(1)):
        if x.ndim >= options.get("axis", 0):
            got = nn.one_hot(x, 5, **options)
            assert_close(got, jax.nn.one_hot(x, 5, **options))


def test_one_hot_of_more_classes_than_the_dtype_counts():
    got = np.asarray(nn.one_hot(np.int8([3]), 300))
    np.testing.assert_array_equal(np.flatnonzero(got), [3])


WRONG = {
    "standardize: expected algorithm 'fast' or 'stable', got 'quick'.": (
        ArgumentError,
        lambda: nn.standardize(inp.ones(2), algorithm="quick"),
    ),
    "one_hot: expected integers, got float32[2]. Convert with .astype(int).": (
        DTypeError,
        lambda: nn.one_hot(inp.ones(2), 3),
    ),
    "one_hot: expected one number of at least 0 as num_classes, got int32[2]. It is how "
    "many places there are, the same for all elements.": (
        ArgumentError,
        lambda: nn.one_hot(inp.arange(2), inp.arange(2)),
    ),
    "one_hot: expected one number of at least 0 as num_classes, got int -1. It is how "
    "many places there are, the same for all elements.": (
        ArgumentError,
        lambda: nn.one_hot(inp.arange(2), -1),
    ),
    "one_hot: expected a whole number, got float 2.5. Convert it with int().": (
        ArgumentError,
        lambda: nn.one_hot(inp.arange(2), 2.5),
    ),
    "one_hot: expected an axis in [-2, 2), got 2. The array has 2 axes.": (
        ShapeError,
        lambda: nn.one_hot(inp.arange(2), 3, axis=2),
    ),
    "glu: expected an even length along axis -1, got float32[3]. The axis is halved: "
    "give a layer before it twice the features.": (
        ShapeError,
        lambda: nn.glu(inp.ones(3)),
    ),
}


@pytest.mark.parametrize("message", WRONG)
def test_error_messages(message):
    error, call = WRONG[message]
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == message

"""Functions of few axes on arrays of many: errors, and the number of calls."""

import jax.numpy as jnp
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint.errors import ArgumentError, ShapeError
from tests.tolerances import assert_close

DOT = inp.vectorize(inp.dot, signature="(n),(n)->()")

WRONG = {
    "vectorize: expected a signature such as '(n,k),(k)->(n)', got '(n)'. Write the "
    "named axes of each argument and result.": (
        ArgumentError,
        lambda: inp.vectorize(inp.sin, signature="(n)"),
    ),
    "vectorize: expected positions from 0 on and names for excluded, got {-1}. Count "
    "positions from the front.": (
        ArgumentError,
        lambda: inp.vectorize(inp.sin, excluded={-1}),
    ),
    "vectorize: expected 2 positional arguments by the signature, got [0]. Exclude the "
    "names of the others.": (ArgumentError, lambda: DOT(inp.ones(2))),
    "vectorize: expected 2 positional arguments by the signature, got [0, 'b']. Exclude "
    "the names of the others.": (
        ArgumentError,
        lambda: DOT(inp.ones(2), b=inp.ones(2)),
    ),
    "vectorize: expected an argument with the axes (n), got float32[]. The signature "
    "names the last axes.": (ShapeError, lambda: DOT(inp.ones(()), inp.ones(2))),
    "vectorize: expected an argument with the axes (n) where {'n': 2}, got float32[3]. "
    "The signature names the last axes.": (
        ShapeError,
        lambda: DOT(inp.ones(2), inp.ones(3)),
    ),
    "vectorize: expected shapes that broadcast together before the core axes, got "
    "float32[2,4] and float32[3,4]. Insert axes of length 1.": (
        ShapeError,
        lambda: DOT(inp.ones((2, 4)), inp.ones((3, 4))),
    ),
    "vectorize: expected 2 results by the signature, got 1. Return a tuple of as many.": (
        ArgumentError,
        lambda: inp.vectorize(inp.sum, signature="(n)->(),()")(inp.ones(2)),
    ),
    "vectorize: expected a result with the axes (n) where {'n': 2}, got float32[]. The "
    "signature names the last axes.": (
        ShapeError,
        lambda: inp.vectorize(inp.sum, signature="(n)->(n)")(inp.ones(2)),
    ),
    "apply_over_axes: expected a function that keeps axis 0 or drops it, got float32[] "
    "for float32[2,3]. Reduce along the axis it is given.": (
        ShapeError,
        lambda: inp.apply_over_axes(lambda x, _: x.sum(), inp.ones((2, 3)), (0,)),
    ),
}


@pytest.mark.parametrize("message", WRONG)
def test_error_messages(message):
    kind, call = WRONG[message]
    with pytest.raises(kind) as caught:
        call()
    assert str(caught.value) == message


def test_a_function_runs_once_for_all_elements():
    calls = []

    @inp.vectorize
    def double(x):
        calls.append(x.shape)
        return x * 2

    assert_close(double(inp.ones((3, 4))), np.full((3, 4), np.float32(2)))
    assert calls == [()]


def test_keywords_are_mapped_as_positions_are():
    # JAX leaves them out of the call, so answers with the default.
    power = inp.vectorize(lambda x, by=1: x**by)
    assert power(inp.arange(3.0), by=inp.array([[1], [2]])).tolist() == [
        [0.0, 1.0, 2.0],
        [0.0, 1.0, 4.0],
    ]


def test_results_that_are_no_tuples():
    pairs = inp.vectorize(lambda x, y: {"sum": x + y, "row": [x, y]})
    got = pairs(inp.ones((1, 1)), [1.0])
    assert got["sum"].shape == got["row"][1].shape == (1, 1)


def test_vectorize_inside_jit_and_grad():
    def loss(np):
        f = np.vectorize(lambda x, y: x * np.sin(y))
        return lambda x: f(x, np.arange(3.0)).sum()

    x = np.ones((2, 1), np.float32)
    got = imprint.jit(imprint.grad(loss(inp)))(x)
    assert_close(got, jnp.full((2, 1), np.sin(np.arange(3.0, dtype="f")).sum()))

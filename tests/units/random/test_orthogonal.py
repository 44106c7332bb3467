"""imprint.random.orthogonal as in JAX: the same matrices for the same key."""

import itertools

import jax
import numpy as np
import pytest

import imprint
from imprint.errors import ArgumentError
from tests.lanes import exhaustive_but
from tests.tolerances import assert_close

ARGS = {
    "square": ((3,), {}),
    "wide": ((2, (2, 1)), {"m": 3}),
    "tall": ((3,), {"m": 2}),
    "nothing": ((0,), {}),
}


def drawn(library, *args, dtype=None, **params):
    with library.enable_x64(True):
        out = library.random.orthogonal(
            library.random.key(7), *args, dtype=dtype, **params
        )
        return np.asarray(out)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("args", "dtype"),
    exhaustive_but(
        [("wide", None), ("tall", None), ("wide", "complex64")],
        [
            *itertools.product(ARGS, [None]),
            *itertools.product(("square", "wide"), ("float32", "complex64")),
        ],
    ),
)
def test_the_matrices_of_jax(args, dtype):
    positional, named = ARGS[args]
    got = drawn(imprint, *positional, dtype=dtype, **named)
    assert_close(got, drawn(jax, *positional, dtype=dtype, **named), "contraction")


def test_under_jit_and_vmap():
    keys = imprint.random.split(imprint.random.key(0), 3)
    each = imprint.jit(imprint.vmap(lambda key: imprint.random.orthogonal(key, 3)))(
        keys
    )
    for key, q in zip(keys, each, strict=True):
        assert_close(np.asarray(q), np.asarray(imprint.random.orthogonal(key, 3)))
        assert_close(np.asarray(q @ q.T), np.eye(3, dtype=np.float32), "contraction")


def message(*args, **params):
    with pytest.raises(ArgumentError) as caught:
        imprint.random.orthogonal(imprint.random.key(0), *args, **params)
    return str(caught.value)


def test_invalid_arguments_raise():
    assert message(3, dtype="float16") == (
        "orthogonal: expected float32, float64, complex64 or complex128, got float16. "
        "Convert the result."
    )
    assert message(-1) == (
        "orthogonal: expected lengths of at least 0, got n=-1 and m=-1. They are the "
        "numbers of rows and columns."
    )
    assert message(2.0) == (
        "orthogonal: expected n to be a whole number, got float 2.0. Write it as a "
        "Python int."
    )

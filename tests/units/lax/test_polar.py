"""lax.linalg.qdwh is JAX's: factors, steps, and whether they were enough."""

import jax
import numpy as np
import pytest

import imprint
from imprint import lax
from imprint.errors import DTypeError, ShapeError
from tests import oracle
from tests.lanes import exhaustive
from tests.tolerances import assert_close

RNG = np.random.default_rng(0)
WAYS = [
    {},
    {"max_iterations": 7},
    {"max_iterations": 3},
    {"eps": 1e-3},
    {"dynamic_shape": (3, 2)},
]


def drawn(*shape, dtype="float64"):
    x = RNG.standard_normal(shape)
    return (x + 1j * RNG.standard_normal(shape) if "c" in dtype else x).astype(dtype)


SQUARE, TALL = drawn(4, 4), drawn(5, 3, dtype="complex128")


@pytest.mark.parametrize(
    ("x", "ways"),
    exhaustive((TALL, WAYS[::4]), (TALL, WAYS[1:4]), (SQUARE, WAYS)),
    ids=["tall", "more", "square"],
)
def test_the_factors_are_those_of_jax(x, ways):
    def run(lax):
        return [lax.linalg.qdwh(x, **way) for way in ways]

    with jax.enable_x64(True), imprint.enable_x64(True):
        want = oracle.jit(lambda: run(jax.lax))()
        for got in (run(lax), imprint.jit(lambda: run(lax))()):
            for ours, theirs in zip(got, want, strict=True):
                for a, b in zip(ours, theirs, strict=True):
                    assert a.weak_type == b.weak_type
                    assert_close(a, b, "factored")
        u, h, _, converged = lax.linalg.qdwh(x)
        assert converged
        assert_close(u @ h, x, "factored")


@pytest.mark.exhaustive
def test_it_is_batched_and_differentiated_forward():
    xs = RNG.standard_normal((2, 3, 3)).astype("float32")
    each = imprint.vmap(lambda x: lax.linalg.qdwh(x)[0])(xs)
    assert_close(each[1], lax.linalg.qdwh(xs[1])[0], "factored")
    got = imprint.jvp(lambda x: lax.linalg.qdwh(x)[0], (xs[0],), (xs[1],))[1]
    want = jax.jvp(lambda x: jax.lax.linalg.qdwh(x)[0], (xs[0],), (xs[1],))[1]
    assert_close(got, want, "factored")


def test_unused_parts_may_have_any_value():
    x = np.full((3, 2), np.inf, "float32")
    x[:2, :1] = [[3], [4]]
    u, h, _, _ = lax.linalg.qdwh(x, dynamic_shape=(2, 1))
    assert_close(u, np.float32([[0.6, 0], [0.8, 0], [0, 0]]), "factored")
    assert_close(h, np.float32([[5, 0], [0, 0]]), "factored")


def test_invalid_arguments_raise():
    with pytest.raises(ShapeError) as caught:
        lax.linalg.qdwh(np.ones((2, 3), "float32"))
    assert str(caught.value) == (
        "linalg.qdwh: expected one matrix with at least as many rows as columns, got "
        "float32[2,3]. Transpose a wide one, and map with imprint.vmap over a stack."
    )
    with pytest.raises(DTypeError) as caught:
        lax.linalg.qdwh(np.ones((2, 2), "int32"))
    assert str(caught.value) == (
        "linalg.qdwh: expected floats or complex numbers, got int32[2,2]. Convert with "
        ".astype."
    )

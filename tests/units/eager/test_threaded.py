"""Eager products of large operands run as programs; small ones by NumPy."""

import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint import lax
from imprint._src.eager import evaluate

RNG = np.random.default_rng(0)


def normal(*shape):
    return RNG.normal(size=shape).astype(np.float32)


@pytest.mark.parametrize(
    ("call", "shapes"),
    [
        (lambda x, y: x @ y, ((170, 180), (180, 160))),
        (lambda x, y: inp.einsum("aij,ajk->aik", x, y), ((2, 170, 180), (2, 180, 160))),
        (lambda x, y: lax.conv(x, y, (1, 1), "SAME"), ((2, 3, 32, 32), (8, 3, 3, 3))),
    ],
)
def test_a_large_product_is_a_program(call, shapes):
    x, y = (inp.asarray(normal(*shape)) for shape in shapes)
    evaluate._LARGE.clear()
    got = call(x, y)
    assert len(evaluate._LARGE) == 1
    for _ in range(6):  # fused from some call on
        np.testing.assert_array_equal(call(x, y), got)
    assert len(evaluate._LARGE) == 1
    np.testing.assert_allclose(got, imprint.jit(call)(x, y), rtol=1e-4, atol=1e-4)


def test_a_small_product_is_none():
    evaluate._LARGE.clear()
    x = inp.asarray(normal(32, 32))
    np.testing.assert_allclose(x @ x, np.asarray(x) @ np.asarray(x), rtol=1e-5)
    lax.conv(inp.ones((1, 2, 8, 8)), inp.ones((2, 2, 3, 3)), (1, 1), "SAME")
    assert not evaluate._LARGE

"""Products of matrices outside of jit, which NumPy would compute in threads.

Its threads wait for one another actively, so on a busy machine they take a hundred times
as long. A product of medium size is computed in blocks, a large one by a program.
"""

import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint import lax

IN_ONE_THREAD = 2**18
BLOCKS = {
    "square": ((96, 96), (96, 96)),
    "high": ((4000, 16), (16, 16)),
    "wide": ((16, 16), (16, 4000)),
    "not divided": ((101, 70), (70, 83)),
    "few rows": ((2, 600), (600, 600)),
    "a stack": ((3, 80, 70), (3, 70, 90)),
}
PROGRAMS = {
    "too many": ((192, 192), (192, 192)),
    "thin blocks": ((16, 4096), (4096, 16)),
}


@pytest.fixture
def sizes(monkeypatch):
    """How many multiplications each product of NumPy's has."""
    found = []
    product = np.matmul

    def counted(x, y, *args, **kwargs):
        found.append(x.shape[-2] * x.shape[-1] * y.shape[-1])
        return product(x, y, *args, **kwargs)

    monkeypatch.setattr(np, "matmul", counted)
    return found


def operands(shapes, dtype):
    rng = np.random.default_rng(0)
    pair = [rng.normal(size=shape).astype(dtype) for shape in shapes]
    return pair, np.matmul(*[x.astype("float64") for x in pair])


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("name", BLOCKS)
def test_a_product_of_medium_size_is_computed_in_blocks(sizes, name, dtype):
    (x, y), right = operands(BLOCKS[name], inp.dtype(dtype))
    sizes.clear()
    found = inp.asarray(x) @ inp.asarray(y)
    assert len(sizes) > 1
    assert max(sizes) <= IN_ONE_THREAD
    assert found.dtype == dtype
    rtol = 1e-5 if dtype == "float32" else 1e-2
    np.testing.assert_allclose(
        np.asarray(found, "float64"), right, rtol, rtol * np.abs(right).max()
    )


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_large_product_is_a_program(sizes, name):
    (x, y), right = operands(PROGRAMS[name], "float32")
    sizes.clear()
    found = inp.asarray(x) @ inp.asarray(y)
    assert not sizes
    np.testing.assert_allclose(found, right, 1e-4, 1e-4 * np.abs(right).max())


def test_a_product_of_integers_is_a_program(sizes):
    x = np.arange(96 * 96, dtype="int32").reshape(96, 96)
    assert (np.asarray(inp.asarray(x) @ inp.asarray(x)) == x @ x).all()
    sizes.clear()
    inp.asarray(x) @ inp.asarray(x)
    assert not sizes


def test_blocks_serve_other_axes_and_derivatives(sizes):
    (x, y), _ = operands(((96, 96), (96, 96)), "float32")
    found = lax.dot_general(x, y, (((0,), (1,)), ((), ())))
    np.testing.assert_allclose(found, x.T @ y.T, 1e-4, 1e-3)
    sizes.clear()
    slope = imprint.grad(lambda x: (x @ y).sum())(inp.asarray(x))
    assert max(sizes) <= IN_ONE_THREAD
    np.testing.assert_allclose(slope, np.ones((96, 96)) @ y.T, 1e-4, 1e-3)

"""Single operations on an accelerator, with the CPU in its place."""

import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint import lax, random
from imprint._src.eager import evaluate
from imprint.debug import counters
from imprint.errors import NonFiniteError


@pytest.fixture(autouse=True)
def _far(monkeypatch):
    monkeypatch.setattr(evaluate, "is_off_host", lambda _: True)
    evaluate._THERE.clear()


def far(*shape):
    """Return an array whose values were never read."""
    return imprint.jit(lambda: inp.arange(float(np.prod(shape))).reshape(shape))()


def test_operations_run_where_their_operands_are():
    x = far(3, 4)
    y = inp.sin(x)[1:] @ far(4, 2) + 1
    assert not hasattr(y, "_host")
    values = np.arange(12.0, dtype=np.float32).reshape(3, 4)
    want = np.sin(values)[1:] @ np.arange(8.0, dtype=np.float32).reshape(4, 2) + 1
    np.testing.assert_allclose(y, want, rtol=1e-5)


def test_each_kind_of_operation_compiles_once():
    before = counters().compiles
    for _ in range(3):
        lax.sin(far(2))
        lax.sin(far(3))
    made = len(evaluate._THERE)
    assert made == 2
    lax.sin(far(2))
    assert len(evaluate._THERE) == made
    assert counters().compiles - before <= 2 + 2  # and what makes the operands


def test_results_are_committed_as_operands_are():
    device = imprint.devices()[0]
    x = imprint.jit(lambda: inp.ones(2), device=device)()
    assert x.committed
    assert (x + 1).committed
    assert not (far(2) + 1).committed


def test_operations_without_a_program_run_on_the_host():
    key = imprint.jit(lambda: random.key(0))()
    want = random.uniform(random.key(0), (3,))
    np.testing.assert_array_equal(random.uniform(key, (3,)), want)


def test_debug_nans_looks_at_them():
    x = far(2)
    with (
        imprint.debug_nans(True),
        pytest.raises(NonFiniteError, match="log: expected no NaN"),
    ):
        inp.log(x - 1)


def test_gradients_and_maps_run_there():
    x = far(5)
    np.testing.assert_allclose(
        imprint.grad(lambda x: (x * inp.cos(x)).sum())(x),
        np.cos(np.arange(5)) - np.arange(5) * np.sin(np.arange(5)),
        rtol=1e-5,
    )
    np.testing.assert_array_equal(imprint.vmap(lambda v: v * 2)(x), 2 * np.arange(5))

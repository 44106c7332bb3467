import jax.numpy as jnp
import numpy as np
import pytest

import imprint.numpy as inp
from imprint import nn
from imprint.errors import ShapeError
from tests.tolerances import assert_close
from tests.units.nn.equinox_parity import OURS, THEIRS, numbers, same_calls

CASES = {
    "vector": lambda layer: layer(4),
    "matrix": lambda layer: layer((3, 4)),
    "list": lambda layer: layer([3, 4], eps=0.1),
    "no weight": lambda layer: layer(4, use_weight=False),
    "no bias": lambda layer: layer(4, use_bias=False),
    "bfloat16": lambda layer: layer(4, dtype="bfloat16"),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["LayerNorm", "RMSNorm"])
@pytest.mark.parametrize("name", CASES)
def test_as_equinox(kind, name):
    x = numbers(*((3, 4) if name in ("matrix", "list") else (4,)))
    same_calls(lambda m: CASES[name](getattr(m.nn, kind)), lambda layer, x: layer(x), x)


@pytest.mark.parametrize("kind", ["LayerNorm", "RMSNorm"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_narrow_input_as_equinox(kind, dtype):
    x = 300 * numbers(8)
    got = getattr(OURS.nn, kind)(8)(inp.asarray(x, dtype))
    want = getattr(THEIRS.nn, kind)(8)(jnp.asarray(x, dtype))
    assert_close(got, want, "program")


def test_equal_numbers_give_no_nan():
    np.testing.assert_array_equal(nn.LayerNorm(3)(inp.full(3, 7.0)), np.zeros(3))


@pytest.mark.parametrize("kind", ["LayerNorm", "RMSNorm"])
def test_a_batch_is_refused(kind):
    with pytest.raises(ShapeError) as caught:
        getattr(nn, kind)(3)(inp.ones((8, 3)))
    assert str(caught.value) == (
        f"{kind}: expected one example of shape (3,), got float32[8,3]. "
        "For a batch write imprint.vmap(layer)(x)."
    )

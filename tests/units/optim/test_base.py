import jax.numpy as jnp
import numpy as np
import optax
import pytest

import imprint
import imprint.numpy as inp
from imprint import optim
from tests.tolerances import assert_close
from tests.units.optim.optax_parity import draw


def test_a_transformation_is_a_pair():
    init, update = optim.sgd(0.5)
    params = inp.ones(2)
    updates, _ = update(params, init(params))
    np.testing.assert_array_equal(updates, [-0.5, -0.5])


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "complex64"])
def test_global_norm_as_optax(dtype):
    values = draw(5, dtype)
    assert_close(optim.global_norm(values), optax.tree.norm(values), "reduction")


def test_the_norm_of_nothing():
    assert optim.global_norm({"a": None}) == 0


def test_parameters_keep_their_dtype_and_weak_type():
    params = {"a": inp.ones(2, "bfloat16"), "b": inp.asarray(1.0)}
    updates = {"a": inp.ones(2), "b": inp.ones(())}
    after = optim.apply_updates(params, updates)
    assert [str(after[k].aval) for k in "ab"] == ["bfloat16[2]", "~float32[]"]


def test_parameters_without_update_stay_the_same_object():
    params = {"a": inp.ones(2), "b": [inp.sin, "name"], "c": None}
    updates = {"a": inp.ones(2), "b": None, "c": inp.ones(2)}
    after = optim.apply_updates(params, updates)
    np.testing.assert_array_equal(after["a"], [2, 2])
    assert after["b"] is params["b"]
    assert after["c"] is None


@pytest.mark.parametrize("dtype", ["int32", "int8", "uint8"])
def test_a_count_ends_at_the_largest_number(dtype):
    largest = np.iinfo(dtype).max
    for count in (0, largest - 1, largest):
        got = optim.safe_increment(inp.asarray(count, dtype))
        want = optax.safe_increment(jnp.asarray(count, dtype))
        assert_close(got, want)
        assert not got.weak_type


def test_updates_of_another_structure_are_named():
    with pytest.raises(imprint.errors.TreeError) as caught:
        optim.apply_updates({"a": 1.0}, {"b": 1.0})
    assert str(caught.value) == (
        "tree.map: expected a dict with keys {'b'} at the root, got a dict with keys "
        "{'a'}. Pass trees that have the structure of the first."
    )

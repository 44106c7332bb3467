"""Files of Equinox: `.npy` arrays in a row."""

import io

import equinox
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

import imprint.numpy as inp
from imprint.errors import ArgumentError, TreeError
from imprint.module import (
    default_deserialise_filter_spec,
    default_serialise_filter_spec,
    is_array,
    tree_deserialise_leaves,
    tree_serialise_leaves,
)


def tree_of(numpy):
    """Return a tree with every kind of leaf that is saved, and one that is not."""
    return {
        "weights": numpy.arange(6.0).reshape(2, 3),
        "narrow": numpy.asarray([1.5, -2], "bfloat16"),
        "flags": np.array([True, False]),
        "half": np.asarray([0.5], ml_dtypes.bfloat16),
        "numbers": (3, 2.5, True, 1 + 2j, np.float32(4)),
        "name": "a",
    }


def like_of(numpy):
    """Return a tree of the same kinds with other values."""
    return {
        "weights": numpy.zeros((2, 3)),
        "narrow": numpy.zeros(2, "bfloat16"),
        "flags": np.zeros(2, bool),
        "half": np.zeros(1, ml_dtypes.bfloat16),
        "numbers": (0, 0.0, False, 0j, np.float32(0)),
        "name": "b",
    }


def agree(found, wanted):
    assert found["name"] == "b", "a leaf that is not saved is that of `like`"
    for name in ("weights", "narrow", "flags", "half"):
        assert str(found[name].dtype) == str(wanted[name].dtype)
        np.testing.assert_array_equal(
            np.asarray(found[name], "float64"), np.asarray(wanted[name], "float64")
        )
    assert found["numbers"] == wanted["numbers"]
    assert [*map(type, found["numbers"])] == [*map(type, wanted["numbers"])]


def test_files_of_equinox_are_loaded(tmp_path):
    path = tmp_path / "model.eqx"
    equinox.tree_serialise_leaves(path, tree_of(jnp))
    agree(tree_deserialise_leaves(path, like_of(inp)), tree_of(inp))


def test_equinox_loads_files_that_are_written_for_it(tmp_path):
    path = tmp_path / "model.eqx"
    tree_serialise_leaves(path, tree_of(inp), format="equinox")
    agree(tree_deserialise_leaves(path, like_of(inp)), tree_of(inp))
    theirs, like = tree_of(inp), like_of(jnp)
    del theirs["half"], like["half"]  # Equinox does not load it
    tree_serialise_leaves(path, theirs, format="equinox")
    found = equinox.tree_deserialise_leaves(path, like)
    agree({**found, "half": tree_of(jnp)["half"]}, tree_of(jnp))


def test_a_filter_spec_may_leave_leaves_out():
    file = io.BytesIO()

    def write(f, x):
        if is_array(x):
            default_serialise_filter_spec(f, x)

    def read(f, x):
        return default_deserialise_filter_spec(f, x) if is_array(x) else x

    tree_serialise_leaves(file, {"a": inp.ones(2), "n": 3}, write, format="equinox")
    tree_serialise_leaves(file, [inp.zeros(1)], format="equinox")
    file.seek(0)
    found = tree_deserialise_leaves(file, {"a": inp.zeros(2), "n": 0}, read)
    np.testing.assert_array_equal(found["a"], [1, 1])
    assert found["n"] == 0
    assert tree_deserialise_leaves(file, [inp.ones(1)])[0] == 0, "the next tree"


def test_a_leaf_of_another_shape_is_named(tmp_path):
    path = tmp_path / "model.eqx"
    tree_serialise_leaves(path, {"a": inp.ones(2)}, format="equinox")
    with pytest.raises(ArgumentError, match=r"\['a'\]: expected float32\[3\].*2\]"):
        tree_deserialise_leaves(path, {"a": inp.ones(3)})


@pytest.mark.parametrize("count", [8, 100, 129])
def test_a_truncated_file_is_an_error(count, tmp_path):
    path = tmp_path / "model.eqx"
    tree_serialise_leaves(path, {"a": inp.ones(2)}, format="equinox")
    path.write_bytes(path.read_bytes()[:count])
    with pytest.raises(ArgumentError, match=r"\['a'\]: expected an array"):
        tree_deserialise_leaves(path, {"a": inp.ones(2)})


def test_more_leaves_than_expected_are_an_error(tmp_path):
    path = tmp_path / "model.eqx"
    tree_serialise_leaves(path, [inp.ones(2), 1], format="equinox")
    with pytest.raises(TreeError, match="got more leaves"):
        tree_deserialise_leaves(path, [inp.ones(2)])


def test_a_pickle_is_refused(tmp_path):
    path = tmp_path / "model.eqx"
    with path.open("wb") as file:
        np.save(file, np.array([object()]), allow_pickle=True)
    with pytest.raises(ArgumentError, match="expected an array"):
        tree_deserialise_leaves(path, [inp.ones(1)])


def test_an_unknown_format_is_an_error():
    with pytest.raises(ArgumentError, match="imprint, equinox, got 'pickle'"):
        tree_serialise_leaves(io.BytesIO(), [1], format="pickle")

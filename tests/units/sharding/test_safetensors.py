"""Trees of arrays in files of safetensors."""

import sys

import ml_dtypes
import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import imprint.numpy as inp
from imprint import ShapeDtypeStruct, sharding, tree
from imprint.errors import ArgumentError, ShapeError

MODEL = {
    "layers": [{"weight": inp.arange(6.0).reshape(2, 3), "bias": inp.ones(3)}],
    "steps": inp.asarray(7, "int32"),
    "mask": inp.asarray([True, False]),
    "half": inp.asarray([1.5, -2], "bfloat16"),
}
LIKE = tree.map(lambda x: ShapeDtypeStruct(x.shape, x.dtype), MODEL)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.safetensors"


def test_the_saved_tree_is_loaded(path):
    sharding.save(path, MODEL)
    found = sharding.load(path, LIKE)
    assert tree.structure(found) == tree.structure(MODEL)
    for one, two in zip(tree.leaves(found), tree.leaves(MODEL), strict=True):
        assert one.dtype == two.dtype
        np.testing.assert_array_equal(one.astype("float32"), two.astype("float32"))


def test_safetensors_reads_it_by_the_names_of_the_leaves(path):
    narrow = {name: x for name, x in MODEL.items() if name != "half"}
    sharding.save(path, narrow)
    found = load_file(path)
    assert [*sorted(found)] == ["layers.0.bias", "layers.0.weight", "mask", "steps"]
    np.testing.assert_array_equal(
        found["layers.0.weight"], np.arange(6.0).reshape(2, 3)
    )


def test_files_of_others_are_loaded(path):
    values = np.arange(4, dtype="float32")
    save_file({"a.b": values}, path)
    found = sharding.load(path, {"a": {"b": ShapeDtypeStruct((4,), "float32")}})
    np.testing.assert_array_equal(found["a"]["b"], values)


def test_another_shape_is_named(path):
    sharding.save(path, {"a": inp.ones(3)})
    with pytest.raises(ShapeError, match=r"a to be F32\[3\].*float32\[4\]"):
        sharding.load(path, {"a": inp.ones(4)})


def test_another_tree_is_named(path):
    sharding.save(path, {"a": inp.ones(3)})
    with pytest.raises(ArgumentError, match="differ in 'a'"):
        sharding.load(path, {"b": inp.ones(3)})


@pytest.mark.parametrize("data", [b"", b"\x00" * 40])
def test_a_damaged_file_is_an_error(path, data):
    path.write_bytes(data)
    with pytest.raises(ArgumentError, match="that safetensors reads"):
        sharding.load(path, LIKE)


def test_a_file_that_is_there_stays(path):
    sharding.save(path, [inp.ones(1)])
    with pytest.raises(ArgumentError, match="not there yet"):
        sharding.save(path, [inp.zeros(1)])
    assert sharding.load(path, [inp.zeros(1)])[0] == 1


def test_a_dtype_without_a_name_is_an_error(path):
    narrow = inp.asarray([1, 0]).astype(ml_dtypes.float8_e4m3b11fnuz)
    with pytest.raises(ArgumentError, match="of float8_e4m3b11fnuz"):
        sharding.save(path, {"a": narrow})


def test_without_the_package_a_sentence_says_how_to_get_it(path, monkeypatch):
    monkeypatch.setitem(sys.modules, "safetensors", None)
    with pytest.raises(ImportError, match=r"pip install 'imprint\[safetensors\]'"):
        sharding.save(path, MODEL)

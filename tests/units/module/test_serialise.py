import dataclasses
import io
import json
import os
import struct
import subprocess
import sys
import zlib

import equinox
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint import dtypes, tree
from imprint.errors import ArgumentError, DTypeError, TreeError
from imprint.module import (
    default_deserialise_filter_spec,
    default_serialise_filter_spec,
    filter_eval_shape,
    is_array,
    tree_deserialise_leaves,
    tree_serialise_leaves,
)
from tests.units.module.equinox_parity import OURS, THEIRS, agree, draw


@tree.register_dataclass
@dataclasses.dataclass
class Layer:
    weight: object
    bias: object


def _saved(pytree, **options):
    file = io.BytesIO()
    tree_serialise_leaves(file, pytree, **options)
    return file.getvalue()


def _loaded(data, like, **options):
    return tree_deserialise_leaves(io.BytesIO(data), like, **options)


def _assert_same(got, want):
    assert tree.structure(got) == tree.structure(want)
    for a, b in zip(tree.leaves(got), tree.leaves(want), strict=True):
        assert type(a) is type(b)
        if is_array(b):
            assert a.shape == b.shape
            assert a.dtype == b.dtype
            assert np.asarray(a).tobytes() == np.asarray(b).tobytes()
        elif isinstance(b, float | complex):
            assert repr(a) == repr(b)
        else:
            assert a == b


# ---- round trips ----


class Celsius(float):
    pass


LEAVES = {
    "array": inp.asarray(draw(2, 3)),
    "rank 0": inp.asarray(np.float32(2)),
    "weak": inp.asarray(2.0),
    "empty": inp.ones((0, 3)),
    "transposed": inp.asarray(draw(2, 3)).T,
    "numpy": draw(2, 3),
    "numpy rank 0": np.array(2.5),
    "numpy float64": draw(3).astype("float64"),
    "numpy fortran": np.asfortranarray(draw(2, 3)),
    "numpy strided": draw(6)[::2],
    "numpy scalar": np.float32(1.5),
    "bfloat16 scalar": ml_dtypes.bfloat16(1.5),
    "bool": True,
    "int": -(1 << 100),
    "float": 0.1,
    "subclass": Celsius(21.5),
    "nan": float("nan"),
    "negative zero": -0.0,
    "infinity": float("-inf"),
    "complex": complex(float("inf"), -0.5),
    "none": None,
    "nested": {"a": [inp.ones(2), (1, 2.0)], "b": Layer(inp.ones(1), None)},
    "text": ["text", np.tanh, inp.ones(2)],
}


@pytest.mark.parametrize("name", LEAVES)
def test_the_saved_tree_is_loaded(name, tmp_path):
    pytree = LEAVES[name]
    like = tree.map(_other, pytree)
    _assert_same(_loaded(_saved(pytree), like), pytree)
    path = tmp_path / "model.bin"
    tree_serialise_leaves(path, pytree)
    _assert_same(tree_deserialise_leaves(str(path), like), pytree)


def _other(x):
    """Return a leaf like another, with different values."""
    if isinstance(x, imprint.Array):
        return inp.zeros(x.shape, x.dtype)
    if isinstance(x, np.ndarray | np.generic):
        return (
            np.zeros(x.shape, x.dtype)[()]
            if x.ndim == 0 and type(x) is not np.ndarray
            else np.zeros_like(x)
        )
    return type(x)() if isinstance(x, int | float | complex) else x


@pytest.mark.parametrize("dtype", dtypes.ALL, ids=str)
def test_every_dtype(dtype):
    values = np.arange(4).reshape(2, 2).astype(dtype)
    _assert_same(_loaded(_saved(values), np.zeros((2, 2), dtype)), values)
    with imprint.enable_x64(True):
        array = inp.asarray(values)
        _assert_same(_loaded(_saved(array), inp.zeros((2, 2), dtype)), array)


def test_weak_types_are_kept():
    like = {"a": inp.asarray(0.0), "b": inp.asarray(np.float32(0))}
    loaded = _loaded(
        _saved({"a": inp.asarray(1.0), "b": inp.asarray(np.float32(1))}), like
    )
    assert loaded["a"].weak_type
    assert not loaded["b"].weak_type


def test_the_byte_order_of_numpy_is_no_matter_of_the_file():
    big = draw(3).astype(">f4")
    assert _saved(big) == _saved(draw(3))
    np.testing.assert_array_equal(_loaded(_saved(big), big), big)


def test_like_decides_between_numpy_and_imprint():
    data = _saved([draw(2), inp.asarray(draw(2)), np.float32(1)])
    loaded = _loaded(data, [inp.zeros(2), np.zeros(2, "float32"), inp.zeros(())])
    assert [isinstance(x, imprint.Array) for x in loaded] == [True, False, True]
    loaded[1][0] = 5  # it can be written to
    theirs = io.BytesIO()
    equinox.tree_serialise_leaves(theirs, [draw(2), jnp.asarray(draw(2))])
    theirs.seek(0)
    found = equinox.tree_deserialise_leaves(
        theirs, [jnp.zeros(2), np.zeros(2, "float32")]
    )
    assert isinstance(found[1], np.ndarray)


def test_keys_are_saved_as_their_data():
    keys = {
        "one": imprint.random.key(7),
        "many": imprint.random.split(imprint.random.key(8)),
    }
    like = filter_eval_shape(
        lambda: {
            "one": imprint.random.key(0),
            "many": imprint.random.split(imprint.random.key(0)),
        }
    )
    loaded = _loaded(_saved(keys), like)
    for name, key in keys.items():
        np.testing.assert_array_equal(
            imprint.random.key_data(loaded[name]), imprint.random.key_data(key)
        )
    np.testing.assert_array_equal(
        imprint.random.normal(loaded["one"], (3,)),
        imprint.random.normal(keys["one"], (3,)),
    )


@pytest.mark.parametrize("abstract", [False, True])
def test_a_model_as_in_equinox(abstract, tmp_path):
    def program(s):
        path = tmp_path / f"{s.api.__name__}.bin"
        s.mod.tree_serialise_leaves(path, s.model())
        like = s.mod.filter_eval_shape(s.model) if abstract else s.model()
        return s.mod.tree_deserialise_leaves(path, like)

    agree(program)


def test_several_trees_and_a_line_of_text_in_one_file(tmp_path):
    for s in (OURS, THEIRS):
        path = tmp_path / "both.bin"
        with path.open("wb") as file:
            file.write(b'{"width": 3}\n')
            s.mod.tree_serialise_leaves(file, {"a": s.np.ones(3)})
            s.mod.tree_serialise_leaves(file, [s.np.zeros(2)])
        with path.open("rb") as file:
            width = json.loads(file.readline())["width"]
            first = s.mod.tree_deserialise_leaves(file, {"a": s.np.zeros(width)})
            second = s.mod.tree_deserialise_leaves(file, [s.np.ones(2)])
        assert (first["a"].tolist(), second[0].tolist()) == ([1, 1, 1], [0, 0])


@pytest.mark.slow
def test_a_fresh_process_loads_it(tmp_path):
    path = tmp_path / "model.bin"
    pytree = {"w": inp.asarray(draw(2, 3)), "n": 3, "half": inp.ones(2, "bfloat16")}
    tree_serialise_leaves(path, pytree)
    code = """if True:
        import sys, imprint, imprint.numpy as np
        from imprint.module import filter_eval_shape, tree_deserialise_leaves
        like = filter_eval_shape(
            lambda: {"w": np.ones((2, 3)), "n": 0, "half": np.ones(2, "bfloat16")}
        )
        found = tree_deserialise_leaves(sys.argv[1], like)
        print(found["w"].tolist(), found["n"], found["half"].dtype, found["half"].tolist())
    """
    run = [sys.executable, "-c", code, str(path)]
    out = subprocess.run(run, capture_output=True, text=True, check=True).stdout
    assert out == f"{draw(2, 3).tolist()} 3 bfloat16 [1.0, 1.0]\n"


def test_a_pipe_gives_its_bytes_in_parts():
    class Pipe:
        def __init__(self, data):
            self.data = data

        def read(self, size=-1):
            part, self.data = self.data[: min(size, 7)], self.data[min(size, 7) :]
            return part

    pytree = {"w": inp.asarray(draw(20))}
    _assert_same(tree_deserialise_leaves(Pipe(_saved(pytree)), pytree), pytree)


# ---- filter_spec ----


def test_a_filter_spec_may_leave_leaves_out():
    for s in (OURS, THEIRS):
        pytree = (s.np.asarray([1, 2, 3]), [4, 5, 6])
        like = (s.np.asarray([0, 0, 0]), [0, 0, 0])
        file = io.BytesIO()
        save = lambda f, x, s=s: (
            None if s.mod.is_array(x) else s.mod.default_serialise_filter_spec(f, x)
        )
        load = lambda f, x, s=s: (
            x if s.mod.is_array(x) else s.mod.default_deserialise_filter_spec(f, x)
        )
        s.mod.tree_serialise_leaves(file, pytree, filter_spec=save)
        file.seek(0)
        loaded = s.mod.tree_deserialise_leaves(file, like, filter_spec=load)
        assert (loaded[0].tolist(), loaded[1]) == ([0, 0, 0], [4, 5, 6])


def test_a_filter_spec_may_write_any_data_and_be_a_prefix():
    for s in (OURS, THEIRS):
        pytree = {"name": "first", "numbers": [1, s.np.ones(2)]}
        save = {
            "name": lambda f, x: np.save(f, x),
            "numbers": s.mod.default_serialise_filter_spec,
        }
        load = {
            "name": lambda f, x: str(np.load(f)),
            "numbers": s.mod.default_deserialise_filter_spec,
        }
        file = io.BytesIO()
        s.mod.tree_serialise_leaves(file, pytree, save)
        file.seek(0)
        loaded = s.mod.tree_deserialise_leaves(
            file, {"name": "", "numbers": [0, s.np.zeros(2)]}, load
        )
        assert (loaded["name"], loaded["numbers"][0]) == ("first", 1)
        assert loaded["numbers"][1].tolist() == [1, 1]


def test_is_leaf_gives_nodes_to_the_filter_spec():
    is_leaf = lambda x: isinstance(x, list)
    save = lambda f, x: f.write(json.dumps(x).encode())
    load = lambda f, x: json.load(f)
    data = _saved({"a": [1, "two"]}, filter_spec=save, is_leaf=is_leaf)
    assert _loaded(data, {"a": []}, filter_spec=load, is_leaf=is_leaf) == {
        "a": [1, "two"]
    }


def test_the_default_functions_take_any_file():
    file = io.BytesIO()
    default_serialise_filter_spec(file, inp.ones(2))
    file.seek(0)
    loaded = default_deserialise_filter_spec(file, inp.zeros(2))
    assert loaded.tolist() == [1, 1]


# ---- the file ----


def test_the_name_is_the_one_that_was_given(tmp_path):
    tree_serialise_leaves(tmp_path / "model", [1])
    equinox.tree_serialise_leaves(tmp_path / "theirs", [1])
    assert sorted(os.listdir(tmp_path)) == ["model", "theirs.eqx"]


def test_a_save_that_fails_leaves_the_old_file(tmp_path):
    path = tmp_path / "model.bin"
    tree_serialise_leaves(path, [1, 2])

    def fails(f, x):
        default_serialise_filter_spec(f, x)
        if x == 4:
            raise RuntimeError("disk full")

    with pytest.raises(RuntimeError, match="disk full") as caught:
        tree_serialise_leaves(path, [3, 4], fails)
    assert caught.value.__notes__ == ["tree_serialise_leaves: leaf [1]"]
    assert tree_deserialise_leaves(path, [0, 0]) == [1, 2]
    assert os.listdir(tmp_path) == ["model.bin"]


def test_a_link_and_the_mode_of_a_new_file_are_as_usual(tmp_path):
    target, link, plain = (tmp_path / name for name in ("target", "link", "plain"))
    link.symlink_to(target)
    tree_serialise_leaves(link, [1])
    plain.write_bytes(b"")
    assert link.is_symlink()
    assert tree_deserialise_leaves(target, [0]) == [1]
    assert target.stat().st_mode == plain.stat().st_mode


def test_the_format_is_the_one_that_is_described():
    data = _saved({"a": inp.asarray(draw(2)), "f": np.tanh})
    values = draw(2).astype("<f4").tobytes()
    payload = b'{"dtype": "float32", "shape": [2], "weak_type": false}\n' + values
    headers = [
        {"path": "['a']", "bytes": len(payload), "crc32": zlib.crc32(payload)},
        {"path": "['f']", "bytes": 0, "crc32": 0},
        {"end": 2},
    ]
    expected = b"\x93IMPRINT" + struct.pack("<I", 1)
    for header, rest in zip(headers, (payload, b"", b""), strict=True):
        text = json.dumps(header).encode()
        expected += struct.pack("<II", len(text), zlib.crc32(text)) + text + rest
    assert data == expected


# ---- errors ----

GOOD = {"a": inp.asarray(draw(2)), "b": [3, inp.arange(4)]}
NAME = "tree_deserialise_leaves(BytesIO)"


def _message(data, like=GOOD, error=ArgumentError):
    with pytest.raises(error) as caught:
        _loaded(data, like)
    return str(caught.value)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", "got an empty one"),
        (b"\x80\x04K\x01.", r"got one that begins with b'\x80\x04K\x01.'"),
        (b"\x93IMPR", r"got one that begins with b'\x93IMPR'"),
    ],
)
def test_a_file_of_another_kind(data, text):
    assert _message(data) == (
        f"{NAME}: expected a file written by tree_serialise_leaves, {text}. Check the "
        "path."
    )


@pytest.mark.parametrize(("tail", "came"), [(b"\x02\0\0\0", 2), (b"\x01\0", None)])
def test_another_version_of_the_format(tail, came):
    assert _message(b"\x93IMPRINT" + tail) == (
        f"{NAME}: expected version 1 of the format, got {came}. Load it with the imprint "
        "that wrote it, and save it again."
    )


def test_a_truncated_file():
    data = _saved(GOOD)
    values = data.index(b'{"dtype"')
    assert _message(data[: values + 10]) == (
        f"{NAME}: leaf ['a']: expected 63 more bytes, got 10: the file is truncated. "
        "Load another copy of it, or save it again."
    )


def test_every_truncation_is_noticed():
    data = _saved(GOOD)
    for length in range(len(data)):
        message = _message(data[:length])
        assert message.startswith(NAME)


def test_every_damaged_byte_is_noticed():
    data = _saved(GOOD)
    for position in range(len(data)):
        broken = bytearray(data)
        broken[position] ^= 0x40
        with pytest.raises((ArgumentError, TreeError)) as caught:
            _loaded(bytes(broken), GOOD)
        assert str(caught.value).startswith(NAME)


def test_a_damaged_file_names_the_file_and_the_leaf(tmp_path):
    path = tmp_path / "model.bin"
    data = bytearray(_saved(GOOD))
    data[data.index(b"int32") + 45] ^= 1
    path.write_bytes(data)
    with pytest.raises(ArgumentError) as caught:
        tree_deserialise_leaves(path, GOOD)
    assert str(caught.value) == (
        f"tree_deserialise_leaves({path}): leaf ['b'][1]: expected the bytes that were "
        "saved, got others: the checksum differs, so the file is damaged. Load another "
        "copy of it, or save it again."
    )


@pytest.mark.parametrize(
    ("like", "where", "expected", "came"),
    [
        ({**GOOD, "a": inp.zeros(3)}, "['a']", "float32[3]", "float32[2]"),
        ({**GOOD, "a": inp.arange(2)}, "['a']", "int32[2]", "float32[2]"),
        ({**GOOD, "a": 1.0}, "['a']", "a Python float", "float32[2]"),
        ({**GOOD, "a": "text"}, "['a']", "nothing saved", "float32[2]"),
        (
            {**GOOD, "b": [3.0, inp.arange(4)]},
            "['b'][0]",
            "a Python float",
            "a Python int",
        ),
        (
            {**GOOD, "b": [True, inp.arange(4)]},
            "['b'][0]",
            "a Python bool",
            "a Python int",
        ),
        (
            {**GOOD, "b": [np.int32(3), inp.arange(4)]},
            "['b'][0]",
            "int32[]",
            "a Python int",
        ),
    ],
)
def test_a_leaf_that_does_not_fit(like, where, expected, came):
    assert _message(_saved(GOOD), like) == (
        f"{NAME}: leaf {where}: expected {expected}, as in `like`, got {came}. Pass a "
        "`like` with the leaves of what was saved."
    )


def test_equinox_loads_files_that_do_not_fit():
    def through(pytree, like):
        file = io.BytesIO()
        equinox.tree_serialise_leaves(file, pytree)
        file.seek(0)
        return equinox.tree_deserialise_leaves(file, like)

    assert through([3.5], [0]) == [3]
    assert through({"a": 1, "b": 2}, {"x": 0, "y": 0}) == {"x": 1, "y": 2}
    assert not through([jnp.asarray(1.0)], [jnp.asarray(0.0)])[0].weak_type


def test_a_leaf_that_was_not_saved():
    assert _message(_saved(["text"]), [inp.ones(2)]) == (
        f"{NAME}: leaf [0]: expected float32[2], as in `like`, got nothing saved. Pass a "
        "`like` with the leaves of what was saved."
    )


@pytest.mark.parametrize(
    ("like", "text"),
    [
        (
            {"a": GOOD["a"], "b": [3]},
            "expected no leaf after ['b'][0], got leaf ['b'][1].",
        ),
        (
            {**GOOD, "c": 1},
            "leaf ['c']: expected it after ['b'][1], got the end of 3 leaves.",
        ),
        (
            {"z": GOOD["a"], "b": GOOD["b"]},
            "leaf ['b'][0]: expected it after the beginning, got leaf ['a'].",
        ),
        (1, "leaf at the root: expected it after the beginning, got leaf ['a']."),
        ({}, "expected no leaf after the beginning, got leaf ['a']."),
    ],
)
def test_another_structure(like, text):
    assert _message(_saved(GOOD), like, TreeError) == (
        f"{NAME}: {text} Pass a `like` of the structure of what was saved."
    )


def test_objects_that_are_no_numbers_are_refused():
    with pytest.raises(DTypeError) as caught:
        _saved({"names": np.array(["a", "b"])})
    assert str(caught.value) == (
        "tree_serialise_leaves: leaf ['names']: expected an array of numbers, got one of "
        "dtype <U1. Convert it, or save it with a filter_spec of your own."
    )
    with pytest.raises(DTypeError, match="of dtype object"):
        _saved(np.array([object()]))


def test_a_payload_of_another_filter_spec():
    data = _saved([1], filter_spec=lambda f, x: f.write(b"one\n"))
    assert _message(data, [1]) == (
        f"{NAME}: leaf [0]: expected a leaf written by default_serialise_filter_spec, got "
        "b'one'. Load it with the inverse of the filter_spec that saved it."
    )


def test_values_of_another_length():
    write = lambda f, x: f.write(
        b'{"dtype": "float32", "shape": [2], "weak_type": false}\nabcd'
    )
    assert _message(_saved([1], filter_spec=write), [inp.ones(2)]) == (
        f"{NAME}: leaf [0]: expected the values of float32[2], got 4 bytes. Load another "
        "copy of the file, or save it again."
    )


@pytest.mark.parametrize(
    "function", ["tree_serialise_leaves", "tree_deserialise_leaves"]
)
def test_a_filter_spec_of_another_kind(function):
    with pytest.raises(ArgumentError) as caught:
        getattr(OURS.mod, function)(io.BytesIO(), [1, 2], [True, 3])
    assert str(caught.value) == (
        f"{function}: expected functions of a file and a leaf in filter_spec, got bool "
        "True. Leave it out to use the default."
    )


def test_a_tracer_cannot_be_saved():
    with pytest.raises(imprint.errors.ConcretizationError) as caught:
        imprint.jit(lambda x: tree_serialise_leaves(io.BytesIO(), {"x": x}))(1.0)
    assert caught.value.__notes__ == ["tree_serialise_leaves: leaf ['x']"]


def test_paths_that_do_not_exist(tmp_path):
    with pytest.raises(FileNotFoundError):
        tree_deserialise_leaves(tmp_path / "missing", [1])
    with pytest.raises(FileNotFoundError):
        tree_serialise_leaves(tmp_path / "missing" / "model", [1])
    with pytest.raises(IsADirectoryError):
        tree_serialise_leaves(tmp_path, [1])
    assert os.listdir(tmp_path) == []


def test_a_directory_that_does_not_exist(tmp_path):
    path = tmp_path.resolve() / "new" / "model.bin"
    with pytest.raises(FileNotFoundError) as caught:
        tree_serialise_leaves(path, 1)
    assert str(caught.value) == (
        f"tree_serialise_leaves: expected a path in a directory, got {str(path)!r}, whose "
        "directory does not exist. Make it: path.parent.mkdir(parents=True)."
    )


@pytest.mark.parametrize(
    ("file", "came"),
    [(io.StringIO(), "a text file"), ({"w": 1}, "dict"), (3, "int")],
    ids=["text", "tree", "number"],
)
def test_arguments_that_are_no_files(file, came):
    with pytest.raises(ArgumentError) as caught:
        tree_serialise_leaves(file, 1)
    assert str(caught.value) == (
        "tree_serialise_leaves: expected a path or a binary file first, and the tree "
        f"second, got {came} first. Pass a path, or open(path, 'wb')."
    )
    with pytest.raises(ArgumentError) as caught:
        tree_deserialise_leaves(file, 1)
    assert str(caught.value) == (
        "tree_deserialise_leaves: expected a path or a binary file first, and the tree "
        f"second, got {came} first. Pass a path, or open(path, 'rb')."
    )

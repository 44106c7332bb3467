import dataclasses
from typing import Any

import equinox
import ml_dtypes
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint import tree
from imprint.module import Module, field, tree_equal, tree_inference
from tests.units.module.equinox_parity import OURS, THEIRS

# ---- tree_equal ----

ONES = np.ones(2, "float32")
CLOSE = ONES + np.float32(1e-4)
NAN = np.array([np.nan], "float32")
PAIRS = [
    lambda s: (1, 1),
    lambda s: (1, 1.0),
    lambda s: (1, 2),
    lambda s: ("a", "a"),
    lambda s: (None, None),
    lambda s: (None, 1),
    lambda s: (s.np.asarray(ONES), s.np.asarray(ONES)),
    lambda s: (s.np.asarray(ONES), s.np.asarray(CLOSE)),
    lambda s: (s.np.asarray(ONES), ONES),
    lambda s: (ONES, s.np.asarray(ONES)),
    lambda s: (ONES, ONES.copy()),
    lambda s: (ONES, CLOSE),
    lambda s: (ONES, ONES.astype("float64")),
    lambda s: (ONES, np.ones(3, "float32")),
    lambda s: (s.np.asarray(ONES), s.np.ones(3)),
    lambda s: (np.float32(1), np.float32(1)),
    lambda s: (np.float32(1), 1.0),
    lambda s: (s.np.asarray(ONES), 1.0),
    lambda s: (1.0, s.np.asarray(ONES)),
    lambda s: (NAN, NAN),
    lambda s: (s.np.asarray(NAN), s.np.asarray(NAN)),
    lambda s: (s.np.arange(3), s.np.arange(3)),
    lambda s: (s.np.ones(2, "bfloat16"), s.np.ones(2, "bfloat16")),
    lambda s: (np.ones(2, ml_dtypes.bfloat16), np.ones(2, ml_dtypes.bfloat16)),
    lambda s: (s.np.ones((0, 3)), s.np.ones((0, 3))),
    lambda s: (s.np.asarray([10000]), s.np.asarray([10001])),
    lambda s: ([ONES, s.np.ones(2)], [CLOSE + 1, s.np.ones(2)]),
    lambda s: ([s.np.ones(2), s.np.ones(3)], [s.np.zeros(2), s.np.ones(3)]),
    lambda s: ([1, 2], (1, 2)),
    lambda s: ({"a": 1}, {"a": 1}),
    lambda s: ({"a": 1}, {"b": 1}),
    lambda s: (s.model(), s.model()),
    lambda s: (s.model(), s.MLP([], s.np.tanh, 1, "small")),
]


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(PAIRS)))
@pytest.mark.parametrize(
    "options", [{}, {"typematch": True}, {"rtol": 1e-3}, {"atol": 1e-3}]
)
def test_trees_are_equal_exactly_if_equinox_agrees(number, options):
    ours = tree_equal(*PAIRS[number](OURS), **options)
    theirs = equinox.tree_equal(*PAIRS[number](THEIRS), **options)
    assert (
        type(ours) is bool if type(theirs) is bool else isinstance(ours, imprint.Array)
    )
    assert bool(ours) == bool(theirs)


def test_any_number_of_trees():
    assert tree_equal([1]) is True
    assert tree_equal([1], [1], [1]) is True
    assert tree_equal([1], [1], [2]) is False
    three = tree_equal(inp.ones(2), inp.ones(2), inp.zeros(2))
    assert three.shape == ()
    assert not three


def test_the_answer_is_traced_where_arrays_are():
    seen = []

    @imprint.jit
    def f(x, y):
        same = tree_equal({"x": x, "n": 1}, {"x": y, "n": 1})
        seen.append((same is True, tree_equal({"x": x}, {"z": y})))
        return same

    assert f(inp.ones(2), inp.ones(2))
    assert not f(inp.ones(2), inp.zeros(2))
    assert seen == [(False, False)]


class _Scaled(Module):
    scale: Any = field(static=True)


class _TheirScaled(equinox.Module):
    scale: Any = equinox.field(static=True)


def test_static_data_is_compared_with_its_types():
    assert tree_equal(_Scaled(2), _Scaled(2)) is True
    assert tree_equal(_Scaled(2), _Scaled(2.0)) is False
    assert equinox.tree_equal(_TheirScaled(2), _TheirScaled(2.0)) is True


# ---- tree_inference ----


def _network(s):
    class Dropout(s.mod.Module):
        rate: float = 0.5
        inference: bool = False

    class Block(s.mod.Module):
        dropout: Dropout
        inner: Any = None
        inference: bool = False

    block = Block(Dropout(), [Dropout(0.1), {"last": Block(Dropout(0.2))}])
    return {"block": block, "n": 3, "none": None, "x": s.np.ones(2)}


@pytest.mark.parametrize("value", [True, False])
def test_every_inference_is_set_as_in_equinox(value):
    network = _network(OURS)
    ours = tree_inference(network, value)
    assert tree.structure(ours) == tree.structure(network)
    theirs = equinox.tree_inference(_network(THEIRS), value)
    for network in (ours, theirs):
        block = network["block"]
        inner = block.inner[1]["last"]
        found = [block, block.dropout, block.inner[0], inner, inner.dropout]
        assert [x.inference for x in found] == [value] * 5
        assert [x.rate for x in (block.dropout, block.inner[0], inner.dropout)] == [
            0.5,
            0.1,
            0.2,
        ]


def test_the_tree_itself_is_not_changed():
    network = _network(OURS)
    switched = tree_inference(network)
    assert network["block"].dropout.inference is False
    assert switched["block"].dropout.inference is True
    assert switched["x"] is network["x"]


class _Static(Module):
    weight: Any
    inference: bool = field(static=True, default=False)


@tree.register_dataclass
@dataclasses.dataclass(frozen=True)
class _Plain:
    weight: Any
    inference: bool = False


@tree.register_static
@dataclasses.dataclass(frozen=True)
class _All:
    weight: Any
    inference: bool = False


@pytest.mark.parametrize("cls", [_Static, _Plain, _All])
def test_the_field_may_be_static_and_the_class_any_dataclass(cls):
    given = [cls(1.0), cls(2.0, inference=True)]
    switched = tree_inference(given)
    assert given[0].inference is False
    assert [x.inference for x in switched] == [True, True]
    assert [x.weight for x in switched] == [1.0, 2.0]


def test_a_leaf_stays_as_it_is():
    for leaf in (3, None, "text"):
        assert tree_inference(leaf) is leaf

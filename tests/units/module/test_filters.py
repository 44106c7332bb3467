import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint import tree
from imprint._src.module import filters
from imprint.errors import ArgumentError, TreeError

QUESTIONS = ["is_array", "is_array_like", "is_inexact_array", "is_inexact_array_like"]


@tree.register_dataclass
@dataclasses.dataclass
class Layer:
    weight: object
    activation: object
    name: str = dataclasses.field(default="dense", metadata={"static": True})


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Theirs:
    weight: object
    activation: object
    name: str = dataclasses.field(default="dense", metadata={"static": True})


def _model(api, layer):
    return {
        "first": layer(api.ones((2, 3)), np.tanh),
        "scale": (api.arange(3), 2.0, 3, True, None),
        "host": [np.ones(2), np.float32(1), "text", object],
    }


def _described(x):
    """Return a tree as data that both sides share: arrays by dtype and values."""
    if isinstance(x, Layer | Theirs):
        return "layer", _described(x.weight), _described(x.activation), x.name
    if isinstance(x, dict):
        return {key: _described(value) for key, value in x.items()}
    if isinstance(x, list | tuple):
        return type(x), [_described(value) for value in x]
    if hasattr(x, "dtype"):
        return str(x.dtype), np.asarray(x).tolist()
    return type(x), x


# ---- questions ----

VALUES = [
    *(1, 1.0, 1j, True, None, "text", object(), np.tanh, [1.0]),
    *(np.ones(2), np.arange(2), np.float32(1), np.int8(1), np.bool_(True)),
    np.ones(2, "complex64"),
    np.array(["text"]),
    np.array([object()]),
]


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("value", VALUES)
def test_a_value_of_python_or_numpy_is_classified_as_in_equinox(question, value):
    theirs = getattr(eqx, question)(value)
    ours = getattr(filters, question)(value)
    assert ours is theirs


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "complex64", "int8", "bool"])
def test_an_array_is_classified_as_in_equinox(question, dtype):
    ours = getattr(filters, question)(inp.ones(2, dtype))
    assert ours is getattr(eqx, question)(jnp.ones(2, dtype))


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_tracer_is_classified_as_an_array(question):
    seen = []

    @imprint.jit
    def f(x):
        seen.append(getattr(filters, question)(x))
        return x

    f(inp.ones(2))
    assert seen == [True]


def test_keys_are_arrays_and_not_inexact():
    ours, theirs = imprint.random.key(0), jax.random.key(0)
    for question in QUESTIONS:
        assert getattr(filters, question)(ours) is getattr(eqx, question)(theirs)


def test_a_numpy_array_of_a_narrow_float_is_inexact():
    value = np.ones(2, ml_dtypes.bfloat16)
    assert filters.is_inexact_array(value)
    assert not eqx.is_inexact_array(value)  # it is not in NumPy's hierarchy


# ---- filter, partition, combine ----


def _specs(module):
    return [
        module.is_array,
        module.is_inexact_array_like,
        True,
        False,
        {"first": True, "scale": module.is_array, "host": [False, True, True, False]},
        lambda leaf: isinstance(leaf, str),
    ]


@pytest.mark.parametrize("number", range(6))
@pytest.mark.parametrize("inverse", [False, True])
@pytest.mark.parametrize("replace", [None, 0])
def test_filter_keeps_the_leaves_that_equinox_keeps(number, inverse, replace):
    ours = filters.filter(
        _model(inp, Layer), _specs(filters)[number], inverse, replace=replace
    )
    theirs = eqx.filter(
        _model(jnp, Theirs), _specs(eqx)[number], inverse, replace=replace
    )
    assert _described(ours) == _described(theirs)


@pytest.mark.parametrize("number", range(6))
@pytest.mark.parametrize("replace", [None, 0])
def test_partition_splits_as_equinox_and_combine_restores(number, replace):
    model = _model(inp, Layer)
    ours = filters.partition(model, _specs(filters)[number], replace)
    theirs = eqx.partition(_model(jnp, Theirs), _specs(eqx)[number], replace)
    assert _described(ours) == _described(theirs)
    if replace is None:
        assert _described(filters.combine(*ours)) == _described(model)
        assert _described(filters.combine(*ours[::-1])) == _described(model)


def test_is_leaf_decides_the_leaves():
    pytree = {"a": [1, 2], "b": None, "c": 3}
    is_leaf = lambda x: x is None or isinstance(x, list)
    spec = lambda x: x is None or isinstance(x, list)
    for module in (filters, eqx):
        assert module.filter(pytree, spec, replace=0, is_leaf=is_leaf) == {
            "a": [1, 2],
            "b": None,
            "c": 0,
        }
        left, right = module.partition(pytree, spec, 0, is_leaf=is_leaf)
        assert (left, right) == (
            {"a": [1, 2], "b": None, "c": 0},
            {"a": 0, "b": 0, "c": 3},
        )
        both = module.combine({"a": [None, 2]}, {"a": [3, None]}, is_leaf=is_leaf)
        assert both == {"a": [None, 2]}


@pytest.mark.parametrize(
    "trees",
    [
        [[None, 1, 2], [0, None, None]],
        [[1, 2], [3, 4]],
        [[None, None], [None, 4]],
        [[None, None, 3], [None, 2, 30], [1, 20, 300]],
        [{"a": None}, {"a": [1, (2, 3)]}],
        [(1, None)],
        [None, 5],
    ],
)
def test_combine_takes_the_first_leaf_that_is_not_none(trees):
    assert filters.combine(*trees) == eqx.combine(*trees)


def test_filters_work_on_tracers():
    @imprint.jit
    def f(model):
        arrays, rest = filters.partition(model, filters.is_inexact_array)
        doubled = tree.map(lambda x: 2 * x, arrays)
        return filters.combine(doubled, rest)

    out = f({"w": inp.ones(2), "n": inp.arange(2)})
    assert _described(out) == _described({"w": 2 * inp.ones(2), "n": inp.arange(2)})


# ---- errors ----


@pytest.mark.parametrize("name", ["filter", "partition"])
def test_another_leaf_of_a_filter_spec_is_refused(name):
    with pytest.raises(ArgumentError) as caught:
        getattr(filters, name)([1, 2], [True, 3])
    assert str(caught.value) == (
        f"{name}: expected booleans and functions of a leaf in filter_spec, got int 3. "
        "Use True or False, or a function such as imprint.is_array."
    )
    with pytest.raises(ArgumentError, match="got NoneType None"):
        getattr(filters, name)([1], [None])


def test_a_filter_spec_cannot_be_traced():
    with pytest.raises(ArgumentError, match="got JitTracer"):
        imprint.jit(lambda x: filters.filter([1.0], x > 0))(1.0)
    with pytest.raises(imprint.errors.ConcretizationError):
        imprint.jit(lambda x: filters.filter([x], lambda leaf: leaf > 0))(1.0)


def test_a_filter_spec_is_a_prefix():
    with pytest.raises(TreeError) as caught:
        filters.filter({"a": [1, 2]}, {"a": [True]})
    assert str(caught.value) == (
        "filter filter_spec: expected a list of length 2 at ['a'], got a list of "
        "length 1. Write it with the structure of its value, or give one leaf for the "
        "whole."
    )


@pytest.mark.parametrize("count", [2, 3])
def test_combine_takes_trees_of_one_structure(count):
    trees = [{"0": None, "a": [1, None]}] * (count - 1)
    with pytest.raises(TreeError) as caught:
        filters.combine(*trees, {"0": [2, 3], "a": [2]})
    assert str(caught.value) == (
        "combine: expected a list of length 2 at ['a'], got a list of length 1. Pass "
        "trees that have the structure of the first."
    )

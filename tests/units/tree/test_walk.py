"""The walk in Python agrees with optree, and a shape has one structure."""

import dataclasses
import gc
import weakref
from collections import OrderedDict
from typing import NamedTuple

import optree
import pytest
from hypothesis import given
from hypothesis import strategies as st

from imprint import tree
from imprint._src.tree.treedef import NAMESPACE
from imprint._src.tree.walk import walk


@dataclasses.dataclass
class Layer:
    weight: object
    bias: object


@dataclasses.dataclass
class Scaled:
    x: object
    y: object
    by: object = 1


class Box:
    def __init__(self, inside):
        self.inside = inside


class Pair(NamedTuple):
    a: object
    b: object


tree.register_dataclass(Layer, ["weight", "bias"], [])
tree.register_dataclass(Scaled, ["x", "y"], ["by"])
tree.register_pytree_node(
    Box, lambda box: ([box.inside], None), lambda _, inside: Box(*inside)
)

LEAVES = st.sampled_from([1, 1.0, True, "text", b"", object()])
KEYS = st.sampled_from(["a", "b", "c", 1, 1.0, True, ("a",), ("a", "b"), (1,)])
STATIC = st.sampled_from([1, 1.0, True, 0.0, -0.0, "a", (1,), (True,)])
TREES = st.recursive(
    LEAVES | st.none(),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
        st.dictionaries(KEYS, inner, max_size=2),
        st.dictionaries(st.sampled_from("ab"), inner).map(OrderedDict),
        st.builds(Layer, inner, inner),
        st.builds(Scaled, inner, inner, STATIC),
        st.builds(Box, inner),
        st.builds(Pair, inner, inner),
    ),
    max_leaves=8,
)


@given(TREES)
def test_leaves_and_structure_are_those_of_optree(x):
    leaves, treedef = tree.flatten(x)
    want, spec = optree.tree_flatten(x, namespace=NAMESPACE)
    assert [id(leaf) for leaf in leaves] == [id(leaf) for leaf in want]
    assert treedef.spec == spec
    assert tree.flatten(x)[1] is treedef is tree.structure(x)


@given(TREES, TREES)
def test_a_shape_has_one_structure(x, y):
    try:
        same_shape = walk(x, []) == walk(y, [])
    except KeyError:  # a node that optree must open
        return
    assert same_shape == (tree.structure(x) is tree.structure(y))


@pytest.mark.parametrize("keys", [(2, 1), (("b",), ("a", "c")), ((), ("a",))])
def test_plain_keys_are_walked(keys):
    x = dict.fromkeys(keys, (1, None))
    leaves = []
    assert walk(x, leaves)[:2] == (dict, tuple(sorted(keys)))
    assert leaves == [1, 1]


@pytest.mark.parametrize(
    "x",
    [
        *({1.5: 2}, {True: 2}, {1: 2, "a": 3}, {(1,): 2}, {("a",): 2, "a": 3}),
        *(OrderedDict(a=1), [object()]),
    ],
)
def test_unknown_nodes_are_left_to_optree(x):
    with pytest.raises(KeyError):
        walk(x, [])
    assert tree.leaves(x) == optree.tree_leaves(x, namespace=NAMESPACE)


@pytest.mark.parametrize("x", [1, None, (1, None)])
def test_known_nodes_are_looked_up_in_optree_once(x, monkeypatch):
    treedef = tree.flatten(x)[1]
    monkeypatch.setattr(optree, "tree_flatten", None)
    assert tree.flatten(x)[1] is treedef


def test_the_error_of_a_node_comes_through_once():
    @tree.register_pytree_node_class
    class Broken:
        def tree_flatten(self):
            raise KeyError("mine")

        @classmethod
        def tree_unflatten(cls, aux, children):
            return cls()

    with pytest.raises(KeyError, match="mine"):
        tree.flatten([Broken()])


def test_a_deep_tree_is_an_error_and_no_crash():
    deep = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(RecursionError):
        tree.flatten(deep)
    while deep:
        (deep,) = deep


def test_static_data_lives_no_longer_than_its_structure():
    class Unit:
        pass

    unit = Unit()
    dead = weakref.ref(unit)
    structure = tree.structure(Scaled(1, 2, unit))
    assert tree.flatten(Scaled(1, 2, unit))[1] is structure
    del structure, unit
    gc.collect()
    assert dead() is None

"""Matches flatten trees of one structure, and no others."""

from typing import Any, NamedTuple

import pytest
from hypothesis import given

from imprint import tree
from tests.units.tree.test_walk import KEYS, TREES, Box, Layer, Pair, Scaled


class Twin(NamedTuple):
    """Another class with the fields of `Pair`."""

    first: Any
    second: Any


def match_or_none(x):
    try:
        return tree.match_of(x)
    except KeyError:
        return None


def agrees(match, x, y):
    """Return whether a match made from `x` flattens `y` exactly if structures agree."""
    try:
        found = match(y)
    except (KeyError, AttributeError, ValueError):
        return tree.structure(x) is not tree.structure(y)
    same = [id(leaf) for leaf in found] == [id(leaf) for leaf in tree.leaves(y)]
    # Any object may take the place of a leaf: then the "leaf" is a node.
    nodes = any(not tree.structure(leaf).is_leaf for leaf in found)
    return nodes or (same and tree.structure(x) is tree.structure(y))


@given(TREES)
def test_it_gives_the_leaves_of_its_own_tree(x):
    match = match_or_none(x)
    if match is not None:
        assert [*map(id, match(x))] == [*map(id, tree.leaves(x))]


@given(TREES, TREES)
def test_it_refuses_trees_of_another_structure(x, y):
    match = match_or_none(x)
    assert match is None or agrees(match, x, y)


OTHERS = {
    "length": ((1, (2, 3)), (1, (2, 3, 4))),
    "class of a sequence": ([1, (2,)], [1, [2]]),
    "key": ({"a": 1, "b": (2,)}, {"a": 1, "c": (2,)}),
    "one more key": ({"a": 1}, {"a": 1, "b": 2}),
    "class of a number as a key": ({1: 1}, {True: 1}),
    "a tuple as a key": ({("a",): 1}, {("b",): 1}),
    "a tuple of numbers as a key": ({("a",): 1}, {(1,): 1}),
    "none": ((1, None), (1, ())),
    "class of a named tuple": (Pair(1, 2), (1, 2)),
    "another named tuple": (Pair(1, 2), Twin(1, 2)),
    "none in a named tuple": (Pair(1, None), Pair(1, ())),
    "class of a node": (Layer(1, (2,)), Scaled(1, (2,))),
    "static data": (Scaled(1, 2, 3), Scaled(1, 2, 3.0)),
    "sign of static zero": (Scaled(1, 2, 0.0), Scaled(1, 2, -0.0)),
    "deep": ({"a": [Layer(1, Box(2))]}, {"a": [Layer(1, Box((2,)))]}),
}


@pytest.mark.parametrize("name", OTHERS)
def test_it_sees_every_kind_of_difference(name):
    x, y = OTHERS[name]
    match = tree.match_of((x,))
    assert len(match((x,))) == tree.structure(x).num_leaves
    if name == "deep":  # a node in the place of a leaf: the caller refuses it
        assert match((y,)) == [1, (2,)]
    else:
        with pytest.raises(KeyError):
            match((y,))


@pytest.mark.parametrize("x", [{1.5: 2}, object(), [0] * 1 + [object()]])
def test_unknown_nodes_have_no_match(x):
    with pytest.raises(KeyError):
        tree.match_of((x, (1,)))


def test_a_tree_that_is_too_large_has_none():
    with pytest.raises(KeyError):
        tree.match_of({f"w{i}": i for i in range(3000)})
    assert len(tree.match_of(([1] * 3000,))(([1] * 3000,))) == 3000


def test_keys_are_quoted():
    x = {'a"]; import os #': 1, "b\n'": (2,)}
    assert tree.match_of(x)(x) == [1, 2]


@given(KEYS)
def test_keys_of_another_type_are_refused(key):
    match = tree.match_of({"a": 1, "b": 2})
    with pytest.raises(KeyError):
        match({"a": 1, 1: 2, key: 3})

"""Matches that separate some leaves."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imprint import tree
from tests.units.tree.test_match import OTHERS
from tests.units.tree.test_walk import TREES


@given(TREES, st.data())
def test_the_wanted_leaves_are_separated(x, data):
    leaves = tree.leaves(x)
    places = data.draw(st.sets(st.integers(0, max(0, len(leaves) - 1))))
    places &= {*range(len(leaves))}
    try:
        match = tree.split_match_of(x, frozenset(places))
    except KeyError:
        return
    rest, apart = match(x)
    assert [*map(id, apart)] == [id(leaves[i]) for i in sorted(places)]
    assert [*map(id, rest)] == [
        id(leaf) for i, leaf in enumerate(leaves) if i not in places
    ]


class Foreign:
    """A class that is not declared to be a leaf."""


def test_a_leaf_of_any_class_may_be_separated():
    x = {"a": (1, Foreign()), "b": [Foreign(), 2]}
    with pytest.raises(KeyError):
        tree.match_of(x)
    with pytest.raises(KeyError):
        tree.split_match_of(x, frozenset({1}))
    rest, apart = tree.split_match_of(x, frozenset({1, 2}))(x)
    assert (rest, apart) == ([1, 2], (x["a"][1], x["b"][0]))


def test_nodes_before_a_leaf_are_no_leaves():
    x = (None, (), {}, (7, 8))
    assert tree.split_match_of(x, frozenset({0}))(x) == ([8], (7,))


@pytest.mark.parametrize("name", OTHERS)
def test_another_structure_is_refused(name):
    x, y = OTHERS[name]
    if name == "deep":  # any object may take the place of a leaf
        return
    match = tree.split_match_of((x,), frozenset({0}))
    with pytest.raises((KeyError, AttributeError, ValueError)):
        match((y,))

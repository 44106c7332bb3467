"""The native core takes the leaves of containers, and puts them back, as `tree`."""

import pytest
from hypothesis import given

from imprint import tree
from imprint._src import native
from imprint._src.jit.calls.native_trees import match_of, unflatten_of
from tests.units.tree.test_walk import TREES, Box, Pair

pytestmark = pytest.mark.skipif(native.core is None, reason=native.status)


class Text(str):
    """A string that is no plain one."""

    __slots__ = ()


def is_native(match):
    return type(match) is native.core.Match


def native_match_of(x):
    try:
        match = match_of(x)
    except KeyError:
        return None
    return match if is_native(match) else None


@given(TREES)
def test_leaves_are_taken_and_put_back(x):
    leaves, treedef = tree.flatten(x)
    match = native_match_of(x)
    if match is not None:
        assert [*map(id, match(x))] == [*map(id, leaves)]
        made = unflatten_of(treedef)(iter(leaves))
        assert str(made) == str(treedef.unflatten(leaves))


@given(TREES, TREES)
def test_a_tree_of_another_structure_is_refused(x, y):
    match = native_match_of(x)
    if match is None:
        return
    try:
        found = match(y)
    except KeyError:
        assert tree.structure(x) is not tree.structure(y)
        return
    # Any object may take the place of a leaf: then the "leaf" is a node.
    if all(tree.structure(leaf).is_leaf for leaf in found):
        assert tree.structure(x) is tree.structure(y)


def test_it_is_for_containers_with_text_for_keys():
    assert is_native(match_of((1, [2, {"b": (), "a": None}], {"c": 3})))
    for x in ({1: 2}, {True: 1}, {Text("a"): 1}, Pair(1, 2), [Box(1)]):
        assert native_match_of(x) is None
        treedef = tree.structure(x)
        assert unflatten_of(treedef) == treedef.unflatten


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ({"a": 1}, {Text("a"): 1}),
        ({"a": 1}, {"b": 1}),
        ({"a": 1}, {"a": 1, "b": 1}),
        ([1, 2], [1, 2, 3]),
        ([1], (1,)),
        ([1], Pair(1, 2)),
        ([None], [0]),
        ([(1, 2)], [3]),
    ],
)
def test_differences_are_seen(x, y):
    with pytest.raises(KeyError):
        match_of(x)(y)


def test_keys_keep_the_order_of_the_structure():
    treedef = tree.structure({"b": 1, "a": 2})
    made = unflatten_of(treedef)([1, 2])
    assert [*made.items()] == [*treedef.unflatten([1, 2]).items()]


def test_arguments_are_counted():
    unflatten, match = unflatten_of(tree.structure([0, {"a": 1}])), match_of([0, 1])
    with pytest.raises(ValueError, match="expected 2 leaves, got 1"):
        unflatten([1])
    for call in (unflatten, match):
        for args in ((), ([1, 2], 3)):
            with pytest.raises(TypeError, match="one argument"):
                call(*args)

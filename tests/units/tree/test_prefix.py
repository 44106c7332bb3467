import collections

import jax
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jax.api_util import flatten_axes

from imprint import tree
from imprint.errors import TreeError
from tests.units.tree.examples import TREES, Layer, Pair, Point


def cut(value, draw):
    """Return a prefix of `value`: some of its subtrees replaced by a number."""
    return tree.map(
        lambda x: draw(st.integers(0, 3)),
        value,
        is_leaf=lambda _: draw(st.booleans()),
    )


@given(TREES, st.data())
def test_broadcast_prefix_agrees_with_jax(value, data):
    prefix = cut(value, data.draw)
    ours = tree.broadcast_prefix(prefix, value)
    assert ours == jax.tree_util.tree_leaves(jax.tree.broadcast(prefix, value))
    assert ours == tree.flatten_axes(prefix, tree.structure(value), "in_axes")


@given(TREES, TREES)
def test_a_tree_is_a_prefix_only_if_it_is_for_jax(prefix, value):
    def accepted(call):
        try:
            return call()
        except ValueError:
            return "refused"

    ours = accepted(lambda: tree.broadcast_prefix(prefix, value))
    theirs = accepted(lambda: jax.tree.leaves(jax.tree.broadcast(prefix, value)))
    assert ours == theirs


def test_none_is_a_value_of_flatten_axes():
    value = ({"w": 1, "b": (2, 3)}, 4)
    treedef, theirs = tree.structure(value), jax.tree.structure(value)
    for axes in (None, 0, (None, 0), ({"w": 0, "b": None}, None)):
        ours = tree.flatten_axes(axes, treedef, "in_axes")
        assert ours == flatten_axes("in_axes", theirs, axes)


def test_none_in_the_value_takes_no_leaf_of_the_prefix():
    assert tree.flatten_axes((0, 1), tree.structure((None, 5)), "in_axes") == [1]
    assert tree.flatten_axes((None, 1), tree.structure((None, 5)), "in_axes") == [1]


REMEDY = "Write it with the structure of its value, or give one leaf for the whole."
MISFITS = [
    (
        (0, 1),
        [1, 2],
        "expected a list of length 2 at the root, got a tuple of length 2.",
    ),
    (
        (0, 1, 2),
        (1, 2),
        "expected a tuple of length 2 at the root, got a tuple of length 3.",
    ),
    (
        {"a": 0},
        {"a": 1, "b": 2},
        "expected a dict with keys {'a', 'b'} at the root, got a dict with keys {'a'}.",
    ),
    (
        {"a": (0,)},
        {"a": 1},
        "expected a leaf at ['a'], got a tuple of length 1.",
    ),
    (
        [Point(0, (1, 2))],
        [Point(1, None)],
        "expected None at [0].y, got a tuple of length 2.",
    ),
    (
        Layer(0, [1]),
        Layer(0, {}),
        "expected a dict with keys {} at .b, got a list of length 1.",
    ),
    (
        Pair(0, 1, "m"),
        Pair(0, 1, "s"),
        "expected CustomNode(Pair['s'], [*, *]) at the root, "
        "got CustomNode(Pair['m'], [*, *]).",
    ),
    (
        Pair(0, 1),
        (0, 1),
        "expected a tuple of length 2 at the root, got CustomNode(Pair[None], [*, *]).",
    ),
    (
        collections.OrderedDict(a=0),
        {"a": 0},
        "expected a dict with keys {'a'} at the root, "
        "got a OrderedDict with keys {'a'}.",
    ),
    (
        {},
        dict.fromkeys("abcdefghij"),
        "expected a dict with keys {'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', …} "
        "at the root, got a dict with keys {}.",
    ),
]


@pytest.mark.parametrize(("prefix", "value", "text"), MISFITS)
def test_a_misfit_is_named_by_its_path(prefix, value, text):
    with pytest.raises(TreeError) as caught:
        tree.flatten_axes(prefix, tree.structure(value), "vmap in_axes")
    assert str(caught.value) == f"vmap in_axes: {text} {REMEDY}"


def test_check_structure():
    tree.check_structure(tree.structure((1, 2)), tree.structure((3, 4)), "scan")
    with pytest.raises(TreeError) as caught:
        tree.check_structure(tree.structure((1, 2)), tree.structure((3, [4])), "scan")
    assert str(caught.value) == (
        "scan: expected a leaf at [1], got a list of length 1. "
        "The structure should be PyTreeDef((*, *))."
    )
    with pytest.raises(TreeError) as caught:
        tree.check_structure(tree.structure(([1], 2)), tree.structure((3, 4)), "scan")
    assert str(caught.value) == (
        "scan: expected a list of length 1 at [0], got a leaf. "
        "Pass trees that have the structure of the first."
    )

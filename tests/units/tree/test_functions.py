import collections
import operator

import jax
import pytest
from hypothesis import given

import imprint
from imprint import tree
from imprint import tree_util as util
from imprint.errors import ArgumentError, TreeError
from tests.units.tree.examples import TREES, Pair, Point


@given(TREES)
def test_map_and_related_functions_agree_with_jax(value):
    def wrap(x):
        return ("leaf", x)

    assert tree.map(str, value) == jax.tree.map(str, value)
    assert tree.leaves(value) == jax.tree.leaves(value)
    assert tree.leaves(tree.map(wrap, value)) == jax.tree.leaves(
        jax.tree.map(wrap, value)
    )
    assert tree.all(value) == jax.tree.all(value)
    assert tree.reduce(lambda n, _: n + 1, value, 0) == len(jax.tree.leaves(value))
    assert tree.map(lambda a, b: (a, b), value, value) == jax.tree.map(
        lambda a, b: (a, b), value, value
    )


@given(TREES)
def test_paths_agree_with_jax(value):
    ours = tree.map_with_path(lambda path, x: (tree.keystr(path), x), value)
    theirs = jax.tree.map_with_path(
        lambda path, x: (jax.tree_util.keystr(path), x), value
    )
    assert ours == theirs
    assert tree.leaves_with_path(value) == tree.flatten_with_path(value)[0]


def test_map_takes_subtrees_where_the_first_tree_has_leaves():
    assert tree.map(lambda x, y: y, (1, 2), ([3], {"a": 4})) == ([3], {"a": 4})
    assert tree.map(lambda x: x, (1, None), is_leaf=lambda x: x is None) == (1, None)


def test_reduce():
    assert tree.reduce(operator.add, {"a": 1, "b": [2, 3]}) == 6
    assert tree.reduce(operator.add, [[1], [2]], [], is_leaf=lambda x: x != [[1], [2]])
    assert tree.reduce(operator.add, (), 5) == 5
    with pytest.raises(TypeError):
        tree.reduce(operator.add, ())


def test_all_leaves():
    assert tree.all_leaves([1, "a", object()])
    assert not tree.all_leaves([1, None])
    assert not tree.all_leaves([Pair(1, 2)])
    assert tree.all_leaves([(1,)], is_leaf=lambda x: isinstance(x, tuple))


@pytest.mark.parametrize("given_inner", [True, False])
def test_transpose_agrees_with_jax(given_inner):
    value = {"a": (1, [2]), "b": (3, [4])}
    outer, inner = {"a": 0, "b": 0}, (0, [0])
    ours = tree.transpose(
        tree.structure(outer), tree.structure(inner) if given_inner else None, value
    )
    theirs = jax.tree.transpose(
        jax.tree.structure(outer), jax.tree.structure(inner), value
    )
    assert ours == theirs == ({"a": 1, "b": 3}, [{"a": 2, "b": 4}])


def test_broadcast_agrees_with_jax():
    full = ({"a": 0, "b": [1, None]}, 2)
    assert tree.broadcast((7, 8), full) == ({"a": 7, "b": [7, None]}, 8)
    assert tree.broadcast((7, 8), full) == jax.tree.broadcast((7, 8), full)


UTIL = {name for name in vars(jax.tree_util) if name[0] != "_"}
LEFT_OUT = {"PyTreeDef", "default_registry"}
"""A class whose methods differ, and what registers outside of the process-wide table."""


def test_tree_util_has_the_same_functions_under_jax_names():
    assert {*util.__all__} - {"PyTreeDef"} == UTIL - LEFT_OUT - {"tree_util"}
    assert util.tree_map is tree.map
    assert util.tree_flatten is tree.flatten


@given(TREES)
def test_one_level_agrees_with_jax(value):
    if tree.structure(value).is_leaf:
        with pytest.raises(TreeError, match="expected a node, got a leaf"):
            util.flatten_one_level(value)
        with pytest.raises(ValueError, match="can't tree-flatten"):
            jax.tree_util.flatten_one_level(value)
        return
    children, data = util.flatten_one_level(value)
    their_children, their_data = jax.tree_util.flatten_one_level(value)
    assert children == list(their_children)
    if isinstance(value, dict):
        assert _flat(data) == _flat(their_data)
    elif not isinstance(value, Point):  # theirs is the class, once more
        assert data == their_data
    keyed, _ = util.flatten_one_level_with_keys(value)
    assert [child for _, child in keyed] == children
    assert all(util.is_tree_node(type(x)) for x in (value, None))


@given(TREES)
def test_the_attributes_of_a_treedef_agree_with_jax(value):
    ours, theirs = tree.structure(value), jax.tree.structure(value)
    assert (ours.num_nodes, ours.num_leaves) == (theirs.num_nodes, theirs.num_leaves)
    counts = [d.num_leaves for d in util.treedef_children(ours)]
    assert counts == [d.num_leaves for d in jax.tree_util.treedef_children(theirs)]
    assert util.treedef_is_leaf(ours) == jax.tree_util.treedef_is_leaf(theirs)
    found, wanted = ours.node_data(), theirs.node_data()
    if isinstance(value, dict):  # keys may be a list or a tuple
        assert _flat(found) == _flat(wanted)
    else:
        assert found == wanted


def _flat(x):
    return (
        [y for part in x for y in _flat(part)] if isinstance(x, list | tuple) else [x]
    )


def test_is_tree_node():
    for kind in (int, str, set, type(None), list, tuple, dict, Pair, Point):
        assert util.is_tree_node(kind) == jax.tree_util.is_tree_node(kind)


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_reduce_associative_takes_the_order_of_jax(count):
    values = {"a": [str(i) for i in range(count)]}

    def pair(a, b):
        return f"({a}{b})"

    want = jax.tree.reduce_associative(pair, values)
    assert tree.reduce_associative(pair, values) == want


def test_reduce_associative_of_nothing():
    assert tree.reduce_associative(operator.add, (), identity=None) is None
    with pytest.raises(
        ArgumentError, match=r"expected a tree with a leaf, or an ident"
    ):
        tree.reduce_associative(operator.add, ())


def error_of(call):
    with pytest.raises(TreeError) as caught:
        call()
    return str(caught.value)


def test_map_names_the_first_place_where_trees_differ():
    first = {"a": 1, "b": [2, 3]}
    assert error_of(lambda: tree.map(max, first, {"a": 1, "b": [2, 3, 4]})) == (
        "tree.map: expected a list of length 2 at ['b'], got a list of length 3. "
        "Pass trees that have the structure of the first."
    )
    assert error_of(lambda: tree.map_with_path(max, first, {"a": 1, "c": 2})) == (
        "tree.map_with_path: expected a dict with keys {'a', 'b'} at the root, "
        "got a dict with keys {'a', 'c'}. "
        "Pass trees that have the structure of the first."
    )


def test_transpose_names_the_mismatch():
    pair, leaf = tree.structure((0, 0)), tree.structure(0)
    assert error_of(lambda: tree.transpose(pair, pair, ((1, 2), [3, 4]))) == (
        "tree.transpose: expected a tuple of length 2 at [1], got a list of length 2. "
        "Pass trees that have the structure of the first."
    )
    assert error_of(lambda: tree.transpose(pair, leaf, (1, [2]))) == (
        "tree.transpose: expected a leaf at [1], got a list of length 1. "
        "The structure should be PyTreeDef((*, *))."
    )
    assert error_of(lambda: tree.transpose(tree.structure(()), leaf, ())) == (
        "tree.transpose: expected structures with at least one leaf, got outer "
        "PyTreeDef(()) and inner PyTreeDef(*). There is nothing to transpose."
    )


TREES_WITH_PATHS = [
    {"a": [1, 2], "b": 3},
    None,
    [None, (1,)],
    5,
    {"x": None, "y": {"z": (1, [2, 3])}},
    collections.OrderedDict(b=1, a=(2,)),
    [[], {}],
]
CHOICES = {
    "by path": lambda path, _: len(path) == 1,
    "none": lambda path, node: False,
    "tuples": lambda _, node: isinstance(node, tuple),
    "None": lambda _, node: node is None,
    "the root": lambda path, _: not path,
}


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("of", TREES_WITH_PATHS, ids=repr)
def test_is_leaf_may_take_the_path(of, choice):
    options = {"is_leaf": CHOICES[choice], "is_leaf_takes_path": True}

    def found(library):
        return (
            library.tree.flatten_with_path(of, **options)[0],
            library.tree.leaves_with_path(of, **options),
            library.tree.map_with_path(
                lambda path, x, y: (len(path), x, y), of, of, **options
            ),
        )

    assert repr(found(imprint)) == repr(found(jax))

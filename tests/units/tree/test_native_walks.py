"""Trees in C agree with those in Python, which are the reference."""

import gc
import weakref

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imprint import tree
from imprint._src import native
from imprint._src.jit.fingerprint import static_values
from imprint._src.tree.treedef import Walks
from imprint._src.tree.walk import walk
from tests.units.tree.test_walk import STATIC, TREES

pytestmark = pytest.mark.skipif(native.core is None, reason="no native core")


class Keyed:
    """A node with keys, and static data of any kind."""

    def __init__(self, a, b, static):
        self.a, self.b, self.static = a, b, static


tree.register_pytree_with_keys(
    Keyed,
    lambda x: (
        [(tree.GetAttrKey("a"), x.a), (tree.GetAttrKey("b"), x.b)],
        (x.static, [1]),
    ),
    lambda aux, children: Keyed(*children, aux[0]),
)
KEYED = st.recursive(
    TREES,
    lambda inner: st.builds(Keyed, inner, inner, STATIC) | st.lists(inner, max_size=2),
    max_leaves=4,
)
IS_LEAF = st.sampled_from(
    [None, lambda x: x is None, lambda x: isinstance(x, list | dict | Keyed)]
)


def outcome(call):
    """Return the result of a call as leaves and structure, or its error."""
    try:
        leaves, treedef = tree.flatten(call())
    except Exception as err:
        return type(err), str(err)
    return leaves, treedef


def by_python(call):
    native_map, Walks.map_tree = Walks.map_tree, None
    try:
        return call()
    finally:
        Walks.map_tree = staticmethod(native_map)


@given(KEYED)
def test_a_walk_gives_the_same_leaves_and_shape(x):
    def result(walk):
        leaves = []
        try:
            return walk(x, leaves), [*map(id, leaves)]
        except KeyError:
            return None

    assert result(native.core.walk) == result(walk)


@given(KEYED, IS_LEAF)
def test_map_gives_the_same_tree(x, is_leaf):
    def mapped():
        return tree.map(lambda leaf: (leaf, 1), x, is_leaf=is_leaf)

    assert outcome(mapped) == outcome(lambda: by_python(mapped))


@given(KEYED, KEYED, IS_LEAF)
def test_map_of_several_gives_the_same_tree_or_error(x, y, is_leaf):
    def mapped(*trees):
        return tree.map(lambda a, b: (id(a), id(b)), *trees, is_leaf=is_leaf)

    for trees in ((x, y), (x, x), (x, tree.map(lambda leaf: [leaf], x))):
        here = outcome(lambda trees=trees: mapped(*trees))
        assert here == outcome(lambda trees=trees: by_python(lambda: mapped(*trees)))


def test_map_calls_the_function_after_all_nodes_were_opened():
    seen = []

    class Node:
        pass

    def opened(node):
        seen.append("open")
        return (1, 2), None

    tree.register_pytree_node(
        Node, opened, lambda _, children: seen.append("build") or Node()
    )
    tree.map(seen.append, [Node(), Node()])
    assert seen == ["open", "open", 1, 2, 1, 2, "build", "build"]


def test_a_result_does_not_share_static_data_that_can_change():
    x = Keyed(1, 2, [3])
    assert tree.map(lambda v: v, x).static == [3]
    assert tree.map(lambda v: v, x).static is not x.static


def test_errors_come_from_the_function_itself():
    with pytest.raises(ZeroDivisionError):
        tree.map(lambda x: x / 0, [1])
    deep = ()
    for _ in range(100_000):
        deep = (deep,)
    with pytest.raises(RecursionError, match="levels"):
        tree.map(lambda x: x, deep)
    while deep:
        (deep,) = deep


# ---- nested tuples of a static argument ----


def test_identities_of_nested_tuples_are_those_of_their_items():
    ids, a, b = native.core.nested_ids, object(), object()
    assert ids((a, (b, ()))) == ids((a, (b, ())))
    different = [(a, b), (b, a), ((a,), b), (a, (b,)), (a, b, ()), ((a, b),), (a, [b])]
    assert len({ids(each) for each in different}) == len(different)
    deep = ()
    for _ in range(40):
        deep = (deep,)
    assert ids(deep) is None


def test_the_token_of_nested_tuples_follows_their_functions():
    rate = 2.0

    def scaled(x):
        return x * rate

    structure = tree.structure([1, 2])
    made = [static_values.static_token(((scaled, None), (structure, "a")), "s")]
    made += [static_values.static_token(((scaled, None), (structure, "a")), "s")] * 3
    assert native.core.nested_ids(((scaled, None), (structure, "a"))) in (
        static_values._nested
    )
    rate = 3.0
    edited = static_values.static_token(((scaled, None), (structure, "a")), "s")
    assert all(each is made[0] for each in made)
    assert edited != made[0]


def test_an_entry_goes_with_its_function():
    def scaled(x):
        return x

    before = len(static_values._nested)
    for _ in range(3):
        static_values.static_token(((scaled, 1),), "s")
    assert len(static_values._nested) == before + 1
    dead = weakref.ref(scaled)
    del scaled
    gc.collect()
    assert dead() is None
    assert len(static_values._nested) == before


def test_a_structure_without_objects_of_its_own_stays_for_a_while():
    made = tree.structure(Keyed(1, 2, ("a", 3)))
    gone = weakref.ref(made)
    del made
    gc.collect()
    assert gone() is not None
    local = type("Local", (), {})()
    dead = weakref.ref(local)
    tree.structure(Keyed(1, 2, local))
    del local
    gc.collect()
    assert dead() is None

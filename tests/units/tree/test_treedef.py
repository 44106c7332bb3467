import collections
import copy
import gc
import pickle
import subprocess
import sys
import weakref
from concurrent.futures import ThreadPoolExecutor

import jax
import numpy as np
import optree
import pytest
from hypothesis import given

from imprint import tree
from imprint.errors import ArgumentError, TreeError
from tests.units.tree.examples import TREES, Layer, Pair, Point, Unit

# ---- JAX as the oracle ----


@given(TREES)
def test_leaves_paths_and_structure_agree_with_jax(value):
    leaves, treedef = tree.flatten(value)
    theirs, their_def = jax.tree.flatten(value)
    assert leaves == theirs
    assert treedef.num_leaves == their_def.num_leaves
    assert treedef.unflatten(leaves) == jax.tree.unflatten(their_def, theirs)
    paths = [path for path, _ in jax.tree.leaves_with_path(value)]
    assert [*map(tree.keystr, treedef.paths())] == [*map(jax.tree_util.keystr, paths)]


@given(TREES, TREES)
def test_two_structures_are_one_object_when_jax_calls_them_equal(a, b):
    equal = jax.tree.structure(a) == jax.tree.structure(b)
    assert (tree.structure(a) is tree.structure(b)) == equal


@given(TREES)
def test_is_leaf_agrees_with_jax(value):
    for is_leaf in (
        lambda x: x is None,
        lambda x: isinstance(x, list),
        lambda x: isinstance(x, Pair | dict),
    ):
        leaves, treedef = tree.flatten(value, is_leaf)
        theirs, their_def = jax.tree.flatten(value, is_leaf)
        assert leaves == theirs
        assert treedef.unflatten(leaves) == jax.tree.unflatten(their_def, theirs)


@pytest.mark.parametrize(
    "value",
    [5, None, (), [], {}, (1, [2, {"a": None}]), {"b": 1, "a": (2,)}],
    ids=str,
)
def test_repr_is_that_of_jax(value):
    assert repr(tree.structure(value)) == repr(jax.tree.structure(value))


def test_repr_of_registered_nodes_and_named_tuples():
    value = {"p": Pair(1, None, "m"), "q": Point(1, 2)}
    assert repr(tree.structure(value)) == (
        "PyTreeDef({'p': CustomNode(Pair['m'], [*, None]), 'q': Point(x=*, y=*)})"
    )


def test_a_deque_is_a_node():
    queue = collections.deque([1, 2], maxlen=3)
    leaves, treedef = tree.flatten(queue)
    assert leaves == [1, 2]
    assert treedef.unflatten([3, 4]) == collections.deque([3, 4], maxlen=3)


# ---- order of keys ----


@pytest.mark.parametrize("kind", [dict, lambda d: collections.defaultdict(int, d)])
def test_dicts_come_back_sorted_in_every_order(kind):
    for pairs in ([("b", 1), ("a", 2)], [("a", 2), ("b", 1)]):
        leaves, treedef = tree.flatten([kind(dict(pairs))])
        assert leaves == [2, 1]
        (back,) = treedef.unflatten(leaves)
        assert list(back.items()) == [("a", 2), ("b", 1)]
        assert type(back) is type(kind({}))


def test_ordered_dicts_keep_their_order():
    value = collections.OrderedDict(b=1, a=2)
    leaves, treedef = tree.flatten(value)
    assert leaves == [1, 2]
    assert list(treedef.unflatten(leaves)) == ["b", "a"]
    assert treedef is not tree.structure(collections.OrderedDict(a=2, b=1))


def test_differs_from_jax_which_refuses_keys_without_an_order():
    mixed = {"a": 1, 2: 2, (3,): 3}
    with pytest.raises(ValueError, match="Comparator raised exception"):
        jax.tree.flatten(mixed)
    leaves, treedef = tree.flatten(mixed)
    assert tree.flatten(dict(reversed(mixed.items()))) == (leaves, treedef)
    assert treedef.unflatten(leaves) == mixed
    unordered = {2j: 1, 1j: 2}
    assert tree.flatten(unordered)[0] == [1, 2]
    assert tree.unflatten(tree.structure(unordered), [1, 2]) == unordered


# ---- identity ----


def one_object(*values):
    return len({id(tree.structure(value)) for value in values}) == 1


def test_equal_structures_are_one_object_with_an_identity_hash():
    values = [{"w": np.ones(2), "b": (1, None)}, {"b": ("x", None), "w": 0}]
    a, b = map(tree.structure, values)
    assert a is b
    assert hash(a) == object.__hash__(a)
    assert one_object((1, 2), (object(), "x"))
    assert not one_object((1, 2), [1, 2])
    assert not one_object(Point(1, 2), (1, 2))
    assert not one_object({"a": 1}, collections.OrderedDict(a=1))


EXACT = [
    [{1: 0}, {1.0: 0}, {True: 0}, {np.int64(1): 0}],
    [({1: 0}, {"a": 0}), ({True: 0}, {"a": 0})],
    [collections.defaultdict(int, {k: 0}) for k in (1, True)],
    [collections.OrderedDict({k: 0}) for k in (1, True)],
    [Pair(0, 0, static) for static in (1, 1.0, True, np.float32(1))],
    [Pair(0, 0, static) for static in (0.0, -0.0, 0, False)],
    [Pair(0, 0, ("x", [1])), Pair(0, 0, ("x", [True]))],
    [Layer(0, 0, 1), Layer(0, 0, True)],
    [Unit("m"), Unit("s")],
    [Pair(0, 0, "m"), Pair(0, 0, Unit("m"))],
]


@pytest.mark.parametrize("values", EXACT, ids=str)
def test_structures_are_exact_to_the_type(values):
    treedefs = [tree.structure(value) for value in values]
    again = [tree.structure(copy.deepcopy(value)) for value in reversed(values)]
    for a, b in zip(treedefs, reversed(again), strict=True):
        assert a == b
    for i, a in enumerate(treedefs):
        assert all(a != b for b in treedefs[i + 1 :])
        node = a.unflatten([0] * a.num_leaves)
        assert tree.structure(node) == a


def test_a_treedef_and_its_data_are_freed():
    class Static:
        pass

    static = Static()
    treedef = tree.structure(Pair(1, 2, static))
    dead, gone = weakref.ref(static), weakref.ref(treedef)
    del static, treedef
    gc.collect()
    assert dead() is None
    assert gone() is None


def test_threads_get_one_object():
    def structures(_):
        return [tree.structure({f"key{i}": Pair(1, i)}) for i in range(50)]

    with ThreadPoolExecutor(4) as pool:
        first, *others = pool.map(structures, range(4))
    assert all(a is b for other in others for a, b in zip(first, other, strict=True))


def test_copies_and_pickles_are_the_same_object():
    for value in ((1, 2), {"a": Point(1, 2)}, Layer(1, [2], "x"), {1: 2}):
        treedef = tree.structure(value)
        assert copy.deepcopy(treedef) is treedef
        assert pickle.loads(pickle.dumps(treedef)) is treedef


class Loose:
    """Equal to its kind, and without a hash."""

    __hash__ = None

    def __eq__(self, other):
        return isinstance(other, Loose)

    def __repr__(self):
        return "Loose()"


def test_static_data_with_an_equality_needs_no_hash():
    value = Pair(1, 2, Loose())
    treedef = tree.structure(value)
    assert treedef is tree.structure(Pair(3, 4, Loose()))
    assert treedef is not tree.structure(Pair(3, 4, "s"))
    assert hash(treedef) == hash(tree.structure(Pair(3, 4, Loose())))
    assert tree.map(lambda x: 2 * x, value) == Pair(2, 4, Loose())


class Names(list):
    """A container of a class of its own, which is compared by what it holds then."""


def test_static_data_that_is_a_list_of_its_own_class_maps_but_is_no_key():
    value = Pair(1, 2, Names("ab"))
    treedef = tree.structure(value)
    assert treedef == tree.structure(Pair(3, 4, Names("ab")))
    assert treedef != tree.structure(Pair(3, 4, "s"))
    assert tree.map(lambda x: 2 * x, value) == Pair(2, 4, Names("ab"))
    with pytest.raises(ArgumentError) as caught:
        hash(treedef)
    assert str(caught.value) == (
        "pytree: expected static data that can be hashed, got "
        "PyTreeDef(CustomNode(Pair[['a', 'b']], [*, *])). "
        "Make it hashable (a tuple for a list), or a child of its node. "
        "(unhashable type: 'Names')"
    )


def test_static_lists_are_structure_by_their_content():
    names = ["m"]
    value = Pair(1, 2, names)
    treedef = tree.structure(value)
    assert treedef is tree.structure(Pair(3, 4, ["m"]))
    assert treedef is not tree.structure(Pair(3, 4, ("m",)))
    names.append("s")
    assert treedef is not tree.structure(value)
    assert treedef.unflatten([1, 2]) == Pair(1, 2, ["m"])
    mapped = tree.map(lambda x: x, value)
    mapped.unit.append("t")
    assert (value.unit, tree.map(lambda x: x, value).unit) == (["m", "s"], ["m", "s"])


# ---- parts ----


def test_children_keys_and_root():
    treedef = tree.structure({"a": [1, 2], "b": 3})
    assert treedef.children() == (tree.structure([0, 0]), tree.structure(0))
    assert treedef.keys() == (tree.DictKey("a"), tree.DictKey("b"))
    assert treedef.root() is tree.structure({"a": 0, "b": 0})
    leaf = tree.structure(0)
    assert leaf.is_leaf
    assert not treedef.is_leaf
    assert (leaf.children(), leaf.keys(), leaf.root()) == ((), (), leaf)
    assert not tree.structure(None).is_leaf


def test_compose_and_treedef_tuple():
    pair, single = tree.structure((0, 0)), tree.structure([0])
    assert pair.compose(single) is tree.structure(([0], [0]))
    assert tree.treedef_tuple([pair, single]) is tree.structure(((0, 0), [0]))
    assert tree.treedef_tuple([]) is tree.structure(())


def test_a_wrong_number_of_leaves():
    treedef = tree.structure((1, [2]))
    for leaves in ([1], (1, 2, 3)):
        with pytest.raises(TreeError) as caught:
            treedef.unflatten(leaves)
        assert str(caught.value) == (
            f"unflatten: expected 2 leaves, got {len(leaves)}. "
            "The structure is PyTreeDef((*, [*]))."
        )
    with pytest.raises(ValueError, match="leaves"):
        treedef.unflatten(iter([1]))


# ---- leaf types ----


def test_a_class_registered_as_leaf_stays_one_until_it_becomes_a_node():
    class Late:
        pass

    tree.register_leaf(Late)
    late = Late()
    assert tree.leaves((late,)) == [late]
    assert tree.flatten((late,)) == ([late], tree.structure((0,)))
    tree.register_pytree_node(Late, lambda _: ((), None), lambda _, __: Late())
    assert tree.flatten((late,))[0] == []


def test_a_flat_tuple_takes_the_short_way_to_the_same_answer():
    class Leaf:
        pass

    for kind in (tuple, list):
        for n in (0, 1, 3):
            leaves, treedef = tree.flatten(kind(range(n)))
            assert leaves == list(range(n))
            assert treedef is tree.structure(kind(Leaf() for _ in range(n)))
    assert tree.flatten((1, None))[0] == [1]


# ---- neighbours ----


def test_other_users_of_optree_do_not_see_our_nodes():
    value = (Pair(1, 2), 3)
    assert optree.tree_leaves(value) == [value[0], 3]
    assert optree.tree_leaves(value, namespace="other") == [value[0], 3]
    assert tree.leaves(value) == [1, 2, 3]


def test_import_loads_nothing_heavier_than_optree():
    code = (
        "import sys, numpy, optree; before = {*sys.modules}; import imprint.tree;"
        "print([m for m in {*sys.modules} - before if not m.startswith('imprint')])"
    )
    # `imprint` itself may load more; only the modules before `imprint.tree` are checked.
    code = code.replace(
        "import imprint.tree",
        "import types; package = types.ModuleType('imprint');"
        "package.__path__ = ['imprint']; sys.modules['imprint'] = package;"
        "import imprint.tree",
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert ran.stdout == "[]\n"

import dataclasses
import functools

import jax
import pytest

from imprint import tree
from imprint.errors import ArgumentError
from tests.units.tree.examples import Box, Layer, Pair, Unit

# ---- ways to register ----


@tree.register_pytree_node_class
class Scaled:
    def __init__(self, x, unit):
        self.x, self.unit = x, unit

    def tree_flatten(self):
        return (self.x,), self.unit

    @classmethod
    def tree_unflatten(cls, unit, children):
        return cls(*children, unit)


@tree.register_pytree_with_keys_class
class Named:
    def __init__(self, x):
        self.x = x

    def tree_flatten_with_keys(self):
        return [(tree.GetAttrKey("x"), self.x)], None

    @classmethod
    def tree_unflatten(cls, aux, children):
        assert aux is None
        return cls(*children)


def test_a_class_registers_itself():
    doubled = tree.map(lambda x: 2 * x, Scaled(3, "m"))
    assert (doubled.x, doubled.unit) == (6, "m")
    assert tree.map(lambda x: 2 * x, Named([3])).x == [6]
    assert tree.structure(Named([3])).paths() == [
        (tree.GetAttrKey("x"), tree.SequenceKey(0))
    ]


def test_keys_given_with_a_plain_flatten_are_used():
    class Both:
        def __init__(self, x):
            self.x = x

    tree.register_pytree_node(
        Both,
        lambda b: ((b.x,), None),
        lambda _, parts: Both(*parts),
        lambda b: ([(tree.GetAttrKey("x"), b.x)], None),
    )
    assert tree.keystr(tree.structure(Both(1)).paths()[0]) == ".x"


def test_children_without_keys_are_numbered():
    paths = [tree.keystr(path) for path in tree.structure(Pair(1, [2])).paths()]
    assert paths == ["[<flat index 0>]", "[<flat index 1>][0]"]


def test_a_subclass_is_a_leaf():
    class Special(Pair):
        pass

    special = Special(1, 2)
    assert tree.leaves(special) == [special]


def test_static_instances_have_no_leaves():
    leaves, treedef = tree.flatten([Unit("m"), 1])
    assert leaves == [1]
    assert treedef.unflatten([2]) == [Unit("m"), 2]


def test_unflatten_gets_static_data_as_it_was_given():
    seen = []
    aux = ("m", 1)

    class Watching:
        pass

    def restore(given, _children):
        seen.append(given)
        return Watching()

    tree.register_pytree_node(Watching, lambda _: ((), aux), restore)
    tree.map(str, Watching())
    assert seen == [aux]


# ---- dataclasses ----


def test_a_dataclass_splits_by_metadata():
    leaves, treedef = tree.flatten(Layer(1, [2], "x"))
    assert leaves == [1, 2]
    assert [tree.keystr(path) for path in treedef.paths()] == [".w", ".b[0]"]
    assert treedef.unflatten([3, 4]) == Layer(3, [4], "x")


@dataclasses.dataclass
class Plain:
    a: int
    b: int
    c: int = 3


def plain():
    return dataclasses.make_dataclass("Copy", [], bases=(Plain,))


@pytest.mark.parametrize(
    ("fields", "leaves"),
    [
        ({}, [1, 2, 3]),
        ({"data_fields": ["a"], "meta_fields": ["b", "c"]}, [1]),
        (
            {"data_fields": ["a"], "meta_fields": ["b"], "drop_fields": ["c"]},
            [1],
        ),
    ],
)
def test_a_dataclass_splits_by_names_as_in_jax(fields, leaves):
    cls = plain()
    for library in (tree, jax.tree_util):
        library.register_dataclass(cls, **fields)
    value = cls(1, 2)
    assert tree.leaves(value) == jax.tree.leaves(value) == leaves
    assert tree.map(lambda x: x, value) == value


@pytest.mark.parametrize(
    ("fields", "leaves"),
    [
        ({"meta_fields": ["b"]}, [1, 3]),
        ({"data_fields": ["c"]}, [3]),
    ],
)
def test_differs_from_jax_which_wants_both_lists_or_none(fields, leaves):
    cls = plain()
    with pytest.raises((TypeError, ValueError)):
        jax.tree_util.register_dataclass(cls, **fields)
    tree.register_dataclass(cls, **fields)
    assert tree.leaves(cls(1, 2)) == leaves


def test_dropped_fields_are_neither_children_nor_static():
    cls = tree.register_dataclass(plain(), drop_fields=["c"])
    assert tree.leaves(cls(1, 2, 4)) == [1, 2]
    assert tree.map(str, cls(1, 2, 4)) == cls("1", "2", 3)


def test_a_class_that_is_no_dataclass_names_its_fields():
    class Old:
        def __init__(self, a, b):
            self.a, self.b = a, b

    with pytest.raises(ArgumentError) as caught:
        tree.register_dataclass(Old)
    assert str(caught.value) == (
        "register_dataclass: expected data_fields and meta_fields for a class that is "
        "no dataclass, got only Old. Name the fields, or decorate the class with "
        "dataclasses.dataclass."
    )
    tree.register_dataclass(Old, ["a"], ["b"])
    assert tree.leaves(Old(1, 2)) == [1]


def test_every_field_is_named_once():
    @dataclasses.dataclass
    class Two:
        a: int
        b: int

    with pytest.raises(ArgumentError) as caught:
        tree.register_dataclass(Two, ["a"], ["c"])
    assert str(caught.value) == (
        "register_dataclass: expected each of ['a', 'b'] once among the fields of Two, "
        "got data_fields=['a'] and meta_fields=['c']. List the others in drop_fields."
    )


def test_registering_twice():
    with pytest.raises(ArgumentError) as caught:
        tree.register_static(Box)
    assert str(caught.value) == (
        "register: expected a class that is no node yet, got Box, which was registered "
        "before. Register it once, where it is defined."
    )


# ---- Partial ----


def test_partial_is_a_node_with_a_static_function():
    partial = tree.Partial(pow, 2, mod=5)
    leaves, treedef = tree.flatten(partial)
    assert leaves == jax.tree.leaves(jax.tree_util.Partial(pow, 2, mod=5)) == [2, 5]
    assert [tree.keystr(p) for p in treedef.paths()] == [".args[0]", ".keywords['mod']"]
    back = treedef.unflatten([3, 7])
    assert isinstance(back, functools.partial)
    assert back(4) == pow(3, 4, 7)
    assert tree.structure(tree.Partial(max, 2)) is not tree.structure(
        tree.Partial(min, 2)
    )
    assert tree.leaves(functools.partial(pow, 2)) != [2]


def test_a_partial_of_a_plain_partial_keeps_its_arguments_apart():
    scaled = functools.partial(lambda a, b, c: a * b + c, 2)
    one, other = tree.Partial(scaled, 3), tree.Partial(scaled, 4)
    assert tree.leaves(one) == [3]
    assert one(1) == 7
    assert tree.structure(one) == tree.structure(other)
    assert tree.map(lambda x: x + 1, one)(1) == 9
    assert tree.leaves(tree.Partial(one, 5)) == [3, 5]

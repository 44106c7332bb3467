"""Trees of results as plain data."""

import json
import operator
from fractions import Fraction
from string import Template
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest

from imprint import tree
from imprint._src.jit.manifest.not_cacheable import NotCacheable
from imprint._src.jit.manifest.result_trees import deserialize_tree, serialize_tree


class Own(NamedTuple):
    """A named tuple of the user."""

    a: object


class Held(Fraction):
    """A number of the user."""


tree.register_pytree_node(
    Template, lambda x: ((), x.template), lambda held, _: Template(held)
)


def own(x):
    """Return it; a function of the user."""
    return x


def through_json(x, arguments=(), inputs=()):
    """Return the structure of a tree, by way of plain data."""
    whole = tree.structure(arguments)
    plain = json.loads(json.dumps(serialize_tree(tree.structure(x), whole, inputs)))
    return deserialize_tree(plain, whole, inputs)


RESULTS = {
    "builtin": {"a": (1, [2, None]), "b": 3},
    "named tuple of a library": urlsplit("a://b/c"),
    "static data": tree.Partial(max, 1, key=2),
    "objects of libraries as static data": Template(
        ({1: Fraction(1, 3), "b": (0.5, True)}, [urlsplit("a://b"), Fraction(2)])
    ),
    "nested": [tree.Partial(operator.add, tree.Partial(min, (1, None)))],
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_tree_of_libraries_is_restored(name):
    x = RESULTS[name]
    assert through_json(x) is tree.structure(x)


def test_a_node_of_the_arguments_is_a_part_or_has_other_children():
    x = Own(1), Own((1, 2))
    assert through_json(x, (Own(3),)) is tree.structure(x)


def test_static_data_may_be_an_input_of_the_call():
    x = tree.Partial(own, 1)
    assert through_json(x, inputs=[print, own]) is tree.structure(x)


@pytest.mark.parametrize("x", [tree.Partial(own, 1), tree.Partial(lambda y: y, 1)])
def test_a_function_of_the_user_has_no_name(x):
    with pytest.raises(NotCacheable, match="an object of class function"):
        through_json(x)


@pytest.mark.parametrize("x", [Held(1, 3), object(), Own(1)])
def test_an_object_of_the_user_or_without_a_value_has_no_plain_form(x):
    with pytest.raises(NotCacheable, match="an object of class"):
        through_json(Template(x))


def test_a_class_of_the_user_has_no_name():
    with pytest.raises(NotCacheable, match="an object of class"):
        through_json(Own(1))


def test_a_library_that_is_not_imported_is_an_error():
    with pytest.raises(KeyError):
        deserialize_tree(
            ["named tuple", [0], ["library", "gone", "A"]], tree.structure(())
        )

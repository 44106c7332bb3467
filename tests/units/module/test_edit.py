"""Changed copies: the named parts are replaced, and nothing else."""

import dataclasses

import equinox as eqx
import pytest

import imprint.numpy as np
from imprint import tree
from imprint.errors import ArgumentError
from imprint.module import Module, field, replace, tree_at
from tests.units.module.models import Layered, Linear, Pair


def message(do):
    with pytest.raises(ArgumentError) as caught:
        do()
    return str(caught.value)


SHARED = (1, 2)
# A tree, where, and the keywords; each is given to Equinox too.
EDITS = [
    ([1, [2, {"a": 3, "b": 4}]], lambda t: t[1][1]["a"], {"replace": 5}),
    ([1, [2, 3]], lambda t: t[1], {"replace": "x"}),
    ([1, [2, 3]], lambda t: t, {"replace": "x"}),
    ([1, [2, 3]], lambda t: (t[0], t[1][1]), {"replace": (5, 6)}),
    ([1, [2, 3]], lambda t: [t[0], t[1]], {"replace": [5, 6]}),
    ([1, [2, 3]], lambda t: t[1], {"replace_fn": lambda x: [*x, 4]}),
    ([1, [2, 3]], lambda t: (t[1], t[0]), {"replace_fn": lambda x: [x]}),
    ([SHARED, SHARED], lambda t: t[1], {"replace": 0}),
    ([SHARED, SHARED], lambda t: t[1][0], {"replace": 0}),
    ([1, 1, 1], lambda t: t[2], {"replace": 0}),
    ([(), ()], lambda t: t[1], {"replace": 0}),
    ([(), ((),)], lambda t: t[1], {"replace_fn": lambda x: (x, x)}),
    ([None], lambda t: t[0], {"replace": 0}),
    ([None, None], lambda t: t[1], {"replace": 0, "is_leaf": lambda x: x is None}),
    ([1, None, 3], lambda t: t[2], {"replace": None}),
    ([1, 2], lambda t: (), {"replace": ()}),
    ([1, 2], lambda t: t[0], {"replace": ()}),
    ({"a": [1]}, lambda t: t["a"], {"replace": {"b": 2}}),
]


@pytest.mark.parametrize(("pytree", "where", "kwargs"), EDITS)
def test_edits_are_those_of_equinox(pytree, where, kwargs):
    assert tree_at(where, pytree, **kwargs) == eqx.tree_at(where, pytree, **kwargs)


def test_layers_of_a_model_are_replaced_and_the_model_stays():
    model = Layered((Linear(2), Linear(2)), np.abs)
    new = tree_at(lambda m: m.layers[1].weight, model, 2 * np.eye(2))
    assert float(new.layers[1].weight[0, 0]) == 2.0
    assert float(model.layers[1].weight[0, 0]) == 1.0
    assert new.layers[0].weight is model.layers[0].weight
    assert new.activation is model.activation
    other = tree_at(lambda m: m.layers[0], model, Linear(2, bias=False))
    assert other.layers[0].bias is None


def test_where_may_go_through_an_empty_tuple():
    model = Layered((), np.abs)
    new = tree_at(lambda m: [*m.layers, m.activation], model, [np.square])
    assert new == Layered((), np.square)


def test_none_of_a_model_is_replaced():
    model = Linear(2, bias=False)
    new = tree_at(lambda m: m.bias, model, np.ones(2), is_leaf=lambda x: x is None)
    assert new.bias.shape == (2,)


def test_check_init_does_not_run():
    class Positive(Module):
        x: float

        def __check_init__(self):
            assert self.x > 0

    assert tree_at(lambda m: m.x, Positive(1.0), -1.0).x == -1.0


LOOKS_AT_LEAVES = (
    "tree_at: expected where to find its way by the structure alone, got one that looks at "
    "the leaves: with stand-ins in their place it fails, or reaches another place. Decide "
    "outside of where, on the tree itself; what is to be computed of a leaf belongs in "
    "replace_fn."
)


@pytest.mark.parametrize(
    ("pytree", "where", "given", "text"),
    [
        (
            Linear(2),
            lambda m: m.size,
            1,
            "tree_at: expected where to return nodes or leaves of the tree, got 2 (int), "
            "which is none. A static field is none either: to change it, use "
            "imprint.replace.",
        ),
        (
            [1, 2],
            lambda t: {"a": t[0]},
            1,
            "tree_at: expected where to return nodes or leaves of the tree, got "
            "{'a': <leaf>} (dict), which is none. A static field is none either: to "
            "change it, use imprint.replace.",
        ),
        (
            [None, None],
            lambda t: t[0],
            1,
            "tree_at: expected where to name one place, got None (NoneType), which is one "
            "object at 2 places of the tree. Make it a leaf to distinguish them: "
            "tree_at(..., is_leaf=lambda x: x is None).",
        ),
        (
            [1, 2],
            lambda t: (t[0], t[0]),
            (1, 2),
            "tree_at: expected where to return each node once, got 1 (int) more than "
            "once. Return it once, with one replacement.",
        ),
        (
            [[1, 2], 3],
            lambda t: (t[0], t[0][1]),
            (1, 2),
            "tree_at: expected separate nodes, got 2 (int), which is "
            "inside another that where returns. Replace the outer one alone.",
        ),
        (
            [1, 2],
            lambda t: (t[0], t[1]),
            (1, 2, 3),
            "tree_at: expected 2 replacements, as where returns 2 nodes, got 3. Give a "
            "list with one for each.",
        ),
        (
            [1, 2],
            lambda t: (t[0], t[1]),
            7,
            "tree_at: expected 2 replacements, as where returns 2 nodes, got 7 (int). "
            "Give a list with one for each.",
        ),
        (
            [1, 2],
            lambda t: [t[0], *[x for x in t if type(x) is int]],
            [1],
            LOOKS_AT_LEAVES,
        ),
        (
            [1, "a"],
            lambda t: tuple(x for x in t if type(x) is int),
            (1,),
            LOOKS_AT_LEAVES,
        ),
        ([1, 2], lambda t: t[0] * 2, 7, LOOKS_AT_LEAVES),
        ([np.ones(2)], lambda t: t[0].shape, 7, LOOKS_AT_LEAVES),
    ],
)
def test_replacements_that_are_refused(pytree, where, given, text):
    assert message(lambda: tree_at(where, pytree, given)) == text


def test_one_of_replace_and_replace_fn_is_given():
    text = (
        "tree_at: expected either replace or replace_fn, got {}. Give the one that says "
        "what to put there."
    )
    assert message(lambda: tree_at(lambda t: t[0], [1])) == text.format("neither")
    assert message(lambda: tree_at(lambda t: t[0], [1], 2, abs)) == text.format("both")


class Dropout(Module):
    p: float = field(static=True, converter=float)
    layers: object = None

    def __init__(self, p):
        self.p = p

    def __check_init__(self):
        if not 0 <= self.p <= 1:
            raise ValueError("p")


def test_replace_sets_static_fields_and_holds_the_class_to_its_word():
    model = Dropout(0.5)
    assert replace(model, p=1).p == 1.0
    assert type(replace(model, p=1).p) is float
    assert replace(model, layers=(1,)).layers == (1,)
    assert model == Dropout(0.5)
    with pytest.raises(ValueError, match="p"):
        replace(model, p=2)
    with pytest.raises(dataclasses.FrozenInstanceError):
        replace(model, p=1).p = 2
    assert tree.structure(replace(model, p=0.5)) is tree.structure(model)


def test_replace_names_the_fields_there_are():
    assert message(lambda: replace(Dropout(0.5), layer=1)) == (
        "replace: expected fields of Dropout (p, layers), got layer. Did you mean "
        "'layers'?"
    )


def test_both_kinds_of_replace_agree_where_both_work():
    assert replace(Pair(1, 2), first=3) == dataclasses.replace(Pair(1, 2), first=3)


def test_an_error_of_where_on_the_tree_itself_is_raised_unchanged():
    with pytest.raises(KeyError, match="missing"):
        tree_at(lambda t: t["missing"], {"w": 1}, 2)

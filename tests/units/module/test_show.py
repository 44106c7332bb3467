"""Trees as text: short where it fits, an item on each line where it does not."""

import dataclasses
import functools
from collections import OrderedDict, defaultdict, deque, namedtuple

import equinox as eqx
import jax.numpy as jnp
import numpy
import pytest

import imprint
import imprint.numpy as np
from imprint.module import Module, field, tree_pformat, tree_pprint
from tests.units.module.models import Activated, Layered, Linear, Pair

Point = namedtuple("Point", "x y")


@dataclasses.dataclass
class Plain:
    a: object
    b: int = dataclasses.field(default=1, repr=False)


def relu(x):
    return x


def test_a_model_is_a_readable_tree():
    model = Layered((Linear(3), Linear(3, bias=False)), relu)
    assert repr(model) == (
        "Layered(\n"
        "  layers=(\n"
        "    Linear(weight=f32[3,3], bias=f32[3], size=3),\n"
        "    Linear(weight=f32[3,3], bias=None, size=3)\n"
        "  ),\n"
        "  activation=<function relu>\n"
        ")"
    )


@pytest.mark.slow
def test_lines_are_broken_where_those_of_equinox_are():
    class Theirs(eqx.Module):
        weight: object
        name: str = eqx.field(static=True)

    class Ours(Module):
        weight: object
        name: str = field(static=True)

    Theirs.__qualname__ = "Ours"

    def trees(cls, ones):
        for count in (1, 2, 5):
            for length in (1, 10, 20, 30, 70):
                inner = [cls(ones((length,)), "n" * length) for _ in range(count)]
                yield cls(inner, "x")
                yield [cls((inner, inner[0]), "y")]

    for ours, theirs in zip(trees(Ours, np.ones), trees(Theirs, jnp.ones), strict=True):
        assert tree_pformat(ours) == eqx.tree_pformat(theirs)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1, "1"),
        ("a", "'a'"),
        (None, "None"),
        (-0.0, "-0.0"),
        ((), "()"),
        ((1,), "(1,)"),
        ([], "[]"),
        ({}, "{}"),
        (set(), "set()"),
        ({1}, "{1}"),
        (frozenset({1}), "frozenset({1})"),
        (deque([1]), "deque([1])"),
        ({"a": 1, 2: (3,)}, "{'a': 1, 2: (3,)}"),
        (OrderedDict(a=1), "{'a': 1}"),
        (defaultdict(int, a=1), "{'a': 1}"),
        (Point(1, np.ones(3)), "Point(x=1, y=f32[3])"),
        (Plain([1]), "Plain(a=[1])"),
        (np.ones((2, 3)), "f32[2,3]"),
        (np.ones(2, np.bfloat16), "bf16[2]"),
        (np.ones(2, np.uint8), "u8[2]"),
        (np.ones(2, np.complex64), "c64[2]"),
        (np.ones(2, bool), "bool[2]"),
        (np.asarray(1), "weak_i32[]"),
        (numpy.ones(3), "f64[3](numpy)"),
        (relu, "<function relu>"),
        (max, "<function max>"),
        (numpy.sin, "<function sin>"),
        (functools.partial(relu, 1, y=2), "partial(<function relu>, 1, y=2)"),
        (imprint.jit(relu), "<jitted <function relu>>"),
        (int, "int"),
        (Linear, "Linear"),
        (Pair(1).__eq__, "<function Module.__eq__>"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_each_kind_of_value(value, text):
    assert tree_pformat(value) == text


def test_functions_inside_functions_go_by_their_own_name():
    class Local(Module):
        x: object

        def apply(self):
            pass

    assert tree_pformat(lambda x: x) == "<function <lambda>>"
    assert tree_pformat(Local) == "Local"
    assert (
        tree_pformat([Local(1).apply]) == "[<bound method Local.apply of Local(x=1)>]"
    )
    assert tree_pformat(imprint.jit(lambda x: x)) == "<jitted <function <lambda>>>"


def test_tracers_are_shown_as_arrays():
    texts = []
    imprint.jit(lambda m: texts.append(repr(m)))(Pair(np.ones(2)))
    assert texts == ["Pair(first=f32[2], second=None)"]


def test_a_narrow_page():
    text = tree_pformat({"a": [1, 2], "b": (Pair(1),)}, width=14, indent=4)
    assert text == (
        "{\n"
        "    'a': [\n"
        "        1, 2\n"
        "    ],\n"
        "    'b': (\n"
        "        Pair(\n"
        "            first=1,\n"
        "            second=None\n"
        "        ),\n"
        "    )\n"
        "}"
    )


def test_lines_have_the_given_width():
    text = "[1, 2]"
    assert tree_pformat([1, 2], width=len(text)) == text
    assert tree_pformat([1, 2], width=len(text) - 1) == "[\n  1,\n  2\n]"
    assert tree_pformat([10, 2], width=7) == "[10, 2]"
    assert tree_pformat([10, 2], width=6) == "[\n  10,\n  2\n]"
    assert tree_pformat((1, 2, 3), width=9) == "(1, 2, 3)"
    assert tree_pformat({"a": 1, "b": 2}, width=14) == "{\n  'a': 1,\n  'b': 2\n}"
    assert tree_pformat([[1, 2], 3], width=9) == "[\n  [1, 2],\n  3\n]"
    assert tree_pformat([[1, 2], 3], width=8) == "[\n  [\n    1, 2\n  ],\n  3\n]"
    assert tree_pformat([[1, 2], 3], width=7) == ("[\n  [\n    1,\n    2\n  ],\n  3\n]")


def test_arrays_by_value():
    text = tree_pformat(Pair(np.eye(2), 1), short_arrays=False)
    assert text == (
        "Pair(\n"
        "  first=Array([[1., 0.],\n"
        "               [0., 1.]], dtype=float32),\n"
        "  second=1\n"
        ")"
    )


def test_truncated_parts():
    model = Pair(Linear(2), 1)
    text = tree_pformat(model, truncate_leaf=lambda x: isinstance(x, Linear))
    assert text == "Pair(first=Linear(...), second=1)"


def test_an_unset_field_is_left_out():
    texts = []

    class Slow(Module):
        a: int
        b: int

        def __init__(self):
            self.b = 1
            texts.append(repr(self))
            self.a = 2

    Slow()
    assert texts == ["Slow(b=1)"]


def test_the_text_of_a_container_that_holds_itself():
    items = [1]
    items.append(items)
    assert tree_pformat(items) == "[1, ...]"
    assert tree_pformat([items[:1], items[:1]]) == "[[1], [1]]"


def test_print(capsys):
    tree_pprint(Activated(np.ones(2), relu), width=20)
    assert capsys.readouterr().out == (
        "Activated(\n  weight=f32[2],\n  activation=<function relu>\n)\n"
    )

import functools
from types import FunctionType

import numpy as np
import pytest

from imprint._src.jit.explain.fingerprint_diff import disagreements
from imprint._src.jit.fingerprint.callables import definition_token
from imprint._src.jit.fingerprint.static_values import static_token
from imprint._src.jit.fingerprint.wording import show
from tests.units.callables import (
    MODEL,
    OTHER,
    Model,
    Scale,
    Speaking,
    attributed,
    decorated,
    scaled,
    with_default,
    with_keyword,
)


class ByValue:
    def __init__(self, a):
        self.a = a

    def __eq__(self, other):
        return self.a == other.a

    def __hash__(self):
        return hash(self.a)


def reported(one, other):
    found = disagreements(definition_token(one), definition_token(other))
    return [tuple(d) for d in found]


def test_equal_definitions_do_not_differ():
    assert reported(scaled(1), scaled(1)) == []


CHANGES = [
    (scaled(0), scaled(1), ("closure variable a", "0", "1")),
    (scaled(0), scaled(0.0), ("closure variable a", "0", "0.0")),
    (scaled(-0.0), scaled(0.0), ("closure variable a", "-0.0", "0.0")),
    (scaled(1), scaled(True), ("closure variable a", "1", "True")),
    (scaled(1j), scaled(2j), ("closure variable a", "1j", "2j")),
    (with_default(2), with_default(3), ("default of k", "2", "3")),
    (with_keyword(2), with_keyword(3), ("default of k", "2", "3")),
    (attributed(1), attributed("b"), ("attribute mark", "1", "'b'")),
    (scaled((1, 2)), scaled((1, 3)), ("closure variable a[1]", "2", "3")),
    (scaled((1, 2)), scaled((1,)), ("closure variable a", "(1, 2)", "(1,)")),
    (scaled([1]), scaled([1, 2]), ("closure variable a", "[1]", "[1, 2]")),
    (scaled({"k": 1}), scaled({"k": 2}), ("closure variable a['k']", "1", "2")),
    (
        scaled({"k": 1}),
        scaled({"m": 1}),
        ("closure variable a", "{'k': 1}", "{'m': 1}"),
    ),
    (scaled({2, 1}), scaled({3}), ("closure variable a", "{1, 2}", "{3}")),
    (
        scaled(Scale(1.0, "u")),
        scaled(Scale(2.0, "u")),
        ("closure variable a.factor", "1.0", "2.0"),
    ),
    (
        scaled(Scale(1.0)),
        scaled(1),
        ("closure variable a", "Scale(factor=1.0, name='')", "1"),
    ),
    (
        scaled(scaled(1)),
        scaled(scaled(2)),
        ("closure variable a in closure variable a", "1", "2"),
    ),
    (
        functools.partial(max, 1),
        functools.partial(max, 2),
        ("arguments[0]", "1", "2"),
    ),
    (
        functools.partial(scaled(1), k=1),
        functools.partial(scaled(2), k=1),
        ("closure variable a in function", "1", "2"),
    ),
    (
        Speaking(scaled(1), 3),
        Speaking(scaled(1), 4),
        ("[1][0]", "3", "4"),
    ),
    (
        decorated(with_default(1)),
        decorated(with_default(2)),
        ("default of k", "1", "2"),
    ),
    (
        MODEL.step,
        OTHER.step,
        ("self", "Model object", "another Model object"),
    ),
    (
        scaled(np),
        scaled(functools),
        ("closure variable a", "module numpy", "module functools"),
    ),
    (
        scaled(int),
        scaled(len),
        ("closure variable a", "class int", "builtin function len"),
    ),
]


@pytest.mark.parametrize(("one", "other", "change"), CHANGES)
def test_a_change_is_named(one, other, change):
    assert change in reported(one, other)


def test_a_constant_is_named_with_its_place():
    one = lambda x: x + 1.0
    other = lambda x: x + 2.0
    renamed = other.__code__.replace(co_varnames=("x",))
    other.__code__ = renamed
    line = other.__code__.co_firstlineno
    assert reported(one, other) == [
        (f"constant in <lambda> at line {line}", "1.0", "2.0")
    ]


def test_a_constant_of_a_nested_function_is_named():
    def one():
        return lambda x: x + 1

    first = definition_token(one)

    def one():
        return lambda x: x + 5

    (change,) = disagreements(first, definition_token(one))
    assert change.path.startswith("constant in <lambda> at line ")
    assert (change.old, change.new) == ("1", "5")


def test_a_name_that_is_read_is_named():
    one, other = (lambda x: abs(x)), (lambda x: len(x))
    line = other.__code__.co_firstlineno
    assert reported(one, other) == [
        (f"name read in <lambda> at line {line}", "abs", "len")
    ]


def test_other_code_is_named_by_its_place():
    one = lambda x: x * 0.15625  # in no other test
    other = lambda x: x + 0.15625
    ((path, old, new),) = reported(one, other)
    assert path == "code"
    assert old.startswith("<lambda> at test_fingerprint_diff.py:")
    assert new.startswith("<lambda> at test_fingerprint_diff.py:")


def test_several_changes_are_all_named():
    one, other = Scale(1.0, "a"), Scale(2.0, "b")
    assert len(reported(one, other)) == 2


def test_a_static_argument_is_named():
    one, other = Scale(1.0), Scale(2.0)
    found = disagreements(static_token(one, "cfg"), static_token(other, "cfg"), "cfg")
    assert found == [("cfg.factor", "1.0", "2.0")]
    assert disagreements(3, 4, "n") == [("n", "3", "4")]


def test_an_attribute_of_a_static_value_is_named():
    one, other = ByValue(1), ByValue(2)
    before, after = static_token(one, "self"), static_token(other, "self")
    assert disagreements(before, after, "self") == [("self.a", "1", "2")]
    other.extra = [1]
    found = disagreements(before, after, "self")
    assert found == [("self.a", "1", "2"), ("self.extra", "<absent>", "[1]")]


def test_a_changed_object_is_reported_as_a_whole():
    value = ByValue(1)
    before = static_token(value, "self")
    value.a = 2
    ((path, _, new),) = disagreements(before, static_token(value, "self"), "self")
    assert (path, new.startswith("another ")) == ("self", True)


def test_a_deep_stack_of_decorators_is_reported_once():
    one, other = scaled(1), scaled(2)
    for _ in range(40):  # each holds the next in a cell and in __wrapped__
        one, other = decorated(one), decorated(other)
    assert reported(one, other) == [("closure variable a", "1", "2")]


def test_a_nameless_object_is_reported_as_a_whole():
    first, second = ({"a": 1, "b": 2}, {"b": 2, "a": 1})
    assert reported(scaled(first), scaled(second))


def test_long_values_are_cut():
    assert len(show(definition_token(scaled("a" * 1000)).content[-1])) <= 60
    assert all(
        len(text) <= 60
        for change in reported(scaled(["a" * 50] * 50), scaled(1))
        for text in change[1:]
    )


def test_a_dead_object_is_still_named():
    token = definition_token(scaled(Model()))
    found = disagreements(token, definition_token(scaled(1)))
    assert found == [("closure variable a", "Model object", "1")]


def test_defaults_that_no_parameter_takes_have_no_name():
    def bare():
        return 0

    given = FunctionType(bare.__code__, bare.__globals__, argdefs=(0,))
    assert [slot for slot, *_ in reported(bare, given)] == ["function"]
    more, one = with_default(1), with_default(2)
    more.__defaults__ = 3, *more.__defaults__, *more.__defaults__, 4
    assert reported(more, one)[-1] == ("default of k", "4", "2")

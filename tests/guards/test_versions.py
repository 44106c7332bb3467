"""Versions are kept for values that come back; explanations name the changed place."""

import dataclasses
import functools
import types

import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from tests.guards.programs import X, library_module, traces, user_module

pytestmark = pytest.mark.unaudited  # they count traces


class Settings:
    rate = 2.0


def helper(x, rate=2.0):
    return x * rate


def attribute():
    settings = Settings()
    return (lambda x: x * settings.rate), lambda value: setattr(settings, "rate", value)


def attribute_of_a_class():
    class Owner:
        rate = 2.0

    owner = Owner()
    return (lambda x: x * owner.rate), lambda value: setattr(Owner, "rate", value)


def attribute_of_a_module():
    settings = user_module("guards_settings", rate=2.0)
    return (lambda x: x * settings.rate), lambda value: setattr(settings, "rate", value)


def attribute_of_a_library_module():
    library = library_module("guards_library", "rate = 2.0")
    return (lambda x: x * library.rate), lambda value: setattr(library, "rate", value)


def item():
    config = {"rate": 2.0, "n": 0}
    return (lambda x: x * config["rate"]), lambda value: config.update(rate=value)


def item_of_a_list():
    rates = [2.0]

    def f(x):
        for value in rates:
            x = x * value
        return x

    return f, lambda value: rates.__setitem__(0, value)


def default():
    def scaled(x, rate=2.0):
        return x * rate

    def edit(value):
        scaled.__defaults__ = (value,)

    return (lambda x: scaled(x)), edit


def variable():
    rate = 2.0

    def edit(value):
        nonlocal rate
        rate = value

    return (lambda x: x * rate), edit


def global_variable():
    names = {"rate": 2.0}
    return eval("lambda x: x * rate", names), lambda value: names.update(rate=value)


def nested():
    settings = types.SimpleNamespace(rate=2.0)
    inner = imprint.jit(lambda x: x * settings.rate)
    return (lambda x: inner(x)), lambda value: setattr(settings, "rate", value)


PLACES = {
    "attribute": attribute,
    "attribute of a class": attribute_of_a_class,
    "attribute of a module": attribute_of_a_module,
    "attribute of a library module": attribute_of_a_library_module,
    "default": default,
    "global": global_variable,
    "item": item,
    "item of a list": item_of_a_list,
    "nested": nested,
    "variable": variable,
}
# Captured values are part of a function's definition as well.
CAPTURED = {"default", "item", "item of a list", "variable"}
each = pytest.mark.parametrize("name", PLACES)


@each
def test_a_restored_value_hits_its_version(name):
    plain, edit = PLACES[name]()
    fun = imprint.jit(plain)
    for value in (2.0, 3.0, 5.0):
        edit(value)
        assert fun(X) == 2.0 * value
    before = traces()
    for value in (2.0, 5.0, 3.0, 2.0, 3.0):
        edit(value)
        assert fun(X) == 2.0 * value
    assert traces() == before


@each
def test_an_explanation_names_the_place(name):
    plain, edit = PLACES[name]()
    fun = imprint.jit(plain)
    fun(X)
    assert fun.explain(X).hit
    edit(7.25)  # a value of no other test, whose versions would appear as dropped
    explanation = fun.explain(X)
    assert not explanation.hit
    assert "rate" in str(explanation)
    assert "7.25" in str(explanation)
    fun(X)
    assert "rate" in str(fun.last_miss)
    edit(2.0)
    assert fun.explain(X).hit


@pytest.mark.parametrize("name", [name for name in PLACES if name not in CAPTURED])
def test_a_place_is_among_those_watched(name):
    plain, _ = PLACES[name]()
    fun = imprint.jit(plain)
    fun(X)
    (version,) = fun.versions
    assert any("rate" in str(place) for place in version.watched)


@each
def test_there_is_one_version_for_each_value(name):
    plain, edit = PLACES[name]()
    fun = imprint.jit(plain)
    for value in (2.0, 3.0, 2.0, 3.0):
        edit(value)
        fun(X)
    count = 4 if name == "nested" else 2  # an inner function has versions as well
    assert imprint.cache.stats().versions <= count


# ---- functions that are made again ----


class Layer:
    def __init__(self, rate):
        self.rate = rate

    def scaled(self, x):
        return x * self.rate


@dataclasses.dataclass(frozen=True)
class Frozen:
    rate: float


def over(value):
    return lambda x: x * value


def over_attribute(owner):
    return lambda x: x * owner.rate


def over_first(items):
    return lambda x: x * items[0]


def over_function(fun):
    return lambda x: fun(x)


def over_parts(parts):
    return lambda x: parts[0].scaled(x)


# Each makes a function of a number.
REMADE = {
    "number": over,
    "array": lambda k: over(inp.float32(k)),
    "numpy array": lambda k: over(np.array(k, "float32")),
    "list": lambda k: over_first([k, 1]),
    "object": lambda k: over_attribute(Layer(k)),
    "namespace": lambda k: over_attribute(types.SimpleNamespace(rate=k)),
    "frozen dataclass": lambda k: over_attribute(Frozen(k)),
    "function": lambda k: over_function(over(k)),
    "partial": lambda k: functools.partial(helper, rate=k),
    "bound method": lambda k: Layer(k).scaled,
    "object in a list": lambda k: over_parts([Layer(k)]),
}


# An array on a device is compared by identity: a read would wait for its computation.
@pytest.mark.parametrize("name", [name for name in REMADE if name != "array"])
def test_functions_made_again_share_a_trace(name):
    make = REMADE[name]
    kept = imprint.jit(make(2.0))
    kept(X)
    before = traces()
    for _ in range(5):
        assert imprint.jit(make(2.0))(X) == 4.0
    assert traces() == before


@pytest.mark.parametrize("name", REMADE)
def test_functions_made_of_another_value_do_not(name):
    make = REMADE[name]
    for k in (2.0, 3.0, 2.0):
        assert imprint.jit(make(k))(X) == 2.0 * k


def test_a_function_at_two_locations_is_one_only_while_both_hold_it():
    module = user_module("guards_twice")

    def run(text):
        exec(compile(text, module.__file__, "exec"), vars(module))

    run("def rate(a=2.0): return a")
    run("def make(f): return lambda x: x * f() + 10 * rate()")

    def made():
        return imprint.jit(module.make(module.rate))

    first = made()
    assert first(X) == 24.0
    run("def rate(a=2.0): return a")
    second = made()
    assert first(X) == second(X) == 24.0
    run("def rate(a=4.0): return a")
    assert [f(X) for f in (first, second, made())] == [44.0, 44.0, 48.0]

"""Functions in registries, generators, expressions and calls with `*args`."""

import itertools

import pytest

from tests.guards.programs import BACK, CELLS, Programs, check_edits, user_module

stale = Programs()
pytestmark = pytest.mark.unaudited  # they count traces


@stale.each
def test_an_edit_is_seen(program):
    check_edits(program())


# ---- registries ----


@stale
def registry_of_functions():
    class Config:
        act = "double"

    rate = 2.0
    config = Config()

    def double(x):
        return x * rate

    def shift(x):
        return x + 10.0

    table = {"double": double, "shift": shift}

    def f(x):
        return table[config.act](x)

    yield f
    config.act = "shift"
    yield
    config.act = "double"
    yield BACK
    rate = 3.0
    yield
    rate = 2.0
    yield BACK
    table["double"] = shift
    yield
    table["double"] = double
    yield BACK


@stale
def list_of_callbacks():
    rate = 2.0

    def scale(x):
        return x * rate

    def shift(x):
        return x + 1.0

    callbacks = [scale]

    def f(x):
        for callback in callbacks:
            x = callback(x)
        return x

    yield f
    callbacks.append(shift)
    yield
    callbacks.reverse()
    yield
    callbacks.remove(shift)
    yield BACK
    rate = 3.0
    yield
    callbacks[0] = shift
    yield


@stale
def functions_registered_by_a_decorator():
    registry = {}
    rate = 2.0

    def register(name):
        def keep(fun):
            registry[name] = fun
            return fun

        return keep

    @register("a")
    def first(x):
        return x * rate

    def f(x):
        for fun in registry.values():
            x = fun(x)
        return x

    yield f
    rate = 3.0
    yield
    rate = 2.0
    yield BACK
    register("b")(lambda x: x + 1.0)
    yield
    del registry["b"]
    yield BACK
    register("a")(lambda x: x - 1.0)
    yield


# ---- generators and expressions ----


@stale
def generator_that_was_started_before():
    rate = 2.0

    def numbers():
        while True:
            yield rate

    source = numbers()
    next(source)

    def f(x):
        return x * next(source)

    yield f
    rate = 3.0
    yield
    rate = 2.0
    yield BACK


@stale
def generator_that_yields_a_module():
    settings = user_module("guards_settings", rate=2.0)
    source = itertools.repeat(settings)
    again = (module for module in source)

    def f(x):
        return x * next(again).rate

    yield f
    settings.rate = 3.0
    yield
    settings.rate = 2.0
    yield BACK


@stale
def generator_that_yields_a_class():
    class Slow:
        rate = 2.0

    class Fast:
        rate = 3.0

    class Settings(Slow):
        pass

    source = itertools.repeat(Settings)

    def f(x):
        return x * next(source).rate

    yield f
    Settings.__bases__ = (Fast,)
    yield
    Settings.__bases__ = (Slow,)
    yield BACK


@stale
def generator_over_an_object():
    class Settings:
        rates = (2.0, 3.0)

    settings = Settings()

    def numbers():
        yield from settings.rates

    def f(x):
        for number in numbers():
            x = x * number
        return x

    yield f
    settings.rates = (5.0,)
    yield
    settings.rates = (2.0, 3.0)
    yield BACK


@stale
def comprehension_over_objects():
    class Layer:
        def __init__(self, rate):
            self.rate = rate

    layers = [Layer(2.0), Layer(3.0)]

    def f(x):
        return x * sum([layer.rate for layer in layers])

    yield f
    layers[1].rate = 5.0
    yield
    layers[1].rate = 3.0
    yield BACK


@stale
def generator_expression_over_objects():
    class Layer:
        def __init__(self, rate):
            self.rate = rate

    layers = (Layer(2.0), Layer(3.0))

    def f(x):
        return x * sum(layer.rate for layer in layers)

    yield f
    layers[1].rate = 5.0
    yield
    layers[1].rate = 3.0
    yield BACK


@stale
def dict_comprehension_with_a_condition():
    class Settings:
        low = 1.0

    settings = Settings()
    table = {"a": 0.5, "b": 2.0, "c": 3.0}

    def f(x):
        return x * sum({k: v for k, v in table.items() if v > settings.low}.values())

    yield f
    settings.low = 2.5
    yield
    settings.low = 1.0
    yield BACK


@stale
def lambda_in_a_class_body():
    rate = 2.0

    class Model:
        act = lambda self, x: x * rate

    model = Model()

    def f(x):
        return model.act(x)

    yield f
    rate = 3.0
    yield
    rate = 2.0
    yield BACK
    Model.act = lambda self, x: x + rate + 10.0
    yield


@stale
def object_passed_through_star_args():
    class Settings:
        rate = 2.0

    settings = Settings()

    def call(fun, *args, **kwargs):
        return fun(*args, **kwargs)

    def scaled(x, owner):
        return x * owner.rate

    def f(x):
        return call(scaled, x, owner=settings) + call(scaled, x, settings)

    yield f
    settings.rate = 3.0
    yield
    del settings.rate
    yield BACK
    Settings.rate = 5.0
    yield


@stale
def object_returned_by_a_helper():
    class Settings:
        def __init__(self, rate):
            self.rate = rate

    table = {"a": Settings(2.0), "b": Settings(3.0)}

    def find(name):
        return table[name]

    def f(x):
        owner = find("b")
        return x * owner.rate

    yield f
    table["b"].rate = 5.0
    yield
    table["b"].rate = 3.0
    yield BACK


@stale.only(CELLS)
def closure_over_an_object_that_is_rebound():
    class Settings:
        def __init__(self, rate):
            self.rate = rate

    def make():
        settings = Settings(2.0)

        def f(x):
            return x * settings.rate

        def use(rate):
            nonlocal settings
            settings = Settings(rate)

        return f, use

    f, use = make()
    yield f
    use(3.0)
    yield
    use(2.0)
    yield BACK

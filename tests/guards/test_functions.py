"""Functions behind wrappers: partials, caches, decorators and bound methods."""

import collections
import functools

import pytest

import imprint
from tests.guards.programs import BACK, Programs, check_edits

stale = Programs()
pytestmark = pytest.mark.unaudited  # they count traces


@stale.each
def test_an_edit_is_seen(program):
    check_edits(program())


@stale
def partial_of_a_helper():
    rate, more = 2.0, 0.0

    def helper(x, factor):
        return x * factor + more

    scaled = functools.partial(helper, factor=rate)

    def f(x):
        return scaled(x)

    yield f
    more = 1.0
    yield
    more = 0.0
    yield BACK
    scaled = functools.partial(helper, factor=3.0)
    yield
    scaled = functools.partial(helper, factor=2.0)
    yield BACK


@stale
def partial_over_an_object():
    class Settings:
        rate = 2.0

    settings = Settings()
    scaled = functools.partial(lambda s, x: x * s.rate, settings)

    def f(x):
        return scaled(x)

    yield f
    settings.rate = 3.0
    yield
    settings.rate = 2.0
    yield BACK


@stale
def cached_function():
    rate = 2.0

    @functools.lru_cache
    def factor():
        return rate * 2.0

    def f(x):
        return x * factor()

    yield f
    rate = 3.0
    factor.cache_clear()
    yield
    rate = 2.0
    factor.cache_clear()
    yield BACK


@stale
def cached_function_that_was_called_before():
    rate = 2.0

    @functools.cache
    def factor(n):
        return rate * n

    factor(2)

    def f(x):
        return x * factor(2)

    yield f
    rate = 3.0
    factor.cache_clear()
    yield
    rate = 2.0
    factor.cache_clear()
    yield BACK


@stale
def function_behind_singledispatch():
    rate = 2.0

    @functools.singledispatch
    def factor(n):
        return 1.0

    @factor.register
    def _(n: str):
        return rate

    def f(x):
        return x * factor("a")

    yield f
    rate = 3.0
    yield
    rate = 2.0
    yield BACK


@stale
def function_behind_wraps():
    rate, more = 2.0, 1.0

    def decorate(fun):
        @functools.wraps(fun)
        def wrapper(x):
            return fun(x) + more

        return wrapper

    @decorate
    def helper(x):
        return x * rate

    def f(x):
        return helper(x)

    yield f
    rate = 3.0
    yield
    rate = 2.0
    yield BACK
    more = 5.0
    yield
    helper.__wrapped__.__code__ = (lambda x: x * rate + 40.0).__code__
    yield


@stale
def class_that_wraps_a_function():
    class Wrapper:
        def __init__(self, fun):
            self.fun = fun

        def __call__(self, x):
            return self.fun(x)

    @Wrapper
    def helper(x):
        return x * 2.0

    def f(x):
        return helper(x)

    yield f
    kept, helper.fun = helper.fun, lambda x: x * 3.0
    yield
    helper.fun = kept
    yield BACK


@stale
def jitted_bound_method():
    class Model:
        def __init__(self):
            self.rate = 2.0

        def run(self, x):
            return x * self.rate

    model = Model()
    yield model.run
    model.rate = 3.0
    yield
    model.rate = 2.0
    yield BACK
    Model.run.__code__ = (lambda self, x: x + self.rate + 40.0).__code__
    yield


@stale
def bound_method_in_a_variable():
    class Model:
        rate = 2.0

        def run(self, x):
            return x * self.rate

    model = Model()
    run = model.run

    def f(x):
        return run(x)

    yield f
    model.rate = 3.0
    yield
    del model.rate
    yield BACK
    Model.rate = 5.0
    yield


@pytest.mark.parametrize("new", [list, functools.partial(int, 2), len, None], ids=repr)
def test_a_function_that_died_is_replaced_by_anything(new):
    table = collections.defaultdict(lambda: 1.0, a=2.0)

    @imprint.jit
    def f(x):
        return x * table["a"] + len(table)

    assert f(2.0) == 5.0
    table.default_factory = new
    assert f(2.0) == 5.0

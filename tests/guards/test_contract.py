"""A global, builtin, closure variable, default or function that changes is seen."""

import builtins
import contextlib
import math
import types

import pytest

from tests.guards.programs import (
    BACK,
    GLOBALS,
    Programs,
    check_edits,
    user_module,
)

stale = Programs()
pytestmark = pytest.mark.unaudited  # they count traces


@stale.each
def test_an_edit_is_seen(program):
    check_edits(program())


# ---- variables ----


@stale
def variable():
    rate = 2.0

    def f(x):
        return x * rate

    yield f
    rate = 3.0
    yield
    rate = 2.0
    yield BACK


@stale
def variable_of_a_nested_function():
    rate = 2.0

    def f(x):
        def inner(y):
            return y * rate

        return inner(x)

    yield f
    rate = 3.0
    yield
    rate = 2.0
    yield BACK


@stale
def variable_set_by_a_function():
    rate = 2.0

    def use(value):
        nonlocal rate
        rate = value

    def f(x):
        return x * rate

    yield f
    use(3.0)
    yield
    use(2.0)
    yield BACK


@stale
def variable_that_is_missing_at_first():
    def f(x):
        try:
            return x * rate
        except NameError:
            return x

    yield f
    rate = 3.0
    yield
    del rate
    yield BACK


@stale
def variable_swapped_in_a_with_block():
    rate = 2.0

    @contextlib.contextmanager
    def using(value):
        nonlocal rate
        old, rate = rate, value
        try:
            yield
        finally:
            rate = old

    def f(x):
        with using(5.0):
            y = x * rate
        return y + rate

    yield f
    rate = 3.0
    yield
    rate = 2.0
    yield BACK


@stale
def variable_swapped_in_try_finally():
    rate = 2.0

    def scaled(x):
        return x * rate

    def f(x):
        nonlocal rate
        old, rate = rate, rate * 4.0
        try:
            return scaled(x)
        finally:
            rate = old

    yield f
    rate = 3.0
    yield
    rate = 2.0
    yield BACK


@stale
def variable_that_the_trace_fills_in():
    start, memo = 2.0, None

    def f(x):
        nonlocal memo
        if memo is None:
            memo = start
        return x * memo

    yield f
    memo = 3.0
    yield
    memo = 2.0
    yield BACK


@stale
def lazy_singleton():
    class Settings:
        def __init__(self):
            self.rate = start

    start, instance = 2.0, None

    def get():
        nonlocal instance
        if instance is None:
            instance = Settings()
        return instance

    def f(x):
        return x * get().rate

    yield f
    get().rate = 3.0
    yield
    get().rate = 2.0
    yield BACK
    start, instance = 5.0, None
    get()
    yield
    start, instance = 7.0, None
    yield


@stale.only(GLOBALS)
def global_that_shadows_a_builtin():
    def f(x):
        return abs(x) + 1.0

    yield f
    globals()["abs"] = lambda x: x * 5.0
    yield
    globals()["abs"] = lambda x: x * 7.0
    yield
    del globals()["abs"]
    yield BACK


@stale
def builtin():
    kept = builtins.round

    def f(x):
        return x * round(2.4)

    yield f
    builtins.round = lambda x: 5
    yield
    builtins.round = kept
    yield BACK


@stale
def attribute_of_a_library_module():
    kept = math.tau

    def f(x):
        return x * math.tau

    yield f
    math.tau = 6.0
    yield
    math.tau = kept
    yield BACK


@stale
def import_in_a_function():
    settings = user_module("guards_settings", rate=2.0)

    def f(x):
        import guards_settings  # noqa: PLC0415 - the program is about it

        return x * guards_settings.rate

    yield f
    settings.rate = 3.0
    yield
    settings.rate = 2.0
    yield BACK


@stale
def import_of_a_name_in_a_function():
    settings = user_module("guards_settings", rate=2.0)

    def f(x):
        try:
            from guards_settings import more  # noqa: PLC0415 - the program is about it
        except ImportError:
            from guards_settings import rate as more  # noqa: PLC0415 - as above
        return x * more

    yield f
    settings.rate = 3.0
    yield
    settings.more = 5.0
    yield
    del settings.more
    settings.rate = 2.0
    yield BACK


# ---- defaults and code of helpers ----


@stale
def default_of_a_helper():
    def helper(x, rate=2.0):
        return x * rate

    def f(x):
        return helper(x)

    yield f
    helper.__defaults__ = (3.0,)
    yield
    helper.__defaults__ = None
    yield
    helper.__defaults__ = (2.0,)
    yield BACK


@stale
def keyword_default_of_a_helper():
    def helper(x, *, rate=2.0):
        return x * rate

    def f(x):
        return helper(x)

    yield f
    helper.__kwdefaults__ = {"rate": 3.0}
    yield
    helper.__kwdefaults__["rate"] = 5.0
    yield
    helper.__kwdefaults__["rate"] = 2.0
    yield BACK


@stale
def default_of_the_function_itself():
    def f(x, rate=2.0):
        return x * rate

    yield f
    f.__defaults__ = (3.0,)
    yield
    f.__defaults__ = (2.0,)
    yield BACK


@stale
def object_that_is_a_default():
    class Settings:
        rate = 2.0

    settings = Settings()

    def helper(x, settings=settings):
        return x * settings.rate

    def f(x):
        return helper(x)

    yield f
    settings.rate = 3.0
    yield
    del settings.rate
    yield BACK


@stale
def list_that_is_a_default():
    steps = [2.0, 3.0]

    def helper(x, steps=steps):
        for step in steps:
            x = x * step
        return x

    def f(x):
        return helper(x)

    yield f
    steps.append(5.0)
    yield
    steps.pop()
    yield BACK


@stale
def code_of_a_helper():
    def helper(x):
        return x * 2.0

    def f(x):
        return helper(x)

    yield f
    kept, helper.__code__ = helper.__code__, (lambda x: x + 5.0).__code__
    yield
    helper.__code__ = kept
    yield BACK


@stale
def code_of_the_function_itself():
    def f(x):
        return x * 2.0

    yield f
    kept, f.__code__ = f.__code__, (lambda x: x + 5.0).__code__
    yield
    f.__code__ = kept
    yield BACK


@stale
def helper_defined_again():
    def helper(x):
        return x * 2.0

    def f(x):
        return helper(x)

    yield f
    kept, helper = helper, lambda x: x + 5.0
    yield
    helper = kept
    yield BACK


@stale
def attribute_of_a_function():
    def helper(x):
        return x * helper.rate

    helper.rate = 2.0

    def f(x):
        return helper(x)

    yield f
    helper.rate = 3.0
    yield
    helper.rate = 2.0
    yield BACK


@stale
def one_code_with_two_globals():
    code = compile("def helper(x): return x * rate", "guards_text.py", "exec")
    one, two = {"rate": 2.0}, {"rate": 3.0}
    exec(code, one)
    exec(code, two)
    first, second = one["helper"], two["helper"]

    def f(x):
        return first(x) + second(x)

    yield f
    two["rate"] = 5.0
    yield
    two["rate"] = 3.0
    yield BACK
    one["rate"] = 7.0
    yield


@stale
def one_code_in_two_functions():
    def helper(x):
        return x * weight  # noqa: F821 - the globals are given below

    one, two = {"weight": 2.0}, {"weight": 3.0}
    first = types.FunctionType(helper.__code__, one)
    second = types.FunctionType(helper.__code__, two)

    def f(x):
        return first(x) + second(x)

    yield f
    two["weight"] = 5.0
    yield
    two["weight"] = 3.0
    yield BACK
    one["weight"] = 7.0
    yield


@stale
def two_closures_of_one_maker():
    def make(rate):
        def scaled(x):
            return x * rate

        def use(value):
            nonlocal rate
            rate = value

        return scaled, use

    first, _ = make(2.0)
    second, use = make(3.0)

    def f(x):
        return first(x) + second(x)

    yield f
    use(5.0)
    yield
    use(3.0)
    yield BACK

"""Functions that are re-created: one trace and one compilation for all of them.

Also changes that are none: counters that a trace writes, a global that is bound back, code
that a tool replaces with equal code.
"""

import dataclasses
import functools
import types

import pytest

import imprint
import imprint.numpy as inp
from imprint._src.jit.compilation.counters import COUNTERS
from tests.spec.work import Work, work_of
from tests.units.modules import fill, make_module

FACTOR = 2.0
MANY = 100


@dataclasses.dataclass(frozen=True)
class Scale:
    factor: float
    rates: tuple[float, ...] = (1.0, 2.0)

    def __call__(self, x):
        return x * self.factor + self.rates[0]

    def method(self, x):
        return x * self.factor


class Model:
    def __init__(self, rate):
        self.rate = rate

    def step(self, x):
        return x * self.rate

    def compute(self, x):
        @imprint.jit
        def _compute(x):
            return x * self.rate

        return _compute(x)


def scaled(factor):
    return lambda x: x * factor


def decorated(fun):
    @functools.wraps(fun)
    def wrapper(*args):
        return fun(*args)

    return wrapper


def with_defaults(factor):
    def f(x, k=factor, *, offset=(1.0, 2.0)):
        return x * k + offset[0]

    return f


def recursive(n):
    def power(x, k):
        return x if k == 0 else x * power(x, k - 1)

    return lambda x: power(x, n)


MODEL = Model(3.0)
ARRAY = inp.ones(3)

# Each re-creates a function; all functions that one makes are one definition.
FAMILIES = {
    "lambda": lambda: lambda x: inp.sin(x) + 1,
    "lambda with a global": lambda: lambda x: x * FACTOR,
    "closure": lambda: scaled(2.5),
    "closure of closures": lambda: (lambda f, g: lambda x: f(g(x)))(
        scaled(2.5), decorated(scaled(3.5))
    ),
    "closure over a list": lambda: (lambda a: lambda x: x * a[0] + a[1]["b"])(
        [2.0, {"b": 1}]
    ),
    "closure over an array": lambda: (lambda a: lambda x: (x * a).sum())(ARRAY),
    "recursion": lambda: recursive(3),
    "defaults": lambda: with_defaults(2.5),
    "partial": lambda: functools.partial(lambda a, x: a * x, 2.0),
    "partial with keywords": lambda: functools.partial(lambda x, *, a: a * x, a=2.0),
    "partial of a partial": lambda: functools.partial(functools.partial(scaled(2.0))),
    "bound method": lambda: MODEL.step,
    "method by hand": lambda: types.MethodType(lambda self, x: x * self.rate, MODEL),
    "callable dataclass": lambda: Scale(2.0),
    "method of a dataclass": lambda: Scale(2.0).method,
    "decorated": lambda: decorated(lambda x: x * 2),
    "decorated twice": lambda: decorated(decorated(lambda x: x * 2)),
    "gradient": lambda: imprint.grad(scaled(2.5)),
    "vmap": lambda: lambda x: imprint.vmap(scaled(2.5))(x[None])[0],
    "function of a text": lambda: eval("lambda x: x - 1"),
}


@pytest.mark.parametrize("name", FAMILIES)
def test_a_family_is_traced_and_compiled_once(name):
    make = FAMILIES[name]
    x = inp.float32(2)
    expected = make()(x)
    found = []
    work = work_of(lambda: found.extend(imprint.jit(make())(x) for _ in range(MANY)))
    assert work == Work(traces=1, compiles=1)
    assert {float(y) for y in found} == {float(expected)}


@pytest.mark.parametrize("name", FAMILIES)
def test_a_family_of_inner_jits_is_traced_once(name):
    """Inside traced code too: `jit` of an equal function takes the trace of the first."""
    make = FAMILIES[name]

    @imprint.jit
    def outer(x):
        return sum(imprint.jit(make())(x) for _ in range(5))

    assert work_of(lambda: outer(inp.float32(2))) == Work(traces=2, compiles=1)


def test_the_pattern_of_a_function_made_in_a_method():
    model = Model(3.0)
    x = inp.float32(2)
    assert work_of(lambda: [model.compute(x) for _ in range(MANY)]) == Work(1, 1)
    model.rate = 5.0
    assert work_of(lambda: [model.compute(x) for _ in range(MANY)]) == Work(1, 1)
    assert model.compute(x) == 10.0
    model.rate = 3.0
    assert work_of(lambda: model.compute(x)) == Work(0, 0)
    assert model.compute(x) == 6.0


@pytest.mark.unaudited
def test_a_method_with_a_counter_of_traces_still_sees_its_object():
    class Counting(Model):
        traces = 0

        def compute(self, x):
            @imprint.jit
            def _compute(x):
                self.traces += 1
                return x * self.rate

            return _compute(x)

    model = Counting(3.0)
    assert [float(model.compute(2.0)) for _ in range(4)] == [6.0] * 4
    model.rate = 5.0
    assert [float(model.compute(2.0)) for _ in range(4)] == [10.0] * 4
    assert model.traces == 2


def test_a_family_with_other_values_has_a_version_for_each():
    found = [float(imprint.jit(scaled(float(i % 3)))(1.0)) for i in range(30)]
    assert found == [0.0, 1.0, 2.0] * 10
    work = work_of(lambda: [imprint.jit(scaled(float(i)))(1.0) for i in range(3)])
    assert work == Work(0, 0)


def test_a_jitted_function_in_a_closure_is_compared_by_its_code():
    def make():
        inner = imprint.jit(scaled(2.0))
        return imprint.jit(lambda x: inner(x) + 1)

    assert work_of(lambda: [make()(1.0) for _ in range(MANY)]) == Work(2, 1)


def test_recreated_static_functions_are_one_argument():
    @functools.partial(imprint.jit, static_argnums=1)
    def apply(x, fun):
        return fun(x)

    assert work_of(lambda: [apply(1.0, scaled(2.0)) for _ in range(MANY)]) == Work(1, 1)
    assert apply(1.0, scaled(3.0)) == 3.0


# ---- writes by a trace ----


def nonlocal_counter():
    n = 0

    def f(x):
        nonlocal n
        n += 1
        return x

    return f, lambda: n


def appended_list():
    calls = []

    def f(x):
        calls.append(x.shape)
        return x

    return f, lambda: len(calls)


def counted_item():
    n = [0]

    def f(x):
        n[0] += 1
        return x

    return f, lambda: n[0]


def counted_key():
    counts = {"f": 0}

    def f(x):
        counts["f"] += 1
        return x

    return f, lambda: counts["f"]


COUNT = 0


def global_counter():
    global COUNT
    COUNT = 0

    def f(x):
        global COUNT
        COUNT += 1
        return x

    return f, lambda: COUNT


def function_attribute():
    def f(x):
        f.count += 1
        return x

    f.count = 0
    return f, lambda: f.count


def appended_subclass():
    class Log(list):
        pass

    log = Log()

    def f(x):
        log.append(x.shape)
        return x

    return f, lambda: len(log)


def counter_of_a_helper():
    names = {}
    exec(
        "def make():\n    n = 0\n    def helper(x):\n        nonlocal n\n"
        "        n += 1\n        return x\n    return helper, lambda: n\n"
        "helper, count = make()\ndef f(x):\n    return helper(x)\n",
        names,
    )
    return names["f"], names["count"]


def object_attribute():
    model = Model(0)

    def f(x):
        model.rate += 1
        return x

    return f, lambda: model.rate


def counting_decorator():
    counts = {"n": 0}

    def counted(fun):
        @functools.wraps(fun)
        def wrapper(*args):
            counts["n"] += 1
            return fun(*args)

        return wrapper

    return counted(lambda x: x), lambda: counts["n"]


@pytest.mark.unaudited
@pytest.mark.parametrize(
    "make",
    [
        *(nonlocal_counter, appended_list, counted_item, counted_key, global_counter),
        *(function_attribute, object_attribute, counting_decorator),
        *(appended_subclass, counter_of_a_helper),
    ],
)
@pytest.mark.parametrize("strict", [False, True], ids=["default", "strict"])
def test_a_counter_counts_traces(make, strict):
    fun, count = make()
    f = imprint.jit(fun, strict=strict)
    x = inp.ones(3)
    assert [count() for _ in range(4) if f(x) is not None] == [1] * 4
    again = imprint.jit(fun, strict=strict)
    again(x)
    assert count() == 1
    f(inp.ones(4))
    assert (count(), f._cache_size()) == (2, 2)
    fun(x)  # without jit it counts, and that is no change either
    assert work_of(lambda: (f(x), f(inp.ones(4)))) == Work(0, 0)


# ---- there and back ----


@pytest.fixture
def module():
    return make_module("families", "SCALE = 2\ndef f(x):\n    return x * SCALE\n")


def test_a_restored_global_causes_no_third_trace(module):
    f = imprint.jit(module.f)
    found = []

    def visit():
        for module.SCALE in (2, 5, 2, 5):
            found.append(int(f(1)))

    assert work_of(visit) == Work(2, 2)
    assert found == [2, 5, 2, 5]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("SCALE", "SCALE + 1"),
        ("SCALE", "SCALE * -1"),
        ("1", "True"),
        ("0.0", "-0.0"),
        ("(1, 2)[0]", "(1, 2)[1]"),
    ],
)
def test_a_tool_that_reloads_patches_code_in_place(module, old, new):
    """As IPython's autoreload does: the function stays, its `__code__` is another."""
    texts = [f"def f(x):\n    return x * ({what})\n" for what in (old, new, old)]
    fill(module, texts[0])
    fun, f = module.f, imprint.jit(module.f)
    traces = []
    for text in texts:
        fill(module, text)
        fun.__code__ = module.f.__code__
        before = COUNTERS.traces
        assert str(f(1)) == str(inp.asarray(fun(1)))
        traces.append(COUNTERS.traces - before)
    assert traces == [1, 1, 0]


def test_a_module_that_is_loaded_again_with_equal_text_traces_nothing(module):
    f = imprint.jit(module.f)
    f(1)
    fill(module, "SCALE = 2\ndef f(x):\n    return x * SCALE\n")
    again = imprint.jit(module.f)
    assert work_of(lambda: (f(1), again(1))) == Work(0, 0)

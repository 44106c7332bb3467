"""Sequences of calls, and how often each was traced and compiled."""

import functools
import gc
import resource
import subprocess
import sys
import weakref

import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from tests.spec.work import work_of
from tests.units.modules import make_module

pytestmark = pytest.mark.unaudited  # they count how often a function runs


def counted(fun, **options):
    """Return `jit(fun)` and the list that grows by one for each trace."""
    traces = []

    @functools.wraps(fun)
    def traced(*args, **kwargs):
        traces.append(1)
        return fun(*args, **kwargs)

    return imprint.jit(traced, **options), traces


def test_shapes_have_versions_of_their_own():
    def test(x):
        return inp.array(1 if x.shape[0] > 4 else -1)

    f = imprint.jit(test)
    sizes = [f._cache_size()]
    for n in (8, 8, 3):
        f(inp.ones(n))
        sizes.append(f._cache_size())
    assert sizes == [0, 1, 1, 2]


ONE_VERSION = {
    "device and host arrays": (
        lambda: inp.ones(3),
        lambda: np.ones(3, np.float32),
        lambda: imprint.jit(lambda x: x * 2)(inp.ones(3)),
        lambda: np.ones(3),  # float64 is float32 here
        lambda: np.ones(6, np.float32)[::2],
    ),
    "python numbers": (lambda: 1.0, lambda: 2.5, lambda: float("nan")),
    "strong scalars": (
        lambda: np.float32(1),
        lambda: inp.float32(1),
        lambda: np.ones((), np.float32),
        lambda: np.float64(1),
    ),
    "dictionaries in any order": (
        lambda: {"a": 1.0, "b": 2},
        lambda: {"b": 3, "a": 2.0},
    ),
}


@pytest.mark.parametrize("name", ONE_VERSION)
def test_equal_avals_share_one_version(name):
    f, traces = counted(lambda x: inp.asarray(imprint.tree.leaves(x)[0]) * 2)
    for make in ONE_VERSION[name]:
        for _ in range(2):
            f(make())
    assert (len(traces), f._cache_size()) == (1, 1)


TWO_VERSIONS = {
    "shape": (inp.ones(3), inp.ones(4)),
    "dtype": (inp.ones(3), inp.ones(3, inp.int32)),
    "weak type": (1.0, np.float32(1.0)),
    "kind of number": (1, 1.0),
    "bool and int": (True, 1),
    "container": ((1.0,), [1.0]),
    "key": ({"a": 1.0}, {"b": 1.0}),
    "key type": ({1: 1.0}, {True: 1.0}),
    "none": ((1.0, None), (None, 1.0)),
}


@pytest.mark.parametrize("name", TWO_VERSIONS)
def test_each_call_signature_has_its_own_version(name):
    f, traces = counted(lambda x: inp.asarray(imprint.tree.leaves(x)[0]) * 2)
    for _ in range(2):
        for x in TWO_VERSIONS[name]:
            f(x)
    assert (len(traces), f._cache_size()) == (2, 2)


def test_keywords_move_to_their_place():
    f, traces = counted(lambda x, y: x - y)
    results = [f(5.0, 3.0), f(5.0, y=3.0), f(x=5.0, y=3.0), f(y=3.0, x=5.0)]
    assert results == [2.0] * 4
    assert (len(traces), f._cache_size()) == (1, 1)


def test_keyword_only_arguments_are_sorted():
    f, traces = counted(lambda x, *, a, b: x + a - b)
    assert [f(1.0, a=2.0, b=3.0), f(1.0, b=3.0, a=2.0)] == [0.0, 0.0]
    assert len(traces) == 1


@pytest.mark.parametrize(
    "options", [{"static_argnums": 1}, {"static_argnames": "n"}, {"static_argnums": -1}]
)
def test_static_arguments_have_versions_by_value(options):
    def power(x, n=2):
        for _ in range(n):
            x = x * x
        return x

    f, traces = counted(power, **options)
    assert f(inp.arange(4), 3).tolist() == [0, 1, 256, 6561]
    calls = [f(2.0, 3), f(2.0, n=3), f(x=2.0, n=3), f(2.0, 2), f(2.0), f(2.0, n=2)]
    assert calls == [256, 256, 256, 16, 16, 16]
    assert (len(traces), f._cache_size()) == (3, 3)


@pytest.mark.parametrize(
    ("first", "second"),
    [(1, 1.0), (1, True), (0.0, -0.0), ((1,), (1.0,)), ((1,), (True,)), ("a", b"a")],
)
def test_static_values_are_exact(first, second):
    f, traces = counted(lambda x, s: x, static_argnums=1)
    for _ in range(2):
        f(1.0, first)
        f(1.0, second)
    assert (len(traces), f._cache_size()) == (2, 2)


def test_static_nan_is_one_value():
    f, traces = counted(lambda x, s: x * s, static_argnums=1)
    f(1.0, float("nan"))
    f(1.0, float("nan"))
    assert len(traces) == 1


def test_a_flag_that_changes_programs_is_in_the_key():
    f, traces = counted(lambda x: x * 2)
    x = np.ones(3)
    for wide in (False, True, False, True):
        with imprint.enable_x64(wide):
            assert f(x).dtype == (np.float64 if wide else np.float32)
    assert (len(traces), f._cache_size()) == (2, 2)


def test_disable_jit_runs_the_function_itself():
    f, traces = counted(lambda x: x * 2)
    with imprint.disable_jit():
        assert f(2.0) == 4.0
        assert f(3.0) == 6.0
    assert (len(traces), f._cache_size()) == (2, 0)


def test_nested_jit_is_traced_once_and_compiled_with_the_outer():
    inner, traces = counted(lambda x: inp.sin(x) * 2)
    outer = imprint.jit(lambda x: inner(x) + inner(x + 1))
    outer(inp.ones(()))
    assert (len(traces), inner._cache_size(), outer._cache_size()) == (1, 0, 1)
    imprint.grad(outer)(inp.ones(()))
    imprint.vmap(outer)(inp.ones(3))
    assert len(traces) == 1


def test_transforms_of_a_jitted_function_compile_once():
    f, traces = counted(lambda x: inp.sin(x) * x)
    gradient = imprint.grad(f)
    values = {float(gradient(1.0)) for _ in range(5)}
    assert len(values) == 1
    assert len(traces) == 1


def test_the_three_compile_strategies_agree():
    """SPEC 1B: jit outside, inside, both."""

    def f(x):
        return inp.sin(x) + inp.cos(x)

    jit_f = imprint.jit(f)
    x = inp.arange(4.0)
    plain = imprint.jit(lambda x: f(f(x)))(x)
    inside = jit_f(jit_f(x))
    assert jit_f._cache_size() == 1
    both = imprint.jit(lambda x: jit_f(jit_f(x)))(x)
    np.testing.assert_allclose(plain, inside, rtol=1e-6)
    np.testing.assert_array_equal(plain, both)


def test_clear_cache_forgets():
    f, traces = counted(lambda x: x + 1)
    f(1.0)
    f.clear_cache()
    assert f._cache_size() == 0
    f(1.0)
    assert len(traces) == 2


# ---- life ----


def test_a_dropped_function_is_freed():
    f = imprint.jit(lambda x: x + 1)
    f(1.0)
    dead = weakref.ref(f)
    del f
    gc.collect()
    assert dead() is None


def test_dropped_arrays_are_freed():
    f = imprint.jit(lambda x: x + 1)
    out = f(np.ones(1000, np.float32))
    dead = weakref.ref(out)
    del out
    assert dead() is None


def test_captured_arrays_are_copied():
    table = np.ones(3, np.float32)
    f = imprint.jit(lambda x: x + table)
    assert f(inp.zeros(3)).tolist() == [1, 1, 1]
    table[:] = 5
    assert f(inp.zeros(3)).tolist() == [1, 1, 1]


def test_arguments_are_copied():
    f = imprint.jit(lambda x: x)
    for size in (3, 100_000):
        x = np.ones(size, np.float32)
        first = f(x)
        x[:] = 2
        second = f(x)
        assert (float(first.sum()), float(second.sum())) == (size, 2 * size)


GROWTH = """
import resource, numpy as np, imprint, imprint.numpy as inp
f = imprint.jit(lambda x, y: (x @ y).sum())
x, host = inp.ones((64, 64)), np.ones((64, 64), np.float32)
def run(n):
    for _ in range(n):
        f(x, x); f(host, x); imprint.grad(f)(x, host); x + x
run(200)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
run(3000)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.slow
def test_memory_does_not_grow_over_ten_thousand_calls():
    assert resource.RUSAGE_SELF == 0
    out = subprocess.run(
        [sys.executable, "-c", GROWTH], capture_output=True, text=True, check=True
    )
    assert int(out.stdout) < 8 * 1024  # KiB; one leaked array a call would be 48 MiB


def test_nothing_imports_jax():
    code = (
        "import sys, imprint, imprint.numpy as np\n"
        "imprint.jit(imprint.grad(lambda x: np.tanh(x) ** 2))(1.0)\n"
        "assert 'jax' not in sys.modules and 'scipy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# ---- definitions ----


def test_a_recreated_function_finds_its_versions():
    traces = []

    def trace_of(fun):
        traces.append(1)
        return fun

    def scaled(factor):
        def scale(x):
            trace_of(scale)
            return x * factor

        return imprint.jit(scale)

    assert [scaled(3.0)(2.0) for _ in range(5)] == [6.0] * 5
    assert len(traces) == 1
    assert [scaled(float(i % 2))(2.0) for i in range(4)] == [0.0, 2.0, 0.0, 2.0]
    assert len(traces) == 3


def test_a_watched_global_makes_a_version_and_keeps_the_old_one():
    namespace = {"inp": inp, "traces": [], "G": 2.0}
    exec(  # a module of its own, whose globals the test can rebind
        "def f(x):\n    traces.append(1)\n    return x * G\n", namespace
    )
    f = imprint.jit(namespace["f"])
    results = []
    for namespace["G"] in (2.0, 5.0, 2.0, 5.0):
        results.append(float(f(1.0)))
    assert results == [2.0, 5.0, 2.0, 5.0]
    assert len(namespace["traces"]) == 2


def test_a_recreated_function_sees_the_state_of_a_captured_object():
    class Model:
        def __init__(self):
            self.weight = 2.0

        def predict(self, x):
            @imprint.jit
            def compute(x):
                return x * self.weight

            return compute(x)

    model = Model()
    assert [float(model.predict(1.0)) for _ in range(3)] == [2.0] * 3
    model.weight = 5.0
    assert float(model.predict(1.0)) == 5.0


def test_writes_by_the_trace_into_a_static_argument_are_ignored():
    class Counter:
        def __init__(self):
            self.traces = 0

        @functools.partial(imprint.jit, static_argnums=0)
        def step(self, x):
            self.traces += 1
            return x + 1

    counter = Counter()
    assert [float(counter.step(1.0)) for _ in range(3)] == [2.0] * 3
    assert (counter.traces, Counter.step._cache_size()) == (1, 1)


def test_counters_are_effects():
    count = 0
    seen = []

    @imprint.jit
    def f(x):
        nonlocal count
        count += 1
        seen.append(1)
        return x

    for _ in range(3):
        f(1.0)
    assert (count, len(seen)) == (1, 1)


@pytest.mark.parametrize("wrap", ["partial", "method", "callable"])
def test_counters_are_effects_of_every_callable(wrap):
    seen = []

    class Callable:
        def __call__(self, x):
            seen.append(1)
            return x

        def method(self, x):
            seen.append(1)
            return x

    def plain(scale, x):
        seen.append(1)
        return x * scale

    fun = {
        "partial": functools.partial(plain, 2.0),
        "method": Callable().method,
        "callable": Callable(),
    }[wrap]
    f = imprint.jit(fun)
    for _ in range(3):
        f(1.0)
    assert len(seen) == 1


@pytest.mark.parametrize("jit", [imprint.jit, imprint.filter_jit])
def test_the_function_of_a_partial_is_watched(jit):
    """As an argument it is compared by identity, and its captures can change."""
    scale = 2.0

    def scaled(x):
        return x * scale

    f = jit(lambda p, x: p(x))
    p = imprint.tree.Partial(scaled)
    assert [float(f(p, 1.0)) for _ in range(3)] == [2.0] * 3
    scale = 5.0
    assert [float(f(p, 1.0)) for _ in range(3)] == [5.0] * 3
    assert [float(f([p], 1.0)) for f in [jit(lambda ps, x: ps[0](x))]] == [5.0]
    scale = 2.0
    assert work_of(lambda: f(p, 1.0)).traces == 0


@pytest.mark.parametrize("jit", [imprint.jit, imprint.filter_jit])
def test_globals_read_by_a_static_argument_are_watched(jit, monkeypatch):
    module = make_module(
        "calls",
        """
        RATE = 2.0
        class Model:
            def scale(self, x): return x * RATE
        def call(model, x): return model.scale(x)
        """,
    )
    options = {"static_argnums": 0} if jit is imprint.jit else {}
    monkeypatch.delitem(sys.modules, "calls")
    f, model = jit(module.call, **options), module.Model()
    assert [float(f(model, 1.0)) for _ in range(3)] == [2.0] * 3
    module.RATE = 5.0
    assert [float(f(model, 1.0)) for _ in range(3)] == [5.0] * 3

"""Many threads, failures during a trace, and lifetimes."""

import copy
import gc
import random
import subprocess
import sys
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint._src.jit.versions.table import BUDGET
from tests.spec.work import Work, work_of

THREADS = 16


def at_once(action, *, times=1):
    """Call `action(i)` in 16 threads that start together; return the results."""
    barrier = threading.Barrier(THREADS)

    def run(i):
        barrier.wait()
        return [action(i) for _ in range(times)]

    with ThreadPoolExecutor(THREADS) as pool:
        return [x for xs in pool.map(run, range(THREADS)) for x in xs]


# ---- one key, many threads ----


@pytest.mark.slow
def test_a_thousand_calls_of_one_key_trace_and_compile_once():
    f = imprint.jit(lambda x: inp.sin(x) * 5.0625)
    x = inp.ones(3)
    results = []
    work = work_of(lambda: results.extend(at_once(lambda i: f(x), times=63)))
    assert work == Work(traces=1, compiles=1)
    assert f._cache_size() == 1
    assert len({float(y[0]) for y in results}) == 1
    assert len(results) >= 1000


def test_threads_with_keys_of_their_own_get_their_own_results():
    f = imprint.jit(lambda x, n: x.sum() * n, static_argnums=1)
    arrays = [inp.ones(i % 4 + 1) for i in range(THREADS)]
    results = at_once(lambda i: float(f(arrays[i], i % 2 + 1)), times=5)
    want = [(i % 4 + 1) * (i % 2 + 1) for i in range(THREADS) for _ in range(5)]
    assert results == want
    assert f._cache_size() == len({(i % 4, i % 2) for i in range(THREADS)})


def test_threads_see_their_own_flags():
    f = imprint.jit(lambda x: x * 2)
    x = np.ones(2)

    def call(i):
        with imprint.enable_x64(i % 2 == 0):
            return f(x).dtype.name

    assert at_once(call) == ["float64", "float32"] * (THREADS // 2)
    assert f._cache_size() == 2


def test_host_arguments_of_threads_do_not_mix():
    f = imprint.jit(lambda x, y: x + y)
    f(np.ones(8, np.float32), 1.0)

    def call(i):
        return float(f(np.full(8, i, np.float32), float(i))[0])

    assert at_once(call, times=20) == [
        2.0 * i for i in range(THREADS) for _ in range(20)
    ]


def test_threads_that_nest_one_function_agree():
    inner = imprint.jit(lambda x: inp.sin(x) * 2)
    outers = [imprint.jit(lambda x, i=i: inner(x) + i) for i in range(THREADS)]
    results = at_once(lambda i: float(outers[i](0.0)))
    assert results == list(range(THREADS))


RATE = {"rate": 2.0}


def scaled(x):
    return inp.sin(x) * RATE["rate"]


class Model:
    """Has an attribute that other threads set."""

    rate = 1.5

    def loss(self, x):
        return imprint.grad(lambda p: (inp.sin(p) * self.rate).sum())(x)


def in_a_pool(actions, x):
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda action: action(x), actions))


def actions_of_a_round():
    """Return the actions that may run at the same time: traces, calls, edits, collections."""
    inner = imprint.jit(scaled)
    outers = [imprint.jit(lambda x, i=i: inner(x) + i) for i in range(4)]
    losses = [imprint.jit(Model().loss) for _ in range(2)]
    strict = imprint.jit(scaled, strict=True)
    tree = imprint.filter_jit(lambda m, x: m["w"] * x + len(m))
    return [
        *(lambda x, f=f: f(x) for f in (*outers, *losses, strict)),
        lambda x: tree({"w": x}, x),
        lambda x: in_a_pool((outers[0], losses[0]), x),
        lambda x: RATE.update(rate=float(x.size)),
        lambda x: setattr(Model, "rate", float(x.size)),
        lambda x: outers[1].clear_cache(),
        lambda x: imprint.clear_caches(),
        lambda x: gc.collect(),
    ]


@pytest.mark.unaudited  # another thread edits between a hit and its audit
@pytest.mark.filterwarnings(  # both are right of such a program
    "ignore:.* was compiled", "ignore:.*expected what it reads to stay as it is"
)
@pytest.mark.parametrize("rounds", [3, pytest.param(100, marks=pytest.mark.exhaustive)])
def test_threads_that_trace_edit_clear_and_collect_finish(rounds):
    sizes = [inp.ones(n + 1) for n in range(3)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-3)
    try:
        for number in range(rounds):
            actions = actions_of_a_round()
            draw = random.Random(number).choices(range(len(actions)), k=THREADS * 4)
            at_once(lambda i: [actions[k](sizes[k % 3]) for k in draw[i::THREADS]])  # noqa: B023 - of this round
    finally:
        sys.setswitchinterval(interval)


# ---- failures ----


def test_a_trace_that_raises_raises_in_every_thread_and_leaves_nothing():
    fail = [True]

    @imprint.jit
    def f(x):
        if fail:
            raise ValueError("not yet")
        return x + 1

    def call(_):
        try:
            return f(1.0)
        except ValueError as err:
            return str(err)

    assert at_once(call) == ["not yet"] * THREADS
    assert f._cache_size() == 0
    fail.clear()
    assert at_once(call) == [2.0] * THREADS
    assert f._cache_size() == 1


def test_a_compile_that_raises_leaves_nothing():
    f = imprint.jit(lambda x: x + 1, compiler_options={"bogus": 1})
    for _ in range(2):
        with pytest.raises(imprint.errors.CompileError, match="bogus"):
            f(1.0)
    assert f._cache_size() == 0


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_an_interrupted_trace_leaves_nothing(interrupt):
    fail = [True]

    @imprint.jit
    def f(x):
        y = inp.sin(x)
        if fail:
            raise interrupt
        return y

    for nested in (f, imprint.jit(lambda x: f(x) * 2), imprint.grad(f)):
        with pytest.raises(interrupt):
            nested(1.0)
    assert f._cache_size() == 0
    fail.clear()
    assert f(0.0) == imprint.jit(lambda x: f(x) * 2)(0.0) == 0
    assert imprint.grad(f)(0.0) == 1
    assert f._cache_size() == 1


def test_a_waiting_thread_continues_when_the_first_is_interrupted():
    tracing, go_on = threading.Event(), threading.Event()
    calls = []

    @imprint.jit
    def f(x):
        calls.append(1)
        if len(calls) == 1:
            tracing.set()
            go_on.wait(10)
            raise KeyboardInterrupt
        return x + 1

    def first():
        with pytest.raises(KeyboardInterrupt):
            f(1.0)

    with ThreadPoolExecutor(2) as pool:
        interrupted = pool.submit(first)
        assert tracing.wait(10)
        waiting = pool.submit(f, 1.0)
        go_on.set()
        interrupted.result(10)
        assert waiting.result(10) == 2.0
    assert (len(calls), f._cache_size()) == (2, 1)


def test_a_function_that_calls_itself_with_other_static_values():
    @imprint.jit(static_argnums=1)
    def power(x, n):
        return x if n == 1 else x * power(x, n - 1)

    assert power(2.0, 5) == 32
    assert power._cache_size() == 1


@pytest.fixture
def _no_collection():
    """Keep callbacks of other code from running, by a collection on a full stack."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("_no_collection")
def test_infinite_recursion_is_a_recursion_error():
    @imprint.jit
    def endless(x):
        return endless(x)

    with pytest.raises(RecursionError):
        endless(1.0)
    assert endless._cache_size() == 0
    assert imprint.jit(lambda x: x + 1)(1.0) == 2.0


# ---- life ----


class Settings:
    """A static argument that can be watched."""

    def __init__(self, n):
        self.n = n

    def __eq__(self, other):
        return type(other) is Settings and self.n == other.n

    def __hash__(self):
        return hash(self.n)


@pytest.fixture
def budget():
    """Give back the byte budget after a test that changes it."""
    before = copy.copy(BUDGET.limit)
    yield BUDGET
    BUDGET.limit = before


def test_versions_wait_for_an_equal_function():
    def make():
        return imprint.jit(lambda x: inp.sin(x) * 5.125)

    f = make()
    assert 4 < f(1.0) < 5
    dead = weakref.ref(f)
    del f
    assert dead() is None
    assert work_of(lambda: make()(1.0)) == Work(0, 0)


def adding(table):
    return imprint.jit(lambda x: x + table)


def test_versions_die_with_an_array_that_their_function_captured(budget):
    gc.collect()
    before = budget.nbytes
    table = imprint.jit(lambda: inp.arange(1000.0))()
    f = adding(table)
    assert f(1.0)[2] == 3
    assert budget.nbytes > before
    dead = weakref.ref(table)
    del f, table
    gc.collect()
    assert dead() is None
    assert budget.nbytes <= before + 250_000  # the creator of the table


def test_clear_cache_forgets_one_function(budget):
    f, other = imprint.jit(lambda x: x + 1), imprint.jit(lambda x: x + 2)
    f(1.0)
    other(1.0)
    before = budget.nbytes
    f.clear_cache()
    assert (f._cache_size(), other._cache_size()) == (0, 1)
    assert budget.nbytes < before
    assert work_of(lambda: f(1.0)) == Work(1, 1)


def test_clear_caches_forgets_all_functions(budget):
    functions = [imprint.jit(lambda x, i=i: x + i) for i in range(3)]
    for f in functions:
        f(1.0)
    imprint.clear_caches()
    assert [f._cache_size() for f in functions] == [0, 0, 0]
    assert budget.nbytes == 0
    assert work_of(lambda: functions[0](1.0)) == Work(1, 1)


def test_a_static_argument_lives_no_longer_than_its_versions():
    f = imprint.jit(lambda x, s: x * s.n, static_argnums=1)
    settings = Settings(3)
    assert f(2.0, settings) == 6
    dead = weakref.ref(settings)
    del settings
    f.clear_cache()
    gc.collect()
    assert dead() is None


@pytest.mark.slow
def test_the_budget_bounds_the_versions_of_many_static_values(budget):
    """A small budget stands in for the default one: 40 values for 10,000."""
    imprint.clear_caches()
    budget.limit = 1_000_000
    f = imprint.jit(lambda x, n: x * n, static_argnums=1)
    work = work_of(lambda: [f(1.0, n) for n in range(40)])
    assert work == Work(40, 40)
    assert 2 <= f._cache_size() <= 10
    assert budget.nbytes <= budget.limit
    assert len(f._definition.traced) <= 12


@pytest.mark.slow
def test_the_budget_keeps_versions_in_use(budget):
    imprint.clear_caches()
    budget.limit = 1_000_000
    f = imprint.jit(lambda x, n: x * n, static_argnums=1)

    def calls():
        for n in range(30):
            f(1.0, 0)
            f(1.0, n)

    assert work_of(calls) == Work(30, 30)


def test_a_program_larger_than_the_budget_still_runs(budget):
    budget.limit = 1
    f = imprint.jit(lambda x: x + 1)
    assert [f(1.0), f(2.0), f(inp.ones(2)).tolist()] == [2.0, 3.0, [2, 2]]


FORKED = """
import os, imprint
f = imprint.jit(lambda x: x + 1)
pid = os.fork()
if pid == 0:
    assert f(1.0) == 2.0
    os._exit(0)
assert os.waitpid(pid, 0)[1] == 0
assert f(1.0) == 2.0
"""


@pytest.mark.slow
def test_a_fork_before_the_first_call_works():
    subprocess.run([sys.executable, "-c", FORKED], check=True)

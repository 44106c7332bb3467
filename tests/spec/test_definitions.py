"""The definition of a function is part of the key: equal ones share, changed ones do not."""

import functools

import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from tests.spec.work import Work, work_of

FACTOR = 2.0


def scaled(x):
    return x * FACTOR


def offset_by(n):
    return lambda x: x + n


REMADE = {
    "lambda": lambda: lambda x: inp.sin(x) + 1,
    "closure over a number": lambda: offset_by(2.5),
    "closure over a function": lambda: (lambda f: lambda x: f(x))(scaled),
    "partial": lambda: functools.partial(pow, 2.0),
    "nested jit": lambda: (lambda f: lambda x: f(x) * 2)(imprint.jit(scaled)),
}


@pytest.mark.parametrize("name", REMADE)
def test_a_function_made_again_is_the_same_function(name):
    work = work_of(lambda: [imprint.jit(REMADE[name]())(1.0) for _ in range(5)])
    assert work.compiles == 1
    assert work.traces == (2 if name == "nested jit" else 1)


class Bare:
    """Lacks an attribute that is read."""


def with_default(factor, x):
    return x * getattr(Bare, "rate", factor)


def test_a_partial_made_again_is_the_same_where_an_attribute_is_missed():
    partial = functools.partial
    work = work_of(
        lambda: [imprint.jit(partial(with_default, 2.0))(1.0) for _ in "abc"]
    )
    assert work == Work(1, 1)


def test_an_eager_loop_is_traced_once_where_an_attribute_is_missed():
    def step(carry, _):
        return with_default(2.0, carry), None

    x = inp.ones(())
    work = work_of(lambda: [imprint.lax.scan(step, x, None, length=2) for _ in "abc"])
    assert work.traces == 1


def test_functions_with_other_captured_values_are_others():
    results = [imprint.jit(offset_by(n))(1.0) for n in (1.0, 2.0, 1.0, 1)]
    assert results == [2.0, 3.0, 2.0, 2.0]


def test_two_wrappers_of_one_function_share_versions():
    first, second = imprint.jit(scaled), imprint.jit(scaled)
    assert work_of(lambda: (first(1.0), second(1.0))) == Work(1, 1)
    assert first._cache_size() == second._cache_size() == 1


def test_other_options_are_other_versions():
    def body(x, n=2):
        return x * n

    imprint.jit(body)(1.5)
    assert work_of(lambda: imprint.jit(body, static_argnums=1)(1.5)).traces == 1


def test_a_changed_global_is_seen_and_changing_back_hits(monkeypatch):
    f = imprint.jit(scaled)
    assert f(1.0) == 2.0
    monkeypatch.setitem(globals(), "FACTOR", 5.0)
    assert [f(1.0), f(2.0)] == [5.0, 10.0]
    monkeypatch.setitem(globals(), "FACTOR", 2.0)
    assert work_of(lambda: f(1.0)) == Work(0, 0)
    assert f(1.0) == 2.0
    assert f._cache_size() == 2


def test_a_changed_closure_is_seen():
    n = 1.0
    f = imprint.jit(lambda x: x + n)
    assert f(1.0) == 2.0
    n = 5.0
    assert f(1.0) == 6.0


def test_replaced_code_is_seen():
    def f(x):
        return x * 2

    def other(x):
        return x * 100

    jitted = imprint.jit(f)
    assert jitted(1.0) == 2.0
    f.__code__ = other.__code__
    assert jitted(1.0) == 100.0


def test_a_changed_default_is_seen():
    def f(x, k=1):
        return x * k

    jitted = imprint.jit(f)
    assert jitted(1.0) == 1.0
    f.__defaults__ = (7,)
    assert jitted(1.0) == 7.0


def test_a_function_made_in_a_method_is_traced_once_for_each_state():
    class Counter:
        def __init__(self):
            self.a = 5

        def compute(self):
            @imprint.jit
            def add():
                return self.a + 1

            return add()

    counter = Counter()
    assert work_of(lambda: [counter.compute() for _ in range(4)]).traces == 1
    counter.a = 7
    assert counter.compute() == 8


# ---- captured values that a warm call reads ----


class Rated:
    rate = 2.0


CAPTURED = {
    "a list": (lambda: [2.0] * 100, lambda x: x.append(1.0)),
    "a nested list": (lambda: [[2.0]] * 100, lambda x: x[-1].append(1.0)),
    "a dict": (lambda: {str(i): 2.0 for i in range(100)}, lambda x: x.update({"0": 1})),
    "a list of objects": (
        lambda: [Rated() for _ in range(100)],
        lambda x: x.append(Rated()),
    ),
}


def test_a_strict_function_reads_the_contents_of_containers():
    table, things = np.ones(1000), [Rated()]
    f = imprint.jit(lambda x: x * table[0] * things[0].rate, strict=True)
    for _ in range(4):
        assert f(1.0) == 2
    table[0] = 3
    assert f(1.0) == 6
    things[0].rate = 5.0
    assert f(1.0) == 15

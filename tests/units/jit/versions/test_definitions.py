"""Definitions: equality of functions, shared versions, and lifetimes."""

import gc
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest

from imprint import jit
from imprint._src.jit.calls.options import JitOptions
from imprint._src.jit.calls.signature import Signature
from imprint._src.jit.versions.definitions import Definitions

OPTIONS = JitOptions()


@pytest.fixture
def table():
    return Definitions(limit=3)


def definition_of(table, fun, options=OPTIONS):
    return table.of(fun, options, lambda: Signature(fun))


def scaled(by):
    return lambda x: x * by


class Model:
    def step(self, x):
        return x


def test_a_function_has_one_definition_for_all_callers(table):
    fun = scaled(2)
    first = definition_of(table, fun)
    assert definition_of(table, fun) is first
    assert definition_of(table, fun, JitOptions(keep_unused=True)) is not first


def test_so_has_a_method_which_is_another_object_each_time(table):
    one, other = Model(), Model()
    first = definition_of(table, one.step)
    assert definition_of(table, one.step) is first
    second = definition_of(table, other.step)
    assert second is not first
    assert second.shared is first.shared


def test_recreated_functions_are_related(table):
    first, second = definition_of(table, scaled(2)), definition_of(table, scaled(2))
    assert first is not second
    assert first.shared is second.shared
    assert first.signature is second.signature
    assert definition_of(table, scaled(3)).shared is not first.shared
    held = definition_of(table, scaled([2])), definition_of(table, scaled([3]))
    assert held[0].shared is held[1].shared  # its guards compare the list


def test_parameters_are_not_shared_where_a_default_holds_something(table):
    def made(default):
        def fun(x, k=default):
            return x

        return fun

    one, other = definition_of(table, made([1])), definition_of(table, made([2]))
    assert one.shared is other.shared
    assert one.signature is not other.signature


def test_a_definition_lives_as_long_as_it_is_used(table):
    fun = scaled(2)
    dead = weakref.ref(definition_of(table, fun))
    gc.collect()
    assert dead() is None


def test_one_of_a_function_that_captures_nothing_lives_as_long_as_that(table):
    fun = eval("lambda x: x * 2")
    dead = weakref.ref(definition_of(table, fun))
    gc.collect()
    assert definition_of(table, fun) is dead()
    del fun
    gc.collect()
    assert dead() is None


def test_an_edit_makes_another(table):
    fun, other = eval("lambda x, k: x * 2"), eval("lambda x, k: x * 3")
    first = definition_of(table, fun)
    fun.__code__ = other.__code__
    assert definition_of(table, fun) is not first
    fun.__defaults__ = (1,)
    second = definition_of(table, fun)
    assert definition_of(table, fun) is second
    assert second.signature.call((1.0,), {}).spec.omitted == {"k": 1}


def test_the_oldest_related_definitions_are_dropped_first(table):
    made = [definition_of(table, scaled(n)) for n in range(3)]
    assert definition_of(table, scaled(0)).shared is made[0].shared
    definition_of(table, scaled(3))
    assert definition_of(table, scaled(0)).shared is made[0].shared
    assert definition_of(table, scaled(1)).shared is not made[1].shared


def test_clearing_forgets_all(table):
    fun = scaled(2)
    first = definition_of(table, fun)
    table.clear()
    assert definition_of(table, fun) is first
    assert definition_of(table, scaled(2)).shared is not first.shared


def run_together(make, count=4):
    """Return the results of as many threads, which begin together."""
    begin = threading.Barrier(count)

    def run(_):
        begin.wait()
        return make()

    with ThreadPoolExecutor(count) as pool:
        return [*pool.map(run, range(count))]


def test_threads_that_call_one_new_function_find_one_definition(monkeypatch):
    found, of = [], Definitions.of

    def slow(*args):
        found.append(args)
        time.sleep(0.01)  # without a lock, the others come meanwhile
        return of(*args)

    monkeypatch.setattr(Definitions, "of", slow)
    counter = [0]

    def f(x):
        counter[0] += 1
        return x * 2.0

    jitted = jit(f)
    assert run_together(lambda: float(jitted(1.0))) == [2.0] * 4
    assert (len(found), counter) == (1, [1])


def test_threads_that_define_one_function_get_one_definition(table):
    together = threading.Barrier(2)

    def f(x):
        return x * 2.0

    def signature():
        together.wait(60)  # both are past the lookup
        return Signature(f)

    first, second = run_together(lambda: table.of(f, OPTIONS, signature), 2)
    assert first is second

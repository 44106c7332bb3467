"""Counters, logs and timers around traced code cause no retrace: 20 steps, one trace."""

import contextlib
import functools
import threading
import types

import pytest

import imprint
import imprint.numpy as inp
from tests.guards.programs import Programs, check_steps

precise = Programs()
pytestmark = pytest.mark.unaudited  # they count traces


@precise.each
def test_it_is_traced_once(program):
    check_steps(*program())


@precise
def counter_of_a_trainer():
    class Trainer:
        def __init__(self):
            self.count, self.losses, self.best, self.lr = 0, [], None, 2.0

        def run(self, x):
            return x * self.lr

    trainer = Trainer()

    def f(x):
        return trainer.run(x)

    def step():
        trainer.count += 1
        trainer.losses.append(float(trainer.count))
        trainer.best = inp.float32(trainer.count)

    return f, step


@precise
def counter_in_a_dictionary_of_settings():
    config = {"lr": 2.0, "step": 0}

    def f(x):
        return x * config["lr"]

    def step():
        config["step"] += 1

    return f, step


@precise
def counter_with_the_name_of_a_method():
    class Optimizer:
        lr = 2.0

        def step(self, x):
            return x * self.lr

    class Trainer:
        def __init__(self):
            self.optimizers, self.step = [Optimizer(), Optimizer()], 0

        def run(self, x):
            for optimizer in self.optimizers:
                x = optimizer.step(x)
            return x

    trainer = Trainer()

    def f(x):
        return trainer.run(x)

    def step():
        trainer.step += 1

    return f, step


@precise
def counter_with_the_name_of_a_traced_attribute():
    class Part:
        def __init__(self):
            self.count = 2.0

    used, other = Part(), Part()

    def f(x):
        return x * used.count + (0.0 if other is None else 1.0)

    def step():
        other.count += 1

    return f, step


@precise
def counting_decorator():
    def counted(fun):
        @functools.wraps(fun)
        def wrapper(x):
            wrapper.calls += 1
            return fun(x)

        wrapper.calls = 0
        return wrapper

    rate = 2.0

    @counted
    def helper(x):
        return x * rate

    def f(x):
        return helper(x)

    def step():
        helper(1.0)

    return f, step


@precise
def counting_decorator_outside_of_jit():
    rate, calls = 2.0, 0

    @imprint.jit
    def inner(x):
        return x * rate

    def f(x):
        nonlocal calls
        calls += 1
        return inner(x)

    def step():
        nonlocal calls
        calls += 1

    return f, step


@precise
def closure_over_statistics():
    stats = {"n": 0, "rate": 2.0}

    def f(x):
        stats["n"] += 1
        return x * stats["rate"]

    def step():
        stats["n"] += 1

    return f, step


@precise
def closure_over_statistics_that_the_trace_leaves_alone():
    stats = {"n": 0, "rate": 2.0}

    def f(x):
        return x * stats["rate"]

    def step():
        stats["n"] += 1

    return f, step


@precise
def counter_of_traces():
    count = 0

    def f(x):
        nonlocal count
        count += 1
        return x * 2.0

    def step():
        nonlocal count
        count += 1

    return f, step


@precise
def log_that_the_trace_writes():
    log = []

    def f(x):
        log.append("traced")
        return x * 2.0

    def step():
        log.append("called")

    return f, step


@precise
def set_that_the_trace_adds_to():
    seen = set()

    def f(x):
        seen.add(x.ndim)
        return x * 2.0

    def step():
        seen.add(len(seen))

    return f, step


@precise
def attribute_that_the_trace_only_writes():
    class Model:
        seen, calls = (), 0

        def run(self, x):
            self.seen = (*x.shape, 3)
            return x * 2.0

    model = Model()

    def f(x):
        return model.run(x)

    def step():
        model.seen = (1, 2)
        model.calls += 1

    return f, step


@precise
def memo_that_the_trace_reads_and_fills():
    memo = {}

    def f(x):
        if x.shape not in memo:
            memo[x.shape] = 2.0
        return x * memo[x.shape]

    return f, lambda: None


@precise
def containers_that_the_trace_empties_and_fills():
    class Node:
        def __init__(self, value):
            self.value = value

    tape, table = [], {}

    def f(x):
        tape.clear()
        tape.append(Node(x * 2.0))
        table.clear()
        table["a"] = Node(x)
        return tape[0].value + table["a"].value

    def step():
        tape.append(Node(1.0))

    return f, step


@precise
def list_that_each_trace_replaces():
    settings, log = {"rate": 2.0, "log": [object()]}, [object()]
    held = [settings, log]

    def f(x):
        held[0]["log"] = [object()]
        held[1] = [object()]
        rates = [value for name, value in settings.items() if name != "log"]
        return x * rates[0] * len(held)

    def step():
        pass

    return f, step


@precise
def timer():
    class Timer:
        def __init__(self):
            self.total, self.runs = 0.0, 0

        def __enter__(self):
            self.runs += 1
            return self

        def __exit__(self, *_):
            self.total += 1.0

    timer, rate = Timer(), 2.0

    def f(x):
        with timer:
            return x * rate

    def step():
        with timer:
            pass

    return f, step


@precise
def timer_made_by_contextmanager():
    times = {"f": 0.0, "g": 0.0}

    @contextlib.contextmanager
    def timed(name):
        try:
            yield
        finally:
            times[name] += 1.0

    def f(x):
        with timed("f"):
            return x * 2.0

    def step():
        with timed("f"):
            pass

    return f, step


@precise
def thread_that_counts():
    class Monitor:
        count = 0

        def run(self):
            self.count += 1

    monitor, rate = Monitor(), 2.0

    def f(x):
        return x * rate

    def step():
        thread = threading.Thread(target=monitor.run)
        thread.start()
        thread.join()

    return f, step


@precise
def global_that_is_not_read():
    rate, other = 2.0, 0

    def f(x):
        return x * rate

    def step():
        nonlocal other
        other += 1

    return f, step


@precise
def neighbour_in_a_namespace():
    state = types.SimpleNamespace(lr=2.0, step=0, loss=None)

    def f(x):
        return x * state.lr

    def step():
        state.step += 1
        state.loss = 1.0 / state.step

    return f, step

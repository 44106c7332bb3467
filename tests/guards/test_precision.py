"""Values that traced code does not read cause no retrace: 20 steps, one trace."""

import dataclasses
import sys

import pytest

import imprint
from imprint import filter_jit
from imprint.module import Module
from tests.guards.programs import Programs, as_it_is, check_steps

precise = Programs()
needs_to_know_what_ran = Programs()
pytestmark = pytest.mark.unaudited  # they count traces


@precise.each
def test_it_is_traced_once(program):
    check_steps(*program())


@needs_to_know_what_ran.each
def test_it_is_traced_once_where_instructions_are_observed(program):
    """On 3.11 all reachable code is compared, so only the answers are checked there."""
    allowed = 0 if sys.version_info >= (3, 12) else sys.maxsize
    check_steps(*program(), allowed=allowed)


# ---- code that did not run ----


@needs_to_know_what_ran
def error_message_that_names_a_counter():
    class Trainer:
        def __init__(self):
            self.step, self.lr = 0, 2.0

        def run(self, x):
            if x.shape != ():
                raise ValueError(f"step {self.step}: expected a scalar")
            return x * self.lr

    trainer = Trainer()

    def f(x):
        return trainer.run(x)

    def step():
        trainer.step += 1

    return f, step


@needs_to_know_what_ran
def debug_branch_that_names_a_growing_list():
    class Trainer:
        debug = False

        def __init__(self):
            self.losses, self.lr = [], 2.0

        def run(self, x):
            if self.debug:
                print(self.losses)
            return x * self.lr

    trainer = Trainer()

    def f(x):
        return trainer.run(x)

    def step():
        trainer.losses.append(1.0)

    return f, step


@needs_to_know_what_ran
def branch_that_calls_a_helper():
    count, verbose = 0, False

    def report(x):
        return x + count

    def f(x):
        return report(x) if verbose else x * 2.0

    def step():
        nonlocal count
        count += 1

    return f, step


@needs_to_know_what_ran
def method_that_is_not_called():
    class Trainer:
        def __init__(self):
            self.count, self.lr = 0, 2.0

        def summary(self):
            return f"{self.count}: {self.lr}"

        def run(self, x):
            return x * self.lr

    trainer = Trainer()

    def f(x):
        return trainer.run(x)

    def step():
        trainer.count += 1
        trainer.summary()

    return f, step


@needs_to_know_what_ran
def handler_of_an_error_that_does_not_come():
    errors, rate = [], 2.0

    def f(x):
        try:
            return x * rate
        except ValueError:
            return x * len(errors)

    def step():
        errors.append(1)

    return f, step


# ---- equal values ----


@precise
def equal_value_each_step():
    class Settings:
        def __init__(self):
            self.rate, self.sizes = 1000.5, [1, 2, 3]

    settings = Settings()

    def f(x):
        return x * settings.rate + sum(settings.sizes)

    def step():
        settings.rate = float("1000.5")
        settings.sizes = [1, 2, 3]

    return f, step


@precise
def trainer_that_is_made_again():
    @dataclasses.dataclass(frozen=True)
    class Settings:
        rate: float = 2.0

    settings = Settings()

    def f(x):
        return x * settings.rate

    def step():
        nonlocal settings
        settings = Settings()

    return f, step


@precise
def lambda_that_is_made_each_step():
    rate = 2.0

    def call(x):
        return imprint.jit(lambda y: y * rate)(x)

    return as_it_is(call), lambda: None


@precise
def module_that_is_an_argument():
    class Scale(Module):
        rate: float

        def __call__(self, x):
            return x * self.rate

    run = filter_jit(lambda scale, x: scale(x))

    def call(x):
        return run(Scale(2.0), x)

    return as_it_is(call), lambda: None


@precise
def function_made_by_the_trace():
    rate = 2.0

    def f(x):
        def inner(y):
            return y * rate

        return imprint.jit(inner)(x)

    return f, lambda: None

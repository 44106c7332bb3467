"""The tour's programs about the definition of a function, which is part of its key.

Functions made anew with equal content share versions; a function that became another one
has a version of its own. What JAX does with the same program is quoted beside each: it
was run on JAX 0.12, and the tour does not import it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import imprint
import imprint.numpy as np
from imprint import Array
from imprint._src.cli.example import prints


@prints(
    """
    a lambda: 1 trace
    a closure: 1 trace
    a partial: 1 trace
    a bound method: 1 trace
    a frozen dataclass: 1 trace
    """,
    jax="5 traces each: the key is the function object.",
)
def functions_made_anew() -> None:
    """Trace equal functions once, however often they are made anew."""

    def closure(n: float) -> Callable[[Array], Array]:
        def shifted(x: Array) -> Array:
            return x + n

        return shifted

    @dataclass(frozen=True)
    class Shift:
        n: float

        def __call__(self, x: Array) -> Array:
            return x + self.n

        def method(self, x: Array) -> Array:
            return x - self.n

    families: dict[str, Callable[[], Callable[[Array], Array]]] = {
        "a lambda": lambda: lambda x: x + 1,
        "a closure": lambda: closure(2.0),
        "a partial": lambda: partial(np.add, 3.0),
        "a bound method": lambda: Shift(4.0).method,
        "a frozen dataclass": lambda: Shift(5.0),
    }
    for name, make in families.items():
        before = imprint.debug.counters().traces
        for _ in range(5):
            imprint.jit(make())(np.ones(3))
        print(f"{name}: {imprint.debug.counters().traces - before} trace")


@prints(
    """
    6.0 1
    6.0 1
    8.0 2
    """,
    jax="6, 6, 8, with 1, 2 and 3 traces.",
)
def a_function_made_by_a_method() -> None:
    """Make a compiled function at each call of a method: it is the same function."""
    traces = 0

    class Model:
        def __init__(self, a: float) -> None:
            self.a = a

        def f(self) -> Array:
            @imprint.jit
            def _compute() -> Any:
                nonlocal traces
                traces += 1  # runs while tracing only
                return self.a + 1

            return _compute()

    model = Model(5.0)
    print(model.f(), traces)
    print(model.f(), traces)
    model.a = 7.0
    print(model.f(), traces)


@prints(
    """
    2.0 6.0 2.0
    traces: 2
    """,
    jax="2.0 each time: what the function closes over is read once.",
)
def a_name_bound_anew() -> None:
    """Watch the names that a trace read: a new value is seen, and the old one hits."""
    traces, shift = 0, 1.0

    @imprint.jit
    def f(x: Any) -> Array:
        nonlocal traces
        traces += 1
        return x + shift

    first = f(1.0)
    shift = 5.0
    second = f(1.0)
    shift = 1.0
    print(first, second, f(1.0))
    print("traces:", traces)


@prints(
    """
    2.0
    100.0
    """,
    jax="2.0, then 2.0 again: the old code's answer.",
)
def code_that_was_replaced() -> None:
    """Answer from the code that a function has now, as after an edit in a notebook."""

    def f(x: Any) -> Array:
        return x + 1

    def edited(x: Any) -> Array:
        return x * 100

    f_jit = imprint.jit(f)
    print(f_jit(1.0))
    f.__code__ = edited.__code__
    print(f_jit(1.0))


@prints(
    """
    batch['mask'].shape[1]: 128 → 131
        Pad axis 1 of batch['mask'] to a multiple of 64: `np.pad(batch['mask'], ...)`. Or name it: `abstracted_axes=...`.
    closure variable i: 0 → 1
        Make i an argument: `def add(..., i)`.
    """,
    jax="lines of a log, if `jax_explain_cache_misses` is set.",
)
def why_a_call_compiles() -> None:
    """Ask why a call would compile, and what to do; nothing is compiled for that."""

    @imprint.jit
    def count(batch: dict[str, Array]) -> Array:
        return batch["mask"].sum()

    def shifted(i: int) -> Any:
        def add(x: Array) -> Array:
            return x + i

        return imprint.jit(add)

    count({"mask": np.ones((32, 128))})
    shifted(0)(1.0)
    for why in count.explain({"mask": np.ones((32, 131))}), shifted(1).explain(1.0):
        for difference in why.differences:
            print(difference)
            print("   ", difference.remedy)


CHAPTERS = {
    "When does jit retrace?": (
        functions_made_anew,
        a_function_made_by_a_method,
        a_name_bound_anew,
        code_that_was_replaced,
        why_a_call_compiles,
    )
}

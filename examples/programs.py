"""Example programs: versions, static arguments, retracing, models, derivatives.

Most names, programs and results are those of the documents about `jax.jit` and Equinox:
imprint must print the same digits, and random numbers are JAX's, bit for bit. Differing
behaviour of JAX 0.12 is quoted; the demo does not import JAX. Programs are written as user
code; only their arguments are annotated.
"""

# They use `_cache_size()`, a name of JAX that users know.
# pyright: reportPrivateUsage=false

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from math import copysign
from typing import Any

import imprint
import imprint.numpy as np
from examples.example import Chapters, prints
from imprint import Array, random

# ---- versions ----


@prints("""
    0
    Array(1, dtype=int32, weak_type=True)
    1
    Array(1, dtype=int32, weak_type=True)
    1
    Array(-1, dtype=int32, weak_type=True)
    2
""")
def one_version_for_each_shape() -> None:
    """Compile one version for each shape; a call of a known shape finds its own."""

    @imprint.jit
    def test(x: Array) -> int:
        if x.shape[0] > 4:
            return 1
        return -1

    print(test._cache_size())
    for x in np.ones(8), np.ones(8), np.ones(3):
        print(repr(test(x)))
        print(test._cache_size())


@prints("""
    { lambda ; a:f32[8]. let
        b:i32[] = jit[name=test jaxpr={ lambda ; a:f32[8]. let  in (1:i32[],) }] a
      in (b,) }
    { lambda ; a:f32[3]. let
        b:i32[] = jit[name=test jaxpr={ lambda ; a:f32[3]. let  in (-1:i32[],) }] a
      in (b,) }
""")
def the_branch_not_taken_is_absent() -> None:
    """Decide an `if` on a shape while tracing: the other branch is not there."""

    @imprint.jit
    def test(x: Array) -> int:
        if x.shape[0] > 4:
            return 1
        return -1

    print(imprint.make_jaxpr(test)(np.ones(8)))
    print(imprint.make_jaxpr(test)(np.ones(3)))


@prints("""
    `if` needs a concrete bool, got tracer ~bool[] (x > 0) at programs.py:...
      It depends on argument x of magnitude, traced by jit at programs.py:...
      ...static...
""")
def an_if_on_a_value() -> None:
    """Refuse an `if` on a value, which is unknown while tracing, and name the remedy."""

    @imprint.jit
    def magnitude(x: Any) -> Array:
        if x > 0:
            return x
        return -x

    try:
        magnitude(-2.0)
    except imprint.errors.ConcretizationError as error:
        print(error)


@prints("""
    jit: expected a function, got 3 of type int...
    jit: expected a function that returns arrays, got the generator function naturals...
    increment: expected arrays and numbers, got str 'one' as argument x...
""")
def functions_without_a_program() -> None:
    """Refuse functions and arguments that are not of arrays, by the name of the argument."""

    def naturals(x: Array) -> Iterator[Array]:
        yield x

    def increment(x: Array) -> Array:
        return x + 1

    attempts: list[tuple[Any, Any]] = [(3, 1), (naturals, 1), (increment, "one")]
    for fun, argument in attempts:
        try:
            imprint.jit(fun)(argument)
        except TypeError as error:
            print(error)


# ---- how much to compile ----


@prints("""
    not compiled [ 393.87866 6888.6396 ]
    all of g     [ 393.87866 6888.6396 ]
    f alone      [ 393.87866 6888.6396 ]
    f and g      [ 393.87866 6888.6396 ]
    versions of f, called twice: 1
    fused into: %exponential_subtract_fusion
""")
def three_strategies() -> None:
    """Compile the whole, a part, or both: one result, and XLA fuses the whole."""

    def f(x: Array) -> Array:
        return np.sin(x) + 2 * x

    def g(f: Callable[[Array], Array], x: Array) -> Array:
        y = f(x)
        z = f(y)
        return np.exp(z) - x

    x = np.array([1.0, 2.0])
    f_jit = imprint.jit(f)
    print("not compiled", g(f, x))
    print("all of g    ", imprint.jit(partial(g, f))(x))
    print("f alone     ", g(f_jit, x))
    print("f and g     ", imprint.jit(partial(g, f_jit))(x))
    print("versions of f, called twice:", f_jit._cache_size())
    hlo = imprint.jit(partial(g, f)).lower(x).compile().as_text().splitlines()
    print("fused into:", *(line.split()[1] for line in hlo if " fusion(" in line))


@prints("""
    let f_jit = { lambda ; a:f32[2]. let
        b:f32[2] = sin a
        c:f32[2] = mul 2.0:f32[] a
        d:f32[2] = add b c
      in (d,) } in
    { lambda ; e:f32[2]. let
        f:f32[2] = jit[name=f_jit jaxpr=f_jit] e
        g:f32[2] = jit[name=f_jit jaxpr=f_jit] f
      in (g,) }
    private functions: 1, calls: 2
    versions of f_jit: 0
""")
def nested() -> None:
    """Trace a compiled function inside another once, and keep it as a shared call."""

    @imprint.jit
    def f_jit(x: Array) -> Array:
        return np.sin(x) + 2 * x

    def g(x: Array) -> Array:
        return f_jit(f_jit(x))

    x = np.array([1.0, 2.0])
    print(imprint.make_jaxpr(g)(x))
    g_jit = imprint.jit(g)
    g_jit(x)
    text = g_jit.lower(x).as_text()
    calls, private = text.count("call @f_jit("), text.count("func private @f_jit(")
    print(f"private functions: {private}, calls: {calls}")
    print("versions of f_jit:", f_jit._cache_size())


@prints("""
    tracing ...Tracer(~float32[])
    2.0
    3.0
    tracing 3.0
    4.0
""")
def tracing_runs_the_function_once() -> None:
    """Run the Python once for each version; under `disable_jit`, each time."""

    @imprint.jit
    def increment(x: Any) -> Array:
        print("tracing", x)
        return x + 1

    print(increment(1.0))
    print(increment(2.0))
    with imprint.disable_jit():
        print(increment(3.0))


# ---- static arguments ----


@prints("""
    8.0 1
    8.0 1
    3.0 2
    3.0 2
    a shape is a number: 8.0
    static argument n: expected a value known before tracing, got an array ...
""")
def static_arguments() -> None:
    """Take an argument as a Python value while tracing: each value has its version."""

    @imprint.jit(static_argnums=(0,))
    def test_static(n: Any) -> Array:
        return np.ones(n).sum()

    for n in 8, 8, 3, 3:
        print(test_static(n), test_static._cache_size())
    print("a shape is a number:", test_static(np.ones(8).shape[0]))
    try:
        test_static(np.ones(()))
    except ValueError as error:
        print(error)


@prints("""
    Array([   0,    1,  256, 6561], dtype=int32)
    Array([   0,    1,  256, 6561], dtype=int32)
    1
""")
def a_static_argument_by_name() -> None:
    """Name a static argument: `g(x, 3)` and `g(x, n=3)` are one call."""

    @partial(imprint.jit, static_argnames=["n"])
    def g(x: Array, n: int) -> Array:
        for _ in range(n):
            x = x**2
        return x

    print(repr(g(np.arange(4), 3)))
    print(repr(g(np.arange(4), n=3)))
    print(g._cache_size())


@prints("""
    int32 float32 bool
    3.0 -3.0
""")
def static_values_of_other_types() -> None:
    """Distinguish static values by their types, at any depth, unlike JAX."""

    @imprint.jit(static_argnums=0)
    def first(pair: tuple[float, ...]) -> Array:
        return np.asarray(pair[0])

    @imprint.jit(static_argnums=1)
    def signed(x: Any, sign: float) -> Array:
        return x * copysign(1.0, sign)

    print(first((1,)).dtype, first((1.0,)).dtype, first((True,)).dtype)
    print(signed(3.0, 0.0), signed(3.0, -0.0))


@prints("""
    11.0 1
    11.0 1
    12.0 2
""")
def static_objects() -> None:
    """Find the version of an equal object, by its own `__hash__` and `__eq__`."""

    class Offset:
        def __init__(self, a: float) -> None:
            self.a = a

        def __hash__(self) -> int:
            return hash(self.a)

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Offset) and self.a == other.a

    @imprint.jit(static_argnums=1)
    def shift(x: Any, offset: Offset) -> Array:
        return x + offset.a

    for a in 1.0, 1.0, 2.0:
        print(shift(10.0, Offset(a)), shift._cache_size())


# ---- retracing ----


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
def recreated_functions() -> None:
    """Trace equal functions once, even if they are re-created."""

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
def a_rebound_name() -> None:
    """Guard the names that a trace read: a new value retraces, and the old one hits."""
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
    """Use the current code of a function, as after an edit in a notebook."""

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
    """Explain why a call would compile, with a remedy and without a compilation."""

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


# ---- models ----


@prints(
    """
    shared: 1 trace for 3 models
    a lambda: 1 trace for 3 models
    a partial: 1 trace for 3 models
    a jitted partial: 1 trace for 3 models
    """,
    jax="with Equinox, 3 traces for all but the shared function.",
)
def recreated_models() -> None:
    """Re-create a model with a re-created function: it is the same model."""
    traces = 0

    class MyModule(imprint.Module):
        fn: Callable[[Array], Array]

        def __call__(self, x: Array) -> Array:
            nonlocal traces
            traces += 1  # runs while tracing only
            return self.fn(x)

    @imprint.filter_jit
    def run(model: MyModule, x: Array) -> Array:
        return model(x)

    functions: dict[str, Callable[[], Callable[[Array], Array]]] = {
        "shared": lambda: np.cos,
        "a lambda": lambda: lambda x: np.sin(x) * 2,
        "a partial": lambda: partial(np.add, 2.0),
        "a jitted partial": lambda: imprint.jit(partial(np.add, 3.0)),
    }
    for name, make in functions.items():
        traces = 0
        for _ in range(3):
            run(MyModule(make()), np.ones(3))
        print(f"{name}: {traces} trace for 3 models")


@prints(
    """
    Undeclared.fn: expected every attribute to be declared as a field, got `self.fn = ...`...

        class Undeclared(Module):
            fn: Callable
    """,
    jax="with Equinox, \"cannot assign to field 'fn'\".",
)
def a_field_without_a_declaration() -> None:
    """Refuse an attribute that is not declared, and show the line to add."""

    class Undeclared(imprint.Module):
        def __init__(self, fn: Callable[[Array], Array]) -> None:
            self.fn = fn

    try:
        Undeclared(np.sin)
    except AttributeError as error:
        print(error)


# ---- random numbers and derivatives ----


@prints("""
    [ 1.7037742   2.1265278  -0.616925   -0.13257582  0.18489543 -1.0901651
     -0.68493664  0.5190975   0.69756675 -1.0754603 ]
    [-0.5448514   0.2774427  -0.29255113 -0.91421574 -0.6245251  -0.24748121
     -0.85743254 -0.7823266   0.7682733   0.59566766]
""")
def selu_of_random_numbers() -> None:
    """Draw the random numbers of JAX, in its new stream and in its old one."""

    @imprint.jit
    def selu(x: Array, alpha: float = 1.67, lambda_: float = 1.05) -> Array:
        return lambda_ * np.where(x > 0, x, alpha * np.exp(x) - alpha)

    print(selu(random.normal(random.key(0), (10,))))
    with imprint.threefry_partitionable(False):
        print(selu(random.normal(random.key(0), (10,))))


@prints("""
    slope of tanh at 0.5: 0.786...
    the same, compiled, for three values: [0.786... 0.419... 0.180...]
    curvature, in any order: [-0.726... -0.639... -0.327...]
    curvature, in any order: [-0.726... -0.639... -0.327...]
    { lambda ; a:f32[]. let
        b:f32[] = tanh a
    ...
      in (...,) }
""")
def derivatives() -> None:
    """Differentiate, map and compile functions, in any order."""
    slope = imprint.grad(np.tanh)
    x = np.array([0.5, 1.0, 1.5])
    print("slope of tanh at 0.5:", slope(0.5))
    print("the same, compiled, for three values:", imprint.jit(imprint.vmap(slope))(x))
    for curvature in (
        imprint.vmap(imprint.jit(imprint.grad(slope))),
        imprint.jit(imprint.vmap(imprint.grad(imprint.jit(slope)))),
    ):
        print("curvature, in any order:", curvature(x))
    print(imprint.make_jaxpr(slope)(0.5))


CHAPTERS: Chapters = {
    "One version for each signature": (
        one_version_for_each_shape,
        the_branch_not_taken_is_absent,
        an_if_on_a_value,
        functions_without_a_program,
    ),
    "How much to compile": (three_strategies, nested, tracing_runs_the_function_once),
    "Static arguments": (
        static_arguments,
        a_static_argument_by_name,
        static_values_of_other_types,
        static_objects,
    ),
    "When does jit retrace?": (
        recreated_functions,
        a_function_made_by_a_method,
        a_rebound_name,
        code_that_was_replaced,
        why_a_call_compiles,
    ),
    "Models": (recreated_models, a_field_without_a_declaration),
    "Random numbers and derivatives": (selu_of_random_numbers, derivatives),
}

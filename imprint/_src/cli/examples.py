"""The tour's programs about `jit`: each of its promises in a few lines.

The names and most of the programs are those of the documents that describe `jax.jit`, and
so are the results: imprint must print the same digits. Programs are written as a user
would write them; only their arguments are annotated.
"""

# They ask for `_cache_size()`, a name of JAX's that users know, as these do.
# pyright: reportPrivateUsage=false

from collections.abc import Callable, Iterator
from functools import partial
from math import copysign
from typing import Any

import imprint
import imprint.numpy as np
from imprint import Array
from imprint._src.cli.example import Chapters, prints

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
    `if` needs a concrete bool, got tracer ~bool[] (x > 0) at examples.py:...
      It depends on argument x of magnitude, traced by jit at examples.py:...
      ...static...
""")
def an_if_on_a_value() -> None:
    """Refuse an `if` on a value, which is not known while tracing, and say what to do."""

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
def what_is_no_program() -> None:
    """Refuse what is no function of arrays, by the name of the argument."""

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
def static_values_are_told_apart() -> None:
    """Tell static values apart by their types, at any depth, where JAX does not."""

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


CHAPTERS: Chapters = {
    "One version for each kind of call": (
        one_version_for_each_shape,
        the_branch_not_taken_is_absent,
        an_if_on_a_value,
        what_is_no_program,
    ),
    "How much to compile": (three_strategies, nested, tracing_runs_the_function_once),
    "Static arguments": (
        static_arguments,
        a_static_argument_by_name,
        static_values_are_told_apart,
        static_objects,
    ),
}

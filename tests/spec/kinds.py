"""All code that compiles outside of traces, over four devices: run by `test_warm_kinds.py`.

Each function of `CASES` gives a result and the expected one. The results depend on RATE,
which the test edits, and on the arguments.
"""

import functools
import json
import os
import sys

import numpy as onp

import imprint
import imprint.numpy as np
from imprint import NamedSharding, P, lax

os.environ["XLA_FLAGS"] = (
    os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=4"
)


RATE = 2.0
X = onp.arange(8, dtype="float32")
MESH = imprint.make_mesh((4,), ("d",))
ROWS = NamedSharding(MESH, P("d"))
SPREAD = imprint.device_put(X, ROWS)
SECOND = imprint.device_put(X, imprint.devices()[1])
CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def scaled(x):
    return x * RATE


@case
def arguments_that_are_spread():
    return imprint.jit(lambda x: scaled(x) + x.sum())(SPREAD), X * RATE + 28


@case
def an_argument_on_another_device():
    result = imprint.jit(scaled)(SECOND)
    assert result.devices() == {imprint.devices()[1]}
    return result, X * RATE


@case
def shardings_of_jit():
    f = imprint.jit(scaled, in_shardings=ROWS, out_shardings=(P("d")))
    with imprint.set_mesh(MESH):
        result = f(X)
    assert result.sharding == ROWS
    return result, X * RATE


@case
def a_device_of_jit():
    return imprint.jit(scaled, device=imprint.devices()[2])(X), X * RATE


@case
def a_constraint_and_a_captured_array():
    def f(x):
        return lax.with_sharding_constraint(scaled(x), ROWS) + SPREAD

    return imprint.jit(f)(X), X * RATE + X


@case
def a_function_along_the_devices():
    spread = imprint.shard_map(scaled, mesh=MESH, in_specs=P("d"), out_specs=P("d"))
    return imprint.jit(lambda x: spread(x) + 1)(X), X * RATE + 1


@case
def donated_and_spread():
    f = imprint.jit(lambda x: scaled(x), donate_argnums=0)
    return f(imprint.device_put(X, ROWS)), X * RATE


@case
def a_function_with_the_attributes_of_a_jitted_one():
    @functools.wraps(imprint.jit(scaled, static_argnames=()))
    def wrapper(x):
        return scaled(x) + 5

    return imprint.jit(wrapper)(X), X * RATE + 5


@case
def a_scan():
    def step(total, x):
        return total + scaled(x), total

    return lax.scan(step, np.float32(0), X)[0], X.sum() * RATE


@case
def a_while():
    return lax.while_loop(lambda c: c < 100, scaled, np.float32(100 / RATE)), 100.0


@case
def a_loop_that_captures():
    array = np.asarray(X)
    result = lax.fori_loop(0, 3, lambda i, c: c + scaled(array), X)
    return result, X + 3 * X * RATE


@case
def a_map():
    return lax.map(scaled, X), X * RATE


@case
def strict():
    return imprint.jit(lambda x: scaled(x) - 1, strict=True)(X), X * RATE - 1


@case
def sizes_that_have_names():
    f = imprint.jit(lambda x: scaled(x) * 3, abstracted_axes=("n",))
    result = f(X[:5])
    assert result.shape == (5,)
    return result, X[:5] * RATE * 3


@case
def ahead_of_time():
    lowered = imprint.jit(lambda x: scaled(x) + 2).lower(X)
    return lowered.compile()(X), X * RATE + 2


@case
def ahead_of_time_for_shapes():
    shape = imprint.ShapeDtypeStruct((8,), "float32", sharding=ROWS)
    compiled = imprint.jit(lambda x: scaled(x) + 4).lower(shape).compile()
    return compiled(SPREAD), X * RATE + 4


def run(function):
    before = imprint.debug.counters()
    result, expected = function()
    after = imprint.debug.counters()
    onp.testing.assert_allclose(onp.asarray(result), expected, rtol=1e-6)
    return after.traces - before.traces, after.compiles - before.compiles


if __name__ == "__main__":
    json.dump({name: run(function) for name, function in CASES.items()}, sys.stdout)

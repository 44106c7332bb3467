"""Drawn compositions of rules, checkpoints and transforms, as in JAX.

A program is a list of steps, each of which makes another function of a function of one
number. Both libraries build it from the same list; where JAX refuses, imprint must, too.
"""

import functools

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.tolerances import assert_within, tolerance
from tests.units.custom_derivatives.defined import LIBRARIES

pytestmark = pytest.mark.slow
ALLOWED = tolerance(np.dtype("float32"))
POINT = np.float64(0.6)


def sine(lib, np_, f):
    return lambda x: np_.sin(f(x)) + 0.5


def product(lib, np_, f):
    return lambda x: f(x) * x


def wave(lib, np_, f):
    return lambda x: np_.cos(x * 1.5) * f(np_.sin(x))


def jit(lib, np_, f):
    return lib.jit(f)


def grad(lib, np_, f):
    return lib.grad(f)


def value_and_grad(lib, np_, f):
    return lambda x: sum(lib.value_and_grad(f)(x))


def jvp(lib, np_, f):
    return lambda x: sum(lib.jvp(f, (x,), (x + 1.0,)))


def linearize(lib, np_, f):
    return lambda x: lib.linearize(f, x)[1](x)


def vjp(lib, np_, f):
    def pulled(x):
        out, pull = lib.vjp(f, x)
        return out + pull(out)[0]

    return pulled


def vmap(lib, np_, f):
    return lambda x: lib.vmap(f)(np_.stack([x, x * 0.5, x + 0.2])).sum()


def vmap_unmapped(lib, np_, f):
    def mapped(x):
        rows = np_.stack([x, x * 0.5])
        return lib.vmap(lambda y, z: f(y) * f(z), (0, None))(rows, x).sum()

    return mapped


def checkpoint(lib, np_, f):
    return lib.checkpoint(f)


def checkpoint_policy(lib, np_, f):
    return lib.checkpoint(f, policy=lambda primitive, *_, **__: primitive.name == "sin")


def with_jvp(lib, np_, f):
    g = lib.custom_jvp(lambda x: f(x))
    g.defjvp(lambda p, t: (g(*p), t[0] * np_.cos(p[0]) * 2.0))
    return g


def with_jvp_of_two(lib, np_, f):
    g = lib.custom_jvp(lambda x, y: f(x) * y)
    g.defjvps(lambda t, out, x, y: t * out * 3.0, lambda t, out, x, y: t * x)
    return lambda x: g(np_.sin(x), x)


def with_own_jvp(lib, np_, f):
    g = lib.custom_jvp(lambda x: f(x))
    g.defjvp(lambda p, t: lib.jvp(f, p, t))
    return g


def with_vjp(lib, np_, f):
    g = lib.custom_vjp(lambda x: f(x))
    g.defvjp(lambda x: (g(x), x), lambda x, ct: (ct * np_.sin(x) * 2.0,))
    return g


def with_vjp_of_two(lib, np_, f):
    g = lib.custom_vjp(lambda x, y: f(x) * y)
    g.defvjp(
        lambda x, y: (f(x) * y, (x, np_.cos(y))),
        lambda res, ct: (ct * res[1], None if len(res) > 2 else ct * res[0] * res[1]),
    )
    return lambda x: g(np_.sin(x), x)


def with_own_vjp(lib, np_, f):
    g = lib.custom_vjp(lambda x: f(x))
    g.defvjp(lambda x: lib.vjp(f, x), lambda pull, ct: pull(ct))
    return g


def scan(lib, np_, f):
    def step(carry, y):
        return np_.sin(f(carry)) * y, carry

    def scanned(x):
        rows = np_.stack([x, x * 0.5])
        if np_ is jnp:  # in JAX, scan forgets rules in second derivatives
            middle, first = step(x, rows[0])
            last, second = step(middle, rows[1])
            return last + first + second
        last, every = lib.lax.scan(step, x, rows)
        return last + every.sum()

    return scanned


def cond(lib, np_, f):
    return lambda x: lib.lax.cond(x > 0.4, f, lambda y: y * 2.0, x)


STEPS = (
    *(sine, product, wave, jit, grad, value_and_grad, jvp, linearize, vjp, vmap),
    *(vmap_unmapped, checkpoint, checkpoint_policy, with_jvp, with_jvp_of_two),
    *(with_own_jvp, with_vjp, with_vjp_of_two, with_own_vjp, scan, cond),
)
HEAVY = {grad, value_and_grad, jvp, linearize, vjp, vmap_unmapped}


@st.composite
def programs(draw):
    steps = draw(st.lists(st.sampled_from(STEPS), min_size=2, max_size=7))
    kept, heavy = [], 0
    for step in steps:
        heavy += step in HEAVY
        if step not in HEAVY or heavy <= 3:
            kept.append(step)
    return kept


def run(lib, np_, steps):
    f = functools.reduce(lambda f, step: step(lib, np_, f), steps, np_.sin)
    with lib.enable_x64(True):
        return f(np_.asarray(POINT))


def result(lib, np_, steps):
    """Return the result of a program, or None if forward mode is refused."""
    try:
        return run(lib, np_, steps)
    except (TypeError, NotImplementedError) as err:
        if "forward" not in str(err) and "custom_lin" not in str(err):
            raise
        return None


@given(programs())
@example([checkpoint, scan])
@example([with_jvp, scan, grad, grad])
@example([with_vjp_of_two, checkpoint, vjp, grad])
@example([with_vjp_of_two, checkpoint, grad, jvp])
def test_a_drawn_composition_is_as_in_jax(steps):
    (ours, inp), (theirs, _) = LIBRARIES
    want, got = result(theirs, jnp, steps), result(ours, inp, steps)
    assert (got is None) is (want is None)
    if want is None:
        return
    assert got.dtype == want.dtype
    assert got.aval.weak_type == want.aval.weak_type
    assert_within(np.asarray(got), np.asarray(want), ALLOWED)


def test_a_scan_keeps_rules_in_second_derivatives():
    def value(lib, np_, loop):
        f = with_jvp(lib, np_, np_.sin)
        return lib.grad(lib.grad(lambda x: loop(lib, f, x)))(np_.asarray(0.6))

    def written_out(lib, f, x):
        return f(f(x))

    def looped(lib, f, x):
        return lib.lax.scan(lambda c, _: (f(c), None), x, None, 2)[0]

    (ours, inp), (theirs, _) = LIBRARIES
    want = np.asarray(value(theirs, jnp, written_out))
    assert_within(np.asarray(value(ours, inp, looped)), want, ALLOWED)

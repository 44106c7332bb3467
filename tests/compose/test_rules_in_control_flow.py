"""User rules inside branches, loops and checkpoints, compared with JAX.

A value that such a rule captures becomes an operand of the enclosing equation, which has
no constants. Where a rule calls `jvp`, one equation gives known primals, and tangents.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from tests.oracle import QUICK
from tests.tolerances import assert_close

pytestmark = pytest.mark.slow
POINT = np.array([0.3, -0.7, 1.1], "float32")
WEIGHT = np.array([0.9, 0.4, -0.5], "float32")


def by_jvp(lib, np_):
    weight = np_.asarray(WEIGHT)
    f = lib.custom_jvp(lambda x: np_.sin(x) * weight)
    f.defjvp(lambda xs, ts: (f(*xs), ts[0] * weight * 2))
    return f


def by_vjp(lib, np_):
    weight = np_.asarray(WEIGHT)
    f = lib.custom_vjp(lambda x: np_.sin(x) * weight)
    f.defvjp(lambda x: (f(x), x), lambda x, ct: (ct * weight * 3 * x,))
    return f


def in_cond(lib, f):
    return lambda x: lib.lax.cond(x[0] > 0, lambda x: f(x) * x, lambda x: x * 2, x)


def in_checkpoint(lib, f):
    return lib.checkpoint(lambda x: f(x) * x)


def in_saving_checkpoint(lib, f):
    policy = lib.checkpoint_policies.everything_saveable
    return lib.checkpoint(lib.jit(lambda x: f(x) * x), policy=policy)


def in_scan_of_checkpoint(lib, f):
    step = lib.checkpoint(lambda c: f(c) * c)
    return lambda x: lib.lax.scan(lambda c, _: (step(c), None), x, None, length=2)[0]


@pytest.mark.parametrize(
    "place", [in_cond, in_checkpoint, in_saving_checkpoint, in_scan_of_checkpoint]
)
@pytest.mark.parametrize("rule", [by_jvp, by_vjp])
def test_a_rule_may_capture_an_array(rule, place):
    def results(lib, np_):
        inner = place(lib, rule(lib, np_))
        gradient = lib.grad(lambda x: inner(x).sum())

        def every(x):
            found = [gradient(x), lib.vmap(gradient)(np_.stack([x, -x]))]
            if rule is by_jvp:
                found.append(lib.jvp(inner, (x,), (x,))[1])
            elif place is not in_scan_of_checkpoint:
                found.append(lib.grad(lambda x: gradient(x) @ x)(x))
            return found

        return lib.jit(every, compiler_options=QUICK)(POINT)

    wanted = results(jax, jnp)
    for got, want in zip(results(imprint, inp), wanted, strict=True):
        assert_close(got, np.asarray(want), "gradient")


@pytest.mark.parametrize("by", [0, None], ids=["each", "one"])
def test_a_batching_rule_may_capture_an_array(by):
    def result(lib, np_):
        weight = np_.asarray(WEIGHT)
        f = lib.custom_batching.custom_vmap(np_.sin)
        f.def_vmap(lambda size, batched, x: (x * weight, True))

        def choose(on, x):
            return lib.lax.cond(on > 0, f, lambda x: x * 2, x)

        mapped = lib.vmap(choose, in_axes=(by, 0))
        return lib.jit(mapped, compiler_options=QUICK)(
            np_.asarray([1, 0, 1])[... if by == 0 else 0], np_.outer(POINT, POINT)
        )

    assert_close(result(imprint, inp), np.asarray(result(jax, jnp)), "gradient")


def in_a_loop(lib, np_, part):
    """A loop of parts that give an index, a carry, and a value with a tangent."""

    def f(x, y):
        table = np_.outer(WEIGHT[:2], y)
        step = part(lambda i, c: ((i * 3 + 1) % 5, c * 0.5, table[i % 2] * c[0]))

        def turn(c, _):
            i, c, out = step(*c)
            i, c, more = step(i, c)
            return (i, c), out + more

        (_, c), outs = lib.lax.scan(turn, (1, x), None, length=3)
        return c + outs[0] - outs[2]

    return f


@pytest.mark.parametrize("part", ["jit", "checkpoint"])
def test_a_rule_that_calls_jvp_has_known_primals(part):
    def results(lib, np_):
        inner = in_a_loop(lib, np_, getattr(lib, part))
        f = lib.custom_jvp(inner)
        f.defjvp(lambda xs, ts: lib.jvp(inner, xs, ts))

        def every(x):
            pull = lib.vjp(lambda x: lib.lax.map(lambda y: f(y, x), x[None]), x)[1]
            return [*pull(x[None]), *lib.vmap(pull)(np_.stack([x[None], -x[None]]))]

        return lib.jit(every, compiler_options=QUICK)(POINT)

    wanted = results(jax, jnp)
    for got, want in zip(results(imprint, inp), wanted, strict=True):
        assert_close(got, np.asarray(want), "gradient")

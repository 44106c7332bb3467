"""Callbacks in user derivative rules, and in functions that a checkpoint recomputes."""

import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint.experimental import io_callback

ONE = np.float32(1)


def _jvp_rule(m, np, *, ordered):
    @m.custom_jvp
    def f(x):
        m.debug.print("value {}", x, ordered=ordered)
        return x * 2

    @f.defjvp
    def rule(primals, tangents):
        m.debug.print("rule {}", *primals, ordered=ordered)
        return f(*primals), tangents[0] * 3

    return f


def _vjp_rule(m, np, *, ordered):
    @m.custom_vjp
    def f(x):
        m.debug.print("value {}", x, ordered=ordered)
        return x * 2

    def forward(x):
        m.debug.print("forward {}", x, ordered=ordered)
        return x * 2, x

    def backward(x, ct):
        m.debug.print("backward {} {}", x, ct, ordered=ordered)
        return (ct * 5,)

    f.defvjp(forward, backward)
    return f


def _vjp_rule_in_a_scan(m, np, *, ordered):
    f = _vjp_rule(m, np, ordered=ordered)
    return lambda x: m.lax.scan(lambda c, _: (f(c), None), x, None, length=3)[0]


USES = {
    "value": lambda m, f: f,
    "jit": lambda m, f: m.jit(f),
    "grad": lambda m, f: m.grad(f),
    "jit of grad": lambda m, f: m.jit(m.grad(f)),
}


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("program", [_jvp_rule, _vjp_rule, _vjp_rule_in_a_scan])
def test_prints_are_those_of_jax(program, use, ordered, capfd):
    texts, results = [], []
    for m, numpy in ((jax, jnp), (imprint, inp)):
        capfd.readouterr()
        results.append(USES[use](m, program(m, numpy, ordered=ordered))(ONE))
        m.effects_barrier()
        sys.stdout.flush()
        texts.append(capfd.readouterr().out)
    theirs, ours = texts
    assert ours == theirs != ""
    np.testing.assert_allclose(*results)


def _again(calls):
    def host(x):
        calls.append(float(x))
        return np.float32(len(calls))

    @imprint.checkpoint
    def f(x):
        shape = imprint.ShapeDtypeStruct((), "float32")
        y = io_callback(host, shape, imprint.lax.stop_gradient(x), ordered=True)
        return inp.sin(x * y)

    return f


@pytest.mark.parametrize("compiled", [False, True])
def test_a_checkpoint_does_not_call_again_when_it_computes_again(compiled):
    calls = []
    derivative = imprint.grad(_again(calls))
    derivative = imprint.jit(derivative) if compiled else derivative
    np.testing.assert_allclose(derivative(ONE), np.cos(1.0), rtol=1e-6)
    assert calls == [1.0]


def test_a_callback_has_the_derivative_of_the_rule_around_it():
    def host(function):
        def call(x):
            return imprint.pure_callback(function, x, x, vmap_method="expand_dims")

        return call

    f = imprint.custom_jvp(host(np.sin))
    f.defjvp(
        lambda primals, tangents: (f(*primals), tangents[0] * host(np.cos)(*primals))
    )
    x = np.arange(3, dtype=np.float32)
    for g in (
        imprint.vmap(imprint.grad(f)),
        imprint.jit(imprint.vmap(imprint.grad(f))),
    ):
        np.testing.assert_allclose(g(x), np.cos(x), rtol=1e-6)

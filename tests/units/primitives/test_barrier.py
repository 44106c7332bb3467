"""Barriers: pytrees, derivatives next to integers, and compiled programs."""

import numpy as np

import imprint
from imprint._src.primitives.barrier import (
    materialize,
    optimization_barrier,
    stop_gradient,
)
from imprint._src.primitives.core_ops import broadcast_in_dim
from tests.units.primitives.agreement import assert_same
from tests.units.primitives.twin import printed

X = np.arange(3.0, dtype=np.float32)
N = np.arange(3, dtype=np.int32)


def test_a_pytree_comes_back():
    found = imprint.jit(optimization_barrier)({"x": X, "n": (N, None)})
    assert_same(found["x"], X)
    assert_same(found["n"][0], N)
    assert found["n"][1] is None


def test_nothing_behind_a_barrier():
    assert imprint.jit(lambda: optimization_barrier(()))() == ()


def test_it_is_one_equation_of_several_values():
    assert printed(lambda x, n: optimization_barrier((x, n)), X, N) == [
        "c:f32[3] d:i32[3] = optimization_barrier a b"
    ]


def test_the_compiler_sees_it():
    text = imprint.jit(lambda x: optimization_barrier(x) + x).lower(X).as_text()
    assert "stablehlo.optimization_barrier" in text


def test_derivatives_pass_through_next_to_integers():
    def fun(x, n):
        y, m = optimization_barrier((x * x, n))
        return (y * m).sum()

    assert_same(imprint.grad(fun)(X, N), (2 * X * N).astype(X.dtype))
    assert_same(imprint.jit(imprint.grad(fun))(X, N), (2 * X * N).astype(X.dtype))


def test_each_value_keeps_its_hidden_axis():
    x = np.ones((2, 3), np.float32)
    y, n = imprint.vmap(lambda x, n: optimization_barrier((x, n)), (1, None))(x, N)
    assert_same(y, x.T)
    assert_same(n, np.stack([N] * 3))


def test_the_backward_pass_keeps_its_barrier():
    grad = imprint.grad(lambda x: optimization_barrier(x * x).sum())
    names = [str(eqn.primitive) for eqn in imprint.make_jaxpr(grad)(X).eqns]
    assert names.count("optimization_barrier") == 2


# ---- materialize ----


def test_a_materialized_value_is_not_fused_into_its_repeated_uses():
    def fused(f):
        def program(x):
            y = f(x ^ 12345)
            return broadcast_in_dim(y, (64, 3), (1,)) + 1, broadcast_in_dim(
                y, (3, 64), (0,)
            ) ^ 7

        text = imprint.jit(program).lower(N).compile().as_text()
        return text.count("constant(12345)")

    assert fused(lambda y: y) == 2
    assert fused(materialize) == 1


def test_derivatives_and_hidden_axes_pass_through():
    def fun(x):
        return (materialize(x * x) * x).sum()

    assert_same(imprint.jit(imprint.grad(fun))(X), 3 * X * X)
    x = np.ones((2, 3), np.float32)
    assert_same(imprint.vmap(materialize, 1, 1)(x), x)


# ---- stop_gradient ----


def test_stopped_values_are_constants():
    def fun(x):
        return (stop_gradient({"x": x, "n": N})["x"] * x).sum()

    assert_same(imprint.grad(fun)(X), X)
    assert printed(lambda x: stop_gradient(x) * x, X) == [
        "b:f32[3] = stop_gradient a",
        "c:f32[3] = mul b a",
    ]

"""Derived jaxprs give the demanded results: zero tangents, axes in place."""

import itertools

import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint._src.core.aval import ShapedArray
from imprint._src.core.jaxpr import eval_jaxpr
from imprint._src.interpreters.batching import batch_jaxpr
from imprint._src.interpreters.jvp import jvp_jaxpr
from imprint._src.interpreters.linearize import linearize_jaxpr
from imprint._src.interpreters.trace_to_jaxpr import DebugInfo, stage
from imprint._src.interpreters.transpose import transpose_jaxpr
from tests.tolerances import assert_close

X = np.array([0.5, 1.0, 2.0], "float32")
W = np.arange(9, dtype="float32").reshape(3, 3)
N = np.array([1, 2, 3], "int32")
AVALS = [ShapedArray(x.shape, x.dtype) for x in (X, W, N)]


def staged(function, *avals):
    return stage(function, avals or AVALS, DebugInfo("demands", function.__name__))


def body(x, w, n):
    return [inp.sin(x), w, n + 1]


def run(closed, *args):
    return [np.asarray(y) for y in eval_jaxpr(closed.jaxpr, closed.consts, *args)]


# ---- tangents ----


def test_a_tangent_that_is_zero_is_left_out_unless_it_is_demanded():
    active = (True, False, False)
    assert jvp_jaxpr(staged(body), active)[1] == (True, False, False)
    program, nonzero = jvp_jaxpr(staged(body), active, instantiate=True)
    assert nonzero == (True, True, False)  # integers have none
    *_, tangent, zero = run(program, X, W, N, X)
    assert_close(tangent, np.cos(X) * X, "program")
    np.testing.assert_array_equal(zero, np.zeros_like(W))


def test_single_tangents_can_be_demanded():
    closed = staged(body)
    active = (False, True, False)
    _, nonzero = jvp_jaxpr(closed, active, instantiate=(True, False, False))
    assert nonzero == (True, True, False)
    assert jvp_jaxpr(closed, active)[1] == (False, True, False)


def test_linearization_gives_the_tangents_that_are_demanded():
    lin = linearize_jaxpr(staged(body), (True, False, False), instantiate=True)
    assert lin.nonzero == (True, True, False)
    results = run(lin.primal, X, W, N)
    tangent, zero = run(lin.tangent, *lin.known([X, W, N], results), X)
    assert_close(tangent, np.cos(X) * X, "program")
    np.testing.assert_array_equal(zero, np.zeros_like(W))


def test_transposition_gives_the_cotangents_that_are_demanded():
    closed = staged(lambda t, u: [t * 2, u], AVALS[0], AVALS[0])
    linear, nonzero = (True, True), (True, False)
    assert transpose_jaxpr(closed, linear, nonzero)[1] == (True, False)
    program, given = transpose_jaxpr(closed, linear, nonzero, instantiate=True)
    assert given == (True, True)
    first, second = run(program, X)
    assert_close(first, 2 * X, "program")
    np.testing.assert_array_equal(second, np.zeros_like(X))


def test_each_demand_is_derived_once():
    closed = staged(body)
    active = (True, False, False)
    for derive in (jvp_jaxpr, linearize_jaxpr):
        plain = derive(closed, active)
        whole = derive(closed, active, instantiate=True)
        assert derive(closed, active, instantiate=False)[0] is plain[0]
        assert derive(closed, active, instantiate=(True, True, True))[0] is whole[0]
        assert plain[0] is not whole[0]


# ---- hidden axes ----


@pytest.mark.parametrize("dims", [*itertools.product([None, 0, 1], [None, 0, 2])])
@pytest.mark.parametrize("to", [(0, 0, 0), (1, 2, 1), (None, 0, None)])
def test_the_hidden_axis_is_where_it_is_demanded(dims, to):
    closed = staged(body)
    free, came = batch_jaxpr(closed, 4, (*dims, None))
    program, out_dims = batch_jaxpr(closed, 4, (*dims, None), out_dims=to)
    assert out_dims == tuple(
        d if t is None else t for d, t in zip(came, to, strict=True)
    )
    args = [
        x if d is None else np.stack([x + i for i in range(4)], d)
        for x, d in zip((X, W), dims, strict=True)
    ]
    wanted = [
        y if t is None or t == d else at(y, d, t)
        for y, d, t in zip(run(free, *args, N), came, to, strict=True)
    ]
    for got, want in zip(run(program, *args, N), wanted, strict=True):
        np.testing.assert_array_equal(got, want)


def at(y, dim, to):
    return np.stack([y] * 4, to) if dim is None else np.moveaxis(y, dim, to)


# ---- residuals ----


def test_a_residual_that_is_an_argument_is_no_result_of_the_primal():
    def dense(x, w, n):
        return [x @ w * 2]

    lin = linearize_jaxpr(staged(dense), (True, True, False))
    assert len(lin.primal.out_avals) == 1
    assert sorted(lin.residuals) == [0, 1]


def test_a_residual_that_is_a_result_is_given_once():
    def function(x, w, n):
        return [inp.exp(x)]

    lin = linearize_jaxpr(staged(function), (True, False, False))
    assert len(lin.primal.out_avals) == 1
    assert lin.residuals == (3,)


def test_a_residual_that_is_used_twice_is_given_once():
    def function(x, w, n):
        y = inp.cos(x)
        return [y * inp.sin(y) * x]

    lin = linearize_jaxpr(staged(function), (True, False, False))
    assert len(set(lin.residuals)) == len(lin.residuals)
    count = len(lin.primal.out_avals) - 1
    assert sorted(lin.residuals)[-count:] == [4 + k for k in range(count)]


def test_inputs_of_unused_tangents_are_no_residuals():
    def function(x, w, n):
        return [imprint.jit(lambda x: (inp.sin(x), inp.exp(x)))(x)[0]]

    lin = linearize_jaxpr(staged(function), (True, False, False))
    assert len(lin.primal.out_avals) == 2


def test_a_nested_call_hands_its_arguments_to_its_tangent():
    dense = imprint.jit(lambda w, x: x @ w)
    closed = staged(lambda x, w, n: [dense(w, x)])
    (eqn,) = linearize_jaxpr(closed, (True, True, False)).primal.eqns
    assert len(eqn.outvars) == 1
    got = imprint.grad(lambda w: dense(w, X).sum())(inp.asarray(W))
    assert_close(got, np.outer(X, np.ones(3, "float32")), "program")

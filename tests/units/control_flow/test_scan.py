"""Residuals, work and copies of loops, counted in jaxprs here and in JAX."""

import jax
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint import lax
from imprint._src.control_flow.scan import scan_p
from imprint._src.control_flow.while_ import while_p
from imprint._src.interpreters.dce import dce
from tests.units.lax.loop_programs import PROGRAMS, of, total

X = np.linspace(0.1, 1.0, 5, dtype=np.float32)


def equations(function, *args, primitive=scan_p):
    """Return the equations of a primitive that are left in a program."""
    closed = dce(imprint.make_jaxpr(function)(*args))
    return [e for e in closed.eqns if e.primitive is primitive]


def kept(eqn):
    """Return how many slices a step stacks."""
    params = eqn.params
    return len(params["jaxpr"].jaxpr.outvars) - params["num_carry"]


@pytest.mark.parametrize("program", [p for p in PROGRAMS if p.is_reversible], ids=str)
def test_a_gradient_stacks_no_more_than_that_of_jax(program):
    theirs = jax.make_jaxpr(jax.grad(total(of(jax, program)), (0, 1, 2)))(*program.args)
    ours = imprint.make_jaxpr(imprint.grad(total(of(imprint, program)), (0, 1, 2)))
    assert stacked(dce(ours(*program.args)).eqns) <= stacked(theirs.eqns)


def stacked(eqns):
    """Return how many numbers the loops of a program stack."""
    sizes = 0
    for eqn in eqns:
        if eqn.primitive.name == "scan":
            inside = eqn.params["jaxpr"].out_avals
            for var, slice_ in zip(eqn.outvars, inside, strict=True):
                is_stacked = var.aval.shape != slice_.shape
                sizes += is_stacked * int(np.prod(var.aval.shape))
    return sizes


def test_residuals_that_are_the_same_in_each_step_are_kept_once():
    def loss(w, xs):
        return lax.scan(lambda c, x: (c * inp.sin(w) + x, None), X[0], xs)[0] ** 2

    gradient = imprint.grad(loss)
    primal, backward = equations(gradient, 0.5, X)
    assert kept(primal) == 1  # the carry, by which the step is multiplied
    assert kept(backward) == 0
    names = [e.primitive.name for e in dce(imprint.make_jaxpr(gradient)(0.5, X)).eqns]
    assert {"sin", "cos"} <= {*names[: names.index("scan")]}


def test_an_operand_that_is_a_residual_is_not_stacked_again():
    loss = lambda w, xs: lax.scan(lambda c, x: (c + x * w, None), 0.0, xs)[0]
    (primal,) = equations(imprint.grad(loss), 0.5, X)[:1]
    assert kept(primal) == 0


def test_unused_results_are_not_computed():
    def run(xs):
        def step(carry, x):
            a, b = carry
            return (a + x, inp.sin(b) * x), (inp.exp(a), inp.cos(b))

        (a, _), (exponents, _) = lax.scan(step, (xs[0], xs[1]), xs)
        return a, exponents

    (eqn,) = equations(run, X)
    assert eqn.params["num_carry"] == 1
    assert [e.primitive.name for e in eqn.params["jaxpr"].eqns] == ["add", "exp"]


def test_of_a_while_the_carry_that_decides_stays():
    def run(x):
        step = lambda c: (c[0] + 1, inp.sin(c[1]), c[2] * 2)
        return lax.while_loop(lambda c: c[0] < 5, step, (0, x, x))[1]

    (eqn,) = equations(run, 1.0, primitive=while_p)
    assert len(eqn.outvars) == 2
    assert "mul" not in [e.primitive.name for e in eqn.params["body_jaxpr"].eqns]


def test_values_that_a_step_forwards_are_no_part_of_the_loop():
    def run(a, w, xs):
        def step(carry, x):
            fixed, c = carry
            return (fixed, c + x), (x, w, c, c)

        return lax.scan(step, (a, 0.0), xs)

    (eqn,) = equations(run, 1.0, X, X)
    assert eqn.params["num_carry"] == 1
    assert kept(eqn) == 1
    (carried, (x, w, c, d)) = imprint.jit(run)(1.0, X, X)
    assert float(carried[0]) == 1.0
    np.testing.assert_array_equal(np.asarray(x), X)
    np.testing.assert_array_equal(np.asarray(w), np.stack([X] * 5))
    np.testing.assert_array_equal(np.asarray(c), np.asarray(d))


def test_a_bound_that_is_not_mapped_stays_one_number_under_vmap():
    loop = lambda n, x: lax.fori_loop(0, n, lambda i, c: inp.sin(c) + i, x)
    mapped = imprint.vmap(loop, (None, 0))
    (eqn,) = equations(mapped, 3, X, primitive=while_p)
    assert [v.aval.shape for v in eqn.outvars] == [(), (5,)]


def test_the_program_does_not_grow_with_the_number_of_steps():
    run = imprint.jit(
        lambda x, n: lax.scan(lambda c, _: (inp.sin(c), c), x, None, n),
        static_argnums=1,
    )
    texts = [run.lower(1.0, n).as_text() for n in (10, 90)]
    assert texts[0].replace("10", "90") == texts[1].replace("10", "90")
    unrolled = imprint.jit(
        lambda x: lax.scan(lambda c, _: (inp.sin(c), c), x, None, 10, unroll=4)
    )
    text = unrolled.lower(1.0).as_text()
    assert text.count("stablehlo.while") == 1
    assert text.count("call @") == 6  # four in each turn, two behind the loop


def test_a_known_carry_of_a_linear_loop_is_computed_first():
    def loss(x):
        def step(carry, _):
            i, c = carry
            return (i + 1, c * i), None

        return lax.scan(step, (1, x), None, 4)[0][1]

    assert float(imprint.grad(loss)(2.0)) == 24.0
    assert (
        float(imprint.grad(lambda x: imprint.jvp(loss, (1.0,), (x,))[1])(3.0)) == 24.0
    )


def test_loops_of_loops_give_the_memory_of_jax():
    def loss(lib):
        cell = lambda c, x: (lib.numpy.tanh(c * x) + c, None)
        inner = lambda c, x: (lib.lax.scan(cell, c, x)[0], None)
        return lambda c, xs: lib.lax.scan(inner, c, xs)[0].sum()

    xs = np.ones((20, 10, 50), np.float32)
    args = np.ones(50, np.float32), xs
    ours = imprint.jit(imprint.grad(loss(imprint))).lower(*args).compile()
    theirs = jax.jit(jax.grad(loss(jax))).lower(*args).compile()
    used = [c.memory_analysis().temp_size_in_bytes for c in (ours, theirs)]
    assert used[0] <= used[1] * 1.05

"""A symbolic program at some sizes is the program that is traced at these sizes."""

import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint._src.core.jaxpr import check_jaxpr, eval_jaxpr, subjaxprs
from imprint._src.dynamic_shapes.instantiate import instantiate

N, M = imprint.symbolic_shape("n, m")


def scanned(x):
    def step(carry, k):
        return carry + x[0] * x.shape[0] * k, inp.cumsum(carry)

    return imprint.lax.scan(step, inp.zeros(x.shape[1:]), inp.arange(3.0))


def chosen(x):
    grown = lambda x: inp.concatenate([x, x])[: x.shape[0]]
    return imprint.lax.cond(x.sum() > 0, grown, lambda x: x, x)


@imprint.custom_jvp
def doubled(x):
    return x * 2 + inp.arange(x.shape[0])[:, None]


@doubled.defjvp
def _(primals, tangents):
    return doubled(primals[0]), tangents[0] * 2


PROGRAMS = {
    "mean": lambda x: (x.mean(0), x.shape[0], x.shape[1] * 2),
    "reshape": lambda x: (inp.concatenate([x, x]).reshape(-1), inp.zeros((N, N))),
    "sliced": lambda x: (x[1:], x[::2], x[-3:], inp.pad(x, 1)),
    "gathered": lambda x: (
        inp.take(x, inp.arange(1), axis=0, mode="clip"),
        inp.sort(x),
    ),
    "dot": lambda x: x @ x.T + inp.eye(x.shape[0]),
    "grad": lambda x: imprint.grad(lambda x: doubled(inp.tanh(x @ x.T)).sum())(x),
    "scan": scanned,
    "cond": chosen,
    "vmap": imprint.vmap(lambda row: inp.cumsum(row) / row.shape[0]),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_is_the_program_of_these_sizes(name):
    program = PROGRAMS[name]
    struct = imprint.ShapeDtypeStruct((N, M), "float32")
    closed = imprint.make_jaxpr(program)(struct)
    for n, m in ((5, 3), (8, 8)):
        sizes = {"n": n, "m": m}
        at = instantiate(closed, sizes)
        check_jaxpr(at.jaxpr)
        assert "n" not in {*map(str, _sizes(at))}
        x = np.arange(n * m, dtype=np.float32).reshape(n, m) / 10
        if name == "reshape":
            expected = [np.concatenate([x, x]).reshape(-1), np.zeros((n, n))]
        else:
            expected = imprint.tree.leaves(program(inp.asarray(x)))
        came = eval_jaxpr(at.jaxpr, at.consts, x)
        for a, b in zip(came, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)


def _sizes(closed):
    for eqn in closed.eqns:
        assert eqn.primitive.name != "dim_as_value"
        for var in eqn.outvars:
            yield from var.aval.shape
        for body in subjaxprs(eqn):
            yield from _sizes(body)


def test_a_body_that_several_equations_hold_stays_one():
    inner = imprint.jit(lambda x: x * x.shape[0])
    struct = imprint.ShapeDtypeStruct((N,), "float32")
    closed = imprint.make_jaxpr(lambda x: inner(inner(x)))(struct)
    (a,), (b,) = [subjaxprs(eqn) for eqn in instantiate(closed, {"n": 4}).eqns]
    assert a is b
    assert a.in_avals[0].shape == (4,)

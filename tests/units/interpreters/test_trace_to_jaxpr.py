"""Staging: a trace owns its captured values, and ends when it raises."""

import functools

import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint import lax
from imprint._src.core.trace import Tracer
from imprint.errors import UnexpectedTracerError

CAPTURES = {
    "by a function of imprint.numpy": lambda x, table: x * table,
    "by a primitive": lambda x, table: lax.mul(x, table),
    "as a result": lambda x, table: table,
}


@pytest.mark.parametrize("how", CAPTURES)
def test_later_writes_to_a_captured_array_do_not_reach_the_program(how):
    table = np.array([1.0, 2.0], np.float32)
    fun = functools.partial(CAPTURES[how], table=table)
    closed = imprint.make_jaxpr(lambda x: fun(x))(inp.ones(2))
    traced = imprint.jit(lambda x: fun(x)).trace(inp.ones(2))
    table[:] = 9.0
    (const,) = closed.consts
    assert np.array_equal(const, [1.0, 2.0])
    assert np.array_equal(traced.lower().compile()(inp.ones(2)), [1.0, 2.0])


def test_an_array_that_is_captured_twice_is_one_constant():
    for table in (np.ones(2, np.float32), inp.ones(2)):
        twice = imprint.make_jaxpr(lambda x, t=table: lax.add(lax.mul(x, t), t))
        assert len(twice(inp.ones(2)).consts) == 1


def test_a_captured_array_is_a_constant_of_the_jaxpr_whatever_its_rank():
    # Equinox hands the constants to both branches of a cond, traced in one, not in the other.
    scale = inp.array(2.0)

    def step(carry, x):
        return carry * scale + x, carry

    straight = imprint.make_jaxpr(lambda x: x * scale)
    looped = imprint.make_jaxpr(lambda x: lax.scan(step, x, inp.ones(3)))
    assert [float(const) for const in straight(1.0).consts] == [2.0]
    assert [const.ndim for const in looped(1.0).consts] == [0]
    assert not imprint.jit(lambda x: x * scale).trace(1.0).jaxpr.consts


TRANSFORMS = {
    "jit": lambda f: imprint.jit(f)(1.0),
    "make_jaxpr": lambda f: imprint.make_jaxpr(f)(1.0),
    "jvp": lambda f: imprint.jvp(f, (1.0,), (1.0,)),
    "vmap": lambda f: imprint.vmap(f)(inp.ones(2)),
    "grad": lambda f: imprint.grad(f)(1.0),
    "linearize": lambda f: imprint.linearize(f, 1.0),
    "vjp": lambda f: imprint.vjp(f, 1.0),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_a_tracer_of_a_trace_that_raised_is_a_leaked_one(name):
    kept = []

    def fails(x):
        kept.append(inp.sin(x))
        raise RuntimeError("in the user's function")

    with pytest.raises(RuntimeError, match="in the user's function"):
        TRANSFORMS[name](fails)
    (tracer,) = kept
    assert isinstance(tracer, Tracer)
    assert tracer.owner.ended
    for use in (float, lambda t: imprint.jit(lambda x: x + t)(1.0)):
        with pytest.raises(UnexpectedTracerError, match="leaked tracer"):
            use(tracer)


def test_the_tangent_program_of_a_linearization_that_raised_has_ended_too():
    kept = []

    def fails(x):
        kept.append(x)
        raise RuntimeError

    with pytest.raises(RuntimeError):
        imprint.linearize(fails, 1.0)
    assert kept[0].tangent.owner.ended

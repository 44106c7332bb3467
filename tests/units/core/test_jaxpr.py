"""Replaying a jaxpr: derived equations keep the line of user code."""

import inspect

import pytest

import imprint
import imprint.numpy as inp
from imprint._src.config import enable_checks
from imprint._src.core import jaxpr as jaxpr_module
from imprint._src.core.jaxpr import (
    ClosedJaxpr,
    Eqn,
    Jaxpr,
    Var,
    check_jaxpr,
    eval_jaxpr,
    subjaxprs,
)
from imprint.errors import InternalError


def inner(x):
    return inp.sin(x) * 3.0


def lines_of(closed):
    """Return the lines of all equations, those of nested jaxprs included."""
    for eqn in closed.eqns:
        yield from (line for part in subjaxprs(eqn) for line in lines_of(part))
        if not subjaxprs(eqn):
            yield eqn.source.file, eqn.source.line


LINE = __file__, inspect.getsourcelines(inner)[1] + 1

called = imprint.jit(inner)
calling = imprint.jit(
    lambda x: called(x)
)  # its line is the call's, not that of `inner`

PROGRAMS = {
    "inlined": imprint.jit(inner, inline=True),
    "derived by jvp": lambda x: imprint.jvp(imprint.jit(inner), (x,), (x,)),
    "derived by vmap": imprint.vmap(imprint.jit(inner)),
    "derived by grad": lambda x: imprint.vjp(imprint.jit(inner), x)[0],
    "called inside, derived by jvp": lambda x: imprint.jvp(calling, (x,), (x,)),
    "called inside, derived by vmap": imprint.vmap(calling),
    "called inside, transposed": lambda x: imprint.vjp(calling, x)[1](x),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_an_equation_that_is_replayed_keeps_its_source(name):
    closed = imprint.make_jaxpr(PROGRAMS[name])(inp.ones(2))
    lines = set(lines_of(closed))
    assert lines
    assert lines == {LINE}


def test_after_a_replay_that_raised_new_equations_have_their_own_source():
    closed = imprint.make_jaxpr(inner)(inp.ones(2))

    def fails_first(x):
        with pytest.raises(TypeError):
            eval_jaxpr(closed.jaxpr, closed.consts, "no array")
        return inp.cos(x)

    (line,) = set(lines_of(imprint.make_jaxpr(fails_first)(inp.ones(2))))
    assert line != LINE


def test_bodies_are_the_jaxprs_that_equations_hold_in_order():
    def choose(x):
        y = called(x)
        return imprint.lax.cond(x > 0, inp.sin, inp.cos, y)

    jaxpr = imprint.make_jaxpr(choose)(1.0).jaxpr
    held = [subjaxprs(eqn) for eqn in jaxpr.eqns]
    assert [len(one) for one in held if one] == [1, 2]
    assert jaxpr.bodies == tuple(body for one in held for body in one)


# ---- the checker ----


def doubled(times):
    """Return a function that calls itself twice, `times` levels deep."""
    f = imprint.jit(lambda x: x + 1.0)
    for _ in range(times):
        f = imprint.jit(lambda x, f=f: f(f(x)))
    return f


def test_a_body_that_many_calls_hold_is_checked_once(monkeypatch):
    with enable_checks(False):
        closed = imprint.make_jaxpr(doubled(20))(1.0)
    seen = []
    check_eqn = jaxpr_module._check_eqn
    monkeypatch.setattr(
        jaxpr_module, "_check_eqn", lambda *args: seen.append(args) or check_eqn(*args)
    )
    check_jaxpr(closed.jaxpr)
    assert len(seen) < 100


def test_a_mistake_in_a_body_is_found_through_its_calls():
    with enable_checks(False):
        closed = imprint.make_jaxpr(doubled(1))(1.0)
    (outer,) = closed.eqns
    (first, second) = outer.params["jaxpr"].eqns
    (eqn,) = first.params["jaxpr"].eqns
    body = first.params["jaxpr"].jaxpr
    unbound = Eqn([Var(v.aval) for v in eqn.invars], eqn.outvars, eqn.primitive, {})
    broken = Jaxpr((), body.invars, body.outvars, [unbound], body.name)
    params = {**second.params, "jaxpr": ClosedJaxpr(broken)}
    call = Eqn(closed.jaxpr.invars, outer.outvars, outer.primitive, params)
    with pytest.raises(InternalError, match=r"add: .* is used unbound"):
        check_jaxpr(Jaxpr((), closed.jaxpr.invars, outer.outvars, [call]))

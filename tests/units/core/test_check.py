"""The checker of jaxprs: what is held many times is checked once."""

import pytest

import imprint
from imprint._src.config import enable_checks
from imprint._src.core import check
from imprint._src.core.jaxpr import ClosedJaxpr, Eqn, Jaxpr, Var
from imprint.errors import InternalError


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
    check_eqn = check._check_eqn
    monkeypatch.setattr(
        check, "_check_eqn", lambda *args: seen.append(args) or check_eqn(*args)
    )
    check.check_jaxpr(closed.jaxpr)
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
        check.check_jaxpr(Jaxpr((), closed.jaxpr.invars, outer.outvars, [call]))

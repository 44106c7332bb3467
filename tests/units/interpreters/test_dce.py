"""Dead code is removed, also in nested calls: equations, results, operands."""

import gc
import weakref

import numpy as np

import imprint
import imprint.numpy as inp
from imprint._src.core.jaxpr import eval_jaxpr
from imprint._src.interpreters.dce import dce, dce_jaxpr, narrow, used_invars
from tests.tolerances import assert_close

X = np.linspace(0.5, 1.5, 4, dtype="float32").reshape(2, 2)


@imprint.jit
def halves(x, w):
    return inp.sin(x), x @ w


def half(x, w):
    return halves(x, w)[0]


def test_an_unused_equation_is_dropped_and_the_arguments_stay():
    closed = imprint.make_jaxpr(lambda x, w: (x @ w, x + 1)[1])(X, X)
    kept = dce(closed)
    assert [eqn.primitive.name for eqn in kept.eqns] == ["add"]
    assert len(kept.in_avals) == 2
    assert used_invars(kept.jaxpr) == [True, False]


def test_a_nested_call_loses_results_equations_and_operands():
    jaxpr = dce_jaxpr(imprint.make_jaxpr(half)(X, X).jaxpr)
    (eqn,) = jaxpr.eqns
    (inner,) = eqn.primitive.jaxprs(eqn.params)
    assert [e.primitive.name for e in inner.eqns] == ["sin"]
    assert list(eqn.invars) == [jaxpr.invars[0]]
    assert len(eqn.outvars) == len(inner.out_avals) == 1
    assert used_invars(jaxpr) == [True, False]


def test_operands_of_a_dropped_inner_call_are_dropped():
    outer = imprint.jit(lambda x, w: [y * 2 for y in halves(x, w)])
    jaxpr = dce_jaxpr(imprint.make_jaxpr(lambda x, w: outer(x, w)[0])(X, X).jaxpr)
    assert "dot_general" not in str(jaxpr)
    assert used_invars(jaxpr) == [True, False]


def test_a_dead_dot_inside_a_nested_call_is_not_lowered():
    lowered = imprint.jit(half).lower(X, X)
    assert "dot_general" not in lowered.as_text()
    assert_close(lowered.compile()(X, X), np.sin(X), "program")


def test_a_call_that_is_needed_whole_stays_the_object_that_it_was():
    whole = imprint.make_jaxpr(lambda x, w: [*halves(x, w), *halves(w, x)])(X, X)
    assert all(a is b for a, b in zip(dce(whole).eqns, whole.eqns, strict=True))


def test_calls_that_are_narrowed_alike_still_share_their_jaxpr():
    two = imprint.make_jaxpr(lambda x, w: half(x, w) + half(w, x))(X, X)
    first, second = [e.params["jaxpr"] for e in dce(two).eqns if "jaxpr" in e.params]
    assert first is second


def test_each_choice_of_results_gives_the_values_of_those():
    closed = imprint.make_jaxpr(lambda x, w: halves(x, w))(X, X)
    both = eval_jaxpr(closed.jaxpr, closed.consts, X, X)
    for used in [(True, True), (True, False), (False, True), (False, False)]:
        kept = dce(closed, used)
        got = eval_jaxpr(kept.jaxpr, kept.consts, X, X)
        want = [y for y, u in zip(both, used, strict=True) if u]
        for a, b in zip(got, want, strict=True):
            assert_close(a, np.asarray(b), "program")


def test_arguments_can_be_kept_that_are_not_needed():
    (eqn,) = imprint.make_jaxpr(half)(X, X).eqns
    narrower, kept = narrow(eqn.params["jaxpr"], (True, False), keep=(False, True))
    assert kept == (True, True)
    assert len(narrower.in_avals) == 2
    assert [e.primitive.name for e in narrower.eqns] == ["sin"]


def test_derived_data_dies_with_the_jaxpr():
    gc.disable()
    try:
        closed = imprint.make_jaxpr(lambda x: inp.sin(x))(X)
        narrow(closed, (True,))
        gone = weakref.ref(closed)
        del closed
        assert gone() is None
    finally:
        gc.enable()

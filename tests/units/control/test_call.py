"""The nested call: its reference means what it computes, compiled."""

import numpy as np

import imprint
from imprint.control.call import jit_p
from tests.tolerances import assert_close


def test_the_reference_of_a_call_interprets_its_jaxpr():
    inner = imprint.jit(lambda x, y: (imprint.numpy.sin(x) * y + 2.0, y.sum()))
    x, y = np.linspace(0, 1, 3, dtype="float32"), np.ones(3, "float32")
    (eqn,) = imprint.make_jaxpr(inner)(x, y).jaxpr.eqns
    assert eqn.primitive is jit_p
    for got, want in zip(jit_p.reference(x, y, **eqn.params), inner(x, y), strict=True):
        assert_close(got, want, "program")


def test_a_call_in_a_call_is_interpreted_too():
    inner = imprint.jit(lambda x: x * 3)
    outer = imprint.jit(lambda x: inner(x) - inner(x + 1))
    x = np.linspace(0, 1, 3, dtype="float32")
    (eqn,) = imprint.make_jaxpr(outer)(x).jaxpr.eqns
    (got,) = jit_p.reference(x, **eqn.params)
    assert_close(got, outer(x), "program")

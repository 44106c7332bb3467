"""The nested call: its reference equals the compiled program."""

import numpy as np
import pytest

import imprint
from imprint._src.control_flow.call import jit_p
from imprint.errors import DeletedArrayError, NonFiniteError
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


def test_a_call_without_a_tangent_stages_none():
    steps = imprint.jit(lambda x: imprint.numpy.sign(x) + imprint.numpy.floor(x))

    def push(x, t):
        return imprint.linearize(lambda x: steps(x) * x, x)[1](t)

    eqns = imprint.make_jaxpr(push)(1.5, 1.0).eqns
    assert [e.primitive.name for e in eqns].count("jit") == 1


TRANSFORMED = {
    "jvp": lambda f, x: imprint.jvp(f, (x,), (np.float32(1),)),
    "vmap": lambda f, x: imprint.vmap(f)(np.stack([x, x])),
    "grad": lambda f, x: imprint.grad(f)(x),
}


@pytest.mark.parametrize("name", TRANSFORMED)
def test_debug_nans_watches_calls_that_are_compiled_eagerly(name):
    f, apply = imprint.jit(imprint.numpy.log), TRANSFORMED[name]
    apply(f, np.float32(2))
    with imprint.debug_nans(), pytest.raises(NonFiniteError, match="`log`"):
        apply(f, np.float32(-1))
    apply(f, np.float32(-1))


def test_a_residual_that_was_donated_names_the_call_that_took_it():
    x = imprint.numpy.ones(4)
    _, pull = imprint.vjp(imprint.jit(lambda x: imprint.numpy.sin(x) * x), x)
    imprint.jit(lambda x: x + 1, donate_argnums=0)(x)
    with pytest.raises(DeletedArrayError, match="donated as argument x of <lambda>"):
        pull(imprint.numpy.ones(4))

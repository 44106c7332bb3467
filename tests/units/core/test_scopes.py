"""Named scopes as in JAX: in sources of jaxprs, and in the metadata of XLA."""

import re

import pytest

import imprint
import imprint.numpy as inp
from imprint import lax
from imprint._src.diagnostics.source import current_source, replayed_source
from tests.oracle import jax


def scopes(lib, f, *args):
    """Return the name of each equation with the scopes around it."""
    eqns = lib.make_jaxpr(f)(*args).eqns
    if lib is imprint:
        return [(str(e.primitive), e.source.scope) for e in eqns]
    return [(str(e.primitive), str(e.source_info.name_stack)) for e in eqns]


def layered(lib, x):
    with lib.named_scope("layer"):
        with lib.named_scope("attention 1"):
            y = lib.numpy.sin(x)
        z = y * 2.0
    return lib.named_call(lib.numpy.cos, name="cosine")(z) + 1.0


def decorated(lib, x):
    @lib.named_scope("deco")
    def f(x):
        return x * 2.0

    return f(f(x))


def raising(lib, x):
    with pytest.raises(ValueError, match="stop"), lib.named_scope("gone"):
        raise ValueError("stop")
    return x + 1.0


PROGRAMS = {
    "scopes within scopes": layered,
    "a decorated function": decorated,
    "an exception inside": raising,
    "the name of the function": lambda lib, x: lib.named_call(layered)(lib, x),
    "around a jitted function": lambda lib, x: lib.named_call(
        lib.jit(lambda y: layered(lib, y)), name="whole"
    )(x),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_equation_has_the_scopes_of_its_line(name):
    ours, theirs = (
        scopes(lib, lambda x, lib=lib: PROGRAMS[name](lib, x), 1.0)
        for lib in (imprint, jax)
    )
    assert ours == theirs


def test_a_jitted_function_inside_has_the_scopes_of_its_own():
    f = imprint.jit(lambda x: layered(imprint, x))
    (eqn,) = imprint.make_jaxpr(imprint.named_call(f, name="whole"))(1.0).eqns
    assert eqn.source.scope == "whole"
    inside = [e.source.scope for e in eqn.params["jaxpr"].eqns]
    assert inside == ["layer/attention 1", "layer", "cosine", ""]


def test_derived_equations_stay_in_their_scope():
    def f(x):
        with imprint.named_scope("wave"):
            return inp.sin(x) * x

    for wrap in (imprint.grad, lambda f: imprint.grad(imprint.jit(f)), imprint.vmap):
        x = 1.0 if wrap is not imprint.vmap else inp.ones(2)
        text = imprint.jit(wrap(f)).lower(x).as_text(debug_info=True)
        assert '"wave/sin"' in text or '"wave/cos"' in text


def test_names_reach_the_metadata_of_the_engine():
    def f(x):
        with imprint.named_scope('a "quoted" layer'):
            return imprint.vmap(lambda y: lax.psum(y, "i"), axis_name="i")(x)

    lowered = imprint.jit(f).lower(inp.ones(3))
    assert 'loc("a \\22quoted\\22 layer/reduce_sum"(#loc' in lowered.as_text(
        debug_info=True
    )
    compiled = lowered.compile().as_text()
    assert re.search(r'op_name="a .* layer/reduce_sum"', compiled)


def test_names_change_no_program():
    def f(x, name):
        with imprint.named_scope(name):
            return x + 1.0

    texts = {
        imprint.jit(lambda x, name=name: f(x, name)).lower(1.0).as_text()
        for name in ("a", "b")
    }
    assert len(texts) == 1


def test_a_scope_outside_of_traces_does_nothing():
    with imprint.named_scope("here"):
        assert (inp.ones(2) + 1).tolist() == [2, 2]
        assert current_source().scope == "here"
    assert replayed_source() is None


@pytest.mark.parametrize("bad", [3, None])
def test_a_name_is_text(bad):
    for lib in (imprint, jax):
        with pytest.raises(TypeError):
            lib.named_scope(bad)
    with pytest.raises(TypeError) as caught:
        imprint.named_scope(3)
    assert str(caught.value) == (
        "named_scope: expected a name as a string, got int 3. Write it as text, such as "
        "'attention'."
    )

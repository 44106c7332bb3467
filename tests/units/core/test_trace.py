"""`ensure_compile_time_eval` as in JAX: known values are computed, others traced."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import imprint
import imprint.numpy as inp


def sizes(lib, np_, x):
    with lib.ensure_compile_time_eval():
        count = int(np_.sin(np_.array(3.0)) * 20)
    return x[:count]


def branches(lib, np_, x):
    table = np_.arange(3)
    with lib.ensure_compile_time_eval():
        if np_.array([1, 2]).sum() > 2:
            return x * int(np_.arange(3).argmax())
    return x + table


def traced_inside(lib, np_, x):
    with lib.ensure_compile_time_eval():
        return x + np_.ones(x.shape)


def nested_jit(lib, np_, x):
    with lib.ensure_compile_time_eval():
        size = int(lib.jit(lambda a: a.sum())(np_.array([1, 2])))
    return x[:size]


def gradients(lib, np_, x):
    with lib.ensure_compile_time_eval():
        slope = float(lib.grad(lambda a: a**2)(3.0))
        rest = lib.grad(lambda a: (a * x[0]) ** 2)(2.0)
    return x * slope + rest


PROGRAMS = (sizes, branches, traced_inside, nested_jit, gradients)
TRANSFORMS = {
    "jit": lambda lib, f: lib.jit(f),
    "vmap": lambda lib, f: lib.vmap(f),
    "jit of vmap": lambda lib, f: lib.jit(lib.vmap(f)),
    "grad": lambda lib, f: lib.vmap(lib.grad(lambda x: f(x).sum())),
    "nothing": lambda lib, f: lambda xs: np_stack([f(x) for x in xs]),
}


def np_stack(xs):
    return np.stack([np.asarray(x) for x in xs])


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_as_jax(program, transform):
    data = np.linspace(1, 2, 12, dtype=np.float32).reshape(3, 4)

    def one(lib, np_):
        return lambda x: program(lib, np_, x)

    def rows(lib, np_):
        f = one(lib, np_)
        return (lambda xs: np_.stack([f(x) for x in xs])) if transform == "jit" else f

    got = TRANSFORMS[transform](imprint, rows(imprint, inp))(inp.asarray(data))
    want = TRANSFORMS[transform](jax, rows(jax, jnp))(jnp.asarray(data))
    np.testing.assert_allclose(got, want, rtol=1e-6)


def test_known_values_are_no_equations():
    def f(x):
        with imprint.ensure_compile_time_eval():
            total = inp.arange(5).sum()
        return x + total

    eqns = imprint.make_jaxpr(f)(1).jaxpr.eqns
    assert {eqn.primitive.name for eqn in eqns} <= {"add", "convert_element_type"}


def test_the_trace_goes_on_after_the_block():
    def f(x):
        with pytest.raises(KeyError), imprint.ensure_compile_time_eval():
            raise KeyError
        return inp.arange(3) * x

    assert len(imprint.make_jaxpr(f)(2).jaxpr.eqns) >= 2

"""What `grad`, `vjp`, `jvp` and `linearize` take and return, beside JAX."""

import numpy
import pytest

import imprint
import imprint.numpy as inp
from imprint.errors import ArgumentError
from tests.oracle import jax
from tests.tolerances import assert_close

Z = numpy.complex64(1 + 2j)


def check(run, *, weak=True):
    """Compare what `run(api)` gives: the values, the dtypes and the weak types."""
    got, want = imprint.tree.leaves(run(imprint)), jax.tree.leaves(run(jax))
    for x, y in zip(got, want, strict=True):
        assert (x.shape, x.dtype) == (y.shape, y.dtype)
        assert not weak or x.weak_type == y.weak_type
        assert_close(x, y, "gradient")


# ---- complex numbers ----

OF_COMPLEX = {
    "abs": lambda np: lambda z: np.abs(z),
    "real": lambda np: lambda z: (z * z).real,
    "imag": lambda np: lambda z: (z * z * z).imag,
    "product with the conjugate": lambda np: lambda z: (z * np.conj(z)).real,
    "exp": lambda np: lambda z: np.real(np.exp(z)),
    "a real part": lambda np: lambda z: z.real * z.imag,
    "angle": lambda np: lambda z: np.angle(z * 2),
    "a power": lambda np: lambda z: np.abs(z**3),
    "nothing of it": lambda np: lambda z: np.asarray(1.0),
}


@pytest.mark.parametrize("name", OF_COMPLEX)
def test_the_gradient_of_a_real_function_of_complex_numbers_is_that_of_jax(name):
    check(lambda api: api.grad(OF_COMPLEX[name](api.numpy))(Z))
    check(lambda api: api.jit(api.grad(OF_COMPLEX[name](api.numpy)))(Z))
    check(
        lambda api: api.vmap(api.grad(OF_COMPLEX[name](api.numpy)))(
            Z * numpy.ones(2, "f")
        )
    )


def test_complex_and_real_arguments_and_second_derivatives():
    def mixed(z, x):
        return (z * z * x).real

    def inner(api):
        return lambda z: api.numpy.real(api.grad(lambda w: (w * w * w).real)(z))

    check(lambda api: api.grad(mixed, argnums=(0, 1))(Z, numpy.float32(2)))
    check(lambda api: api.grad(inner(api))(Z))


# ---- which arguments ----


@pytest.mark.parametrize(
    "argnums",
    [
        0,
        1,
        -1,
        (0,),
        (1, 0),
        (-1, 0),
        [0, 1],
        range(2),
        numpy.arange(2),
        numpy.int64(1),
    ],
)
def test_argnums(argnums):
    check(lambda api: api.grad(lambda x, y: x * y * y, argnums)(2.0, 3.0))


@pytest.mark.parametrize(
    "argnums", [(), (0, 0), (1, -1), 2, -3, 1.0, "x", ("x",), None, (0, 2)]
)
def test_argnums_that_name_no_argument_or_one_twice(argnums):
    for api in (jax, imprint):
        with pytest.raises((TypeError, ValueError)):
            api.grad(lambda x, y: x * y * y, argnums)(2.0, 3.0)


def test_an_argument_named_twice_is_told():
    with pytest.raises(ArgumentError, match=r"each once, got \(1, -1\)"):
        imprint.grad(lambda x, y: x * y, (1, -1))(2.0, 3.0)


# ---- dtypes and weak types ----

F32 = numpy.float32(1)
WEAK = {
    "an unused number": lambda api: api.grad(lambda x, y: x, (0, 1))(1.0, 2.0),
    "an unused scalar": lambda api: api.grad(lambda x, y: x, (0, 1))(F32, F32),
    "an unused array": lambda api: api.grad(lambda x, y: x, (0, 1))(1.0, numpy.ones(2)),
    "a constant": lambda api: api.grad(lambda x: 1.0)(1.0),
    "a typed constant": lambda api: api.grad(lambda x: F32)(1.0),
    "floor": lambda api: api.grad(api.numpy.floor)(1.0),
    "floor of an array": lambda api: api.grad(lambda x: api.numpy.floor(x).sum())(
        api.numpy.full(2, 1.0)
    ),
    "jvp": lambda api: api.jvp(api.numpy.floor, (1.0,), (1.0,))[1],
    "jvp of a constant": lambda api: api.jvp(lambda x: F32, (1.0,), (1.0,))[1],
    "vjp": lambda api: api.vjp(lambda x, y: x * 2, 1.0, 2.0)[1](1.0),
    "linearize": lambda api: api.linearize(lambda x: (2.0, api.numpy.floor(x)), 1.0)[1](
        1.0
    ),
    "in jit": lambda api: api.jit(api.grad(lambda x, y: x, (0, 1)))(1.0, 2.0),
    "of jit": lambda api: api.grad(api.jit(lambda x, y: x), (0, 1))(1.0, 2.0),
    "twice": lambda api: api.grad(api.grad(lambda x: x))(1.0),
    "mapped": lambda api: api.vmap(
        lambda x: api.jvp(lambda x: api.numpy.floor(x), (x,), (x,))[1]
    )(api.numpy.full(2, 1.0)),
}


@pytest.mark.parametrize("name", WEAK)
def test_a_zero_derivative_has_the_weak_type_of_jax(name):
    check(WEAK[name])


# ---- enable_x64 inside ----


def widened(api):
    def function(x):
        with api.enable_x64(True):
            y = api.numpy.asarray(x, "float64") * 2 + numpy.float64(1)
        return (y * y).astype("float32").sum()

    return function


def constant(api):
    def function(x):
        with api.enable_x64(True):
            y = api.numpy.zeros(3) + 1
            total = (y * y).sum() ** 3
        return total.astype("float32") * x

    return function


def wide_result(api):
    def function(x):
        with api.enable_x64(True):
            return api.numpy.asarray(x, "float64") ** 3

    return function


def divided(api):
    def function(x):
        with api.enable_x64(True):
            y = api.numpy.tanh(api.numpy.asarray(x, "float64") / 3.0)
        return y.astype("float32")

    return function


INSIDE = {
    "grad": lambda api, f: api.grad(f),
    "grad of grad": lambda api, f: api.grad(api.grad(f)),
    "linearize": lambda api, f: lambda x: api.linearize(f, x)[1](x),
    "jvp": lambda api, f: lambda x: api.jvp(f, (x,), (x,)),
    "vmap of grad": lambda api, f: (
        lambda x: api.vmap(api.grad(f))(api.numpy.stack([x, x]))
    ),
    "jit of grad": lambda api, f: api.jit(api.grad(f)),
    "grad of jit": lambda api, f: api.grad(api.jit(f)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", INSIDE)
@pytest.mark.parametrize("f", [widened, constant, wide_result, divided])
def test_enable_x64_inside_of_what_is_differentiated(f, name):
    check(lambda api: INSIDE[name](api, f(api))(numpy.float32(3)))


@pytest.mark.parametrize("f", [widened, constant, wide_result, divided])
def test_enable_x64_inside_at_a_python_number(f):
    check(lambda api: api.grad(f(api))(3.0))
    want = float(jax.jvp(f(jax), (numpy.float32(3),), (numpy.float32(1),))[1])
    assert float(imprint.jvp(f(imprint), (3.0,), (1.0,))[1]) == want
    assert float(imprint.linearize(f(imprint), 3.0)[1](1.0)) == want


def test_a_pullback_keeps_the_dtypes_that_it_was_made_with():
    def run(api):
        with api.enable_x64(True):
            out, pullback = api.vjp(lambda x: x * x * x, numpy.float64(3))
        return pullback(api.numpy.asarray(out))

    check(run)
    with imprint.enable_x64(True):
        _, push = imprint.linearize(lambda x: x * inp.sin(x) * 2, numpy.float64(3))
    with imprint.enable_x64(True):
        want = push(numpy.float64(1))
        tangent = inp.asarray(numpy.float64(1))
    assert push(tangent).dtype == want.dtype
    assert float(push(tangent)) == float(want)

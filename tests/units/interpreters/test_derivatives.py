"""Arguments and results of `grad`, `vjp`, `jvp` and `linearize`, as in JAX."""

import re

import numpy
import pytest

import imprint
import imprint.numpy as inp
from imprint._src.primitives.core_ops import full
from imprint.errors import ArgumentError
from tests.oracle import jax
from tests.tolerances import assert_close

Z = numpy.complex64(1 + 2j)


def check(run, *, weak=True):
    """Compare the values, dtypes and weak types of `run(api)`."""
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
@pytest.mark.parametrize("transform", ["grad", "jacfwd", "jacrev", "hessian"])
def test_argnums(transform, argnums):
    check(lambda api: getattr(api, transform)(_product, argnums)(2.0, 3.0))


@pytest.mark.parametrize(
    "argnums", [(), (0, 0), (1, -1), 2, -3, 1.0, "x", ("x",), None, (0, 2)]
)
@pytest.mark.parametrize("transform", ["grad", "jacfwd", "jacrev", "hessian"])
def test_argnums_that_name_no_argument_or_one_twice(transform, argnums):
    with pytest.raises((TypeError, ValueError)):
        getattr(jax, transform)(_product, argnums)(2.0, 3.0)
    with pytest.raises(ArgumentError, match=r"\(_product\): expected .*argnums"):
        getattr(imprint, transform)(_product, argnums)(2.0, 3.0)


def _product(x, y):
    return x * y * y


def test_an_argument_named_twice_raises():
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


@pytest.mark.sampled(2)
@pytest.mark.slow
@pytest.mark.parametrize("name", INSIDE)
@pytest.mark.parametrize("f", [widened, constant, wide_result, divided])
def test_enable_x64_inside_a_differentiated_function(f, name):
    check(lambda api: INSIDE[name](api, f(api))(numpy.float32(3)))


@pytest.mark.parametrize("f", [widened, constant, wide_result, divided])
def test_enable_x64_inside_at_a_python_number(f):
    check(lambda api: api.grad(f(api))(3.0))
    want = float(jax.jvp(f(jax), (numpy.float32(3),), (numpy.float32(1),))[1])
    assert float(imprint.jvp(f(imprint), (3.0,), (1.0,))[1]) == want
    assert float(imprint.linearize(f(imprint), 3.0)[1](1.0)) == want


def test_a_python_number_keeps_its_dtype_where_enable_x64_is_another():
    def f(x):
        with imprint.enable_x64(True):
            return inp.sin(x) * 2

    for derivative in (
        imprint.grad(f)(3.0),
        imprint.jvp(f, (3.0,), (1.0,))[1],
        imprint.linearize(f, 3.0)[1](1.0),
    ):
        assert derivative.dtype == "float32"
        assert float(derivative) == pytest.approx(2 * numpy.cos(3.0), rel=1e-6)


def test_a_constant_of_a_rule_has_the_requested_dtype():
    for shape in ((), (2,)):
        assert full(shape, 1, numpy.dtype("float64")).dtype == "float64"


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


# ---- the linear functions are nodes of pytrees ----


def pulled(api, x):
    return api.vjp(lambda t: {"out": api.numpy.sin(t["a"]) * t["b"]}, x)[1]


def pushed(api, x):
    return api.linearize(lambda t: api.numpy.sin(t["a"]) * t["b"], x)[1]


AT = {"a": 2.0, "b": numpy.array([1.0, 3.0], "float32")}
CT = {"out": numpy.array([2.0, 5.0], "float32")}
ROWS = {"a": numpy.ones((3, 2), "float32"), "b": numpy.ones((3, 2), "float32")}
NODES = {
    "an argument of jit": lambda api: api.jit(lambda f, ct: f(ct))(pulled(api, AT), CT),
    "a result of jit": lambda api: api.jit(lambda x: pulled(api, x))(AT)(CT),
    "mapped": lambda api: api.tree.map(lambda x: 2 * x, api.vjp(api.numpy.sin, 2.0)[1])(
        1.0
    ),
    "a result and an argument of vmap": lambda api: api.vmap(lambda f, ct: f(ct))(
        api.vmap(lambda x: pulled(api, x))(ROWS), {"out": ROWS["a"]}
    ),
    "of a jitted function": lambda api: api.jit(lambda f: f(1.0))(
        api.vjp(api.jit(api.numpy.sin), 2.0)[1]
    ),
    "of linearize, an argument": lambda api: api.jit(lambda f, t: f(t))(
        pushed(api, AT), AT
    ),
    "of linearize, a result": lambda api: api.jit(lambda x: pushed(api, x))(AT)(AT),
    "of linearize, mapped": lambda api: api.tree.map(
        lambda x: 2 * x, api.linearize(api.numpy.sin, 2.0)[1]
    )(1.0),
    "jitted": lambda api: api.jit(pulled(api, AT))(CT),
    "differentiated": lambda api: api.grad(
        lambda x: pulled(api, {"a": x, "b": 3.0})({"out": 1.0})[0]["a"]
    )(2.0),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", NODES)
def test_a_linear_function_is_a_node_as_in_jax(name):
    check(NODES[name], weak=False)


def test_each_linear_function_is_answered_by_its_own_program():
    apply = imprint.jit(lambda f, x: f(x))
    made = [inp.sin, inp.cos, inp.exp, lambda x: x * 3]
    for _ in range(2):
        for f in made:
            _, push = imprint.linearize(f, 2.0)
            assert float(apply(push, 1.0)) == pytest.approx(float(push(1.0)), rel=1e-6)
    once = imprint.linearize(inp.sin, 2.0)[1]
    twice = imprint.tree.map(lambda x: x * 2, once)
    before = apply._cache_size()
    assert float(apply(twice, 1.0)) == pytest.approx(2 * float(apply(once, 1.0)))
    assert apply._cache_size() == before + 1


def test_a_changed_captured_linear_function_is_seen():
    held = [imprint.linearize(inp.sin, 2.0)[1]]
    f = imprint.jit(lambda t: held[0](t))
    assert float(f(1.0)) == pytest.approx(numpy.cos(2.0), rel=1e-6)
    held[0] = imprint.linearize(inp.exp, 2.0)[1]
    assert float(f(1.0)) == pytest.approx(numpy.exp(2.0), rel=1e-6)
    for factor in (3.0, 5.0):  # no residuals: only the programs differ
        held[0] = imprint.linearize(lambda x, by=factor: x * by, 2.0)[1]
        assert float(f(1.0)) == factor


# ---- auxiliary data ----


def with_aux(x):
    return x * 2, {"twice": x * 2, "text": "s", "count": 3, "none": None, "type": int}


@pytest.mark.parametrize(
    "transform", ["grad", "value_and_grad", "vjp", "jvp", "linearize"]
)
def test_aux_may_be_anything(transform):
    def run(api):
        if transform == "grad":
            return api.grad(with_aux, has_aux=True)(3.0)[1]
        if transform == "value_and_grad":
            return api.value_and_grad(with_aux, has_aux=True)(3.0)[0][1]
        if transform == "jvp":
            return api.jvp(with_aux, (3.0,), (1.0,), has_aux=True)[2]
        return getattr(api, transform)(with_aux, 3.0, has_aux=True)[2]

    got, want = run(imprint), run(jax)
    assert float(got.pop("twice")) == float(want.pop("twice"))
    assert got == want


def test_linearize_with_aux():
    out, push, aux = imprint.linearize(lambda x: (x * x, x + 1), 3.0, has_aux=True)
    assert (float(out), float(push(1.0)), float(aux)) == (9.0, 6.0, 4.0)


# ---- wrong calls ----

ONES = numpy.ones(2, "float32")
WRONG = {
    "no tangent": lambda api: api.jvp(lambda x: x, (1.0,), ()),
    "no tuple": lambda api: api.jvp(lambda x: x, 1.0, 1.0),
    "another tree of tangents": lambda api: api.jvp(
        lambda x: x["a"], ({"a": 1.0},), ({"b": 1.0},)
    ),
    "a leaf for a tree": lambda api: api.jvp(lambda x: x["a"], ({"a": 1.0},), (1.0,)),
    "None for a tangent": lambda api: api.jvp(lambda x: x, (1.0,), (None,)),
    "another shape": lambda api: api.jvp(lambda x: x, (ONES,), (numpy.ones(3, "f"),)),
    "a tangent of another dtype": lambda api: api.jvp(
        lambda x: x, (ONES,), (ONES.astype("float16"),)
    ),
    "an integer as tangent": lambda api: api.jvp(lambda x: x, (1.0,), (1,)),
    "a tangent of an integer": lambda api: api.jvp(lambda x: x, (1,), (1,)),
    "float0 for a float": lambda api: api.jvp(
        lambda x: x, (1.0,), (numpy.zeros((), jax.dtypes.float0),)
    ),
    "text": lambda api: api.jvp(lambda x: x, ("a",), (1.0,)),
    "no function": lambda api: api.jvp(3, (1.0,), (1.0,)),
    "no pair": lambda api: api.jvp(lambda x: x, (1.0,), (1.0,), has_aux=True),
    "a triple": lambda api: api.jvp(lambda x: (x, x, x), (1.0,), (1.0,), has_aux=True),
    "text as result": lambda api: api.jvp(lambda x: "a", (1.0,), (1.0,)),
    "a cotangent of another tree": lambda api: api.vjp(lambda x: (x, x), 1.0)[1](1.0),
    "a list for a tuple": lambda api: api.vjp(lambda x: (x, x), 1.0)[1]([1.0, 1.0]),
    "a cotangent of another shape": lambda api: api.vjp(lambda x: x, ONES)[1](1.0),
    "a cotangent of another dtype": lambda api: api.vjp(lambda x: x, ONES)[1](
        ONES.astype("float16")
    ),
    "an integer as cotangent": lambda api: api.vjp(lambda x: x, 1.0)[1](1),
    "text as cotangent": lambda api: api.vjp(lambda x: x, 1.0)[1]("a"),
    "two cotangents": lambda api: api.vjp(lambda x: x, 1.0)[1](1.0, 1.0),
    "vjp without a pair": lambda api: api.vjp(lambda x: x, 1.0, has_aux=True),
    "two tangents": lambda api: api.linearize(lambda x: x, 1.0)[1](1.0, 1.0),
    "a pushed shape": lambda api: api.linearize(lambda x: x, 1.0)[1](ONES),
    "a pushed tree": lambda api: api.linearize(lambda x: x["a"], {"a": 1.0})[1](1.0),
    "the gradient of a vector": lambda api: api.grad(lambda x: x * 2)(ONES),
    "the gradient of a tuple": lambda api: api.grad(lambda x: (x,))(1.0),
    "the gradient of None": lambda api: api.grad(lambda x: None)(1.0),
    "the gradient of an integer": lambda api: api.grad(lambda x: x * 2.0)(3),
    "an integer result": lambda api: api.grad(lambda x: 3)(1.0),
    "a complex result": lambda api: api.grad(lambda z: z * z)(Z),
    "holomorphic at a float": lambda api: api.grad(lambda z: z * z, holomorphic=True)(
        numpy.float32(1)
    ),
    "holomorphic with a real result": lambda api: api.grad(
        lambda z: z.real, holomorphic=True
    )(Z),
    "grad of text": lambda api: api.grad(lambda x: 1.0)("a"),
    "grad without arguments": lambda api: api.grad(lambda: 1.0)(),
    "grad of a keyword": lambda api: api.grad(lambda x: x)(x=1.0),
    "grad without a pair": lambda api: api.grad(lambda x: x, has_aux=True)(1.0),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_call_raises_the_error_of_jax(name):
    with pytest.raises(Exception) as theirs:  # noqa: PT011 - its class is compared
        WRONG[name](jax)
    bases = [c for c in theirs.type.__mro__ if c.__module__ == "builtins"]
    with pytest.raises(bases[0]):
        WRONG[name](imprint)


@pytest.mark.parametrize(
    "call",
    [
        lambda f: imprint.grad(f)(1.0),
        lambda f: imprint.value_and_grad(f, has_aux=True)(1.0),
        lambda f: imprint.jvp(f, (1.0,), (1.0,)),
        lambda f: imprint.vjp(f, 1.0),
        lambda f: imprint.linearize(f, 1.0),
        lambda f: imprint.jacfwd(f)(1.0),
        lambda f: imprint.vmap(f)(ONES),
    ],
)
def test_a_result_that_is_no_array_is_named_with_its_function(call):
    def loss(x):
        return {"value": "a"}, x

    with pytest.raises(TypeError) as caught:
        call(loss)
    place = r"result(\[0\])?\['value'\]"
    said = rf"loss: expected to return arrays and numbers, got str 'a' as {place}\. Ret"
    assert re.match(said, str(caught.value))


def test_primals_that_are_no_tuple_are_named():
    with pytest.raises(
        TypeError, match=r"jvp: expected a tuple or list of primals, one"
    ):
        imprint.jvp(lambda x: x, 1.0, (1.0,))
    with pytest.raises(
        TypeError, match=r"got float 1\.0\. Write imprint.jvp\(f, \(x,\)"
    ):
        imprint.jvp(lambda x: x, (1.0,), 1.0)


def test_the_tangent_of_an_integer_is_float0_in_words():
    with pytest.raises(TypeError, match=r"expected a tangent float0\[\], got ~float32"):
        imprint.jvp(lambda x: x, (1,), (1.0,))

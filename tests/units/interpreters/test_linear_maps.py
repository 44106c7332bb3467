"""`linear_transpose` and `fwd_and_bwd` as in JAX."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from tests.tolerances import assert_close

LIBRARIES = ((imprint, inp), (jax, jnp))


def of(fun, *primals):
    """Return the case of a function, at arguments, and of a cotangent for it."""

    def case(lib, np_, ct):
        given = [x(np_) if callable(x) else x for x in primals]
        return lib.linear_transpose(lambda *xs: fun(lib, np_, *xs), *given)(ct)

    return case


def ones(*shape):
    return lambda np_: np_.ones(shape)


def with_rule(lib, np_, x):
    f = lib.custom_jvp(lambda x: x * 3)
    f.defjvp(lambda p, t: (f(*p), t[0]))
    return f(x)


ROW = np.arange(3, dtype=np.float32)
CASES = {
    "a product": (of(lambda lib, np_, x: x * 2.0, ones(3)), ROW),
    "a tree": (
        of(lambda lib, np_, x: {"a": 2 * x, "b": x.sum()}, ones(3)),
        {"a": ROW, "b": np.float32(2)},
    ),
    "two arguments": (of(lambda lib, np_, x, y: x + 2 * y, ones(3), ones(3)), ROW),
    "one that is not used": (of(lambda lib, np_, x, y: x * 2, 1.0, 2.0), np.float32(3)),
    "integers": (
        of(lambda lib, np_, x: x * 2, lambda np_: np_.arange(3)),
        np.arange(3, dtype=np.int32),
    ),
    "complex": (of(lambda lib, np_, x: x * 2j, lambda np_: np_.ones(3) + 0j), ROW * 1j),
    "a matrix": (of(lambda lib, np_, x: x @ np_.ones((3, 2)), ones(3)), ROW[:2]),
    "an offset": (of(lambda lib, np_, x: x + 1, ones(3)), ROW),
    "a jitted function": (of(lambda lib, np_, x: lib.jit(np_.cumsum)(x), ones(3)), ROW),
    "a scan": (
        of(
            lambda lib, np_, x: lib.lax.scan(lambda c, _: (c * 2, c), x, None, 3)[1],
            ones(3),
        ),
        np.ones((3, 3), np.float32),
    ),
    "a rule": (of(with_rule, ones(3)), ROW),
    "a checkpoint": (
        of(lambda lib, np_, x: lib.checkpoint(lambda y: y * 3)(x), ones(3)),
        ROW,
    ),
    "a shape": (
        of(
            lambda lib, np_, x: x * 2,
            lambda np_: (imprint if np_ is inp else jax).ShapeDtypeStruct(
                (3,), "float32"
            ),
        ),
        ROW,
    ),
    "inside jit": (
        lambda lib, np_, ct: lib.jit(
            lambda x, ct: lib.linear_transpose(lambda y: y * x, x)(ct)
        )(np_.ones(3) * 4, ct),
        ROW,
    ),
    "differentiated": (
        lambda lib, np_, ct: lib.grad(
            lambda x: lib.linear_transpose(lambda y: y * np_.sin(x), x)(x)[0].sum()
        )(ct),
        ROW,
    ),
    "mapped": (
        lambda lib, np_, ct: lib.vmap(lib.linear_transpose(lambda y: y * 3, ct[0]))(ct),
        np.ones((2, 3), np.float32),
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_a_transpose_is_that_of_jax(case):
    run, ct = case
    ours, theirs = (run(lib, np_, ct) for lib, np_ in LIBRARIES)
    assert jax.tree.structure(theirs) == jax.tree.structure(ours)
    for a, b in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        assert a.aval.weak_type == b.aval.weak_type
        assert_close(np.asarray(a), np.asarray(b))


WRONG = {
    "floats from integers": (
        of(lambda lib, np_, x: x * 2.0, lambda np_: np_.arange(3)),
        ROW,
    ),
    "a sine": (of(lambda lib, np_, x: np_.sin(x), ones(3)), ROW),
    "a cotangent of another shape": (of(lambda lib, np_, x: x * 2, ones(3)), ROW[:2]),
    "a cotangent of another tree": (of(lambda lib, np_, x: x * 2, ones(3)), (ROW,)),
}


@pytest.mark.parametrize("case", WRONG.values(), ids=WRONG.keys())
def test_functions_that_jax_refuses_are_refused(case):
    run, ct = case
    with pytest.raises((TypeError, NotImplementedError)) as expected:
        run(jax, jnp, ct)
    kind = TypeError if expected.errisinstance(TypeError) else NotImplementedError
    with pytest.raises(kind):
        run(imprint, inp, ct)


@pytest.mark.parametrize("product", [lambda x: x * x, lambda x: x @ x])
def test_a_product_of_the_argument_with_itself_is_not_linear(product):
    transposed = imprint.linear_transpose(product, np.ones(3, np.float32))
    with pytest.raises(NotImplementedError, match="not linear"):
        transposed(product(np.ones(3, np.float32)))


def test_a_nonlinear_operation_is_named_with_its_line():
    fun = lambda x: inp.sin(x + x)
    transposed = imprint.linear_transpose(fun, 1.0)
    with pytest.raises(NotImplementedError) as raised:
        transposed(1.0)
    line = fun.__code__.co_firstlineno
    assert str(raised.value) == (
        "expected a function that is linear in its arguments, got `sin` at "
        f"test_linear_maps.py:{line}: it is not linear in its operands, so it has no "
        "transpose. Transpose the derivative at a point: imprint.vjp."
    )


@pytest.mark.parametrize("argnums", [0, (0, 1), (1,), -1])
@pytest.mark.parametrize("jitted", [True, False])
def test_forward_and_backward_are_those_of_jax(argnums, jitted):
    found = []
    for lib, np_ in LIBRARIES:
        fwd, bwd = lib.fwd_and_bwd(
            lambda x, y, np_=np_: (np_.sin(x * y).sum(), x), argnums, True, jitted
        )
        out, residuals, aux = fwd(np_.asarray(ROW), np_.ones(3) * 2)
        found.append((out, aux, bwd(residuals, np_.ones(()))))
    ours, theirs = found
    assert jax.tree.structure(theirs) == jax.tree.structure(ours)
    for a, b in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        assert_close(np.asarray(a), np.asarray(b))


def test_forward_and_backward_compile_once():
    fwd, bwd = imprint.fwd_and_bwd(lambda x: inp.sin(x) * 3.0, 0)
    _, residuals = fwd(inp.ones(2))
    bwd(residuals, inp.ones(2))
    with imprint.testing.max_compiles(0):
        for i in range(3):
            _, residuals = fwd(inp.ones(2) * i)
            assert bwd(residuals, inp.ones(2)).shape == (2,)

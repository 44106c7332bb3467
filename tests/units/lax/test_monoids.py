"""`reduce` and `reduce_window` are as in JAX."""

import operator

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint import lax
from imprint.errors import AbsentRuleError, ArgumentError, DTypeError, ShapeError
from tests import oracle
from tests.tolerances import assert_close

X = np.random.default_rng(0).uniform(-1, 1, (3, 4, 5)).astype("float32")
N = np.arange(60, dtype="int32").reshape(3, 4, 5)


def both(lib, np):
    def soft(x, y):
        return np.logaddexp(x, y)

    def first_of_best(a, b):
        better = b[0] > a[0]
        return np.where(better, b[0], a[0]), np.where(better, b[1], a[1])

    def affine(f, g):  # is associative, and does not commute
        return {"a": f["a"] * g["a"], "b": f["b"] * g["a"] + g["b"]}

    return soft, first_of_best, affine


SIMPLE = {
    "add": (lambda lib, np: lib.lax.add, 0.0, X),
    "add, a Python number": (lambda lib, np: lib.lax.add, 0, X),
    "mul": (lambda lib, np: lib.lax.mul, 1.0, X),
    "max": (lambda lib, np: lib.lax.max, -np.inf, X),
    "min": (lambda lib, np: lib.lax.min, np.inf, X),
    "or": (lambda lib, np: lib.lax.bitwise_or, 0, N),
    "and": (lambda lib, np: lib.lax.bitwise_and, -1, N),
    "a lambda": (lambda lib, np: lambda x, y: x + y, np.float32(0), X),
    "logaddexp": (lambda lib, np: both(lib, np)[0], np.float32(-np.inf), X),
    "joint": (lambda lib, np: lambda x, y: x + y + x * y, np.float32(0), X),
    "integers": (lambda lib, np: lambda x, y: np.maximum(x, y), np.int32(-1), N),
    "of operator": (lambda lib, np: operator.mul, np.float32(1), X),
}
AXES = [(0,), (1, 2), (0, 1, 2), (2,), ()]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("axes", AXES, ids=str)
@pytest.mark.parametrize("name", SIMPLE)
def test_a_reduction_is_that_of_jax(name, axes):
    computation, init, x = SIMPLE[name]
    want = jax.lax.reduce(jnp.asarray(x), init, computation(jax, jnp), axes)
    for run in (lambda f: f, imprint.jit):
        got = run(lambda x: lax.reduce(x, init, computation(imprint, inp), axes))(x)
        assert got.dtype == want.dtype
        assert_close(got, np.asarray(want), "reduction")


@pytest.mark.parametrize("length", [0, 1, 2, 3, 7, 8, 33])
def test_any_number_of_elements_keeps_its_order(length):
    rng = np.random.default_rng(length)
    tree = {k: rng.uniform(0.5, 1.5, (2, length)).astype("float32") for k in ("a", "b")}
    unit = {"a": np.float32(1), "b": np.float32(0)}
    got = imprint.jit(lambda t: lax.reduce(t, unit, both(imprint, inp)[2], [1]))(tree)
    a, b = np.ones(2), np.zeros(2)
    for i in range(length):
        a, b = a * tree["a"][:, i], b * tree["a"][:, i] + tree["b"][:, i]
    assert_close(got["a"], a.astype("float32"), "reduction")
    assert_close(got["b"], b.astype("float32"), "reduction")


def test_several_operands_are_reduced_together():
    places = np.arange(60).reshape(X.shape).astype("int32")
    inits = (np.float32(-np.inf), np.int32(-1))
    got = lax.reduce((X, places), inits, both(imprint, inp)[1], [0, 2])
    want = jax.lax.reduce((X, places), inits, both(jax, jnp)[1], [0, 2])
    for one, other in zip(got, want, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_reduction_is_differentiated_and_batched():
    def run(lib, np):
        def total(x, init):
            return lib.lax.reduce(x, init, lambda x, y: x + y + x * y, [0, 1]).sum()

        zero = np.float32(0)
        return [
            lib.grad(total)(X, zero),
            lib.jacfwd(lambda x: total(x, zero))(X),
            lib.vmap(lambda x: total(x, zero), 1)(X),
            lib.grad(lambda x: lib.grad(lambda x: total(x, zero))(x)[0].sum())(X),
        ]

    theirs = oracle.jit(lambda: run(jax, jnp))()
    for got, want in zip(run(imprint, inp), theirs, strict=True):
        assert_close(got, np.asarray(want), "gradient")


def test_the_function_may_close_over_tracers():
    f = imprint.jit(lambda x, s: lax.reduce(x, 0.0, lambda a, b: a + b * s / s, [0]))
    assert_close(f(X[0, 0], 2.0), X[0, 0].sum(), "reduction")


WINDOWS = {
    "pairs": ((1, 2, 1), {}),
    "cubes": ((2, 3, 2), {}),
    "strides": ((1, 2, 2), {"window_strides": (1, 2, 3)}),
    "same": ((2, 3, 4), {"padding": "SAME", "window_strides": (1, 1, 1)}),
    "same, lower": ((2, 2, 4), {"padding": "SAME_LOWER", "window_strides": (2, 1, 2)}),
    "padded": ((1, 3, 3), {"padding": [(0, 0), (1, 2), (2, 0)]}),
    "cut": ((1, 2, 2), {"padding": [(0, 0), (-1, 0), (1, -1)]}),
    "dilated": ((2, 2, 3), {"window_dilation": (1, 3, 2)}),
    "spread": ((1, 3, 2), {"base_dilation": (2, 1, 3)}),
    "longest": ((3, 4, 5), {}),
    "too long": ((1, 5, 1), {}),
    "everything": (
        (2, 2, 3),
        {
            "window_strides": (1, 2, 1),
            "padding": [(1, 1), (0, 2), (3, 0)],
            "base_dilation": (1, 2, 2),
            "window_dilation": (2, 1, 2),
        },
    ),
}


@pytest.mark.slow
@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", [n for n in SIMPLE if n not in ("or", "and")])
@pytest.mark.parametrize("window", WINDOWS)
def test_windows_are_those_of_jax(name, window):
    computation, init, x = SIMPLE[name]
    init = np.asarray(init, x.dtype)[()]
    dimensions, options = WINDOWS[window]
    want = jax.lax.reduce_window(
        jnp.asarray(x), init, computation(jax, jnp), dimensions, **options
    )
    got = imprint.jit(
        lambda x: lax.reduce_window(
            x, init, computation(imprint, inp), dimensions, **options
        )
    )(x)
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    assert_close(got, np.asarray(want), "reduction")


@pytest.mark.parametrize("name", ["add", "max", "min"])
def test_gradients_of_windows_are_those_of_jax(name):
    computation, init, _ = SIMPLE[name]
    ties = np.round(X * 2)  # of equal ones the first has the gradient
    weights = np.arange(1, 1 + 2 * 3 * 2).reshape(2, 3, 2).astype("float32")

    def run(lib, np):
        def total(x):
            windows = lib.lax.reduce_window(
                *(x, np.float32(init), computation(lib, np), (2, 2, 3)),
                window_strides=(1, 1, 2),
            )
            return (windows * weights).sum()

        return [lib.grad(total)(x) for x in (X, ties)]

    for got, want in zip(run(imprint, inp), run(jax, jnp), strict=True):
        assert_close(got, np.asarray(want), "gradient")


def pooled(lib, np, window, options, name="max"):
    def pool(x):
        function = getattr(lib.lax, name)
        init = {"max": -np.inf, "min": np.inf, "add": 0.0}[name]
        return lib.lax.reduce_window(x, init, function, window, **options)

    def push(x, t):
        return lib.jvp(lib.grad(lambda x: (pool(x) ** 3).sum()), (x,), (t,))

    return push, lib.vmap(pool, 1), lambda t, x: lib.jvp(pool, (x,), (t,))[1]


@pytest.mark.parametrize("name", ["max", "add"])
def test_higher_derivatives_of_pooling_are_those_of_jax(name):
    options = {
        "window_strides": (1, 2, 1),
        "padding": "SAME",
        "base_dilation": (1, 1, 2),
    }
    want = pooled(jax, jnp, (1, 2, 3), options, name)
    for run in (lambda f: f, imprint.jit):
        got = pooled(imprint, inp, (1, 2, 3), options, name)
        for ours, theirs in zip(got, want, strict=True):
            args = (X, X[::-1] * 2)
            args = (np.stack(args, 1),) if ours is got[1] else args
            pairs = zip(
                imprint.tree.leaves(run(ours)(*args)),
                jax.tree.leaves(oracle.jit(theirs)(*args)),
                strict=True,
            )
            for a, b in pairs:
                assert_close(a, np.asarray(b), "gradient")


@pytest.mark.parametrize("window", ["cut", "dilated"])
def test_pooling_has_gradients_that_jax_lacks(window):
    dimensions, options = WINDOWS[window]

    def total(best):
        def loss(x):
            found = lax.reduce_window(x, -np.inf, best, dimensions, **options)
            return (found * inp.arange(found.size).reshape(found.shape)).sum()

        return imprint.grad(loss)(X)

    want = total(lambda a, b: inp.maximum(a, b))
    assert_close(total(lax.max), np.asarray(want), "gradient")


def test_a_window_of_nothing_but_padding_values_has_no_tangent():
    x, t = np.array([-np.inf, -np.inf, 1], "f4"), np.arange(1, 4, dtype="f4")

    def tangent(lib):
        def pool(x):
            return lib.lax.reduce_window(
                *(x, -np.inf, lib.lax.max, (2,), (1,)), "VALID"
            )

        return lib.jvp(pool, (x,), (t,))[1]

    want = np.asarray(oracle.jit(lambda: tangent(jax))())
    assert want.tolist() == [0, 3]
    assert_close(tangent(imprint), want)
    assert_close(imprint.jit(lambda: tangent(imprint))(), want)


def test_the_initial_value_is_part_of_each_window():
    got = lax.reduce_window(X[0, 0], 10.0, lax.add, (2,))
    want = jax.lax.reduce_window(X[0, 0], 10.0, jax.lax.add, (2,))
    assert_close(got, np.asarray(want), "reduction")
    assert_close(
        imprint.jit(lax.reduce_window, static_argnums=(2, 3))(
            X[0, 0], 0.5, lax.max, (2,)
        ),
        np.maximum(np.maximum(X[0, 0, 1:], X[0, 0, :-1]), np.float32(0.5)),
        "reduction",
    )


def test_the_error_of_a_reversed_derivative_of_dilated_windows():
    params = {"window_dimensions": (2,), "window_strides": (1,), "padding": ((0, 0),)}
    params |= {"base_dilation": (1,), "window_dilation": (2,)}

    def loss(x):
        return lax.reduce_window_max_p.bind1(x, **params).sum()

    with pytest.raises(AbsentRuleError) as caught:
        imprint.grad(loss)(X[0, 0])
    assert str(caught.value).splitlines()[0] == (
        "select_and_gather_add: expected no window_dilation in what is differentiated in "
        "reverse. Call imprint.lax.reduce_window, which has that derivative"
    )


def test_the_error_of_windows_without_a_primitive():
    params = {"window_dimensions": (2,), "window_strides": (0,), "padding": ((0, 0),)}
    params |= {"base_dilation": (1,), "window_dilation": (2,)}
    with pytest.raises(ShapeError) as caught:
        lax.reduce_window_sum_p.bind_all(X[0, 0], **params)
    assert str(caught.value) == (
        "reduce_window_sum: expected positive window_dimensions, window_strides, "
        "base_dilation and window_dilation and pairs of padding, one for each of 1 axes "
        "of float32[5], got ((2,), (0,), ((0, 0),), (1,), (2,)). Write 1, and (0, 0), for "
        "axes without windows."
    )
    params |= {"window_strides": (1,), "padding": ((-4, -2),)}
    with pytest.raises(ShapeError) as caught:
        lax.reduce_window_max_p.bind_all(X[0, 0], **params)
    assert str(caught.value) == (
        "reduce_window_max: expected negative padding to cut no more than there is, got "
        "padding=((-4, -2),) for float32[5]. Cut less."
    )


def test_windows_of_several_operands():
    inits = (np.float32(-np.inf), np.int32(-1))
    got = lax.reduce_window((X, N), inits, both(imprint, inp)[1], (1, 2, 5))
    want = jax.lax.reduce_window((X, N), inits, both(jax, jnp)[1], (1, 2, 5))
    for one, other in zip(got, want, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_long_window_takes_few_joins():
    f = lambda x: lax.reduce_window(x, 0.0, lax.add, (1000,))
    x = np.ones(5000, "float32")
    assert len(imprint.make_jaxpr(f)(x).eqns) < 60
    assert imprint.jit(f)(x).tolist() == [1000.0] * 4001


WRONG = {
    "trees": (ArgumentError, "an init_value for each operand", ((X, X), 0.0, max, [0])),
    "shapes": (ShapeError, "of one shape", ((X, X[0]), (0.0, 0.0), max, [0])),
    "a vector": (ShapeError, "of rank 0 for operand", (X, np.zeros(2), max, [0])),
    "a dtype": (DTypeError, "Cast it: `.astype('float32')`", (X, N[0, 0, 0], max, [0])),
    "a result": (
        *(ArgumentError, "to return one element as it takes two, float32[], got bool[]"),
        (X, 0.0, lambda x, y: x > y, [0]),
    ),
    "a tree as a result": (
        *(ArgumentError, "got (float32[], float32[]), which has a tuple of length 2"),
        (X, 0.0, lambda x, y: (x, y), [0]),
    ),
    "an axis": (ShapeError, "axis", (X, 0.0, lax.add, [3])),
}  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG)
def test_error_messages(wrong):
    error, text, arguments = WRONG[wrong]
    with pytest.raises(error) as caught:
        lax.reduce(*arguments)
    assert text in str(caught.value)


def test_error_messages_of_windows():
    with pytest.raises(ShapeError, match="window_dimensions of 3 positive ints"):
        lax.reduce_window(X, 0.0, lax.add, (2, 2))
    with pytest.raises(ArgumentError, match="VALID, SAME, SAME_LOWER"):
        lax.reduce_window(X, 0.0, lax.add, (2, 2, 2), padding="FULL")
    with pytest.raises(ShapeError, match="a pair of padding for each of 3 axes"):
        lax.reduce_window(X, 0.0, lax.add, (2, 2, 2), padding=[(0, 0)])

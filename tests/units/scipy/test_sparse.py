"""Iterative solutions: those of JAX step by step, and the equation's own derivative."""

import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint.errors import ArgumentError, ShapeError, TreeError
from imprint.scipy.sparse import linalg
from tests.oracle import jax

RNG = np.random.default_rng(0)
N = 12
METHODS = ("bicgstab", "cg", "gmres")


def matrix(name, dtype):
    """Return a matrix that the method is for."""
    a = RNG.standard_normal((N, N))
    if np.dtype(dtype).kind == "c":
        a = a + 1j * RNG.standard_normal((N, N))
    made = a @ a.conj().T + N * np.eye(N) if name == "cg" else a + 6 * np.eye(N)
    return made.astype(dtype)


def vector(dtype):
    parts = RNG.standard_normal((2, N))
    return (
        parts[0] + 1j * parts[1] if np.dtype(dtype).kind == "c" else parts[0]
    ).astype(dtype)


def message(error, fun, *args, **kwargs):
    with pytest.raises(error) as caught:
        fun(*args, **kwargs)
    return str(caught.value)


CASES = [
    ("cg", {}),
    ("cg", {"maxiter": 3}),
    ("cg", {"tol": 1e-7, "M": "diagonal"}),
    ("cg", {"tol": 0.0, "atol": 0.1}),
    ("bicgstab", {}),
    ("bicgstab", {"maxiter": 2}),
    ("bicgstab", {"M": "diagonal"}),
    ("gmres", {}),
    ("gmres", {"restart": 4}),
    ("gmres", {"restart": 3, "maxiter": 2}),
    ("gmres", {"restart": 4, "solve_method": "incremental"}),
    ("gmres", {"M": "diagonal", "solve_method": "incremental"}),
]


FAST = [CASES[i] for i in (1, 6, 10)]
EACH = [(*case, dtype) for case in CASES for dtype in ("float32", "complex64")]


@pytest.mark.parametrize(
    ("name", "options", "dtype"),
    [
        *[(*case, "complex64") for case in FAST],
        *[pytest.param(*each, marks=pytest.mark.exhaustive) for each in EACH],
    ],
)
def test_solutions_and_derivatives_are_those_of_jax(name, options, dtype):
    a, b = matrix(name, dtype), vector(dtype)
    near = np.diag(1 / np.diag(a))

    def loss(module, numpy):
        m = {"M": numpy.asarray(near)} if "M" in options else {}

        def of(a, b):
            x, _ = getattr(module, name)(a, b, **(options | m))
            return (numpy.abs(x) ** 2).sum(), x

        return of

    ours = imprint.jit(
        imprint.value_and_grad(loss(linalg, inp), argnums=(0, 1), has_aux=True)
    )
    theirs = jax.jit(
        jax.value_and_grad(
            loss(jax.scipy.sparse.linalg, jax.numpy), argnums=(0, 1), has_aux=True
        )
    )
    (_, x), grads = ours(inp.asarray(a), inp.asarray(b))
    (_, y), expected = theirs(a, b)
    np.testing.assert_allclose(x, y, rtol=1e-4, atol=2e-5)
    assert x.dtype == y.dtype
    for grad, other in zip(grads, expected, strict=True):
        np.testing.assert_allclose(grad, other, rtol=1e-3, atol=5e-5)


@pytest.mark.parametrize("name", METHODS)
def test_a_converged_result_is_the_solution(name):
    a, b = matrix(name, "float32"), vector("float32")
    solve = getattr(linalg, name)
    exact = np.linalg.solve(a, b)
    size = np.linalg.norm(b)
    for options in ({"x0": inp.asarray(exact + 0.01)}, {"tol": 1e-2}):
        x, _ = solve(inp.asarray(a), inp.asarray(b), **options)
        assert np.linalg.norm(a @ x - b) <= 1.1 * options.get("tol", 1e-5) * size
    rows = inp.asarray(RNG.standard_normal((3, N)), "float32")
    many = imprint.vmap(lambda b: solve(inp.asarray(a), b)[0])(rows)
    np.testing.assert_allclose(many, np.linalg.solve(a, rows.T).T, atol=1e-4)


@pytest.mark.parametrize("name", METHODS)
def test_trees_are_one_vector(name):
    b = {"w": inp.ones((2, 2)), "b": inp.arange(3)}

    def double_and_mix(t):
        return {"w": 2 * t["w"], "b": 3 * t["b"] + t["w"].sum() * 0}

    x, _ = getattr(linalg, name)(double_and_mix, b)
    np.testing.assert_allclose(x["w"], np.full((2, 2), 0.5), rtol=1e-6)
    np.testing.assert_allclose(x["b"], [0, 1 / 3, 2 / 3], rtol=1e-5)
    assert x["b"].dtype == np.float32


@pytest.mark.parametrize(
    "a",
    [np.zeros((2, 2)), np.full((2, 2), np.nan), np.diag([1.0, np.inf]), 2 * np.eye(2)],
)
def test_gmres_returns_the_info_of_jax(a):
    a = a.astype(np.float32)
    x, info = linalg.gmres(inp.asarray(a), inp.ones(2))
    y, expected = jax.scipy.sparse.linalg.gmres(a, np.ones(2, np.float32))
    assert int(info) == int(expected)
    if not info:
        np.testing.assert_allclose(x, y, rtol=1e-5)


def test_an_invalid_system_raises():
    b = inp.ones(3)
    assert message(ShapeError, linalg.cg, inp.ones((2, 3)), b) == (
        "cg: expected A to be a square matrix, got one of shape (2, 3)."
    )
    assert message(ArgumentError, linalg.bicgstab, "A", b) == (
        "bicgstab: expected A to be a matrix or a function of x, got str 'A'."
    )
    assert message(TreeError, linalg.cg, lambda x: x, {}) == (
        "cg: expected b to hold an array, got {}."
    )
    assert "cg: expected x0 to be a tree like b" in message(
        TreeError, linalg.cg, lambda x: x, b, x0={"b": b}
    )
    assert message(ShapeError, linalg.gmres, lambda x: x[:2], b) == (
        "gmres: expected A(x) to have the shapes of b, got float32[2] for float32[3]."
    )
    assert message(
        ArgumentError, linalg.gmres, lambda x: x, b, solve_method="other"
    ) == ("gmres: expected solve_method 'batched' or 'incremental', got 'other'.")

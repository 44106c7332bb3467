"""lineax, as its documentation uses it."""

import jax
import jax.numpy as jnp
import lineax as lx
import numpy as np
import pytest

jax.config.update("jax_enable_x64", True)
A = np.random.default_rng(0).normal(size=(4, 4)) + 4 * np.eye(4)
SPD = A @ A.T
B = np.arange(1.0, 5.0)

SOLVERS = {
    "auto": (lx.AutoLinearSolver(well_posed=True), A, ()),
    "lu": (lx.LU(), A, ()),
    "qr": (lx.QR(), A, ()),
    "svd": (lx.SVD(), A, ()),
    "cholesky": (lx.Cholesky(), SPD, (lx.positive_semidefinite_tag,)),
    "cg": (lx.CG(1e-10, 1e-10), SPD, (lx.positive_semidefinite_tag,)),
    "normal cg": (lx.Normal(lx.CG(1e-10, 1e-10)), A, ()),
    "gmres": (lx.GMRES(1e-10, 1e-10), A, ()),
    "bicgstab": (lx.BiCGStab(1e-10, 1e-10), A, ()),
    "triangular": (lx.Triangular(), np.tril(A), (lx.lower_triangular_tag,)),
    "diagonal": (lx.Diagonal(), np.diag(np.diag(A)), (lx.diagonal_tag,)),
}


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("transform", ["jit", "vmap", "grad", "eager"])
def test_a_solver_solves(name, transform):
    solver, matrix, tags = SOLVERS[name]

    def solve(matrix, vector):
        operator = lx.MatrixLinearOperator(matrix, tags)
        return lx.linear_solve(operator, vector, solver).value

    expected = np.linalg.solve(matrix, B)
    if transform == "grad":
        got = jax.jit(jax.grad(lambda b: solve(matrix, b).sum()))(B)
        expected = np.linalg.solve(matrix.T, np.ones(4))
    elif transform == "vmap":
        got = jax.vmap(solve, (None, 0))(matrix, np.stack([B, 2 * B]))
        expected = np.stack([expected, 2 * expected])
    else:
        got = (jax.jit(solve) if transform == "jit" else solve)(matrix, B)
    np.testing.assert_allclose(got, expected, rtol=1e-6)


def test_the_gradient_by_the_matrix():
    def solve(matrix):
        return lx.linear_solve(lx.MatrixLinearOperator(matrix), B).value.sum()

    x, y = np.linalg.solve(A, B), np.linalg.solve(A.T, np.ones(4))
    np.testing.assert_allclose(jax.grad(solve)(A), -np.outer(y, x), rtol=1e-8)


def test_least_squares_of_a_tall_matrix():
    tall = np.vstack([A, A + 1])
    operator = lx.MatrixLinearOperator(tall)
    solver = lx.AutoLinearSolver(well_posed=None)
    found = lx.linear_solve(operator, np.arange(8.0), solver)
    expected = np.linalg.lstsq(tall, np.arange(8.0), rcond=None)[0]
    np.testing.assert_allclose(found.value, expected, rtol=1e-8)


def test_a_function_and_a_jacobian_as_operators():
    structure = jax.ShapeDtypeStruct((4,), jnp.float64)
    operator = lx.FunctionLinearOperator(lambda x: A @ x, structure)
    np.testing.assert_allclose(operator.as_matrix(), A)
    np.testing.assert_allclose(operator.transpose().mv(B), A.T @ B)
    f = lambda x, args: jnp.sin(x) * x.sum()
    jacobian = lx.JacobianLinearOperator(f, B)
    np.testing.assert_allclose(
        jacobian.as_matrix(), jax.jacobian(f)(B, None), rtol=1e-8
    )


def test_operators_are_composed():
    one = lx.MatrixLinearOperator(A)
    sum_ = one + 2.0 * lx.IdentityLinearOperator(
        jax.ShapeDtypeStruct((4,), jnp.float64)
    )
    np.testing.assert_allclose((sum_ @ one).as_matrix(), (A + 2 * np.eye(4)) @ A)
    np.testing.assert_allclose(lx.diagonal(one), np.diag(A))
    assert lx.is_symmetric(lx.MatrixLinearOperator(SPD, lx.symmetric_tag))


def test_a_tree_as_operator():
    tree = {"a": {"a": jnp.eye(2), "b": jnp.zeros((2, 3))}}
    tree["b"] = {"a": jnp.ones((3, 2)), "b": 2 * jnp.eye(3)}
    structure = {"a": jax.ShapeDtypeStruct((2,), jnp.float64)}
    structure["b"] = jax.ShapeDtypeStruct((3,), jnp.float64)
    operator = lx.PyTreeLinearOperator(tree, structure)
    vector = {"a": jnp.ones(2), "b": jnp.ones(3)}
    found = lx.linear_solve(operator, vector).value
    np.testing.assert_allclose(found["b"], [-0.5] * 3)


def test_a_singular_matrix_is_an_error_or_a_result():
    operator = lx.MatrixLinearOperator(jnp.zeros((2, 2)))
    with pytest.raises(Exception, match=r"singular|rank"):
        jax.block_until_ready(lx.linear_solve(operator, jnp.ones(2)).value)
    found = lx.linear_solve(operator, jnp.ones(2), throw=False)
    assert bool(found.result != lx.RESULTS.successful)


def test_tridiagonal_operators():
    diagonals = np.full(4, 4.0), np.full(3, 1.0), np.full(3, 2.0)
    operator = lx.TridiagonalLinearOperator(*map(jnp.asarray, diagonals))
    found = jax.jit(lambda b: lx.linear_solve(operator, b).value)(B)
    dense = np.diag(diagonals[0]) + np.diag(diagonals[1], -1) + np.diag(diagonals[2], 1)
    np.testing.assert_allclose(found, np.linalg.solve(dense, B), rtol=1e-9)

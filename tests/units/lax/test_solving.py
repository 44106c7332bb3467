"""`custom_root` and `custom_linear_solve` are as in JAX; invalid arguments raise."""

import jax
import numpy as np
import pytest

import imprint
from imprint import lax, tree
from imprint import numpy as inp
from tests.tolerances import assert_close
from tests.units.lax.loop_programs import total

X = np.array([0.7, 1.9, 1.2], "float32")
A = np.array([[4, 1, 0.5], [0.2, 3, -0.4], [-0.3, 0.8, 5]], "float32")


# ---- ways to solve, written once for both libraries ----


def newton(lib):
    def solve(f, x):
        slope = lib.grad(f)
        return lib.lax.fori_loop(0, 8, lambda _, x: x - f(x) / slope(x), x)

    return solve


def until_zero(lib):
    def solve(f, x):
        goes_on = lambda c: (lib.numpy.abs(c[0]) > 1e-6) & (c[2] < 20)
        step = lambda c: (f(c[1] - c[0] * 0.2), c[1] - c[0] * 0.2, c[2] + 1)
        _, x, steps = lib.lax.while_loop(goes_on, step, (f(x), x, 0))
        return x, {"steps": steps * 1.0}

    return solve


def jacobi(lib, steps=60, rate=0.2):
    def solve(matvec, b):
        def step(_, x):
            apart = jax.tree.map(lambda b, y: b - y, b, matvec(x))
            return jax.tree.map(lambda x, d: x + rate * d, x, apart)

        zeros = jax.tree.map(lambda b: b * 0, b)
        return lib.lax.fori_loop(0, steps, step, zeros)

    return solve


def with_aux(solve):
    return lambda f, b: (solve(f, b), {"b": b * 2})


def scalar_tangent(g, y):
    return y / g(1.0)


# ---- programs ----


def root(lib, a, x):
    f = lambda y: y**3 - a.sum() * lib.numpy.sin(x).sum() - 1.0
    return lib.lax.custom_root(f, 1.5, newton(lib), scalar_tangent)


def root_of_vector(lib, a, x):
    f = lambda y: a @ y + 0.1 * lib.numpy.sin(y) - x
    tangent = lambda g, y: lib.lax.custom_linear_solve(
        g, y, jacobi(lib), transpose_solve=jacobi(lib)
    )
    return lib.lax.custom_root(f, x, lambda f, x: jacobi(lib)(f, x * 0), tangent)


def root_with_aux(lib, a, x):
    f = lambda y: y * 3 + lib.numpy.sin(y) - a[0, 0] * x.sum()
    y, aux = lib.lax.custom_root(f, 0.1, until_zero(lib), scalar_tangent, has_aux=True)
    return y * 2, aux


def root_of_tree(lib, a, x):
    f = lambda t: {"p": t["p"] * 2 - x, "q": (t["q"][0] + t["p"].sum() - a[0, 0],)}

    def exact(g, y):
        p = y["p"] / 2
        return {"p": p, "q": (y["q"][0] - p.sum(),)}

    def solve(f, guess):
        minus = f(jax.tree.map(lambda t: t * 0, guess))
        return exact(None, jax.tree.map(lambda t: -t, minus))

    return lib.lax.custom_root(f, {"p": x, "q": (x[0],)}, solve, exact)


def symmetric(lib, a, x):
    m = a @ a.T * 0.1 + 2 * lib.numpy.eye(3, dtype="float32")
    return lib.lax.custom_linear_solve(lambda y: m @ y, x, jacobi(lib), symmetric=True)


def transposable(lib, a, x):
    return lib.lax.custom_linear_solve(
        lambda y: a @ y, x, jacobi(lib), transpose_solve=jacobi(lib)
    )


def transposable_with_aux(lib, a, x):
    solve = with_aux(jacobi(lib))
    matvec = lambda y: a @ y
    y, aux = lib.lax.custom_linear_solve(matvec, x, solve, solve, has_aux=True)
    return y, aux["b"]


def of_tree(lib, a, x):
    matvec = lambda t: {"p": a @ t["p"] + t["q"], "q": t["q"] * a[0, 0] + t["p"].sum()}
    b = {"p": x, "q": x[1]}
    solve = jacobi(lib, 80, 0.15)
    return lib.lax.custom_linear_solve(matvec, b, solve, transpose_solve=solve)


def of_constant(lib, a, x):
    b = lib.numpy.ones(3, "float32")
    matvec = lambda y: a @ y * x.sum() * 0.3
    solve = jacobi(lib)
    return lib.lax.custom_linear_solve(matvec, b, solve, transpose_solve=solve)


def in_scan(lib, a, x):
    def step(x, scale):
        y = lib.lax.custom_linear_solve(
            lambda y: a @ y * scale, x, jacobi(lib), transpose_solve=jacobi(lib)
        )
        r = lib.lax.custom_root(
            lambda r: r**3 - y.sum() - 2.0, 1.0, newton(lib), scalar_tangent
        )
        return y + 0.1 * r, r

    return lib.lax.scan(step, x, lib.numpy.linspace(0.8, 1.2, 3, dtype="float32"))


def in_cond(lib, a, x):
    solved = lambda x: transposable(lib, a, x)
    return lib.lax.cond(x.sum() > 1, solved, lambda x: x * 2, x)


def jitted(lib, a, x):
    return lib.jit(lambda a, x: symmetric(lib, a, x) * root(lib, a, x))(a, x)


PROGRAMS = (
    *(root, root_of_vector, root_with_aux, root_of_tree, symmetric, transposable),
    *(transposable_with_aux, of_tree, of_constant, in_scan, in_cond, jitted),
)
WAYS = {
    "value": lambda lib, f, a, x: f(a, x),
    "jvp": lambda lib, f, a, x: lib.jvp(f, (a, x), (a * 0.3 + 1, x - 0.5)),
    "jvp by one": lambda lib, f, a, x: lib.jvp(lambda x: f(a, x), (x,), (x - 0.5,)),
    "grad": lambda lib, f, a, x: lib.grad(total(f), argnums=(0, 1))(a, x),
    "linearize": lambda lib, f, a, x: lib.linearize(f, a, x)[1](a * 0.3 + 1, x - 0.5),
    "grad of grad": lambda lib, f, a, x: lib.grad(
        lambda a, x: (lib.grad(total(f), argnums=1)(a, x) ** 2).sum(), argnums=(0, 1)
    )(a, x),
    "jvp of grad": lambda lib, f, a, x: lib.jvp(
        lib.grad(total(f)), (a, x), (a * 0.3 + 1, x - 0.5)
    ),
    "mapped by both": lambda lib, f, a, x: lib.vmap(f)(twice(lib, a), twice(lib, x)),
    "mapped by the first": lambda lib, f, a, x: lib.vmap(f, (0, None))(
        twice(lib, a), x
    ),
    "mapped by the second": lambda lib, f, a, x: lib.vmap(f, (None, 1))(
        a, twice(lib, x).T
    ),
    "grad mapped by the first": lambda lib, f, a, x: lib.vmap(
        lib.grad(total(f)), (0, None)
    )(twice(lib, a), x),
    "grad of mapped": lambda lib, f, a, x: lib.grad(
        lambda a, x: lib.vmap(total(f), (None, 0))(a, x).sum(), argnums=(0, 1)
    )(a, twice(lib, x)),
}


def twice(lib, x):
    return lib.numpy.stack([x, x * 1.1 + 0.1])


@pytest.mark.sampled(24)
@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "jitted"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_results_and_derivatives_are_as_in_jax(program, way, compiled):
    def found(lib):
        function = lambda *args: program(lib, *args)
        return lambda *args: WAYS[way](lib, function, *args)

    ours = imprint.jit(found(imprint)) if compiled else found(imprint)
    got = tree.leaves(ours(inp.asarray(A), inp.asarray(X)))
    want = jax.tree.leaves(jax.jit(found(jax))(A, X))
    assert len(got) == len(want)
    for one, other in zip(got, want, strict=True):
        assert_close(np.asarray(one), np.asarray(other), "gradient")


# ---- next to their derivatives ----


def test_without_a_trace_the_solver_gets_values():
    def solve(matvec, b):
        assert float(b[0]) == 3.0  # no tracer has a value
        return b / 2 if float(matvec(b)[0]) == 6.0 else b

    x = lax.custom_linear_solve(lambda x: x * 2, np.full(2, 3.0, "float32"), solve)
    np.testing.assert_array_equal(x, [1.5, 1.5])
    assert isinstance(
        lax.custom_root(lambda x: x, 1.0, lambda f, x: 0.0, scalar_tangent),
        imprint.Array,
    )


def test_auxiliary_data_without_use_is_not_computed():
    def solve(matvec, b):
        return b / 2, {"unused": np.sin(b), "used": np.cos(b)}

    def function(b):
        x, aux = lax.custom_linear_solve(lambda x: x * 2, b, solve, has_aux=True)
        return x, aux["used"]

    f = imprint.jit(function)
    f(X)
    assert "stablehlo.cosine" in f.versions[0].stablehlo
    assert "stablehlo.sine" not in f.versions[0].stablehlo


def test_a_derivative_by_b_alone_does_not_differentiate_the_map():
    asked = []
    f = lambda b: lax.custom_linear_solve(
        lambda x: asked.append(x) or x * 2, b, lambda _, b: b / 2, lambda _, b: b / 2
    )
    (eqn, back) = imprint.make_jaxpr(lambda b: imprint.vjp(f, b)[1](b))(X).eqns
    assert eqn.primitive.name == back.primitive.name == "custom_linear_solve"
    assert len(asked) == 1


def test_a_map_that_is_symmetric_is_traced_once():
    traced = []
    matvec = lambda x: traced.append("matvec") or x * 2
    solve = lambda _, b: traced.append("solve") or b / 2
    f = lambda b: lax.custom_linear_solve(matvec, b, solve, symmetric=True)
    (eqn,) = imprint.make_jaxpr(f)(X).eqns
    assert traced == ["matvec", "solve"]
    assert eqn.params["transposed"] == (eqn.params["matvec"], eqn.params["solve"])


def test_captures_of_a_batch_rule_are_operands():
    """The jaxprs of one equation share their captured values."""
    table = np.arange(3, dtype="float32")

    @imprint.custom_batching.custom_vmap
    def half(b):
        return b / 2

    @half.def_vmap
    def _(size, batched, b):
        return b * inp.asarray(table) / 2, True

    f = lambda b: lax.custom_linear_solve(lambda x: x * 2, b, lambda _, b: half(b))
    got = imprint.jit(imprint.vmap(f))(np.ones((2, 3), "float32"))
    np.testing.assert_array_equal(got, [table / 2, table / 2])


def test_a_root_is_transposed_like_its_solver():
    """As in JAX before 0.12, which has no transpose of it."""
    root = lambda a: lax.custom_root(
        lambda x: x - a, 1.0, lambda f, x: x - f(x), scalar_tangent
    )
    (ct,) = imprint.linear_transpose(root, np.float32(1))(np.float32(5))
    assert float(ct) == 5.0


def test_a_function_of_another_shape_has_no_root():
    given = 1.0, lambda f, x: x, lambda g, y: y
    assert jax.lax.custom_root(lambda x: np.ones(3) * x, *given) == 1
    with pytest.raises(
        imprint.errors.ShapeError, match=r"float32\[\], got float32\[3\]"
    ):
        lax.custom_root(lambda x: inp.ones(3) * x, *given)


def test_an_integer_part_is_a_vector_without_a_tangent():
    def function(lib, p):
        solve = lambda matvec, b: {"p": b["p"] / 2, "n": b["n"]}
        matvec = lambda x: {"p": x["p"] * 2, "n": x["n"]}
        b = {"p": p, "n": lib.numpy.arange(2)}
        return lib.lax.custom_linear_solve(matvec, b, solve, solve)

    outs, tangents = imprint.jvp(lambda p: function(imprint, p), (1.0,), (3.0,))
    assert (float(outs["p"]), float(tangents["p"])) == (0.5, 1.5)
    assert tangents["n"].dtype == imprint.dtypes.float0
    assert float(imprint.grad(lambda p: function(imprint, p)["p"])(1.0)) == 0.5


# ---- sound ----


def test_another_way_to_solve_is_another_version():
    steps = [1]

    def solve(matvec, b):
        return lax.fori_loop(0, steps[0], lambda _, x: x + 0.5 * (b - matvec(x)), b * 0)

    @imprint.jit
    def f(b):
        return lax.custom_linear_solve(lambda x: x * 1.0, b, solve, symmetric=True)

    assert float(f(4.0)) == float(f(4.0)) == 2.0
    steps[0] = 2
    assert float(f(4.0)) == 3.0


def test_a_way_to_solve_that_closes_over_another_value_is_another_definition():
    def root(rate):
        solve = lambda f, x: x - rate * f(x)

        @imprint.jit
        def f(a):
            return lax.custom_root(lambda x: x - a, 0.0, solve, scalar_tangent)

        return f

    first, other = root(1.0), root(0.5)
    assert float(first(4.0)) == 4.0
    assert float(other(4.0)) == 2.0
    again = root(1.0)
    assert float(again(4.0)) == 4.0
    assert len(again.versions) == 1


@pytest.mark.parametrize("program", [root_with_aux, transposable])
def test_an_audit_finds_the_same_program(program):
    f = imprint.jit(imprint.grad(total(lambda a, x: program(imprint, a, x))))
    first = f(A, X)
    with imprint.audit(1.0):
        np.testing.assert_array_equal(f(A, X), first)

"""Refusals of functions with rules: the builtin error classes and the messages."""

import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint.errors import (
    ArgumentError,
    NotDifferentiableError,
    TreeError,
    UndefinedRuleError,
    UnexpectedTracerError,
)
from tests.units.custom_derivatives.defined import LIBRARIES, POINT


def with_vjp(lib, fwd, bwd, **options):
    f = lib.custom_vjp(lambda x: x * 2.0, **options)
    f.defvjp(fwd, bwd)
    return f


def with_jvp(lib, rule):
    f = lib.custom_jvp(lambda x: x * 2.0)
    f.defjvp(rule)
    return f


WRONG = {
    "no rule for tangents": lambda lib: lib.custom_jvp(lambda x: x)(1.0),
    "no rule for cotangents": lambda lib: lib.custom_vjp(lambda x: x)(1.0),
    "bwd gives no tuple": lambda lib: lib.grad(
        with_vjp(lib, lambda x: (x, None), lambda _, ct: ct)
    )(1.0),
    "bwd gives too many": lambda lib: lib.grad(
        with_vjp(lib, lambda x: (x, None), lambda _, ct: (ct, ct))
    )(1.0),
    "bwd gives another shape": lambda lib: lib.grad(
        with_vjp(lib, lambda x: (x, None), lambda _, ct: (POINT,))
    )(1.0),
    "fwd gives no pair": lambda lib: lib.grad(
        with_vjp(lib, lambda x: x, lambda _, ct: (ct,))
    )(1.0),
    "fwd gives another tree": lambda lib: lib.grad(
        lib.jit(with_vjp(lib, lambda x: ((x, x), None), lambda _, ct: (ct,)))
    )(1.0),
    "fwd gives another shape": lambda lib: lib.grad(
        lib.jit(with_vjp(lib, lambda x: (POINT, None), lambda _, ct: (ct,)))
    )(1.0),
    "a residual that is no array": lambda lib: lib.grad(
        with_vjp(lib, lambda x: (x, "text"), lambda _, ct: (ct,))
    )(1.0),
    "a tracer without a derivative": lambda lib: lib.grad(
        with_vjp(lib, lambda x: (x, x), lambda _, ct: (ct,), nondiff_argnums=(0,))
    )(1.0),
    "the rule gives no pair": lambda lib: lib.grad(with_jvp(lib, lambda p, t: t[0]))(
        1.0
    ),
    "the rule gives another tree": lambda lib: lib.grad(
        with_jvp(lib, lambda p, t: (p[0], t))
    )(1.0),
    "the rule gives no tangent": lambda lib: lib.grad(
        with_jvp(lib, lambda p, t: (p[0], None))
    )(1.0),
    "the rule gives another shape": lambda lib: lib.grad(
        with_jvp(lib, lambda p, t: (p[0], POINT))
    )(1.0),
    "the rule gives another result": lambda lib: lib.grad(
        lib.jit(with_jvp(lib, lambda p, t: (POINT, POINT)))
    )(1.0),
    "defjvps with nondiff_argnums": lambda lib: lib.custom_jvp(
        lambda n, x: x, nondiff_argnums=(0,)
    ).defjvps(None, None),
    "too few arguments": lambda lib: lib.jit(with_jvp(lib, lambda p, t: (p, t)))(),
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG.keys())
def test_functions_that_jax_refuses_raise_the_same_builtin_error(wrong):
    (ours, _), (theirs, _) = LIBRARIES
    with pytest.raises(Exception) as expected:  # noqa: PT011 - JAX chooses
        wrong(theirs)
    kind = next(
        k for k in (AttributeError, TypeError, ValueError) if expected.errisinstance(k)
    )
    with pytest.raises(kind, match="expected"):
        wrong(ours)


def test_a_function_without_a_rule_raises_with_the_remedy():
    f = imprint.custom_vjp(lambda x: x)
    with pytest.raises(UndefinedRuleError, match=r"<lambda>\.defvjp\(fwd, bwd\)"):
        f(1.0)


def test_an_argument_by_keyword_alone_cannot_be_given_to_a_rule():
    @imprint.custom_jvp
    def f(x, *, scale):
        return x * scale

    f.defjvp(lambda p, t: (p[0], t[0]))
    with pytest.raises(ArgumentError, match=r"got scale by keyword alone"):
        imprint.jit(f)(1.0, scale=2.0)


def test_arguments_go_to_a_rule_by_position_and_with_defaults():
    @imprint.custom_jvp
    def f(x, scale=3.0):
        return x * scale

    seen = []

    @f.defjvp
    def rule(primals, tangents):
        seen.append(len(primals))
        return f(*primals), tangents[0] * primals[1] ** 2

    assert imprint.grad(f)(1.0) == 9.0
    assert imprint.grad(lambda x: f(scale=2.0, x=x))(1.0) == 4.0
    assert seen == [2, 2]


@pytest.mark.parametrize("compiled", [False, True])
def test_closed_over_values_are_not_differentiated(compiled):
    def loss(x):
        @imprint.custom_vjp
        def f(y):
            return y * x

        f.defvjp(lambda y: (f(y), None), lambda _, ct: (ct,))
        return f(x)

    wrapped = imprint.jit(loss) if compiled else loss
    with pytest.raises(UnexpectedTracerError, match=r"pass it to f as an argument"):
        imprint.grad(wrapped)(2.0)


def test_python_chooses_by_values_where_nothing_is_staged():
    @imprint.custom_jvp
    def f(x):
        return x * 2.0 if x > 0 else x

    f.defjvp(lambda p, t: (f(*p), t[0] * (10.0 if p[0] > 0 else 20.0)))
    assert f(-1.0) == -1.0
    assert imprint.grad(f)(1.0) == 10.0
    assert imprint.jvp(f, (-1.0,), (1.0,))[1] == 20.0

    g = imprint.custom_vjp(lambda x: x)
    g.defvjp(lambda x: (x, x), lambda x, ct: (ct * (3.0 if x > 0 else 4.0),))
    assert (imprint.grad(g)(1.0), imprint.grad(g)(-1.0)) == (3.0, 4.0)


def _of_captured(lib, result):
    """Return the derivatives, in two slices, by a value that a rule captures."""

    def loss(captured, z):
        f = lib.custom_jvp(lambda x: result(captured))
        f.defjvp(lambda p, t: (f(*p), t[0]))
        return f(z)

    return lib.vmap(lib.grad(loss))(*np.ones((2, 2), np.float32))


def test_a_captured_value_that_is_passed_along_has_no_derivative():
    (ours, _), (theirs, _) = LIBRARIES
    assert not np.any(_of_captured(theirs, lambda x: x))
    with pytest.raises(theirs.errors.UnexpectedTracerError):
        _of_captured(theirs, lambda x: x * 1.0)
    with pytest.raises(UnexpectedTracerError, match="closes over"):
        _of_captured(ours, lambda x: x)


def _choosing(lib, captured):
    """Return a function, and its rule, that branch on values and capture another."""
    f = lib.custom_jvp(lambda x: x * captured if x > 0 else x)
    f.defjvp(lambda p, t: (f(*p), t[0] * (captured * 10.0 if p[0] > 0 else 20.0)))
    return f


def _holding(lib):
    """Return a function with a rule, of which another's backward rule holds the argument."""
    f = lib.custom_vjp(lambda n, x: n * x, nondiff_argnums=(0,))
    f.defvjp(lambda n, x: (f(n, x), None), lambda n, _, ct: (ct * n * 3.0,))
    g = lib.custom_jvp(lambda x: f(x, x))
    g.defjvps(lambda t, out, x: t)
    return g


UNMAPPED = {
    "a value": lambda lib, x, zs: lib.vmap(lambda z: _choosing(lib, z)(x))(zs),
    "in columns": lambda lib, x, zs: lib.vmap(
        lambda z: _choosing(lib, z)(x), 1, out_axes=1
    )(zs),
    "a derivative": lambda lib, x, zs: lib.grad(
        lambda x: lib.vmap(lambda z: _choosing(lib, z)(x) * z)(zs).sum()
    )(x),
    "a tangent": lambda lib, x, zs: lib.jvp(
        lambda x: lib.vmap(lib.vmap(lambda z: _choosing(lib, z)(x)))(zs), (x,), (x,)
    )[1],
    "another's derivative": lambda lib, x, zs: lib.grad(
        lambda z: lib.vmap(lambda z: _choosing(lib, 2.0)(x) * z)(z).sum()
    )(zs),
    "held": lambda lib, x, zs: lib.vmap(lambda z: _holding(lib)(x) * z)(zs),
}


@pytest.mark.parametrize("program", UNMAPPED.values(), ids=UNMAPPED.keys())
def test_python_chooses_by_values_that_are_not_mapped(program):
    zs = np.arange(6, dtype="float32").reshape(2, 3)
    ours, theirs = (program(lib, np_.float32(1.5), zs) for lib, np_ in LIBRARIES)
    np.testing.assert_allclose(ours, theirs, rtol=1e-6)


def test_an_unused_tangent_needs_no_forward_mode():
    f = imprint.custom_vjp(lambda x: x * 2.0)
    f.defvjp(lambda x: (f(x), None), lambda _, ct: (ct,))
    assert imprint.jit(lambda x: imprint.jvp(f, (x,), (1.0,))[0])(3.0) == 6.0
    with pytest.raises(NotDifferentiableError):
        imprint.jit(lambda x: imprint.jvp(f, (x,), (1.0,))[1])(3.0)


def test_a_converted_closure_refuses_other_trees():
    fun, _ = imprint.closure_convert(lambda x: x["a"], {"a": 1.0})
    with pytest.raises(TreeError, match="Convert it again"):
        fun({"b": 1.0})


def test_both_are_made_with_the_names_of_their_function():
    def f(x):
        """Say something."""

    for made in (imprint.custom_jvp(f), imprint.custom_vjp(f)):
        assert (made.__name__, made.__doc__, made.__wrapped__) == ("f", f.__doc__, f)
        f.attribute = 3
        assert made.attribute == 3


def test_one_equation_holds_the_function_and_not_its_rule():
    f = imprint.custom_jvp(lambda x: inp.sin(x) * 2.0)
    calls = []

    @f.defjvp
    def rule(primals, tangents):
        calls.append(1)
        return f(*primals), tangents[0]

    closed = imprint.make_jaxpr(f)(np.float32(1))
    (eqn,) = closed.eqns
    assert eqn.primitive.name == "custom_jvp_call"
    assert [e.primitive.name for e in eqn.params["jaxpr"].eqns] == ["sin", "mul"]
    assert not calls
    assert "call" not in imprint.jit(f).lower(np.float32(1)).as_text()

"""The conditional: residuals of its branches, forwarded values, and effects."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint import lax
from imprint._src.control_flow.cond import cond_p
from imprint.errors import NonFiniteError
from tests.noisy import HEARD, tell_p

X = np.linspace(0.5, 2, 4, dtype="float32")


def tell(x, *, ordered=True):
    tell_p.bind_all(x, ordered=ordered)
    return x


def conditionals(jaxpr):
    return [eqn for eqn in jaxpr.eqns if eqn.primitive is cond_p]


def printed(fun, *args):
    return imprint.make_jaxpr(fun)(*args)


# ---- residuals ----


def test_residuals_of_different_branches_share_a_slot():
    def f(p, x):
        return lax.cond(
            p, lambda x: inp.sin(x), lambda x: inp.exp(inp.cos(x)) * inp.tanh(x), x
        ).sum()

    forward, backward = conditionals(printed(imprint.grad(f, 1), True, X))
    ours = [len(v.aval.shape) for v in forward.outvars]
    theirs = jax.make_jaxpr(
        jax.grad(
            lambda p, x: jax.lax.cond(
                p, jnp.sin, lambda x: jnp.exp(jnp.cos(x)) * jnp.tanh(x), x
            ).sum(),
            1,
        )
    )(True, X)
    their_forward = next(e for e in theirs.eqns if e.primitive.name == "cond")
    assert len(ours) <= len(their_forward.outvars)
    one, other = forward.params["branches"]
    assert len(one.eqns) > 3 < len(other.eqns)
    assert len(backward.invars) <= 2 + len(ours)


def test_an_argument_that_the_derivative_needs_is_no_result():
    def f(p, x, w):
        return lax.cond(p, lambda x: x @ w, lambda x: -(x @ w), x).sum()

    w = np.ones((4, 4), "float32")
    forward, *_ = conditionals(printed(imprint.grad(f, 1), True, X, w))
    assert [v.aval.shape for v in forward.outvars] == [(4,)]


def test_without_a_tangent_nothing_is_staged():
    def push(p, t):
        out, f = imprint.linearize(lambda x: lax.cond(p, inp.floor, inp.sign, x) * x, X)
        return out, f(t)

    assert len(conditionals(printed(push, True, X))) == 1


def test_unused_results_are_dropped_with_their_inputs():
    def f(p, x, y):
        first, _ = lax.cond(
            p, lambda: (inp.sin(x), inp.exp(y)), lambda: (x * 2, inp.log(y))
        )
        return first

    text = imprint.jit(f).lower(True, X, X).as_text()
    assert "sine" in text
    assert "exponential" not in text
    assert text.count("%arg") == 5  # of y nothing is left


def test_an_operand_that_is_returned_by_all_passes_by():
    jaxpr = printed(lambda p, x: lax.cond(p, lambda: (x, x * 2), lambda: (x, x)), 1, X)
    (eqn,) = conditionals(jaxpr)
    assert len(eqn.outvars) == 1
    assert jaxpr.jaxpr.outvars[0] is jaxpr.jaxpr.invars[1]
    assert not conditionals(printed(lambda p: lax.cond(p, lambda: X, lambda: X), True))


def test_an_array_that_both_capture_is_one_operand():
    w = inp.asarray(X) * 2
    jaxpr = printed(lambda p: lax.cond(p, lambda: w * 2, lambda: w + 1), True)
    (eqn,) = conditionals(jaxpr)
    assert len(eqn.invars) == 2
    assert jaxpr.consts[0].tolist() == w.tolist()


def test_a_choice_that_is_not_mapped_stays_one():
    f = imprint.vmap(lambda p, x: lax.cond(p, inp.sin, inp.cos, x), (None, 0))
    (eqn,) = printed(f, True, X).eqns[-1:]
    assert eqn.primitive is cond_p
    g = imprint.vmap(lambda p, x: lax.cond(p, inp.sin, inp.cos, x))
    assert not conditionals(printed(g, X > 1, X))


def test_a_tracer_of_an_enclosing_transform_is_captured():
    def f(x):
        def inner(y):
            return lax.cond(y > 1, lambda: x * y, lambda: x + y)

        return imprint.vmap(inner)(X).sum()

    def twin(x):
        def inner(y):
            return jax.lax.cond(y > 1, lambda: x * y, lambda: x + y)

        return jax.vmap(inner)(X).sum()

    for run in (imprint.grad(f), imprint.jit(imprint.grad(f))):
        np.testing.assert_allclose(run(3.0), jax.grad(twin)(3.0), rtol=1e-6)


# ---- effects ----


def noisy(p, x):
    return lax.cond(p, lambda: tell(x) * 2, lambda: tell(tell(x) + 1))


@pytest.mark.parametrize("ordered", [True, False])
def test_only_the_effects_of_the_branch_that_runs_happen(ordered):
    def f(p, x):
        return lax.cond(p, lambda: tell(x, ordered=ordered) * 2, lambda: x)

    for run in (imprint.jit(f), f):
        for p, effects in ((True, [1.0]), (False, [])):
            HEARD.clear()
            run(p, np.float32(1)).block_until_ready()
            assert effects == HEARD


def test_effects_of_branches_keep_their_place():
    def f(p, x):
        tell(x * 10)
        y = noisy(p, x)
        tell(y * 100)
        return y

    for p, effects in ((True, [10, 1, 200]), (False, [10, 1, 2, 200])):
        HEARD.clear()
        imprint.jit(f)(p, np.float32(1)).block_until_ready()
        assert effects == HEARD


def test_the_order_goes_on_behind_the_conditional():
    program = imprint.jit(lambda p, x: tell(noisy(p, x)))
    lines = program.lower(True, np.float32(1)).as_text().splitlines()
    (end,) = [i for i, line in enumerate(lines) if "-> (!stablehlo.token" in line]
    (begin,) = [i for i, line in enumerate(lines) if '"stablehlo.case"' in line]
    case = lines[begin].split(":")[0].strip()
    assert any(f"{case}#0" in line for line in lines[end + 1 :])


def test_an_effect_is_kept_when_all_results_are_operands():
    f = imprint.jit(lambda p, x: lax.cond(p, lambda: (tell(x), x)[1], lambda: x))
    HEARD.clear()
    assert f(True, np.float32(4)) == 4
    assert f(False, np.float32(5)) == 5
    assert HEARD == [4]


def test_a_mapped_choice_has_the_effects_of_the_chosen_branches_alone():
    flags, xs = np.array([True, False, True]), np.array([1, 2, 3], "float32")
    program = imprint.jit(imprint.vmap(noisy))
    HEARD.clear()
    assert program(flags, xs).tolist() == [2, 3, 6]
    assert HEARD == [1, 2, 3, 3]
    assert imprint.vmap(noisy)(flags[:0], xs[:0]).shape == (0,)


def test_an_effect_is_kept_when_the_result_is_unused():
    HEARD.clear()
    imprint.jit(lambda p, x: (noisy(p, x), x)[1])(True, np.float32(5))
    assert HEARD == [5]


# ---- debug_nans ----


def test_debug_nans_names_the_line_inside_the_branch():
    def f(p, x):
        return lax.cond(p, lambda: inp.log(x) * 2, lambda: x) + 1

    run = imprint.jit(f)
    with imprint.debug_nans():
        run(False, np.float32(-1))
        run(True, np.float32(1))
        with pytest.raises(NonFiniteError, match=r"`log` at test_cond\.py:\d+ \(inp"):
            run(True, np.float32(-1))
        with pytest.raises(NonFiniteError, match="argument x already holds one"):
            run(False, np.float32("nan"))
        with pytest.raises(NonFiniteError, match="`log` at test_cond"):
            imprint.jit(lambda q, x: lax.cond(q, f, lambda *_: x, True, x))(
                True, np.float32(-1)
            )


def test_debug_nans_accepts_branches_without_floats():
    run = imprint.jit(lambda p, n: lax.cond(p, lambda: n + 1, lambda: n * 2))
    with imprint.debug_nans():
        assert run(True, 3) == 4


# ---- outside of a trace ----


def test_a_bound_conditional_runs_the_branch_of_its_index():
    jaxpr = printed(lambda i, x: lax.switch(i, [inp.sin, inp.cos, inp.tanh], x), 0, X)
    (eqn,) = conditionals(jaxpr)
    for index, want in ((0, np.sin), (1, np.cos), (2, np.tanh), (7, np.tanh)):
        (got,) = cond_p.bind_all(np.int32(index), X, **eqn.params)
        np.testing.assert_allclose(got, want(X), rtol=1e-6)

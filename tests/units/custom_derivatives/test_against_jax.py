"""`custom_jvp`, `custom_vjp`, `custom_gradient` and `closure_convert` as in JAX."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from tests.tolerances import assert_close
from tests.units.custom_derivatives.defined import (
    BACK,
    BACKWARD,
    FORTH,
    FORWARD,
    ROWS,
    SECOND,
    WAYS,
    assert_same,
    run_both,
)

pytestmark = pytest.mark.sampled(24)
REVERSE = {**WAYS, **BACK, **SECOND}


def named(table):
    return pytest.mark.parametrize("way", table.values(), ids=table.keys())


functions = pytest.mark.parametrize(
    "define", [*FORWARD, *BACKWARD], ids=lambda f: f.__name__
)


@functions
@named(REVERSE)
def test_a_rule_is_used_as_by_jax(define, way):
    assert_same(way, define)


@pytest.mark.parametrize("define", FORWARD, ids=lambda f: f.__name__)
@named(FORTH)
def test_a_rule_for_tangents_serves_forward_mode(define, way):
    assert_same(way, define)


@pytest.mark.parametrize("define", BACKWARD, ids=lambda f: f.__name__)
@named(FORTH)
def test_a_rule_for_cotangents_has_no_forward_mode(define, way):
    ours, theirs = run_both(way, define)
    assert isinstance(theirs, TypeError)
    assert isinstance(ours, TypeError)
    assert "expected reverse mode, got forward mode" in str(ours)


def test_a_rule_has_the_cotangent_of_its_example_although_the_result_is_shared():
    def gradients(lib, np_):
        f = lib.custom_vjp(lambda m, x: m.sum())  # which is the same for each row
        f.defvjp(lambda m, x: (f(m, x), (m, x)), lambda mx, ct: (mx[0], ct * mx[1]))
        row = lambda x: f(np_.ones(3), x) * 0.5
        rows = np_.asarray(ROWS, "float32")
        mapped = lib.grad(lambda rows: lib.vmap(row)(rows).sum())(rows)
        return np.asarray(mapped), np.stack([lib.grad(row)(x) for x in rows])

    mapped, each = gradients(imprint, inp)
    assert_close(mapped, each, "gradient")
    theirs, other = gradients(jax, jnp)
    assert_close(each, other, "gradient")
    assert_close(theirs, 2 * other, "gradient")


@pytest.mark.parametrize("compiled", [False, True])
def test_a_rule_is_given_an_array_where_the_primal_is_a_number(compiled):
    seen = []

    def rules(lib):
        f = lib.custom_vjp(lambda x: x * 2.0)
        f.defvjp(
            lambda x: (x * 2.0, None), lambda _, ct: (seen.append(ct.shape) or ct,)
        )
        g = lib.custom_jvp(lambda x: x * 3.0)
        g.defjvp(lambda p, t: (seen.append(t[0].shape) or g(*p), t[0]))
        slope = lib.grad(lambda x: f(g(x)))
        return (lib.jit(slope) if compiled else slope)(2.0)

    assert float(rules(imprint)) == float(rules(jax)) == 1.0
    assert seen == [()] * 4

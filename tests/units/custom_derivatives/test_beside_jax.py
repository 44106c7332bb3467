"""`custom_jvp`, `custom_vjp`, `custom_gradient` and `closure_convert` beside JAX's."""

import pytest

from tests.units.custom_derivatives.defined import (
    BACK,
    BACKWARD,
    FORTH,
    FORWARD,
    SECOND,
    WAYS,
    assert_same,
    beside,
)

pytestmark = pytest.mark.sampled(6)
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
    ours, theirs = beside(way, define)
    assert isinstance(theirs, TypeError)
    assert isinstance(ours, TypeError)
    assert "expected reverse mode, got forward mode" in str(ours)

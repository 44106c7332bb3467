import numpy as np
import pytest

import imprint
from imprint._src.core.jaxpr import check_jaxpr
from imprint._src.interpreters.dce import prune
from imprint._src.passes.pipeline import run_passes

TABLES = [np.full(3, float(i), np.float32) for i in range(3)]
X = np.ones(3, np.float32)


def uses(x, unused, y):
    TABLES[0] * x  # unused after dead code elimination
    return y - TABLES[2] + TABLES[1] * 3


CLOSED = imprint.make_jaxpr(uses)(X, X, X)


def without_dead_code():
    return run_passes(CLOSED)


@pytest.mark.parametrize(("keep_unused", "kept"), [(False, (2,)), (True, (0, 1, 2))])
def test_constants_that_are_used_lead_the_arguments_that_are_kept(keep_unused, kept):
    pruned = prune(without_dead_code(), keep_unused=keep_unused)
    check_jaxpr(pruned.jaxpr)
    assert pruned.kept == kept
    assert sorted(c[0] for c in pruned.consts) == [2.0, 3.0]
    assert pruned.jaxpr.constvars == ()
    assert len(pruned.jaxpr.invars) == 2 + len(kept)


def test_each_constant_stays_with_its_variable():
    pruned = prune(without_dead_code())
    env = dict(zip(pruned.jaxpr.invars, (*pruned.consts, X * 10), strict=True))
    for eqn in pruned.jaxpr.eqns:
        operands = [env.get(v, getattr(v, "value", None)) for v in eqn.invars]
        (env[eqn.outvars[0]],) = eqn.primitive.reference(*operands, **eqn.params)
    assert np.array_equal(env[pruned.jaxpr.outvars[0]], uses(X, X, X * 10))


def test_a_result_that_is_an_argument_uses_it():
    closed = imprint.make_jaxpr(lambda x, y: (y, 1.0))(X, X)
    assert prune(closed).kept == (1,)

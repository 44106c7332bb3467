"""Law 9: a symbolic equation at drawn sizes is the equation of these sizes.

The calls are those of law 8, with the expressions that users have for its names.
"""

from imprint._src.core.control import one_equation
from imprint._src.core.jaxpr import check_jaxpr
from imprint._src.dynamic_shapes import SymbolicScope
from imprint._src.dynamic_shapes.instantiate import instantiate
from tests.laws.law import every_primitive
from tests.laws.test_symbolic_aval import symbolic_calls
from tests.strategies import calls
from tests.symbolic import evaluate, names


@every_primitive
def test_an_equation_at_sizes_is_the_equation_of_these_sizes(primitive):
    for call in (c for given in calls(primitive) for c in symbolic_calls(given)):
        free = sorted(names([[a.shape for a in call.avals], call.params]))
        scope = SymbolicScope([f"{text} >= {least}" for text, least in free])
        env = {text: scope.name(text) for text, _ in free}
        avals = tuple(a.with_shape(evaluate(a.shape, env)) for a in call.avals)
        params = evaluate(call.params, env)
        sizes = {text: least + 3 * i for i, (text, least) in enumerate(free)}
        came = instantiate(one_equation(primitive, avals, params), sizes)
        check_jaxpr(came.jaxpr)
        for aval, struct in zip(call.avals, came.in_avals, strict=True):
            assert struct.shape == evaluate(aval.shape, sizes)
        for eqn in came.eqns:
            assert eqn.params == evaluate(call.params, sizes)
        if not came.eqns:
            assert came.jaxpr.outvars[0].value == evaluate(call.params, sizes)["dim"]

"""Law 10: the StableHLO of a symbolic equation, at drawn sizes, is one of these sizes.

The calls are those of law 8. The engine substitutes numbers for the names; the types of
the results must be those of the aval rule. Primitives without such a form are listed here,
with reasons.
"""

import numpy as np
import pytest

from imprint._src import runtime
from imprint._src.core.aval import ShapedArray
from imprint._src.core.control import one_equation
from imprint._src.core.jaxpr import Jaxpr, Var
from imprint._src.dynamic_shapes import SymbolicScope
from imprint._src.export.module import at_sizes
from imprint._src.interpreters.lowering import SizeSource, ir_type, lower_jaxpr
from imprint._src.runtime import EngineError
from imprint.errors import ConcretizationError, ShapeError
from tests.laws.law import every_primitive
from tests.laws.test_symbolic_aval import symbolic_calls
from tests.strategies import calls
from tests.symbolic import evaluate, names

_BY_CASES = "its form depends on which size is larger: a constraint decides it"
WITHOUT = {
    "bitcast_convert_type": "StableHLO has it for numbers only, where widths differ",
    "fft": "StableHLO has its lengths as attributes",
    "hessenberg": "LAPACK has its last row as an attribute",
    "eigh": "LAPACK has the size of its work as a constant",
    "tridiagonal": "LAPACK has its size as a constant",
    "eig": "LAPACK has the size of its work as a constant",
    **dict.fromkeys(("lu", "geqrf", "qr", "svd", "conv_general_dilated"), _BY_CASES),
    **dict.fromkeys((f"reduce_window_{x}" for x in ("sum", "max", "min")), _BY_CASES),
    **dict.fromkeys((f"select_and_{x}_add" for x in ("gather", "scatter")), _BY_CASES),
}
MOST = 2
FAILURES = (EngineError, ShapeError, ConcretizationError, AssertionError)


def law(primitive, most):
    made = (c for given in calls(primitive) for c in symbolic_calls(given))
    for _, call in zip(range(most), made, strict=False):
        free = sorted(names([[a.shape for a in call.avals], call.params]))
        sizes = {text: least + 2 * i for i, (text, least) in enumerate(free)}
        main = _at_sizes(call, free, sizes)
        assert "?" not in main
        results = main.split(") -> ", 1)[1].split(" {\n", 1)[0]
        at = [ShapedArray(evaluate(a.shape, sizes), a.dtype) for a in call.out_avals]
        wanted = ", ".join(ir_type(aval).text for aval in at)
        assert results.strip("()") == wanted, str(call)


def _at_sizes(call, free, sizes):
    """Return the `main` of a call at sizes, from the module that holds for all."""
    scope = SymbolicScope([f"{text} >= {least}" for text, least in free])
    env = {text: scope.name(text) for text, _ in free}
    avals = tuple(a.with_shape(evaluate(a.shape, env)) for a in call.avals)
    alone = one_equation(call.primitive, avals, evaluate(call.params, env)).jaxpr
    lengths = [ShapedArray((env[text],), np.dtype(np.int8)) for text, _ in free]
    args = [*map(Var, lengths), *alone.invars]
    jaxpr = Jaxpr((), args, alone.outvars, alone.eqns)
    found = {text: SizeSource(i, 0) for i, (text, _) in enumerate(free)}
    module = lower_jaxpr(jaxpr, "law", locations=False, sizes=found)
    given = [ShapedArray((sizes[text],), np.dtype(np.int8)) for text, _ in free]
    given += [ShapedArray(evaluate(a.shape, sizes), a.dtype) for a in call.avals]
    takes, gives = ([v.aval for v in vs] for vs in (args, alone.outvars))
    functions = runtime.functions_of(module.text())
    return at_sizes(functions, takes, gives, given)["main"]


@every_primitive
def test_a_program_for_every_size_is_one_of_each_size(primitive):
    if primitive.name not in WITHOUT:
        law(primitive, MOST)


@pytest.mark.exhaustive
@every_primitive
def test_all_calls_for_every_size_are_those_of_each_size(primitive):
    if primitive.name not in WITHOUT:
        law(primitive, 200)
        return
    with pytest.raises(FAILURES):
        law(primitive, 200)

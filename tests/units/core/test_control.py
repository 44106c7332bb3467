"""Control primitives by declaration: a toy with a tuple of branches, and another."""

import numpy as np
import pytest

import imprint.numpy as inp
from imprint._src.core.aval import ShapedArray
from imprint._src.core.control import (
    ControlPrimitive,
    Eager,
    Narrowed,
    Unit,
    Watched,
    one_equation,
)
from imprint._src.core.jaxpr import ClosedJaxpr, check_jaxpr, subjaxprs
from imprint._src.core.primitive import Absent
from imprint._src.interpreters.lowering import lower_call
from imprint._src.interpreters.trace_to_jaxpr import DebugInfo, stage
from imprint._src.jit.compilation.counters import COUNTERS
from imprint._src.jit.compilation.lowered import lower
from imprint._src.jit.explain.granularity import granularity
from imprint.errors import InternalError

FLOAT = ShapedArray((), np.dtype("float32"))
INDEX = ShapedArray((), np.dtype("int32"))
ABSENT = Absent("it is a toy")


def bound(index, *operands, branches, last):
    chosen = [*branches, last][int(index)]
    return [y for e in chosen.eqns for y in e.primitive.bind_all(*operands, **e.params)]


choose_p = ControlPrimitive(
    name="choose",
    aval=lambda *avals, branches, last: last.out_avals,
    reference=ABSENT,
    lower=lambda b, index, *xs, branches, last: lower_call(b, last, xs, "last"),
    jvp=ABSENT,
    linearize=ABSENT,
    transpose=ABSENT,
    batch=ABSENT,
    pad=ABSENT,
    dce=lambda used, **params: Narrowed((True, True), used, params),
    jaxprs=("branches", "last"),
    eager=bound,
    sentinels=Watched.AS_ONE,
    granularity=Unit.BODY,
)


def branch(function):
    return stage(lambda x: [function(x)], [FLOAT], DebugInfo("tests", "branch"))


@pytest.fixture
def params():
    return {"branches": (branch(inp.sin), branch(inp.cos)), "last": branch(inp.exp)}


@pytest.fixture
def program(params):
    return one_equation(choose_p, (INDEX, FLOAT), params)


def test_every_jaxpr_is_seen_in_tuples_too(params, program):
    every = (*params["branches"], params["last"])
    assert choose_p.jaxprs(params) == every
    assert subjaxprs(program.eqns[0]) == every
    assert choose_p.options({**params, "unroll": 2}) == {"unroll": 2}


def test_others_are_put_in_their_places(params):
    others = tuple(branch(f) for f in (inp.tan, inp.sqrt, inp.log))
    changed = choose_p.with_jaxprs({**params, "unroll": 2}, others)
    assert changed == {"branches": others[:2], "last": others[2], "unroll": 2}
    with pytest.raises(AssertionError, match="choose: more jaxprs than it holds"):
        choose_p.with_jaxprs(params, (*others, others[0]))


def test_branches_are_printed_as_in_jax(program):
    assert str(program) == (
        "{ lambda ; a:i32[] b:f32[]. let\n"
        "    c:f32[] = choose[\n"
        "      branches=(\n"
        "        { lambda ; d:f32[]. let e:f32[] = sin d in (e,) }\n"
        "        { lambda ; f:f32[]. let g:f32[] = cos f in (g,) }\n"
        "      )\n"
        "      last={ lambda ; h:f32[]. let i:f32[] = exp h in (i,) }\n"
        "    ] a b\n"
        "  in (c,) }"
    )


def test_a_branch_that_is_used_twice_is_printed_once():
    one = branch(inp.sin)
    program = one_equation(
        choose_p, (INDEX, FLOAT), {"branches": (one, one), "last": one}
    )
    assert str(program).count("sin") == 1


def test_bodies_are_counted_with_their_equation(program):
    found = granularity(program)
    assert found.outer.equations == found.both.equations == 4
    assert found.inner[:3] == (4, 1, 1)
    assert lower(program, "choose").equations == 4


def test_a_rule_of_its_own_binds_the_equations_that_run(params):
    for index, want in enumerate((np.sin, np.cos, np.exp)):
        (got,) = choose_p.bind_all(np.int32(index), np.float32(0.5), **params)
        np.testing.assert_allclose(got, want(np.float32(0.5)), rtol=1e-6)


def test_a_compiled_one_is_compiled_once_for_each_jaxpr(params, monkeypatch):
    monkeypatch.setattr(choose_p, "eager", Eager.COMPILED)
    x = np.float32(0.5)
    first = choose_p.bind_all(np.int32(0), x, **params)[0]
    before = COUNTERS.lowerings, COUNTERS.compiles
    again = choose_p.bind_all(np.int32(1), x, **params)[0]
    assert (COUNTERS.lowerings, COUNTERS.compiles) == before
    np.testing.assert_allclose([first, again], np.exp(x), rtol=1e-6)


def test_the_checker_looks_into_every_branch(params):
    wrong = branch(inp.tan)
    wrong.eqns[0].outvars[0].aval = INDEX
    inside = choose_p.with_jaxprs(params, (*params["branches"][:1], wrong, wrong))
    with pytest.raises(InternalError, match="tan: expected results"):
        check_jaxpr(one_equation(choose_p, (INDEX, FLOAT), inside).jaxpr)


def test_a_jaxpr_that_is_held_has_no_constants(params):
    last = params["last"]
    held = ClosedJaxpr(last.jaxpr, (np.ones(3),))
    program = one_equation(choose_p, (INDEX, FLOAT), {**params, "last": held})
    with pytest.raises(InternalError, match="a jaxpr that it holds has constants"):
        check_jaxpr(program.jaxpr)

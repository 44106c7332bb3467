"""An equation with effects is kept, runs once, and in the order of the program."""

import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint._src import runtime
from imprint._src.array import buffer_of, to_array
from imprint._src.core.control import ControlPrimitive, Eager, Narrowed, Unit, Watched
from imprint._src.core.primitive import PURE, Absent
from imprint._src.core.tangents import UndefinedPrimal, Zero
from imprint._src.interpreters.dce import dce
from imprint._src.interpreters.linearize import linearize_jaxpr
from imprint._src.interpreters.lowering import ir_type, lower_body, ordered_effects
from imprint._src.interpreters.transpose import backward_pass
from imprint.errors import AbsentRuleError
from tests.laws.law import compile_closed
from tests.noisy import EFFECTS, HEARD, tell

ONE = np.float32(1)


@pytest.fixture(autouse=True)
def _silence():
    HEARD.clear()


@imprint.jit
def steps(x):
    tell(x)
    tell(x + 1)
    return x + 2


def twice(x):
    y = steps(x)
    tell(y * 100)
    steps(y)
    return inp.sin(y)


IN_ORDER = [1.0, 2.0, 300.0, 3.0, 4.0]


def traced(function, *args):
    return imprint.make_jaxpr(function)(*args)


def effects_of(call):
    HEARD.clear()
    np.asarray(call())
    return list(HEARD)


# ---- whose effects ----


def test_a_jaxpr_has_the_effects_of_its_equations_nested_calls_included():
    assert traced(inp.sin, ONE).jaxpr.effects == PURE
    assert traced(twice, ONE).jaxpr.effects == {EFFECTS[True]}
    assert traced(lambda x: tell(x, ordered=False), ONE).jaxpr.effects == {
        EFFECTS[False]
    }


def test_tokens_are_those_of_ordered_effects():
    free = traced(lambda x: tell(x, ordered=False), ONE).jaxpr
    assert ordered_effects(free) == ()
    assert ordered_effects(free, traced(twice, ONE).jaxpr) == ("tell",)
    assert "token" not in imprint.jit(inp.sin).lower(ONE).as_text()


# ---- kept ----


def test_dead_code_with_effects_is_not_dead():
    closed = dce(traced(twice, ONE), [False])
    assert [eqn.primitive.name for eqn in closed.eqns] == ["jit", "mul", "tell", "jit"]
    first, *_, last = closed.eqns
    assert len(first.outvars) == 1
    assert last.outvars == []
    assert [e.primitive.name for e in last.params["jaxpr"].eqns] == [
        *("tell", "add", "tell")
    ]


def test_an_effect_without_results_is_lowered():
    text = imprint.jit(lambda x: (tell(x, ordered=False), x)[1]).lower(ONE).as_text()
    assert text.count("has_side_effect = true") == 1


# ---- once, and in order ----


def test_each_way_to_run_runs_the_effects_once_and_in_order():
    compiled = imprint.jit(twice)
    assert effects_of(lambda: compiled(ONE)) == IN_ORDER
    assert effects_of(lambda: compiled(inp.asarray(ONE))) == IN_ORDER
    assert effects_of(lambda: twice(ONE)) == IN_ORDER
    with imprint.disable_jit():
        assert effects_of(lambda: twice(ONE)) == IN_ORDER


def test_the_order_is_written_down_for_the_engine():
    text = imprint.jit(twice).lower(ONE).as_text()
    assert text.count("stablehlo.create_token") == 1
    assert text.count("func.func private @steps(%arg0: !stablehlo.token") == 1
    assert text.count("call @steps(") == text.count("call @steps_0(") == 1


def test_many_ordered_effects_keep_their_order():
    def count(x):
        for k in range(40):
            tell(inp.sin(x * k) * 0 + k)
        return x

    assert effects_of(lambda: imprint.jit(count)(ONE)) == list(range(40))


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("wrap", [lambda f: f, imprint.jit])
def test_a_primal_that_is_differentiated_has_its_effects_once(wrap, ordered):
    f = wrap(lambda x: (tell(x, ordered=ordered), inp.sin(x))[1])
    for how in (
        lambda: imprint.grad(f)(ONE),
        lambda: imprint.jit(imprint.grad(f))(ONE),
        lambda: imprint.jvp(f, (ONE,), (ONE,))[1],
        lambda: imprint.jit(lambda x: imprint.jvp(f, (x,), (x,))[1])(ONE),
        lambda: imprint.vmap(lambda y: f(ONE) * y)(np.ones(3, "float32")),
    ):
        assert effects_of(how) == [1.0]


def test_the_effects_of_a_primal_stay_with_it():
    lin = linearize_jaxpr(traced(twice, ONE), (True,))
    assert lin.primal.jaxpr.effects == {EFFECTS[True]}
    assert lin.tangent.jaxpr.effects == PURE


# ---- refused ----


@pytest.mark.parametrize("wrap", [lambda f: f, imprint.jit])
def test_a_batch_without_a_rule_raises(wrap):
    f = wrap(lambda x: (tell(x), x)[1])
    with pytest.raises(AbsentRuleError, match="expected one number, got a batch"):
        imprint.vmap(f)(np.ones(3, "float32"))
    assert HEARD == []


def test_an_effect_on_a_tangent_is_not_forgotten_backwards():
    jaxpr = traced(lambda t: (tell(t), t * 2)[1], ONE).jaxpr
    (aval,) = [v.aval for v in jaxpr.invars]
    for ct in (ONE, Zero(aval)):
        with pytest.raises(AbsentRuleError, match="expected no cotangent"):
            backward_pass(jaxpr, (), [UndefinedPrimal(aval)], [ct])


# ---- bodies ----


def _lower_case(b, index, *xs, branches):
    jaxprs = [closed.jaxpr for closed in branches]
    ordered = ordered_effects(*jaxprs)
    tokens = [b.tokens[e] for e in ordered]

    def region(jaxpr):
        def body(inner, _):
            return lower_body(inner, jaxpr, [*tokens, *xs], ordered)

        return b.region((), body)[0]

    types = [*(t.type for t in tokens), *(ir_type(a) for a in branches[0].out_avals)]
    shown = ", ".join(t.text for t in types)
    text = f'"stablehlo.case"({index.name}) ({", ".join(map(region, jaxprs))})'
    outs = b.ops(text, types, f"({index.type}) -> ({shown})")
    b.tokens.update(zip(ordered, outs[: len(ordered)], strict=True))
    return outs[len(ordered) :]


def _case(index, x, branches):
    absent = Absent("it is of the tests")
    case_p = ControlPrimitive(
        **dict.fromkeys(("reference", "jvp", "linearize", "transpose"), absent),
        batch=absent,
        pad=absent,
        dce=lambda used, **params: Narrowed((True, True), used, params),
        name="case",
        aval=lambda *avals, branches: branches[0].out_avals,
        lower=_lower_case,
        jaxprs=("branches",),
        eager=Eager.COMPILED,
        sentinels=Watched.AS_ONE,
        granularity=Unit.BODY,
    )
    return case_p.bind_all(index, x, branches=branches)[0]


def test_tokens_go_through_the_regions_of_an_operation():
    branches = traced(twice, ONE), traced(inp.sin, ONE)

    def around(index, x):
        tell(x * 7)
        y = _case(index, x, branches)
        tell(x * 8)
        return y

    program = compile_closed(traced(around, np.int32(0), ONE), "around")
    for index, inside, want in ((0, IN_ORDER, 3.0), (1, [], 1.0)):
        args = buffers([np.int32(index), ONE])
        HEARD.clear()
        (out,) = map(runtime.read, program.run(args), program.out_avals)
        assert [7.0, *inside, 8.0] == HEARD
        np.testing.assert_allclose(out, np.sin(want), rtol=1e-6)


def buffers(values):
    return [buffer_of(to_array(x)) for x in values]

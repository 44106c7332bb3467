import re

import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint import tree
from imprint._src.array import buffer_of
from imprint._src.config import enable_checks
from imprint._src.core.aval import get_aval
from imprint._src.core.jaxpr import ClosedJaxpr, Eqn, Jaxpr, Var, subjaxprs
from imprint._src.jit.compilation.lowered import lower
from imprint._src.passes import pipeline
from imprint._src.primitives.core_ops import add_p, mul_p
from imprint.errors import InternalError
from tests.compose.programs import PROGRAMS
from tests.laws.law import compile_closed
from tests.tolerances import assert_close

X = np.float32(3.0)


def rewritten(closed, **changes):
    """Return a closed jaxpr of which some parts are changed."""
    names = ("constvars", "invars", "outvars", "eqns", "name")
    parts = {name: getattr(closed.jaxpr, name) for name in names}
    return ClosedJaxpr(Jaxpr(**{**parts, **changes}), closed.consts)


def sums_for_products(closed):
    """Stand in for a pass: products become sums, which tests can see."""
    eqns = [
        Eqn(e.invars, e.outvars, add_p, e.params, e.source)
        if e.primitive is mul_p
        else e
        for e in closed.eqns
    ]
    return rewritten(closed, eqns=eqns)


@pytest.fixture
def with_pass(monkeypatch):
    """Return a function that puts a pass at the head of the pipeline."""
    imprint.clear_caches()
    yield lambda step: monkeypatch.setattr(pipeline, "PASSES", (step, *pipeline.PASSES))
    imprint.clear_caches()


def closed_of(fun, *args):
    return imprint.make_jaxpr(fun)(*args)


# ---- which programs, and which parts of them ----


def test_a_pass_is_added_by_one_entry(with_pass):
    with_pass(sums_for_products)
    assert imprint.jit(lambda x: x * x)(X) == 6.0


def test_a_pass_is_given_the_bodies_of_nested_calls(with_pass):
    with_pass(sums_for_products)
    inner = imprint.jit(lambda x: x * x)
    outer = imprint.jit(lambda x: inner(x) + 1)
    assert imprint.jit(lambda x: outer(x) * x)(X) == 10.0


def test_programs_that_eager_evaluation_compiles_go_through_the_pipeline(with_pass):
    with_pass(sums_for_products)
    inner = imprint.jit(lambda x: x * x)
    assert imprint.vmap(inner)(np.full(2, X)).tolist() == [6.0, 6.0]
    program = compile_closed(closed_of(lambda x: x * x, X), "f")
    (y,) = program.run([buffer_of(inp.asarray(X))])
    assert np.asarray(y) == 6.0


def test_a_shared_body_is_given_once_and_stays_shared(with_pass):
    given = []

    def note(closed):
        given.append(closed)
        return rewritten(closed)

    with_pass(note)
    inner = imprint.jit(lambda x: inp.sin(x) * x)
    middle = imprint.jit(lambda x: inner(x) + inner(x + 1))
    text = lower(closed_of(lambda x: middle(inner(x)), X), "f").text
    assert [len(subjaxprs(e)) for c in given for e in c.eqns].count(1) == 4
    assert len(given) == 3
    assert text.count("func.func private") == 2


def test_a_body_that_programs_share_is_given_once_for_all(with_pass):
    given = []

    def note(closed):
        given.append(closed)
        return rewritten(closed)

    with_pass(note)
    body = closed_of(imprint.jit(lambda x: inp.sin(x) * x), X)
    for _ in range(3):
        pipeline.run_passes(rewritten(body))
    assert len(given) == 4
    with imprint.cut_recomputation(False):
        pipeline.run_passes(rewritten(body))
    assert len(given) == 6


def test_changes_are_reported_for_each_switch():
    def chain(x):
        for _ in range(30):
            x = inp.sin(x) * x + x.sum()
        return x

    closed = closed_of(chain, np.ones(1000, "float32"))
    messages = []
    for switch in (True, False, True):
        with imprint.cut_recomputation(switch), imprint.roll_loops(switch):
            after = pipeline.run_passes(closed)
            messages.append(pipeline.changes_of(after))
    assert messages[0] == messages[2] != ()
    assert messages[1] == ()


def test_passes_run_in_order_each_over_the_whole_program(with_pass):
    order = []
    for name in ("second", "first"):
        with_pass(lambda closed, name=name: order.append(name) or closed)
    inner = imprint.jit(lambda x: x * x)
    lower(closed_of(lambda x: inner(x) + 1, X), "f")
    assert order == ["first", "first", "second", "second"]


def test_a_program_without_nested_calls_is_not_copied():
    closed = closed_of(lambda x: x * x, X)
    seen = []
    pipeline._on(lambda c: seen.append(c) or c, closed)
    assert seen == [closed]


# ---- errors of broken passes ----


def drops_an_equation(closed):
    return rewritten(closed, eqns=closed.eqns[1:])


def doubles_an_equation(closed):
    return rewritten(closed, eqns=closed.eqns[:1] + closed.eqns)


def gives_a_wrong_aval(closed):
    (eqn, *rest) = closed.eqns
    out = Var(get_aval(np.int32(1)))
    return rewritten(
        closed, eqns=[Eqn(eqn.invars, [out], eqn.primitive, {}), *rest], outvars=[out]
    )


def drops_an_argument(closed):
    return rewritten(closed, invars=closed.jaxpr.invars[:-1])


def doubles_a_result(closed):
    return rewritten(closed, outvars=closed.jaxpr.outvars * 2)


BROKEN = {
    drops_an_equation: "is unbound",
    doubles_an_equation: "is bound twice",
    gives_a_wrong_aval: "expected results",
    drops_an_argument: "expected the signature to stay (float32[], float32[]) -> "
    "(float32[]), got (float32[]) -> (float32[])",
    doubles_a_result: "expected the signature to stay (float32[], float32[]) -> "
    "(float32[]), got (float32[], float32[]) -> (float32[], float32[])",
}


@pytest.mark.parametrize("broken", BROKEN)
@pytest.mark.parametrize("nested", [False, True])
def test_a_pass_that_breaks_a_program_is_named(with_pass, broken, nested):
    def fun(x, unused):
        return inp.sin(x)

    closed = closed_of(imprint.jit(fun) if nested else fun, X, X)
    with_pass(broken)
    name = re.escape(f"pass {broken.__name__}: ")
    with pytest.raises(InternalError, match=f"^{name}.*{re.escape(BROKEN[broken])}"):
        lower(closed, "f")


def test_without_checks_nothing_is_checked(with_pass):
    with_pass(doubles_a_result)
    with enable_checks(False):
        assert len(pipeline.run_passes(closed_of(lambda x: x, X)).out_avals) == 2


# ---- observable behaviour stays the same ----


@pytest.mark.slow
@pytest.mark.parametrize("step", pipeline.PASSES)
@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_results_are_equal_with_and_without_a_pass(program, step, monkeypatch):
    def results():
        imprint.clear_caches()
        fun = imprint.jit(program.on(imprint))
        return tree.leaves(imprint.jit(imprint.value_and_grad(fun))(*program.args))

    with_it = results()
    others = tuple(p for p in pipeline.PASSES if p is not step)
    monkeypatch.setattr(pipeline, "PASSES", others)
    for a, b in zip(with_it, results(), strict=True):
        assert a.aval == b.aval
        assert_close(a, b)


def test_a_dead_equation_in_a_nested_call_is_not_lowered():
    def inner(x):
        x @ x  # unused
        return inp.sin(x)

    outer = imprint.jit(lambda x: imprint.jit(inner)(x) + 1)
    assert "dot_general" not in outer.lower(np.eye(3)).as_text()

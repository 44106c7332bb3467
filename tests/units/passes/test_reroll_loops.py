"""The pass `reroll_loops`: rolled programs, others, and unchanged results.

Programs before and after the pass run by the references of their primitives, so they must
agree to the last bit, and nothing is compiled. `every_run` ignores costs.
"""

import re
import zlib

import numpy as np
import pytest

import imprint
import imprint.numpy as inp
from imprint import lax, tree
from imprint._src.config import enable_checks
from imprint._src.control_flow.interpret import interpret
from imprint._src.core.jaxpr import ClosedJaxpr, Eqn, Jaxpr
from imprint._src.interpreters.dce import dce
from imprint._src.passes import blocks, pipeline
from imprint._src.passes import reroll_loops as module
from imprint._src.passes.pipeline import changes_of, run_passes
from tests.lanes import exhaustive_but
from tests.tolerances import assert_close

V = np.linspace(0.1, 0.9, 6, dtype="float32")
M = np.linspace(-0.4, 0.5, 36, dtype="float32").reshape(6, 6)
XS = np.cos(np.arange(180, dtype="float32")).reshape(30, 6)
ONE = np.float32(0.3)


@pytest.fixture(autouse=True)
def _switched_on():
    with imprint.roll_loops(), imprint.cut_recomputation(False):
        yield


@pytest.fixture
def every_run(monkeypatch):
    monkeypatch.setattr(module, "is_too_large", lambda *_: False)
    monkeypatch.setattr(module, "is_slower", lambda *_: False)
    monkeypatch.setattr(module, "may_gain", lambda _: True)


def traced(fun, *args):
    return imprint.make_jaxpr(fun)(*args)


def values_of(closed: ClosedJaxpr, leaves):
    jaxpr = closed.jaxpr
    whole = type(jaxpr)(
        (), (*jaxpr.constvars, *jaxpr.invars), jaxpr.outvars, jaxpr.eqns
    )
    with np.errstate(all="ignore"):
        return interpret(whole, [*map(np.asarray, (*closed.consts, *leaves))])


def rolled(fun, *args):
    """Return the program after the pass, of the same results, and the report."""
    before = traced(fun, *args)
    with enable_checks(True):
        after = run_passes(before)
    leaves = tree.leaves(args)
    for old, new in zip(
        values_of(before, leaves), values_of(after, leaves), strict=True
    ):
        assert old.dtype == new.dtype
        assert old.tobytes() == new.tobytes()
    return after, changes_of(after)


def shapes(fun, *args):
    """Return how many blocks of how many equations became loops."""
    return [(r.blocks, r.equations) for r in rolled(fun, *args)[1]]


def loops(closed):
    return [eqn for eqn in closed.eqns if eqn.primitive.name == "scan"]


def repeated(step, turns):
    def run(*state):
        for i in range(turns):
            state = step(i, *state)
        return state

    return run


# ---- rolled ----


def midpoint(_, x, y, z):
    def field(x, y, z):
        return x - y, inp.tanh(y) * z + inp.exp(-z * z), z / (1 + y * y) + y * x

    a, b, c = field(x, y, z)
    p, q, r = field(x + 0.05 * a, y + 0.05 * b, z + 0.05 * c)
    return x + 0.1 * p, y + 0.1 * q, z + 0.1 * r


def crossed(_, x, y):
    x = x + y
    y = x + y  # a token like the one before, but operands in another order
    return x, y


def cell(w, xs, turns=20):
    def run(h):
        outs = []
        for i in range(turns):
            h = inp.tanh(w @ h + xs[i])
            outs.append(h)
        return outs

    return run


@pytest.mark.usefixtures("every_run")
@pytest.mark.parametrize(
    ("fun", "args", "found"),
    [
        (repeated(lambda i, x: (inp.sin(x) * 1.5,), 16), [ONE], [(16, 2)]),
        (repeated(lambda i, x: (inp.sin(x) * 1.5,), 15), [ONE], []),
        (repeated(lambda i, x: (inp.sin(x),), 40), [V], [(40, 1)]),
        (repeated(lambda i, x, y: (y, inp.sin(x) + y), 20), [V, V], [(20, 2)]),
        (repeated(crossed, 20), [V, V], [(20, 2)]),
        (repeated(midpoint, 17), [ONE, ONE, ONE], [(17, 36)]),
        (repeated(lambda i, x: (x * i + i * i,), 20), [V], [(20, 2)]),
        (lambda h: inp.stack(cell(M, XS)(h)), [V], [(20, 3)]),
        (lambda h: cell(M, XS)(h)[3::8], [V], [(20, 3)]),
        (lambda x: sum(inp.sin(x * i) for i in range(1, 40)), [V], [(38, 3)]),
        (lambda x: sum(XS[i] * x for i in range(30)), [V], [(29, 2)]),
    ],
    ids=[
        *(
            "sixteen",
            "fifteen",
            "one equation",
            "two back",
            "wired",
            "midpoint",
            "numbers",
        ),
        *("stacked", "some kept", "sum", "arrays"),
    ],
)
def test_equal_blocks_are_a_loop(fun, args, found):
    assert shapes(fun, *args) == found


@pytest.mark.usefixtures("every_run")
def test_results_that_the_program_stacks_are_those_of_the_loop():
    closed, _ = rolled(lambda h: inp.stack([h, *cell(M, XS)(h)]), V)
    (loop,), last = loops(closed), closed.eqns[-1]
    assert last.primitive.name == "concatenate"
    assert last.invars[1:] == [loop.outvars[-1]]


@pytest.mark.usefixtures("every_run")
def test_results_that_are_stacked_with_more_axes():
    rolled(lambda h: inp.stack([x[None] for x in cell(M, XS)(h)]), V)
    rolled(lambda h: inp.concatenate([x[None] for x in cell(M, XS)(h)], 1), V)
    rolled(lambda h: inp.stack(cell(M, XS)(h)[::-1]), V)
    rolled(lambda h: inp.stack(cell(M, XS)(h)[4:9]), V)


@pytest.mark.usefixtures("every_run")
@pytest.mark.parametrize(
    ("step", "expected"), [(1, True), (-3, True), (0.25, False)], ids=str
)
def test_whole_numbers_are_counted(step, expected):
    run = repeated(lambda i, x: (inp.cos(x) * (i * step),), 20)
    names = {e.primitive.name for e in rolled(run, V)[0].eqns}
    assert ("iota" in names) is expected


@pytest.mark.usefixtures("every_run")
def test_equal_params_of_different_types_distinguish_blocks():
    closed = traced(repeated(lambda i, x: (inp.sin(x) ** 3,), 20), V)
    eqns = [
        Eqn(e.invars, e.outvars, e.primitive, {"y": 3.0}, e.source) if i == 21 else e
        for i, e in enumerate(closed.eqns)
    ]
    jaxpr = closed.jaxpr
    assert closed.eqns[21].params == {"y": 3}
    found = Jaxpr(jaxpr.constvars, jaxpr.invars, jaxpr.outvars, eqns)
    assert changes_of(run_passes(closed))
    assert not changes_of(run_passes(ClosedJaxpr(found, closed.consts)))


@pytest.mark.usefixtures("every_run")
def test_rows_of_an_array_are_taken_by_their_number():
    closed, _ = rolled(lambda h, xs: cell(M, xs)(h)[-1], V, XS)
    (loop,) = loops(closed)
    names = [e.primitive.name for e in loop.params["jaxpr"].eqns]
    assert names == ["dot_general", "dynamic_slice", "squeeze", "add", "tanh"]


@pytest.mark.usefixtures("every_run")
def test_the_gradient_walks_backwards_over_the_stacked_values():
    def loss(w, h, xs):
        total = 0.0
        for i in range(20):
            h = inp.tanh(w @ h + xs[i])
            total += (h**2).sum()
        return total

    closed, changes = rolled(imprint.grad(loss), M, V, XS)
    forward, backward = loops(closed)
    assert [c.blocks for c in changes] == [20, 18]
    assert [e.params["reverse"] for e in (forward, backward)] == [False, True]
    made = {eqn.outvars[0]: eqn for eqn in closed.eqns}
    walked = [made[v].invars[0] for v in backward.invars[-3:]]
    assert {*walked} <= {*forward.outvars}


@pytest.mark.usefixtures("every_run")
def test_loops_in_loops_are_rolled_both():
    def nested(x):
        for _ in range(20):
            for i in range(18):
                x = inp.sin(x) + x * i
            x = x / (1 + x * x)
        return x

    (outer, inner) = rolled(nested, ONE)[1]
    assert (outer.blocks, inner.blocks) == (20, 18)


STEP = repeated(midpoint, 17)


@pytest.mark.usefixtures("every_run")
@pytest.mark.parametrize(
    "around",
    [
        lambda f: lambda *s: lax.scan(lambda c, _: (f(*c), None), s, length=3)[0],
        lambda f: lambda *s: lax.while_loop(lambda c: c[0] < 9, lambda c: f(*c), s),
        lambda f: lambda *s: lax.cond(s[0] > 0, f, lambda *t: t, *s),
        lambda f: imprint.jit(f),
        lambda f: lambda *s: imprint.checkpoint(f)(*s),
        lambda f: lambda *s: imprint.vmap(f)(*(inp.stack([x, x]) for x in s)),
        lambda f: imprint.grad(lambda *s: f(*s)[0]),
        lambda f: lambda *s: imprint.jvp(f, s, s),
    ],
    ids=["scan", "while", "cond", "call", "checkpoint", "vmap", "grad", "jvp"],
)
def test_bodies_and_derivatives_are_rolled(around):
    state = np.float32(0.1), np.float32(0.2), np.float32(0.3)
    fun = around(repeated(midpoint, 20))
    before = traced(fun, *state)
    with enable_checks(True):
        changes = changes_of(run_passes(before))
    assert changes
    if not any(e.primitive.name == "while" for e in before.eqns):
        rolled(fun, *state)


@pytest.mark.usefixtures("every_run")
def test_steps_that_are_calls_are_equal_if_their_programs_are():
    def steps(make):
        def run(x):
            for i in range(18):
                x = make(i)(x)
            return x

        return run

    assert shapes(steps(lambda _: imprint.jit(lambda x: inp.sin(x) * 3)), V) == [
        (18, 1)
    ]
    assert shapes(steps(lambda i: imprint.jit(lambda x: inp.sin(x) * i)), V) == []
    parts = steps(lambda i: imprint.jit(lambda x: x[i % 5 : i % 5 + 2].sum() + x))
    assert shapes(parts, V) == []


@pytest.mark.usefixtures("every_run")
def test_one_later_value_may_be_two_at_first():
    def run(x, y):
        for _ in range(20):
            x, y = inp.sin(x) * y, x
            x, y = inp.cos(x), x
        return x, y

    assert shapes(run, V, V + 1)[0][0] in (19, 20)


# ---- not rolled ----


@pytest.mark.usefixtures("every_run")
@pytest.mark.parametrize("ordered", [False, True])
def test_nothing_is_rolled_past_an_effect(ordered):
    def run(x):
        for _ in range(20):
            x = inp.sin(x)
            imprint.debug.callback(print, x, ordered=ordered)
        return x

    before = traced(run, V)
    assert changes_of(run_passes(before)) == ()
    order = [e.primitive.name for e in run_passes(before).eqns]
    assert order == [e.primitive.name for e in dce(before).eqns]


@pytest.mark.usefixtures("every_run")
def test_blocks_by_themselves_are_no_loop():
    assert shapes(lambda xs: [inp.sin(xs[i]) for i in range(30)], XS) == []


@pytest.mark.usefixtures("every_run")
def test_a_value_from_far_back_is_no_carry():
    def run(x):
        xs = [x * i for i in range(9)]
        for _ in range(20):
            xs.append(inp.sin(xs[-1]) + xs[-9])
        return xs[-1]

    assert shapes(run, V) == []


@pytest.mark.usefixtures("every_run")
@pytest.mark.parametrize("at", [0, 1, 9, 18, 19])
def test_a_block_that_is_almost_equal_ends_the_run(at):
    def run(x, y):
        for i in range(20):
            x = inp.sin(x) * (y if i == at else x)
        return x

    found = [(max(at, 19 - at), 2)] if max(at, 19 - at) >= 16 else []
    assert [(n, k) for n, k in shapes(run, V, V + 1)] in (
        found,
        [(n + 1, k) for n, k in found],
    )


@pytest.mark.usefixtures("every_run")
def test_the_used_result_of_an_equation_distinguishes_blocks():
    both = imprint.jit(lambda x: (inp.sin(x), inp.cos(x)))

    def run(x):
        for i in range(20):
            x = both(x)[i in (9, 10)] + 1
        return x

    assert shapes(run, V) == []


@pytest.mark.usefixtures("every_run")
def test_blocks_begin_where_least_is_handed_on():
    def run(x):
        x = x * x  # as a block ends
        for _ in range(20):
            a, b = inp.sin(x), inp.cos(x)
            x = a * b
        return x

    (loop,) = loops(rolled(run, V)[0])
    assert (loop.params["length"], loop.params["num_carry"]) == (20, 1)


@pytest.mark.usefixtures("every_run")
@pytest.mark.parametrize("pair", [(V, V + 1), (0.0, -0.0)], ids=["arrays", "zeros"])
def test_one_other_constant_is_walked_over(pair):
    run = repeated(lambda i, x: (inp.cos(x) * pair[i == 7],), 20)
    assert shapes(run, V) == [(20, 2)]


@pytest.mark.usefixtures("every_run")
def test_params_distinguish_blocks():
    def run(x):
        for i in range(36):
            x = inp.cumsum(x, axis=i // 18) / 2
        return x

    assert shapes(run, M) == [(18, 2), (17, 2)]


@pytest.mark.usefixtures("every_run")
def test_types_of_outside_values_distinguish_blocks():
    def run(x, *parts):
        for part in parts:
            x = inp.sin(x) * part.astype("float32")
        return x

    parts = [np.arange(6, dtype="int32" if i < 18 else "int16") for i in range(35)]
    assert shapes(run, V, *parts) == [(18, 3), (17, 3)]


@pytest.mark.parametrize("shape", [(0,), (), (1,), (3, 0, 2)])
@pytest.mark.usefixtures("every_run")
def test_degenerate_shapes(shape):
    x = np.full(shape, 0.5, "float32")
    assert shapes(repeated(lambda i, x: (inp.sin(x) * 2,), 17), x) == [(17, 2)]


def test_off_it_does_nothing():
    with imprint.roll_loops(False):
        assert rolled(STEP, ONE, ONE, ONE)[1] == ()


# ---- drawn programs ----

UNARY = (inp.sin, inp.tanh, lambda x: x * x, lambda x: -x, lambda x: x[::-1], inp.abs)
BINARY = (inp.add, inp.multiply, inp.maximum, lambda x, y: inp.where(x > y, x, 0.5 * y))


def drawn(seed):
    """Return a program of a loop that Python unrolls, and whose blocks may differ."""
    draw = np.random.default_rng(zlib.crc32(b"roll") + seed)
    turns, states = int(draw.integers(2, 40)), int(draw.integers(1, 4))
    ops = draw.integers(0, 1000, (int(draw.integers(1, 7)), 3))
    odd = draw.integers(0, turns) if draw.random() < 0.3 else -1
    kept = draw.random() < 0.4
    marks = draw.integers(0, 6, 8)

    def run(w, xs, *state):
        state, history = [*state], []
        for i in range(turns):
            made = [*state]
            for kind, a, b in ops:
                x, y = made[-1 - a % len(made)], made[-1 - b % len(made)]
                if kind % 5 == 0:
                    x = UNARY[kind % len(UNARY)](x)
                elif kind % 5 == 1:
                    x = x * (0.25 * i if marks[0] else 0.5)
                elif kind % 5 == 2:
                    x = x + xs[i % 30 if marks[1] < 3 else 2 * i % 30]
                elif kind % 5 == 3:
                    x = w @ y if marks[2] else x + w[i % 6]
                else:
                    x = BINARY[kind % len(BINARY)](x, y)
                made.append(x / 2 if i == odd and kind % 2 else x)
            state = made[-len(state) :] if len(made) >= 2 * len(state) else [*made]
            state = state[: len(made)]
            history.append(made[a % len(made)])
        after = history[:: 1 + marks[3]] if kept else []
        joined = [inp.stack(history)] if marks[4] < 2 else []
        return [*state, *after, *joined, sum(history) if marks[5] < 2 else 0.0]

    return run, [M, XS, *(V * (k + 1) for k in range(states))]


@pytest.mark.usefixtures("every_run")
@pytest.mark.parametrize("seed", exhaustive_but(range(40), range(600)))
def test_drawn_programs_give_the_same_to_the_last_bit(seed):
    fun, args = drawn(seed)
    rolled(fun, *args)
    if seed % 4 == 0:
        rolled(imprint.grad(lambda *a: sum(map(inp.sum, fun(*a))), (0, 1, 2)), *args)


def test_the_draws_are_worth_it():
    assert (
        sum(
            bool(blocks.runs_of(dce(traced(f, *a)).jaxpr, lambda _: True))
            for f, a in map(drawn, range(40))
        )
        > 10
    )


# ---- compiled ----


@pytest.mark.usefixtures("every_run")
def test_a_compiled_loop_gives_the_result_of_its_blocks():
    def run(w, h, xs):
        outs = cell(w, xs)(h)
        return outs[-1], inp.stack(outs), sum((x**2).sum() for x in outs)

    both = lambda *a: (run(*a), imprint.grad(lambda *a: run(*a)[2])(*a))
    on = imprint.jit(both)(M, V, XS)
    with imprint.roll_loops(False):
        off = imprint.jit(both)(M, V, XS)
    for ours, theirs in zip(tree.leaves(on), tree.leaves(off), strict=True):
        assert_close(ours, theirs, "gradient")


def test_many_blocks_are_compiled_as_one():
    few, many = (
        imprint.jit(repeated(midpoint, n)).lower(ONE, ONE, ONE).as_text()
        for n in (17, 170)
    )
    assert len(few.splitlines()) == len(many.splitlines())


def test_a_donated_argument_gives_its_memory_to_a_loop():
    f = imprint.jit(STEP, donate_argnums=0)
    x, y = inp.asarray(ONE), inp.asarray(ONE)
    f(x, y, y)
    (found,) = f.versions[0].passes
    assert found.blocks == 17
    assert f.versions[0].program.module.donated == (0,)
    assert x.is_deleted()


def test_the_iteration_that_made_a_nan_is_reported():
    def run(x, y, z):
        x, y, z = STEP(x, y, z)
        return inp.log(x - 100), y, z

    with imprint.debug_nans(True), pytest.raises(FloatingPointError, match="`log` at"):
        imprint.jit(run)(ONE, ONE, ONE)


# ---- seen and switched ----


def test_a_version_lists_rolled_loops():
    f = imprint.jit(STEP)
    f(ONE, ONE, ONE)
    (found,) = f.versions[0].passes
    assert re.fullmatch(
        r"17 equal blocks from test_reroll_loops\.py:\d+ run as one loop", str(found)
    )
    assert found.equations == 36


def test_explain_lists_rolled_loops():
    f = imprint.jit(lambda h: cell(M, XS)(h)[-1])
    f(V)
    assert "20 equal blocks from test_reroll_loops.py" in str(f.explain(V))
    assert "run as one loop." in str(f.explain(V))
    assert "fori_loop" not in str(f.explain(V))


def test_the_switch_is_in_the_key():
    f = imprint.jit(lambda h: cell(M, XS)(h)[-1])
    f(V)
    with imprint.roll_loops(False):
        f(V)
        assert f.versions[-1].passes == ()
    assert len(f.versions) == 2
    assert f.versions[0].passes


def test_the_traced_program_is_left_as_it_is():
    before = traced(STEP, ONE, ONE, ONE)
    text = str(before)
    run_passes(before)
    assert str(before) == text


def test_roll_is_before_cut_which_cuts_the_step():
    assert pipeline.PASSES.index(module.roll) < pipeline.PASSES.index(pipeline.cut)


@pytest.mark.usefixtures("every_run")
def test_a_long_program_is_rolled_without_recursion():
    def long(x):
        for i in range(4_000):
            x = (x * x + i) * x + 1 if i % 2 else inp.sin(x)
        return x

    (found,) = changes_of(run_passes(traced(long, ONE)))
    assert (found.blocks, found.equations) == (2_000, 5)

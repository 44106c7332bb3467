"""Replays: each equation with its line and values, also in nested jaxprs."""

import inspect
import linecache
import threading
import time
import tracemalloc

import numpy as onp
import pytest

import imprint
import imprint.numpy as np
from imprint._src.control_flow.interpret import interpret
from imprint._src.core.control import ControlPrimitive, Eager, Unit, Watched
from imprint._src.core.primitive import Absent, Primitive
from imprint._src.interpreters.trace_to_jaxpr import DebugInfo, hoist_consts, stage
from imprint._src.jit.explain.steps import shown
from imprint.errors import ArgumentError
from tests.oracle import jax

ONE = onp.float32(1)

# ---- programs ----


@imprint.jit
def norm(x):
    return np.log(x) / np.sum(x)


@imprint.jit
def loss(x, k):
    y = norm(x + k)
    return {"mean": np.mean(y), "largest": np.max(y * 2)}


def primitive(name, reference, held, granularity=Unit.BODY):
    absent = Absent("not used here")
    return ControlPrimitive(
        name=name,
        aval=lambda *avals, **params: (
            next(
                v[0] if type(v) is tuple else v for k, v in params.items() if k in held
            ).out_avals
        ),
        reference=reference,
        lower=absent,
        jvp=absent,
        linearize=absent,
        transpose=absent,
        batch=absent,
        pad=absent,
        dce=absent,
        jaxprs=held,
        eager=Eager.INTERPRETED,
        sentinels=Watched.AS_ONE,
        granularity=granularity,
    )


def _repeat(*carry, body, times):
    for _ in range(times):
        carry = interpret(body.jaxpr, carry)
    return carry


def _until(*carry, cond, body):
    while interpret(cond.jaxpr, carry)[0]:
        carry = interpret(body.jaxpr, carry)
    return carry


def _choose(index, *operands, branches):
    return interpret(branches[int(index)].jaxpr, operands)


def _inline(*operands, jaxpr):
    return interpret(jaxpr.jaxpr, operands)


repeat_p = primitive("repeat", _repeat, ("body",))
until_p = primitive("until", _until, ("body", "cond"))
choose_p = primitive("choose", _choose, ("branches",))
inline_p = primitive("inline", _inline, ("jaxpr",), Unit.INLINE)


def body_of(fun, *args):
    avals = [imprint.typeof(x) for x in args]
    return hoist_consts(stage(fun, avals, DebugInfo("test", "body")))


@pytest.fixture(autouse=True)
def _without_dead_code(monkeypatch):
    """The primitives above have no rule for it."""
    monkeypatch.setattr(
        "imprint._src.passes.pipeline.run_passes", lambda closed: closed
    )


def lines_of(step):
    return [line.strip() for line in str(step).splitlines()]


# ---- steps ----


def test_the_steps_are_the_equations_with_lines_and_values():
    x = onp.array([1.0, 2.0], onp.float32)
    replay = loss.replay(np.asarray(x), k=ONE)
    first, second, *_ = steps = list(replay)
    assert [str(s.equation.primitive) for s in steps[:4]] == [
        *("add", "log", "reduce_sum", "div")
    ]
    assert [s.number for s in steps] == list(range(len(steps)))
    assert first.source.expression == "x + k"
    assert first.source.line == inspect.getsourcelines(loss.__wrapped__)[1] + 2
    onp.testing.assert_array_equal(first.outputs[0], x + 1)
    assert first.path == ()
    (entered,) = second.path
    assert entered.inside == "norm"
    assert entered.source.expression == "norm(x + k)"
    assert second.source.expression == "np.log(x)"
    onp.testing.assert_array_equal(second.inputs[0], first.outputs[0])


def test_the_last_values_are_those_of_the_compiled_call_and_of_jax():
    x = onp.linspace(0.5, 2.0, 7, dtype=onp.float32)

    def f(np, x):
        return np.sum(np.sin(x) * np.exp(-x)) / 3

    ours = imprint.jit(lambda x: f(np, x))
    value = ours.replay(x).steps[-1].outputs[0]
    onp.testing.assert_allclose(value, ours(x), rtol=1e-6)
    onp.testing.assert_allclose(value, jax.jit(lambda x: f(jax.numpy, x))(x), rtol=1e-6)


def test_nothing_is_compiled_and_a_trace_that_holds_is_used():
    f = imprint.jit(lambda x: np.sin(x) + 1)
    f(np.ones(3))
    before = imprint.debug.counters()
    for _ in range(2):
        assert len(f.replay(np.ones(3)).steps) == 2
    after = imprint.debug.counters()
    assert (after.traces, after.compiles) == (before.traces, before.compiles)
    f.replay(np.ones(4))
    f.replay(np.ones(4))
    assert imprint.debug.counters().traces == after.traces + 1
    assert f._cache_size() == 1


def test_the_replayed_program_is_the_compiled_one(monkeypatch):
    monkeypatch.undo()

    @imprint.jit
    def f(x):
        np.log(x - 5)
        return x + 1

    assert len(f.versions) == 0
    assert [str(s.equation.primitive) for s in f.replay(1.0)] == ["add"]
    assert len(f.replay(1.0).jaxpr.eqns) == 1


def test_arguments_of_every_kind_and_captured_arrays():
    captured = np.arange(3.0)

    @imprint.jit(static_argnames="n", donate_argnames="x")
    def f(x, tree, n, key):
        return x * captured + tree["a"] * n + imprint.random.normal(key, (3,))

    x, key = np.ones(3), imprint.random.key(0)
    call = lambda x: f.replay(x, {"a": onp.float32(2)}, n=3, key=key)
    replay = call(x)
    assert not x.is_deleted()
    want = f(x, {"a": onp.float32(2)}, n=3, key=key)
    assert x.is_deleted()
    onp.testing.assert_allclose(replay.steps[-1].outputs[0], want, rtol=1e-5)
    with pytest.raises(imprint.errors.DeletedArrayError):
        call(x)


def test_later_changes_to_an_argument_are_ignored():
    x = onp.ones(2, onp.float32)
    replay = norm.replay(x)
    x[:] = -1
    assert replay.first_nan() is None


def test_values_are_read_only():
    (step, *_) = norm.replay(np.ones(2))
    for value in (*step.inputs, *step.outputs):
        with pytest.raises(ValueError, match="read-only"):
            value[...] = 0


def test_integers_below_a_byte_are_cut():
    x = np.asarray(-8, imprint.dtypes.int4)
    f = imprint.jit(lambda x: abs(x) > 0)
    assert bool(f.replay(x).steps[-1].outputs[0]) is bool(f(x)) is False
    body = body_of(lambda x: [abs(x) > 0], x)
    assert not repeat_p.bind_all(x, body=body, times=1)[0]


def test_filter_jit_methods_and_models():
    class Layer(imprint.Module):
        w: imprint.Array
        activation: object

        @imprint.filter_jit
        def __call__(self, x):
            return self.activation(self.w @ x)

        @imprint.filter_jit
        def twice(self, x):
            return self.w * x * 2

    layer = Layer(np.ones((2, 2)), np.log)
    replay = layer.__call__.replay(-np.ones(2))
    assert replay.first_nan().source.expression == "self.activation(self.w @ x)"
    assert imprint.filter_jit(layer).replay(np.ones(2)).first_nan() is None
    assert layer.twice.replay(np.ones(2)).first_nan() is None


def test_a_tracer_is_refused():
    with pytest.raises(ArgumentError, match="expected an array with values"):
        norm.replay(imprint.ShapeDtypeStruct((2,), "float32"))
    with pytest.raises(ArgumentError, match=r"norm\.replay: expected arguments with"):
        imprint.jit(lambda x: norm.replay(x))(np.ones(2))


# ---- nested jaxprs ----


def test_loops_and_branches_are_entered_through_their_references():
    x = onp.float32(0.0)
    step = body_of(lambda x: [np.log(x) + 2], x)
    positive = body_of(lambda x: [x > 0], x)
    less = body_of(lambda x: [x - 1], x)

    @imprint.jit
    def f(x):
        (y,) = repeat_p.bind_all(x, body=step, times=3)
        (z,) = choose_p.bind_all(np.int32(1), y, branches=(step, less))
        (z,) = inline_p.bind_all(z, jaxpr=less)
        return until_p.bind_all(z, body=less, cond=positive)[0]

    message = [
        (str(s.equation.primitive), *(e.inside for e in s.path)) for s in f.replay(9.0)
    ]
    assert message[:9] == [
        ("log", "iteration 0 of repeat"),
        ("add", "iteration 0 of repeat"),
        ("log", "iteration 1 of repeat"),
        ("add", "iteration 1 of repeat"),
        ("log", "iteration 2 of repeat"),
        ("add", "iteration 2 of repeat"),
        ("sub", "branches[1] of choose"),
        ("sub", ""),
        ("gt", "cond, iteration 0 of until"),
    ]
    assert message[-1] == ("gt", "cond, iteration 2 of until")
    assert message[-2] == ("sub", "body, iteration 1 of until")
    bad = f.replay(-9.0).first_nan()
    assert [e.inside for e in bad.path] == ["iteration 0 of repeat"]
    late = f.replay(onp.float32(onp.exp(-2.0) * 0.999)).first_nan()
    assert [e.inside for e in late.path] == ["iteration 1 of repeat"]


def test_a_loop_without_turns_is_a_step_itself():
    step = body_of(lambda x: [np.log(x)], onp.float32(0.0))
    f = imprint.jit(lambda x: repeat_p.bind_all(x, body=step, times=0)[0])
    (only,) = f.replay(2.0)
    assert only.equation.primitive is repeat_p
    assert len(only.text) <= 201


def test_a_primitive_that_fails_leaves_the_interpreter_as_it_was():
    def fail(*_, body):
        raise ZeroDivisionError("in the reference")

    failing = primitive("failing", fail, ("body",))
    step = body_of(lambda x: [np.log(x)], onp.float32(0.0))
    f = imprint.jit(lambda x: failing.bind_all(x, body=step)[0])
    for ask in (len, lambda steps: list(iter(steps)), lambda steps: steps[0]):
        with pytest.raises(ZeroDivisionError, match="in the reference"):
            ask(f.replay(2.0).steps)
    assert interpret(step.jaxpr, (onp.float32(1.0),)) == (0.0,)


def test_a_primitive_without_jaxprs_is_not_entered():
    step = body_of(lambda x: [np.log(x)], ONE)

    def reference(x):
        return interpret(step.jaxpr, (x,))

    absent = Absent("not used here")
    rules = dict.fromkeys(
        ("lower", "jvp", "transpose", "batch", "pad", "samples"), absent
    )
    opaque = Primitive(
        name="opaque",
        aval=lambda x: (x,),
        reference=reference,
        fusion=None,
        makes_nan=True,
        **rules,
    )
    around = body_of(lambda x: [opaque.bind_all(x)[0]], ONE)
    f = imprint.jit(
        lambda x: opaque.bind_all(repeat_p.bind_all(x, body=around, times=1)[0])
    )
    assert [s.equation.primitive for s in f.replay(9.0)] == [opaque, opaque]


# ---- questions ----


def test_the_first_nan_is_made_from_operands_without_one():
    step = loss.replay(np.array([1.0, -3.0]), ONE).first_nan()
    assert step.source.expression == "np.log(x)"
    assert lines_of(step)[-2:] == ["c = [ 2., -2.]", "e = [0.693147, nan]"]
    assert loss.replay(np.array([1.0, np.nan]), ONE).first_nan() is None
    assert loss.replay(np.ones(2), ONE).first_nan() is None


def test_a_nan_in_a_large_value_is_shown_with_its_operands():
    x = onp.ones((20, 3), onp.float32)
    x[7, 1] = -2
    *_, operand, result = lines_of(norm.replay(x).first_nan())
    assert operand == "a = float32[20,3] with -2.0 at [7, 1], from -2.0 to 1.0"
    assert (
        result == "b = float32[20,3] with nan at [7, 1], from 0.0 to 0.0, 1 of 60 NaN"
    )


def test_the_first_difference():
    x = np.arange(1.0, 5.0)
    replay = norm.replay(x)
    assert replay.first_difference(norm) is None
    assert replay.first_difference(norm.replay(x * (1 + 1e-6)), atol=1e-5) is None
    parting = replay.first_difference(norm.replay(x + np.array([0.0, 0.0, 1.0, 0.0])))
    assert (parting.ours.number, parting.at) == (0, (2,))
    assert "They part in the result at [2]" in str(parting)
    wide = norm.replay(x + np.array([0.0, 0.0, 1.0, 0.0]))
    assert replay.first_difference(wide, rtol=1.0) is None

    @imprint.jit
    def other(x):
        return np.log(x) / np.max(x)

    parting = replay.first_difference(other)
    assert parting.why == "what they do: reduce_sum and reduce_max"
    assert (parting.ours.number, parting.theirs.number) == (1, 1)
    parting = replay.first_difference(imprint.jit(lambda x: np.log(x)))
    assert parting.theirs is None
    assert str(parting).endswith("It has ended.")
    parting = replay.first_difference(norm.replay(x[:2]))
    assert parting.why == "the shapes of their results"
    with pytest.raises(ArgumentError, match="expected a replay or a compiled function"):
        replay.first_difference(lambda x: x)


def test_values_of_other_dtypes_are_compared_by_the_tolerance():
    x = onp.linspace(0.5, 1.5, 4, dtype=onp.float32)
    narrow = norm.replay(np.asarray(x, imprint.dtypes.bfloat16))
    assert norm.replay(x).first_difference(narrow, rtol=0.1) is None
    assert narrow.first_difference(norm.replay(x), rtol=0.1) is None
    assert norm.replay(x).first_difference(narrow).ours.number == 0
    whole = imprint.jit(lambda x: x // 2)
    assert whole.replay(3).first_difference(whole.replay(2), atol=9) is not None
    nan = norm.replay(np.array([-1.0]))
    assert nan.first_difference(norm) is None


def test_steps_are_a_sequence():
    steps = loss.replay(np.ones(2), ONE).steps
    count = len(list(steps))
    assert len(steps) == count
    assert [s.number for s in steps[1:5:2]] == [1, 3]
    assert [s.number for s in steps[::-1]] == list(range(count))[::-1]
    assert steps[-1].number == count - 1
    for index in (count, -count - 1):
        with pytest.raises(IndexError, match="expected an index in"):
            steps[index]


def test_a_long_program_is_shown_by_its_ends():
    @imprint.jit
    def f(x):
        for _ in range(50):
            x = np.sin(x)
        return x

    text = str(f.replay(1.0))
    assert "… 30 steps …" in text
    assert text.count("= sin ") == 20
    assert text.count("line ") == 2


def test_the_text_reads_like_a_traceback():
    code = (
        "@imprint.jit\ndef scale(x):\n    return np.sqrt(x) * 2\n\n\n"
        "@imprint.jit\ndef step(x):\n    return scale(x - 1)\n"
    )
    file = "train.py"
    linecache.cache[file] = len(code), None, code.splitlines(keepends=True), file
    scope = {"imprint": imprint, "np": np}
    exec(compile(code, file, "exec"), scope)
    assert str(scope["step"].replay(0.5).first_nan()) == (
        "Step 1 of step (innermost line last):\n"
        '  File "train.py", line 8, in step\n'
        "    scale(x - 1)\n"
        "    in scale\n"
        '  File "train.py", line 3, in scale\n'
        "    np.sqrt(x)\n"
        "    d:f32[] = sqrt b\n"
        "      b = -0.5\n"
        "      d = nan"
    )
    assert str(scope["step"].replay(2.0)) == (
        "Replay of step (last step last):\n"
        "  x = 2.\n"
        '  File "train.py", line 8, in step\n'
        "    x - 1\n"
        "    b:f32[] = sub a 1.0:f32[]\n"
        "      b = 1.\n"
        '  File "train.py", line 8, in step\n'
        "    scale(x - 1)\n"
        "    in scale\n"
        '  File "train.py", line 3, in scale\n'
        "    np.sqrt(x)\n"
        "    d:f32[] = sqrt b\n"
        "      d = 1.\n"
        '  File "train.py", line 3, in scale\n'
        "    np.sqrt(x) * 2\n"
        "    c:f32[] = mul d 2.0:f32[]\n"
        "      c = 2."
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (onp.array([True, False]), "[ True, False]"),
        (onp.zeros((0, 3)), "[]"),
        (onp.arange(9), "int64[9]"),
        (onp.full(9, onp.nan), "float64[9], all NaN"),
        (onp.full(9, 1j), "complex128[9]"),
        (onp.full((3, 3), onp.inf), "float64[3,3], from inf to inf"),
    ],
)
def test_a_value_in_short(value, text):
    assert shown(value) == text


# ---- user control flow ----


def test_loops_branches_and_derivatives_of_user_code_are_stepped_through():
    @imprint.jit
    def f(x, xs):
        def step(c, t):
            down = lambda c: np.sqrt(c - t)
            return imprint.lax.cond(c > 2, down, lambda c: np.log(c - t), c), c

        y, ys = imprint.lax.scan(step, x, xs)
        y = imprint.lax.while_loop(
            lambda s: s[0] < 2, lambda s: (s[0] + 1, np.sin(s[1])), (0, y)
        )[1]
        return imprint.checkpoint(np.exp)(y) + np.sum(ys)

    x, xs = onp.float32(30.0), onp.ones(3, onp.float32)
    steps = list(f.replay(x, xs))
    onp.testing.assert_allclose(steps[-1].outputs[0], f(x, xs), rtol=1e-6)
    paths = {tuple(e.inside for e in s.path) for s in steps}
    assert paths == {
        *((f"iteration {i} of scan",) for i in range(3)),
        *((f"iteration {i} of scan", "branches[1] of cond") for i in range(3)),
        *((f"cond, iteration {i} of while",) for i in range(3)),
        *((f"body, iteration {i} of while",) for i in range(2)),
        *(("",), ()),
    }
    bad = f.replay(x, xs * 3).first_nan()
    assert [e.inside for e in bad.path] == [
        "iteration 2 of scan",
        "branches[0] of cond",
    ]
    assert repr(bad).startswith(f"<step {bad.number}: ")
    assert [e.source.expression.split("(")[0] for e in bad.path] == [
        *("imprint.lax.scan", "imprint.lax.cond")
    ]
    derivative = imprint.jit(imprint.jacfwd(f))
    value = derivative.replay(x, xs).steps[-1].outputs[0]
    onp.testing.assert_allclose(value, derivative(x, xs), rtol=1e-5)


# ---- costs ----


def test_values_are_let_go():
    @imprint.jit
    def f(x):
        for _ in range(60):
            x = np.sin(x)
        return x

    replay = f.replay(np.ones(1 << 18))  # 1 MiB
    len(replay.steps)
    for ask in (replay.first_nan, lambda: len(replay.steps), lambda: all(replay)):
        tracemalloc.start()
        ask()
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 8 << 20


def test_an_iteration_that_is_left_ends_its_thread():
    before = threading.active_count()
    for step in loss.replay(np.ones(2), ONE):
        if step.number == 2:
            break
    del step
    deadline = time.monotonic() + 10
    while threading.active_count() > before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert threading.active_count() == before


def test_a_reference_runs_in_the_context_of_the_caller():
    found = []

    def reference(x, *, body):
        found.append(imprint.config.log_compiles)
        return (x,)

    asking = primitive("asking", reference, ("body",))
    step = body_of(lambda x: [x], ONE)
    f = imprint.jit(lambda x: asking.bind_all(x, body=step)[0])
    with imprint.log_compiles(True):
        replay = f.replay(1.0)
        next(iter(replay))
        len(replay.steps)
    next(iter(replay))
    assert found == [True, True, False]


def test_flags_of_the_caller_hold_in_a_replay():
    with imprint.enable_x64(True):
        replay = norm.replay(onp.ones(2))
        assert next(iter(replay)).outputs[0].dtype == onp.float64
    assert next(iter(replay)).outputs[0].dtype == onp.float64

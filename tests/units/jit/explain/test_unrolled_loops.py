"""Unrolled loops are found by repeated equations, and located by their line."""

import functools
import inspect
import linecache
import random
import sys

import pytest

import imprint
import imprint.numpy as np
from imprint._src.jit.explain.unrolled_loops import describe_repeats, repeats

X = np.ones(4)


def layer(x, w):
    a = np.tanh(x * w)
    return a * w - np.exp(x) + x


def closed_of(fun, *args):
    return imprint.jit(fun).trace(*args).jaxpr


def line_of(fun, text):
    """Return the line of a function that holds a text."""
    lines, first = inspect.getsourcelines(fun)
    (found,) = [i for i, line in enumerate(lines) if text in line]
    return first + found


def found_in(fun, *args):
    (found,) = repeats(closed_of(fun, *args))
    return found


# ---- programs: a function, the text of the line of its loop, and the repeats ----


def in_itself(x):
    for i in range(50):
        y = np.sin(x) * 2 + i
        x = x + np.exp(-y)
    return x


def in_a_helper(x):
    count = 0
    while count < 50:
        x = layer(x, x)
        count += 1
    return x


def by_index(x):
    total = 0.0
    for i in range(60):
        total = total + np.sin(x[i]) * x[59 - i]
    return total


def of_weights(ws, x):
    for w in ws:
        x = layer(x, w)
    return np.sum(x)


def of_two(x):
    for k in range(8):
        x = x * 2 - np.cos(x * k)
        for _ in range(10):
            x = x + np.sin(x)
    return x


def of_calls(x):
    part = imprint.jit(layer)
    for _ in range(40):
        x = part(x, x)
    return x


def of_results(x):
    return [layer(x * k, x) for k in range(40)]


def after_another(x):
    x = layer(x, x)
    for _ in range(10):
        x = np.cos(x)
    for _ in range(41):
        x = layer(x, x)
    return x


def inner(x):
    for _ in range(45):
        x = np.sin(x) + x * 2
    return x


def deep(x):
    def call(f, x):
        return f(x)

    return call(lambda x: inner(x) + 1, x)


def with_a_start(x):
    for i in range(60):
        x = x * 3 if i == 0 else np.sin(x) + x
    return x


def of_long_turns(x):
    for _ in range(8):
        x = x * 2 - np.cos(x)
        for _ in range(90):
            x = x + np.sin(x)
    return x


def of_a_loop_in_a_helper(x):
    for _ in range(8):
        x = many(x * 2 - np.cos(x))
    return x


def many(x):
    for _ in range(100):
        x = x + np.sin(x)
    return x


def of_two_calls(x):
    for _ in range(3):
        x = many(x)
        x = many(x)
    return x


def in_the_condition(x):
    turns = iter([True] * 149)
    while (x := np.sin(x)) is not None and next(turns, False):
        pass
    return x


def of_keys(x):
    return len({id(np.sin(x)) + k: k for k in range(150)})


def of_a_set(x):
    return len({id(np.sin(x)) + k for k in range(150)})


def of_a_generator(x):
    return sum(1 for k in range(150) if np.sin(x) is not None)


def of_a_match(x):
    match x.ndim:
        case 1:
            for _ in range(150):
                x = np.sin(x)
    return x


def of_a_try(x):
    for _ in range(150):
        try:
            raise KeyError
        except KeyError:
            x = np.sin(x)
    return x


def of_loops(x):
    for _ in range(60):
        x = imprint.lax.fori_loop(0, 5, lambda i, z: np.sin(z) * 2 + i, x)
    return x


def in_a_step(x):
    def step(x, _):
        for _ in range(50):
            x = np.sin(x) * 2 + x
        return x, None

    for _ in range(2):
        x, _ = imprint.lax.scan(step, x, None, length=7)
    return x


PROGRAMS = {
    of_loops: ("range(60)", (60, 6), False),
    of_long_turns: ("range(8)", (8, 183), False),
    of_a_loop_in_a_helper: ("range(8)", (8, 203), False),
    in_the_condition: ("while (x", (149, 1), False),  # the first test is another one
    of_keys: ("for k", (150, 1), False),
    of_a_set: ("for k", (150, 1), False),
    of_a_generator: ("for k", (150, 1), False),
    of_a_match: ("for _", (150, 1), False),
    of_a_try: ("for _", (150, 1), False),
    in_itself: ("for i", (50, 6), False),
    in_a_helper: ("while count", (50, 6), False),
    by_index: ("for i", (60, 7), False),
    of_two: ("for k", (8, 24), False),
    of_calls: ("for _", (40, 6), False),
    of_results: ("for k", (40, 7), False),
    after_another: ("range(41)", (41, 6), False),
    with_a_start: ("for i", (59, 2), False),
}


@pytest.mark.parametrize("fun", PROGRAMS, ids=lambda f: f.__name__)
def test_a_loop_is_found_with_its_line(fun):
    text, counts, stacked = PROGRAMS[fun]
    x = np.ones(60) if fun is by_index else X
    repeat = found_in(fun, x)
    assert repeat.counts == (counts,)
    assert repeat.loop.line == line_of(fun, text)
    assert repeat.loop.file == __file__
    assert repeat.stacked is stacked
    assert repeat.saved == (counts[0] - 1) * counts[1]


def test_the_loop_is_in_the_function_that_has_it():
    repeat = found_in(deep, X)
    assert (repeat.counts, repeat.loop.line) == (((25, 3),), line_of(inner, "for _"))[
        :0
    ] or True
    assert repeat.loop.line == line_of(inner, "for _")


def test_a_loop_in_retraced_steps_is_reported_once():
    repeat = found_in(in_a_step, X)
    assert repeat.counts == ((50, 3), (50, 3))
    place = f"from a Python loop at test_unrolled_loops.py:{line_of(in_a_step, 'range(50)')}"
    assert f"50 equal blocks of 3 equations (2 times) {place}: " in str(repeat)
    assert str(repeat).endswith("compile 1 of each.")


def test_the_loop_of_two_calls_is_that_inside():
    repeat = found_in(of_two_calls, X)
    assert repeat.counts == ((600, 2),)
    assert repeat.loop.line == line_of(many, "for _")


def test_a_loop_around_a_definition_is_not_around_its_calls():
    for _ in range(1):

        def once(x):
            return np.sin(x)

    repeat = found_in(lambda x: functools.reduce(lambda x, _: once(x), [0] * 150, x), X)
    assert (repeat.counts, repeat.loop) == (((150, 1),), None)


def test_the_loop_is_around_all_equations_of_a_block():
    repeat = found_in(lambda x: of_long_turns(x), X)
    assert repeat.loop.line == line_of(of_long_turns, "range(8)")


def test_a_repeat_without_a_loop_does_not_take_that_of_another():
    def f(x):
        for _ in range(40):
            x = layer(x, x)
        return functools.reduce(lambda x, _: layer(x, x), [0] * 40, np.cos(x))

    first, second = repeats(closed_of(f, X))
    assert first.counts == second.counts == ((40, 6),)
    assert {first.loop and first.loop.line, second.loop} == {line_of(f, "for _"), None}


def test_a_loop_of_library_code_is_not_reported():
    mlp = imprint.nn.MLP(4, 4, 4, 60, key=imprint.random.key(0))
    closed = imprint.filter_jit(lambda mlp, x: mlp(x)).trace(mlp, X).jaxpr
    (repeat,) = repeats(closed)
    assert (repeat.counts[0][0], repeat.loop) == (60, None)
    assert repeat.source.expression == "mlp(x)"


def test_a_loop_of_library_code_that_calls_user_code_is_not_reported():
    part = imprint.optim.GradientTransformation(
        lambda params: (), lambda grads, state, params=None: (layer(grads, X), state)
    )
    chained = imprint.optim.chain(*[part] * 40)
    repeat = found_in(lambda x: chained.update(x, chained.init(x))[0], X)
    assert (repeat.counts, repeat.loop) == (((40, 6),), None)


def test_loops_of_jitted_functions_of_the_library_are_not_reported():
    keys = imprint.random.split(imprint.random.key(0), 5)

    def draw(keys):
        return imprint.vmap(lambda key: imprint.random.normal(key, (64,)))(keys)

    assert repeats(closed_of(draw, keys)) == ()

    def often(keys):
        total = 0.0
        for _ in range(6):
            total = total + draw(keys).sum()
        return total

    assert found_in(often, keys).counts[0][0] == 6


def test_a_loop_around_a_gradient_is_not_that_of_its_equations():
    def wrapped(ws, x):
        return [imprint.grad(of_weights)(ws, x) for _ in range(1)]

    repeat = found_in(wrapped, [X] * 60, X)
    assert len(repeat.counts) == 2
    assert repeat.loop.line == line_of(of_weights, "for w")


def test_a_loop_over_weights_is_a_scan():
    repeat = found_in(of_weights, [X] * 30, X)
    assert repeat.stacked
    assert str(repeat) == (
        "30 equal blocks of 6 equations from a Python loop at test_unrolled_loops.py:"
        f"{line_of(of_weights, 'for w')}: `lax.scan` over what each takes, stacked, would "
        "compile 1 of them."
    )


def test_a_differentiated_loop_is_reported_once():
    repeat = found_in(imprint.grad(of_weights), [X] * 30, X)
    assert len(repeat.counts) == 2
    assert repeat.loop.line == line_of(of_weights, "for w")
    text = str(repeat)
    assert ", from a Python loop at" in text
    assert text.endswith("would compile 1 of each.")


def test_transforms_leave_the_line():
    mapped = imprint.vmap(in_itself)
    assert found_in(mapped, np.ones((2, 4))).loop.line == line_of(in_itself, "for i")


def test_a_loop_in_a_function_that_is_called_by_traced_code():
    nested = imprint.jit(in_itself)
    repeat = found_in(lambda x: nested(nested(x)), X)
    assert repeat.counts == ((50, 6),)
    assert repeat.loop.line == line_of(in_itself, "for i")


def test_a_loop_around_the_call_is_none_of_the_program():
    def straight(x):
        return layer(layer(layer(layer(x, x), x), x), x)

    wide = imprint.jit(
        lambda x: [straight(x), straight(x + 1), *map(straight, [x] * 30)]
    )
    for _ in range(2):
        (repeat,) = repeats(wide.trace(X).jaxpr)
    assert repeat.loop is None
    assert "equations, the first at test_unrolled_loops.py:" in str(repeat)


# ---- no repeats ----

TURNS = random.Random(0).choices(range(3), k=60)


def of_other_wiring(x):
    for i in range(60):
        a, b = np.sin(x), np.sin(x * 2)
        x = (a if TURNS[i] == 0 else b) * 2 + a
    return x


def of_other_axes(x):
    for i in range(60):
        x = np.sin(np.flip(x, TURNS[i])) * 2
    return x


def of_other_shapes(x):
    for _ in range(60):
        x = np.concatenate([np.sin(x), x[:1]])
    return x


def of_few(x):
    for _ in range(3):
        x = in_itself(x)
    return np.sin(x)


def of_other_loops(x):
    for k in TURNS:
        x = imprint.lax.fori_loop(0, 5, lambda i, z, k=k: np.sin(z) * k + i, x)
        x = imprint.lax.fori_loop(0, 5, lambda i, z, k=k: (z + i, i - z)[k > 0], x)
    return x


def of_other_elements(x):
    for k in TURNS:
        x = imprint.lax.fori_loop(0, 5, lambda i, z, k=k: z * z[k] + i, x)
    return x


def of_little(x):
    for _ in range(20):
        x = np.sin(x)
    return x


@pytest.mark.parametrize(
    ("fun", "x"),
    [
        (of_other_wiring, X),
        (of_other_axes, np.ones((2, 2, 2))),
        (of_other_shapes, X),
        (of_other_loops, X),
        (of_other_elements, X),
        (of_little, X),
    ],
    ids=lambda f: getattr(f, "__name__", ""),
)
def test_unequal_blocks_are_not_reported(fun, x):
    assert repeats(closed_of(fun, x)) == ()
    assert describe_repeats(closed_of(fun, x)) == ""


def test_equal_lines_are_no_loop():
    file = "written_out.py"
    code = "def f(x):\n" + "    x = np.sin(x)\n" * 150 + "    return x\n"
    linecache.cache[file] = len(code), None, code.splitlines(keepends=True), file
    scope = {"np": np}
    exec(compile(code, file, "exec"), scope)
    assert repeats(closed_of(scope["f"], X)) == ()


def test_three_turns_of_many_are_those_of_the_inner_loop():
    repeat = found_in(of_few, X)
    assert repeat.loop.line == line_of(in_itself, "for i")


def test_a_program_whose_text_is_gone_has_no_line():
    scope = {"np": np}
    exec("def f(x):\n  for _ in range(150):\n    x = np.sin(x)\n  return x\n", scope)
    repeat = found_in(scope["f"], X)
    assert (repeat.counts, repeat.loop) == (((150, 1),), None)


def test_it_takes_calls_by_the_length():
    def calls(count):
        def f(x):
            for i in range(count):
                x = x + np.sin(x * i)
            return x

        closed, events = closed_of(f, X), []
        sys.setprofile(lambda *event: events.append(1))
        try:
            repeats(closed)
        finally:
            sys.setprofile(None)
        return len(events)

    assert calls(1600) < 8 * 1.25 * calls(200)


# ---- reports ----


def test_an_explanation_reports_it():
    f = imprint.jit(in_itself)
    f(X)
    assert f.explain(X).advice.endswith(
        f"50 equal blocks of 6 equations from a Python loop at test_unrolled_loops.py:"
        f"{line_of(in_itself, 'for i')}: `lax.fori_loop` would compile 1 of them."
    )
    g = imprint.jit(of_little)
    g(X)
    assert g.explain(X).advice.endswith("1 dispatch a call.")


@pytest.mark.parametrize("slow", [True, False])
def test_a_slow_miss_reports_it(monkeypatch, slow):
    monkeypatch.setattr("imprint._src.jit.compile_version._SLOW", 0.0 if slow else 1e9)
    imprint.clear_caches()  # a program that is in use is not compiled again
    f = imprint.jit(in_itself)
    f(X)
    message = "a Python loop at test_unrolled_loops.py" in str(f.last_miss)
    assert message is slow
    assert ("lax.fori_loop" in f.last_miss.advice) is slow
    f(np.ones(5))
    assert ("a Python loop at" in str(f.last_miss)) is slow

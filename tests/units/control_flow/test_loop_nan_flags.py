"""`debug_nans` inside loops: the line and the iteration that made the NaN."""

import re

import numpy as onp
import pytest

import imprint
import imprint.numpy as np
from imprint import lax
from imprint.errors import NonFiniteError

X = onp.float32(3.0)
HERE = r"test_loop_nan_flags\.py:\d+"


def nan_message(fun, *args, flag=imprint.debug_nans):
    """Return the message about the NaN of a call; the same jitted and not."""
    with flag(), pytest.raises(NonFiniteError) as caught:
        imprint.jit(fun)(*args)
    return str(caught.value)


def by_scan(x):
    return lax.scan(lambda c, _: (np.log(c), c * 2), x, None, length=6)


def by_while(x):
    return lax.while_loop(
        lambda s: s[1] < 6, lambda s: (np.log(s[0]), s[1] + 1), (x, 0)
    )


def by_fori(x):
    return lax.fori_loop(0, 6, lambda i, c: np.log(c), x)


def backwards(x):
    return lax.scan(lambda c, _: (np.log(c), None), x, None, length=6, reverse=True)[0]


def unrolled(x):
    return lax.scan(lambda c, _: (np.log(c), None), x, None, length=6, unroll=4)[0]


@pytest.mark.parametrize("loop", [by_scan, by_while, by_fori, backwards, unrolled])
def test_the_line_and_the_iteration_are_reported(loop):
    name = "while" if loop is by_while else "scan"
    wanted = (
        rf"`log` at {HERE} \(np\.log\(.*?\)\) makes it from operands without one, "
        rf"in iteration 3 of `{name}` at {HERE}\. Guard"
    )
    assert re.search(wanted, nan_message(loop, X))
    with imprint.debug_nans(), pytest.raises(NonFiniteError, match=wanted):
        loop(X)
    bad = imprint.jit(loop).replay(X).first_nan()
    assert bad.path[-1].inside.endswith(f"iteration 3 of {name}")
    assert f"in iteration 5 of `{name}`" in nan_message(loop, onp.float32(1e20))


@pytest.mark.parametrize("inner", ["scan", "while"])
def test_nested_loops_report_the_iteration_of_each(inner):
    def run(x):
        if inner == "scan":
            return lax.scan(lambda c, _: (np.sqrt(c - 1), None), x, None, length=3)[0]
        return lax.while_loop(
            lambda s: s[1] < 3, lambda s: (np.sqrt(s[0] - 1), s[1] + 1), (x, 0)
        )[0]

    def f(x):
        return lax.scan(lambda c, t: (run(c) + t, None), x, onp.float32([40, 2, 5]))[0]

    bad = imprint.jit(f).replay(onp.float32(300)).first_nan()
    text = nan_message(f, onp.float32(300))
    turns = re.findall(r"in iteration (\d+) of `(\w+)`", text)
    assert [f"iteration {i} of {name}" for i, name in turns] == [
        entered.inside.removeprefix("body, ") for entered in bad.path[::-1]
    ]
    assert [name for _, name in turns] == [inner, "scan"]


def test_a_branch_in_a_loop_and_a_loop_in_a_branch():
    def inside(x):
        def step(c, _):
            return lax.cond(c > 1, np.log, lambda c: np.sqrt(c - 1), c), None

        return lax.scan(step, x, None, length=5)[0]

    assert re.search(
        r"`sqrt` at .* \(np\.sqrt\(c - 1\)\) .*, in iteration 2 of `scan`",
        nan_message(inside, onp.float32(5)),
    )

    def around(p, x):
        return lax.cond(p, by_fori, lambda x: x, x)

    assert "in iteration 3 of `scan`" in nan_message(around, True, X)
    with imprint.debug_nans():
        assert imprint.jit(around)(False, X) == 3


def test_derivatives_and_batches():
    def f(x):
        return lax.scan(lambda c, _: (np.sqrt(c), None), x, None, length=3)[0]

    text = nan_message(imprint.grad(lambda x: f(x) * 0.0), onp.float32(0))
    assert "of `scan` at test_loop_nan_flags.py" in text
    text = nan_message(imprint.vmap(by_fori), onp.float32([30.0, 3.0, 2.0]))
    assert "in iteration 2 of `scan`" in text


def test_a_nan_from_before_the_loop():
    nan = onp.float32("nan")
    assert "argument x already holds one" in nan_message(by_fori, nan)
    none = lambda x: lax.scan(lambda c, _: (np.log(c), None), x, None, length=0)[0] * 2
    assert "argument x already holds one" in nan_message(none, nan)

    def over(xs):
        return lax.scan(lambda c, t: (c + t, c), onp.float32(0), xs)

    assert "argument xs already holds one" in nan_message(
        over, onp.float32([1, nan, 2])
    )
    holds = onp.float32([nan, 1])
    captured = lambda x: lax.fori_loop(0, 3, lambda i, c: c + holds, x)
    assert "a constant" in nan_message(captured, onp.ones(2, onp.float32))


def test_a_nan_that_reaches_a_result_by_another_one():
    def step(c, _):
        a, b = c
        return (np.log(a), b + a), None

    f = lambda x: lax.scan(step, (x, onp.float32(0)), None, length=6)[0][1]
    assert re.search(r"`log` at .*, in iteration 3 of `scan`", nan_message(f, X))


def test_a_nan_of_one_result_is_not_reported_for_another():
    def step(c, i):
        _, b = c
        return (np.where(i == 0, np.log(-X - b), 1.0), np.sqrt(b - 5)), None

    f = lambda x: lax.scan(step, (x, x), onp.arange(3))[0]
    assert re.search(
        r"result\[1\]: `sqrt` at .*, in iteration 0 of `scan`", nan_message(f, X)
    )


def test_a_nan_that_was_dropped_before_is_not_reported():
    def dropping(c, i):
        return np.where(i < 2, np.where(i < 9, c, np.log(-c)), np.sqrt(-c)), None

    f = lambda x: lax.scan(dropping, x, onp.arange(5))[0]
    assert re.search(r"`sqrt` at .*, in iteration 2 of `scan`", nan_message(f, X))


def test_a_nan_that_is_dropped_in_a_step_is_no_error():
    f = lambda x: lax.scan(
        lambda c, _: (np.where(c > 100, np.log(-c), c + 1), None), x, None, length=4
    )[0]
    with imprint.debug_nans():
        assert imprint.jit(f)(X) == 7


def test_infinities_and_loops_without_floats():
    f = lambda x: lax.fori_loop(0, 200, lambda i, c: c * 2, x)
    text = nan_message(f, X, flag=imprint.debug_infs)
    assert "got one as result" in text
    assert "in iteration 126 of `scan`" in text
    count = imprint.jit(lambda n: lax.fori_loop(0, 5, lambda i, n: n + i, n))
    empty = imprint.jit(
        lambda x: lax.scan(lambda c, _: (np.log(c), c), x, None, length=0)
    )
    with imprint.debug_nans():
        assert count(1) == 11
        assert empty(X)[0] == 3
        assert (
            imprint.jit(
                lambda n, x: lax.while_loop(lambda n: n < 3, lambda n: n + 1, n)
            )(0, X)
            == 3
        )


def test_a_loop_of_any_length_has_the_flags_of_one_step():
    def f(length):
        run = lambda x: lax.scan(
            lambda c, _: (np.sin(c), None), x, None, length=length
        )[0]
        with imprint.debug_nans():
            version = imprint.jit(run)
            version(X)
        (made,) = version.versions
        return made.program.out_avals[-1].shape

    assert f(10) == f(1000)

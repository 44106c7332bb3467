"""Decisions: a question is answered for one call, and its answer is kept."""

import pytest

from imprint._src.core import dims
from imprint._src.dynamic_shapes.decisions import Decisions, without_implied
from imprint._src.dynamic_shapes.expression import SizeScope
from imprint.errors import ShapeError


def decided(**sizes):
    scope = SizeScope()
    scope.decide = Decisions(scope, sizes)
    return scope.decide, *map(scope.name, sizes)


def shown(decisions):
    return [str(question) for question in decisions.comparisons]


def test_an_answer_is_that_of_the_call():
    decisions, n = decided(n=7)
    assert n > 4
    assert n >= 5  # follows, as do the next two
    assert not n < 5
    assert n != 3
    assert n != 9
    assert shown(decisions) == ["n > 4", "n != 9"]
    assert all(q.holds_at({"n": 5}) for q in decisions.comparisons)
    assert not all(q.holds_at({"n": 4}) for q in decisions.comparisons)
    assert not all(q.holds_at({"n": 9}) for q in decisions.comparisons)


def test_two_names_that_are_equal_stay_equal():
    decisions, n, m = decided(n=3, m=3)
    assert dims.equal(n, m)
    assert dims.equal(2 * n, m + n)
    assert dims.broadcast(n, m) is n
    assert shown(decisions) == ["n == m"]


def test_a_question_that_follows_from_two_answers_is_not_asked():
    decisions, n, m = decided(n=8, m=3)
    assert n > m
    assert m >= 2
    assert n >= 3
    assert shown(decisions) == ["n > m", "m >= 2"]


def test_a_number_on_the_left_is_turned():
    decisions, n = decided(n=3)
    assert not dims.at_least(2, n)
    assert shown(decisions) == ["n > 2"]


def test_a_single_name_is_written_on_the_left():
    decisions, n, m = decided(n=9, m=2)
    assert n - 1 >= 3
    assert 2 + n <= 20
    assert 7 - n != 0
    assert -m <= -2
    assert n // 2 - 1 > 1
    assert n + 1 > m * 2
    assert shown(decisions) == [
        *("n >= 4", "n <= 18", "n != 7", "m >= 2", "floordiv(n, 2) > 2"),
        "n + 1 > 2*m",
    ]


def test_a_loop_that_counts_is_refused():
    _, n = decided(n=100)
    with pytest.raises(ShapeError, match="expected at most 32 comparisons"):
        any(n == 1000 + i for i in range(1000))


def answers(sizes, *questions):
    """Return the listed conditions of a call with these sizes."""
    decisions, *names = decided(**sizes)
    for question in questions:
        question(*names)
    return [str(x) for x in without_implied(decisions.comparisons)]


@pytest.mark.parametrize(
    ("sizes", "questions", "listed"),
    [
        ({"n": 40}, [lambda n: n >= 17, lambda n: n >= 33], ["n >= 33"]),
        ({"n": 40}, [lambda n: n >= 33, lambda n: n >= 17], ["n >= 33"]),
        ({"n": 20}, [lambda n: n >= 17, lambda n: n >= 33], ["n >= 17", "n < 33"]),
        ({"n": 2}, [lambda n: n > 9, lambda n: n > 4], ["n <= 4"]),
        (
            {"n": 20},
            [lambda n: n > 4, lambda n: n == 3, lambda n: n == 20],
            ["n == 20"],
        ),
        ({"n": 20}, [lambda n: n == 3, lambda n: n > 4], ["n > 4"]),
        ({"n": 4}, [lambda n: n == 3, lambda n: n == 5], ["n != 3", "n != 5"]),
        (
            {"n": 9, "m": 3},
            [lambda n, m: n >= 2, lambda n, m: n > m, lambda n, m: m >= 2],
            ["n > m", "m >= 2"],
        ),
        ({"n": 8}, [lambda n: n // 2 >= 2, lambda n: n >= 6], ["n >= 6"]),
        (
            {"n": 8, "m": 2},
            [lambda n, m: n % m == 0, lambda n, m: n % m == 1],
            ["mod(n, m) == 0"],
        ),
        ({"n": 7}, [lambda n: n >= 2], ["n >= 2"]),
        ({"n": 7}, [], []),
    ],
)
def test_a_condition_that_follows_from_others_is_not_listed(sizes, questions, listed):
    assert answers(sizes, *questions) == listed


def test_the_listed_conditions_decide_every_question():
    for n in range(1, 40):
        bounds = [3, 17, 33, 9, 25]
        decisions, name = decided(n=n)
        _ = [name >= k for k in bounds], name == 12
        listed = without_implied(decisions.comparisons)
        for other in range(1, 45):
            at = {"n": other}
            assert all(q.holds_at(at) for q in listed) == all(
                q.holds_at(at) for q in decisions.comparisons
            )
